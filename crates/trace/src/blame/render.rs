//! A blame as text: for the terminal as users of version control expect it, for programs as JSON or
//! in the porcelain form.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tagout_vocab::limits::SHORT_ID_CHARS;
use tagout_vocab::{CallId, Timestamp};

use super::Blame;
use crate::attribution::{Author, Certainty, Credit, Handling, Origin};

/// What version control has of a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Commits {
    /// Which lines the commit that is checked out holds; `None` where nobody can tell, because
    /// there is no version control or no commit yet.
    pub lines: Option<Vec<bool>>,
    /// The commits that hold lines of a call, the latest last.
    pub of: BTreeMap<CallId, Vec<String>>,
}

impl Commits {
    /// Whether the commit that is checked out holds a line, by its index.
    fn holds(&self, line: usize) -> Option<bool> {
        self.lines.as_ref()?.get(line).copied()
    }

    fn of(&self, origin: Option<&Origin>) -> &[String] {
        let found = origin.and_then(|origin| self.of.get(&origin.execution));
        found.map_or(&[], Vec::as_slice)
    }

    /// The commit of a line as users of version control know it: zeros before there is one.
    fn short(&self, line: usize, origin: Option<&Origin>) -> String {
        match (self.holds(line), self.of(origin).last()) {
            (Some(false), _) => "0".repeat(SHORT_ID_CHARS),
            (Some(true), Some(commit)) => commit.chars().take(SHORT_ID_CHARS).collect(),
            (Some(true), None) | (None, _) => "-".to_owned(),
        }
    }
}

/// Columns before the line's number.
const COLUMNS: usize = 5;

/// For people: one line each, with the commit where there is version control, intent, agent and
/// model, call, time and the line itself.
pub fn terminal(
    blame: &Blame,
    (commits, time): (&Commits, &dyn Fn(Timestamp) -> String),
    text: &[u8],
) -> String {
    let rows: Vec<[String; COLUMNS]> = (0_usize..)
        .zip(&blame.lines)
        .map(|(line, credit)| {
            let commit = commits.short(line, origin(blame, credit.author));
            row(blame, credit, (commit, time))
        })
        .collect();
    let mut widths = [0; COLUMNS];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let digits = rows.len().to_string().len();
    let mut out = String::new();
    for ((number, row), line) in (1_usize..).zip(&rows).zip(lines(text)) {
        // Without version control there is no first column.
        let skipped = usize::from(commits.lines.is_none());
        for (cell, width) in row.iter().zip(widths).skip(skipped) {
            out.push_str(cell);
            let pad = width.saturating_sub(cell.chars().count()).saturating_add(1);
            out.extend(std::iter::repeat_n(' ', pad));
        }
        let number = number.to_string();
        out.extend(std::iter::repeat_n(
            ' ',
            digits.saturating_sub(number.len()),
        ));
        out.push_str(&number);
        out.push_str(") ");
        out.push_str(&shown(line));
        out.push('\n');
    }
    out
}

/// Commit, intent, agent, call and time; a question mark where there is doubt.
fn row(
    blame: &Blame,
    credit: &Credit,
    (commit, time): (String, &dyn Fn(Timestamp) -> String),
) -> [String; COLUMNS] {
    let doubt = match credit.certainty {
        Certainty::Certain => "",
        Certainty::Likely => "?",
    };
    let Some(origin) = origin(blame, credit.author) else {
        let word = word(credit.author);
        return [
            commit,
            format!("-{doubt}"),
            format!("({word}"),
            "-".to_owned(),
            "-".to_owned(),
        ];
    };
    let intent = origin.intent.as_ref().map_or("-", |intent| intent.as_str());
    let agent = origin.agent.as_deref().unwrap_or("agent");
    let agent = match &origin.model {
        Some(model) => format!("({agent}/{model}"),
        None => format!("({agent}"),
    };
    [
        commit,
        format!("{intent}{doubt}"),
        shown(agent.as_bytes()),
        origin.execution.to_string(),
        time(origin.at),
    ]
}

