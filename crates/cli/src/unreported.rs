//! Commands that were to be confined, that never came there, and whose end nobody reported:
//! recorded before the notes about them go.

use serde_json::Map;
use tagout_gate::{Engine, Strayed};
use tagout_ledger::Commitment;
use tagout_vocab::Call;

use crate::clock;
use crate::failure::Failure;
use crate::notes::{Admitted, Asked, Notes, Open};

/// Takes away what nobody will ask for any more, once in a while. A client that was killed reports
/// nothing and ends no conversation, so this is the last look at what it left open; what can't be
/// recorded now stays for the next one.
pub(crate) fn tidy(engine: &Engine, notes: &Notes) {
    notes.tidy(clock::now(), |open| record(engine, notes, open).is_ok());
}

/// §13.5: records an open call if it is such a command, as if it had only been started.
pub(crate) fn record(engine: &Engine, notes: &Notes, open: &Open) -> Result<(), Failure> {
    let Admitted::Exec(id) = &open.what else {
        return Ok(());
    };
    let sent = open.rewritten.as_ref().and_then(|_| notes.unused(id));
    let Some(sent) = sent else {
        return Ok(());
    };
    let mut call = Call::new(&open.key.tool, Map::new());
    call.id.clone_from(&open.call);
    call.session = Some(open.key.session.clone());
    call.agent.name = Some(sent.client);
    let commitment = |Asked { salt, digest }| Commitment { salt, digest };
    let strayed = Strayed::Unreported {
        asked: open.asked.map(commitment),
    };
    drop(engine.strayed(&call, Some(strayed), &[])?);
    notes.unsend(id);
    Ok(())
}
