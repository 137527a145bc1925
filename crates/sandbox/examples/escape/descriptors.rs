//! Using what the launching process had open.

use std::fs::{self, File};
use std::io::Write as _;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd as _;

use crate::outcome::{Attempt, Outcome, at, only_if};
use crate::setting::Setting;
use crate::sys::{self, address, call, path};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("inherited-file", inherited_file),
    ("inherited-folder", inherited_folder),
    ("inherited-folder-chdir", inherited_folder_chdir),
    ("inherited-any", inherited_any),
    ("standard-reopened", standard_reopened),
    ("terminal-input", terminal_input),
    ("terminal-opened", terminal_opened),
    ("terminal-taken", terminal_taken),
    ("terminal-selection", terminal_selection),
    ("descriptors-from-socket", descriptors_from_socket),
];

fn inherited_file(setting: &Setting) -> Outcome {
    let [file, _] = setting.inherited;
    // SAFETY: the number may be of anything or nothing; it is only written to, and never closed.
    let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(file) });
    file.write_all(b"x")?;
    Ok(())
}

fn inherited_folder(setting: &Setting) -> Outcome {
    let [_, folder] = setting.inherited;
    let name = path("fresh-by-folder");
    let flags = i64::from(libc::O_WRONLY | libc::O_CREAT);
    let arguments = [i64::from(folder), address(name.as_bytes()), flags, 0o600];
    let fd = call(libc::SYS_openat, &arguments)?;
    drop(sys::owned(fd)?);
    Ok(())
}

fn inherited_folder_chdir(setting: &Setting) -> Outcome {
    let [_, folder] = setting.inherited;
    // SAFETY: takes a plain number.
    sys::checked(unsafe { libc::fchdir(folder) })?;
    Ok(fs::write("fresh-by-chdir", b"x")?)
}

/// Anything open besides the three that everyone has and what this program opened itself.
fn inherited_any(_: &Setting) -> Outcome {
    let own = fs::read_dir("/proc/self/fd")?;
    let mut found = false;
    for entry in own.flatten() {
        let number = entry.file_name().to_string_lossy().parse::<i32>();
        let target = fs::read_link(entry.path()).unwrap_or_default();
        let target = target.to_string_lossy();
        // The pipe to this attempt's parent, and the listing itself.
        let ours = target.starts_with("pipe:") || target.starts_with("/proc/");
        found |= number.is_ok_and(|number| number > 2) && !ours;
    }
    only_if(found, "none is open")
}

/// What stands behind standard output, opened again with more rights.
fn standard_reopened(_: &Setting) -> Outcome {
    let target = fs::read_link("/proc/self/fd/1")?;
    let harmless = ["pipe:", "/dev/null", "socket:"];
    let target = target.to_string_lossy();
    if harmless.iter().any(|kind| target.starts_with(kind)) {
        return only_if(false, "it is a pipe");
    }
    sys::open("/proc/self/fd/1", libc::O_RDWR)?;
    Ok(())
}

/// Types into the terminal, so that the shell of whoever sits there runs it.
fn terminal_input(_: &Setting) -> Outcome {
    let terminal = sys::open("/dev/tty", libc::O_RDWR);
    let byte = b'\0';
    let mut outcomes = vec![];
    for fd in [0, 1, 2] {
        // SAFETY: the request takes a pointer to one byte.
        let answer = unsafe { libc::ioctl(fd, libc::TIOCSTI, &raw const byte) };
        outcomes.push(sys::checked(answer).map(drop).map_err(at("ioctl")));
    }
    if let Ok(terminal) = terminal {
        let fd = std::os::fd::AsRawFd::as_raw_fd(&terminal);
        // SAFETY: as above.
        let answer = unsafe { libc::ioctl(fd, libc::TIOCSTI, &raw const byte) };
        outcomes.push(sys::checked(answer).map(drop).map_err(at("ioctl")));
    }
    crate::outcome::any(outcomes)
}

fn terminal_opened(_: &Setting) -> Outcome {
    drop(sys::open("/dev/tty", libc::O_RDWR)?);
    Ok(())
}

/// Makes some terminal the own one.
fn terminal_taken(_: &Setting) -> Outcome {
    let mut outcomes = vec![];
    for name in ["/dev/tty1", "/dev/pts/0", "/dev/console"] {
        outcomes.push(match sys::open(name, libc::O_RDWR) {
            Ok(fd) => {
                let fd = std::os::fd::AsRawFd::as_raw_fd(&fd);
                // SAFETY: takes plain numbers.
                let answer = unsafe { libc::ioctl(fd, libc::TIOCSCTTY, 1) };
                sys::checked(answer).map(drop).map_err(at("ioctl"))
            }
            Err(error) => Err(at("open")(error)),
        });
    }
    crate::outcome::any(outcomes)
}

/// `TIOCLINUX`: pastes into a console.
fn terminal_selection(_: &Setting) -> Outcome {
    let command = 3_u8;
    // SAFETY: the request takes a pointer to at least one byte, which says what it wants.
    sys::checked(unsafe { libc::ioctl(0, libc::TIOCLINUX, &raw const command) })?;
    Ok(())
}

/// Someone outside hands over an open file through a socket with a path.
fn descriptors_from_socket(setting: &Setting) -> Outcome {
    use std::io::Read as _;
    let mut stream = std::os::unix::net::UnixStream::connect(&setting.socket)?;
    let mut greeting = [0; 1];
    stream.read_exact(&mut greeting)?;
    Ok(())
}
