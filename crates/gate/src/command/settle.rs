//! What becomes of what a command wrote: its private part stays with the session, the rest is
//! judged and staged.

use std::path::Path;

use serde_json::json;
use tagout_ledger::{Strength, Usage, redact};
use tagout_policy::law::OnFailure;
use tagout_sandbox::layer::{self, ChangeSet};
use tagout_sandbox::{Limit, LimitHit};
use tagout_trace::lessons;
use tagout_vocab::limits::LESSON_BYTES_MAX;
use tagout_vocab::{Class, Code};
use tagout_workspace::{Change, TakenBack, Transaction};

use super::parked::ParkedPath;
use super::private::Private;
use super::run::{Layer, Over, Room};
use super::{Command, CommandEnded};
use crate::changes::git::{self, GitPath};
use crate::changes::{self, StageError};
use crate::context::Ran;
use crate::error::GateError;
use crate::failure::{Failure, FailureKind};
use crate::lifecycle::Cause;
use crate::record::NETWORK_OPEN;
use crate::tool::Lesson;

/// Why what a command wrote must not be applied.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    kind: FailureKind,
    cause: Cause,
    code: Code,
    message: String,
    paths: Vec<String>,
    parked: bool,
    /// What to do, where that depends on more than the code.
    remedy: Option<&'static str>,
}

/// What to do about processes that were left behind.
const LEFT_BEHIND_REMEDY: &str = "nothing was changed; end what you start in the same line \
    (`wait`, `kill %1`, or an option such as `--no-daemon`), or start what is to go on as long-running";

impl Refused {
    /// The command itself failed; what it wrote is given up.
    fn failed(kind: FailureKind, cause: Cause, code: Code, message: String) -> Self {
        Self {
            kind,
            cause,
            code,
            message,
            paths: Vec::new(),
            parked: false,
            remedy: None,
        }
    }

    /// What it wrote is kept for a person.
    fn kept(failure: Failure) -> Self {
        Self {
            kind: failure.kind,
            cause: failure.cause,
            code: failure.code,
            message: failure.message,
            paths: failure.more.paths,
            parked: true,
            remedy: None,
        }
    }

    /// Whether what the command wrote is kept for a person.
    pub(crate) const fn is_parked(&self) -> bool {
        self.parked
    }

    pub(crate) fn failure(&self) -> Failure {
        let mut failure = Failure::new(self.kind, self.cause, self.code, self.message.clone());
        failure.more.paths.clone_from(&self.paths);
        if let Some(remedy) = self.remedy {
            remedy.clone_into(&mut failure.remedy);
        }
        failure
    }
}

fn hit_a_bound(hit: &LimitHit) -> Refused {
    let message = format!("the command was ended: {} ({})", hit.detail, hit.by);
    let (kind, cause, code) = match hit.limit {
        Limit::Wall => (FailureKind::Timeout, Cause::TimedOut, Code::Timeout),
        Limit::Cpu
        | Limit::Memory
        | Limit::Processes
        | Limit::FileSize
        | Limit::TotalSize
        | Limit::Descriptors
        | Limit::Output => (
            FailureKind::Resource,
            Cause::LimitPassed,
            Code::LimitExceeded,
        ),
        Limit::LeftBehind => {
            let (kind, code) = (FailureKind::Execution, Code::LimitExceeded);
            let mut refused = Refused::failed(kind, Cause::LimitPassed, code, hit.detail.clone());
            refused.remedy = Some(LEFT_BEHIND_REMEDY);
            return refused;
        }
    };
    Refused::failed(kind, cause, code, message)
}

/// What settling came to.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) ended: CommandEnded,
    pub(crate) ran: Ran,
    pub(crate) lesson: Option<Lesson>,
}

impl Layer {
    /// Removes it. One that can't be removed now is removed by the next cleaning.
    pub(crate) fn discard(&self) {
        drop(layer::remove(&self.own));
    }
}

/// A set that could not be staged.
fn of_stage(error: &StageError) -> Failure {
    if let StageError::Workspace(error) = error {
        return Failure::of_workspace(error);
    }
    let (kind, code) = (FailureKind::Execution, Code::ExecutionFailed);
    Failure::new(kind, Cause::ExecutionError, code, error.to_string())
}

/// Git's own files are not owned by intents. For a command they have rules of their own, which the
/// staging holds; what git runs or obeys is judged all the same.
pub(crate) fn not_of_git(changes: &[Change], command: bool) -> Vec<Change> {
    let own = |change: &&Change| match git::what(change.path.as_bytes()) {
        GitPath::Worktree | GitPath::Authority => true,
        GitPath::Object | GitPath::Ref | GitPath::Bookkeeping => !command,
    };
    changes.iter().filter(own).cloned().collect()
}

