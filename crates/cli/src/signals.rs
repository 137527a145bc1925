//! Ctrl-C and its like: the command ends and is rolled back, instead of Tagout dying over it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::failure::Failure;

/// Which signal came, if one did.
#[derive(Clone, Debug)]
pub(crate) struct Interrupted(Arc<AtomicU8>);

impl Interrupted {
    /// The number of the signal.
    pub(crate) fn signal(&self) -> Option<u8> {
        tagout_sandbox::hear_interrupts();
        let signal = self.0.load(Ordering::Acquire);
        (signal != 0).then_some(signal)
    }
}

/// Calls back when someone wants this process to end.
pub(crate) fn watch(mut then: impl FnMut() + Send + 'static) -> Result<Interrupted, Failure> {
    let seen = Arc::new(AtomicU8::new(0));
    let theirs = Arc::clone(&seen);
    tagout_sandbox::on_interrupt(move |signal| {
        theirs.store(signal, Ordering::Release);
        then();
    })
    .map_err(|error| Failure::failed(format!("signals can't be watched: {error}")))?;
    Ok(Interrupted(seen))
}
