//! A machine of one's own, as far as its settings go: what is written below `/etc` there is seen by
//! nobody else and gone afterwards.

use std::path::Path;
use std::process::Command;

use super::{stage, unknown};
use crate::error::XtaskError;
use crate::process::{capture, stream};

/// Says that this process may write below `/etc`.
const OWN: &str = "TAGOUT_TESTS_OWN_MACHINE";

/// Lays an empty layer over `/etc` and goes on with the rest of the words.
const LAID: &str = "mount -t tmpfs none \"$0\" && mkdir \"$0/upper\" \"$0/work\" && \
    mount -t overlay overlay -o \"lowerdir=/etc,upperdir=$0/upper,workdir=$0/work\" /etc && \
    exec \"$@\"";

/// Whether this process has one.
pub(super) fn is_own() -> bool {
    std::env::var_os(OWN).is_some()
}

/// Runs a chore of this program with one, and says whether it went well.
pub(super) fn with_own(words: &[&str]) -> Result<bool, XtaskError> {
    let this = std::env::current_exe().map_err(XtaskError::file("find", Path::new("xtask")))?;
    let folder = stage()?;
    for flags in ["-m", "-rm"] {
        let laid = |program: &Path| {
            let mut command = Command::new("unshare");
            command.args([flags, "sh", "-c", LAID]);
            command.arg(folder.path()).arg(program);
            command
        };
        if capture(&mut laid(Path::new("true"))).is_ok_and(|ran| ran.ok) {
            return Ok(stream(laid(&this).args(words).env(OWN, "1"))?.ok);
        }
    }
    Err(unknown(
        "a mount namespace, without which managed hooks are not tried,",
    ))
}
