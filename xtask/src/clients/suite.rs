//! The suite: every client in each of its modes, through the story and through the attacks.

use std::path::Path;
use std::process::Command;

use super::run;
use crate::error::XtaskError;
use crate::process::{capture, root, stream};
use crate::suites::Tally;

/// Plays every client that each run of the tests plays, or every one that can be run.
pub(crate) fn run(all: bool) -> Result<Tally, XtaskError> {
    let this = std::env::current_exe().map_err(XtaskError::file("find", Path::new("xtask")))?;
    let mut tally = Tally::default();
    for (name, client) in run::all()? {
        if !client.in_ci && !all {
            continue;
        }
        // The network is needed for this step alone. A client that can't be had is a failure:
        // nothing is known of it then.
        if let Err(error) = client.install(&name) {
            eprintln!("{name} can't be installed, so nothing of it was tested: {error}");
            tally.failed += 1;
            continue;
        }
        for mode in client.modes.keys() {
            for chore in ["story", "attack"] {
                let mut command = alone(&this);
                command.args([chore, &name, mode]).current_dir(root());
                let ok = stream(&mut command)?.ok;
                tally.passed += usize::from(ok);
                tally.failed += usize::from(!ok);
            }
        }
    }
    Ok(tally)
}

/// A command without any network but loopback, where this host lets us have that.
fn alone(program: &Path) -> Command {
    const UP: &str = "ip link set lo up && exec \"$0\" \"$@\"";
    for flags in ["-n", "-rn"] {
        let mut probe = Command::new("unshare");
        probe.args([flags, "sh", "-c", "ip link set lo up"]);
        if capture(&mut probe).is_ok_and(|ran| ran.ok) {
            let mut command = Command::new("unshare");
            command.args([flags, "sh", "-c", UP]).arg(program);
            return command;
        }
    }
    println!("no network namespace can be had here; the clients keep the host's network");
    Command::new(program)
}
