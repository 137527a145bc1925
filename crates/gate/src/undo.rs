//! Taking back what executions changed: planned from what is kept, written as a transaction of its
//! own that a person asked for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tagout_ledger::{Kind, NewEvent, Reader};
use tagout_trace::record::Record;
use tagout_trace::undo::{Beyond, Change, Content, Entry, EntryKind, Held, Loss, Plan, Step};
use tagout_vocab::{CallId, Code, Digest, IntentId, SessionId, Timestamp};
use tagout_workspace::{Claiming, Error, Holding, RelPath, Transaction};

use crate::changes::back::{self, Back};
use crate::engine::{Engine, Inner};
use crate::error::GateError;
use crate::record;
use crate::tracing::{self, Book, By, Fresh, Pages, Taken};

/// What is to be taken back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum UndoTarget {
    /// One call.
    Call(CallId),
    /// Everything of one conversation.
    Session(SessionId),
    /// Everything that was done for one intent.
    Intent(IntentId),
}

/// What taking back would come to.
#[derive(Clone, Debug)]
pub struct PlannedUndo {
    /// What it would come to.
    back: Back,
    /// The calls that would be taken back.
    pub calls: Vec<CallId>,
}

impl PlannedUndo {
    /// What would be written, what stands in the way, and what can't be taken back.
    pub const fn plan(&self) -> &Plan<RelPath> {
        &self.back.plan
    }
}

/// What was taken back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Undone {
    /// The undo's own call; taking it back does again what was undone.
    pub execution: CallId,
    /// The paths that changed.
    pub paths: Vec<String>,
    /// Until when it can be taken back itself.
    pub undoable_until: Timestamp,
    /// What should be looked at.
    pub warnings: Vec<String>,
}

/// What the journal carries for the ledger when a person takes something back.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SealedUndo {
    undoes: Vec<CallId>,
    /// Nothing about it comes before this event.
    after: u64,
    event: NewEvent,
}

impl SealedUndo {
    /// Tells the ledger, unless it knows, that a person took something back before a crash.
    pub(crate) fn tell(self, inner: &Inner) -> Result<(), GateError> {
        let reader = Reader::open(inner.ledger.dir())?;
        for event in reader.events_from(self.after)? {
            if event?.body.event_id == self.event.event_id {
                return Ok(());
            }
        }
        drop(inner.ledger.append(&[self.event])?);
        Ok(())
    }
}

/// What one execution did, as a step of the walk back.
fn step(
    inner: &Inner,
    pages: &Pages<'_>,
    (taken, pushed): (&Taken, &BTreeSet<String>),
) -> Result<Step<RelPath>, GateError> {
    let effects = tracing::effects_of(inner, pages, taken)?;
    let changes = match effects {
        Some(effects) => back::changes(effects),
        None => lost(pages, &taken.execution)?,
    };
    let mut beyond = Vec::new();
    let is_sent =
        |change: &Change<RelPath>| change.path.as_bytes().starts_with(b".git/refs/remotes/");
    if changes.iter().any(is_sent) {
        beyond.push(Beyond {
            what: "what it sent to another repository".to_owned(),
            why: Loss::Pushed,
        });
    }
    let network = format!("{}{}", tracing::NETWORK_PAGE, taken.execution);
    if pages.text(&network)?.is_some() {
        beyond.push(Beyond {
            what: "what it may have sent".to_owned(),
            why: Loss::Network,
        });
    }
    let commits = tracing::commits(pages, &taken.execution)?;
    let known = commits.iter().filter(|commit| pushed.contains(*commit));
    beyond.extend(known.map(|commit| Beyond {
        what: format!("what commit {commit} holds"),
        why: Loss::Pushed,
    }));
    Ok(Step {
        execution: taken.execution.clone(),
        changes,
        undoes: taken.undoes.clone(),
        beyond,
    })
}

/// What is left of an execution whose images are gone: which files it was about.
fn lost(pages: &Pages<'_>, execution: &CallId) -> Result<Vec<Change<RelPath>>, GateError> {
    let Some(body) = pages.record(&format!("t-{execution}"))? else {
        return Ok(Vec::new());
    };
    let record: Record = serde_json::from_str(&body).map_err(|source| GateError::Damaged {
        path: "the trace's records".into(),
        source,
    })?;
    let side = |digest: Option<Digest>| {
        digest.map(|digest| Entry {
            kind: EntryKind::File,
            mode: 0o644,
            digest,
            content: Content::Lost(Loss::PastHorizon),
            held: Held::default(),
        })
    };
    let mut changes: Vec<Change<RelPath>> = Vec::new();
    for range in &record.modified_ranges {
        let Ok(path) = RelPath::new(range.file.as_bytes()) else {
            continue;
        };
        if changes.iter().all(|change| change.path != path) {
            changes.push(Change {
                path,
                moved_from: None,
                before: side(range.before_hash),
                after: side(range.after_hash),
            });
        }
    }
    Ok(changes)
}

