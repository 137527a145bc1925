//! Covering what a command must not see.

use rustix::fs::{FileType, Mode, OFlags, fstat};
use rustix::io::Errno;

use super::super::wire::{At, Failed, Spec};
use super::make;
use super::run::Nothing;

/// Covers every hidden path that exists, where it really lies.
pub(super) fn all(spec: &Spec, nothing: &Nothing) -> Result<(), Failed> {
    for path in &spec.hidden {
        let path = path.path();
        let target = match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            // What this user can't reach, the command can't either.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => continue,
            other => other.at(format!("hiding `{}`", path.display()))?,
        };
        let stat = fstat(&target).at("looking at a hidden path")?;
        let cover = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => &nothing.folder,
            FileType::RegularFile
            | FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => &nothing.file,
        };
        let cover = make::bind(cover, false).at("a cover")?;
        make::attach(&cover, &target).at(format!("hiding `{}`", path.display()))?;
    }
    Ok(())
}
