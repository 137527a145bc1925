//! Running one command for a tool.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tagout_policy::shell::{self, Analysis, ShellContext};
use tagout_sandbox::{Ended, Enforcer, Host, Lane, Limits, Plan, Prepared, SandboxError, Wanted};
use tagout_vocab::limits::{IMAGE_BYTES_MAX, LONG_RUNNING_GRACE_MS};
use tagout_vocab::{Class, Declaration, Place};
use tagout_workspace::{Mark, TakenBack};

use super::confine::Places;
use super::folders::Folders;
use super::inplace::InPlace;
use super::parked::ParkedPath;
use super::{Attached, Command, CommandEnded, Printed, Yard};
use crate::engine::Inner;
use crate::error::GateError;
use crate::permit::Ticket;
use crate::store::Locked;
use crate::tool::ToolError;

/// What a call has for running commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room<'a> {
    pub(crate) inner: &'a Inner,
    pub(crate) yard: &'a Yard,
    pub(crate) ticket: &'a Ticket,
    pub(crate) attached: &'a Attached,
    pub(crate) declaration: &'a Declaration,
    pub(crate) cwd: &'a str,
}

/// What a command wrote, until it is applied, given up or parked.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// The layers of its execution.
    pub(crate) own: PathBuf,
    /// What it changed, private paths left out.
    pub(crate) paths: Vec<ParkedPath>,
    /// The command line.
    pub(crate) line: String,
    /// From when on changes in the workspace are someone else's.
    pub(crate) mark: Mark,
}

/// A command that is over, with what it wrote.
#[derive(Debug)]
pub(crate) struct Over {
    pub(crate) ended: CommandEnded,
    pub(crate) places: Places,
    /// Whether it ended by itself, so that what it wrote is whole.
    pub(crate) whole: bool,
    /// From when on changes in the workspace are someone else's; nothing where it can't write.
    pub(crate) mark: Option<Mark>,
    /// What it did in place and was taken back.
    pub(crate) taken: Option<TakenBack>,
    /// Held until what it wrote is settled: two commands of a session must not mix their layers.
    #[expect(dead_code, reason = "held for the lock")]
    pub(crate) locked: Option<Locked>,
}

/// A command whose sandbox is being built, and which was not started.
#[derive(Debug)]
pub(crate) struct Ready {
    command: Command,
    places: Places,
    limits: Limits,
    lane: Lane,
    enforcers: Vec<Enforcer>,
    mark: Option<Mark>,
    locked: Option<Locked>,
    prepared: Prepared,
}

pub(crate) fn confinement(message: impl Into<String>, remedy: impl Into<String>) -> ToolError {
    ToolError::Confinement {
        message: message.into(),
        remedy: remedy.into(),
    }
}

/// A failure of the state, as a tool reports it.
pub(crate) fn of_state(error: &GateError) -> ToolError {
    ToolError::Resource {
        message: error.to_string(),
    }
}

