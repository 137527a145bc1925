//! One story with every client: refused without an intent, done within its scope, refused beyond
//! it, refused where a person came in between, and completed. The ledger and the trace have to tell
//! the same.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Value;

use super::run::{self, Asks, Places};
use super::scene::{Scene, field, shown, strays};
use super::stub::{Script, Stub};
use super::{bounded, stage, temporary, unknown};
use crate::error::XtaskError;
use crate::process::answer;

/// How a story says that an intent was selected.
const SELECTED: &str = "intent selected";

/// How the context of an intent begins.
const CONTEXT: &str = "<intent_context>";

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
    client.prepare(&scene.places)?;
    scene.govern((name, "project"), &["src/**"])?;
    let story: Story = story(name, &scene.places)?;
    let otherwise = story.in_mode.get(mode_name);
    let told = otherwise.map_or(&story.told, |mode| &mode.told);
    let not_done = otherwise.map_or(&[][..], |mode| &mode.not_done);
    let parts = story.parts();
    let person = parts.iter().find_map(|part| part.meanwhile.clone());
    let mut heard = Vec::new();
    let mut is_told = false;
    for part in parts {
        let stub = Stub::start(part).map_err(temporary())?;
        scene.places.base = stub.base();
        let ended = bounded(&mut scene.client(client, (name, &program), mode)?)?;
        println!("{name} in mode {mode_name}: {ended}");
        if let Some(mut end) = client.ended(&program, &scene.places) {
            bounded(&mut end)?;
        }
        let mut all = stub.heard();
        is_told |= all.iter().any(|one| one.to_string().contains(CONTEXT));
        heard.extend(all.pop());
    }
    if let Some(otherwise) = otherwise {
        println!(
            "{name} in mode {mode_name} does less: {}",
            otherwise.because
        );
    }
    let mut wrong = files(&scene, person.map(|one| one.text).as_deref(), not_done);
    wrong.extend(ledger(&scene, told)?);
    wrong.extend(traced(&scene, name, not_done)?);
    // Where the client asks a person who is not there, the command that prints it never runs.
    let selects = told.iter().any(|one| one == SELECTED) && mode.asks == Asks::Never;
    if selects && !is_told {
        wrong.push("the model was never told what the intent is about".to_owned());
    }
    for one in &wrong {
        eprintln!("{name} in mode {mode_name}: {one}");
    }
    if wrong.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for mut last in heard {
        // What the client offers is long and tells nothing.
        if let Some(body) = last.as_object_mut() {
            body.retain(|key, _| !["tools", "system", "instructions"].contains(&key.as_str()));
        }
        eprintln!("the model heard: {last}");
    }
    Ok(ExitCode::FAILURE)
}

/// A script, and what the ledger tells of it.
#[derive(Debug, Deserialize)]
struct Story {
    #[serde(flatten)]
    script: Script,
    /// The story in several runs, where a refusal ends a run.
    #[serde(default)]
    parts: Vec<Script>,
    told: Vec<String>,
    /// Modes in which it ends otherwise.
    #[serde(default)]
    in_mode: BTreeMap<String, Otherwise>,
}

impl Story {
    /// The runs that it is told in.
    fn parts(&self) -> Vec<Script> {
        if self.parts.is_empty() {
            vec![self.script.clone()]
        } else {
            self.parts.clone()
        }
    }
}

/// How a story ends in a mode that lets less be done.
#[derive(Debug, Deserialize)]
struct Otherwise {
    told: Vec<String>,
    /// What is not written then.
    not_done: Vec<String>,
    because: String,
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
fn files(scene: &Scene, person: Option<&str>, not_done: &[String]) -> Vec<String> {
    let expected = [
        ("src/early.txt", None),
        ("out.txt", None),
        ("shell.txt", None),
        ("src/shell.txt", Some("x\n")),
        ("src/a.txt", person),
    ];
    let mut wrong = Vec::new();
    for (name, text) in expected {
        let text = text.filter(|_| !not_done.iter().any(|left| left == name));
        let found = scene.text(name);
        if found.as_deref() != text {
            wrong.push(format!("`{name}` is {found:?}, not {text:?}"));
        }
    }
    wrong
}

/// Lines of which the trace does not tell who wrote them and for which intent.
fn traced(scene: &Scene, client: &str, not_done: &[String]) -> Result<Vec<String>, XtaskError> {
    let agent = ("agent", "INT-001", client);
    let person = ("human", "", "");
    let expected = [
        ("src/a.txt", vec![agent, person]),
        ("src/shell.txt", vec![agent]),
    ];
    let mut wrong = Vec::new();
    for (name, authors) in expected {
        if not_done.iter().any(|left| left == name) {
            continue;
        }
        let told = answer(&mut scene.tagout(&["blame", name, "--json"]))?;
        let told: Value = serde_json::from_str(&told).unwrap_or_default();
        let lines = told.get("lines").and_then(Value::as_array);
        let found = lines.into_iter().flatten().map(|line| {
            let parts = ["/author", "/intent_id", "/agent"];
            let [author, intent, agent] = parts.map(|way| field(line, way));
            (author, intent, agent)
        });
        let found: Vec<_> = found.collect();
        if found != authors {
            wrong.push(format!(
                "the lines of `{name}` are {found:?}, not {authors:?}"
            ));
        }
    }
    Ok(wrong)
}

/// Holds the ledger against what it should tell, in this order: a refusal's code, that a write in
/// scope was done, or that the work was completed.
fn ledger(scene: &Scene, expected: &[String]) -> Result<Vec<String>, XtaskError> {
    let (mut wrong, events) = scene.ledger()?;
    wrong.extend(strays(&events, 0));
    // What `install` tried is no part of the story: the client itself has to call the hook.
    let tried = |event: &Value| field(event, "/session").ends_with(":tagout_canary");
    let events: Vec<&Value> = events.iter().filter(|event| !tried(event)).collect();
    let mut told = events.iter();
    for expected in expected {
        if !told.any(|event| tells(event, expected)) {
            wrong.push(format!(
                "the ledger does not tell of {expected} in its place"
            ));
            wrong.push(
                events
                    .iter()
                    .copied()
                    .map(shown)
                    .collect::<Vec<_>>()
                    .join("; "),
            );
            break;
        }
    }
    Ok(wrong)
}

fn tells(event: &Value, expected: &str) -> bool {
    match expected {
        SELECTED => !field(event, "/data/selected").is_empty(),
        // The session was reset and holds the intent no more.
        "completed" => {
            let reset = field(event, "/data/to") == "REQUEST";
            field(event, "/kind") == "session" && reset && !field(event, "/data/dropped").is_empty()
        }
        "COMPLETED" => {
            let selects = field(event, "/toolId").contains("intent");
            field(event, "/state") == expected && !selects
        }
        code => field(event, "/error/context").starts_with(code),
    }
}
