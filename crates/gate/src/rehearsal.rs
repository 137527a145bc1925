//! Running a tool on a throw-away workspace, for the tests of its author.
//!
//! There is no law, no ledger and no session that outlives the value, so a rehearsal never opens a
//! workspace that someone works in: it makes its own, in a folder of its own.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value};
use tagout_policy::catalogue::Catalogue;
use tagout_policy::intents::{IgnoreFile, IntentSet};
use tagout_policy::judge::Books;
use tagout_policy::law::Law;
use tagout_vocab::ids::IdError;
use tagout_vocab::path::Roots;
use tagout_vocab::{CallId, Digest, Session, SessionId, Timestamp, WorkspacePath};
use tagout_workspace::{Change, Options, Transaction, Workspace, WriterProbe, files};
use thiserror::Error;

use crate::clockwork::Clockwork;
use crate::context::{Context, Surroundings};
use crate::error::GateError;
use crate::store::Store;
use crate::tool::{Request, Tool, ToolError};

/// Why there could be no rehearsal.
#[derive(Debug, Error)]
pub enum RehearsalError {
    /// Something is there already.
    #[error("`{path}` exists; a rehearsal makes its own workspace")]
    Exists {
        /// Where.
        path: String,
    },
    /// The workspace can't be used.
    #[error(transparent)]
    Workspace(#[from] tagout_workspace::Error),
    /// The state can't be made.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The built-in catalogue can't be read.
    #[error("the built-in catalogue can't be read")]
    Catalogue,
    /// A name is no id.
    #[error(transparent)]
    Id(#[from] IdError),
}

/// A throw-away workspace on which tools are run.
#[derive(Debug)]
pub struct Rehearsal {
    workspace: Workspace,
    store: Store,
    clockwork: Clockwork,
    roots: Roots,
    books: Books,
    session: Session,
    now: Timestamp,
    runs: AtomicU64,
}

/// What one run left.
#[derive(Debug)]
pub struct Played<'r> {
    /// What the tool returned.
    pub output: Result<Value, ToolError>,
    /// Its transaction, neither committed nor rolled back.
    pub transaction: Transaction<'r>,
    /// The files that it says the session has seen.
    pub seen: Vec<WorkspacePath>,
    /// What it asked of the engine.
    pub requests: Vec<Request>,
}

impl Rehearsal {
    /// Makes a workspace and its state in a folder that does not exist yet. `seed` stands for time
    /// and chance: the same seed gives the same of both.
    pub fn new(folder: &Path, intents: IntentSet, seed: u64) -> Result<Self, RehearsalError> {
        if folder.symlink_metadata().is_ok() {
            return Err(RehearsalError::Exists {
                path: folder.display().to_string(),
            });
        }
        let (root, state) = (folder.join("tree"), folder.join("state"));
        files::ensure_dir_private(folder)?;
        files::ensure_dir_private(&root)?;
        Workspace::create_state(&state)?;
        Store::create(&state)?;
        let options = Options {
            // Nobody else writes here, and looking through all processes is slow.
            writers: WriterProbe::Lease(|_| Ok(false)),
            ..Options::default()
        };
        let workspace = Workspace::open(&root, &state, options)?;
        let catalogue = catalogue()?;
        let (books, _) = Books::new(catalogue, Law::built_in(), intents, IgnoreFile::default());
        let hours = i64::try_from(seed % 1_000_000).unwrap_or(0);
        let now = Timestamp::from_millis(hours * 3_600_000);
        let roots = Roots {
            workspace: workspace.root().display().to_string(),
            extra: Vec::new(),
        };
        Ok(Self {
            store: Store::at(state),
            clockwork: clockwork(now, seed),
            now,
            session: Session::new(SessionId::new("rehearsal")?),
            workspace,
            roots,
            books,
            runs: AtomicU64::new(0),
        })
    }

    /// The workspace, for putting files there and looking at what became of them.
    pub const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// A transaction of its own.
    pub fn begin(&self) -> Result<Transaction<'_>, RehearsalError> {
        let count = self.runs.fetch_add(1, Ordering::Relaxed);
        let execution = CallId::new(&format!("rehearsal-{count}"))?;
        Ok(self.workspace.begin(&execution)?)
    }

    /// Makes happen what a transaction holds, and tells what changed.
    pub fn commit(&self, transaction: Transaction<'_>) -> Result<Vec<Change>, RehearsalError> {
        let committed = transaction.commit(self.now, b"")?;
        let changes = committed.changes.clone();
        committed.confirm();
        Ok(changes)
    }

    /// Runs a tool. Nothing changes until the transaction is committed.
    pub fn run(
        &self,
        tool: &dyn Tool,
        input: &Map<String, Value>,
    ) -> Result<Played<'_>, RehearsalError> {
        let around = Surroundings {
            session: &self.session,
            books: &self.books,
            roots: &self.roots,
            cwd: "",
            store: &self.store,
            clockwork: &self.clockwork,
            now: self.now,
            room: None,
            ready: None,
        };
        let mut context = Context::new(around, &self.workspace, self.begin()?);
        let output = tool.run(input, &mut context);
        let left = context.leave();
        Ok(Played {
            output,
            transaction: left.transaction,
            seen: left.seen,
            requests: left
                .requests
                .into_iter()
                .map(|(_, request)| request)
                .collect(),
        })
    }
}

/// The built-in catalogue, read once: whoever rehearses does so many times.
fn catalogue() -> Result<Catalogue, RehearsalError> {
    static READ: OnceLock<Option<Catalogue>> = OnceLock::new();
    let read = READ.get_or_init(|| Catalogue::built_in().ok());
    read.clone().ok_or(RehearsalError::Catalogue)
}

/// Time that stands still, and chance that can be had again.
fn clockwork(now: Timestamp, seed: u64) -> Clockwork {
    let drawn = AtomicU64::new(0);
    let random = move || {
        let count = drawn.fetch_add(1, Ordering::Relaxed);
        *Digest::of(format!("{seed} {count}").as_bytes()).as_bytes()
    };
    Clockwork::new(move || now, random)
}
