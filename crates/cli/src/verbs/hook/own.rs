//! Lines that call Tagout itself, read word by word where nothing in them is left to a shell.

use std::path::{Path, PathBuf};

use tagout_agents::quoted;
use tagout_gate::policy::shell::only_words;
use tagout_vocab::limits::COMMAND_ANALYSED_BYTES_MAX;

use crate::args::{self, Args, ExecArgs, IntentVerb, Meant, PlaceArgs, Verb};
use crate::verbs::{exec, inside, intent};

/// What a line does that calls Tagout and nothing else.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum OwnLine {
    /// It acts in the conversation.
    Acts(Act),
    /// It tells how something is used.
    Tells,
    /// Another verb.
    Other,
}

/// What acts in a conversation.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Act {
    /// `intent select ID`.
    Select(String),
    /// `intent propose`, by what its note is about.
    Propose(String),
    /// `exec`, by what its note is about.
    Exec(String),
}

/// How a line that would act in a conversation says more than an agent may.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Beyond {
    /// It names a conversation.
    Session,
    /// It names another workspace, or another state.
    Place,
    /// It is in other words than the hook performs.
    Words(Acting),
}

/// A verb that acts in a conversation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Acting {
    Select,
    Propose,
    Exec,
}

/// The name by which people call Tagout.
pub(super) const NAME: &str = "tagout";

const WORKSPACE: &str = "--workspace";
const STATE: &str = "--state-dir";
const PERMIT: &str = "--permit";

/// This program and the workspace that it answers for. `None` where a name is not text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Here {
    program: String,
    root: String,
    state: String,
}

impl Here {
    pub(super) fn new(program: Option<String>, root: &Path, state: &Path) -> Option<Self> {
        Some(Self {
            program: program?,
            root: root.to_str()?.to_owned(),
            state: state.to_str()?.to_owned(),
        })
    }

    /// The program's path.
    pub(super) fn program(&self) -> &str {
        &self.program
    }

    /// The words that tell where workspace and state lie.
    pub(super) fn places(&self) -> [&str; 4] {
        [WORKSPACE, &self.root, STATE, &self.state]
    }

    /// Whether a line that names these places, or none, is about this workspace.
    fn is_at(&self, place: &PlaceArgs) -> bool {
        let is = |named: &Option<PathBuf>, own: &str| {
            named.as_ref().is_none_or(|named| named.as_os_str() == own)
        };
        is(&place.workspace, &self.root) && is(&place.state_dir, &self.state)
    }

    /// Whether a flag and its value tell one of these very places, which is noted then.
    fn tells(&self, (flag, value): (&str, &str), told: &mut Told) -> bool {
        let [workspace, root, state_dir, state] = self.places();
        let is_workspace = flag == workspace && value == root;
        let is_state = flag == state_dir && value == state;
        told.workspace |= is_workspace;
        told.state |= is_state;
        is_workspace || is_state
    }
}

/// A line that calls Tagout and nothing else.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Own {
    /// What it does.
    pub(super) what: OwnLine,
    /// The words after the program without those that tell the very places of the workspace, which
    /// anybody may give, and without the note of what acts, which the hook gives anew.
    words: Vec<String>,
    /// Whether they named a note.
    is_noted: bool,
    by_path: bool,
    told: Told,
}

/// Which of the workspace's own places are told.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Told {
    workspace: bool,
    state: bool,
}

/// The call of Tagout that a line is, if it is one, by its name or by this program's own path. It
/// is read by the very definition by which this program reads its own command line: whatever is
/// spelled otherwise can mean nothing else there than here.
pub(super) fn own_line(line: &str, here: &Here) -> Option<Result<Own, Beyond>> {
    if is_too_long(line) {
        return None;
    }
    let words = only_words(line)?;
    let (first, rest) = words.split_first()?;
    let by_path = *first == here.program;
    if first != NAME && !by_path {
        return None;
    }
    let what = match args::meant(rest) {
        Meant::Does(args) => meaning(&args, here),
        Meant::Tells => Ok(OwnLine::Tells),
        // Its words are left as they are: without some of them it could be read.
        Meant::Fails => {
            let own = Own {
                what: OwnLine::Other,
                words: rest.to_vec(),
                is_noted: false,
                by_path,
                told: Told::default(),
            };
            let acting = acting(&own.plain());
            return Some(acting.map_or(Ok(own), |verb| Err(Beyond::Words(verb))));
        }
    };
    let (mut words, told) = without_places(rest, here);
    let is_noted = matches!(what, Ok(OwnLine::Acts(_))) && drop_note(&mut words);
    Some(what.map(|what| Own {
        what,
        words,
        is_noted,
        by_path,
        told,
    }))
}

/// Whether nobody reads a line to its end.
pub(super) fn is_too_long(line: &str) -> bool {
    line.len() > COMMAND_ANALYSED_BYTES_MAX
}

