//! Landlock: what the command may open, held by the kernel for it and all that it starts.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::carve;
use super::wire::{At, Failed, Spec};

/// Device files that programs write to.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// The rules of a command, before anybody is held by them.
#[derive(Debug)]
pub(super) struct Rules(RulesetCreated);

/// Makes the rules of a command. What they grant has to be in its place already.
pub(super) fn rules(spec: &Spec) -> Result<Rules, Failed> {
    let made = ruleset(spec, abi(spec.landlock_abi)).map_err(|error| refused(&error))??;
    Ok(Rules(made))
}

/// Restricts this process for good. Anything less than full enforcement is an error.
pub(super) fn restrict(rules: Rules) -> Result<(), Failed> {
    let status = rules
        .0
        .no_new_privs(true)
        .restrict_self()
        .map_err(|error| refused(&error))?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => Err(Failed {
            step: "Landlock, which was not fully enforced".to_owned(),
            errno: libc::EOPNOTSUPP,
        }),
    }
}

/// The newest version that both the kernel and this program know.
fn abi(version: u32) -> ABI {
    match version {
        0 => ABI::Unsupported,
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6 => ABI::V6,
        7 => ABI::V7,
        8 => ABI::V8,
        _ => ABI::V9,
    }
}

fn refused(error: &landlock::RulesetError) -> Failed {
    Failed {
        step: format!("Landlock: {error}"),
        errno: libc::EOPNOTSUPP,
    }
}

type Made = Result<Result<RulesetCreated, Failed>, landlock::RulesetError>;

fn ruleset(spec: &Spec, abi: ABI) -> Made {
    let all = AccessFs::from_all(abi);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(all)?;
    let scope: BitFlags<Scope> = Scope::from_all(abi);
    if !scope.is_empty() {
        rules = rules.scope(scope)?;
    }
    let mut rules = rules.create()?;
    for (path, reach) in grants(spec) {
        let (handle, folder) = match open(&path) {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(failed) => return Ok(Err(failed)),
        };
        rules = rules.add_rule(PathBeneath::new(handle, reach.rights(abi, folder)))?;
    }
    Ok(Ok(rules))
}

/// How far a grant goes.
#[derive(Clone, Copy, Debug)]
enum Reach {
    Read,
    Write,
    Device,
}

impl Reach {
    /// The rights that make sense for a folder or for a file.
    fn rights(self, abi: ABI, folder: bool) -> BitFlags<AccessFs> {
        let rights = match self {
            Self::Read => AccessFs::from_read(abi),
            Self::Write => AccessFs::from_all(abi),
            Self::Device => {
                AccessFs::from_all(abi)
                    & (AccessFs::ReadFile
                        | AccessFs::ReadDir
                        | AccessFs::WriteFile
                        | AccessFs::Truncate
                        | AccessFs::IoctlDev)
            }
        };
        if folder {
            rights
        } else {
            rights & AccessFs::from_file(abi)
        }
    }
}

/// Every path that may be reached, and how.
fn grants(spec: &Spec) -> Vec<(PathBuf, Reach)> {
    let mut grants = Vec::new();
    if spec.namespaces {
        // What must not be seen is covered by mounts; the rest is for reading.
        grants.push((PathBuf::from("/"), Reach::Read));
        grants.push((PathBuf::from("/tmp"), Reach::Write));
        grants.push((PathBuf::from("/dev/shm"), Reach::Write));
    } else {
        // Processes that are yet to come have their folders in /proc, so it is granted as a whole.
        let mut away: Vec<PathBuf> = (spec.hidden.iter().chain(&spec.closed))
            .map(|raw| raw.path().to_path_buf())
            .filter(|path| !path.starts_with("/proc"))
            .collect();
        // Of the devices only those below are for commands; sockets lie in /run.
        away.extend(["/dev", "/run"].map(PathBuf::from));
        for path in carve::all_but(&away) {
            grants.push((path, Reach::Read));
        }
        for name in ["/dev/random", "/dev/urandom"] {
            grants.push((PathBuf::from(name), Reach::Read));
        }
        grants.push((spec.tmp.path().into(), Reach::Write));
    }
    for overlay in &spec.overlays {
        grants.push((overlay.path.path().into(), Reach::Write));
    }
    for (path, _) in &spec.writable {
        grants.push((path.path().into(), Reach::Write));
    }
    for device in DEVICES {
        grants.push((PathBuf::from(device), Reach::Device));
    }
    grants
}

/// A handle on the path and whether it is a folder; `None` if nothing is there.
fn open(path: &Path) -> Result<Option<(OwnedFd, bool)>, Failed> {
    let handle = match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return Ok(None),
        other => other.at(format!("Landlock: opening `{}`", path.display()))?,
    };
    let stat = rustix::fs::fstat(&handle).at("Landlock: looking at a path")?;
    let folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    Ok(Some((handle, folder)))
}
