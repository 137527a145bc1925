//! The keeper of a session: a process that holds its network and its long-running commands.
//!
//! It lives in a user and a network name space of its own. Whatever it clones shares that network
//! and ends with it. It outlives the process that started it, and is found by a socket in the
//! session's folder.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use tagout_vocab::limits::{SESSION_ANSWER_MS_MAX, SESSION_IDLE_MS_MAX, SESSION_RUNS_MAX};

use super::helper::{begin_process, launch};
use super::init::Handles;
use super::sys::{self, Side};
use super::wire::{Failed, Report, Request};
use super::{channel, ids};

/// Becomes the keeper: standard input is the socket of whoever starts it, which sends the listening
/// socket and waits for the word that all is ready.
pub(super) fn serve() -> io::Result<()> {
    let starter = begin_process()?;
    let Some((Request::End, handles)) = channel::next_request(&starter)? else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let [listener] =
        <[_; 1]>::try_from(handles).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    let (released, release) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    match sys::clone_into(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)? {
        Side::Parent(pid) => {
            ids::map(pid)?;
            rustix::io::write(&release, b"g")?;
            Ok(())
        }
        Side::Child => {
            drop(release);
            let mut word = [0_u8; 1];
            if rustix::io::retry_on_intr(|| rustix::io::read(&released, &mut word))? != 1 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            sys::loopback_up()?;
            channel::send_report(&starter, &Report::Started)?;
            drop(starter);
            Keeper {
                listener: UnixListener::from(listener),
                runs: Vec::new(),
                notes: BTreeMap::new(),
            }
            .keep()
        }
    }
}

struct Keeper {
    listener: UnixListener,
    /// The first processes of what runs here.
    runs: Vec<i32>,
    /// Where it is noted how they ended.
    notes: BTreeMap<i32, PathBuf>,
}

impl Keeper {
    fn keep(mut self) -> io::Result<()> {
        let idle = Duration::from_millis(SESSION_IDLE_MS_MAX);
        let mut heard = Instant::now();
        while !(self.runs.is_empty() && heard.elapsed() >= idle) {
            let timeout = Timespec::try_from(idle).map_err(io::Error::other)?;
            let mut waits = [PollFd::new(&self.listener, PollFlags::IN)];
            let woken = poll(&mut waits, Some(&timeout)).unwrap_or(0);
            self.forget_ended();
            if woken == 0 {
                continue;
            }
            heard = Instant::now();
            let Ok((connection, _)) = self.listener.accept() else {
                continue;
            };
            // Whoever asks nonsense is not answered; the session goes on.
            if let Ok(true) = self.answer(&connection) {
                self.end();
                return Ok(());
            }
        }
        Ok(())
    }

    /// Answers one request; says whether everything is to end.
    fn answer(&mut self, connection: &UnixStream) -> io::Result<bool> {
        let own = rustix::process::geteuid();
        if socket_peercred(connection)?.uid != own {
            return Ok(false);
        }
        let patience = Some(Duration::from_millis(SESSION_ANSWER_MS_MAX));
        connection.set_read_timeout(patience)?;
        connection.set_write_timeout(patience)?;
        let Some((request, handles)) = channel::next_request(connection)? else {
            return Ok(false);
        };
        match request {
            Request::Launch(spec) => {
                let Some(handles) = Handles::new(handles) else {
                    return Ok(false);
                };
                if self.runs.len() >= SESSION_RUNS_MAX {
                    let full = Failed {
                        step: "one more command in this session".to_owned(),
                        errno: libc::EAGAIN,
                    };
                    channel::send_report(&handles.run, &Report::from(full))?;
                    return Ok(false);
                }
                let own = [self.listener.as_fd(), connection.as_fd()];
                if let Some(pid) = launch(&spec, handles, &own) {
                    self.runs.push(pid);
                    let note = spec.noted.as_ref().map(|note| note.path().to_owned());
                    self.notes.extend(note.map(|note| (pid, note)));
                }
                Ok(false)
            }
            Request::Alive => {
                channel::send_report(connection, &self.runs)?;
                Ok(false)
            }
            Request::Stop(pid) => {
                let ran = self.runs.contains(&pid);
                if ran {
                    kill(pid);
                    wait_for(pid);
                    self.runs.retain(|run| *run != pid);
                }
                channel::send_report(connection, &ran)?;
                Ok(false)
            }
            // Never sent here: the helper of its caller has them.
            Request::Groups(_) => Ok(false),
            Request::End => Ok(true),
        }
    }

    fn forget_ended(&mut self) {
        let notes = &mut self.notes;
        self.runs.retain(|run| {
            let Some(pid) = Pid::from_raw(*run) else {
                return false;
            };
            let ended = match waitpid(Some(pid), WaitOptions::NOHANG) {
                Ok(None) => return true,
                Ok(Some((_, status))) => status.exit_status(),
                Err(_) => None,
            };
            if let (Some(note), Some(code)) = (notes.remove(run), ended) {
                // Without the note it is only not known how it ended.
                take_note(&note, code).ok();
            }
            false
        });
    }

    fn end(&mut self) {
        self.runs.iter().copied().for_each(kill);
        self.runs.iter().copied().for_each(wait_for);
    }
}

fn take_note(note: &Path, code: i32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.create(true).append(true).mode(0o600).open(note)?;
    file.write_all(code.to_string().as_bytes())
}

fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // A process that is gone already is what is wanted.
        kill_process(pid, Signal::KILL).ok();
    }
}

/// Waits until a first process is gone, and with it everything that it started.
fn wait_for(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        rustix::io::retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty())).ok();
    }
}
