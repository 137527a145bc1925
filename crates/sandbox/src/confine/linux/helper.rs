//! The helper process: one thread, receives requests, makes first processes.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use super::ahead::Ahead;
use super::channel;
use super::init::{self, Handles, Stand};
use super::seccomp::{self, Filter, Traits};
use super::sys::{self, Side};
use super::wire::{At, Failed, Net, Report, Request, Spec};
use super::{ids, keeper};
use crate::limits::Left;

/// What the helper is called in its own argument list; no person types it by accident.
pub(super) const HELPER_NAME: &str = "tagout-sandbox-helper";

/// Its only argument. A program that does not know about helpers, such as a test runner, stops at
/// it instead of starting over.
pub(super) const HELPER_ARGUMENT: &str = "--tagout-sandbox-helper";

/// The same for the keeper of a session.
pub(super) const KEEPER_ARGUMENT: &str = "--tagout-sandbox-keeper";

/// Must be the first thing in `main`: when this process was started as the helper, runs it and
/// never returns.
pub fn serve_if_helper() {
    let mut words = std::env::args_os();
    if words.next().is_none_or(|name| name != HELPER_NAME) {
        return;
    }
    let served = match words.next() {
        Some(word) if word == HELPER_ARGUMENT => serve(None),
        Some(word) if word == KEEPER_ARGUMENT => keeper::serve(),
        Some(_) | None => return,
    };
    sys::leave(i32::from(served.is_err()));
}

/// Becomes the helper of the process that this one was copied from, and never returns. A command is
/// about to come: a first process is made for it ahead, with these paths hidden.
pub(super) fn serve_copied(control: &UnixStream, ahead: &Ahead<'_>) -> ! {
    sys::forget_environment();
    let served = stand_alone(control).and_then(|()| serve(Some(ahead)));
    sys::leave(i32::from(served.is_err()))
}

/// Puts the control socket where a helper that is started has it, and lets go of the caller's
/// standard streams.
fn stand_alone(control: &UnixStream) -> io::Result<()> {
    let nothing = OpenOptions::new().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(control)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}

fn serve(ahead: Option<&Ahead<'_>>) -> io::Result<()> {
    let control = begin_process()?;
    sys::forget_children();
    let mut back = ahead.and_then(|ahead| ahead.offer(&control));
    let mut left = Left::default();
    loop {
        let next = back
            .take()
            .map_or_else(|| channel::next_request(&control), |one| Ok(Some(one)));
        let Some((request, handles)) = next? else {
            left.remove();
            return Ok(());
        };
        if let Some(ahead) = ahead {
            // Else its other commands would keep to fewer processors than they may use. Who asks
            // has restricted this process before.
            ahead.beside.take_back()?;
        }
        match (request, Handles::new(handles)) {
            (Request::Groups(paths), _) => {
                left.add(paths.iter().map(|path| path.path().to_owned()));
            }
            (Request::Launch(spec), Some(handles)) => {
                launch(&spec, handles, &[control.as_fd()]);
            }
            (Request::Launch(_) | Request::Alive | Request::Stop(_) | Request::End, _) => {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }
}

/// Lets go of everything that was inherited, the control socket aside.
pub(super) fn begin_process() -> io::Result<UnixStream> {
    sys::close_from(3)?;
    // The terminal's signals are for the caller; when it goes, the socket closes and so does this.
    rustix::process::setsid().ok();
    rustix::process::chdir("/")?;
    take_standard_input()
}

/// The control socket comes as standard input; it is moved away so that nothing inherits it there.
fn take_standard_input() -> io::Result<UnixStream> {
    let control = rustix::io::fcntl_dupfd_cloexec(io::stdin().as_fd(), 3)?;
    let nothing = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    Ok(UnixStream::from(control))
}

/// Makes the first process of one sandbox, gives it its ids, and lets it go; returns its number.
/// What fails before that is reported in its stead. `own` are sockets that only this process may
/// hold: their end tells others that it died.
pub(super) fn launch(spec: &Spec, handles: Handles, own: &[BorrowedFd<'_>]) -> Option<i32> {
    let made = match begin(spec) {
        Ok(Begun::Here { released, filter }) => {
            own.iter().for_each(sys::abandon);
            init::run(spec, handles, Stand::begin(&released), &filter)
        }
        Ok(Begun::There { pid, release }) => {
            if spec.outlives {
                // A caller that is gone needs no report.
                channel::send_report(&handles.run, &Report::Placed { pid }).ok();
            }
            settle(spec, pid, &release).map(|()| pid)
        }
        Err(failed) => Err(failed),
    };
    match made {
        Ok(pid) => Some(pid),
        Err(failed) => {
            channel::send_report(&handles.run, &Report::from(failed)).ok();
            None
        }
    }
}

/// Which process goes on after the cloning.
enum Begun {
    /// The first process of the sandbox.
    Here { released: OwnedFd, filter: Filter },
    /// The helper.
    There { pid: i32, release: OwnedFd },
}

fn begin(spec: &Spec) -> Result<Begun, Failed> {
    let (released, release) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .at("a pipe for the first process")?;
    let filter = seccomp::compile(Traits::of(spec))?;
    let own = if spec.namespaces {
        namespaces(spec.net)
    } else {
        0
    };
    match sys::clone_into(own).at("new name spaces (clone)")? {
        Side::Child => Ok(Begun::Here { released, filter }),
        Side::Parent(pid) => Ok(Begun::There { pid, release }),
    }
}

/// Maps the ids and gives the word. Without it the first process ends as soon as the pipe closes.
fn settle(spec: &Spec, pid: i32, release: &OwnedFd) -> Result<(), Failed> {
    if spec.namespaces {
        ids::map(pid).at("the user name space's id maps")?;
    }
    rustix::io::write(release, b"g").at("a word to the first process")?;
    Ok(())
}

/// The name spaces of a command in this network.
pub(super) fn namespaces(net: Net) -> i32 {
    let own = match net {
        Net::Own => libc::CLONE_NEWNET,
        Net::Helpers => 0,
    };
    libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP
        | own
}
