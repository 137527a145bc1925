//! Runs one command confined: what the tests, and people who try things out, use.
//!
//! `confine LANE WORKSPACE SCRATCH [KEY=VALUE…] -- PROGRAM [ARGUMENT…]`; LANE is `r`, `t`, `s`,
//! `probe`, or `end` with a session's folder as WORKSPACE. Prints the receipt as JSON on standard
//! error and leaves with the command's code.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tagout_sandbox::{
    Cache, Host, Input, Lane, Layers, Limits, LiveSink, Network, Output, Stream, Wanted, Weaker,
    plan, serve_if_helper,
};

fn main() -> ExitCode {
    serve_if_helper();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match run(&words) {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            say(&problem);
            ExitCode::from(125)
        }
    }
}

fn say(text: &str) {
    use std::io::Write;
    writeln!(std::io::stderr(), "{text}").ok();
}

fn run(words: &[OsString]) -> Result<u8, String> {
    let split = words.iter().position(|word| word == "--");
    let (options, argv) = words.split_at(split.unwrap_or(words.len()));
    let [lane, workspace, scratch, settings @ ..] = options else {
        return Err("usage: confine LANE WORKSPACE SCRATCH [KEY=VALUE…] -- PROGRAM".to_owned());
    };
    let scratch = PathBuf::from(scratch);
    let host = Host::probe(&scratch);
    if lane == "end" {
        tagout_sandbox::stop_session(&PathBuf::from(workspace))
            .map_err(|error| error.to_string())?;
        return Ok(0);
    }
    if lane == "probe" {
        for line in host.lines() {
            say(&format!("{line:?}"));
        }
        return Ok(0);
    }
    let argv = argv.iter().skip(1).cloned().collect();
    let wanted = wanted(lane, &PathBuf::from(workspace), &scratch, settings, argv)?;
    let plan = plan(&host, &wanted).map_err(|refused| format!("refused: {refused}"))?;
    let running = plan.start().map_err(|error| format!("failed: {error}"))?;
    if wanted.long_running {
        let left = running
            .detach()
            .map_err(|error| format!("failed: {error}"))?;
        say(&format!("detached {}", left.id));
        return Ok(0);
    }
    let ended = running.wait().map_err(|error| format!("failed: {error}"))?;
    say(&serde_json::to_string(&ended).map_err(|error| error.to_string())?);
    Ok(u8::try_from(ended.exit.shell_code()).unwrap_or(255))
}

fn wanted(
    lane: &OsString,
    workspace: &Path,
    scratch: &Path,
    settings: &[OsString],
    argv: Vec<OsString>,
) -> Result<Wanted, String> {
    let lane = match lane.to_str() {
        Some("r") => Lane::ReadOnly,
        Some("t") => Lane::Transaction,
        Some("s") => Lane::Snapshot,
        Some(_) | None => return Err("LANE is r, t or s".to_owned()),
    };
    for name in ["upper", "work", "tmp"] {
        std::fs::create_dir_all(scratch.join(name)).map_err(|error| error.to_string())?;
    }
    let mut wanted = Wanted {
        lane,
        workspace: workspace.to_path_buf(),
        cwd: workspace.to_path_buf(),
        argv,
        direct: None,
        env: vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME".into(), "/tmp".into()),
        ],
        limits: Limits::default(),
        network: Network::Off,
        layers: Layers {
            upper: scratch.join("upper"),
            work: scratch.join("work"),
            tmp: scratch.join("tmp"),
            ..Layers::default()
        },
        writable: vec![workspace.to_path_buf()],
        hidden: vec![scratch.to_path_buf()],
        home: None,
        through: Vec::new(),
        read_only_inside: Vec::new(),
        accept_degraded: Vec::new(),
        long_running: false,
        input: Input::Nothing,
        output: Output {
            artifact: scratch.join("output"),
            live: Some(LiveSink(Arc::new(pass))),
        },
    };
    for setting in settings {
        set(&mut wanted, setting)?;
    }
    Ok(wanted)
}

/// Output is passed through as it comes.
fn pass(stream: Stream, bytes: &[u8]) {
    use std::io::Write;
    match stream {
        Stream::Out => std::io::stdout().write_all(bytes).ok(),
        Stream::Err => std::io::stderr().write_all(bytes).ok(),
    };
}

fn set(wanted: &mut Wanted, setting: &OsString) -> Result<(), String> {
    let bytes = setting.clone().into_vec();
    let at = bytes.iter().position(|byte| *byte == b'=');
    let (key, value) = bytes.split_at(at.ok_or("a setting is KEY=VALUE")?);
    let value = OsString::from_vec(value.iter().skip(1).copied().collect());
    let number = || -> Result<u64, String> {
        let text = value.to_str().ok_or("a number is expected")?;
        text.parse().map_err(|_| "a number is expected".to_owned())
    };
    match key {
        b"hide" => wanted.hidden.push(value.into()),
        b"home" => wanted.home = Some(value.into()),
        b"lower" => wanted.layers.lower.push(value.into()),
        b"keep" => wanted.read_only_inside.push(value.into()),
        b"cwd" => wanted.cwd = value.into(),
        b"writable" => wanted.writable = vec![value.into()],
        b"cache" => wanted.layers.caches.push(cache(Path::new(&value))?),
        b"net" if value == "any" => wanted.network = Network::Any,
        b"net" => wanted.network = Network::Session(value.into()),
        b"long" => wanted.long_running = true,
        b"stdin" => wanted.input = Input::Inherited,
        b"env" => {
            let text = value.to_str().ok_or("text is expected")?;
            let (name, value) = text.split_once('=').ok_or("NAME=VALUE is expected")?;
            wanted.env.push((name.into(), value.into()));
        }
        b"accept" if value == "snapshot" => wanted.accept_degraded.push(Weaker::Snapshot),
        b"accept" => wanted.accept_degraded.push(Weaker::NoNamespaces),
        b"wall_ms" => wanted.limits.wall = Some(Duration::from_millis(number()?)),
        b"memory" => wanted.limits.memory_bytes = Some(number()?),
        b"output" => wanted.limits.output_bytes = Some(number()?),
        _ => return Err(format!("unknown setting {}", setting.to_string_lossy())),
    }
    Ok(())
}

/// `PATH:SCRATCH`, where the scratch holds `upper` and `work`.
fn cache(text: &Path) -> Result<Cache, String> {
    let text = text.to_str().ok_or("text is expected")?;
    let (path, scratch) = text.split_once(':').ok_or("PATH:SCRATCH is expected")?;
    Ok(Cache {
        path: path.into(),
        upper: Path::new(scratch).join("upper"),
        work: Path::new(scratch).join("work"),
        lower: Vec::new(),
    })
}
