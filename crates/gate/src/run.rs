//! Running a tool inside a transaction, on a thread of its own, with nothing getting out but a
//! result.

use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Once, mpsc};
use std::time::Duration;

use serde_json::{Map, Value};
use tagout_ledger::Usage;
use tagout_vocab::{Class, Code, Digest, Role, Session, Timestamp, WorkspacePath};
use tagout_workspace::{Change, Committed, RelPath, Transaction};

use crate::command::{self, Attached, Layer, Ready, Refused, Room};
use crate::context::{self, Context, Surroundings};
use crate::enforced;
use crate::engine::Inner;
use crate::failure::{Failure, FailureKind};
use crate::lifecycle::{Cause, Executing, Execution};
use crate::measure::Counters;
use crate::observed;
use crate::permit::Ticket;
use crate::record::{self, Closing};
use crate::recover::Sealed;
use crate::registry::Entry;
use crate::requests;
use crate::tool::{Request, ToolError};

/// Everything that a run needs, owned, because the thread may outlive the call.
pub(crate) struct Job {
    pub(crate) inner: Arc<Inner>,
    pub(crate) entry: Arc<Entry>,
    pub(crate) ticket: Ticket,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) cwd: String,
    pub(crate) session: Session,
    pub(crate) started: Timestamp,
    pub(crate) attached: Attached,
    /// Its command, made ready while the call was being recorded.
    pub(crate) ready: Option<Ready>,
}

/// What a run came to, before it is told to the ledger.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) output: Value,
    pub(crate) usage: Usage,
    /// Files that the session has now seen, with what they held before the tool looked.
    pub(crate) seen: Vec<(WorkspacePath, Option<Digest>)>,
    pub(crate) requests: Vec<(String, Request)>,
    pub(crate) committed: Option<Committed>,
    /// What the closing event says about a command.
    pub(crate) told: Option<Value>,
}

/// Whose turn it is. Once one side has left `RUNNING`, the other side knows.
const RUNNING: u8 = 0;
const FINISHING: u8 = 1;
const ABANDONED: u8 = 2;

thread_local! {
    static TRACE: RefCell<Option<String>> = const { RefCell::new(None) };
    static INSIDE: RefCell<bool> = const { RefCell::new(false) };
}

/// Keeps the backtrace of a panic inside a tool; every other panic goes where it went before.
pub(crate) fn watch_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if INSIDE.with(|inside| *inside.borrow()) {
                let trace = Backtrace::force_capture().to_string();
                let place = info.location().map(ToString::to_string);
                let place = place.unwrap_or_default();
                TRACE.with(|kept| *kept.borrow_mut() = Some(format!("at {place}\n{trace}")));
            } else {
                before(info);
            }
        }));
    });
}

/// Runs a job within its time. A tool that does not come back is left behind: its transaction can
/// never be committed any more.
pub(crate) fn run(mut job: Job) -> Result<Ran, Failure> {
    if is_command(&job) {
        // The sandbox ends it in time, and is not waited for much longer than that. L5: what goes
        // wrong around the tool does not unwind further either.
        let ran = catch_unwind(AssertUnwindSafe(|| work(&mut job, &AtomicU8::new(RUNNING))));
        return ran.unwrap_or_else(|_| Err(lost()));
    }
    let limit = enforced::time_ms(job.entry.tool.declaration().resource_limits);
    let stage = Arc::new(AtomicU8::new(RUNNING));
    let (sender, receiver) = mpsc::sync_channel(1);
    let theirs = Arc::clone(&stage);
    let spawned = std::thread::Builder::new()
        .name("tool".to_owned())
        .spawn(move || {
            let ran = work(&mut job, &theirs);
            // Nobody waits any more when the time is over.
            drop(sender.send(ran));
        });
    if let Err(error) = spawned {
        let message = format!("no thread can be started: {error}");
        let (kind, code) = (FailureKind::Resource, Code::ExecutionFailed);
        return Err(Failure::new(kind, Cause::ExecutionError, code, message));
    }
    match receiver.recv_timeout(Duration::from_millis(limit)) {
        Ok(ran) => ran,
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(lost()),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            let left =
                stage.compare_exchange(RUNNING, ABANDONED, Ordering::AcqRel, Ordering::Acquire);
            if left.is_err() {
                // It is committing, which takes a bounded time and must be waited for.
                return receiver.recv().unwrap_or_else(|_| Err(lost()));
            }
            Err(timed_out(limit))
        }
    }
}

fn lost() -> Failure {
    let message = "the tool ended without a result".to_owned();
    let (kind, code) = (FailureKind::State, Code::Internal);
    Failure::new(kind, Cause::ExecutionError, code, message)
}

fn is_command(job: &Job) -> bool {
    job.ticket.role == Some(Role::Shell)
}

