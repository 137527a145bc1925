//! Real clients, run offline against a model that plays a script.

pub(crate) mod attack;
mod machine;
pub(crate) mod page;
mod run;
mod scene;
mod speech;
pub(crate) mod story;
mod stub;
pub(crate) mod suite;

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::error::XtaskError;
use crate::process;
use run::Places;
use stub::{Script, Stub};

/// No scripted run takes longer, on a loaded machine too.
const PATIENCE: Duration = Duration::from_mins(9);

/// Plays one script with one client in a throw-away workspace, and shows what came of it.
pub(crate) fn play(name: &str, mode: &str, script: &Path) -> Result<ExitCode, XtaskError> {
    let clients = run::all()?;
    let client = clients.get(name).ok_or_else(|| unknown(name))?;
    let mode = client.modes.get(mode).ok_or_else(|| unknown(mode))?;
    let text = std::fs::read_to_string(script).map_err(XtaskError::file("read", script))?;
    let script: Script = serde_json::from_str(&text).map_err(|source| XtaskError::Data {
        file: script.display().to_string(),
        source,
    })?;
    let program = client.install(name)?;
    let folder = stage()?;
    let (home, workspace) = (folder.path().join("home"), folder.path().join("work"));
    for made in [&home, &workspace] {
        std::fs::create_dir_all(made).map_err(XtaskError::file("create", made))?;
    }
    let stub = Stub::start(script).map_err(temporary())?;
    let places = Places {
        base: stub.base(),
        home,
        workspace,
        program: PathBuf::from("tagout"),
        prompt: "Do what is to be done.".to_owned(),
    };
    client.prepare(&places)?;
    let mut command = client.command((name, &program), mode, &places)?;
    let ended = bounded(&mut command)?;
    println!("{ended}");
    for body in stub.heard() {
        println!("heard {}", body.to_string().len());
    }
    for entry in std::fs::read_dir(&places.workspace).map_err(temporary())? {
        println!("{}", entry.map_err(temporary())?.path().display());
    }
    Ok(ExitCode::SUCCESS)
}

/// A folder for one run. It does not lie among temporary files: there one of the clients does not
/// set up its sandbox, and nobody works there.
fn stage() -> Result<tempfile::TempDir, XtaskError> {
    let temporary_files = std::env::temp_dir();
    let usual = Path::new("/var/tmp").to_path_buf();
    let fits = usual.is_dir() && !usual.starts_with(&temporary_files);
    let place = if fits {
        usual
    } else {
        process::root().join("target")
    };
    tempfile::Builder::new()
        .prefix("tagout-")
        .tempdir_in(&place)
        .map_err(XtaskError::file("create a folder in", &place))
}

fn temporary() -> impl FnOnce(std::io::Error) -> XtaskError {
    XtaskError::file("use", Path::new("a temporary folder"))
}

fn unknown(name: &str) -> XtaskError {
    XtaskError::Usage {
        message: format!("`{name}` is not in xtask/data/clients.json"),
    }
}

/// Runs a command to its end, or to the end of patience.
fn bounded(command: &mut Command) -> Result<String, XtaskError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |source| XtaskError::Spawn { program, source };
    // A client may start itself again, so all of it is one group.
    command.stdin(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(failed)?;
    let began = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Ok(status.to_string());
        }
        if began.elapsed() > PATIENCE {
            let group = format!("-{}", child.id());
            process::capture(Command::new("kill").args(["-KILL", "--", &group]))?;
            return Ok("ran out of patience".to_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