/// What a line does, as long as it does it in the conversation and the workspace that the hook is
/// called for: run as it stands, it would else act in another one, or in nobody's.
fn meaning(args: &Args, here: &Here) -> Result<OwnLine, Beyond> {
    let Some(act) = act(&args.verb)? else {
        return Ok(OwnLine::Other);
    };
    if inside::for_another(&args.verb).is_some() {
        return Err(Beyond::Session);
    }
    if !here.is_at(&args.place) {
        return Err(Beyond::Place);
    }
    Ok(OwnLine::Acts(act))
}

fn act(verb: &Verb) -> Result<Option<Act>, Beyond> {
    if let Verb::Exec(args) = verb {
        return exec_act(args).map(Some);
    }
    let Verb::Intent(args) = verb else {
        return Ok(None);
    };
    Ok(match &args.verb {
        IntentVerb::Select { id, .. } => Some(Act::Select(id.clone())),
        IntentVerb::Propose(proposed) => Some(Act::Propose(intent::noted(proposed))),
        IntentVerb::List { .. }
        | IntentVerb::Show { .. }
        | IntentVerb::New(_)
        | IntentVerb::Complete { .. }
        | IntentVerb::Release { .. } => None,
    })
}

/// What an agent hands to `exec`. It names no conversation and no note, and no folder but by its
/// shell.
fn exec_act(args: &ExecArgs) -> Result<Act, Beyond> {
    if args.session.is_some() {
        return Err(Beyond::Session);
    }
    if args.permit.is_some() || args.cwd.is_some() {
        return Err(Beyond::Words(Acting::Exec));
    }
    let noted = exec::noted(args);
    noted
        .map(Act::Exec)
        .map_err(|_| Beyond::Words(Acting::Exec))
}

/// The verb that words begin with, where it is one that acts.
fn acting(words: &[&str]) -> Option<Acting> {
    match words {
        ["intent", "select", ..] => Some(Acting::Select),
        ["intent", "propose", ..] => Some(Acting::Propose),
        ["exec", ..] => Some(Acting::Exec),
        _ => None,
    }
}

/// Takes the note of an earlier look out of the words, if there is one: the hook gives one anew.
fn drop_note(words: &mut Vec<String>) -> bool {
    let joined = |word: &String| word.starts_with(PERMIT) && word.contains('=');
    let own = words.iter().take_while(|word| *word != "--");
    let Some(at) = own.clone().position(|word| word == PERMIT || joined(word)) else {
        return false;
    };
    let count = if words.get(at).is_some_and(joined) {
        1
    } else {
        2
    };
    words.drain(at..at.saturating_add(count).min(words.len()));
    true
}

/// The words without those that tell the workspace's own places, and which of these there were.
/// What follows `--` is somebody else's.
fn without_places(words: &[String], here: &Here) -> (Vec<String>, Told) {
    let mut kept = Vec::new();
    let mut told = Told::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            kept.push(word.clone());
            kept.extend(rest.cloned());
            break;
        }
        let next = rest.as_slice().first();
        let joined = word.split_once('=');
        if joined.is_some_and(|joined| here.tells(joined, &mut told)) {
            continue;
        }
        if next.is_some_and(|value| here.tells((word, value), &mut told)) {
            rest.next();
        } else {
            kept.push(word.clone());
        }
    }
    (kept, told)
}

impl Own {
    /// Whether it acts in the conversation.
    pub(super) fn acts(&self) -> bool {
        matches!(self.what, OwnLine::Acts(_))
    }

    /// The verb of a line that named a note, which only a hook gives.
    pub(super) fn named_note(&self) -> Option<Acting> {
        let OwnLine::Acts(act) = &self.what else {
            return None;
        };
        self.is_noted.then_some(match act {
            Act::Select(_) => Acting::Select,
            Act::Propose(_) => Acting::Propose,
            Act::Exec(_) => Acting::Exec,
        })
    }

    /// Whether the words start this program whatever the search path says and, where `places` have
    /// to be told, tell them.
    pub(super) fn is_sure(&self, places: bool) -> bool {
        self.by_path && (!places || (self.told.workspace && self.told.state))
    }

    /// The words that are sure to: the program's path, and before anybody else's words the note of
    /// what acts and the places, as far as they are wanted.
    pub(super) fn sure(&self, here: &Here, permit: Option<&str>, places: bool) -> Vec<String> {
        let at = self.words.iter().position(|word| word == "--");
        let at = at.unwrap_or(self.words.len());
        let (own, others) = self.words.split_at_checked(at).unwrap_or_default();
        let permit = permit.into_iter().flat_map(|permit| [PERMIT, permit]);
        let places = places.then(|| here.places()).into_iter().flatten();
        let own = own.iter().map(String::as_str);
        let others = others.iter().map(String::as_str);
        let all = [here.program()].into_iter().chain(own).chain(permit);
        all.chain(places).chain(others).map(str::to_owned).collect()
    }

    /// The verb and what it is given, without options.
    pub(super) fn plain(&self) -> Vec<&str> {
        let words = self.words.iter().map(String::as_str);
        words.filter(|word| !word.starts_with('-')).collect()
    }
}

/// Words as one line.
pub(super) fn line_of(words: &[String]) -> String {
    quoted(words.iter().map(String::as_str))
}

#[cfg(test)]
mod tests;
