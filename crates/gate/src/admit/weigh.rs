//! What is found about a call: the facts gathered, the judge asked, the engine's own checks made.

use serde_json::Value;
use tagout_policy::judge::{Approval, Case, judge_case};
use tagout_vocab::{CallId, Gate, IntentId, Role, Verdict, WorkspacePath};

use super::{Judged, Step, Way, call_digest};
use crate::error::GateError;
use crate::facts;
use crate::store::SessionRecord;

impl Step<'_> {
    pub(super) fn execution_id(&self) -> Result<CallId, GateError> {
        let fresh = || self.inner.clockwork.id("x");
        let text = match (&self.call.id, self.way) {
            (Some(id), Way::Guard) => id.to_string(),
            (_, Way::Run) | (None, Way::Guard) => fresh(),
        };
        CallId::new(&text).map_err(|source| GateError::Id { text, source })
    }

    /// The session as it may be judged: a child acts only under the intent that its parents act
    /// under.
    fn narrowed(&self) -> Result<SessionRecord, GateError> {
        let mut record = self.record.clone();
        let active = record.session.active_intent().cloned();
        let ancestors = self.inner.site.store.ancestors(&record.session)?;
        if ancestors
            .iter()
            .any(|one| one.active_intent() != active.as_ref())
        {
            record.session.state = tagout_vocab::State::Reasoning;
        }
        Ok(record)
    }

    pub(super) fn judge(
        &self,
        approval: Approval,
        busy: Option<(WorkspacePath, String)>,
    ) -> Result<Judged, GateError> {
        let record = self.narrowed()?;
        let mut gathered = facts::gather(self.inner, self.call, &record, (self.now, self.way))?;
        gathered.facts.approval = approval;
        gathered.facts.busy.extend(busy);
        let books = &self.inner.shelf.books;
        let case = Case::new(self.call, &record.session, books, &gathered.facts);
        let mut judgement = judge_case(&case);
        let tool = case.tool();
        let role = tool.and_then(|tool| tool.role);
        let arguments = case.arguments().clone();
        let named = arguments.get("intent_id").and_then(Value::as_str);
        let named = named.and_then(|id| IntentId::new(id).ok());
        let predicted = crate::old_text::predicted(self.inner, &case, &gathered.mutated);
        let name = tool.map_or(self.call.tool.clone(), |tool| tool.name.clone());
        let mut judged = Judged {
            valid: case.fits_schema(&judgement),
            name,
            known: tool.is_some(),
            role,
            capabilities: tool
                .map(|tool| tool.capabilities.clone())
                .unwrap_or_default(),
            grants: case.grants_used(),
            selects: named.filter(|_| role == Some(Role::SelectIntent)),
            digest: call_digest(&case),
            judgement: judgement.clone(),
            arguments,
            predicted,
            gathered,
        };
        if judgement.verdict.is_allow()
            && let Some(refusal) =
                crate::own::check(self.inner, &record.session, &own(&judged, self.way))?
        {
            judged.valid &= refusal.gate != Gate::Schema;
            judgement.verdict = Verdict::Deny(Box::new(refusal));
            judged.judgement = judgement;
        }
        Ok(judged)
    }
}

fn own(judged: &Judged, way: Way) -> crate::own::Asked<'_> {
    crate::own::Asked {
        name: &judged.name,
        arguments: &judged.arguments,
        mutated: &judged.gathered.mutated,
        selects: judged.selects.as_ref(),
        runs: way == Way::Run,
    }
}
