//! From settled executions to records, authorship and the views in the tree.
//!
//! What the ledger says is the only source: after each change, and whenever someone asks,
//! everything behind the cursor is taken in. A trace that fails leaves the cursor where it is, so
//! that the next call catches up.

mod ask;
mod book;
mod effects;
mod gather;
mod git;
mod publish;
mod ties;
mod vcs;
mod views;

pub use ask::{Blamed, TraceQuery, TraceRecords};

pub(crate) use book::{Book, By, Pages, Taken};
pub(crate) use effects::effects_of;
pub(crate) use gather::{NETWORK_PAGE, moves};
pub(crate) use ties::{commits, pushed};

use tagout_ledger::{Event, LifecycleState, Reader};
use tagout_trace::blame::{Authorship, Outside};
use tagout_trace::history::{Posting, Postings, Topic};
use tagout_trace::record::Record;
use tagout_vocab::limits::{TRACE_CATCH_UP_EVENTS_MAX, TRACE_EFFECTS_BYTES_MAX};
use tagout_vocab::{CallId, Timestamp, WorkspacePath};
use tagout_workspace::{Change, Effect, RelPath};

use crate::engine::Inner;
use crate::error::GateError;
use crate::permit::Ticket;
use crate::receipt::Receipt;
use gather::Gathered;
use ties::Patience;

/// The execution that was closed just now, with what only its own process still knows.
#[derive(Debug)]
pub(crate) struct Fresh<'a> {
    pub(crate) execution: &'a CallId,
    /// What a client's execution changed; the journal knows of its own.
    pub(crate) effects: Option<Vec<Effect>>,
}

/// Keeps what a client's execution may change as it stands. One that changes no file has none.
pub(crate) fn take_snapshot(
    inner: &Inner,
    ticket: &Ticket,
    now: Timestamp,
) -> Result<(), GateError> {
    let paths: Vec<RelPath> = ticket.mutated.iter().map(RelPath::from).collect();
    if paths.is_empty() {
        return Ok(());
    }
    Ok(inner.workspace.snapshot(&ticket.execution, &paths, now)?)
}

/// Which files a client's execution changed since its snapshot was taken.
pub(crate) fn since_snapshot(inner: &Inner, ticket: &Ticket) -> Result<Vec<Change>, GateError> {
    if ticket.mutated.is_empty() {
        return Ok(Vec::new());
    }
    Ok(inner.workspace.diff(&ticket.execution)?)
}

/// What a client's execution changed, looked at before its snapshot is let go.
pub(crate) fn of_snapshot(inner: &Inner, ticket: &Ticket) -> Result<Vec<Effect>, GateError> {
    if ticket.mutated.is_empty() {
        return Ok(Vec::new());
    }
    let workspace = &inner.workspace;
    Ok(workspace.snapshot_effects(&ticket.execution, TRACE_EFFECTS_BYTES_MAX)?)
}

/// The views in the tree, as Tagout left them.
pub(crate) struct OwnViews<'a> {
    inner: &'a Inner,
    book: Book,
}

impl<'a> OwnViews<'a> {
    pub(crate) fn open(inner: &'a Inner) -> Result<Self, GateError> {
        let book = Book::open(&inner.site)?;
        Ok(Self { inner, book })
    }

    /// Whether a path is that of a view, and the view is as it was left.
    pub(crate) fn has(&mut self, path: &WorkspacePath) -> Result<bool, GateError> {
        publish::is_as_left(self.inner, &self.book.look()?, path)
    }
}

/// Lets a client's snapshot go.
pub(crate) fn drop_snapshot(inner: &Inner, ticket: &Ticket) -> Result<(), GateError> {
    if ticket.mutated.is_empty() {
        return Ok(());
    }
    Ok(inner.workspace.drop_snapshot(&ticket.execution)?)
}

