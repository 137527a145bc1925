//! The calling process's side: starting the helper, sending it plans, following a run.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{SendFlags, Shutdown, shutdown};
use rustix::process::{Pid, WaitOptions, waitpid};
use tagout_vocab::limits::{OUTPUT_HEAD_BYTES_MAX, SANDBOX_SILENCE_MS_MAX};

use super::ahead::{Ahead, Beside};
use super::channel;
use super::clock::ClockWatch;
use super::helper::{self, HELPER_ARGUMENT, HELPER_NAME};
use super::sys::{self, Side};
use super::wire::{Raw, Report, Request};
use super::{session, spec};
use crate::ended::{Ended, Exit};
use crate::error::{Refused, SandboxError};
use crate::hidden;
use crate::limits::{Chosen, Groups, Limit, LimitHit};
use crate::output::{Captured, Collector};
use crate::plan::{Enforcer, Plan};
use crate::session::Detached;
use crate::signals;
use crate::wanted::{Input, Lane, Network, Wanted};

/// What failed, where it was about them.
const GROUPS: &str = "the control groups";

/// The program to start as the helper, where it is not this one.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The helper of this process: started by the first run, ended by the end of this process.
static HELPER: Mutex<Option<Helper>> = Mutex::new(None);

/// Names another program to start as the helper: one whose `main` begins with
/// [`super::serve_if_helper`]. Only the first word counts. For programs whose own `main` can't,
/// such as tests.
pub fn use_helper(program: PathBuf) {
    // A second word changes nothing; the first is in use already.
    PROGRAM.set(program).ok();
}

struct Helper {
    control: UnixStream,
    process: Process,
}

/// How the helper came to be.
enum Process {
    /// This program, started anew.
    Started(Child),
    /// A copy of this process from when it had one thread.
    Copied(Pid),
}

impl Helper {
    fn start() -> io::Result<Self> {
        let (control, child) = start_helper(HELPER_ARGUMENT)?;
        Ok(Self {
            control,
            process: Process::Started(child),
        })
    }

    /// A copy of this process becomes the helper, which costs a fraction of a start. That works
    /// only before there is a second thread.
    fn copy(hidden: &[Raw]) -> io::Result<Self> {
        // A folder has a link for itself, one for its name and one from each folder in it.
        if rustix::fs::stat("/proc/self/task")?.st_nlink != 3 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (control, other) = UnixStream::pair()?;
        let beside = Beside::new();
        let ahead = Ahead { hidden, beside };
        match sys::clone_into(0)? {
            Side::Child => helper::serve_copied(&other, &ahead),
            Side::Parent(pid) => {
                let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidData)?;
                beside.put(pid);
                crate::start::fill_heap();
                Ok(Self {
                    control,
                    process: Process::Copied(pid),
                })
            }
        }
    }

    fn is_alive(&mut self) -> bool {
        match &mut self.process {
            Process::Started(child) => child.try_wait().is_ok_and(|ended| ended.is_none()),
            Process::Copied(pid) => {
                waitpid(Some(*pid), WaitOptions::NOHANG).is_ok_and(|ended| ended.is_none())
            }
        }
    }
}

/// Starts this program anew as a helper of some kind, with a socket as its standard input.
pub(super) fn start_helper(argument: &str) -> io::Result<(UnixStream, Child)> {
    let (control, other) = UnixStream::pair()?;
    let program = PROGRAM
        .get()
        .map_or(OsStr::new("/proc/self/exe"), |path| path.as_os_str());
    #[expect(clippy::disallowed_methods, reason = "this is the sandbox crate")]
    let process = Command::new(program)
        .arg0(HELPER_NAME)
        .arg(argument)
        .env_clear()
        .stdin(OwnedFd::from(other))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((control, process))
}

/// Makes the helper ahead of the first run, for programs that will run a command: before there is a
/// second thread it can be a copy of this process instead of a start of its own. Whatever this
/// process knows by then is in the copy's memory, the environment aside, so it stands near the top
/// of `main`. It makes name spaces and walls for one command ahead, in which what programs keep for
/// themselves in this home is hidden. What fails here is told by the run that needs it.
pub fn start_helper_early(home: Option<&Path>) {
    let mut slot = HELPER.lock().unwrap_or_else(PoisonError::into_inner);
    if slot.is_none() {
        let hidden: Vec<Raw> = hidden::in_home(home).map(|path| Raw::from(&path)).collect();
        *slot = Helper::copy(&hidden).or_else(|_| Helper::start()).ok();
    }
}

