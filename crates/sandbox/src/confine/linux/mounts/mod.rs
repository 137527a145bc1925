//! What the command sees of the file system.
//!
//! Everything that will be writable is made first, detached from the tree, while its layers are
//! still writable mounts. Then the whole tree becomes read-only, then the made parts are put in
//! their places. Targets are handles, never paths that a command could have bent. What does not
//! depend on the command can be built before it is known.

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
use super::wire::{At, Failed, Raw, Spec};

use self::run::Nothing;

/// Where the session's scratch is seen.
const TMP: &str = "/tmp";

/// What does not depend on the command: `/run`, `/dev`, `/proc`, and what nobody may see.
#[derive(Debug)]
pub(super) struct Ground {
    nothing: Nothing,
    devices: device::Rest,
    /// The paths that are covered already.
    covered: Vec<Raw>,
}

impl Ground {
    /// Lays it, before anything of the command is known: the machine's and the given paths are
    /// covered.
    pub(super) fn ahead(hidden: &[Raw], closed: &[Raw]) -> Result<Self, Failed> {
        private()?;
        let mut ground = Self::lay(None)?;
        hide::all((hidden, closed), &ground.nothing)?;
        ground.covered = [hidden, closed].concat();
        Ok(ground)
    }

    fn lay(resolver: Option<run::Resolver>) -> Result<Self, Failed> {
        let devices = device::copies()?;
        let nothing = run::put(resolver)?;
        let devices = device::put(devices)?;
        proc()?;
        Ok(Self {
            nothing,
            devices,
            covered: Vec::new(),
        })
    }

    /// Whether this command can be put on it: nothing that it uses lies under what is covered, and
    /// nothing is covered that it may see.
    pub(super) fn bears(&self, spec: &Spec) -> bool {
        let layers = spec.overlays.iter().flat_map(|overlay| {
            let own = [&overlay.path, &overlay.upper, &overlay.work];
            own.into_iter().chain(&overlay.lower)
        });
        let mut used = layers.chain([&spec.tmp, &spec.workspace]);
        let laid = ["/run", "/dev", "/proc"].map(Path::new);
        let gone = |path: &Path| {
            let mut covered = self.covered.iter().map(Raw::path).chain(laid);
            covered.any(|one| path.starts_with(one))
        };
        let mut covered = self.covered.iter();
        let wanted = |path: &Raw| spec.hidden.contains(path) || spec.closed.contains(path);
        spec.namespaces
            && !spec.resolves
            && spec.writable.is_empty()
            && !used.any(|path| gone(path.path()))
            && covered.all(wanted)
    }
}

/// What the command will be able to write to, detached from the tree.
#[derive(Debug)]
struct Parts {
    made: overlay::Made,
    tmp: OwnedFd,
    writable: Vec<(OwnedFd, bool)>,
}

impl Parts {
    fn make(spec: &Spec) -> Result<Self, Failed> {
        Ok(Self {
            made: overlay::make_all(&spec.overlays)?,
            tmp: make::bind(&make::folder(spec.tmp.path())?, false).at("the session's /tmp")?,
            writable: place::writable(spec)?,
        })
    }
}

/// Builds the view, on ground that may have been laid before; returns handles of the folders that
/// take what the command writes.
pub(super) fn build(spec: &Spec, ahead: Option<Ground>) -> Result<Vec<OwnedFd>, Failed> {
    let (parts, ground) = if let Some(ground) = ahead {
        (Parts::make(spec)?, ground)
    } else {
        private()?;
        let resolver = if spec.resolves { run::resolver() } else { None };
        (Parts::make(spec)?, Ground::lay(resolver)?)
    };
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

    ground.devices.put()?;
    make::attach(&parts.tmp, &make::folder(Path::new(TMP))?).at("placing /tmp")?;
    place::put(spec, parts.made.mounts, parts.writable)?;
    // What was put in place may have opened what a hidden path leads to.
    let open = |path: &&Raw| !place::is_tmp_alone(spec) || !ground.covered.contains(path);
    let hidden: Vec<Raw> = spec.hidden.iter().filter(open).cloned().collect();
    let closed: Vec<Raw> = spec.closed.iter().filter(open).cloned().collect();
    hide::all((&hidden, &closed), &ground.nothing)?;
    place::keep_read_only(spec)?;
    rustix::process::chdir(spec.cwd.path()).at(format!(
        "the working folder `{}`",
        spec.cwd.path().display()
    ))?;
    Ok(parts.made.uppers)
}

/// What is mounted here is nobody else's business.
fn private() -> Result<(), Failed> {
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )
    .at("private mounts")
}

/// A view of the processes that shows this name space only. It is read-only: what can be set there
/// belongs to the machine.
fn proc() -> Result<(), Failed> {
    let attributes = make::harmless() | MountAttrFlags::MOUNT_ATTR_RDONLY;
    let made = make::file_system("proc", &[], attributes).at("a new /proc")?;
    make::attach(&made, &make::folder(Path::new("/proc"))?).at("placing /proc")
}
