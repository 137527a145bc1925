//! The command's own process, from its fork to the start of its program.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use rustix::process::Pid;

use super::direct::Direct;
use super::landlock::{self, Rules};
use super::sys;
use super::wire::{At, Failed, Raw, Report, Spec};
use crate::limits;

/// Where programs are looked for when the environment names no place.
const SEARCH_DEFAULT: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// A command, put into the form in which the kernel takes it.
#[derive(Debug)]
pub(super) struct Spelled {
    argv: Words,
    env: Words,
    /// The program itself, where it needs no shell.
    direct: Option<Direct>,
}

impl Spelled {
    /// Looks programs up, so it is made where the command will see them.
    pub(super) fn of(spec: &Spec) -> Result<Self, Failed> {
        let env = words(&spec.env)?;
        Ok(Self {
            argv: words(&spec.argv)?,
            direct: Direct::of(spec, &env),
            env,
        })
    }
}

/// Starts the command; returns once its program runs, or with the error of the program.
pub(super) fn start(
    spec: &Spec,
    spelled: &Spelled,
    (standard, rules): (&[OwnedFd; 3], Rules),
) -> Result<Result<Pid, i32>, Failed> {
    let mut report = None;
    // The new process takes the rules out of the memory that both share.
    let mut rules = Some(rules);
    let pid = sys::start_beside(&mut || {
        report = Some(match enclose(spec, standard, rules.take()) {
            Ok(()) => Report::NoProgram {
                errno: execute(spec, spelled).raw_os_error().unwrap_or(libc::EIO),
            },
            Err(failed) => Report::from(failed),
        });
    })
    .at("the command's process (fork)")?;
    match report {
        None => {
            let pid = Pid::from_raw(pid).ok_or(rustix::io::Errno::SRCH);
            pid.at("the command's process").map(Ok)
        }
        Some(Report::NoProgram { errno }) => Ok(Err(errno)),
        Some(Report::Failed { step, errno }) => Err(Failed { step, errno }),
        Some(Report::Started | Report::Placed { .. } | Report::Ended { .. }) => Err(Failed {
            step: "the command's process".to_owned(),
            errno: libc::EPROTO,
        }),
    }
}

type Words = Vec<CString>;

/// Puts the last wall up around this process.
fn enclose(
    spec: &Spec,
    [input, output, errors]: &[OwnedFd; 3],
    rules: Option<Rules>,
) -> Result<(), Failed> {
    sys::reset_signals();
    rustix::process::setsid().at("a session of its own")?;
    rustix::stdio::dup2_stdin(input).at("standard input")?;
    rustix::stdio::dup2_stdout(output).at("standard output")?;
    rustix::stdio::dup2_stderr(errors).at("standard error")?;
    sys::close_on_exec_from(3).at("closing inherited descriptors")?;
    limits::apply(&spec.limits).at("the limits of a process")?;
    let rules = rules.ok_or(rustix::io::Errno::INVAL);
    landlock::restrict(rules.at("Landlock, whose rules were used already")?)
}

fn words(raw: &[Raw]) -> Result<Words, Failed> {
    raw.iter()
        .map(|word| CString::new(word.bytes()).map_err(|_| io::ErrorKind::InvalidInput.into()))
        .collect::<io::Result<_>>()
        .at("arguments without zero bytes")
}

/// Looks the program up as a shell does, and becomes it.
fn execute(spec: &Spec, Spelled { argv, env, direct }: &Spelled) -> io::Error {
    if let Some(direct) = direct {
        // What can't be run is told by bash, in its own words.
        drop(direct.execute());
    }
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