impl Room<'_> {
    /// Settles what a command left.
    pub(crate) fn settle(
        &self,
        command: &Command,
        over: &Over,
        transaction: &mut Transaction<'_>,
    ) -> Settled {
        let mut refused = self.ended_badly(over);
        let mut layer = None;
        let mut ended = over.ended.clone();
        if let Some(taken) = &over.taken {
            let kept = self.keep_taken((over, taken), &mut ended, transaction, refused.is_none());
            if refused.is_none() {
                refused = kept.err();
            }
            layer = self.lay(command, (over, taken), refused.as_mut());
            if layer.is_none() {
                drop(layer::remove(&over.places.own));
            }
        } else if let Some(mark) = over
            .mark
            .filter(|_| self.ticket.class == Class::Destructive)
        {
            let own = Layer {
                own: over.places.own.clone(),
                paths: Vec::new(),
                line: command.line.clone(),
                mark,
            };
            layer = Some(own);
            let kept = self.keep(
                over,
                (&mut layer, &mut ended),
                transaction,
                refused.is_none(),
            );
            if refused.is_none() {
                refused = kept.err();
            }
        } else if over.places.has_layers() {
            drop(layer::remove(&over.places.own));
        }
        ended.given_up = refused.as_ref().is_some_and(|refused| !refused.parked);
        Settled {
            lesson: self.lesson(command, &ended),
            ran: Ran {
                told: told(&ended),
                usage: Usage {
                    cpu_ms: ended.cpu_ms,
                    memory_bytes: ended.peak_memory_bytes.unwrap_or_default(),
                    ..Usage::default()
                },
                layer,
                refused,
            },
            ended,
        }
    }

    /// A run that hit a bound or was stopped has failed, whatever its exit says; one that failed by
    /// itself keeps its changes unless the policy takes them back.
    fn ended_badly(&self, over: &Over) -> Option<Refused> {
        let ended = &over.ended;
        if let Some(hit) = &ended.limit_hit {
            return Some(hit_a_bound(hit));
        }
        let failed = |message: String| {
            let (kind, code) = (FailureKind::Execution, Code::ExecutionFailed);
            Some(Refused::failed(kind, Cause::ExecutionError, code, message))
        };
        if ended.stopped {
            return failed("the command was stopped".to_owned());
        }
        let code = ended.exit.map_or(0, tagout_sandbox::Exit::shell_code);
        let law = &self.inner.shelf.books.law;
        if code != 0 && law.on_command_failure() == OnFailure::RollBack {
            let message = format!("the command ended with {code}, and the policy takes it back");
            return failed(message);
        }
        None
    }

    /// Judges what is not private, stages it, and keeps the private part for the session.
    fn keep(
        &self,
        over: &Over,
        (layer, ended): (&mut Option<Layer>, &mut CommandEnded),
        transaction: &mut Transaction<'_>,
        wanted: bool,
    ) -> Result<(), Refused> {
        let state = |error: GateError| {
            let (kind, code) = (FailureKind::State, Code::ExecutionFailed);
            Refused::kept(Failure::new(
                kind,
                Cause::ExecutionError,
                code,
                error.to_string(),
            ))
        };
        let private = self.private();
        let set = self.read(over, &private).map_err(state)?;
        let (paths, beyond) = self.judged(&set, &over.places.own);
        ended.changed = paths.iter().map(|one| one.path.clone()).collect();
        if let Some(layer) = layer {
            layer.paths = paths;
        }
        if !wanted {
            return Ok(());
        }
        beyond.map_err(Refused::kept)?;
        stage(over, &set, transaction).map_err(Refused::kept)?;
        // Only now: what was built from sources that are not applied must not be built upon.
        if over.whole {
            self.split(over, &private).map_err(state)?;
        }
        Ok(())
    }

    /// What was done in place and taken back, as a layer that can be parked. Nothing of it is
    /// given up, however the run ended: a person may have worked in the same files meanwhile, and
    /// nobody can tell whose work is whose.
    fn lay(
        &self,
        command: &Command,
        (over, taken): (&Over, &TakenBack),
        refused: Option<&mut Refused>,
    ) -> Option<Layer> {
        let refused = refused.filter(|_| !taken.changes.is_empty())?;
        let upper = over.places.upper();
        let laid = super::inplace::lay(self.inner, taken, &upper);
        let mark = laid.and_then(|()| Ok(self.inner.workspace.mark()?));
        match mark {
            Ok(mark) => {
                refused.parked = true;
                let intent = self.ticket.intent.as_ref();
                let (paths, _) = super::judged::judged_taken(self.inner, intent, taken);
                Some(Layer {
                    own: over.places.own.clone(),
                    paths,
                    line: command.line.clone(),
                    mark,
                })
            }
            Err(error) => {
                let more = format!("; what it changed could not be kept: {error}");
                refused.message.push_str(&more);
                None
            }
        }
    }

    /// Judges what was done in place and is taken back already, and stages it.
    fn keep_taken(
        &self,
        (over, taken): (&Over, &TakenBack),
        ended: &mut CommandEnded,
        transaction: &mut Transaction<'_>,
        wanted: bool,
    ) -> Result<(), Refused> {
        let intent = self.ticket.intent.as_ref();
        let (paths, beyond) = super::judged::judged_taken(self.inner, intent, taken);
        ended.changed = paths.into_iter().map(|one| one.path).collect();
        if !wanted {
            return Ok(());
        }
        if !taken.whole {
            let message = "the command wrote more than can be kept; it was taken back".to_owned();
            let (kind, code) = (FailureKind::Resource, Code::LimitExceeded);
            return Err(Refused::failed(kind, Cause::LimitPassed, code, message));
        }
        if let Some(first) = taken.conflicts.first() {
            let message = format!(
                "another call changed {} meanwhile; what the command did elsewhere was taken back",
                first.path
            );
            let (kind, code) = (FailureKind::State, Code::Conflict);
            return Err(Refused::failed(kind, Cause::Conflicted, code, message));
        }
        let mut staged = || {
            let staged = transaction.stage_taken(taken);
            staged.map_err(|error| Failure::of_workspace(&error))
        };
        beyond.and_then(|()| staged()).map_err(|failure| Refused {
            parked: false,
            ..Refused::kept(failure)
        })?;
        // The caches are only caches: what can't be kept of them is made again.
        drop(over.whole.then(|| split_caches(over)));
        Ok(())
    }

    /// Moves what is private into the session's layers.
    fn split(&self, over: &Over, private: &Private<'_>) -> Result<(), GateError> {
        let places = &over.places;
        let is_private = |path: &[u8], folder: bool| self.is_private(private, path, folder);
        places
            .private
            .split(&places.upper(), self.root(), &is_private)?;
        split_caches(over)
    }

    /// What a command changed, private paths left out.
    fn read(&self, over: &Over, private: &Private<'_>) -> Result<ChangeSet, GateError> {
        let is_private = |path: &[u8], folder: bool| self.is_private(private, path, folder);
        Ok(super::read(self.inner, &over.places.upper(), &is_private)?)
    }

    pub(crate) fn private(&self) -> Private<'_> {
        Private::of(self.root(), &self.yard.words)
    }

    pub(crate) fn is_private(&self, private: &Private<'_>, path: &[u8], folder: bool) -> bool {
        let intent = self.ticket.intent.as_ref();
        private.holds(path, folder, || super::owns(self.inner, intent, path))
    }

    /// Every path of a set with what stands against it.
    pub(crate) fn judged(
        &self,
        set: &ChangeSet,
        own: &Path,
    ) -> (Vec<ParkedPath>, Result<(), Failure>) {
        super::judged(self.inner, self.ticket.intent.as_ref(), (set, own))
    }

    /// H14: a verification that failed teaches something. Its exit decides, not its words.
    fn lesson(&self, command: &Command, ended: &CommandEnded) -> Option<Lesson> {
        let exit_code = ended.exit.map(tagout_sandbox::Exit::shell_code)?;
        if exit_code == 0 || lessons::verification(&command.line).is_none() {
            return None;
        }
        let shown = redact(&ended.printed.shown, Strength::Full);
        let from = shown.len().saturating_sub(LESSON_BYTES_MAX);
        let from = (from..=shown.len()).find(|at| shown.is_char_boundary(*at));
        let output = shown.get(from.unwrap_or_default()..).unwrap_or_default();
        Some(Lesson {
            at: self.inner.clockwork.now(),
            intent: self.ticket.intent.clone(),
            command: redact(&command.line, Strength::Full),
            exit_code,
            output: output.to_owned(),
        })
    }
}

