//! Covering what a command must not see.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat};
use rustix::io::Errno;

use super::super::wire::{At, Failed, Raw};
use super::make;
use super::run::Nothing;

/// Covers every hidden and every closed path that exists, where it really lies.
pub(super) fn all((hidden, closed): (&[Raw], &[Raw]), nothing: &Nothing) -> Result<(), Failed> {
    for path in hidden {
        cover(path.path(), &nothing.folder, &nothing.file)?;
    }
    for path in closed {
        cover(path.path(), &nothing.folder, &nothing.closed)?;
    }
    Ok(())
}

fn cover(path: &Path, folder: &OwnedFd, file: &OwnedFd) -> Result<(), Failed> {
    let target = match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        // What this user can't reach, the command can't either.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => return Ok(()),
        other => other.at(format!("hiding `{}`", path.display()))?,
    };
    let stat = fstat(&target).at("looking at a hidden path")?;
    let with = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => folder,
        FileType::RegularFile
        | FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => file,
    };
    let with = make::bind(with, false).at("a cover")?;
    make::attach(&with, &target).at(format!("hiding `{}`", path.display()))
}
