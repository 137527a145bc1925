//! Recovery: what a process that died left behind is finished or taken out again, as a whole.

use tagout_vocab::CallId;

use crate::commit::{is_settled, stage_and_swap};
use crate::error::{ConflictPath, Error};
use crate::journal::Segment;
use crate::journal::done::{Done, confirmed_line};
use crate::journal::frame::Frame;
use crate::replay::{Chains, clear_pieces};
use crate::state::owner_name;
use crate::workspace::Workspace;

/// What became of a transaction whose process did not see its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It is wholly in the workspace.
    Committed,
    /// Nothing of it is.
    Aborted,
}

/// A transaction whose closing events the ledger may lack.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Settled {
    /// The call.
    pub execution: CallId,
    /// What became of it.
    pub outcome: Outcome,
    /// The closing events as they were handed to the commit.
    pub closing: Vec<u8>,
}

/// What recovery found and did.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Append these by their call's id where the ledger lacks them, then confirm them.
    pub settled: Vec<Settled>,
    /// Where someone else's work was found and left alone.
    pub conflicts: Vec<ConflictPath>,
    /// Paths that were brought to where the journal says they are.
    pub repaired: usize,
    /// It is time for [`Workspace::checkpoint`].
    pub checkpoint_due: bool,
}

impl Workspace {
    /// Finishes or takes out what dead processes left half-done. Cheap when there is nothing.
    ///
    /// It may itself be killed anywhere and be run again. Transactions of living processes, and
    /// what they have not yet told the ledger, are left alone.
    pub fn recover(&self) -> Result<Recovery, Error> {
        // Whoever begins a record now is alive, so that this needs no lock.
        if self.state.journal.is_empty()? {
            return Ok(Recovery::default());
        }
        let _lock = self.state.lock()?;
        let mut segment = self.state.journal.active()?;
        let done = segment.done()?;
        let mut recovery = Recovery::default();
        let settled = is_settled(self, segment.length(), &done);
        if settled && done.iter().all(|one| one.confirmed) {
            return Ok(recovery);
        }
        let living = self.state.living()?;
        let open = |one: &Done| !one.confirmed && !living.contains(&one.owner);
        if settled && !done.iter().any(open) {
            return Ok(recovery);
        }
        let rebooted = done.iter().any(|one| one.boot != self.boot());
        if !settled {
            self.settle(&mut segment, &mut recovery)?;
        }
        let (frames, _) = segment.heads()?;
        for frame in frames {
            let confirmed = segment_done(&done, &frame).is_some_and(|one| one.confirmed);
            let alive = living.contains(&owner_name(&frame.record.execution));
            // After a power loss the ledger may have lost what it had been told.
            if (!confirmed || rebooted) && !alive {
                let aborted = frame.aborted;
                let outcome = if aborted {
                    Outcome::Aborted
                } else {
                    Outcome::Committed
                };
                let (execution, closing) = (frame.record.execution, frame.record.closing);
                recovery.settled.push(Settled {
                    execution,
                    outcome,
                    closing,
                });
            }
        }
        recovery.checkpoint_due |= rebooted;
        Ok(recovery)
    }

    /// The ledger has the closing events of these calls.
    pub fn confirm(&self, executions: &[CallId]) -> Result<(), Error> {
        let _lock = self.state.lock()?;
        let mut segment = self.state.journal.active()?;
        let (frames, _) = segment.heads()?;
        for frame in frames {
            if executions.contains(&frame.record.execution) {
                segment.note(&confirmed_line(frame.offset))?;
            }
        }
        Ok(())
    }

    /// Brings the workspace to where the journal says it is. Returns where the last whole record
    /// ends.
    pub(crate) fn settle(
        &self,
        segment: &mut Segment,
        recovery: &mut Recovery,
    ) -> Result<u64, Error> {
        let (frames, end) = segment.frames()?;
        let done = segment.done()?;
        // A record that is only in memory must not be acted on: the act could outlive it.
        self.state.journal.secure(segment)?;
        let elsewhen = |frame: &Frame| {
            let boot = segment_done(&done, frame).map_or(frame.record.boot, |one| one.boot);
            self.boot().is_none() || boot != self.boot()
        };
        if frames.iter().any(elsewhen) {
            self.replay(segment, &frames, (&done, &mut *recovery))?;
            for frame in &frames {
                let installed = self.engine(segment.number, frame).installed();
                self.note_applied(segment, frame, installed);
            }
            recovery.checkpoint_due = true;
            return Ok(end);
        }
        let chains = self.chains(&frames, &done);
        for frame in &frames {
            if segment_done(&done, frame).is_none() {
                self.settle_one(segment, (frame, &chains), recovery)?;
            }
        }
        Ok(end)
    }

    /// One record of this boot whose process died on the way.
    fn settle_one(
        &self,
        segment: &mut Segment,
        (frame, chains): (&Frame, &Chains<'_>),
        recovery: &mut Recovery,
    ) -> Result<(), Error> {
        recovery.repaired += frame.record.units.len();
        let mut engine = self.engine(segment.number, frame);
        engine.staged = segment.staged(frame.offset)?;
        if engine.staged.is_none() {
            // Its process died while it made the trees.
            clear_pieces(&engine, chains, recovery)?;
        }
        if frame.aborted {
            recovery.conflicts.extend(engine.undo()?);
            self.note_applied(segment, frame, Vec::new());
            return Ok(());
        }
        let resumed = if engine.staged.is_none() {
            // Nothing was swapped yet: it is done as the first process would have done it.
            stage_and_swap(segment, frame, &mut engine)
        } else {
            engine.resume()
        };
        match resumed {
            Ok(()) => {
                recovery
                    .conflicts
                    .extend(self.finish(segment, frame, &engine));
                Ok(())
            }
            Err(reason) => {
                // Someone worked on one of the files: the transaction was never acknowledged, so it
                // goes as a whole. Any other failure waits for a better day.
                let Error::Conflict { .. } = &reason else {
                    return Err(reason);
                };
                if let Error::Conflict { paths } =
                    self.give_up(segment, (frame, &engine), reason)?
                {
                    recovery.conflicts.extend(paths);
                }
                Ok(())
            }
        }
    }
}

pub(crate) fn segment_done<'a>(done: &'a [Done], frame: &Frame) -> Option<&'a Done> {
    done.iter().find(|one| one.offset == frame.offset)
}