impl Engine {
    /// B4: what taking back would come to. Nothing is written.
    pub fn plan_undo(&self, target: &UndoTarget) -> Result<PlannedUndo, GateError> {
        drop(self.catch_up()?);
        let mut book = Book::open(&self.inner.site)?;
        let pages = book.begin()?;
        let (by, what, name) = match target {
            UndoTarget::Call(id) => (By::Call, "call with changes", id.as_str()),
            UndoTarget::Session(id) => (By::Session, "session with changes", id.as_str()),
            UndoTarget::Intent(id) => (By::Intent, "intent with changes", id.as_str()),
        };
        let chosen = pages.chosen(by, name)?;
        let Some((first, _)) = chosen.first() else {
            let id = name.to_owned();
            return Err(GateError::Unknown { what, id });
        };
        let pushed = tracing::pushed(&self.inner);
        let mut steps = Vec::new();
        for taken in pages.steps_from(*first)? {
            steps.push(step(&self.inner, &pages, (&taken, &pushed))?);
        }
        let chosen: BTreeSet<CallId> = chosen.into_iter().map(|(_, call)| call).collect();
        let back = Back::plan(&self.inner.workspace, &steps, &chosen)?;
        let already = &back.plan.already;
        let calls = chosen.into_iter();
        let calls = calls.filter(|call| !already.contains(call)).collect();
        Ok(PlannedUndo { back, calls })
    }

    /// The calls with changes whose ids begin like this, no more than so many.
    pub fn calls_like(&self, start: &str, count: usize) -> Result<Vec<CallId>, GateError> {
        drop(self.catch_up()?);
        let mut book = Book::open(&self.inner.site)?;
        book.begin()?.begun_like(start, count)
    }

    /// B4: takes back what was planned, as a new call with an event of its own. If anything is no
    /// longer as the plan found it, nothing is written.
    pub fn undo(&self, planned: &PlannedUndo, by: &str) -> Result<Undone, GateError> {
        if !planned.plan().is_clean() {
            let why = "later work lies on the same lines".to_owned();
            return Err(refused(why, Code::Conflict));
        }
        let text = self.inner.clockwork.id("x");
        let execution = CallId::new(&text).map_err(|source| GateError::Id { text, source })?;
        let paths = planned.back.paths();
        let workspace = &self.inner.workspace;
        let _claim = match workspace.claim(&execution, &paths, Holding::WhileAlive)? {
            Claiming::Held(claim) => claim,
            Claiming::Busy { path, .. } => {
                let why = format!("a call on {path} is under way");
                return Err(refused(why, Code::PathBusy));
            }
        };
        let mut transaction = workspace.begin(&execution)?;
        let staged = planned.back.stage(&mut transaction);
        staged.map_err(|error| of_commit(error.into()))?;
        let undone = self.commit_undo((execution, transaction), planned, by);
        undone.map_err(of_commit)
    }

    fn commit_undo(
        &self,
        (execution, transaction): (CallId, Transaction<'_>),
        planned: &PlannedUndo,
        by: &str,
    ) -> Result<Undone, GateError> {
        let inner = &self.inner;
        let changed = record::path_changes(&transaction.staged()?);
        let at = inner.clockwork.now();
        let data = json!({ "undoes": planned.calls });
        let mut event = record::other((&inner.clockwork, at), Kind::Undo, None, data);
        event.user_id = Some(by.to_owned());
        event.execution_id = Some(execution.to_string());
        event.paths.clone_from(&changed);
        record::can_be_told(std::slice::from_ref(&event))?;
        let sealed = SealedUndo {
            undoes: planned.calls.clone(),
            after: Reader::open(inner.ledger.dir())?.size()?,
            event: event.clone(),
        };
        let bytes = serde_json::to_vec(&sealed).map_err(|source| GateError::Damaged {
            path: "the journal's record".into(),
            source,
        })?;
        let committed = transaction.commit(at, &bytes)?;
        let undoable_until = committed.undoable_until;
        event.undoable_until = Some(undoable_until);
        drop(inner.ledger.append(&[event])?);
        committed.confirm();
        let fresh = Fresh {
            execution: &execution,
            effects: None,
        };
        let warnings = tracing::catch_up(inner, Some(&fresh))
            .unwrap_or_else(|error| vec![format!("the trace could not be written: {error}")]);
        Ok(Undone {
            paths: changed.into_iter().map(|one| one.path).collect(),
            execution,
            undoable_until,
            warnings,
        })
    }
}

fn refused(why: String, code: Code) -> GateError {
    GateError::NotApplied {
        id: "the undo".to_owned(),
        why,
        code,
    }
}

/// What someone else did since the plan was made is named as what it is.
fn of_commit(error: GateError) -> GateError {
    let changed = |path: &str| refused(format!("{path} was changed just now"), Code::Conflict);
    if let GateError::Workspace { source } = &error {
        if let Error::Conflict { paths } = source
            && let Some(first) = paths.first()
        {
            return changed(&first.path);
        }
        if let Error::Missing { path } | Error::NotEmpty { path } | Error::WrongKind { path, .. } =
            source
        {
            return changed(path);
        }
    }
    error
}