/// Sends a request to the helper, which is started if there is none or it is gone.
fn send(request: &Request, handles: &[BorrowedFd<'_>]) -> Result<(), SandboxError> {
    let failed = |step| move |source| SandboxError::Helper { step, source };
    let mut slot = HELPER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(helper) = slot.as_mut() {
        if helper.is_alive() && channel::send_request(&helper.control, request, handles).is_ok() {
            return Ok(());
        }
        *slot = None;
    }
    let helper = slot.insert(Helper::start().map_err(failed("starting it"))?);
    channel::send_request(&helper.control, request, handles).map_err(failed("sending it a request"))
}

/// A run that is under way. Dropping it ends the run.
#[derive(Debug)]
pub struct Running {
    run: Arc<OwnedFd>,
    placed: Option<i32>,
    detached: bool,
    artifact: PathBuf,
    collector: Option<Collector>,
    groups: Groups,
    enforcers: Vec<Enforcer>,
    lane: Lane,
    begun: Instant,
    /// Until when the sandbox has to have said something, where its command has an end.
    until: Option<Instant>,
    clock: ClockWatch,
    output_bytes_max: Option<u64>,
}

/// A sandbox that waits for the word to start its command. Dropping it ends it without.
#[derive(Debug)]
pub struct Prepared {
    running: Running,
    program: Option<Raw>,
    wall: Option<Duration>,
}

/// Has the sandbox built. The first process builds, while here everything else is made ready; it
/// starts nothing until it is given the word.
pub(crate) fn prepare(plan: Plan) -> Result<Prepared, SandboxError> {
    let spec = spec::of(&plan);
    let program = spec.argv.first().cloned();
    let (wall, output_bytes_max) = (spec.limits.limits.wall, spec.limits.limits.output_bytes);
    let clock = ClockWatch::start().map_err(setup("watching the clock"))?;
    let (run, theirs) = channel::run_pair().map_err(setup("a socket for the run"))?;
    let run = Arc::new(run);
    let wanted = plan.wanted;
    let input = input(wanted.input).map_err(setup("the command's input"))?;
    let (ours, [output, errors]) = outputs(&wanted)?;
    let request = Request::Launch(Box::new(spec));
    let handles = [&theirs, &input, &output, &errors].map(AsFd::as_fd);
    match &wanted.network {
        Network::Session(dir) => session::send(dir, &request, &handles)?,
        Network::Off | Network::Any => send(&request, &handles)?,
    }
    drop((theirs, input, output, errors));
    // Whatever goes wrong from here on ends it.
    let mut running = Running {
        run,
        placed: None,
        detached: false,
        collector: None,
        artifact: wanted.output.artifact.clone(),
        groups: Groups::default(),
        enforcers: plan.enforcers,
        lane: plan.form.lane,
        begun: Instant::now(),
        until: None,
        clock,
        output_bytes_max,
    };
    if let Some(pipes) = ours {
        let reader = collector(&wanted, &running.run, (pipes, output_bytes_max))?;
        running.collector = Some(reader);
    }
    // While the first process builds. A thread of its own for it takes more than it gives.
    running.groups = groups(&plan.chosen, &running.run).map_err(setup(GROUPS))?;
    Ok(Prepared {
        running,
        program,
        wall,
    })
}

/// Makes the control groups of a run, and has the first process join them.
fn groups(chosen: &Chosen, run: &OwnedFd) -> io::Result<Groups> {
    let mut groups = Groups::create(chosen)?;
    leave_to_helper(&mut groups);
    channel::send_groups(run, &groups.joins()?)?;
    Ok(groups)
}

/// Lets the helper remove the groups, which outlive this process by a moment. Without a helper they
/// go when they can, and a later helper looks for those that could not.
fn leave_to_helper(groups: &mut Groups) {
    let paths: Vec<Raw> = groups.paths().map(Raw::from).collect();
    let mut slot = HELPER.lock().unwrap_or_else(PoisonError::into_inner);
    let told = |helper: &mut Helper| {
        let request = Request::Groups(paths);
        channel::send_request(&helper.control, &request, &[]).is_ok()
    };
    if slot.as_mut().is_some_and(told) {
        groups.leave();
    }
}

impl Prepared {
    /// Starts the command; returns once its program runs.
    pub fn start(self) -> Result<Running, SandboxError> {
        let mut running = self.running;
        running.begun = Instant::now();
        let silence = Duration::from_millis(SANDBOX_SILENCE_MS_MAX);
        running.until = self.wall.map(|wall| running.begun + wall + silence);
        channel::send_word(&running.run).map_err(setup("the word to start"))?;
        running.groups.open();
        running.placed = wait_for_program(&running.run, running.until, self.program.as_ref())?;
        Ok(running)
    }
}

/// What a command could not do to its output's file or to a reader of it.
fn kept(wanted: &Wanted) -> impl Fn(io::Error) -> SandboxError {
    let path = wanted.output.artifact.display().to_string();
    move |source| SandboxError::Output {
        path: path.clone(),
        source,
    }
}

/// Where the command's output goes: through pipes to a reader here, or straight to the artifact if
/// the command outlives this process.
fn outputs(wanted: &Wanted) -> Result<(Option<[File; 2]>, [OwnedFd; 2]), SandboxError> {
    if wanted.long_running {
        let file: OwnedFd = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(&wanted.output.artifact)
            .map_err(kept(wanted))?
            .into();
        let second = file.try_clone().map_err(kept(wanted))?;
        return Ok((None, [file, second]));
    }
    let (output, output_end) = pipe().map_err(setup("a pipe for the output"))?;
    let (errors, errors_end) = pipe().map_err(setup("a pipe for the output"))?;
    Ok((Some([output, errors]), [output_end, errors_end]))
}

/// The reader of the pipes, which ends the run when too much comes.
fn collector(
    wanted: &Wanted,
    run: &Arc<OwnedFd>,
    (pipes, bytes_max): ([File; 2], Option<u64>),
) -> Result<Collector, SandboxError> {
    let stopper = Arc::clone(run);
    let hit = Box::new(move || stop(&stopper));
    Collector::start(&wanted.output, pipes, bytes_max, hit).map_err(kept(wanted))
}

fn setup(step: &'static str) -> impl Fn(io::Error) -> SandboxError {
    move |source| SandboxError::Setup {
        step: step.to_owned(),
        source,
    }
}

fn input(input: Input) -> io::Result<OwnedFd> {
    match input {
        Input::Nothing => Ok(File::open("/dev/null")?.into()),
        Input::Inherited => io::stdin().as_fd().try_clone_to_owned(),
    }
}

fn pipe() -> io::Result<(File, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    Ok((File::from(read), write))
}

fn stop(run: &OwnedFd) {
    // A run that is over already is what is wanted. The word is for one that outlives its caller.
    rustix::net::send(run, b"stop", SendFlags::NOSIGNAL | SendFlags::DONTWAIT).ok();
    shutdown(run, Shutdown::Write).ok();
}

fn unheard(source: io::Error) -> SandboxError {
    SandboxError::Helper {
        step: "hearing from the sandbox",
        source,
    }
}

/// The next report. A sandbox that says nothing until long after its command's time is not waited
/// for any more.
fn report(run: &OwnedFd, until: Option<Instant>) -> Result<Report, SandboxError> {
    if !speaks(run, until)? {
        return Err(unheard(io::ErrorKind::TimedOut.into()));
    }
    let report = channel::receive_report(run).map_err(unheard)?;
    report.ok_or(SandboxError::Vanished)
}

/// Whether there is something to hear until then. Meanwhile someone may want this process to end.
fn speaks(run: &OwnedFd, until: Option<Instant>) -> Result<bool, SandboxError> {
    let interrupts = signals::interrupts();
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut waits = vec![PollFd::new(run, PollFlags::IN)];
        waits.extend(interrupts.iter().map(|one| PollFd::new(one, PollFlags::IN)));
        match poll(&mut waits, left.as_ref()) {
            Ok(0) => return Ok(false),
            Ok(_) if waits.first().is_some_and(|run| !run.revents().is_empty()) => return Ok(true),
            Ok(_) => signals::hear_interrupts(),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(unheard(errno.into())),
        }
    }
}