fn timed_out(limit: u64) -> Failure {
    let message = format!("the tool took longer than {limit} ms");
    Failure::new(
        FailureKind::Timeout,
        Cause::TimedOut,
        Code::Timeout,
        message,
    )
}

fn work(job: &mut Job, stage: &AtomicU8) -> Result<Ran, Failure> {
    let ready = job.ready.take();
    let job = &*job;
    let workspace = &job.inner.workspace;
    let of = |error: tagout_workspace::Error| Failure::of_workspace(&error);
    let limits = job.entry.tool.declaration().resource_limits;
    let mut transaction = workspace.begin(&job.ticket.execution).map_err(of)?;
    transaction.bound(enforced::memory_bytes(limits));
    let before = digests(job, job.ticket.reads.iter());
    let around = Surroundings {
        session: &job.session,
        books: &job.inner.shelf.books,
        roots: &job.inner.roots,
        cwd: &job.cwd,
        store: &job.inner.site.store,
        clockwork: &job.inner.clockwork,
        now: job.started,
        room: room(job),
        ready,
    };
    let mut context = Context::new(around, workspace, transaction);
    // What a command used is counted in its sandbox.
    let counters = (!is_command(job)).then(Counters::now);
    let output = guarded(job, &mut context)?;
    let staged = context.transaction().staged_bytes();
    let returned = output.to_string().len() as u64;
    let usage = counters.map_or_else(Usage::default, |counters| counters.since(staged, returned));
    enforced::returned(limits, staged, returned)?;
    let violations = job.entry.output_violations(&output);
    if !violations.is_empty() {
        let message = format!(
            "the tool returned what it does not declare: {}",
            violations.join("; ")
        );
        let (kind, code) = (FailureKind::Validation, Code::OutputInvalid);
        return Err(Failure::new(kind, Cause::BadOutput, code, message));
    }
    let turn = stage.compare_exchange(RUNNING, FINISHING, Ordering::AcqRel, Ordering::Acquire);
    if turn.is_err() {
        return Err(timed_out(0));
    }
    let left = context.leave();
    left.requests
        .iter()
        .try_for_each(|(_, request)| requests::permitted(&job.ticket, request))?;
    let known = |path: &WorkspacePath| before.iter().find(|(one, _)| one == path);
    let seen = left
        .seen
        .iter()
        .map(|path| (path.clone(), known(path).and_then(|(_, digest)| *digest)))
        .collect();
    let requests = left.requests.clone();
    let (transaction, ran) = (left.transaction, left.ran);
    let usage = ran.as_ref().map_or(usage, |ran| ran.usage);
    let committed = settled(job, (transaction, ran.as_ref()), (&output, usage))?;
    Ok(Ran {
        output,
        usage,
        seen,
        requests,
        committed,
        told: ran.map(|ran| ran.told),
    })
}

/// What commands are run with.
fn room(job: &Job) -> Option<Room<'_>> {
    Some(Room {
        inner: &job.inner,
        yard: job.inner.commands.as_ref()?,
        ticket: &job.ticket,
        attached: &job.attached,
        declaration: job.entry.tool.declaration(),
        cwd: &job.cwd,
    })
}

/// Commits. What a command wrote and can't be applied is parked; what is done with is removed.
fn settled(
    job: &Job,
    (transaction, ran): (Transaction<'_>, Option<&context::Ran>),
    (output, usage): (&Value, Usage),
) -> Result<Option<Committed>, Failure> {
    let refused = ran.and_then(|ran| ran.refused.as_ref());
    let committed = match refused {
        Some(refused) => {
            transaction.rollback();
            Err(refused.failure())
        }
        None => commit(job, transaction, ran, (output, usage)),
    };
    let Some(ran) = ran else {
        return committed;
    };
    let keep = refused.is_none_or(Refused::is_parked);
    match (committed, &ran.layer) {
        (Ok(committed), layer) => {
            layer.iter().for_each(Layer::discard);
            Ok(committed)
        }
        (Err(mut failure), layer) => {
            failure.more.told = Some(ran.told.clone());
            failure.more.output = Some(output.clone());
            Err(match layer {
                Some(layer) if keep => command::park(&job.inner, &job.ticket, layer, failure),
                Some(_) | None => {
                    layer.iter().for_each(Layer::discard);
                    failure
                }
            })
        }
    }
}

/// L5: the tool's result, its error, or its panic; nothing unwinds further.
fn guarded(job: &Job, context: &mut Context<'_, '_>) -> Result<Value, Failure> {
    INSIDE.with(|inside| *inside.borrow_mut() = true);
    let ran = catch_unwind(AssertUnwindSafe(|| {
        job.entry.tool.run(&job.arguments, context)
    }));
    INSIDE.with(|inside| *inside.borrow_mut() = false);
    match ran {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(told(&error)),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            let text = text.unwrap_or_else(|| "no message".to_owned());
            let message = format!("the tool panicked: {text}");
            let trace = TRACE
                .with(|kept| kept.borrow_mut().take())
                .unwrap_or_default();
            let (kind, code) = (FailureKind::Execution, Code::ExecutionFailed);
            let failure = Failure::new(kind, Cause::ExecutionError, code, message);
            Err(failure.with_backtrace(&trace))
        }
    }
}

