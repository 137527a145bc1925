//! The proof that a call was allowed and that this is durable.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tagout_ledger::{Commitment, Durable};
use tagout_vocab::{
    Agent, Call, CallId, Class, Digest, GrantId, IntentId, MutationClass, Role, SessionId,
    Timestamp, WorkspacePath,
};
use tagout_workspace::Claim;

use crate::lifecycle::{Authorized, Executing, Execution};
use crate::store::canonical;

/// What a client said when it asked, so that what it says afterwards can be compared.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Given {
    tool: String,
    salt: Digest,
    arguments: Digest,
    /// Where it started: the same words mean other files elsewhere.
    #[serde(default)]
    cwd: String,
}

impl Given {
    pub(crate) fn new(call: &Call, salt: [u8; 32]) -> Self {
        Self {
            tool: call.tool.clone(),
            salt: Digest::from_bytes(salt),
            arguments: committed(salt, &call.arguments),
            cwd: call.cwd.clone(),
        }
    }

    /// Whether these are the arguments of then, in whatever order.
    pub(crate) fn has(&self, arguments: &Map<String, Value>) -> bool {
        committed(*self.salt.as_bytes(), arguments) == self.arguments
    }

    /// Whether it is the same call.
    pub(crate) fn is(&self, call: &Call) -> bool {
        self.tool == call.tool && self.cwd == call.cwd && self.has(&call.arguments)
    }
}

fn committed(salt: [u8; 32], arguments: &Map<String, Value>) -> Digest {
    let text = canonical(arguments).to_string();
    Commitment::new(salt, text.as_bytes()).digest
}

/// What is kept of an admitted call until it is settled, also by a later process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    pub(crate) execution: CallId,
    /// The number of the event that authorised it. In what is stored before that event is written,
    /// the first number that it can have.
    pub(crate) seq: u64,
    pub(crate) tool: String,
    pub(crate) version: String,
    pub(crate) session: SessionId,
    pub(crate) intent: Option<IntentId>,
    pub(crate) agent: Agent,
    pub(crate) class: Class,
    pub(crate) input_hash: Digest,
    pub(crate) capabilities: Vec<String>,
    pub(crate) code: String,
    pub(crate) rule: String,
    pub(crate) approver: Option<String>,
    /// The grants that the verdict rests on.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) grants: BTreeSet<GrantId>,
    pub(crate) admitted_at: Timestamp,
    /// The version of the law that it was judged by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) law: Option<Digest>,
    /// The paths that the call may change, links followed.
    pub(crate) mutated: Vec<WorkspacePath>,
    /// Those of them that were not there when the call was judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) absent: Vec<WorkspacePath>,
    /// The files that the call reads, links followed.
    pub(crate) reads: Vec<WorkspacePath>,
    /// What the arguments say the files will hold; a path that is missing here can't be predicted.
    pub(crate) predicted: BTreeMap<WorkspacePath, Option<Digest>>,
    /// The intent that the call selects, if that is what it is for.
    pub(crate) selects: Option<IntentId>,
    /// The part that the tool plays.
    pub(crate) role: Option<Role>,
    /// What the agent says about the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) declared: Option<MutationClass>,
    /// What a client said that executes by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) given: Option<Given>,
}

impl Ticket {
    /// The intent that its session is under once the call was admitted: a selection and an end are
    /// carried out with the admission.
    pub(crate) const fn leaves(&self) -> Option<&IntentId> {
        match (&self.selects, self.role) {
            (Some(selected), _) => Some(selected),
            (None, Some(Role::Completion)) => None,
            (None, _) => self.intent.as_ref(),
        }
    }
}

/// Nothing runs without one. It is made from the token of a durable append and from nothing else;
/// a later process gets it back by [`crate::Engine::resume`], which asks the ledger again.
#[derive(Debug)]
#[must_use = "a permit that is dropped leaves its call unsettled"]
pub struct Permit {
    execution: Execution<Authorized>,
    ticket: Ticket,
    claim: Option<Claim>,
}

impl Permit {
    pub(crate) fn new(
        execution: Execution<Authorized>,
        durable: &Durable,
        ticket: Ticket,
    ) -> Option<Self> {
        let covered = (durable.first_seq()..=durable.last_seq()).contains(&ticket.seq);
        (covered && *execution.id() == ticket.execution).then_some(Self {
            execution,
            ticket,
            claim: None,
        })
    }

    pub(crate) fn holding(mut self, claim: Option<Claim>) -> Self {
        self.claim = claim;
        self
    }

    pub(crate) fn begin(self) -> (Execution<Executing>, Ticket, Option<Claim>) {
        (self.execution.start(), self.ticket, self.claim)
    }

    /// The execution that it permits.
    pub const fn execution(&self) -> &CallId {
        self.execution.id()
    }

    /// What is kept of it.
    pub(crate) const fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Whether it was given for exactly this call.
    pub(crate) fn is_for(&self, call: &Call) -> bool {
        let given = self.ticket.given.as_ref();
        call.session.as_ref() == Some(&self.ticket.session) && given.is_some_and(|it| it.is(call))
    }

    /// The session that it was given to.
    pub const fn session(&self) -> &SessionId {
        &self.ticket.session
    }

    /// The intent that it was given for.
    pub const fn intent(&self) -> Option<&IntentId> {
        self.ticket.intent.as_ref()
    }

    /// The number of the ledger's event that it rests on.
    pub const fn seq(&self) -> u64 {
        self.ticket.seq
    }

    /// The paths that it lets the call change.
    pub fn paths(&self) -> &[WorkspacePath] {
        &self.ticket.mutated
    }
}
