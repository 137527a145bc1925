//! A `/run` of its own: without the machine's sockets, with the mark of a governed process.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, mkdirat, openat};

use super::super::sys::{self, MountAttributes, READ_ONLY};
use super::super::wire::{At, Failed};
use super::make;

/// What stands in for something hidden.
#[derive(Debug)]
pub(super) struct Nothing {
    pub(super) folder: OwnedFd,
    pub(super) file: OwnedFd,
    /// A file that nobody may open.
    pub(super) closed: OwnedFd,
}

/// A file below `/run` that resolving names needs, with its content.
pub(super) type Resolver = (PathBuf, Vec<u8>);

/// The resolver's settings, where they lie below `/run` and would be covered.
#[expect(
    clippy::disallowed_methods,
    reason = "where the machine's own settings really lie is what is asked for"
)]
pub(super) fn resolver() -> Option<Resolver> {
    let real = fs::canonicalize("/etc/resolv.conf").ok()?;
    let below = real.strip_prefix("/run").ok()?.to_path_buf();
    Some((below, fs::read(real).ok()?))
}

/// Puts the new `/run` in place.
pub(super) fn put(resolver: Option<Resolver>) -> Result<Nothing, Failed> {
    let options = [("mode", Some("0755")), ("size", Some("256k"))];
    let run = make::file_system("tmpfs", &options, make::harmless()).at("a new /run")?;
    let own = folder_in(&run, "tagout").at("a folder in /run")?;
    file_in(&own, "governed", b"", 0o444).at("the governed mark")?;
    file_in(&own, "nothing", b"", 0o444).at("an empty file")?;
    file_in(&own, "closed", b"", 0).at("a closed file")?;
    folder_in(&own, "void").at("an empty folder")?;
    if let Some((below, content)) = resolver {
        settings(&run, &below, &content).at("the resolver's settings")?;
    }
    make::attach(&run, &make::folder(Path::new("/run"))?).at("placing /run")?;
    sys::mount_setattr(
        &run,
        MountAttributes {
            set: READ_ONLY,
            ..MountAttributes::default()
        },
        false,
    )
    .at("a read-only /run")?;
    let look = |name| openat(&own, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    Ok(Nothing {
        folder: look("void").at("an empty folder")?,
        file: look("nothing").at("an empty file")?,
        closed: look("closed").at("a closed file")?,
    })
}

fn settings(run: &OwnedFd, below: &Path, content: &[u8]) -> io::Result<()> {
    let mut folder = run.try_clone()?;
    let mut parts = below.components().peekable();
    while let Some(Component::Normal(part)) = parts.next() {
        let name = part.to_string_lossy();
        if parts.peek().is_none() {
            return Ok(file_in(&folder, &name, content, 0o444)?);
        }
        folder = folder_in(&folder, &name)?;
    }
    Ok(())
}

fn folder_in(parent: &OwnedFd, name: &str) -> rustix::io::Result<OwnedFd> {
    mkdirat(parent, name, Mode::from_raw_mode(0o755))?;
    openat(
        parent,
        name,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

fn file_in(parent: &OwnedFd, name: &str, content: &[u8], mode: u32) -> rustix::io::Result<()> {
    let file = openat(
        parent,
        name,
        OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::from_raw_mode(mode),
    )?;
    rustix::io::write(&file, content).map(|_| ())
}
