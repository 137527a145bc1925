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

/// Refuses a program that the next build replaces, or that somebody else can replace.
pub(super) fn is_fit(program: &str) -> Result<(), Failure> {
    let path = Path::new(program);
    let mut folders = path.ancestors().skip(1);
    // Either mark may be missing: one is not copied along, the other is not in every folder.
    let marks = ["CACHEDIR.TAG", ".fingerprint"];
    if folders.any(|folder| marks.iter().any(|mark| folder.join(mark).exists())) {
        return Err(
            Failure::invalid(format!("`{program}` lies in a build folder")).hint(
                "put it in place with `cargo install --locked --path crates/cli`, and run that one",
            ),
        );
    }
    let own = std::fs::metadata("/proc/self").map_or(0, |process| process.uid());
    path.ancestors()
        .try_for_each(|place| is_guarded(place, own))
}

/// Refuses a place that somebody else can change.
fn is_guarded(place: &Path, own: u32) -> Result<(), Failure> {
    let shown = place.display();
    let refused = |why: String| {
        Err(Failure::invalid(why).hint("put the program where only you or root can change it"))
    };
    let found = match std::fs::metadata(place) {
        Ok(found) => found,
        Err(error) => return refused(format!("`{shown}` can't be looked at: {error}")),
    };
    if found.uid() != 0 && found.uid() != own {
        return refused(format!("`{shown}` belongs to user {}", found.uid()));
    }
    // In such a folder nobody replaces what another one put there.
    if found.is_dir() && found.mode() & 0o1000 != 0 {
        return Ok(());
    }
    if found.mode() & 0o002 != 0 {
        return refused(format!("anybody can change `{shown}`"));
    }
    // A user's own group has that user's number, by common custom, and nobody else in it.
    if found.mode() & 0o020 != 0 && found.gid() != found.uid() {
        return refused(format!(
            "the members of group {} can change `{shown}`",
            found.gid()
        ));
    }
    Ok(())
}
