//! Putting overlays and writable paths where the command expects them.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, unlinkat,
};
use rustix::io::Errno;

use super::super::sys::{self, MountAttributes, NO_DEV, NO_SUID, READ_ONLY};
use super::super::wire::{At, Failed, Spec};
use super::{TMP, make};

/// Whether the session's `/tmp` would cover a workspace that no overlay brings back.
fn is_covered(spec: &Spec) -> bool {
    let workspace = spec.workspace.path();
    let brought = spec.overlays.iter().any(|one| one.path.path() == workspace);
    !brought && workspace.starts_with(TMP)
}

/// Whether nothing is put in place but the session's `/tmp`.
pub(super) fn is_tmp_alone(spec: &Spec) -> bool {
    spec.overlays.is_empty() && spec.writable.is_empty() && !is_covered(spec)
}

/// The paths that stay writable in place, as detached mounts, in the order of the spec; before them
/// the workspace, if it would be covered.
pub(super) fn writable(spec: &Spec) -> Result<Vec<(OwnedFd, bool)>, Failed> {
    let mut mounts = Vec::new();
    if is_covered(spec) {
        mounts.push(again(spec.workspace.path())?);
    }
    for (path, from) in &spec.writable {
        mounts.push(if path == from {
            again(path.path())?
        } else {
            copy(from.path())?
        });
    }
    Ok(mounts)
}

/// A copy in a layer, which no command could have written to; the way there is the state's own.
fn copy(path: &Path) -> Result<(OwnedFd, bool), Failed> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let source = rustix::fs::open(path, flags, Mode::empty()).at("a copy in a layer")?;
    let folder = is_folder(&source)?;
    let mount = make::bind(&source, folder).at("binding a copy in a layer")?;
    Ok((mount, folder))
}

fn again(path: &Path) -> Result<(OwnedFd, bool), Failed> {
    let source = handle(path).at(format!("the path `{}`", path.display()))?;
    let folder = is_folder(&source)?;
    let mount = make::bind(&source, folder).at(format!("binding `{}`", path.display()))?;
    Ok((mount, folder))
}

fn is_folder(handle: &OwnedFd) -> Result<bool, Failed> {
    let stat = fstat(handle).at("looking at a path")?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// A handle on a path that must be reached without links: a link on the way could have been bent.
fn handle(path: &Path) -> rustix::io::Result<OwnedFd> {
    openat2(
        rustix::fs::CWD,
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS,
    )
}

/// Puts everything in place: the workspace, the caches, then what is writable.
pub(super) fn put(
    spec: &Spec,
    overlays: Vec<OwnedFd>,
    writable: Vec<(OwnedFd, bool)>,
) -> Result<(), Failed> {
    let mut writable = writable.into_iter();
    // Before the overlays, of which some may lie inside it.
    if is_covered(spec)
        && let Some((made, folder)) = writable.next()
    {
        let set = READ_ONLY | NO_SUID;
        let attributes = MountAttributes {
            set,
            ..MountAttributes::default()
        };
        sys::mount_setattr(&made, attributes, true).at("a read-only workspace")?;
        attach(spec, &made, (spec.workspace.path(), folder))?;
    }
    for (overlay, made) in spec.overlays.iter().zip(overlays) {
        attach(spec, &made, (overlay.path.path(), true))?;
    }
    for ((path, _), (made, folder)) in spec.writable.iter().zip(writable) {
        restrict(&made, NO_SUID | NO_DEV).at("a safe writable path")?;
        attach(spec, &made, (path.path(), folder))?;
    }
    Ok(())
}

fn restrict(mount: &OwnedFd, set: u64) -> std::io::Result<()> {
    let attributes = MountAttributes {
        set,
        ..MountAttributes::default()
    };
    sys::mount_setattr(mount, attributes, false)
}

fn attach(spec: &Spec, made: &OwnedFd, (path, folder): (&Path, bool)) -> Result<(), Failed> {
    // The workspace is in its place before anything inside it, and nothing in it is made here.
    let inside = path != spec.workspace.path() && path.starts_with(spec.workspace.path());
    let target = match path.strip_prefix(TMP) {
        Ok(below) if !below.as_os_str().is_empty() && !inside => way(below, folder)?,
        Ok(_) | Err(_) => handle(path).at(format!("the place `{}`", path.display()))?,
    };
    make::attach(made, &target).at(format!("placing `{}`", path.display()))
}

/// A target below the session's `/tmp`, made step by step. Earlier commands could write there, so
/// nothing is followed: what is not a folder gives way to one.
fn way(below: &Path, folder: bool) -> Result<OwnedFd, Failed> {
    let mut at = make::folder(Path::new(TMP))?;
    let mut parts = below.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Err(Errno::INVAL).at("a plain path below /tmp");
        };
        let last = parts.peek().is_none();
        at = step(&at, Path::new(name), folder || !last)
            .at(format!("a place below /tmp for `{}`", below.display()))?;
    }
    Ok(at)
}

fn step(at: &OwnedFd, name: &Path, folder: bool) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if !folder {
        match unlinkat(at, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
        let made = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        drop(openat(at, name, made, Mode::from_raw_mode(0o600))?);
        return openat(at, name, flags, Mode::empty());
    }
    match openat(at, name, flags | OFlags::DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) => {}
        Err(Errno::NOTDIR | Errno::LOOP) => unlinkat(at, name, AtFlags::empty())?,
        other => return other,
    }
    mkdirat(at, name, Mode::from_raw_mode(0o755))?;
    openat(at, name, flags | OFlags::DIRECTORY, Mode::empty())
}

/// Covers paths inside the writable area with themselves, read-only.
pub(super) fn keep_read_only(spec: &Spec) -> Result<(), Failed> {
    for path in &spec.read_only_inside {
        let path = path.path();
        let target = match handle(path) {
            // What is not there can't be changed in place; its creation is judged afterwards.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => continue,
            other => other.at(format!("keeping `{}` read-only", path.display()))?,
        };
        let made = make::bind(target.as_fd(), is_folder(&target)?).at("a read-only copy")?;
        let attributes = MountAttributes {
            set: READ_ONLY | NO_SUID | NO_DEV,
            ..MountAttributes::default()
        };
        sys::mount_setattr(&made, attributes, true).at("a read-only copy")?;
        make::attach(&made, &target).at(format!("keeping `{}` read-only", path.display()))?;
    }
    Ok(())
}
