//! The helper process: one thread, receives requests, makes first processes.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use super::channel;
use super::ids;
use super::init::{self, Handles};
use super::seccomp::{self, Filters};
use super::sys::{self, Side};
use super::wire::{At, Failed, Net, Report, Spec};

/// What the helper is called in its own argument list; no person types it by accident.
pub(super) const HELPER_NAME: &str = "tagout-sandbox-helper";

/// Its only argument. A program that does not know about helpers, such as a test runner, stops at
/// it instead of starting over.
pub(super) const HELPER_ARGUMENT: &str = "--tagout-sandbox-helper";

/// Must be the first thing in `main`: when this process was started as the helper, runs it and
/// never returns.
pub fn serve_if_helper() {
    let mut words = std::env::args_os();
    if words.next().is_none_or(|name| name != HELPER_NAME) {
        return;
    }
    if words.next().is_none_or(|word| word != HELPER_ARGUMENT) {
        return;
    }
    let code = match serve() {
        Ok(()) => 0,
        Err(_) => 1,
    };
    sys::leave(code);
}

fn serve() -> io::Result<()> {
    sys::close_from(3)?;
    // The terminal's signals are for the caller; when it goes, the socket closes and so does this.
    rustix::process::setsid().ok();
    sys::forget_children();
    let control = take_standard_input()?;
    while let Some((bytes, handles)) = channel::next_request(&control)? {
        let [run, input, output, errors] = handles;
        let handles = Handles {
            run,
            input,
            output,
            errors,
        };
        let spec: Spec = postcard::from_bytes(&bytes).map_err(io::Error::other)?;
        launch(&spec, handles, &control);
    }
    Ok(())
}

/// The control socket comes as standard input; it is moved away so that nothing inherits it there.
fn take_standard_input() -> io::Result<UnixStream> {
    let control = rustix::io::fcntl_dupfd_cloexec(io::stdin().as_fd(), 3)?;
    let nothing = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    Ok(UnixStream::from(control))
}

/// Makes the first process of one sandbox, gives it its ids, and lets it go. What fails
/// before that is reported in its stead.
pub(super) fn launch(spec: &Spec, handles: Handles, control: &UnixStream) {
    let made = match begin(spec) {
        Ok(Begun::Here { released, filters }) => {
            // Only the helper may hold this socket: its end tells the caller that the helper died.
            sys::abandon(control);
            init::run(spec, handles, &released, &filters)
        }
        Ok(Begun::There(made)) => made,
        Err(failed) => Err(failed),
    };
    if let Err(failed) = made {
        // A caller that is gone needs no report.
        channel::send_report(&handles.run, &Report::from(failed)).ok();
    }
}

/// Which process goes on after the cloning.
enum Begun {
    /// The first process of the sandbox.
    Here { released: OwnedFd, filters: Filters },
    /// The helper, with what came of it.
    There(Result<(), Failed>),
}

fn begin(spec: &Spec) -> Result<Begun, Failed> {
    let (released, release) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .at("a pipe for the first process")?;
    let filters = seccomp::compile(spec)?;
    match sys::clone_into(namespaces(spec)).at("new name spaces (clone)")? {
        Side::Child => Ok(Begun::Here { released, filters }),
        Side::Parent(pid) => {
            let mapped = if spec.namespaces {
                ids::map(pid).at("the user name space's id maps")
            } else {
                Ok(())
            };
            let prepared = mapped
                .and_then(|()| rustix::io::write(&release, b"g").at("a word to the first process"));
            // Without the word the first process ends as soon as the pipe closes.
            Ok(Begun::There(prepared.map(|_| ())))
        }
    }
}

fn namespaces(spec: &Spec) -> i32 {
    if !spec.namespaces {
        return 0;
    }
    let own = match spec.net {
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
