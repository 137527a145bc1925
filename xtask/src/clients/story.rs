//! One story with every client: refused without an intent, done within its scope, refused beyond
//! it, refused where a person came in between. The ledger has to tell the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde::Deserialize;
use serde_json::Value;

use super::run::{self, Places};
use super::stub::{Script, Stub};
use super::{bounded, temporary, unknown};
use crate::error::XtaskError;
use crate::process::{answer, capture, cargo_command, root, stream};
use crate::suites::Tally;

const STORIES: &str = include_str!("../../data/stories.json");

/// Where the story takes place.
struct Scene {
    places: Places,
    bin: PathBuf,
    /// A search path that begins with the program under test.
    path: String,
}

impl Scene {
    fn new(folder: &Path) -> Result<Self, XtaskError> {
        let [home, work, bin] = ["home", "work", "bin"].map(|name| folder.join(name));
        for made in [&home, &work.join("src"), &bin] {
            std::fs::create_dir_all(made).map_err(XtaskError::file("create", made))?;
        }
        let built = built()?;
        let program = bin.join("tagout");
        std::fs::copy(&built, &program).map_err(XtaskError::file("copy", &built))?;
        let rest = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{rest}", bin.display());
        let places = Places {
            base: String::new(),
            home,
            workspace: work,
            prompt: "Do what is to be done.".to_owned(),
        };
        Ok(Self { places, bin, path })
    }

    /// A program as the person of the story runs it.
    fn person(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.places.workspace);
        command
            .env("PATH", &self.path)
            .env("HOME", &self.places.home);
        for variable in ["TAGOUT_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(variable);
        }
        command
    }

    fn tagout(&self, words: &[&str]) -> Command {
        self.person(&self.bin.join("tagout").to_string_lossy(), words)
    }

    fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.places.workspace.join(name)).ok()
    }
}

/// The product as cargo builds it for tests.
fn built() -> Result<PathBuf, XtaskError> {
    let words = [
        "build",
        "--quiet",
        "--package",
        "tagout",
        "--message-format",
        "json",
    ];
    let told = answer(&mut cargo_command(&words))?;
    let mut programs = told.lines().filter_map(|line| {
        let value: Value = serde_json::from_str(line).ok()?;
        value.get("executable")?.as_str().map(PathBuf::from)
    });
    programs
        .next_back()
        .ok_or_else(|| unknown("the program `tagout`"))
}

/// Plays the story with one client in one mode, and says what did not come out.
pub(crate) fn one(name: &str, mode_name: &str) -> Result<ExitCode, XtaskError> {
    let clients = run::all()?;
    let client = clients.get(name).ok_or_else(|| unknown(name))?;
    let mode = client
        .modes
        .get(mode_name)
        .ok_or_else(|| unknown(mode_name))?;
    let program = client.install(name)?;
    let folder = tempfile::tempdir().map_err(temporary())?;
    let mut scene = Scene::new(folder.path())?;
    answer(&mut scene.person("git", &["init", "-q", "."]))?;
    let init = ["init", "--yes", "--intent", "Work", "--scope", "src/**"];
    answer(&mut scene.tagout(&init))?;
    answer(&mut scene.tagout(&["install", name, "--yes"]))?;
    let story: Story = story(name, &scene.places)?;
    let stub = Stub::start(story.script).map_err(temporary())?;
    scene.places.base = stub.base();
    let mut command = client.command(&program, mode, &scene.places)?;
    command.env("PATH", &scene.path);
    let ended = bounded(&mut command)?;
    println!("{name} in mode {mode_name}: {ended}");
    let mut wrong = files(&scene);
    wrong.extend(ledger(&scene, &story.told)?);
    for one in &wrong {
        eprintln!("{name} in mode {mode_name}: {one}");
    }
    if wrong.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(last) = stub.heard().last() {
        eprintln!("the model heard: {last}");
    }
    Ok(ExitCode::FAILURE)
}

