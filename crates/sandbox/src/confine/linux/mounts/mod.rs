//! What the command sees of the file system.
//!
//! Everything that will be writable is made first, detached from the tree, while its layers are
//! still writable mounts. Then the whole tree becomes read-only, then the made parts are put in
//! their places. Targets are handles, never paths that a command could have bent.

mod device;
mod hide;
mod make;
mod overlay;
mod place;
mod run;

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::mount::{MountAttrFlags, MountPropagationFlags, mount_change};

use super::sys::{self, MountAttributes, NO_SUID, READ_ONLY};
use super::wire::{At, Failed, Spec};

/// Where the session's scratch is seen.
const TMP: &str = "/tmp";

/// Builds the view; returns handles of the folders that take what the command writes.
pub(super) fn build(spec: &Spec) -> Result<Vec<OwnedFd>, Failed> {
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )
    .at("private mounts")?;
    let resolver = if spec.resolves { run::resolver() } else { None };
    let made = overlay::make_all(&spec.overlays)?;
    let tmp = make::bind(&make::folder(spec.tmp.path())?, false).at("the session's /tmp")?;
    let writable = place::writable(spec)?;
    let devices = device::copies()?;

    let root = make::folder(Path::new("/"))?;
    sys::mount_setattr(
        &root,
        MountAttributes {
            set: READ_ONLY | NO_SUID,
            ..MountAttributes::default()
        },
        true,
    )
    .at("making the whole tree read-only")?;

    let nothing = run::put(resolver)?;
    device::put(devices)?;
    make::attach(&tmp, &make::folder(Path::new(TMP))?).at("placing /tmp")?;
    place::put(spec, made.mounts, writable)?;
    proc()?;
    hide::all(spec, &nothing)?;
    place::keep_read_only(spec)?;
    rustix::process::chdir(spec.cwd.path()).at(format!(
        "the working folder `{}`",
        spec.cwd.path().display()
    ))?;
    Ok(made.uppers)
}

/// A view of the processes that shows this name space only. It is read-only: what can be set there
/// belongs to the machine.
fn proc() -> Result<(), Failed> {
    let attributes = make::harmless() | MountAttrFlags::MOUNT_ATTR_RDONLY;
    let made = make::file_system("proc", &[], attributes).at("a new /proc")?;
    make::attach(&made, &make::folder(Path::new("/proc"))?).at("placing /proc")
}
