//! One story with every client: refused without an intent, done within its scope, refused beyond
//! it, refused where a person came in between. The ledger has to tell the same.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

use serde::Deserialize;
use serde_json::Value;

use super::run::{self, Places};
use super::scene::{Scene, field, shown};
use super::stub::{Script, Stub};
use super::{bounded, stage, temporary, unknown};
use crate::error::XtaskError;
use crate::process::{capture, root, stream};
use crate::suites::Tally;

const STORIES: &str = include_str!("../../data/stories.json");

/// Plays the story with one client in one mode, and says what did not come out.
pub(crate) fn one(name: &str, mode_name: &str) -> Result<ExitCode, XtaskError> {
    let clients = run::all()?;
    let client = clients.get(name).ok_or_else(|| unknown(name))?;
    let mode = client
        .modes
        .get(mode_name)
        .ok_or_else(|| unknown(mode_name))?;
    let program = client.install(name)?;
    let folder = stage()?;
    let mut scene = Scene::new(folder.path())?;
    scene.govern(name, &["src/**"])?;
    let story: Story = story(name, &scene.places)?;
    let stub = Stub::start(story.script).map_err(temporary())?;
    scene.places.base = stub.base();
    let mut command = scene.client(client, &program, mode)?;
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
    let (mut wrong, events) = scene.ledger()?;
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
