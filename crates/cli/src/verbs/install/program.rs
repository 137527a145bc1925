//! The program that clients will call: absolute, and where only its owner can change it.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::args;
use crate::failure::Failure;

/// This program's own path.
pub(super) fn own() -> Result<String, Failure> {
    let path = args::own_program();
    path.ok_or_else(|| Failure::failed("this program's own path is not known"))
}

/// Refuses a program that the next build replaces, or that anybody can replace.
pub(super) fn is_fit(program: &str) -> Result<(), Failure> {
    let path = Path::new(program);
    let mut folders = path.ancestors().skip(1);
    // Either mark may be missing: one is not copied along, the other is not in every folder.
    let marks = ["CACHEDIR.TAG", ".fingerprint"];
    if folders.any(|folder| marks.iter().any(|mark| folder.join(mark).exists())) {
        return Err(
            Failure::invalid(format!("`{program}` lies in a build folder"))
                .hint("put it in place with `cargo install --path crates/cli`, and run that one"),
        );
    }
    for place in path.ancestors() {
        let Ok(found) = std::fs::metadata(place) else {
            continue;
        };
        let sticky = found.is_dir() && found.mode() & 0o1000 != 0;
        if found.mode() & 0o002 != 0 && !sticky {
            let message = format!("anybody can change `{}`", place.display());
            return Err(Failure::invalid(message).hint("put the program where only you can"));
        }
    }
    Ok(())
}
