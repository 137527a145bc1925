//! What a cold hook costs, its event durable, against the cheapest process there is and against
//! hooks in scripting languages that only parse and print.

mod meter;

use std::cell::Cell;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use self::meter::Meter;
use super::exec::sync;
use super::rounds::{Contender, medians};
use super::spawn::{empty_program, release_binary};
use super::{Budget, Line};
use crate::error::XtaskError;
use crate::process::answer;

/// Budgets by the figure's name; what is not listed is shown.
const BUDGETS: &[(&str, f64)] = &[
    ("hook / empty C program", 2.5),
    ("hook / Python hook", 0.05),
    ("hook, resident memory", 10.0),
];

/// The client whose payloads are sent. Any would do.
const CLIENT: &str = "claude-code";

fn line(what: &str, value: f64, unit: &'static str) -> Line {
    let budget = BUDGETS.iter().find(|(name, _)| *name == what);
    Line {
        benchmark: "hook",
        what: what.to_owned(),
        value,
        unit,
        budget: budget.map_or(Budget::Shown, |(_, most)| Budget::AtMost(*most)),
    }
}

/// Times all of them in turns, then counts.
pub(super) fn run(rounds: usize) -> Result<Vec<Line>, XtaskError> {
    // The state has to lie on a disk, because its sync is part of what is measured.
    let folder = tempfile::Builder::new()
        .tempdir_in("/var/tmp")
        .map_err(XtaskError::file("create", Path::new("/var/tmp")))?;
    let stage = Stage::set(folder.path(), &release_binary()?)?;
    let empty = empty_program(folder.path())?;
    let scripts = Scripts::find(folder.path())?;
    let synced = folder.path().join("synced");
    let payload = stage.read("script");
    let mut contenders: Vec<Contender<'_>> = vec![
        Box::new(|| time(&mut Command::new(&empty), &[])),
        Box::new(|| time(&mut stage.hook("PreToolUse"), &stage.next_read())),
        Box::new(|| stage.write()),
        Box::new(|| time(&mut stage.elsewhere(), &stage.foreign())),
        Box::new(|| time(&mut scripts.python(), &payload)),
        Box::new(|| time(&mut scripts.node(), &payload)),
        Box::new(|| time(&mut scripts.bash(), &payload)),
        Box::new(|| sync(&synced)),
    ];
    let found = medians(rounds, &mut contenders)?;
    drop(contenders);
    let [empty_us, hook, write, pass, python, node, bash, bare] = found.as_slice() else {
        return Ok(Vec::new());
    };
    let mut lines = vec![
        line("empty C program", *empty_us, "µs"),
        line("hook", *hook, "µs"),
        line("hook before a write", *write, "µs"),
        line("hook where nothing is governed", *pass, "µs"),
        line("Python hook", *python, "µs"),
        line("Node hook", *node, "µs"),
        line("bash + jq hook", *bash, "µs"),
        line("bare write + fdatasync", *bare, "µs"),
        line("hook / empty C program", hook / empty_us, "×"),
        line(
            "hook before a write / empty C program",
            write / empty_us,
            "×",
        ),
        line("hook / Python hook", hook / python, "×"),
        line("hook / Node hook", hook / node, "×"),
        line("hook / bash + jq hook", hook / bash, "×"),
    ];
    lines.extend(counted(&stage, &empty, &scripts, folder.path())?);
    Ok(lines)
}