/// For programs that read line by line: a header per line, its facts the first time they occur, and
/// the line after a tab.
pub fn porcelain(blame: &Blame, commits: &Commits, text: &[u8]) -> String {
    let mut out = String::new();
    let mut told = std::collections::BTreeSet::new();
    for ((number, credit), line) in (1_usize..).zip(&blame.lines).zip(lines(text)) {
        let found = origin(blame, credit.author);
        let name = found.map_or_else(
            || word(credit.author).to_owned(),
            |o| o.execution.to_string(),
        );
        let sure = certainty(credit.certainty);
        // Writing into a `String` cannot fail.
        writeln!(out, "{name} {number} {sure}").unwrap_or_default();
        if let Some(origin) = found
            && told.insert(name)
        {
            let facts = [
                ("intent", origin.intent.as_ref().map(ToString::to_string)),
                ("session", origin.session.as_ref().map(ToString::to_string)),
                ("agent", origin.agent.clone()),
                ("model", origin.model.clone()),
                ("approval", origin.approval.clone()),
                ("time", Some(origin.at.to_string())),
            ];
            for (fact, value) in facts {
                if let Some(value) = value {
                    let value = shown(value.as_bytes());
                    writeln!(out, "{fact} {value}").unwrap_or_default();
                }
            }
            for commit in commits.of(found) {
                writeln!(out, "commit {commit}").unwrap_or_default();
            }
        }
        if commits.holds(number - 1) == Some(false) {
            out.push_str("uncommitted\n");
        }
        if let Some((how, by)) = credit.handled {
            let by =
                origin(blame, by).map_or_else(|| word(by).to_owned(), |o| o.execution.to_string());
            writeln!(out, "{} {by}", handling(how)).unwrap_or_default();
        }
        out.push('\t');
        out.push_str(&String::from_utf8_lossy(line));
        out.push('\n');
    }
    out
}

/// For programs: one object a line.
pub fn json(blame: &Blame, commits: &Commits) -> Value {
    let line = |(number, credit): (usize, &Credit)| {
        let mut object = facts(blame, credit.author);
        object.insert("line".to_owned(), json!(number));
        if let Some(holds) = commits.holds(number - 1) {
            object.insert("committed".to_owned(), json!(holds));
        }
        if let Some(origin) = origin(blame, credit.author) {
            let of = commits.of(Some(origin));
            object.insert("commits".to_owned(), json!(of));
        }
        object.insert("certainty".to_owned(), json!(certainty(credit.certainty)));
        if let Some((how, by)) = credit.handled {
            let mut handled = facts(blame, by);
            handled.insert("how".to_owned(), json!(handling(how)));
            object.insert("handled".to_owned(), Value::Object(handled));
        }
        Value::Object(object)
    };
    let basis = match blame.basis {
        super::Basis::Exact => "exact",
        super::Basis::Elsewhere => "elsewhere",
        super::Basis::Nearest => "nearest",
        super::Basis::Unseen => "unseen",
    };
    let lines: Vec<Value> = (1_usize..).zip(&blame.lines).map(line).collect();
    json!({ "basis": basis, "lines": lines })
}

fn facts(blame: &Blame, author: Author) -> serde_json::Map<String, Value> {
    let mut object = serde_json::Map::new();
    object.insert("author".to_owned(), json!(word(author)));
    if let Some(origin) = origin(blame, author) {
        object.insert("call".to_owned(), json!(origin.execution));
        object.insert("intent_id".to_owned(), json!(origin.intent));
        object.insert("session".to_owned(), json!(origin.session));
        object.insert("agent".to_owned(), json!(origin.agent));
        object.insert("model".to_owned(), json!(origin.model));
        object.insert("approval".to_owned(), json!(origin.approval));
        object.insert("time".to_owned(), json!(origin.at.to_string()));
    }
    object
}

fn origin(blame: &Blame, author: Author) -> Option<&Origin> {
    match author {
        Author::Agent(number) => blame.origins.get(&number),
        Author::Human | Author::Unknown => None,
    }
}

const fn word(author: Author) -> &'static str {
    match author {
        Author::Agent(_) => "agent",
        Author::Human => "human",
        Author::Unknown => "unknown",
    }
}

const fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Certain => "certain",
        Certainty::Likely => "likely",
    }
}

const fn handling(how: Handling) -> &'static str {
    match how {
        Handling::Moved => "moved",
        Handling::Reformatted => "reformatted",
        Handling::Renamed => "renamed",
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}

/// Text that can't steer a terminal.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}
