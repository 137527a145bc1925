//! H6: requests for a person's yes, each bound to exactly one call.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tagout_policy::judge::Approval;
use tagout_vocab::limits::{APPROVAL_GRANTED_MS_MAX, APPROVAL_PENDING_MS_MAX};
use tagout_vocab::{CallId, Digest, IntentId, SessionId, Timestamp};

use super::Store;
use crate::error::GateError;

/// What people said to a request.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Nothing yet.
    Pending,
    /// Yes, once.
    Granted {
        /// Who.
        by: String,
        /// When.
        at: Timestamp,
    },
    /// No.
    Rejected {
        /// Who.
        by: String,
        /// Why.
        reason: String,
    },
    /// The yes was used.
    Used {
        /// By which execution.
        execution: CallId,
    },
}

/// A stored request for a person's yes.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// Its id.
    pub id: String,
    /// What it is bound to: tool, arguments, law, intent and session together.
    pub digest: Digest,
    /// The tool.
    pub tool: String,
    /// The session that asks.
    pub session: SessionId,
    /// The intent that it is for.
    pub intent: Option<IntentId>,
    /// The version of the law that asked.
    pub law: Digest,
    /// What the call would do, in words.
    pub effects: Vec<String>,
    /// The arguments, secrets taken out.
    pub arguments: Value,
    /// Why a person is asked.
    pub reason: String,
    /// The rule that asks.
    pub rule: String,
    /// When.
    pub asked_at: Timestamp,
    /// Until when the request, or the yes to it, is good.
    pub expires_at: Timestamp,
    /// What was said.
    pub answer: Answer,
}

/// Everything that a yes is bound to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a Map<String, Value>,
    pub(crate) cwd: &'a str,
    pub(crate) law: &'a Digest,
    pub(crate) intent: Option<&'a IntentId>,
    pub(crate) session: &'a SessionId,
}

impl Binding<'_> {
    pub(crate) fn digest(&self) -> Digest {
        let arguments = canonical(self.arguments).to_string();
        let intent = self.intent.map_or("", IntentId::as_str);
        let parts = [
            self.tool,
            &arguments,
            self.cwd,
            &self.law.to_string(),
            intent,
            self.session.as_str(),
        ];
        Digest::of_parts("tagout approval v1", parts.map(str::as_bytes))
    }
}

/// Keys in one order at every depth, so that the same arguments are the same text.
pub(crate) fn canonical(arguments: &Map<String, Value>) -> Value {
    let mut entries: Vec<(&String, &Value)> = arguments.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    let sorted = entries.into_iter().map(|(key, value)| {
        let value = match value {
            Value::Object(inner) => canonical(inner),
            Value::Array(items) => items.iter().map(canonical_value).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        };
        (key.clone(), value)
    });
    Value::Object(sorted.collect())
}

fn canonical_value(value: &Value) -> Value {
    match value {
        Value::Object(inner) => canonical(inner),
        Value::Array(items) => items.iter().map(canonical_value).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

const FOLDER: &str = "approvals";

impl ApprovalRequest {
    /// Whether it is too old.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        now >= self.expires_at
    }

    /// What the judge is told.
    pub(crate) fn fact(&self, now: Timestamp) -> Approval {
        match &self.answer {
            Answer::Rejected { reason, .. } => Approval::Rejected {
                reason: reason.clone(),
            },
            Answer::Granted { .. } if self.is_expired(now) => Approval::Expired,
            Answer::Granted { by, .. } => Approval::Granted { by: by.clone() },
            Answer::Pending | Answer::Used { .. } => Approval::None,
        }
    }
}

impl Store {
    fn approval_path(&self, digest: &Digest) -> PathBuf {
        self.path(FOLDER, &digest.hex())
    }

    /// The request that is bound to exactly this call.
    pub(crate) fn approval(&self, digest: &Digest) -> Result<Option<ApprovalRequest>, GateError> {
        Self::read(&self.approval_path(digest))
    }

    pub(crate) fn keep_approval(&self, request: &ApprovalRequest) -> Result<(), GateError> {
        Self::write(&self.approval_path(&request.digest), request)
    }

    pub(crate) fn drop_approval(&self, digest: &Digest) -> Result<(), GateError> {
        Ok(tagout_workspace::files::remove(
            &self.approval_path(digest),
        )?)
    }

    /// Every request that waits for a person, oldest first.
    pub(crate) fn pending(&self, now: Timestamp) -> Result<Vec<ApprovalRequest>, GateError> {
        let mut found: Vec<ApprovalRequest> = self.all(FOLDER)?;
        found.retain(|one| one.answer == Answer::Pending && !one.is_expired(now));
        found.sort_by_key(|one| (one.asked_at, one.id.clone()));
        Ok(found)
    }

    /// Stores a person's answer to a request that still waits.
    pub(crate) fn answer_approval(
        &self,
        id: &str,
        answer: Answer,
        now: Timestamp,
    ) -> Result<ApprovalRequest, GateError> {
        let all: Vec<ApprovalRequest> = self.all(FOLDER)?;
        let found = all.into_iter().find(|one| one.id == id);
        let found = found.ok_or_else(|| GateError::Unknown {
            what: "approval request",
            id: id.to_owned(),
        })?;
        // The session's own lock, so that an answer and a use never cross.
        let _locked = self.lock_session(&found.session)?;
        let what = "approval request";
        let id = id.to_owned();
        let mut request = match self.approval(&found.digest)? {
            Some(request) if request.id == id => request,
            Some(_) | None => return Err(GateError::Unknown { what, id }),
        };
        if request.answer != Answer::Pending {
            return Err(GateError::Answered { what, id });
        }
        if request.is_expired(now) {
            return Err(GateError::Expired { what, id });
        }
        if matches!(answer, Answer::Granted { .. }) {
            request.expires_at = now.plus_millis(APPROVAL_GRANTED_MS_MAX);
        }
        request.answer = answer;
        self.keep_approval(&request)?;
        Ok(request)
    }

    /// Until when a request that is made now waits.
    pub(crate) const fn waits_until(now: Timestamp) -> Timestamp {
        now.plus_millis(APPROVAL_PENDING_MS_MAX)
    }
}
