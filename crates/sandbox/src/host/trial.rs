//! Building a lane once, with everything in it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Probed, remedy};
use crate::error::SandboxError;
use crate::limits::{Chosen, Limits};
use crate::output::Output;
use crate::plan::{Form, Plan};
use crate::scratch;
use crate::wanted::{Input, Lane, Layers, Network, Wanted};

/// Tries a lane in a folder of its own, which is removed again.
pub(super) fn run(place: &Path, landlock_abi: u32, lane: Lane, namespaces: bool) -> Probed {
    if landlock_abi < remedy::LANDLOCK_ABI_MIN {
        return Probed::Fails {
            why: format!("Landlock version {landlock_abi}"),
            remedy: remedy::LANDLOCK.to_owned(),
        };
    }
    let name = format!(
        "probe-{}-{}-{}",
        std::process::id(),
        lane.as_str(),
        u8::from(namespaces)
    );
    let folder = place.join(name);
    let tried = attempt(&folder, landlock_abi, lane, namespaces);
    // What can't be removed lies in Tagout's own scratch and is found by the next cleaning.
    scratch::remove(&folder).ok();
    match tried {
        Ok(()) => Probed::Works,
        Err(error) => {
            let why = error.to_string();
            Probed::Fails {
                remedy: remedy::of(&why),
                why,
            }
        }
    }
}

fn attempt(
    folder: &Path,
    landlock_abi: u32,
    lane: Lane,
    namespaces: bool,
) -> Result<(), SandboxError> {
    let made = |source| SandboxError::Setup {
        step: format!("the scratch folder `{}`", folder.display()),
        source,
    };
    for name in ["workspace", "upper", "work", "tmp"] {
        fs::create_dir_all(folder.join(name)).map_err(made)?;
    }
    let folder = real(folder).map_err(made)?;
    let plan = Plan {
        wanted: wanted(&folder, lane),
        form: Form {
            lane,
            namespaces,
            weaker: false,
        },
        chosen: Chosen::default(),
        enforcers: Vec::new(),
        landlock_abi,
    };
    let ended = plan.start()?.wait()?;
    if ended.exit.is_success() {
        return Ok(());
    }
    Err(SandboxError::Setup {
        step: format!("running a program: it ended with {:?}", ended.exit),
        source: std::io::ErrorKind::Other.into(),
    })
}

/// The lanes refuse paths that lead through links.
#[expect(
    clippy::disallowed_methods,
    reason = "the scratch folder lies in Tagout's own state, not in a workspace"
)]
fn real(path: &Path) -> std::io::Result<PathBuf> {
    fs::canonicalize(path)
}

fn wanted(folder: &Path, lane: Lane) -> Wanted {
    Wanted {
        lane,
        workspace: folder.join("workspace"),
        cwd: folder.join("workspace"),
        argv: vec![OsString::from("true")],
        direct: None,
        env: Vec::new(),
        limits: Limits::default(),
        network: Network::Off,
        layers: Layers {
            upper: folder.join("upper"),
            work: folder.join("work"),
            tmp: folder.join("tmp"),
            ..Layers::default()
        },
        writable: vec![folder.join("workspace")],
        hidden: Vec::new(),
        home: None,
        through: Vec::new(),
        read_only_inside: Vec::new(),
        accept_degraded: Vec::new(),
        long_running: false,
        input: Input::Nothing,
        output: Output {
            artifact: folder.join("output"),
            live: None,
        },
    }
}
