//! The pipeline on one screen: admit, execute, settle.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tagout_ledger::{KeySource, Ledger};
use tagout_policy::scope::CaseRule;
use tagout_vocab::limits::{TIDY_INTERVAL_MS, TIDY_OVERDUE_MS};
use tagout_vocab::path::Roots;
use tagout_vocab::{Call, CallId, Refusal, Role};
use tagout_workspace::{Workspace, WriterProbe};

use crate::admit::{self, Admitted, Considered};
use crate::clockwork::Clockwork;
use crate::close;
use crate::command::{Attached, Commands, Yard};
use crate::enforced;
use crate::error::GateError;
use crate::permit::Permit;
use crate::receipt::{Admission, Outcome, Promise, Receipt, Report};
use crate::recover::{self, Recovered};
use crate::registry::Registry;
use crate::retry;
use crate::run::{self, Job};
use crate::settle::{self, Seen};
use crate::site::Site;
use crate::store::Running;
use crate::trust::Shelf;

/// What the engine and the threads of its tools share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) site: Site,
    pub(crate) shelf: Shelf,
    pub(crate) registry: Registry,
    pub(crate) clockwork: Clockwork,
    pub(crate) ledger: Ledger,
    pub(crate) workspace: Workspace,
    pub(crate) roots: Roots,
    pub(crate) case: CaseRule,
    /// What commands are run with; without it none are.
    pub(crate) commands: Option<Yard>,
    running: Mutex<Option<Arc<Running>>>,
    /// Where this program lies, once someone said so.
    pub(crate) program: OnceLock<String>,
}

/// The gate of one workspace. It can be shared by threads.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

impl Engine {
    /// Opens ledger, workspace and state, and recovers first. Whatever fails here fails closed:
    /// there is no engine, so nothing runs.
    ///
    /// An engine that is opened this way runs no commands; see [`Self::open_with`].
    pub fn open(
        site: Site,
        shelf: Shelf,
        registry: Registry,
        clockwork: Clockwork,
    ) -> Result<(Self, Recovered), GateError> {
        Self::open_with(site, shelf, (registry, None), clockwork)
    }

    /// The same with what is needed to run commands. The program's `main` has to begin with
    /// [`tagout_sandbox::serve_if_helper`].
    pub fn open_with(
        site: Site,
        shelf: Shelf,
        given: (Registry, Option<Commands>),
        clockwork: Clockwork,
    ) -> Result<(Self, Recovered), GateError> {
        let (engine, recovered) = Self::opened(site, shelf, given, clockwork)?;
        engine.tidy_if_due(TIDY_INTERVAL_MS);
        Ok((engine, recovered))
    }

    /// The same for someone who waits for a verdict: tidying can take longer than that may, and is
    /// left to others for as long as there are some.
    pub fn open_to_judge(
        site: Site,
        shelf: Shelf,
        registry: Registry,
        clockwork: Clockwork,
    ) -> Result<(Self, Recovered), GateError> {
        let (engine, recovered) = Self::opened(site, shelf, (registry, None), clockwork)?;
        engine.tidy_if_due(TIDY_OVERDUE_MS);
        Ok((engine, recovered))
    }

    fn tidy_if_due(&self, after_ms: i64) {
        let now = self.inner.clockwork.now();
        if self.inner.site.store.is_tidying_due(now, after_ms) {
            // What could not be tidied now is tidied another time; nothing is judged by it.
            drop(self.tidy());
        }
    }

