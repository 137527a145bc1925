//! Questions to people and proposals of intents (H18), each answered once.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tagout_vocab::{IntentId, SessionId, Timestamp};

use super::Store;
use crate::error::GateError;

/// A question that an agent asked.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Its id.
    pub id: String,
    /// Who asks.
    pub session: SessionId,
    /// The question.
    pub question: String,
    /// Answers to choose from.
    pub choices: Vec<String>,
    /// When.
    pub asked_at: Timestamp,
    /// What a person answered.
    pub answer: Option<String>,
}

/// What became of a proposal.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalState {
    /// Nobody answered yet.
    Pending,
    /// A person said yes. The verb that asks them also writes the intents file.
    Accepted {
        /// Who.
        by: String,
    },
    /// A person said no.
    Rejected {
        /// Who.
        by: String,
        /// Why.
        reason: String,
    },
}

/// H18: an intent or a wider scope that an agent asks for.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its id.
    pub id: String,
    /// Who asks.
    pub session: SessionId,
    /// The intent to widen; a new one is wanted without it.
    pub intent: Option<IntentId>,
    /// The name of a new intent.
    pub name: Option<String>,
    /// The paths that it would own.
    pub owned_scope: Vec<String>,
    /// Why.
    pub reason: String,
    /// What it has to keep to.
    pub constraints: Vec<String>,
    /// When it is done.
    pub acceptance_criteria: Vec<String>,
    /// When.
    pub asked_at: Timestamp,
    /// What became of it.
    pub state: ProposalState,
}

/// Either of the two, as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Asked {
    Question(Question),
    Proposal(Proposal),
}

const FOLDER: &str = "questions";

impl Store {
    fn keep_asked(&self, id: &str, asked: &Asked) -> Result<(), GateError> {
        Self::write(&self.path(FOLDER, &Self::name_of(id)), asked)
    }

    pub(crate) fn keep_question(&self, question: Question) -> Result<(), GateError> {
        let id = question.id.clone();
        self.keep_asked(&id, &Asked::Question(question))
    }

    pub(crate) fn keep_proposal(&self, proposal: Proposal) -> Result<(), GateError> {
        let id = proposal.id.clone();
        self.keep_asked(&id, &Asked::Proposal(proposal))
    }

    /// Every question, oldest first.
    pub(crate) fn questions(&self) -> Result<Vec<Question>, GateError> {
        let all: Vec<Asked> = self.all(FOLDER)?;
        let mut found: Vec<Question> = all
            .into_iter()
            .filter_map(|one| match one {
                Asked::Question(question) => Some(question),
                Asked::Proposal(_) => None,
            })
            .collect();
        found.sort_by_key(|one| (one.asked_at, one.id.clone()));
        Ok(found)
    }

    /// Every proposal, oldest first.
    pub(crate) fn proposals(&self) -> Result<Vec<Proposal>, GateError> {
        let all: Vec<Asked> = self.all(FOLDER)?;
        let mut found: Vec<Proposal> = all
            .into_iter()
            .filter_map(|one| match one {
                Asked::Proposal(proposal) => Some(proposal),
                Asked::Question(_) => None,
            })
            .collect();
        found.sort_by_key(|one| (one.asked_at, one.id.clone()));
        Ok(found)
    }

    /// Whether a question or proposal was answered and is as old as `old` says.
    pub(super) fn is_question_over(
        &self,
        path: &Path,
        old: impl Fn(Timestamp) -> bool,
    ) -> Result<bool, GateError> {
        Ok(match Self::read::<Asked>(path)? {
            Some(Asked::Question(one)) => one.answer.is_some() && old(one.asked_at),
            Some(Asked::Proposal(one)) => one.state != ProposalState::Pending && old(one.asked_at),
            None => false,
        })
    }

    fn asked(&self, id: &str, what: &'static str) -> Result<Asked, GateError> {
        let found = Self::read(&self.path(FOLDER, &Self::name_of(id)))?;
        found.ok_or_else(|| GateError::Unknown {
            what,
            id: id.to_owned(),
        })
    }

    /// Stores the answer to a question, once.
    pub(crate) fn answer_question(&self, id: &str, answer: &str) -> Result<Question, GateError> {
        let _locked = self.lock(Path::new(FOLDER))?;
        let (what, id) = ("question", id.to_owned());
        let Asked::Question(mut question) = self.asked(&id, what)? else {
            return Err(GateError::Unknown { what, id });
        };
        if question.answer.is_some() {
            return Err(GateError::Answered { what, id });
        }
        question.answer = Some(answer.to_owned());
        self.keep_question(question.clone())?;
        Ok(question)
    }

    /// Stores the answer to a proposal, once.
    pub(crate) fn answer_proposal(
        &self,
        id: &str,
        state: ProposalState,
    ) -> Result<Proposal, GateError> {
        let _locked = self.lock(Path::new(FOLDER))?;
        let (what, id) = ("proposal", id.to_owned());
        let Asked::Proposal(mut proposal) = self.asked(&id, what)? else {
            return Err(GateError::Unknown { what, id });
        };
        if proposal.state != ProposalState::Pending {
            return Err(GateError::Answered { what, id });
        }
        proposal.state = state;
        self.keep_proposal(proposal.clone())?;
        Ok(proposal)
    }
}
