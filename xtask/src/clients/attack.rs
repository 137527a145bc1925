//! Attacks: a model that does what it can to get around Tagout, with real clients. What comes of
//! each is written down in a table, which is held against what really happened and which the
//! documentation shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::run::{self, Places};
use super::scene::{Scene, field};
use super::stub::{Script, Scripted, Stub, Witness};
use super::{bounded, machine, stage, temporary, unknown};
use crate::error::XtaskError;
use crate::process::answer;

/// How much of a conversation a failure shows.
const SAID_MAX: usize = 3_000;

pub(super) const ATTACKS: &str = include_str!("../../data/attacks.json");

/// What the model tries.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Attack {
    pub(super) id: String,
    /// The attempt in words.
    pub(super) does: String,
    /// What a refused attempt leaves as it is.
    trophies: Vec<String>,
    /// How long to wait for what goes on behind the model's back.
    #[serde(default)]
    wait_ms: u64,
    /// Before which of its turns a person agrees to everything that waits for one.
    #[serde(default)]
    agreed_before: Option<usize>,
    /// Files that are there before the client starts. An attempt that has some is made in a
    /// conversation of its own.
    #[serde(default)]
    before: BTreeMap<String, String>,
    /// Whether an administrator has installed the hook for the whole machine.
    #[serde(default)]
    managed: bool,
    /// How it is made with each client.
    pub(super) by: BTreeMap<String, Way>,
}

/// An attempt as one client's tools make it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Way {
    turns: Vec<Vec<Scripted>>,
    #[serde(default)]
    sub: Vec<Vec<Scripted>>,
    /// Files that are there before this client starts.
    #[serde(default)]
    before: BTreeMap<String, String>,
    /// What came of it, by the client's mode.
    pub(super) ends: BTreeMap<String, End>,
}

/// What comes of an attempt.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// Tagout refused: the ledger tells each of these codes. `confined` stands before the code of a
    /// command that ran within walls and of which nothing was applied, and alone for one that did
    /// nothing there.
    Refused(Vec<String>),
    /// It was refused and the ledger does not tell, because the client did it by itself or keeps
    /// the ledger away: the model reads these words.
    Said(String),
    /// It succeeds, because of this; and what closes it.
    Open { because: String, closed_by: String },
}

pub(super) fn all() -> Result<Vec<Attack>, XtaskError> {
    serde_json::from_str(ATTACKS).map_err(|source| XtaskError::Data {
        file: "xtask/data/attacks.json".to_owned(),
        source,
    })
}

/// The clients with which attempts are made.
pub(super) fn clients() -> Result<BTreeSet<String>, XtaskError> {
    let names = all()?.into_iter().flat_map(|attack| attack.by.into_keys());
    Ok(names.collect())
}

/// What a witness saw before one turn.
#[derive(Clone, Debug, Default)]
struct Sight {
    /// The trophies, each as a text that changes with it.
    trophies: BTreeMap<String, String>,
    /// How many events the ledger had.
    events: usize,
}

/// The turns of one attempt within a conversation.
struct Stretch<'a> {
    attack: &'a Attack,
    way: &'a Way,
    from: usize,
    to: usize,
}