/// Waits until the program runs, or says why it does not; returns the number by which a session
/// knows it.
fn wait_for_program(
    run: &OwnedFd,
    until: Option<Instant>,
    program: Option<&Raw>,
) -> Result<Option<i32>, SandboxError> {
    let mut placed = None;
    loop {
        match report(run, until)? {
            Report::Started => return Ok(placed),
            Report::Placed { pid } => placed = Some(pid),
            Report::Failed { step, errno } => {
                return Err(SandboxError::Setup {
                    step,
                    source: io::Error::from_raw_os_error(errno),
                });
            }
            Report::NoProgram { errno } => {
                return Err(SandboxError::Program {
                    program: program.map_or_else(String::new, |name| {
                        String::from_utf8_lossy(name.bytes()).into_owned()
                    }),
                    source: io::Error::from_raw_os_error(errno),
                });
            }
            Report::Ended { .. } => return Err(SandboxError::Vanished),
        }
    }
}

/// The reason that says most: a limit that was hit, and only without one that something went on.
fn weightiest(hits: [Option<LimitHit>; 3]) -> Option<LimitHit> {
    let hits = hits.into_iter().flatten();
    hits.min_by_key(|hit| hit.limit == Limit::LeftBehind)
}

impl Running {
    /// The lane it runs in.
    pub fn lane(&self) -> Lane {
        self.lane
    }

