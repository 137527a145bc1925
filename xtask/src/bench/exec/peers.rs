//! Other sandboxes, run beside the product.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::time;
use crate::error::XtaskError;
use crate::process::answer;

/// Bubblewrap with the same name spaces, running these words.
pub(super) fn bubblewrap(place: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("bwrap");
    command.args([
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
    ]);
    command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    command.args(["--tmpfs", "/tmp", "--tmpfs", "/run", "--bind"]);
    command.arg(place).arg(place).arg("--chdir").arg(place);
    command.args(words);
    command
}

/// Whether bubblewrap is here and runs something. If not, that is said, and no budget holds.
pub(super) fn has_bubblewrap(place: &Path) -> bool {
    tell(
        "bubblewrap (`apt install bubblewrap`)",
        time(&mut bubblewrap(place, &["true"])),
    )
    .is_some()
}

/// Anthropic's sandbox from the registry, installed; `None`, and said, where that can't be done.
pub(super) fn sandbox_runtime(folder: &Path, place: &Path) -> Result<Option<PathBuf>, XtaskError> {
    let peer = folder.join("peer");
    std::fs::create_dir(&peer).map_err(XtaskError::file("create", &peer))?;
    let installed = answer(
        Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--prefix"])
            .arg(&peer)
            .arg("@anthropic-ai/sandbox-runtime"),
    );
    let program = peer.join("node_modules/.bin/srt");
    let tried = installed.and_then(|_| time(&mut srt(&program, place)));
    Ok(tell("@anthropic-ai/sandbox-runtime", tried).map(|_| program))
}

/// One run of `true` in it.
pub(super) fn srt(program: &Path, place: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("true").current_dir(place);
    command
}

/// Says loudly that a peer does not take part.
fn tell<T>(peer: &str, tried: Result<T, XtaskError>) -> Option<T> {
    tried
        .map_err(|error| eprintln!("MISSING PEER: {peer} does not take part: {error}"))
        .ok()
}