fn of_sandbox(error: SandboxError) -> ToolError {
    match error {
        SandboxError::Refused(refused) => {
            let message = format!("{} can't be held here: {}", refused.what, refused.why);
            confinement(message, refused.remedy)
        }
        SandboxError::Program { .. }
        | SandboxError::Setup { .. }
        | SandboxError::Helper { .. }
        | SandboxError::Vanished
        | SandboxError::Output { .. } => ToolError::Failed {
            message: "the command could not be run".to_owned(),
            source: Some(Box::new(error)),
        },
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Room<'_> {
    pub(crate) fn root(&self) -> &Path {
        self.inner.workspace.root()
    }

    pub(crate) fn folders(&self) -> Folders {
        Folders::of(&self.inner.site.state)
    }

    /// The folder to start in, which lies in the workspace.
    fn start_in(&self, named: Option<&str>) -> Result<PathBuf, ToolError> {
        let raw = named.unwrap_or(".");
        let outside = || ToolError::Outside {
            path: raw.to_owned(),
        };
        let Place::Inside { path } = self.inner.roots.place(raw, self.cwd) else {
            return Err(outside());
        };
        let found = self
            .inner
            .workspace
            .resolve(&path, tagout_workspace::Follow::Whole)?;
        let folder = self.root().join(found.path.as_str());
        if folder.is_dir() {
            Ok(folder)
        } else {
            Err(ToolError::NotFound {
                path: raw.to_owned(),
            })
        }
    }

    /// Brings the session's private layer in line with the workspace, whose folders may be others
    /// than when the last command ran.
    fn refresh(&self, places: &Places) -> Result<(), GateError> {
        let private = self.private();
        let is_private = |path: &[u8], folder: bool| self.is_private(&private, path, folder);
        Ok(places.private.refresh(self.root(), &is_private)?)
    }

    /// What is seen to do something that no command may do is refused before it runs, with what to
    /// do instead; what is not seen meets the walls or is parked.
    fn nothing_forbidden(found: &Analysis) -> Result<(), ToolError> {
        let forbidden = |part: &shell::Part| Some((part.why.clone(), part.instead.clone()?));
        match found.parts.iter().find_map(forbidden) {
            Some((why, instead)) => Err(confinement(&why, &instead)),
            None => Ok(()),
        }
    }

    /// Asks for what the snapshot lane needs: overlays on what the intent owns, or that it is kept
    /// and written in place.
    fn in_place<'a>(
        &'a self,
        host: &Host,
        places: &Places,
        wanted: &mut Wanted,
    ) -> Result<Option<InPlace<'a>>, ToolError> {
        if self.apart(host, places, wanted)? {
            return Ok(None);
        }
        let open = InPlace::begin(self)?;
        wanted.writable = open.writable();
        let file = wanted.limits.file_bytes.unwrap_or(IMAGE_BYTES_MAX);
        wanted.limits.file_bytes = Some(file.min(IMAGE_BYTES_MAX));
        Ok(Some(open))
    }

    /// Has the sandbox built of a command that only reads, while its call is being recorded. What
    /// can't be done ahead is done, or told, by the run.
    pub(crate) fn ahead(&self, command: Command) -> Option<Ready> {
        let only_reads = self.ticket.class == Class::Safe && !command.long_running;
        let lane = Some(Lane::ReadOnly);
        let (ready, in_place) = only_reads.then(|| self.make_ready(command, lane))?.ok()?;
        in_place.is_none().then_some(ready)
    }

    /// Has the sandbox of a command built, up to the start of its program; in one lane only, if it
    /// is named.
    fn make_ready(
        &self,
        command: Command,
        only: Option<Lane>,
    ) -> Result<(Ready, Option<InPlace<'_>>), ToolError> {
        let context = ShellContext::bare(&self.inner.shelf.books.knowledge, &self.inner.roots);
        let found = shell::analyse(&command.line, &context);
        Self::nothing_forbidden(&found)?;
        let cwd = self.start_in(command.cwd.as_deref())?;
        let state = |error: GateError| of_state(&error);
        let places = Places::make(self, (&command, &found)).map_err(state)?;
        let mut wanted = self.wanted((&command, &found), cwd, &places);
        if self.ticket.class == Class::Destructive && !command.long_running {
            wanted.through = self.passed_through()?;
        }
        let host = self.yard.host(&self.inner.site.state).map_err(state)?;
        if !host.transaction.works() {
            // Without overlays there are none for caches either; they are read-only then.
            wanted.layers.caches.clear();
        }
        let mut plan = planned(host, &wanted)?;
        if only.is_some_and(|only| only != plan.lane()) {
            // Another lane waits for the session's other commands, which has to wait itself.
            return Err(ToolError::failed("it can't be made ready ahead"));
        }
        let writes = plan.lane() != Lane::ReadOnly && !command.long_running;
        let locked = writes
            .then(|| self.inner.site.store.lock(&places.session))
            .transpose()
            .map_err(state)?;
        let lane = plan.lane();
        if locked.is_some() {
            self.refresh(&places).map_err(state)?;
        }
        let mut in_place = None;
        if lane == Lane::Snapshot && self.ticket.class == Class::Destructive {
            in_place = self.in_place(host, &places, &mut wanted)?;
            plan = planned(host, &wanted)?;
        }
        let enforcers = plan.enforcers().to_vec();
        let mark = writes.then(|| self.inner.workspace.mark()).transpose()?;
        let prepared = plan.prepare().map_err(of_sandbox)?;
        let ready = Ready {
            command,
            places,
            limits: wanted.limits,
            lane,
            enforcers,
            mark,
            locked,
            prepared,
        };
        Ok((ready, in_place))
    }

    /// Runs a command to its end, or leaves a long-running one to its session. What was made ready
    /// ahead serves if it is this one.
    pub(crate) fn run(&self, command: &Command, ahead: Option<Ready>) -> Result<Over, ToolError> {
        let (ready, mut in_place) = match ahead.filter(|ready| ready.command == *command) {
            Some(ready) => (ready, None),
            None => self.make_ready(command.clone(), None)?,
        };
        let Ready {
            places,
            limits,
            lane,
            enforcers,
            mark,
            locked,
            prepared,
            ..
        } = ready;
        let state = |error: GateError| of_state(&error);
        tagout_sandbox::hear_interrupts();
        if self.attached.stop.is_wanted() {
            return Err(ToolError::failed("it was ended before it began"));
        }
        let running = prepared.start().map_err(of_sandbox)?;
        let stopper = running.stopper();
        self.attached.stop.attach(move || stopper.stop());
        let lives = command.long_running
            && !running
                .ended_within(Duration::from_millis(LONG_RUNNING_GRACE_MS))
                .map_err(of_sandbox)?;
        // Nobody was told yet that it goes on: whoever wants the call to end means the command.
        if lives && !self.attached.stop.detach() {
            let detached = running.detach().map_err(of_sandbox)?;
            let id = super::long::note(&places.session, self.ticket, detached, &command.line);
            let ended = left_running((lane, limits), enforcers, id.map_err(state)?);
            return Ok(Over {
                ended,
                places,
                whole: true,
                mark,
                taken: None,
                locked,
            });
        }
        // There is time while it runs.
        self.declaration.output_schema.make();
        let ended = match &in_place {
            Some(open) => open.wait(running),
            None => running.wait(),
        };
        self.attached.stop.detach();
        let taken = in_place.as_mut().map(InPlace::settle).transpose();
        let taken = taken.map_err(state)?;
        let ended = ended.map_err(of_sandbox)?;
        Ok(Over {
            whole: ended.failed_by.is_none() && !ended.stopped,
            mark: mark.map(|mark| mark.with_clock_set(ended.clock_was_set)),
            ended: told(ended, limits, self.ticket.execution.as_str()),
            places,
            taken,
            locked,
        })
    }
}