    /// Waits for the end of the command and of everything it started.
    pub fn wait(mut self) -> Result<Ended, SandboxError> {
        let last = match report(&self.run, self.until) {
            Ok(report) => Some(report),
            // Killed from outside, as by the kernel for its memory: the groups may know.
            Err(SandboxError::Vanished) => None,
            Err(error) => return Err(error),
        };
        let wall = self.begun.elapsed();
        let (output, flooded) = match self.collector.take() {
            Some(collector) => collector.finish().map_err(setup("keeping the output"))?,
            None => (self.written(), false),
        };
        let seen = self.groups.hit();
        let (exit, hit, stopped, cpu, peak) = match last {
            Some(Report::Ended {
                exit,
                hit,
                stopped,
                cpu_us,
                peak_memory,
            }) => (
                exit,
                hit,
                stopped,
                Duration::from_micros(cpu_us),
                peak_memory,
            ),
            Some(
                Report::Started
                | Report::Placed { .. }
                | Report::Failed { .. }
                | Report::NoProgram { .. },
            )
            | None => {
                if seen.is_none() {
                    return Err(SandboxError::Vanished);
                }
                (
                    Exit::Signal(libc::SIGKILL),
                    None,
                    false,
                    Duration::ZERO,
                    None,
                )
            }
        };
        let flood = flooded.then(|| self.flood());
        Ok(Ended {
            exit,
            stopped: stopped && flood.is_none(),
            failed_by: weightiest([hit, flood, seen]),
            enforcers: std::mem::take(&mut self.enforcers),
            lane: self.lane,
            wall,
            cpu,
            peak_memory: self.groups.peak_memory().or(peak),
            hint: crate::hint::find(self.lane, &output),
            output,
            clock_was_set: self.clock.was_set(),
        })
    }

    fn flood(&self) -> LimitHit {
        LimitHit {
            limit: Limit::Output,
            by: "the reader of the output".to_owned(),
            detail: format!(
                "more than {} bytes of output",
                self.output_bytes_max.unwrap_or_default()
            ),
        }
    }

    /// Whether the run is over within this time.
    pub fn ended_within(&self, time: Duration) -> Result<bool, SandboxError> {
        speaks(&self.run, Some(Instant::now() + time))
    }

    /// Ends the command and everything it started; [`Running::wait`] then returns.
    pub fn stop(&self) {
        stop(&self.run);
    }

    /// A handle with which another thread can end the run.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.run))
    }

    /// Leaves a long-running command to its session. Any other is ended: it can't outlive its
    /// caller.
    pub fn detach(mut self) -> Result<Detached, SandboxError> {
        let id = self.placed.take().ok_or_else(|| {
            Refused::new(
                "a command without its caller",
                "only long-running commands outlive it",
                "start it as long-running, in a session",
            )
        })?;
        self.detached = true;
        Ok(Detached { id })
    }

    /// What a command that writes its artifact itself has written.
    fn written(&self) -> Captured {
        let length = std::fs::metadata(&self.artifact).map_or(0, |file| file.len());
        let mut head = Vec::new();
        if let Ok(file) = File::open(&self.artifact) {
            // What can't be read here can still be read from the artifact.
            let mut beginning = file.take(OUTPUT_HEAD_BYTES_MAX as u64);
            beginning.read_to_end(&mut head).ok();
        }
        Captured {
            bytes: length,
            head,
            artifact: self.artifact.clone(),
            ..Captured::default()
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.detached {
            stop(&self.run);
        }
    }
}

/// Ends a run from another thread.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<OwnedFd>);

impl Stopper {
    /// Ends the command and everything it started.
    pub fn stop(&self) {
        stop(&self.0);
    }
}

/// The value of `PATH` in an environment.
pub(super) fn search(env: &[(OsString, OsString)]) -> Raw {
    let value = env.iter().find(|(name, _)| name == "PATH");
    Raw::from(value.map_or_else(OsString::new, |(_, value)| value.clone()))
}

/// `NAME=value`.
pub(super) fn assignment((name, value): &(OsString, OsString)) -> Raw {
    let bytes = [name.as_bytes(), b"=", value.as_bytes()].concat();
    Raw::from(OsStr::from_bytes(&bytes).to_owned())
}