    fn opened(
        site: Site,
        shelf: Shelf,
        (registry, commands): (Registry, Option<Commands>),
        clockwork: Clockwork,
    ) -> Result<(Self, Recovered), GateError> {
        run::watch_panics();
        let options = tagout_ledger::Options {
            key: Some(KeySource::File(site.seal_key())),
            ..tagout_ledger::Options::default()
        };
        let ledger = Ledger::open(&site.ledger(), options)?;
        let workspace = tagout_workspace::Options {
            writers: writers(),
            #[cfg(target_os = "linux")]
            alone: Some(tagout_workspace::Alone {
                take: tagout_sandbox::lease_alone,
                lost: tagout_sandbox::lease_lost,
            }),
            ..tagout_workspace::Options::default()
        };
        let workspace = Workspace::open(&site.root, &site.state, workspace)?;
        let extra = shelf.books.law.roots().into_iter();
        let roots = Roots {
            workspace: workspace.root().to_string_lossy().into_owned(),
            extra: extra.map(|root| (root.name, root.path)).collect(),
        };
        let case = if workspace.ignores_case()? {
            CaseRule::Insensitive
        } else {
            CaseRule::Sensitive
        };
        let inner = Inner {
            site,
            shelf,
            registry,
            clockwork,
            ledger,
            workspace,
            roots,
            case,
            commands: commands.map(Yard::new).transpose()?,
            running: Mutex::new(None),
            program: OnceLock::new(),
        };
        let recovered = recover::recover(&inner)?;
        let inner = Arc::new(inner);
        Ok((Self { inner }, recovered))
    }

    /// Says where this program lies: a line that calls it by that path is judged by its name.
    pub fn lies_at(&self, path: String) {
        // It does not move, so the first word holds.
        drop(self.inner.program.set(path));
    }

    /// Judges a call that the agent's client will execute. The verdict is durable before it is
    /// known; without a ledger, everything is denied.
    pub fn admit(&self, call: &Call) -> Admission {
        match settle::seen_before(&self.inner, call) {
            Ok(Seen::Open(known)) => return Admission::Permit(known),
            Ok(Seen::Never) => {}
            // It ends by what the files tell, and the call is judged anew.
            Ok(Seen::Outdated(ticket)) => {
                if let Err(error) = self.settle_unreported(&ticket) {
                    return Admission::Deny(Box::new(admit::unavailable(&error)));
                }
            }
            Err(refusal) => return Admission::Deny(refusal),
        }
        match admit::consider(&self.inner, call, None) {
            Considered::Permitted(admitted) => Admission::Permit(Box::new(admitted.permit)),
            Considered::Pending {
                approval, refusal, ..
            } => Admission::Pending { approval, refusal },
            Considered::Denied { refusal, .. } => Admission::Deny(refusal),
        }
    }

    /// Records that a door refused a call by what it alone knows, such as its client's limits. The
    /// answer is the refusal, or why it could not be recorded: a denial in any case.
    pub fn refuse(&self, call: &Call, refusal: Refusal) -> Box<Refusal> {
        match admit::refuse(&self.inner, call, refusal.clone()) {
            Ok(()) => Box::new(refusal),
            Err(error) => Box::new(admit::unavailable(&error)),
        }
    }

    /// Judges a call and runs it: the whole line. Nothing of a call that fails stays behind.
    pub fn execute(&self, call: &Call) -> Receipt {
        self.execute_with(call, &Attached::default())
    }

    /// The same with someone who looks at a command's output while it comes, or may end it.
    pub fn execute_with(&self, call: &Call, attached: &Attached) -> Receipt {
        let mut retries = 0;
        loop {
            let mut receipt = self.attempt(call, attached);
            receipt.retries = retries;
            match retry::wait(&self.inner, call, &receipt) {
                None => return receipt,
                Some(wait) => self.inner.clockwork.pause(wait),
            }
            retries += 1;
        }
    }

    fn attempt(&self, call: &Call, attached: &Attached) -> Receipt {
        let admitted = match admit::consider(&self.inner, call, Some(attached)) {
            Considered::Permitted(admitted) => *admitted,
            Considered::Pending {
                approval,
                refusal,
                seqs,
            } => {
                let mut receipt = close::refused(Outcome::Pending, refusal, seqs);
                receipt.approval = Some(approval);
                return receipt;
            }
            Considered::Denied {
                refusal,
                invalid,
                seqs,
            } => {
                let outcome = if invalid {
                    Outcome::Failed
                } else {
                    Outcome::Denied
                };
                return close::refused(outcome, refusal, seqs);
            }
        };
        self.perform(call, admitted, attached)
    }