/// Memory and instructions, which do not depend on the machine's other load.
fn counted(
    stage: &Stage,
    empty: &Path,
    scripts: &Scripts,
    folder: &Path,
) -> Result<Vec<Line>, XtaskError> {
    let meter = Meter::build(folder)?;
    let payload = stage.read("script");
    let kilobytes = meter.resident(&stage.hook("PreToolUse"), &stage.next_read())?;
    let mut lines = vec![line("hook, resident memory", kilobytes / 1e3, "MB")];
    let mut all: Vec<(&str, Command, Vec<u8>)> = vec![
        (
            "empty C program, instructions",
            Command::new(empty),
            Vec::new(),
        ),
        (
            "hook, instructions",
            stage.hook("PreToolUse"),
            stage.next_read(),
        ),
        (
            "hook, ungoverned, instructions",
            stage.elsewhere(),
            stage.foreign(),
        ),
        (
            "Python hook, instructions",
            scripts.python(),
            payload.clone(),
        ),
        ("Node hook, instructions", scripts.node(), payload.clone()),
        ("bash + jq hook, instructions", scripts.bash(), payload),
    ];
    for (what, command, payload) in &mut all {
        match meter.instructions(command, payload) {
            Some(count) => lines.push(line(what, count / 1e6, "M")),
            None => eprintln!("{what}: neither perf nor valgrind counts them here; left out"),
        }
    }
    Ok(lines)
}

/// A workspace in which an agent works under an intent.
#[derive(Debug)]
pub(crate) struct Stage {
    product: String,
    root: PathBuf,
    state: PathBuf,
    next: Cell<usize>,
}

impl Stage {
    /// Sets one up for a program, of which a copy is used: so it is installed, and what just came
    /// from the linker lies in memory in smaller pieces than what was written or read in one run.
    pub(crate) fn set(folder: &Path, product: &str) -> Result<Self, XtaskError> {
        let installed = folder.join("tagout");
        std::fs::copy(product, &installed).map_err(XtaskError::file("copy", &installed))?;
        let product = installed.to_string_lossy().into_owned();
        let root = folder.join("repository");
        let source = root.join("src");
        std::fs::create_dir_all(&source).map_err(XtaskError::file("create", &source))?;
        let file = source.join("main.rs");
        std::fs::write(&file, "fn main() {}\n").map_err(XtaskError::file("write", &file))?;
        let stage = Self {
            product,
            root,
            state: folder.join("state"),
            next: Cell::new(0),
        };
        let mut git = Command::new("git");
        answer(git.args(["init", "--quiet"]).current_dir(&stage.root))?;
        let mut init = Command::new(&stage.product);
        init.args(["init", "--yes", "--intent", "Work", "--scope", "src/**"])
            .arg("--state-dir")
            .arg(&stage.state)
            .current_dir(&stage.root);
        answer(&mut init)?;
        let select = stage.payload(
            "select",
            "Bash",
            &json!({
                "command": "tagout intent select INT-001",
            }),
        );
        time(&mut stage.hook("PreToolUse"), &select)?;
        Ok(stage)
    }

    /// What a program is started for day by day, the most frequent first.
    pub(crate) fn scenes(&self) -> Vec<(Command, Vec<u8>)> {
        let path = self.root.join("src/main.rs");
        let edit = json!({ "file_path": path, "old_string": "fn", "new_string": "pub fn" });
        let edit = self.payload("edit", "Edit", &edit);
        let beyond = json!({ "file_path": self.root.join("Cargo.toml"), "content": "" });
        let command = json!({ "command": "git status && ls src | head -3" });
        let mut exec = Command::new(&self.product);
        // The intent is the agent's.
        exec.args(["exec", "--session", "scene", "--workspace"]);
        exec.arg(&self.root).arg("--state-dir").arg(&self.state);
        exec.current_dir(&self.root).args(["--", "true"]);
        vec![
            (self.hook("PreToolUse"), self.next_read()),
            (self.hook("PreToolUse"), self.next_read()),
            (self.hook("PreToolUse"), edit.clone()),
            (self.hook("PostToolUse"), after(&edit)),
            (
                self.hook("PreToolUse"),
                self.payload("command", "Bash", &command),
            ),
            (
                self.hook("PreToolUse"),
                self.payload("beyond", "Write", &beyond),
            ),
            (self.elsewhere(), self.foreign()),
            (exec, Vec::new()),
        ]
    }

    fn hook(&self, event: &str) -> Command {
        let mut command = Command::new(&self.product);
        command.args(["hook", "--client", CLIENT, "--event", event, "--workspace"]);
        command.arg(&self.root).arg("--state-dir").arg(&self.state);
        command
    }