/// A script, and what the ledger tells of it.
#[derive(Debug, Deserialize)]
struct Story {
    #[serde(flatten)]
    script: Script,
    told: Vec<String>,
    /// Modes that can't be played, and why.
    #[serde(default)]
    left_out: BTreeMap<String, String>,
}

fn story(name: &str, places: &Places) -> Result<Story, XtaskError> {
    let wrong = |source| XtaskError::Data {
        file: "xtask/data/stories.json".to_owned(),
        source,
    };
    let stories: BTreeMap<String, Value> = serde_json::from_str(STORIES).map_err(wrong)?;
    let story = stories.get(name).ok_or_else(|| unknown(name))?;
    serde_json::from_str(&places.fill(&story.to_string())).map_err(wrong)
}

/// What lies in the workspace that should not, or does not and should.
fn files(scene: &Scene) -> Vec<String> {
    let expected = [
        ("src/early.txt", None),
        ("out.txt", None),
        ("shell.txt", None),
        ("src/a.txt", Some("a person's\n")),
    ];
    let mut wrong = Vec::new();
    for (name, text) in expected {
        let found = scene.text(name);
        if found.as_deref() != text {
            wrong.push(format!("`{name}` is {found:?}, not {text:?}"));
        }
    }
    wrong
}

/// Holds the ledger against what it should tell, in this order: a refusal's code, or how far the
/// write in scope was seen. A client that refuses a stale edit by itself never asks about it, and
/// one that does not say how a patch ended leaves that open.
fn ledger(scene: &Scene, expected: &[String]) -> Result<Vec<String>, XtaskError> {
    let mut wrong = Vec::new();
    let verified = capture(&mut scene.tagout(&["verify", "--json"]))?;
    let value: Value = serde_json::from_str(&verified.stdout).unwrap_or_default();
    if value.get("ok") != Some(&Value::Bool(true)) {
        wrong.push(format!("the ledger does not verify: {}", verified.stdout));
    }
    let log = answer(&mut scene.tagout(&["log", "--json"]))?;
    let events: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let mut told = events.iter();
    for expected in expected {
        if !told.any(|event| tells(event, expected)) {
            wrong.push(format!(
                "the ledger does not tell of {expected} in its place"
            ));
            wrong.push(events.iter().map(shown).collect::<Vec<_>>().join("; "));
            break;
        }
    }
    Ok(wrong)
}

fn field<'v>(event: &'v Value, way: &str) -> &'v str {
    event
        .pointer(way)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn tells(event: &Value, expected: &str) -> bool {
    match expected {
        "intent selected" => !field(event, "/data/selected").is_empty(),
        "COMPLETED" | "EXECUTING" => {
            let selects = field(event, "/toolId").contains("intent");
            field(event, "/state") == expected && !selects
        }
        code => field(event, "/error/context").starts_with(code),
    }
}

fn shown(event: &Value) -> String {
    let parts = ["/kind", "/toolId", "/state", "/error/context"].map(|way| field(event, way));
    parts.join(" ").trim().to_owned()
}

/// Every client that each run of the tests plays, or every one that can be run, in each mode.
pub(crate) fn suite(all: bool) -> Result<Tally, XtaskError> {
    let this = std::env::current_exe().map_err(XtaskError::file("find", Path::new("xtask")))?;
    let mut tally = Tally::default();
    for (name, client) in run::all()? {
        if !client.in_ci && !all {
            continue;
        }
        // The network is needed for this step alone.
        client.install(&name)?;
        let left_out = story(&name, &Places::default())?.left_out;
        for mode in client.modes.keys() {
            if let Some(why) = left_out.get(mode) {
                println!("{name} in mode {mode} is left out: {why}");
                tally.skipped += 1;
                continue;
            }
            let mut command = alone(&this);
            command.args(["story", &name, mode]).current_dir(root());
            let ok = stream(&mut command)?.ok;
            tally.passed += usize::from(ok);
            tally.failed += usize::from(!ok);
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
