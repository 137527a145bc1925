//! What the judge is told about the world, because it looks at nothing itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tagout_vocab::path::Roots;
use tagout_vocab::{GrantId, Place, SessionId, Timestamp, ToolAnnotations, WorkspacePath};

use crate::capability::grants::{Grant, Revocation, TrustedKeys};
use crate::problem::Problem;
use crate::scope::CaseRule;

/// Whether the law and the intents that are judged by have been accepted by a person.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub enum Standing {
    /// They have.
    Accepted,
    /// They are judged by as if they had; nothing is run on this.
    AsIfAccepted,
    /// They wait: reading goes on, nothing else.
    NotTrusted,
    /// The workspace's state is gone: reading goes on, nothing else.
    StateLost,
}

/// What holds a command in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Isolation {
    /// Writes land in a layer that is judged before it is applied.
    Transaction,
    /// Writes are undone from a snapshot.
    Snapshot,
    /// Nothing was probed; the answer says so.
    Assumed,
    /// Nothing here can hold a command.
    Unavailable,
}

/// What this session knows of a file that the call would change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FileFact {
    /// The file does not exist.
    Absent,
    /// As the session last saw it.
    Fresh,
    /// A folder in which nothing that the session saw has changed. It has no content of its own
    /// that could be seen.
    Folder,
    /// It exists and this session never saw it.
    NeverSeen {
        /// Whether the call's old text matches exactly once, so that an edit is safe all the same.
        old_text_matches_once: bool,
    },
    /// It changed since the session saw it.
    Changed {
        /// The file, where it is one in the folder that the call names.
        within: Option<WorkspacePath>,
        /// Expected and actual digest, and the difference, for the refusal.
        difference: String,
    },
}

/// What was found out about the files that the call would change.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Files {
    /// Nobody looked; only an explanation may be made on this.
    #[default]
    NotLookedAt,
    /// Every changed path has its fact; one that lacks it is refused.
    Known(BTreeMap<WorkspacePath, FileFact>),
}

/// What people said about exactly this call.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Approval {
    /// Nothing.
    #[default]
    None,
    /// Yes.
    Granted {
        /// Who said so.
        by: String,
    },
    /// No.
    Rejected {
        /// Why, in their words.
        reason: String,
    },
    /// A yes that is too old.
    Expired,
}

/// What has been used up so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Usage {
    /// Calls made for the intent.
    pub calls: u64,
    /// Milliseconds that they took.
    pub time_ms: u64,
    /// How many times in a row this session made exactly this call before.
    pub repeats: u32,
}

/// What people granted and took back, and whose word counts.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    /// The grants.
    pub given: Vec<Grant>,
    /// What was taken back.
    pub revoked: Vec<Revocation>,
    /// Whose signatures count.
    pub keys: TrustedKeys,
    /// When each was used, for rate limits.
    pub uses: Vec<(GrantId, Timestamp)>,
}

/// Everything the judge is told. The default knows nothing and therefore permits little.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The time of the decision.
    pub now: Timestamp,
    /// Where the workspace and its extra roots lie.
    pub roots: Roots,
    /// How the file system compares names.
    pub case: CaseRule,
    /// Where the raw path texts of the call really lead, symlinks followed.
    pub resolved: BTreeMap<String, Place>,
    /// The files that the call would change.
    pub files: Files,
    /// Paths that other calls are open on, and which.
    pub busy: BTreeMap<WorkspacePath, String>,
    /// What can hold a command here.
    pub isolation: Isolation,
    /// Whether the law was accepted.
    pub standing: Standing,
    /// Problems of the policy and intents files; any of them leaves only the built-in readers.
    pub broken: Vec<Problem>,
    /// The session that holds the intent, if one does.
    pub leased_to: Option<SessionId>,
    /// Until when, unless that session goes on.
    pub leased_until: Option<Timestamp>,
    /// What has been used up.
    pub usage: Usage,
    /// What people said.
    pub approval: Approval,
    /// What people granted; every signature is checked again when one is needed.
    pub grants: Grants,
    /// What an MCP server says of the tool. Advice.
    pub hints: Option<ToolAnnotations>,
    /// Where the program lies that judges, if a line may call it by its path.
    pub program: Option<String>,
}

impl Facts {
    /// Facts for an explanation: nothing is looked at and nothing will be run.
    pub fn for_explanation(now: Timestamp, roots: Roots) -> Self {
        Self {
            now,
            roots,
            case: CaseRule::Sensitive,
            resolved: BTreeMap::new(),
            files: Files::NotLookedAt,
            busy: BTreeMap::new(),
            isolation: Isolation::Assumed,
            standing: Standing::AsIfAccepted,
            broken: Vec::new(),
            leased_to: None,
            leased_until: None,
            usage: Usage::default(),
            approval: Approval::None,
            grants: Grants::default(),
            hints: None,
            program: None,
        }
    }
}
