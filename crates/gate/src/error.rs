//! What can go wrong outside of one call: opening, the stores, the verbs of people.

use std::io;
use std::path::PathBuf;

use tagout_policy::capability::grants::IssueError;
use tagout_policy::problem::Problem;
use tagout_vocab::Code;
use thiserror::Error;

/// Everything that this crate's functions can fail with, calls aside: those end in a receipt.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GateError {
    /// The workspace names a state that is gone.
    #[error(
        "the state `{id}` of this workspace is gone from `{path}`; restore it, or a person starts \
         anew with `tagout epoch new`"
    )]
    StateLost {
        /// The workspace's id.
        id: String,
        /// Where the state should be.
        path: PathBuf,
    },
    /// There may be a state, but this process can't look.
    #[error(
        "the state of this workspace can't be read at `{path}`: {source}; it is there only for the \
         user who set the workspace up: run this as that user, or have the folder given to you"
    )]
    StateUnreadable {
        /// Where it lies.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The workspace was never set up.
    #[error("`{path}` is not set up; a person runs `tagout init` there")]
    NotSetUp {
        /// The workspace.
        path: PathBuf,
    },
    /// There is a state already.
    #[error("this workspace already has a state: {path}")]
    AlreadySetUp {
        /// Where.
        path: PathBuf,
    },
    /// The state would lie where agents read and write.
    #[error(
        "the state {path} would lie inside the workspace; name another folder with `--state-dir`"
    )]
    StateInside {
        /// Where.
        path: PathBuf,
    },
    /// The ledger can't be used.
    #[error("the ledger can't be used: {source}")]
    Ledger {
        /// Why.
        #[from]
        source: tagout_ledger::LedgerError,
    },
    /// The workspace or its state can't be used.
    #[error("the workspace can't be used: {source}")]
    Workspace {
        /// Why.
        #[from]
        source: tagout_workspace::Error,
    },
    /// The database of the trace can't be used.
    #[error("the trace `{path}` can't be used: {source}; it can be removed and is made again")]
    Book {
        /// Where.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// The authorship of lines can't be read or added to.
    #[error("the authors of lines can't be read or kept: {source}")]
    Trace {
        /// Why.
        #[from]
        source: tagout_trace::history::HistoryError,
    },
    /// A folder of the state can't be read or locked.
    #[error("cannot {doing} `{path}`: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process has held a lock for too long.
    #[error("`{path}` was locked by another process for {waited_ms} ms; try again")]
    Locked {
        /// The folder.
        path: PathBuf,
        /// How long this process waited.
        waited_ms: u64,
    },
    /// A file of the state is not what this program writes.
    #[error("the state file `{path}` is damaged; restore it, or remove it if it can be missed")]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A key of the state is not a key.
    #[error("the key file `{path}` is damaged; restore it, or remove it to get a new key")]
    Key {
        /// Which.
        path: PathBuf,
    },
    /// No such thing.
    #[error("there is no {what} `{id}`")]
    Unknown {
        /// Of what.
        what: &'static str,
        /// The id that was asked for.
        id: String,
    },
    /// More than may wait.
    #[error("there are already {max} {what}; a person has to look at them first")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The bound.
        max: usize,
    },
    /// A set of changes that can't be applied.
    #[error("`{id}` can't be applied: {why}")]
    NotApplied {
        /// The set.
        id: String,
        /// What stands against it.
        why: String,
        /// The code of that.
        code: Code,
    },
    /// A grant that nobody could hold, or that would have no effect.
    #[error("`{capability}` can't be granted: {why}")]
    NotGranted {
        /// What was asked for.
        capability: String,
        /// Why not, and what helps.
        why: &'static str,
    },
    /// Git could not be asked.
    #[error("git can't be asked: {why}")]
    Unasked {
        /// What it said, or why it was not started.
        why: String,
    },
    /// A command's layer can't be read.
    #[error("the layer of a command can't be read: {source}")]
    Layer {
        /// Why.
        #[from]
        source: tagout_sandbox::layer::LayerError,
    },
    /// A command's changes can't be staged.
    #[error(transparent)]
    Stage(#[from] crate::changes::StageError),
    /// The sandbox failed.
    #[error("the sandbox can't be used: {source}")]
    Sandbox {
        /// Why.
        source: Box<tagout_sandbox::SandboxError>,
    },
    /// It was answered before.
    #[error("the {what} `{id}` was already answered")]
    Answered {
        /// Of what.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// It is too late to answer.
    #[error("the {what} `{id}` has expired; the call has to come again")]
    Expired {
        /// Of what.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// Files that can't be accepted because they can't be understood.
    #[error("the files can't be accepted: {}", first(.problems))]
    Unreadable {
        /// What is wrong.
        problems: Vec<Problem>,
    },
    /// The grant can't be given.
    #[error("the grant can't be given: {source}")]
    Grant {
        /// Why.
        #[from]
        source: IssueError,
    },
    /// A permit that can't be resumed.
    #[error("the permit `{id}` can't be resumed: {why}")]
    NoPermit {
        /// The execution.
        id: String,
        /// Why not.
        why: &'static str,
    },
    /// A text that is no id.
    #[error("`{text}` is no id: {source}")]
    Id {
        /// The text.
        text: String,
        /// What is wrong with it.
        source: tagout_vocab::ids::IdError,
    },
}

impl GateError {
    /// The code under which a door refuses every call while this stands.
    pub fn code(&self) -> Code {
        use tagout_ledger::LedgerError as L;
        use tagout_workspace::Error as W;
        match self {
            Self::NotSetUp { .. } => Code::NotTrusted,
            Self::StateLost { .. }
            | Self::Ledger {
                source: L::MissingFolder { .. },
            }
            | Self::Workspace {
                source: W::StateMissing { .. },
            } => Code::StateLost,
            // Someone works on the very files: the state is whole.
            Self::Workspace {
                source: W::Conflict { .. },
            } => Code::Conflict,
            Self::Unreadable { .. } => Code::PolicyInvalid,
            Self::NotApplied { code, .. } => *code,
            Self::NotGranted { .. } => Code::IsolationUnavailable,
            Self::StateUnreadable { .. }
            | Self::AlreadySetUp { .. }
            | Self::StateInside { .. }
            | Self::Ledger { .. }
            | Self::Workspace { .. }
            | Self::Book { .. }
            | Self::Trace { .. }
            | Self::Io { .. }
            | Self::Locked { .. }
            | Self::Unasked { .. }
            | Self::Damaged { .. }
            | Self::Key { .. }
            | Self::Unknown { .. }
            | Self::TooMany { .. }
            | Self::Layer { .. }
            | Self::Sandbox { .. }
            | Self::Stage(_)
            | Self::Answered { .. }
            | Self::Expired { .. }
            | Self::Grant { .. }
            | Self::NoPermit { .. }
            | Self::Id { .. } => Code::LedgerUnavailable,
        }
    }
}

impl GateError {
    /// Whether the same call may fare better in a moment.
    pub fn is_passing(&self) -> bool {
        use tagout_ledger::LedgerError as L;
        use tagout_workspace::Error as W;
        matches!(
            self,
            Self::Locked { .. }
                | Self::Workspace {
                    source: W::Locked { .. } | W::Conflict { .. },
                }
                | Self::Ledger {
                    source: L::Busy { .. },
                }
        )
    }
}

fn first(problems: &[Problem]) -> String {
    problems
        .first()
        .map_or_else(String::new, ToString::to_string)
}
