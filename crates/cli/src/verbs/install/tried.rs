//! What is tried for real: the registered hook with a call that nobody made, the client's version,
//! and `tagout exec` inside the client's own sandbox.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tagout_agents::install::{Registered, canary, is_denial, is_sandboxed, registered};
use tagout_agents::profile::Evidence;
use tagout_agents::{Client, Event};
use tagout_sandbox::environment::{USUAL, rebuild};
use tagout_sandbox::{Trial, Tried, trial};
use tagout_vocab::limits::TRIAL_MS_MAX;

use super::Wanted;
use crate::args;

/// How one trial came out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Came {
    /// As it should.
    Well(String),
    /// Not as it should.
    Badly(String),
    /// It was not tried.
    Not(String),
}

/// How a refusal of the judge begins; a hook that denies because it fails says something else.
const JUDGED: &str = "\"status\":\"error\"";

impl Wanted {
    /// Starts the hook exactly as the client would, with a change that no intent covers.
    pub(super) fn canary(&self, client: Client) -> Came {
        if args::is_governed() {
            return Came::Not("not tried inside a governed call".to_owned());
        }
        let texts = self.texts(client);
        let Some(registered) = registered(client, self.scope, &texts) else {
            return Came::Not("not tried: no hook is registered".to_owned());
        };
        let Some(canary) = canary(client, &self.places.root.display().to_string()) else {
            return Came::Not("not tried: no event comes before a tool".to_owned());
        };
        let Some(words) = self.words(registered) else {
            return Came::Badly("the registered program has no path".to_owned());
        };
        let wait_ms = client
            .event(canary.event)
            .and_then(|event: &Event| event.wait_ms);
        let tried = trial(Trial {
            words,
            environment: rebuild(args::environment(), USUAL),
            folder: self.places.root.clone(),
            input: canary.payload,
            wait: Duration::from_millis(wait_ms.unwrap_or(TRIAL_MS_MAX)),
        });
        match tried {
            Err(error) => Came::Badly(format!("the registered command can't be started: {error}")),
            Ok(tried) => judged(client, &tried),
        }
    }

    fn words(&self, registered: Registered) -> Option<Vec<OsString>> {
        Some(match registered {
            Registered::Words(words) => words.into_iter().map(OsString::from).collect(),
            Registered::Line(line) => ["/bin/sh", "-c", &line].map(OsString::from).to_vec(),
            Registered::File(place) => {
                vec![
                    self.homes
                        .path_of(&place, &self.places.root)?
                        .into_os_string(),
                ]
            }
        })
    }

    /// Whether agents of the client can use `tagout exec`, where the client confines them itself.
    pub(super) fn exec(&self, client: Client) -> Option<Came> {
        let sandbox = client.profile().install.sandbox?;
        if !is_sandboxed(client, &self.texts(client)) {
            return None;
        }
        let remedy = sandbox.remedy;
        let not = |why: &str| {
            Some(Came::Not(format!(
                "not tried in the client's own sandbox ({why}); if it refuses: {remedy}"
            )))
        };
        if args::is_governed() {
            return not("this is a governed call");
        }
        let Some(words) = sandbox.trial else {
            return not("it can't be tried from outside");
        };
        let Some(program) = program_of(client) else {
            return not("the client's program is not on the search path");
        };
        let own = [
            self.binary.program.as_str(),
            "exec",
            "--workspace",
            &self.places.root.display().to_string(),
            "--state-dir",
            &self.places.state_home.display().to_string(),
            "--session",
            "tagout_canary",
            "--",
            "true",
        ]
        .map(OsString::from);
        let words = words.iter().map(OsString::from);
        let all = std::iter::once(program.into_os_string())
            .chain(words)
            .chain(own);
        let tried = run(all.collect(), &self.places.root);
        Some(match tried {
            Some(Tried { code: Some(0), .. }) => {
                Came::Well("`tagout exec` works inside the client's own sandbox".to_owned())
            }
            other => Came::Badly(format!(
                "`tagout exec` is refused inside the client's own sandbox{}; what to do: {remedy}",
                other.map_or_else(String::new, |tried| said(&tried))
            )),
        })
    }
}

fn judged(client: Client, tried: &Tried) -> Came {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let (out, err) = (text(&tried.stdout), text(&tried.stderr));
    if !tried.in_time {
        return Came::Badly("the hook did not answer in time".to_owned());
    }
    if !is_denial(client, tried.code, &tried.stdout, &tried.stderr) {
        let shown = said(tried);
        return Came::Badly(format!(
            "a change without an intent was not denied{shown}: nothing is governed"
        ));
    }
    // Inside the answers of most clients the quotes are escaped.
    if [&out, &err]
        .iter()
        .any(|text| text.replace('\\', "").contains(JUDGED))
    {
        return Came::Well("a change without an intent was denied, as it should be".to_owned());
    }
    let why = if err.is_empty() { out } else { err };
    let why = why.lines().next().unwrap_or_default().to_owned();
    Came::Badly(format!(
        "the hook denies everything, because it fails: {why}"
    ))
}

/// The last thing that a program said, in brackets.
fn said(tried: &Tried) -> String {
    let text = String::from_utf8_lossy(&tried.stderr).into_owned();
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    last.map_or_else(String::new, |line| format!(" ({})", line.trim()))
}

fn run(words: Vec<OsString>, folder: &std::path::Path) -> Option<Tried> {
    let tried = trial(Trial {
        words,
        environment: args::environment(),
        folder: folder.to_path_buf(),
        input: Vec::new(),
        wait: Duration::from_millis(TRIAL_MS_MAX),
    });
    tried.ok()
}

fn program_of(client: Client) -> Option<PathBuf> {
    let names = client.profile().install.shows.programs;
    names.iter().find_map(|name| args::program(name))
}

/// The version that is there, and the one that was run against Tagout.
pub(super) fn version(client: Client) -> String {
    let run_with = match client.profile().evidence {
        Evidence::Run { version } => format!("{version} was run against Tagout"),
        Evidence::Read { .. } => "no version was run against Tagout".to_owned(),
    };
    let Some(program) = program_of(client) else {
        return format!("no program of it is on the search path; {run_with}");
    };
    let words = vec![program.into_os_string(), OsString::from("--version")];
    let told = run(words, std::path::Path::new("/")).filter(|tried| tried.code == Some(0));
    let told = told.map(|tried| String::from_utf8_lossy(&tried.stdout).into_owned());
    let line = told.as_ref().and_then(|text| {
        let mut lines = text.lines();
        lines.find(|line| line.contains(|letter: char| letter.is_ascii_digit()))
    });
    match line {
        Some(line) => format!("{}; {run_with}", line.trim()),
        None => format!("its program does not tell a version; {run_with}"),
    }
}
