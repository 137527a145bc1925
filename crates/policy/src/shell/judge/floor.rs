//! The catastrophic floor: what no rule may ever allow.

use crate::shell::arg::Arg;

/// Whether a path is the root, a home folder or one of the system's, or becomes one when a variable
/// in it is empty.
pub(super) fn precious(arg: &Arg, list: &[String]) -> bool {
    let mut path = arg.shown.as_str();
    loop {
        let shorter = path
            .strip_suffix("/*")
            .or_else(|| path.strip_suffix("/.*"))
            .or_else(|| path.strip_suffix("/."))
            .or_else(|| path.strip_suffix("/.."))
            .or_else(|| path.strip_suffix('/'));
        match shorter {
            Some(shorter) => path = shorter,
            None => break,
        }
    }
    let rooted = path.is_empty() && arg.shown.starts_with('/');
    rooted || list.iter().any(|known| known == path)
}

/// Whether it names the working directory or all in it.
pub(super) fn names_here(arg: &Arg) -> bool {
    let path = arg.shown.trim_end_matches('/');
    matches!(
        path,
        "." | ".." | "*" | "./*" | ".*" | "../*" | "./.*" | "**" | "./**"
    )
}