fn planned(host: &Host, wanted: &Wanted) -> Result<Plan, ToolError> {
    tagout_sandbox::plan(host, wanted).map_err(|refused| of_sandbox(refused.into()))
}

fn left_running(
    (lane, limits): (Lane, Limits),
    enforcers: Vec<Enforcer>,
    id: String,
) -> CommandEnded {
    CommandEnded {
        exit: None,
        limit_hit: None,
        stopped: false,
        printed: Printed::default(),
        lane,
        enforcers,
        limits,
        wall_ms: 0,
        cpu_ms: 0,
        peak_memory_bytes: None,
        changed: Vec::new(),
        given_up: false,
        long_running: Some(id),
        hint: None,
    }
}

fn told(ended: Ended, limits: Limits, artifact: &str) -> CommandEnded {
    let artifact = (ended.output.bytes > 0).then(|| artifact.to_owned());
    CommandEnded {
        exit: Some(ended.exit),
        stopped: ended.stopped,
        printed: Printed::of(&ended.output, artifact),
        lane: ended.lane,
        enforcers: ended.enforcers,
        limits,
        wall_ms: millis(ended.wall),
        cpu_ms: millis(ended.cpu),
        peak_memory_bytes: ended.peak_memory,
        limit_hit: ended.failed_by,
        changed: Vec::new(),
        given_up: false,
        long_running: None,
        hint: ended.hint,
    }
}
