//! What is known of an intent's past, for whoever takes it up.
//!
//! Executions that the ledger knows, and lessons from verifications that failed.

use tagout_vocab::IntentId;
use tagout_vocab::limits::CONTEXT_TRACE_COUNT_MAX;

use crate::engine::Inner;
use crate::permit::Ticket;
use crate::receipt::Receipt;
use crate::store::{Done, Store};

/// What is known of an intent's past.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct History {
    /// What was done for it, newest last, each with the number of its event in the ledger.
    pub recent: Vec<String>,
    /// What was learnt, newest last.
    pub lessons: Vec<String>,
}

/// Paths of one execution that are named; the others are counted.
const PATHS_NAMED: usize = 5;

/// The past of an intent. What can't be read is left out: it is told for orientation only.
pub(crate) fn of(store: &Store, intent: &IntentId) -> History {
    let done = store.done_for(intent).unwrap_or_default();
    let from = done.len().saturating_sub(CONTEXT_TRACE_COUNT_MAX);
    History {
        recent: done.iter().skip(from).map(told).collect(),
        lessons: store.lessons_for(intent).unwrap_or_default(),
    }
}

fn told(done: &Done) -> String {
    let more = match done.more {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let (at, tool, seq) = (done.at, &done.tool, done.seq);
    format!(
        "{at} {tool} changed {}{more} (event {seq})",
        done.paths.join(", ")
    )
}

/// Notes an execution that changed something, once the ledger knows its end.
pub(crate) fn note(inner: &Inner, ticket: &Ticket, receipt: &Receipt) {
    let Some(intent) = ticket
        .intent
        .as_ref()
        .filter(|_| !receipt.changes.is_empty())
    else {
        return;
    };
    let paths = receipt.changes.iter().take(PATHS_NAMED);
    let done = Done {
        at: inner.clockwork.now(),
        // EXECUTING comes first, the end second.
        seq: receipt.seqs.start.saturating_add(1),
        tool: ticket.tool.clone(),
        paths: paths.map(|change| change.path.clone()).collect(),
        more: receipt.changes.len().saturating_sub(PATHS_NAMED),
    };
    // A note that is lost is missed by nobody: the ledger has it.
    drop(inner.site.store.note_done(intent, &done));
}