fn told(error: &ToolError) -> Failure {
    Failure::of_tool(error).with_backtrace(&Backtrace::force_capture().to_string())
}

fn digests<'p>(
    job: &Job,
    paths: impl Iterator<Item = &'p WorkspacePath>,
) -> Vec<(WorkspacePath, Option<Digest>)> {
    let digest = |path: &WorkspacePath| job.inner.workspace.digest(&RelPath::from(path));
    paths
        .map(|path| (path.clone(), digest(path).ok().flatten()))
        .collect()
}

/// L6: no staged file is larger than the tool declares.
fn within_file_size(
    job: &Job,
    transaction: &Transaction<'_>,
    changes: &[Change],
) -> Result<(), Failure> {
    let limits = job.entry.tool.declaration().resource_limits;
    let Some(max) = limits.max_file_size_bytes else {
        return Ok(());
    };
    for change in changes.iter().filter(|change| change.after.is_some()) {
        let size = transaction.size(&change.path);
        let size = size.map_err(|error| Failure::of_workspace(&error))?;
        if let Some(size) = size.filter(|size| *size > max) {
            let path = change.path.to_string();
            return Err(Failure::of_tool(&ToolError::TooLarge { path, size, max }));
        }
    }
    Ok(())
}

/// H13: what was fresh when the call was judged may have changed before the tool looked. From then
/// on the transaction itself would find a change.
fn still_seen(job: &Job, staged: &[Change]) -> Result<(), Failure> {
    let of = |error: tagout_workspace::Error| Failure::of_workspace(&error);
    let seen = job.inner.workspace.seen(&job.ticket.session).map_err(of)?;
    for change in staged {
        let mut absent = job.ticket.absent.iter().map(RelPath::from);
        let appeared = change.before.is_some() && absent.any(|path| path == change.path);
        let saw = seen.saw(&change.path).map_err(of)?;
        if saw.map_or(appeared, |saw| saw != change.before) {
            let path = change.path.to_string();
            let message = format!("Stale File: {path} changed since this session saw it");
            let (kind, cause) = (FailureKind::State, Cause::Conflicted);
            let mut failure = Failure::new(kind, cause, Code::StaleFile, message);
            failure.more.paths = vec![path];
            return Err(failure);
        }
    }
    Ok(())
}

/// Judges what a destructive call staged, and commits it. What a SAFE call staged is never applied.
fn commit(
    job: &Job,
    transaction: Transaction<'_>,
    ran: Option<&context::Ran>,
    (output, usage): (&Value, Usage),
) -> Result<Option<Committed>, Failure> {
    if job.ticket.class == Class::Safe {
        transaction.rollback();
        return Ok(None);
    }
    let staged = transaction.staged();
    let staged = staged.map_err(|error| Failure::of_workspace(&error))?;
    let judged = command::not_of_git(&staged, ran.is_some());
    let is_folder = |path: &RelPath| transaction.is_folder(path).unwrap_or(false);
    observed::permitted(&job.inner, job.ticket.intent.as_ref(), &judged, is_folder)?;
    within_file_size(job, &transaction, &staged)?;
    if ran.is_none() {
        still_seen(job, &staged)?;
    }
    let changes = record::path_changes(&staged);
    let now = job.inner.clockwork.now();
    let closing = Closing {
        clockwork: &job.inner.clockwork,
        ticket: &job.ticket,
        started: job.started,
        ended: now,
    };
    let execution = Execution::<Executing>::orphaned(job.ticket.execution.clone());
    let mut events = closing.completed(execution, (Some(output), Some(usage)), changes);
    record::tell_of_command(&mut events, ran.map(|ran| &ran.told));
    record::can_be_told(&events).map_err(|_| {
        let message = format!("{} paths are more than one call may change", staged.len());
        let (kind, cause) = (FailureKind::Resource, Cause::LimitPassed);
        Failure::new(kind, cause, Code::LimitExceeded, message)
    })?;
    let sealed = Sealed {
        admitted: job.ticket.seq,
        ticket: job.ticket.clone(),
        events,
    };
    let bytes = serde_json::to_vec(&sealed).map_err(|error| {
        let (kind, code) = (FailureKind::State, Code::Internal);
        Failure::new(kind, Cause::ExecutionError, code, error.to_string())
    })?;
    let committed = transaction.commit(now, &bytes);
    committed
        .map(Some)
        .map_err(|error| Failure::of_workspace(&error))
}
