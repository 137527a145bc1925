//! The first process of a sandbox: builds the walls, starts the command, watches, reports.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::RecvFlags;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, set_dumpable_behavior,
    set_parent_process_death_signal, wait,
};

use tagout_vocab::limits::{LEFT_BEHIND_GRACE_MS, LEFT_BEHIND_NAMES_MAX};

use super::ahead::{Ahead, Beside};
use super::command::{self, Spelled};
use super::mounts::{self, Ground};
use super::seccomp::{self, Filter};
use super::sys;
use super::tree;
use super::wire::{At, Failed, Net, Raw, Report, Spec};
use super::{channel, landlock, privileges};
use crate::ended::Exit;
use crate::limits::{self, Limit, LimitHit, Watcher};

/// How long after the wall time everything is killed without looking.
const WALL_SLACK: Duration = Duration::from_millis(500);

/// The descriptors of one run.
#[derive(Debug)]
pub(super) struct Handles {
    /// Reports go out; its end means that the caller wants the run to end, or is gone.
    pub(super) run: OwnedFd,
    /// Standard input of the command.
    pub(super) input: OwnedFd,
    /// Its standard output.
    pub(super) output: OwnedFd,
    /// Its standard error.
    pub(super) errors: OwnedFd,
}

impl Handles {
    /// From what came with a request.
    pub(super) fn new(handles: Vec<OwnedFd>) -> Option<Self> {
        let [run, input, output, errors] = <[OwnedFd; 4]>::try_from(handles).ok()?;
        Some(Self {
            run,
            input,
            output,
            errors,
        })
    }
}

/// A first process that has begun, and what of its walls stands already.
#[derive(Debug)]
pub(super) struct Stand {
    /// Notices of ended processes.
    children: OwnedFd,
    ground: Option<Ground>,
    /// Which processors it keeps away from until it starts something.
    beside: Option<Beside>,
}

impl Stand {
    /// The first steps, up to the word of the helper that the ids are mapped.
    pub(super) fn begin(released: &OwnedFd) -> Result<Self, Failed> {
        let stand = Self::new()?;
        wait_for_release(released)?;
        Ok(stand)
    }

    /// The same with a network of its own, and then what every command has: all that does not
    /// depend on it.
    pub(super) fn begin_ahead(
        released: &OwnedFd,
        ahead: &Ahead<'_>,
        closed: &[Raw],
    ) -> Result<Self, Failed> {
        let mut stand = Self::new()?;
        sys::loopback_up().at("the loopback device")?;
        wait_for_release(released)?;
        stand.ground = Some(Ground::ahead(ahead.hidden, closed)?);
        stand.beside = Some(ahead.beside);
        Ok(stand)
    }

    fn new() -> Result<Self, Failed> {
        set_parent_process_death_signal(Some(Signal::KILL)).at("ending with the helper")?;
        sys::remember_children();
        let children = sys::child_events().at("notices of ended processes")?;
        Ok(Self {
            children,
            ground: None,
            beside: None,
        })
    }

    /// Whether this command can be run here.
    pub(super) fn bears(&self, spec: &Spec) -> bool {
        spec.net == Net::Own
            && !spec.outlives
            && self
                .ground
                .as_ref()
                .is_some_and(|ground| ground.bears(spec))
    }
}

/// Runs the sandbox of this spec and leaves.
pub(super) fn run(
    spec: &Spec,
    handles: Handles,
    stand: Result<Stand, Failed>,
    filter: &Filter,
) -> ! {
    let Handles {
        run,
        input,
        output,
        errors,
    } = handles;
    let gone = stand.and_then(|stand| go(spec, &run, [input, output, errors], stand, filter));
    let report = gone.unwrap_or_else(Report::from);
    // A caller that is gone needs no report.
    channel::send_report(&run, &report).ok();
    match report {
        // The session's keeper takes note of how it ended.
        Report::Ended { exit, .. } if spec.outlives => sys::leave(exit.shell_code()),
        Report::Ended { .. }
        | Report::Started
        | Report::Placed { .. }
        | Report::Failed { .. }
        | Report::NoProgram { .. } => sys::leave(0),
    }
}