/// Takes in an execution that changed something; whether all of it is kept. Never fails the call:
/// what can't be written now is a warning, and is caught up later.
pub(crate) fn closed(
    inner: &Inner,
    receipt: &mut Receipt,
    (execution, effects): (&CallId, Option<Vec<Effect>>),
) -> bool {
    if receipt.changes.is_empty() {
        return true;
    }
    let fresh = Fresh { execution, effects };
    match catch_up(inner, Some(&fresh)) {
        Ok(warnings) => {
            receipt.warnings.extend(warnings);
            true
        }
        Err(error) => {
            let told = format!("the trace could not be written: {error}");
            receipt.warnings.push(told);
            false
        }
    }
}

/// Takes in everything that the ledger knows and the trace does not.
pub(crate) fn catch_up(inner: &Inner, fresh: Option<&Fresh<'_>>) -> Result<Vec<String>, GateError> {
    let mut book = Book::open(&inner.site)?;
    let mut warnings = Vec::new();
    loop {
        let pages = book.begin()?;
        let mut has_more = take_in(inner, &pages, (fresh, &mut warnings))?;
        if !has_more {
            let patience = match fresh {
                Some(_) => Patience::CLOSING,
                None => Patience::ASKED,
            };
            match ties::look(inner, &pages, patience) {
                Ok(looked) => {
                    has_more = looked.has_told || (looked.has_more && fresh.is_none());
                }
                Err(error) => warnings.push(format!("commits are not looked through: {error}")),
            }
        }
        // What could not be shown is shown by the next call.
        match pages.whole(|| publish::publish(inner, &pages)) {
            Ok(told) => warnings.extend(told),
            Err(error) => {
                warnings.push(format!("the views of the trace are not written: {error}"));
            }
        }
        pages.commit()?;
        if !has_more {
            return Ok(warnings);
        }
    }
}

