//! Overlays: layers by handle, so that no character of a path means anything.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::mount::{
    FsOpenFlags, MountAttrFlags, fsconfig_set_fd, fsconfig_set_flag, fsconfig_set_string, fsopen,
};

use super::super::wire::{At, Failed, Overlay};
use super::make;

/// The made overlays, in the order of the spec, and the folders they write to.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) mounts: Vec<OwnedFd>,
    pub(super) uppers: Vec<OwnedFd>,
}

/// Makes all overlays, detached.
pub(super) fn make_all(overlays: &[Overlay]) -> std::result::Result<Made, Failed> {
    let mut made = Made {
        mounts: Vec::new(),
        uppers: Vec::new(),
    };
    for overlay in overlays {
        let layers = Layers::open(overlay)?;
        let place = overlay.path.path().display().to_string();
        made.mounts
            .push(layers.mount().at(format!("the overlay on `{place}`"))?);
        let Some((upper, _)) = &layers.written else {
            continue;
        };
        let upper = rustix::fs::openat(
            upper,
            ".",
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        );
        made.uppers.push(upper.at("watching the upper layer")?);
    }
    Ok(made)
}

/// Handles on the folders of one overlay.
struct Layers {
    /// Newest first, the real folder last.
    lower: Vec<OwnedFd>,
    /// The upper and the work folder, where something can be written.
    written: Option<(OwnedFd, OwnedFd)>,
}

impl Layers {
    fn open(overlay: &Overlay) -> std::result::Result<Self, Failed> {
        let mut lower = Vec::new();
        for layer in overlay.lower.iter().chain(std::iter::once(&overlay.path)) {
            lower.push(make::folder(layer.path())?);
        }
        let written = if overlay.read_only {
            None
        } else {
            let upper = make::folder(overlay.upper.path())?;
            Some((upper, make::folder(overlay.work.path())?))
        };
        Ok(Self { lower, written })
    }

    /// Mounts by handle, or on kernels that take no handles by names that stand for them.
    fn mount(&self) -> Result<OwnedFd> {
        match self.by_handle() {
            Err(Errno::INVAL | Errno::OPNOTSUPP) => self.by_name(),
            other => other,
        }
    }

    fn by_handle(&self) -> Result<OwnedFd> {
        let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        for layer in &self.lower {
            fsconfig_set_fd(&context, "lowerdir+", layer)?;
        }
        if let Some((upper, work)) = &self.written {
            fsconfig_set_fd(&context, "upperdir", upper)?;
            fsconfig_set_fd(&context, "workdir", work)?;
        }
        self.finish(&context)
    }

    /// `/proc/self/fd/N` leads to the handle's folder whatever its path looks like, so nothing
    /// has to be escaped.
    fn by_name(&self) -> Result<OwnedFd> {
        let name = |handle: &OwnedFd| format!("/proc/self/fd/{}", handle.as_raw_fd());
        let lower: Vec<String> = self.lower.iter().map(name).collect();
        let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(&context, "lowerdir", lower.join(":"))?;
        if let Some((upper, work)) = &self.written {
            fsconfig_set_string(&context, "upperdir", name(upper))?;
            fsconfig_set_string(&context, "workdir", name(work))?;
        }
        self.finish(&context)
    }

    /// `userxattr` is what a user name space may use; `volatile` because the change set is made
    /// durable when it is applied, not when the overlay goes.
    fn finish(&self, context: &OwnedFd) -> Result<OwnedFd> {
        fsconfig_set_flag(context, "userxattr")?;
        if self.written.is_some() {
            fsconfig_set_flag(context, "volatile")?;
            return make::finish(context, make::harmless());
        }
        make::finish(
            context,
            make::harmless() | MountAttrFlags::MOUNT_ATTR_RDONLY,
        )
    }
}