fn go(
    spec: &Spec,
    run: &OwnedFd,
    standard: [OwnedFd; 3],
    stand: Stand,
    filter: &Filter,
) -> Result<Report, Failed> {
    let Stand {
        children,
        ground,
        beside,
    } = stand;
    let kept = kept_output(spec, &standard).at("watching the output")?;
    let uppers = enter(spec, ground)?;
    let mut watcher = Watcher::new(&spec.limits, uppers);
    // While the caller makes up its mind. The filter holds this process too, which from here on has
    // no use for anything that it refuses.
    let rules = landlock::rules(spec)?;
    seccomp::apply(filter)?;
    let spelled = Spelled::of(spec)?;
    let Ok(Some(groups)) = channel::receive_groups(run) else {
        // Who asked has changed its mind, or is gone.
        sys::leave(1);
    };
    for group in &groups {
        limits::join(group).at("joining a control group")?;
    }
    drop(groups);
    let Ok(true) = channel::receive_word(run) else {
        sys::leave(1);
    };
    beside
        .map_or(Ok(()), |beside| beside.take_back())
        .at("all processors for the command")?;
    watcher.begin();
    let first = match command::start(spec, &spelled, (&standard, rules))? {
        Ok(first) => first,
        Err(errno) => return Ok(Report::NoProgram { errno }),
    };
    drop(standard);
    channel::send_report(run, &Report::Started).ok();
    if let Some(wall) = spec.limits.limits.wall {
        // The watch has a moment to end it first.
        sys::kill_all_others_after(wall + WALL_SLACK).at("a timer for the wall time")?;
    }
    let news = News {
        run,
        children: &children,
        outlives: spec.outlives,
        deadline: spec.limits.limits.wall.map(|wall| Instant::now() + wall),
        kept,
        alone: false,
        patience: None,
    };
    Ok(watch(news, first, watcher))
}

/// The output's file and how long it may become, where no caller reads it.
fn kept_output(spec: &Spec, standard: &[OwnedFd; 3]) -> io::Result<Option<(OwnedFd, u64)>> {
    let [_, output, _] = standard;
    match spec.limits.limits.output_bytes.filter(|_| spec.outlives) {
        Some(most) => Ok(Some((output.try_clone()?, most))),
        None => Ok(None),
    }
}

/// Waits until the helper has mapped the ids.
fn wait_for_release(released: &OwnedFd) -> Result<(), Failed> {
    let mut word = [0_u8; 1];
    match rustix::io::retry_on_intr(|| rustix::io::read(released, &mut word)) {
        Ok(1) => Ok(()),
        // The helper reports what went wrong, or is gone.
        Ok(_) | Err(_) => sys::leave(1),
    }
}

/// Builds what surrounds the command, then gives up every right that was needed for it.
fn enter(spec: &Spec, ground: Option<Ground>) -> Result<Vec<OwnedFd>, Failed> {
    let uppers = if spec.namespaces {
        if spec.net == Net::Own && ground.is_none() {
            sys::loopback_up().at("the loopback device")?;
        }
        mounts::build(spec, ground)?
    } else {
        tree::adopt_orphans().at("adopting orphaned processes")?;
        rustix::process::chdir(spec.cwd.path()).at("the working folder")?;
        Vec::new()
    };
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .at("closing the first process's memory")?;
    privileges::drop_all()?;
    Ok(uppers)
}

/// Watches until the command and all that it started have ended, a limit is hit or the caller is
/// gone; then ends everything. What the command leaves behind may end by itself for a short time.
fn watch(mut news: News<'_>, first: Pid, mut watcher: Watcher) -> Report {
    let mut exit = None;
    let mut hit = None;
    let mut stopped = false;
    while hit.is_none() && !stopped {
        stopped = news.wait(&watcher);
        drain(news.children);
        let reaped = reap(first, WaitOptions::NOHANG);
        exit = exit.or(reaped.exit);
        if exit.is_some() && (!reaped.left || news.is_patience_over()) {
            hit = reaped.left.then(left_behind);
            break;
        }
        if !stopped {
            hit = watcher.look().or_else(|| news.hit());
        }
    }
    tree::end_all();
    let rest = reap(first, WaitOptions::empty()).exit;
    // A limit that was hit says more than that something went on.
    let hit = match hit {
        Some(hit) if hit.limit == Limit::LeftBehind => watcher.last().or(Some(hit)),
        Some(hit) => Some(hit),
        None => watcher.last().or_else(|| news.overslept(exit)),
    };
    Report::Ended {
        exit: exit.or(rest).unwrap_or(Exit::Signal(libc::SIGKILL)),
        hit,
        stopped,
        cpu_us: u64::try_from(sys::children_cpu().as_micros()).unwrap_or(u64::MAX),
        peak_memory: watcher.peak_memory(),
    }
}

/// The command has ended, and what it started goes on.
fn left_behind() -> LimitHit {
    let found = tree::names(LEFT_BEHIND_NAMES_MAX);
    let who = if found.is_empty() {
        String::new()
    } else {
        format!(" ({})", found.join(", "))
    };
    LimitHit {
        limit: Limit::LeftBehind,
        by: "the sandbox's first process".to_owned(),
        detail: format!("processes were left behind{who} and had to be ended"),
    }
}

/// What the first process waits for.
struct News<'a> {
    run: &'a OwnedFd,
    children: &'a OwnedFd,
    /// Whether the run goes on when the caller is gone.
    outlives: bool,
    deadline: Option<Instant>,
    kept: Option<(OwnedFd, u64)>,
    /// Whether the caller is gone.
    alone: bool,
    /// Until when what the command left behind may end by itself.
    patience: Option<Instant>,
}