/// Moves what was written to the caches into the session's layers.
fn split_caches(over: &Over) -> Result<(), GateError> {
    for cache in &over.places.caches {
        cache
            .private
            .split(&cache.upper, &cache.folder, &|_, _| true)?;
    }
    Ok(())
}

fn stage(over: &Over, set: &ChangeSet, transaction: &mut Transaction<'_>) -> Result<(), Failure> {
    let Some(mark) = &over.mark else {
        let message = "a command that only reads has written".to_owned();
        let (kind, code) = (FailureKind::State, Code::Internal);
        return Err(Failure::new(kind, Cause::ExecutionError, code, message));
    };
    let staged = changes::stage(set, &over.places.upper(), transaction, mark);
    staged.map_err(|error| of_stage(&error))
}

/// What the closing event says about a command.
fn told(ended: &CommandEnded) -> serde_json::Value {
    let held: Vec<serde_json::Value> = ended
        .enforcers
        .iter()
        .map(|one| json!({ "what": one.what, "by": one.by, "weaker": one.weaker }))
        .collect();
    let is_open = |one: &tagout_sandbox::Enforcer| one.by == tagout_sandbox::NETWORK_OPEN;
    json!({
        NETWORK_OPEN: ended.enforcers.iter().any(is_open),
        "lane": ended.lane.as_str(),
        "exit": ended.exit.map(tagout_sandbox::Exit::shell_code),
        "limit": ended.limit_hit.as_ref().map(|hit| hit.detail.clone()),
        "longRunning": ended.long_running,
        "enforcers": held,
        "outputBytes": ended.printed.bytes,
    })
}
