//! A call that may run: claimed, counted, recorded, and only then permitted.

use serde_json::json;
use tagout_ledger::Kind;
use tagout_vocab::{CallId, WorkspacePath};
use tagout_workspace::{Claim, Claiming, Holding, RelPath};

use super::{Admitted, Considered, Judged, Step, Way};
use crate::enforced;
use crate::error::GateError;
use crate::lifecycle::{Authorized, Execution};
use crate::permit::{Given, Permit, Ticket};
use crate::record;
use crate::requests::{self, Applied};
use crate::store::{Answer, ApprovalRequest};

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
        Ok(
            match self.inner.workspace.claim(execution, &paths, holding)? {
                Claiming::Held(claim) => Ok(claim),
                Claiming::Busy { path, by } => {
                    let by =
                        by.map_or_else(|| "another call".to_owned(), |by| format!("call {by}"));
                    Err((path.to_workspace()?, by))
                }
            },
        )
    }

    pub(super) fn allow(
        &mut self,
        authorized: Execution<Authorized>,
        mut ticket: Ticket,
        (judged, asked, claim): (Judged, Option<ApprovalRequest>, Option<Claim>),
    ) -> Result<Considered, GateError> {
        self.use_yes(&mut ticket, asked)?;
        self.count_use(&ticket, &judged)?;
        let event = record::transition(&self.inner.clockwork, &authorized, &ticket, self.now);
        let mut event = record::judged(event, &ticket);
        let entry = self.inner.registry.get(&judged.name).cloned();
        if let (Way::Run, Some(entry)) = (self.way, &entry) {
            let limits = enforced::in_process(entry.tool.declaration().resource_limits);
            event.data = Some(json!({ "limits": limits }));
        }
        let event_id = event.event_id.clone();
        self.events.push(event);
        let mut applied = Applied::default();
        if self.way == Way::Guard {
            applied = requests::on_admission(self.inner, &mut self.record, &ticket, self.now)?;
            self.events.append(&mut applied.events);
        }
        let place = self
            .events
            .iter()
            .position(|event| event.event_id == event_id);
        let appended = self.append()?;
        ticket.seq = appended.seqs.start + place.unwrap_or_default() as u64;
        requests::finish(self.inner, applied)?;
        if self.way == Way::Guard {
            ticket.given = Some(Given::new(self.call, self.inner.clockwork.random()));
            let paths: Vec<RelPath> = ticket.mutated.iter().map(RelPath::from).collect();
            self.inner
                .workspace
                .snapshot(&ticket.execution, &paths, self.now)?;
            self.inner.site.store.keep_ticket(&ticket)?;
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
        })))
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
        let data = json!({ "approval": request.id, "used": true });
        self.events.push(self.event(Kind::Approval, data));
        Ok(())
    }

    /// Counts the call for its intent and for the grants that it may rest on.
    fn count_use(&self, ticket: &Ticket, judged: &Judged) -> Result<(), GateError> {
        let store = &self.inner.site.store;
        if ticket.class == tagout_vocab::Class::Destructive
            && let Some(intent) = &ticket.intent
        {
            store.count_call(intent, self.now)?;
        }
        let law = &self.inner.shelf.books.law;
        let granted = |name: &&String| law.capability_denied(name).is_some();
        let needed = judged.capabilities.iter().filter(granted);
        let needed =
            needed.filter_map(|name| tagout_policy::capability::Capability::parse(name).ok());
        store.note_grant_uses(&judged.gathered.facts.grants, &needed.collect(), self.now)
    }
}