impl News<'_> {
    /// Waits for whatever comes first; says whether the caller wants the end.
    fn wait(&mut self, watcher: &Watcher) -> bool {
        let until = [self.deadline, self.patience].into_iter().flatten().min();
        let timeout = pause(until, self.interval(watcher));
        let listener = watcher.listener();
        let mut waits = vec![
            PollFd::new(self.run, PollFlags::IN),
            PollFd::new(self.children, PollFlags::IN),
        ];
        waits.extend(
            listener
                .iter()
                .map(|listener| PollFd::new(listener, PollFlags::IN)),
        );
        // A caller that is gone would be reported again and again.
        let begin = usize::from(self.alone);
        let polled = waits.get_mut(begin..).unwrap_or_default();
        if poll(polled, timeout.as_ref()).is_err() || self.alone {
            return false;
        }
        let caller = waits.first().map_or(PollFlags::empty(), PollFd::revents);
        if caller.is_empty() {
            return false;
        }
        self.heard()
    }

    /// The caller said something, or is gone.
    fn heard(&mut self) -> bool {
        let mut word = [0_u8; 16];
        let received = rustix::net::recv(self.run, &mut word[..], RecvFlags::DONTWAIT);
        let spoke = received.is_ok_and(|(length, _)| length > 0);
        if spoke || !self.outlives {
            return true;
        }
        self.alone = true;
        false
    }

    /// A command that was killed after its time was over had no other reason to end.
    fn overslept(&self, exit: Option<Exit>) -> Option<LimitHit> {
        let killed = exit == Some(Exit::Signal(libc::SIGKILL));
        late(self.deadline).filter(|_| killed)
    }

    /// Whether what the command left behind had its time. Asked for the first time when the command
    /// has ended. One that is to go on has none: when it ends, its server is gone.
    fn is_patience_over(&mut self) -> bool {
        let grace = if self.outlives {
            Duration::ZERO
        } else {
            Duration::from_millis(LEFT_BEHIND_GRACE_MS)
        };
        let now = Instant::now();
        now >= *self.patience.get_or_insert(now + grace)
    }

    fn interval(&self, watcher: &Watcher) -> Option<Duration> {
        const OUTPUT_INTERVAL: Duration = Duration::from_millis(50);
        let own = self.kept.as_ref().map(|_| OUTPUT_INTERVAL);
        match (watcher.interval(), own) {
            (Some(theirs), Some(own)) => Some(theirs.min(own)),
            (theirs, own) => theirs.or(own),
        }
    }

    /// The limits that are held here.
    fn hit(&self) -> Option<LimitHit> {
        late(self.deadline).or_else(|| {
            let (file, most) = self.kept.as_ref()?;
            let length = u64::try_from(rustix::fs::fstat(file).ok()?.st_size).ok()?;
            (length > *most).then(|| LimitHit {
                limit: Limit::Output,
                by: "the sandbox's first process".to_owned(),
                detail: format!("{length} bytes of output, of {most} allowed"),
            })
        })
    }
}

/// Empties the notices of ended processes; who ended is asked for afterwards.
fn drain(children: &OwnedFd) {
    let mut notice = [0_u8; 1024];
    while rustix::io::read(children, &mut notice).is_ok_and(|length| length > 0) {}
}

/// What is known after taking notice of every process that has ended.
struct Reaped {
    /// How the command itself did, if it is among them.
    exit: Option<Exit>,
    /// Whether others go on. Whatever loses its parent becomes a child of this process, so nobody
    /// goes on unseen.
    left: bool,
}

/// Takes notice of every process that has ended.
fn reap(first: Pid, options: WaitOptions) -> Reaped {
    let mut exit = None;
    loop {
        match wait(options) {
            Ok(Some((pid, status))) if pid == first => exit = Some(how(status)),
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return Reaped { exit, left: true },
            Err(_) => return Reaped { exit, left: false },
        }
    }
}

fn how(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Signal(libc::SIGKILL),
    }
}

/// The time until the next look or the deadline, whichever comes first.
fn pause(deadline: Option<Instant>, interval: Option<Duration>) -> Option<Timespec> {
    let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
    let pause = match (left, interval) {
        (Some(left), Some(interval)) => left.min(interval),
        (left, interval) => left.or(interval)?,
    };
    Timespec::try_from(pause).ok()
}

fn late(deadline: Option<Instant>) -> Option<LimitHit> {
    let end = deadline?;
    (Instant::now() >= end).then(|| LimitHit {
        limit: Limit::Wall,
        by: "timer of the sandbox's first process".to_owned(),
        detail: "the command took longer than its wall time".to_owned(),
    })
}