    /// The hook of a user in a folder that nobody governs.
    fn elsewhere(&self) -> Command {
        let mut command = Command::new(&self.product);
        command.args(["hook", "--client", CLIENT, "--event", "PreToolUse"]);
        command.arg("--state-dir").arg(&self.state);
        command
    }

    fn foreign(&self) -> Vec<u8> {
        let text = String::from_utf8_lossy(&self.read("foreign")).into_owned();
        let root = self.root.to_string_lossy().into_owned();
        // A conversation that began in the workspace would be governed everywhere.
        text.replace(&root, "/usr")
            .replace(r#""session_id":"s""#, r#""session_id":"other""#)
            .into_bytes()
    }

    fn payload(&self, call: &str, tool: &str, arguments: &serde_json::Value) -> Vec<u8> {
        let payload = json!({
            "session_id": "s", "transcript_path": "/t", "cwd": self.root,
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": arguments,
            "tool_use_id": call,
        });
        payload.to_string().into_bytes()
    }

    /// A call that was never made before: the same one again and again would be refused.
    fn read(&self, call: &str) -> Vec<u8> {
        let path = self.root.join("src/main.rs");
        let arguments = json!({ "file_path": path, "offset": self.count() });
        self.payload(call, "Read", &arguments)
    }

    fn count(&self) -> usize {
        self.next.set(self.next.get() + 1);
        self.next.get()
    }

    fn next_read(&self) -> Vec<u8> {
        self.read(&format!("r{}", self.count()))
    }

    /// Before a new file is written. Its end is told as well, and not timed.
    fn write(&self) -> Result<Duration, XtaskError> {
        let count = self.count();
        let path = self.root.join(format!("src/new-{count}.rs"));
        let arguments = json!({ "file_path": path, "content": "fn new() {}\n" });
        let payload = self.payload(&format!("w{count}"), "Write", &arguments);
        let took = time(&mut self.hook("PreToolUse"), &payload)?;
        time(&mut self.hook("PostToolUse"), &after(&payload))?;
        Ok(took)
    }
}

/// What the client tells when the call is over.
fn after(payload: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(payload).into_owned();
    let after = text.replacen("PreToolUse", "PostToolUse", 1);
    let after = after.replacen('{', r#"{"tool_response":{},"#, 1);
    after.into_bytes()
}

/// The hooks of others, which parse and print and do nothing else.
struct Scripts {
    python: String,
    folder: PathBuf,
}

impl Scripts {
    fn find(folder: &Path) -> Result<Self, XtaskError> {
        for (name, text) in [
            ("hook.py", include_str!("hook.py")),
            ("hook.js", include_str!("hook.js")),
            ("hook.sh", include_str!("hook.sh")),
        ] {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(XtaskError::file("write", &path))?;
        }
        // The interpreter itself: what a version manager puts in front of it would be timed too.
        let told =
            answer(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]))?;
        Ok(Self {
            python: told.trim().to_owned(),
            folder: folder.to_owned(),
        })
    }

    fn python(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(self.folder.join("hook.py"));
        command
    }

    fn node(&self) -> Command {
        let mut command = Command::new("node");
        command.arg(self.folder.join("hook.js"));
        command
    }

    fn bash(&self) -> Command {
        let mut command = Command::new("bash");
        command.arg(self.folder.join("hook.sh"));
        command
    }
}

/// One run, from the spawn to the end. A run that fails, and a hook that denies, is no measurement.
fn time(command: &mut Command, payload: &[u8]) -> Result<Duration, XtaskError> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let program = command.get_program().to_string_lossy().into_owned();
    let spawn = |source| XtaskError::Spawn {
        program: program.clone(),
        source,
    };
    let begun = Instant::now();
    let mut child = command.spawn().map_err(spawn)?;
    if let Some(mut input) = child.stdin.take() {
        // The empty program reads nothing.
        input.write_all(payload).unwrap_or_default();
    }
    let status = child.wait().map_err(spawn)?;
    let took = begun.elapsed();
    if status.success() {
        return Ok(took);
    }
    Err(XtaskError::Command {
        command: program,
        stderr: status.to_string(),
    })
}

#[cfg(test)]
mod tests;
