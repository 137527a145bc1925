//! Finds the places in the control group file systems below which this process may make groups.

use std::fs;
use std::path::{Path, PathBuf};

use crate::limits::choice::{Place, Version};

/// A mounted hierarchy and where this process is in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::limits) struct Hierarchy {
    /// Where it is mounted.
    pub(in crate::limits) mount: PathBuf,
    /// This process's own group, as a path below the mount.
    pub(in crate::limits) own: PathBuf,
    /// Which interface it has.
    pub(in crate::limits) version: Version,
}

impl Hierarchy {
    /// Where a new group may be made, best first. A place above the own group is offered only as
    /// long as no group in between holds a limit that would be left behind.
    pub(in crate::limits) fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        let mut path = self.own.clone();
        loop {
            let place = self.mount.join(&path);
            places.push(Place {
                path: place.clone(),
                version: self.version,
            });
            // In the first version a group with processes may have groups below it; there is no
            // reason to leave the own one.
            if self.version == Version::One || limited(&place) || !path.pop() {
                return places;
            }
        }
    }
}

fn limited(place: &Path) -> bool {
    ["memory.max", "pids.max"]
        .iter()
        .any(|file| fs::read_to_string(place.join(file)).is_ok_and(|text| text.trim() != "max"))
}

/// The hierarchy that has this controller, from the texts of `/proc/self/mountinfo` and
/// `/proc/self/cgroup`.
pub(in crate::limits) fn locate(
    mounts: &str,
    own: &str,
    controller: &str,
    version: Version,
) -> Option<Hierarchy> {
    let own = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, names, path) = (fields.next()?, fields.next()?, fields.next()?);
        let fits = match version {
            Version::One => names.split(',').any(|name| name == controller),
            Version::Two => names.is_empty(),
        };
        fits.then_some(path)
    })?;
    let (root, mount) = mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let (kind, options) = (right.next()?, right.nth(1)?);
        let fits = match version {
            Version::One => kind == "cgroup" && options.split(',').any(|word| word == controller),
            Version::Two => kind == "cgroup2",
        };
        let mut left = left.split(' ').skip(3);
        let (root, mount) = (left.next()?, left.next()?);
        fits.then_some((root, mount))
    })?;
    let below = Path::new(own).strip_prefix(root).ok()?;
    Some(Hierarchy {
        mount: PathBuf::from(unescaped(mount)),
        own: below.to_path_buf(),
        version,
    })
}

/// Mount points are written with blanks and backslashes as three octal digits.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        let digits: String = rest.clone().take(3).collect();
        match u8::from_str_radix(&digits, 8) {
            Ok(byte) if next == '\\' && digits.len() == 3 => {
                out.push(char::from(byte));
                rest.nth(2);
            }
            _ => out.push(next),
        }
    }
    out
}
