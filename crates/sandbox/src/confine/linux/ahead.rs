//! A first process that is made before a command is known, while its caller makes up its mind.
//!
//! Its name spaces and those walls that every command has stand by the time the command comes.
//! Until then it has nothing to run. Who is refused lets it end unused.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use super::init::{self, Handles, Stand};
use super::seccomp::{self, Filter, Traits};
use super::sys::{self, Side};
use super::wire::{Failed, Net, Raw, Report, Request};
use super::{channel, helper, ids};
use crate::hidden;

/// A request as it came.
type Asked = (Request, Vec<OwnedFd>);

/// What is known before there is a command.
#[derive(Debug)]
pub(super) struct Ahead<'a> {
    /// What is hidden from every command.
    pub(super) hidden: &'a [Raw],
    pub(super) beside: Beside,
}

impl Ahead<'_> {
    /// Makes a first process that takes the next request from `control` itself, and waits until it
    /// has done so. A request that it can't serve comes back. Without one, and where none could be
    /// made, the next is for the helper.
    pub(super) fn offer(&self, control: &UnixStream) -> Option<Asked> {
        let (theirs, ours) = UnixStream::pair().ok()?;
        let (released, release) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).ok()?;
        match sys::clone_into(helper::namespaces(Net::Own)).ok()? {
            Side::Child => {
                drop((theirs, release));
                stand_by(control, (&ours, &released), self);
            }
            Side::Parent(pid) => {
                drop((ours, released));
                // Without the word it leaves, and the other end of the socket closes.
                if ids::map(pid).is_ok() {
                    rustix::io::write(&release, b"g").ok();
                }
                drop(release);
                channel::next_request(&theirs).ok().flatten()
            }
        }
    }
}

/// The processors that this process may use, and those of them that it does not run on just now.
///
/// The kernel queues a copy of a process behind its maker, and who is told something behind the
/// teller, although another processor is idle. A helper and its first process are meant to work
/// meanwhile, so they keep away from their maker's until a command is started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside(Option<(CpuSet, CpuSet)>);

impl Beside {
    pub(super) fn new() -> Self {
        let all = sched_getaffinity(None).ok();
        Self(all.and_then(|all| {
            let mut others = all;
            others.unset(sched_getcpu());
            (others.count() > 0).then_some((all, others))
        }))
    }

    /// Has a copy of this process, and what that makes, run beside it. If it stays where it is, it
    /// is only late.
    pub(super) fn put(&self, copy: Pid) {
        if let Self(Some((_, others))) = self {
            sched_setaffinity(Some(copy), others).ok();
        }
    }

    /// The copy's own side: it may use all processors again.
    pub(super) fn take_back(&self) -> rustix::io::Result<()> {
        let Self(Some((all, others))) = self else {
            return Ok(());
        };
        sched_setaffinity(None, all).or_else(|error| {
            // Where the wish is refused, the restriction was too.
            let is_held = sched_getaffinity(None).is_ok_and(|now| now == *others);
            if is_held { Err(error) } else { Ok(()) }
        })
    }
}

/// Stands ready, takes one request and runs it, or gives it back, and leaves.
fn stand_by(
    control: &UnixStream,
    (helper, released): (&UnixStream, &OwnedFd),
    ahead: &Ahead<'_>,
) -> ! {
    let Ok((stand, traits, filter)) = build(released, ahead) else {
        // The helper makes another when it is asked, which says what went wrong.
        sys::leave(1);
    };
    let Ok(Some(asked)) = channel::next_request(control) else {
        sys::leave(0);
    };
    sys::abandon(control);
    match serve(asked, (stand, traits, filter), helper) {
        Ok(()) => sys::leave(0),
        Err(_) => sys::leave(1),
    }
}

fn build(released: &OwnedFd, ahead: &Ahead<'_>) -> Result<(Stand, Traits, Filter), Failed> {
    let root = rustix::process::geteuid().is_root();
    let closed: Vec<Raw> = hidden::on_machine(root)
        .map(|path| Raw::from(&path))
        .collect();
    let stand = Stand::begin_ahead(released, ahead, &closed)?;
    let traits = Traits::usual(sys::landlock_abi());
    let filter = seccomp::compile(traits)?;
    Ok((stand, traits, filter))
}

/// Runs what it can bear; gives back to the helper what it can't.
fn serve(
    (request, handles): Asked,
    (stand, traits, filter): (Stand, Traits, Filter),
    helper: &UnixStream,
) -> io::Result<()> {
    let fits = matches!(&request, Request::Launch(spec) if stand.bears(spec));
    if !fits {
        let handles: Vec<_> = handles.iter().map(AsFd::as_fd).collect();
        return channel::send_request(helper, &request, &handles);
    }
    // From here on the helper may take the next one.
    sys::abandon(helper);
    let (Request::Launch(spec), Some(handles)) = (request, Handles::new(handles)) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let filter = if Traits::of(&spec) == traits {
        Ok(filter)
    } else {
        seccomp::compile(Traits::of(&spec))
    };
    match filter {
        Ok(filter) => init::run(&spec, handles, Ok(stand), &filter),
        Err(failed) => channel::send_report(&handles.run, &Report::from(failed)),
    }
}
