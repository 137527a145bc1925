//! Which intents a conversation can take up, told at its start.

use tagout_gate::policy::intents::selectable;
use tagout_vocab::Intent;
use tagout_vocab::limits::HOOK_INTENTS_SHOWN_MAX;

use super::work::Work;
use crate::{clock, moments};

/// The intents that are open, those that another conversation holds, and until when.
pub(super) fn told(work: &Work, propose: &str) -> String {
    let (mut free, mut held) = (Vec::new(), Vec::new());
    let books = &work.engine.shelf().books;
    let now = clock::now();
    let is_open = |intent: &&Intent| {
        selectable(intent, now).is_ok() && books.ignore.blocks_intent(&intent.id).is_none()
    };
    for intent in books.intents.iter().filter(is_open) {
        // Who holds an intent stands in a file of its own: enough free ones end the reading.
        if free.len() == HOOK_INTENTS_SHOWN_MAX {
            break;
        }
        match until(work, intent) {
            None => free.push(intent.id.to_string()),
            Some(until) => held.push(format!("{} until {until}", intent.id)),
        }
    }
    held.truncate(HOOK_INTENTS_SHOWN_MAX);
    let held = held.join(", ");
    match (free.is_empty(), held.is_empty()) {
        (true, true) => format!("No intent is open; ask for one with `{propose}`."),
        (false, true) => format!("Open intents: {}.", free.join(", ")),
        (true, false) => format!(
            "No intent is free; other conversations hold {held}, or longer if they go on. Wait, or \
             ask for one with `{propose}`."
        ),
        (false, false) => format!(
            "Open intents: {}. Other conversations hold {held}, or longer if they go on: choose \
             another one, or wait.",
            free.join(", ")
        ),
    }
}

/// Until when another conversation holds an intent. One that nobody can tell of is told as open:
/// taking it up is judged then.
fn until(work: &Work, intent: &Intent) -> Option<String> {
    let holder = work.engine.site().holder(&intent.id, clock::now());
    let (session, until) = holder.ok().flatten()?;
    let is_own = session == work.incoming.context.session;
    (!is_own).then(|| moments::local(until))
}
