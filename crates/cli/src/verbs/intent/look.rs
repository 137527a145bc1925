//! `tagout intent list` and `show`: what is declared, and what can be selected.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tagout_gate::Site;
use tagout_policy::intents::{self, IntentSet};
use tagout_policy::judge::Books;
use tagout_vocab::{Intent, IntentId, SessionId, Timestamp};

use crate::args::PlaceArgs;
use crate::books;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{clock, moments, report, runtime, site};

/// The intents of the workspace, with whoever holds one.
struct Seen {
    books: Books,
    /// Nothing where the workspace was never set up: then nobody holds anything.
    site: Option<Site>,
}

impl Seen {
    fn open(place: &PlaceArgs) -> Result<Self, Failure> {
        let root = site::require(place.workspace.as_deref())?;
        let shelf = books::open(Some(&root))?;
        if !shelf.problems.is_empty() {
            return Err(Failure::problems(&shelf.problems));
        }
        let places = runtime::places(place).ok();
        let site = places.and_then(|places| Site::open(&places).ok());
        Ok(Self {
            books: shelf.books,
            site,
        })
    }

    /// The session that holds an intent now, and until when.
    fn holder(&self, intent: &Intent) -> Option<(SessionId, Timestamp)> {
        let site = self.site.as_ref()?;
        site.holder(&intent.id, clock::now()).ok().flatten()
    }

    fn held(&self, intent: &Intent) -> Option<String> {
        let (session, until) = self.holder(intent)?;
        Some(format!("held by {session} until {}", moments::local(until)))
    }
}

/// Lists the intents.
pub(super) fn list(place: &PlaceArgs, json: bool) -> Result<Exit, Failure> {
    let seen = Seen::open(place)?;
    told(&seen, json).map(|()| Exit::Done)
}

fn told(seen: &Seen, json: bool) -> Result<(), Failure> {
    let all = &seen.books.intents;
    if json {
        let intents: Vec<Value> = all.iter().map(|intent| to_json(seen, intent)).collect();
        return report::json(&json!({ "intents": intents }));
    }
    if all.iter().next().is_none() {
        report::note(
            "no intents are declared; a person declares one:\n  \
             tagout intent new INT-001 --name 'First work' --scope 'src/**'",
        );
        return Ok(());
    }
    report::data(&table(seen))
}

fn table(seen: &Seen) -> String {
    let books = &seen.books;
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
        let held = seen.held(intent);
        let mark = match (obstacle(books, intent), &held) {
            (Some(_), _) => "closed",
            (None, Some(_)) => "held  ",
            (None, None) => "open  ",
        };
        let held = held.map_or_else(String::new, |held| format!("  ({held})"));
        let (id, status) = (intent.id.as_str(), intent.status.as_str());
        // Writing into a `String` cannot fail.
        writeln!(
            out,
            "{id:<id_width$}  {mark}  {status:<status_width$}  {}{held}",
            intent.name
        )
        .unwrap_or_default();
    }
    out
}

/// Shows one intent.
pub(super) fn show(place: &PlaceArgs, id: &str, json: bool) -> Result<Exit, Failure> {
    let seen = Seen::open(place)?;
    let books = &seen.books;
    let intent = IntentId::new(id)
        .ok()
        .and_then(|id| books.intents.get(&id))
        .ok_or_else(|| unknown(&books.intents, id))?;
    if json {
        report::json(&to_json(&seen, intent))?;
        return Ok(Exit::Done);
    }
    let mut out = String::new();
    // Writing into a `String` cannot fail.
    render(&mut out, &seen, intent).unwrap_or_default();
    report::data(&out).map(|()| Exit::Done)
}

fn unknown(intents: &IntentSet, id: &str) -> Failure {
    let failure = Failure::invalid(format!("there is no intent `{id}`"));
    match intents.nearest_id(id) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint("`tagout intent list` shows them"),
    }
}

fn render(out: &mut String, seen: &Seen, intent: &Intent) -> std::fmt::Result {
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
    match (obstacle(&seen.books, intent), seen.held(intent)) {
        (None, None) => writeln!(out, "\nIt can be selected."),
        (None, Some(held)) => writeln!(out, "\nIt is {held}; only that session can select it."),
        (Some(why), _) => writeln!(out, "\nIt can't be selected: {why}."),
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

fn to_json(seen: &Seen, intent: &Intent) -> Value {
    let books = &seen.books;
    let holder = seen.holder(intent);
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
        "held_by": holder.as_ref().map(|(session, _)| session.as_str()),
        "held_until": holder.as_ref().map(|(_, until)| until.to_string()),
    })
}