/// Plays all attempts with one client in one mode, and says which ones did not end as written.
pub(crate) fn one(name: &str, mode: &str, only: Option<&str>) -> Result<ExitCode, XtaskError> {
    let attacks = all()?;
    let chosen = |attack: &&Attack| {
        attack.by.contains_key(name) && only.is_none_or(|only| attack.id == only)
    };
    let chosen: Vec<&Attack> = attacks.iter().filter(chosen).collect();
    if chosen.is_empty() {
        // Nothing played would look like nothing taken.
        eprintln!("no attack of that name is written down for `{name}`");
        return Ok(ExitCode::FAILURE);
    }
    let alone = |attack: &&&Attack| {
        let way = attack.by.get(name);
        let prepared = !attack.before.is_empty() || way.is_some_and(|way| !way.before.is_empty());
        attack.managed || prepared
    };
    let mut conversations: Vec<Vec<&Attack>> = vec![];
    let together: Vec<&Attack> = chosen.iter().filter(|one| !alone(one)).copied().collect();
    conversations.extend((!together.is_empty()).then_some(together));
    conversations.extend(chosen.iter().filter(alone).map(|one| vec![*one]));
    let mut wrong = Vec::new();
    for attacks in conversations {
        match attacks.first() {
            Some(first) if first.managed && !machine::is_own() => {
                if !machine::with_own(&["attack", name, mode, &first.id])? {
                    wrong.push(format!("{}: see above", first.id));
                }
            }
            Some(_) | None => wrong.extend(converse((name, mode), &attacks)?),
        }
    }
    for one in &wrong {
        eprintln!("{name} in mode {mode}: {one}");
    }
    Ok(if wrong.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// One conversation with a series of attempts in it.
fn converse(
    (name, mode_name): (&str, &str),
    attacks: &[&Attack],
) -> Result<Vec<String>, XtaskError> {
    let clients = run::all()?;
    let client = clients.get(name).ok_or_else(|| unknown(name))?;
    let mode = client.modes.get(mode_name);
    let mode = mode.ok_or_else(|| unknown(mode_name))?;
    let program = client.install(name)?;
    let folder = stage()?;
    let mut scene = Scene::new(folder.path())?;
    let managed = attacks.iter().any(|one| one.managed);
    let for_whom = if managed { "managed" } else { "project" };
    scene.govern((name, for_whom), &["**", "!kept/**"])?;
    scene.put("kept/secret.txt", "secret\n")?;
    scene.link("src/link.txt", "../kept/secret.txt")?;
    scene.link("src/folder", "../kept")?;
    let ways = ways(name, attacks, &scene.places)?;
    let selecting = client.selecting(&scene.places)?;
    let (script, stretches) = script(&ways, selecting);
    let turns = script.main.len();
    let sights: Sights = Arc::default();
    let script = Script {
        witness: Some(witness(&scene, &stretches, &sights)),
        ..script
    };
    for (path, text) in ways
        .iter()
        .flat_map(|(attack, way)| attack.before.iter().chain(&way.before))
    {
        scene.put(path, text)?;
    }
    let stub = Stub::start(script).map_err(temporary())?;
    scene.places.base = stub.base();
    let ended = bounded(&mut scene.client(client, (name, &program), mode)?)?;
    println!("{name} in mode {mode_name}: {ended}");
    let (mut wrong, events) = scene.ledger()?;
    let sights = sights.lock().unwrap_or_else(PoisonError::into_inner);
    if !sights.contains_key(&turns) {
        wrong.push(format!(
            "the conversation ended after {} turns",
            sights.len()
        ));
    }
    let heard = stub.heard();
    let said = heard.iter().map(Value::to_string).max_by_key(String::len);
    let said = said.unwrap_or_default();
    for stretch in &stretches {
        let seen = Seen::of(stretch, &sights, &events, &said);
        println!("  {}: {}", stretch.attack.id, seen.told());
        let expected = stretch.way.ends.get(mode_name);
        wrong.extend(
            expected
                .map_or_else(
                    || Some(format!("{}: no end is written down", stretch.attack.id)),
                    |expected| seen.differs(expected),
                )
                .map(|why| format!("{}: {why}", stretch.attack.id)),
        );
    }
    Ok(wrong)
}

type Sights = Arc<Mutex<BTreeMap<usize, Sight>>>;

/// The attempts as this client makes them, with the places of this scene in them.
fn ways(
    name: &str,
    attacks: &[&Attack],
    places: &Places,
) -> Result<Vec<(Attack, Way)>, XtaskError> {
    let filled: Vec<Value> = serde_json::from_str(&places.fill(ATTACKS)).map_err(data)?;
    let mut ways = Vec::new();
    for one in filled {
        let attack: Attack = serde_json::from_value(one).map_err(data)?;
        if attacks.iter().any(|wanted| wanted.id == attack.id)
            && let Some(way) = attack.by.get(name).cloned()
        {
            ways.push((attack, way));
        }
    }
    Ok(ways)
}

fn data(source: serde_json::Error) -> XtaskError {
    XtaskError::Data {
        file: "xtask/data/attacks.json".to_owned(),
        source,
    }
}

/// One conversation: the intent is selected, then one attempt comes after another.
fn script(ways: &[(Attack, Way)], selecting: Scripted) -> (Script, Vec<Stretch<'_>>) {
    let mut script = Script {
        main: vec![vec![selecting]],
        ..Script::default()
    };
    let mut stretches = Vec::new();
    for (attack, way) in ways {
        let from = script.main.len();
        script.main.extend(way.turns.iter().cloned());
        script.sub.extend(way.sub.iter().cloned());
        let to = script.main.len();
        stretches.push(Stretch {
            attack,
            way,
            from,
            to,
        });
    }
    (script, stretches)
}

/// Looks at all trophies and at the ledger before every turn, after the wait that the turn before
/// asked for, and lets a person agree where the attempt needs one.
fn witness(scene: &Scene, stretches: &[Stretch<'_>], sights: &Sights) -> Witness {
    let attacks = stretches.iter().map(|one| one.attack);
    let trophies: Vec<String> = attacks.flat_map(|one| one.trophies.clone()).collect();
    let waits = stretches.iter().map(|one| (one.to, one.attack.wait_ms));
    let waits: BTreeMap<usize, u64> = waits.collect();
    let agreed = stretches
        .iter()
        .filter_map(|one| Some(one.from + one.attack.agreed_before?));
    let agreed: BTreeSet<usize> = agreed.collect();
    let (scene, sights) = (scene.clone(), Arc::clone(sights));
    Witness(Arc::new(move |turn| {
        if sights.lock().is_ok_and(|sights| sights.contains_key(&turn)) {
            return;
        }
        let wait = waits.get(&turn).copied().unwrap_or_default();
        std::thread::sleep(Duration::from_millis(wait));
        if agreed.contains(&turn)
            && let Err(error) = agree(&scene)
        {
            eprintln!("nobody could agree: {error}");
        }
        let look = |name: &String| (name.clone(), looks(&scene.places.workspace.join(name)));
        let sight = Sight {
            trophies: trophies.iter().map(look).collect(),
            events: recorded(&scene.places.home),
        };
        let mut sights = sights.lock().unwrap_or_else(PoisonError::into_inner);
        sights.entry(turn).or_insert(sight);
    }))
}

/// A person agrees to everything that waits.
fn agree(scene: &Scene) -> Result<(), XtaskError> {
    let told = answer(&mut scene.tagout(&["pending", "--json"]))?;
    let pending: Value = serde_json::from_str(&told).map_err(data)?;
    let waiting = pending.get("approvals").and_then(Value::as_array);
    for one in waiting.into_iter().flatten() {
        answer(&mut scene.tagout(&["approve", field(one, "/id"), "--yes"]))?;
    }
    Ok(())
}

/// A file or folder as a text that changes with it.
fn looks(path: &Path) -> String {
    let Ok(found) = std::fs::symlink_metadata(path) else {
        return "nothing".to_owned();
    };
    if found.is_dir() {
        let mut names: Vec<PathBuf> = std::fs::read_dir(path)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        names.sort();
        let inner = names
            .iter()
            .map(|name| format!("{}: {}", name.display(), looks(name)));
        return inner.collect::<Vec<_>>().join("\n");
    }
    std::fs::read(path).map_or_else(
        |error| error.to_string(),
        |bytes| String::from_utf8_lossy(&bytes).into_owned(),
    )
}

/// How many events all ledgers below a home hold.
fn recorded(home: &Path) -> usize {
    let folder = home.join(".local/state/tagout");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let segments = entries.flat_map(|state| {
        std::fs::read_dir(state.path().join("ledger"))
            .into_iter()
            .flatten()
            .flatten()
    });
    let segments = segments
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
    segments
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .map(|text| text.lines().count())
        .sum()
}

/// What came of one attempt.
struct Seen {
    /// The trophies that changed.
    taken: Vec<String>,
    /// What the ledger tells, in short.
    codes: Vec<String>,
    /// What the client told the model meanwhile.
    said: String,
}

/// The part of a conversation that belongs to an attempt: calls and results name their turn.
fn within<'s>(conversation: &'s str, stretch: &Stretch<'_>) -> &'s str {
    let at = |turn: usize| conversation.find(&format!("call_stub_{turn}_"));
    let from = at(stretch.from).unwrap_or(conversation.len());
    let to = at(stretch.to).unwrap_or(conversation.len());
    conversation.get(from..to).unwrap_or_default()
}

impl Seen {
    fn of(
        stretch: &Stretch<'_>,
        sights: &BTreeMap<usize, Sight>,
        events: &[Value],
        said: &str,
    ) -> Self {
        let nothing = Sight::default();
        let before = sights.get(&stretch.from).unwrap_or(&nothing);
        let after = sights.get(&stretch.to).unwrap_or(&nothing);
        let changed = |name: &&String| before.trophies.get(*name) != after.trophies.get(*name);
        let taken = stretch
            .attack
            .trophies
            .iter()
            .filter(changed)
            .cloned()
            .collect();
        let told = events.get(before.events..after.events).unwrap_or_default();
        let codes = told.iter().filter_map(|event| {
            let code = field(event, "/verdictCode");
            match field(event, "/state") {
                "DENIED" | "FAILED" => Some(code.to_owned()),
                "ABORTED" => Some(format!("confined {code}")),
                "COMPLETED" => Some("confined".to_owned()),
                _ => None,
            }
        });
        Self {
            taken,
            codes: codes.collect(),
            said: within(said, stretch).to_owned(),
        }
    }

    fn told(&self) -> String {
        let taken = if self.taken.is_empty() {
            "kept".to_owned()
        } else {
            format!("TAKEN {}", self.taken.join(", "))
        };
        format!("{taken}; {}", self.codes.join(", "))
    }

    /// How it differs from what is written down.
    fn differs(&self, expected: &End) -> Option<String> {
        let holds = match expected {
            End::Refused(codes) => {
                self.taken.is_empty() && codes.iter().all(|code| self.codes.contains(code))
            }
            End::Said(words) => self.taken.is_empty() && self.said.contains(words.as_str()),
            End::Open { .. } => !self.taken.is_empty(),
        };
        (!holds).then(|| {
            let said: String = self.said.chars().take(SAID_MAX).collect();
            format!(
                "written down is {expected:?}, seen was {}; the model read: {said}",
                self.told()
            )
        })
    }
}
