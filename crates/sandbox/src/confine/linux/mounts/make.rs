//! Mounts that are made detached and put in place by handle.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Result;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use super::super::wire::{At, Failed};

/// A handle on a folder. The way there is followed as it is: callers give paths that no command
/// could have written to, or use [`super::place`].
pub(super) fn folder(path: &Path) -> std::result::Result<OwnedFd, Failed> {
    rustix::fs::open(
        path,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .at(format!("the folder `{}`", path.display()))
}

/// A new file system of this kind, with options that are a name, or a name and a value.
pub(super) fn file_system(
    kind: &str,
    options: &[(&str, Option<&str>)],
    attributes: MountAttrFlags,
) -> Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        match value {
            Some(value) => fsconfig_set_string(&context, *name, *value)?,
            None => fsconfig_set_flag(&context, *name)?,
        }
    }
    finish(&context, attributes)
}

/// Creates what the context describes and returns its mount.
pub(super) fn finish(context: impl AsFd, attributes: MountAttrFlags) -> Result<OwnedFd> {
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// The same files seen a second time, detached; with `recursive` what is mounted below them too.
pub(super) fn bind(source: impl AsFd, recursive: bool) -> Result<OwnedFd> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    if recursive {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    open_tree(source, "", flags)
}

/// Puts a detached mount on a target.
pub(super) fn attach(made: impl AsFd, target: impl AsFd) -> Result<()> {
    move_mount(
        made,
        "",
        target,
        "",
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH,
    )
}

/// Neither set-user-id bits nor device files mean anything there.
pub(super) fn harmless() -> MountAttrFlags {
    MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV
}
