//! `tagout log`: what happened, for people and for programs.

mod folded;
mod words;

use std::path::Path;
use std::thread;
use std::time::Duration;

use tagout_ledger::{Event, Index, LifecycleState, Query};
use tagout_vocab::limits::{LEDGER_FOLLOW_PAUSE_MS, LEDGER_QUERY_ROWS_MAX, SHORT_ID_CHARS};
use tagout_vocab::{Code, IntentId, SessionId};

use self::words::Words;
use crate::args::{LogArgs, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::state::State;
use crate::{clock, moments, report, runtime, site, terminal};

/// Shows the events that were asked for, and goes on if told to.
pub(crate) fn run(place: &PlaceArgs, args: &LogArgs) -> Result<Exit, Failure> {
    let state = State::find(place)?;
    let mut query = question(args, &state.root)?;
    find_commits(place);
    let mut index = Index::open(&state.ledger())?;
    let events = index.query(&query)?;
    if events.is_empty() && !args.json && !args.follow {
        report::note("no events");
    }
    if args.limit.is_none() && events.len() == LEDGER_QUERY_ROWS_MAX {
        report::note(&format!(
            "only the newest {LEDGER_QUERY_ROWS_MAX} are shown"
        ));
    }
    let mut table = Table::default();
    let mut is_read = report::stream(&shown(&mut table, (&index, &events), args.json))?;
    let mut last = events.last().map(|event| event.seq);
    query.limit = None;
    while args.follow && is_read {
        thread::sleep(Duration::from_millis(LEDGER_FOLLOW_PAUSE_MS));
        index.refresh()?;
        query.after_seq = last;
        let events = index.query(&query)?;
        if let Some(newest) = events.last() {
            last = Some(newest.seq);
            is_read = report::stream(&shown(&mut table, (&index, &events), args.json))?;
        }
    }
    Ok(Exit::Done)
}

/// Lets the ledger know of commits that people made since. What stands in the way of that does not
/// stand in the way of looking.
fn find_commits(place: &PlaceArgs) {
    if let Ok(engine) = runtime::open(place) {
        drop(engine.catch_up());
    }
}

fn question(args: &LogArgs, root: &Path) -> Result<Query, Failure> {
    let wrong = |option: &str, text: &str, why: &dyn std::fmt::Display| {
        Failure::invalid(format!("`--{option} {text}`: {why}"))
    };
    let intent = args
        .intent
        .as_deref()
        .map(|text| IntentId::new(text).map_err(|error| wrong("intent", text, &error)));
    let session = args
        .session
        .as_deref()
        .map(|text| SessionId::new(text).map_err(|error| wrong("session", text, &error)));
    let since = args.since.as_deref();
    let since = since.map(|text| moments::since(text, clock::now()));
    Ok(Query {
        intent: intent.transpose()?,
        session: session.transpose()?,
        since: since.transpose()?,
        path: args.file.as_deref().and_then(|file| recorded(root, file)),
        tool: args.tool.clone(),
        state: args.state.as_deref().map(lifecycle).transpose()?,
        limit: args.limit,
        ..Query::default()
    })
}

fn lifecycle(word: &str) -> Result<LifecycleState, Failure> {
    LifecycleState::parse(&word.to_ascii_uppercase()).ok_or_else(|| {
        let all: Vec<&str> = LifecycleState::ALL
            .iter()
            .map(|state| state.as_str())
            .collect();
        Failure::invalid(format!("`--state {word}` is no state of an execution"))
            .hint(format!("one of {}", all.join(", ")))
    })
}

/// A path as the ledger has it: from the workspace's root. The root itself is everything.
pub(super) fn recorded(root: &Path, file: &Path) -> Option<String> {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let plain = site::folded(&whole);
    // Someone who stands elsewhere means the workspace's own names.
    let path = plain.strip_prefix(root).unwrap_or(file);
    let text = path.to_string_lossy().into_owned();
    (!text.is_empty()).then_some(text)
}

fn shown(table: &mut Table, (index, events): (&Index, &[Event]), json: bool) -> String {
    if !json {
        return table.rows(index, events);
    }
    let lines = events
        .iter()
        .map(|event| String::from_utf8_lossy(&event.line));
    lines
        .flat_map(|line| [line.into_owned(), "\n".to_owned()])
        .collect()
}

const COLUMNS: usize = 9;

/// What stands between two columns.
const GAP: &str = "  ";

/// What stands where there is nothing to say.
const NOTHING: &str = "-";

/// Lines whose columns stay where they are while more lines come.
#[derive(Debug, Default)]
struct Table {
    widths: [usize; COLUMNS],
    words: Words,
}

impl Table {
    fn rows(&mut self, index: &Index, events: &[Event]) -> String {
        let row = |event| cells(event, self.words.of(index, event));
        let rows: Vec<[String; COLUMNS]> = events.iter().map(row).collect();
        for row in &rows {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        match terminal::columns() {
            Some(columns) if self.columns() > columns => {
                rows.iter().map(|row| folded::row(row, columns)).collect()
            }
            Some(_) | None => rows.iter().map(|row| self.line(row)).collect(),
        }
    }

    /// What a line needs at most.
    fn columns(&self) -> usize {
        let gaps = GAP.len().saturating_mul(COLUMNS.saturating_sub(1));
        self.widths.iter().sum::<usize>().saturating_add(gaps)
    }

    fn line(&self, row: &[String; COLUMNS]) -> String {
        let padded = row.iter().zip(self.widths).enumerate();
        let cells: Vec<String> = padded
            .map(|(column, (cell, width))| match column {
                // Numbers are easier to compare from their ends.
                1 => format!("{cell:>width$}"),
                _ => format!("{cell:<width$}"),
            })
            .collect();
        format!("{}\n", cells.join(GAP).trim_end())
    }
}

fn cells(event: &Event, what: String) -> [String; COLUMNS] {
    let body = &event.body;
    let known = |text: Option<&str>| text.map_or_else(|| NOTHING.to_owned(), report::plain);
    let code = body.verdict_code.as_deref();
    let code = code.filter(|code| *code != Code::Allowed.as_str());
    // Only what is said of a command has a lane.
    let command = body.data.as_ref().filter(|data| data.get("lane").is_some());
    let exit = command.and_then(|data| data.get("exit")?.as_i64());
    let exit = exit.map(|exit| format!("exit {exit}"));
    let words: Vec<&str> = body
        .state
        .map(LifecycleState::as_str)
        .into_iter()
        .chain(code)
        .chain(exit.as_deref())
        .collect();
    let outcome = (!words.is_empty()).then(|| words.join(" "));
    let commit = body
        .data
        .as_ref()
        .and_then(|data| data.pointer("/commit/revision"));
    let commit = commit.and_then(|id| id.as_str());
    let commit = commit.map(|id| id.chars().take(SHORT_ID_CHARS).collect::<String>());
    let outcome = outcome.or(commit);
    [
        moments::local(body.timestamp),
        event.seq.to_string(),
        known(Some(body.kind.as_str())),
        known(body.tool_id.as_deref()),
        known(outcome.as_deref()),
        known(body.intent.as_ref().map(IntentId::as_str)),
        known(body.session.as_ref().map(SessionId::as_str)),
        known(body.execution_id.as_deref()),
        what,
    ]
}
