//! A call that may run: claimed, counted, recorded, and only then permitted.

use serde_json::json;
use tagout_ledger::Kind;
use tagout_vocab::{CallId, WorkspacePath};
use tagout_workspace::{Claim, Claiming, Holding, RelPath};

use super::ending::used_up;
use super::{Admitted, Considered, Judged, Step, Way, unavailable};
use crate::close;
use crate::command::{Ready, Room};
use crate::enforced;
use crate::error::GateError;
use crate::lifecycle::{Authorized, Execution};
use crate::permit::{Given, Permit, Ticket};
use crate::record::{self, Closing};
use crate::recover;
use crate::requests::{self, Applied};
use crate::store::{Answer, ApprovalRequest};
use crate::tracing;

impl Step<'_> {
    /// One open permit per path.
    pub(super) fn claim(
        &self,
        execution: &CallId,
        judged: &Judged,
    ) -> Result<Result<Claim, (WorkspacePath, String)>, GateError> {
        let paths: Vec<RelPath> = judged.gathered.mutated.iter().map(RelPath::from).collect();
        let holding = match self.way {
            Way::Run => Holding::WhileAlive,
            Way::Guard => Holding::UntilReleased,
        };
        let workspace = &self.inner.workspace;
        let mut claimed = workspace.claim(execution, &paths, holding)?;
        if let Claiming::Busy {
            by: Some(by),
            alive: false,
            ..
        } = &claimed
            && recover::is_gone(self.inner, by)
        {
            recover::release_gone(self.inner)?;
            claimed = workspace.claim(execution, &paths, holding)?;
        }
        Ok(match claimed {
            Claiming::Held(claim) => Ok(claim),
            Claiming::Busy { path, by, .. } => {
                let by = by.map_or_else(|| "another call".to_owned(), |by| format!("call {by}"));
                Err((path.to_workspace()?, by))
            }
        })
    }

    /// Stores what a call rests on before its record: whatever fails or whoever dies afterwards, an
    /// execution that the ledger authorised is found again and gets its end.
    pub(super) fn prepare(
        &mut self,
        ticket: &mut Ticket,
        asked: Option<ApprovalRequest>,
    ) -> Result<Applied, GateError> {
        self.use_yes(ticket, asked)?;
        self.count_use(ticket)?;
        ticket.seq = self.inner.ledger.size()?;
        match self.way {
            Way::Run => {
                self.inner.running()?.began(ticket)?;
                Ok(Applied::default())
            }
            Way::Guard => {
                ticket.given = Some(Given::new(self.call, self.inner.clockwork.random()));
                tracing::take_snapshot(self.inner, ticket, self.now)?;
                self.inner.site.store.keep_ticket(ticket)?;
                let mut record = self.record.clone();
                let applied = requests::on_admission(self.inner, &mut record, ticket, self.now)?;
                self.record = record;
                Ok(applied)
            }
        }
    }

    /// Takes back what was stored for a call that is not permitted after all. What can't be taken
    /// back now is dropped later: the ledger does not authorise it.
    pub(super) fn forget(&self, ticket: &Ticket) {
        match self.way {
            Way::Run => {
                if let Ok(running) = self.inner.running() {
                    running.ended(&ticket.execution);
                }
            }
            Way::Guard => drop(self.inner.site.store.drop_ticket(&ticket.execution)),
        }
    }

    pub(super) fn allow(
        &mut self,
        authorized: Execution<Authorized>,
        mut ticket: Ticket,
        (judged, mut applied, (claim, ready)): (Judged, Applied, (Option<Claim>, Option<Ready>)),
    ) -> Result<Considered, GateError> {
        let event = record::transition(&self.inner.clockwork, &authorized, &ticket, self.now);
        let mut event = record::judged(event, &ticket);
        let entry = self.inner.registry.get(&judged.name).cloned();
        if let (Way::Run, Some(entry)) = (self.way, &entry) {
            let limits = enforced::in_process(entry.tool.declaration().resource_limits);
            event.data = Some(json!({ "limits": limits }));
        }
        let place = self.events.len();
        self.events.push(event);
        self.events.append(&mut applied.events);
        // Should this fail, nobody knows whether the lines are there: what was stored stays.
        self.leave_first()?;
        let appended = self.inner.ledger.append(&self.events)?;
        ticket.seq = appended.seqs.start + place as u64;
        let kept = self.keep_session();
        if let Err(error) = kept.and_then(|()| requests::finish(self.inner, applied)) {
            self.take_back(authorized, &ticket, &error);
            let mut refusal = Box::new(unavailable(&error));
            let used = self.used.as_deref().map(used_up);
            refusal.reason.extend(used);
            return Ok(Considered::Denied {
                refusal,
                invalid: false,
                seqs: appended.seqs,
            });
        }
        let warnings = crate::own::warnings(entry.as_deref());
        let no_permit = GateError::NoPermit {
            id: ticket.execution.to_string(),
            why: "the ledger's token does not cover it",
        };
        let permit = Permit::new(authorized, &appended.token, ticket).ok_or(no_permit)?;
        Ok(Considered::Permitted(Box::new(Admitted {
            permit: permit.holding(claim),
            arguments: judged.arguments,
            entry,
            warnings,
            session: self.record.session.clone(),
            ready,
        })))
    }

    /// Has the sandbox of the call's command built, beside the writing of its record. It stands
    /// empty until there is a permit, and goes if there will be none.
    pub(super) fn ready(&self, ticket: &Ticket, judged: &Judged) -> Option<Ready> {
        let tool = &self.inner.registry.get(&judged.name)?.tool;
        let room = Room {
            inner: self.inner,
            yard: self.inner.commands.as_ref()?,
            ticket,
            attached: self.attached?,
            declaration: tool.declaration(),
            cwd: &self.call.cwd,
        };
        room.ahead(tool.command(&judged.arguments)?)
    }

    /// A call that was authorised and can't be permitted all the same ends at once, with the reason
    /// in the ledger. If even that can't be written, what was stored is found by a later process.
    fn take_back(&self, authorized: Execution<Authorized>, ticket: &Ticket, error: &GateError) {
        let closing = Closing {
            clockwork: &self.inner.clockwork,
            ticket,
            started: self.now,
            ended: self.inner.clockwork.now(),
        };
        let events = closing.aborted(authorized.start(), &close::of_state(error));
        if self.inner.ledger.append(&events).is_ok() {
            self.forget(ticket);
        }
    }

    /// A yes is used before the step is recorded: a crash in between costs a yes, never gives a
    /// second one.
    fn use_yes(
        &mut self,
        ticket: &mut Ticket,
        asked: Option<ApprovalRequest>,
    ) -> Result<(), GateError> {
        let Some(mut request) = asked else {
            return Ok(());
        };
        if let Answer::Granted { by, .. } = &request.answer {
            ticket.approver = Some(by.clone());
        }
        let execution = ticket.execution.clone();
        request.answer = Answer::Used { execution };
        self.inner.site.store.keep_approval(&request)?;
        self.used = Some(request.id.clone());
        let data = json!({ "approval": request.id, "used": true });
        self.events.push(self.event(Kind::Approval, data));
        Ok(())
    }

    /// Counts the call for its intent and for the grants that it rests on.
    fn count_use(&self, ticket: &Ticket) -> Result<(), GateError> {
        let store = &self.inner.site.store;
        if ticket.class == tagout_vocab::Class::Destructive
            && let Some(intent) = &ticket.intent
        {
            store.count_call(intent, self.now)?;
        }
        store.note_grant_uses(&ticket.grants, self.now)
    }
}
