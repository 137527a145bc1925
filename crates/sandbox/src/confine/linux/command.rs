//! The command's own process, from its fork to the start of its program.

use std::ffi::CString;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::process::Pid;

use super::seccomp::Filters;
use super::sys::{self, Side};
use super::wire::{At, Failed, Raw, Report, Spec};
use super::{landlock, seccomp};
use crate::limits;

/// Where programs are looked for when the environment names no place.
const SEARCH_DEFAULT: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// Starts the command; returns once its program runs, or with the error of the program.
pub(super) fn start(
    spec: &Spec,
    standard: [OwnedFd; 3],
    filters: &Filters,
) -> Result<Result<Pid, i32>, Failed> {
    let (failures, failure) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at("a pipe for the command")?;
    match sys::clone_into(0).at("the command's process (fork)")? {
        Side::Child => {
            let report = become_program(spec, &standard, filters);
            let bytes = postcard::to_stdvec(&report).unwrap_or_default();
            std::fs::File::from(failure).write_all(&bytes).ok();
            sys::leave(127)
        }
        Side::Parent(pid) => {
            drop((failure, standard));
            let mut bytes = Vec::new();
            std::fs::File::from(failures)
                .read_to_end(&mut bytes)
                .at("hearing from the command")?;
            if bytes.is_empty() {
                let pid = Pid::from_raw(pid).ok_or(rustix::io::Errno::SRCH);
                return pid.at("the command's process").map(Ok);
            }
            match postcard::from_bytes(&bytes) {
                Ok(Report::NoProgram { errno }) => Ok(Err(errno)),
                Ok(Report::Failed { step, errno }) => Err(Failed { step, errno }),
                Ok(Report::Started | Report::Placed { .. } | Report::Ended { .. }) | Err(_) => {
                    Err(Failed {
                        step: "the command's process".to_owned(),
                        errno: libc::EPROTO,
                    })
                }
            }
        }
    }
}

/// Puts the last walls up around this process and becomes the program. Returns what went wrong.
fn become_program(spec: &Spec, standard: &[OwnedFd; 3], filters: &Filters) -> Report {
    match enclose(spec, standard, filters) {
        Ok((argv, env)) => Report::NoProgram {
            errno: execute(spec, &argv, &env)
                .raw_os_error()
                .unwrap_or(libc::EIO),
        },
        Err(failed) => Report::from(failed),
    }
}

type Words = Vec<CString>;

fn enclose(
    spec: &Spec,
    [input, output, errors]: &[OwnedFd; 3],
    filters: &Filters,
) -> Result<(Words, Words), Failed> {
    sys::reset_signals();
    rustix::process::setsid().at("a session of its own")?;
    rustix::stdio::dup2_stdin(input).at("standard input")?;
    rustix::stdio::dup2_stdout(output).at("standard output")?;
    rustix::stdio::dup2_stderr(errors).at("standard error")?;
    sys::close_on_exec_from(3).at("closing inherited descriptors")?;
    let argv = words(&spec.argv)?;
    let env = words(&spec.env)?;
    limits::apply(&spec.limits).at("the limits of a process")?;
    landlock::restrict(spec)?;
    seccomp::apply(filters)?;
    Ok((argv, env))
}

fn words(raw: &[Raw]) -> Result<Words, Failed> {
    raw.iter()
        .map(|word| CString::new(word.bytes()).map_err(|_| io::ErrorKind::InvalidInput.into()))
        .collect::<io::Result<_>>()
        .at("arguments without zero bytes")
}

/// Looks the program up as a shell does, and becomes it.
fn execute(spec: &Spec, argv: &[CString], env: &[CString]) -> io::Error {
    let Some(name) = argv.first() else {
        return io::Error::from_raw_os_error(libc::ENOENT);
    };
    if name.as_bytes().contains(&b'/') {
        return sys::execute(name, argv, env);
    }
    let search = match spec.search.bytes() {
        [] => SEARCH_DEFAULT,
        given => given,
    };
    let mut worst = io::Error::from_raw_os_error(libc::ENOENT);
    for folder in search.split(|byte| *byte == b':') {
        // An empty or relative entry would run what lies in the workspace under a known name.
        if folder.first() != Some(&b'/') {
            continue;
        }
        let Ok(path) = CString::new([folder, b"/", name.as_bytes()].concat()) else {
            continue;
        };
        let error = sys::execute(&path, argv, env);
        match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR) => {}
            Some(libc::EACCES) => worst = error,
            Some(_) | None => return error,
        }
    }
    worst
}
