//! What a person is told about the hooks of a client: what holds, what was tried, what stays open.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tagout_agents::Client;
use tagout_agents::install::{self, Finding, FindingKind};

use super::Wanted;
use super::tried::{self, Came};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{report, terminal};

/// One line about a client.
struct Line {
    word: &'static str,
    file: Option<String>,
    text: String,
    /// Whether something is not governed because of it.
    gap: bool,
}

/// What is true of a client as a whole.
#[derive(Clone, Copy)]
struct State {
    /// All that `install` does is done.
    governed: bool,
    /// What a person still has to do in the client, which no file tells.
    once: Option<&'static str>,
}

impl State {
    fn words(self) -> String {
        match (self.governed, self.once) {
            (false, _) => "not governed".to_owned(),
            (true, None) => "governed".to_owned(),
            (true, Some(once)) => format!("governed once {once}"),
        }
    }
}

impl Wanted {
    /// Says it for every client. The exit code is 0 only if nothing that can be closed is open.
    pub(super) fn told(&self, clients: &[Client], json: bool) -> Result<Exit, Failure> {
        let (whole, all) = self.seen(clients, json)?;
        if json {
            report::json(&json!({ "ok": whole, "clients": all }))?;
        }
        Ok(if whole { Exit::Done } else { Exit::Failed })
    }

    /// Says it in words, or gives it as objects; and whether all of them are governed.
    pub(in crate::verbs) fn seen(
        &self,
        clients: &[Client],
        json: bool,
    ) -> Result<(bool, Vec<Value>), Failure> {
        let mut whole = true;
        let mut all = Vec::new();
        for client in clients {
            let lines = self.lines(*client);
            let governed = !lines.iter().any(|line| line.gap);
            whole &= governed;
            let once = client.profile().install.once(self.scope);
            let state = State { governed, once };
            if json {
                all.push(to_json(*client, state, &lines));
            } else {
                let columns = terminal::columns();
                report::data(&shown((*client, state), &lines, columns))?;
            }
        }
        Ok((whole, all))
    }

    fn lines(&self, client: Client) -> Vec<Line> {
        let texts = self.texts(client);
        let mut findings = install::check(client, self.scope, &self.binary, &texts);
        findings.extend(install::beside(client, &self.sources(client)));
        findings.sort_by_key(|finding| finding.kind);
        let (first, last): (Vec<Finding>, Vec<Finding>) =
            findings.into_iter().partition(|one| !is_lasting(one.kind));
        let mut lines: Vec<Line> = first.into_iter().map(|one| self.line(one)).collect();
        lines.push(plain("version", tried::version(client)));
        lines.push(came("canary", self.canary(client)));
        lines.extend(self.exec(client).map(|exec| Line {
            // Commands that can't run are not commands that run ungoverned.
            gap: false,
            ..came("exec", exec)
        }));
        lines.extend(last.into_iter().map(|one| self.line(one)));
        lines
    }

    fn line(&self, finding: Finding) -> Line {
        let path = finding.place.as_ref();
        let path = path.and_then(|place| self.homes.path_of(place, &self.places.root));
        let shown = path.map(|path| {
            let inner = path.strip_prefix(&self.places.root).unwrap_or(&path);
            inner.display().to_string()
        });
        Line {
            word: word(finding.kind),
            file: shown,
            gap: is_gap(finding.kind),
            text: finding.text,
        }
    }
}

fn plain(word: &'static str, text: String) -> Line {
    Line {
        word,
        file: None,
        text,
        gap: false,
    }
}

fn came(word: &'static str, came: Came) -> Line {
    let (text, gap) = match came {
        Came::Well(text) | Came::Not(text) => (text, false),
        Came::Badly(text) => (text, true),
    };
    Line {
        gap,
        ..plain(word, text)
    }
}

/// Columns that a text needs at least to be read beside its word.
const TEXT_COLUMNS_MIN: usize = 30;

/// In as many columns as there are, each text in one block beside its word; where nobody counts
/// them, one line each.
fn shown((client, state): (Client, State), lines: &[Line], columns: Option<usize>) -> String {
    let mut out = format!("{client}: {}\n", state.words());
    let width = lines.iter().map(|line| line.word.len()).max().unwrap_or(0);
    let beside = |columns: usize| columns.saturating_sub(width.saturating_add(4));
    let fits = columns.map(beside).filter(|left| *left >= TEXT_COLUMNS_MIN);
    for line in lines {
        let file = line.file.as_ref();
        let file = file.map_or_else(String::new, |file| format!("{file}: "));
        let text = format!("{file}{}", line.text);
        let (mut word, mut rest) = (line.word, text.as_str());
        loop {
            let (part, more) = fits.map_or((rest, ""), |left| terminal::split(rest, left));
            // Writing into a `String` cannot fail.
            writeln!(out, "  {word:width$}  {part}").unwrap_or_default();
            if more.is_empty() {
                break;
            }
            (word, rest) = ("", more);
        }
    }
    out
}

fn to_json(client: Client, state: State, lines: &[Line]) -> Value {
    let one = |line: &Line| {
        json!({
            "kind": line.word, "file": line.file, "text": line.text, "gap": line.gap,
        })
    };
    let findings: Vec<Value> = lines.iter().map(one).collect();
    json!({
        "client": client.as_str(), "governed": state.governed, "once": state.once,
        "findings": findings,
    })
}

/// What stays as it is whatever a person does here.
const fn is_lasting(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::Needs | FindingKind::Open | FindingKind::NeverRun
    )
}

const fn is_gap(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::SwitchedOff
            | FindingKind::Unreadable
            | FindingKind::Missing
            | FindingKind::Outdated
    )
}

const fn word(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::SwitchedOff => "switched_off",
        FindingKind::Unreadable => "unreadable",
        FindingKind::Missing => "missing",
        FindingKind::Outdated => "outdated",
        FindingKind::Loosened => "loosened",
        FindingKind::Foreign => "foreign",
        FindingKind::Needs => "needs",
        FindingKind::Open => "open",
        FindingKind::NeverRun => "never_run",
        FindingKind::Installed => "installed",
    }
}