    fn perform(&self, call: &Call, admitted: Admitted, attached: &Attached) -> Receipt {
        let Admitted {
            permit,
            arguments,
            entry,
            warnings,
            session,
            ready,
        } = admitted;
        let inner = &self.inner;
        let (execution, ticket, claim) = permit.begin();
        let (entry, running) = match (entry, inner.running()) {
            (Some(entry), Ok(running)) => (entry, running),
            (_, Err(error)) => {
                return close::aborted(inner, (execution, &ticket), close::of_state(&error));
            }
            (None, Ok(_)) => {
                return close::aborted(inner, (execution, &ticket), close::not_registered());
            }
        };
        let limits = match ticket.role {
            // A command's limits are held by the sandbox, and its output names who holds each.
            Some(Role::Shell) => Vec::new(),
            Some(_) | None => enforced::in_process(entry.tool.declaration().resource_limits),
        };
        let started = inner.clockwork.now();
        let ran = run::run(Job {
            inner: Arc::clone(inner),
            entry,
            ticket: ticket.clone(),
            arguments,
            cwd: call.cwd.clone(),
            session,
            started,
            attached: attached.clone(),
            ready,
        });
        let mut receipt = match ran {
            Ok(ran) => close::completed(inner, (execution, &ticket), ran, started),
            Err(failure) => close::aborted(inner, (execution, &ticket), failure),
        };
        running.ended(&ticket.execution);
        drop(claim);
        receipt.warnings.extend(warnings);
        receipt.limits = limits;
        receipt
    }

    /// Takes note of how a client's execution ended, once. It never rolls back: a person's edits
    /// may lie between; what changed is recorded and can be undone.
    pub fn settle(&self, permit: Permit, report: &Report) -> Receipt {
        let (execution, ticket, claim) = permit.begin();
        // The paths are released by the call's name below; a lock of our own would be in the way.
        drop(claim);
        let mut receipt = settle::settled(&self.inner, (execution, &ticket), report);
        receipt.promise = Promise::Guard;
        receipt
    }

    /// Gets a permit back in a later process. The ledger is asked again; the state's word alone
    /// permits nothing.
    pub fn resume(&self, execution: &CallId) -> Result<Permit, GateError> {
        settle::resume(&self.inner, execution)
    }

    /// Lets go of what others would wait for, at the end of a process. The rest of its memory the
    /// system takes back faster than it could be taken apart here.
    pub fn close(self) {
        let running = &self.inner.running;
        let running = running.lock().map(|mut running| running.take());
        drop(running);
        std::mem::forget(self);
    }

    /// Where the workspace and its state lie.
    pub fn site(&self) -> &Site {
        &self.inner.site
    }

    /// What calls are judged by.
    pub fn shelf(&self) -> &Shelf {
        &self.inner.shelf
    }

    /// The tools that it can run.
    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    /// The workspace, for looking.
    pub fn workspace(&self) -> &Workspace {
        &self.inner.workspace
    }

    /// The ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.inner.ledger
    }
}

/// How files that someone holds open for writing are found: the kernel is asked where it answers.
const fn writers() -> WriterProbe {
    #[cfg(target_os = "linux")]
    {
        WriterProbe::Lease(tagout_sandbox::lease)
    }
    #[cfg(not(target_os = "linux"))]
    {
        WriterProbe::Processes
    }
}

impl Inner {
    /// The log of what this process is at, begun with its first execution.
    pub(crate) fn running(&self) -> Result<Arc<Running>, GateError> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = running.as_ref() {
            return Ok(Arc::clone(running));
        }
        let begun = Arc::new(self.site.store.begin_running(&self.clockwork.id("run"))?);
        *running = Some(Arc::clone(&begun));
        Ok(begun)
    }
}
