//! `tagout intent list` and `show`: what is declared, and what can be selected.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tagout_policy::intents::{self, IntentSet};
use tagout_policy::judge::Books;
use tagout_vocab::{Intent, IntentId};

use crate::args::PlaceArgs;
use crate::books::{self, Shelf};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{clock, report, site};

/// The books of the workspace, whole.
fn shelf(place: &PlaceArgs) -> Result<Shelf, Failure> {
    let root = site::require(place.workspace.as_deref())?;
    let shelf = books::open(Some(&root))?;
    if shelf.problems.is_empty() {
        return Ok(shelf);
    }
    Err(Failure::problems(&shelf.problems))
}

/// Lists the intents.
pub(super) fn list(place: &PlaceArgs, json: bool) -> Result<Exit, Failure> {
    let shelf = shelf(place)?;
    told(&shelf, json).map(|()| Exit::Done)
}

fn told(shelf: &Shelf, json: bool) -> Result<(), Failure> {
    let books = &shelf.books;
    if json {
        let intents: Vec<Value> = books
            .intents
            .iter()
            .map(|intent| to_json(books, intent))
            .collect();
        return report::json(&json!({ "intents": intents }));
    }
    if books.intents.iter().next().is_none() {
        report::note(&format!("no intents; declare one in `{}`", books::INTENTS));
        return Ok(());
    }
    report::data(&table(books))
}

fn table(books: &Books) -> String {
    let width = |text: fn(&Intent) -> &str| {
        books
            .intents
            .iter()
            .map(|intent| text(intent).chars().count())
            .max()
            .unwrap_or(0)
    };
    let id_width = width(|intent| intent.id.as_str());
    let status_width = width(|intent| intent.status.as_str());
    let mut out = String::new();
    for intent in &books.intents {
        let mark = if obstacle(books, intent).is_none() {
            "open  "
        } else {
            "closed"
        };
        let (id, status) = (intent.id.as_str(), intent.status.as_str());
        // Writing into a `String` cannot fail.
        writeln!(
            out,
            "{id:<id_width$}  {mark}  {status:<status_width$}  {}",
            intent.name
        )
        .unwrap_or_default();
    }
    out
}

/// Shows one intent.
pub(super) fn show(place: &PlaceArgs, id: &str, json: bool) -> Result<Exit, Failure> {
    let shelf = shelf(place)?;
    let books = &shelf.books;
    let intent = IntentId::new(id)
        .ok()
        .and_then(|id| books.intents.get(&id))
        .ok_or_else(|| unknown(&books.intents, id))?;
    if json {
        report::json(&to_json(books, intent))?;
        return Ok(Exit::Done);
    }
    let mut out = String::new();
    // Writing into a `String` cannot fail.
    render(&mut out, books, intent).unwrap_or_default();
    report::data(&out).map(|()| Exit::Done)
}

fn unknown(intents: &IntentSet, id: &str) -> Failure {
    let failure = Failure::invalid(format!("there is no intent `{id}`"));
    match intents.nearest_id(id) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint("`tagout intent list` shows them"),
    }
}

fn render(out: &mut String, books: &Books, intent: &Intent) -> std::fmt::Result {
    writeln!(
        out,
        "{}  {}  {}",
        intent.id,
        intent.status.as_str(),
        intent.name
    )?;
    if let Some(text) = &intent.description {
        writeln!(out, "\n{text}")?;
    }
    section(out, "scope", &intent.owned_scope)?;
    section(out, "constraints", &intent.constraints)?;
    section(out, "acceptance criteria", &intent.acceptance_criteria)?;
    section(out, "requirements", &intent.related_requirements)?;
    if let Some(expires) = intent.expires_at {
        writeln!(out, "\nexpires {expires}")?;
    }
    match obstacle(books, intent) {
        None => writeln!(out, "\nIt can be selected."),
        Some(why) => writeln!(out, "\nIt can't be selected: {why}."),
    }
}

fn section(out: &mut String, title: &str, lines: &[String]) -> std::fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    lines
        .iter()
        .try_for_each(|line| writeln!(out, "  - {line}"))
}

/// Why an intent can't be selected now, if it can't.
fn obstacle(books: &Books, intent: &Intent) -> Option<String> {
    if let Some(line) = books.ignore.blocks_intent(&intent.id) {
        return Some(format!("blocked by {line}"));
    }
    if let Err(why) = intents::selectable(intent, clock::now()) {
        return Some(why.to_string());
    }
    let overlaps = intents::find_overlaps(&books.intents, &intent.id, clock::now());
    overlaps
        .first()
        .map(|other| format!("it owns the same files as {}", other.with))
}

fn to_json(books: &Books, intent: &Intent) -> Value {
    json!({
        "id": intent.id.as_str(),
        "name": intent.name,
        "status": intent.status.as_str(),
        "owned_scope": intent.owned_scope,
        "constraints": intent.constraints,
        "acceptance_criteria": intent.acceptance_criteria,
        "related_requirements": intent.related_requirements,
        "description": intent.description,
        "expires_at": intent.expires_at.map(|time| time.to_string()),
        "selectable": obstacle(books, intent).is_none(),
        "obstacle": obstacle(books, intent),
    })
}
