//! The calling process's side of a session: finding, starting, asking and ending its keeper.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use tagout_vocab::limits::SESSION_ANSWER_MS_MAX;

use super::caller::start_helper;
use super::channel;
use super::helper::KEEPER_ARGUMENT;
use super::wire::{Report, Request};
use crate::error::SandboxError;

/// The keeper's socket in the session's folder.
const SOCKET: &str = "keeper";

/// Held while a keeper is being started, so that there is one.
const LOCK: &str = "keeper.lock";

/// A session's folder, by handle: a socket's address has room for about a hundred bytes only.
struct Place {
    folder: File,
}

impl Place {
    fn open(dir: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: File::open(dir)?,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.folder.as_raw_fd()))
    }

    /// A connection to the keeper, if there is one.
    fn connect(&self) -> Option<UnixStream> {
        let connection = UnixStream::connect(self.path(SOCKET)).ok()?;
        let patience = Some(Duration::from_millis(SESSION_ANSWER_MS_MAX));
        connection.set_read_timeout(patience).ok()?;
        connection.set_write_timeout(patience).ok()?;
        Some(connection)
    }

    /// A connection to the keeper, which is started if there is none.
    fn connect_or_start(&self) -> io::Result<UnixStream> {
        if let Some(connection) = self.connect() {
            return Ok(connection);
        }
        let lock = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path(LOCK))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        if let Some(connection) = self.connect() {
            return Ok(connection);
        }
        self.start()?;
        self.connect()
            .ok_or_else(|| io::ErrorKind::ConnectionRefused.into())
    }

    fn start(&self) -> io::Result<()> {
        let socket = self.path(SOCKET);
        match std::fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(&socket)?;
        let (starter, mut process) = start_helper(KEEPER_ARGUMENT)?;
        starter.set_read_timeout(Some(Duration::from_millis(SESSION_ANSWER_MS_MAX)))?;
        channel::send_request(&starter, &Request::End, &[listener.as_fd()])?;
        let ready = channel::receive_report::<Report>(&starter);
        // What was started is only the keeper's parent, which ends at once.
        process.wait()?;
        match ready? {
            Some(Report::Started) => Ok(()),
            Some(_) | None => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }
}

fn failed(step: &'static str) -> impl Fn(io::Error) -> SandboxError {
    move |source| SandboxError::Helper { step, source }
}

/// Sends a request to the keeper of this session, which is started if there is none.
pub(super) fn send(
    dir: &Path,
    request: &Request,
    handles: &[BorrowedFd<'_>],
) -> Result<(), SandboxError> {
    let connection = Place::open(dir)
        .and_then(|place| place.connect_or_start())
        .map_err(failed("starting the session's keeper"))?;
    channel::send_request(&connection, request, handles)
        .map_err(failed("sending the session's keeper a request"))
}

/// The numbers of the long-running commands that still run.
pub(crate) fn alive(dir: &Path) -> Result<Vec<i32>, SandboxError> {
    let Some(connection) = existing(dir)? else {
        return Ok(Vec::new());
    };
    let asked = channel::send_request(&connection, &Request::Alive, &[])
        .and_then(|()| channel::receive_report(&connection));
    Ok(asked
        .map_err(failed("asking the session's keeper"))?
        .unwrap_or_default())
}

/// Ends one long-running command; says whether it ran.
pub(crate) fn stop_one(dir: &Path, number: i32) -> Result<bool, SandboxError> {
    let Some(connection) = existing(dir)? else {
        return Ok(false);
    };
    let asked = channel::send_request(&connection, &Request::Stop(number), &[])
        .and_then(|()| channel::receive_report(&connection));
    Ok(asked
        .map_err(failed("asking the session's keeper"))?
        .unwrap_or_default())
}

/// Ends everything that runs in the session.
pub(crate) fn stop(dir: &Path) -> Result<(), SandboxError> {
    let Some(connection) = existing(dir)? else {
        return Ok(());
    };
    let answered = channel::send_request(&connection, &Request::End, &[])
        .and_then(|()| channel::receive_report::<Report>(&connection));
    if answered.is_err() {
        // A keeper that does not answer is ended; everything that it cloned goes with it.
        if let Ok(peer) = rustix::net::sockopt::socket_peercred(&connection) {
            rustix::process::kill_process(peer.pid, rustix::process::Signal::KILL).ok();
        }
    }
    if let Ok(place) = Place::open(dir) {
        std::fs::remove_file(place.path(SOCKET)).ok();
    }
    Ok(())
}

fn existing(dir: &Path) -> Result<Option<UnixStream>, SandboxError> {
    match Place::open(dir) {
        Ok(place) => Ok(place.connect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("opening the session's folder")(error)),
    }
}
