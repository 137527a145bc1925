//! How an agent of a client calls Tagout so that this program answers, and for this workspace.

use tagout_agents::quoted;
use tagout_gate::Places;
use tagout_vocab::IntentId;

use super::own::{self, Here};
use super::work::Work;
use crate::args;

/// This program and a workspace. `None` where a name is not text.
pub(super) fn here(places: &Places) -> Option<Here> {
    Here::new(args::own_program(), &places.root, &places.state_home)
}

/// Whether a line has to tell where the state lies: a shell finds it by itself only where it lies
/// below the home. A variable that leads there may be missing in that shell.
pub(super) fn tells_places(work: &Work) -> bool {
    let home = work.whereabouts.homes.home.as_deref();
    home.is_none_or(|home| args::state_dir_in(home) != work.places.state_home)
}

/// The words before and behind a verb. The name alone will do where lines are rewritten.
pub(super) struct Called {
    program: String,
    places: String,
}

impl Called {
    pub(super) fn of(work: &Work) -> Self {
        let here = here(&work.places).filter(|_| !work.incoming.client.rewrites());
        let Some(here) = here else {
            return Self {
                program: own::NAME.to_owned(),
                places: String::new(),
            };
        };
        // What acts has to tell them, wherever that shell is by then, and nothing else minds.
        Self {
            program: quoted([here.program()]),
            places: format!(" {}", quoted(here.places())),
        }
    }

    /// What to do where a line names other places.
    pub(super) fn places(&self) -> String {
        if self.places.is_empty() {
            return "run the same without them: the hook knows the workspace".to_owned();
        }
        format!("run the same with these:{}", self.places)
    }

    /// What an agent is told to run, in the words that find this program and this workspace. Where
    /// an intent could be widened, a proposal is about that one.
    pub(super) fn in_full(&self, text: &str, widened: Option<&IntentId>) -> String {
        let widened = widened.map_or_else(String::new, |id| format!(" --id {id}"));
        let propose = format!("intent propose{widened} --name NAME --scope PATTERN --reason WHY");
        [
            ("intent list", self.verb("intent list")),
            ("intent select ID", self.verb("intent select ID")),
            ("intent propose", self.verb(&propose)),
            ("exec -- 'LINE'", self.exec("'LINE'")),
        ]
        .iter()
        .fold(text.to_owned(), |text, (verb, whole)| {
            text.replace(&format!("`{} {verb}`", own::NAME), &format!("`{whole}`"))
        })
    }

    /// The line of a verb.
    pub(super) fn verb(&self, verb: &str) -> String {
        format!("{} {verb}{}", self.program, self.places)
    }

    /// The line that runs a command, which is quoted already.
    pub(super) fn exec(&self, command: &str) -> String {
        format!("{} -- {command}", self.verb("exec"))
    }
}