/// Takes in some of the events behind the cursor; whether there are more.
fn take_in(
    inner: &Inner,
    pages: &Pages<'_>,
    (fresh, warnings): (Option<&Fresh<'_>>, &mut Vec<String>),
) -> Result<bool, GateError> {
    let reader = Reader::open(inner.ledger.dir())?;
    let from = pages.cursor()?;
    if from >= reader.size()? {
        return Ok(false);
    }
    let mut next = from;
    let events = reader.events_from(from)?.take(TRACE_CATCH_UP_EVENTS_MAX);
    for event in events {
        let event = event?;
        next = event.seq.saturating_add(1);
        note_permission(pages, &event)?;
        ties::take_in(pages, &event)?;
        if is_change(&event) {
            let told = trace(inner, pages, (&event, fresh))?;
            warnings.extend(told);
        }
    }
    pages.set_cursor(next)?;
    Ok(next > from && next < reader.size()?)
}

/// An execution that ended with changed files, a person's own among them. What was rolled back has
/// files only if a client left them changed.
fn is_change(event: &Event) -> bool {
    let body = &event.body;
    let is_over = matches!(
        body.state,
        None | Some(LifecycleState::Completed | LifecycleState::RolledBack)
    );
    is_over && body.execution_id.is_some() && !body.paths.is_empty()
}

fn permission_of(execution: &str) -> String {
    format!("permission/{execution}")
}

/// Who or what allowed a call is said when it is authorised, and wanted when it has ended.
fn note_permission(pages: &Pages<'_>, event: &Event) -> Result<(), GateError> {
    let body = &event.body;
    let (Some(LifecycleState::Authorized), Some(execution)) = (body.state, &body.execution_id)
    else {
        return Ok(());
    };
    match body.approver.as_ref().or(body.rule.as_ref()) {
        Some(by) => pages.set_text(&permission_of(execution), by),
        None => Ok(()),
    }
}

/// The record of one event, with authorship and lists. What goes wrong with the authorship of lines
/// is told, and the record stands.
fn trace(
    inner: &Inner,
    pages: &Pages<'_>,
    (event, fresh): (&Event, Option<&Fresh<'_>>),
) -> Result<Option<String>, GateError> {
    let Some(gathered) = Gathered::of(inner, pages, (event, fresh))? else {
        return Ok(None);
    };
    let record = gathered.record(inner, record_id(pages, &gathered)?);
    gathered.keep_step(pages)?;
    if !keep(pages, &record, false)? {
        return Ok(None);
    }
    let attributed = attribute(inner, pages, &gathered);
    Ok(attributed.err().map(|error| {
        let execution = &gathered.taken.execution;
        format!("the authors of the lines of {execution} are not known: {error}")
    }))
}

/// The id of the record of an event: the same however often the event is taken in. A client may use
/// the id of a call again, and then the later call's record is told from the first by its place in
/// the ledger.
fn record_id(pages: &Pages<'_>, gathered: &Gathered<'_>) -> Result<String, GateError> {
    let id = format!("t-{}", gathered.taken.execution);
    let known = pages.record(&id)?;
    let known = known.and_then(|body| serde_json::from_str::<Record>(&body).ok());
    let is_others = known.is_some_and(|known| known.ledger_event != Some(gathered.event.hash));
    Ok(if is_others {
        format!("{id}-{}", gathered.event.seq)
    } else {
        id
    })
}

/// Keeps a record, the lists that lead to it and its part of the map. Whether it is new.
fn keep(pages: &Pages<'_>, record: &Record, is_published: bool) -> Result<bool, GateError> {
    let is_new = note(pages, record, is_published)?;
    if is_new {
        publish::map_all(pages, std::slice::from_ref(record))?;
    }
    Ok(is_new)
}

/// Keeps a record and the lists that lead to it. Whether it is new.
fn note(pages: &Pages<'_>, record: &Record, is_published: bool) -> Result<bool, GateError> {
    let at = record.timestamp.unwrap_or_default();
    let body = record.to_line();
    if !pages.keep((&record.id, at), body.trim_end(), is_published)? {
        return Ok(false);
    }
    let posting = Posting {
        at,
        record: record.id.clone(),
    };
    let mut names: Vec<(Topic, &str)> = Vec::new();
    names.extend(record.intent_id.as_deref().map(|id| (Topic::Intent, id)));
    names.extend(record.session_id.as_deref().map(|id| (Topic::Session, id)));
    for range in &record.modified_ranges {
        names.push((Topic::Path, &range.file));
        names.extend(range.old_file.as_deref().map(|file| (Topic::Path, file)));
        let nodes = range.ast_nodes.iter();
        names.extend(nodes.map(|node| (Topic::Symbol, node.symbol.as_str())));
    }
    names.sort_unstable_by_key(|(topic, name)| (*topic as u8, *name));
    names.dedup();
    let mut store = pages;
    let mut lists = Postings(&mut store);
    for (topic, name) in names {
        lists.add(topic, name, &posting)?;
    }
    Ok(true)
}

fn attribute(inner: &Inner, pages: &Pages<'_>, gathered: &Gathered) -> Result<(), GateError> {
    let files = gathered.files();
    let mut authorship = Authorship::new(pages);
    let someone = match (gathered.is_persons(), gathered.is_anyones()) {
        (true, _) => Some(Outside::Human),
        // The call failed, so the lines may be its client's or a person's.
        (false, true) => Some(Outside::Unknown),
        (false, false) => None,
    };
    if let Some(outside) = someone {
        for file in &files {
            authorship.observe(file.path, file.after.unwrap_or_default(), outside)?;
        }
        return Ok(());
    }
    let paths: Vec<&WorkspacePath> = files.iter().map(|file| file.path).collect();
    let outside = outside(inner, &gathered.taken.execution, &paths)?;
    authorship.settle(&gathered.origin(pages)?, &files, outside)?;
    Ok(())
}

/// Whether another call may have written to these files without anybody having seen its end.
fn outside(
    inner: &Inner,
    execution: &CallId,
    paths: &[&WorkspacePath],
) -> Result<Outside, GateError> {
    let open = inner.site.store.open_tickets()?;
    let touches = |ticket: &Ticket| {
        ticket.execution != *execution && ticket.mutated.iter().any(|path| paths.contains(&path))
    };
    Ok(if open.iter().any(touches) {
        Outside::Unknown
    } else {
        Outside::Human
    })
}
