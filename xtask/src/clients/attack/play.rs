//! Conversations in which attempts are made, watched turn by turn.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::super::run::{self, Asks, Client, Mode};
use super::super::scene::{Scene, field, shown, strays};
use super::super::speech::{Words, fill, filled};
use super::super::stub::{Request, SUBAGENT_MARK, Script, Scripted, Stub, Witness};
use super::super::{bounded, machine, stage, temporary, unknown};
use super::seen::{Outcome, Seen, Sight, conversation, within};
use super::{Attack, End, all, outcomes};
use crate::error::XtaskError;
use crate::process::answer;

/// Files up to here are looked at as a whole.
const READ_BYTES_MAX: u64 = 1 << 20;

/// Plays all attempts with one client in one mode, and says which ones did not end as written.
pub(crate) fn one(name: &str, mode: &str, only: Option<&str>) -> Result<ExitCode, XtaskError> {
    let clients = run::all()?;
    let client = clients.get(name).ok_or_else(|| unknown(name))?;
    client.modes.get(mode).ok_or_else(|| unknown(mode))?;
    let attacks = all()?;
    let chosen =
        |attack: &&Attack| attack.is_for(name) && only.is_none_or(|only| attack.id == only);
    let chosen: Vec<&Attack> = attacks.iter().filter(chosen).collect();
    if chosen.is_empty() {
        // Nothing played would look like nothing taken.
        eprintln!("no attack of that name is written down for `{name}`");
        return Ok(ExitCode::FAILURE);
    }
    let alone = |attack: &&&Attack| {
        let is_usual = attack.scope(name) == "project" && !attack.is_untrusted(name);
        !attack.files(name).is_empty() || !is_usual
    };
    let mut conversations: Vec<Vec<&Attack>> = vec![];
    let together: Vec<&Attack> = chosen.iter().filter(|one| !alone(one)).copied().collect();
    conversations.extend((!together.is_empty()).then_some(together));
    conversations.extend(chosen.iter().filter(alone).map(|one| vec![*one]));
    let mut wrong = Vec::new();
    for attacks in conversations {
        match attacks.first() {
            Some(first) if first.scope(name) == "managed" && !machine::is_own() => {
                if !machine::with_own(&["attack", name, mode, &first.id])? {
                    wrong.push(format!("{}: see above", first.id));
                }
            }
            Some(_) | None => {
                wrong.extend(converse((name, client), (mode, only), &attacks)?);
            }
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

/// The turns of one attempt among those of a conversation.
struct Stretch<'a> {
    attack: &'a Attack,
    turns: Range<usize>,
    end: End,
}

/// All turns of a conversation, and what is seen between them.
struct Conversation<'a> {
    turns: Vec<Vec<Scripted>>,
    sub: Vec<Vec<Scripted>>,
    stretches: Vec<Stretch<'a>>,
    /// Turns after which the client ends its run.
    ends: BTreeSet<usize>,
}

type Sights = Arc<Mutex<BTreeMap<usize, Sight>>>;

/// One conversation with a series of attempts in it; of one that was asked for alone, all that
/// there is to see is shown.
fn converse(
    (name, client): (&str, &Client),
    (mode_name, only): (&str, Option<&str>),
    attacks: &[&Attack],
) -> Result<Vec<String>, XtaskError> {
    let mode = client.modes.get(mode_name);
    let mode = mode.ok_or_else(|| unknown(mode_name))?;
    let untrusting = client.untrusting(mode);
    let is_untrusted = attacks.iter().any(|attack| attack.is_untrusted(name));
    let mode = if is_untrusted { &untrusting } else { mode };
    let program = client.install(name)?;
    let folder = stage()?;
    let mut scene = prepared(folder.path(), (name, client), attacks)?;
    let talk = Conversation::of((name, client), (mode_name, mode), attacks);
    let talk = talk.filled((name, client), &scene);
    let sights: Sights = Arc::default();
    let mut said: BTreeMap<usize, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    for run in talk.runs() {
        let look = talk.witness((name, client), &scene, (&run, &sights));
        let script = talk.script(&run, client.selecting(&scene.places), look.clone());
        let requests = scene.clone();
        let script = Script {
            request: Some(Request(Arc::new(move || {
                requests.requests().into_iter().next()
            }))),
            ..script
        };
        let stub = Stub::start(script).map_err(temporary())?;
        scene.places.base = stub.base();
        let mut command = scene.client(client, (name, &program), mode)?;
        let (ended, told) = overheard(&mut command, folder.path())?;
        println!("{told}{name} in mode {mode_name}: {ended}");
        if let Some(mut end) = client.ended(&program, &scene.places) {
            bounded(&mut end)?;
        }
        let ends = client.refusal_ends || mode.asks == Asks::Ends;
        wrong.extend(talk.left_out(&run, ends, &sights));
        if mode.asks == Asks::Ends {
            // What came with the end of the run belongs to its only turn.
            let mut seen = sights.lock().unwrap_or_else(PoisonError::into_inner);
            seen.remove(&run.end);
        }
        (look.0)(run.len() + 1);
        said.extend(talk.said(&run, &stub.heard(), &scene.places.prompt));
        if mode.asks == Asks::Ends {
            said.entry(run.start).or_default().push_str(&told);
        }
    }
    let (damage, events) = scene.ledger()?;
    wrong.extend(damage);
    let strays_count = attacks.iter().map(|attack| attack.strays_count).sum();
    wrong.extend(strays(&events, strays_count));
    if only.is_some() {
        for event in &events {
            let why = field(event, "/error/message");
            println!("    the ledger: {} {why}", shown(event));
        }
        println!("    the model read: {said:?}");
    }
    let sights = sights.lock().unwrap_or_else(PoisonError::into_inner);
    for stretch in &talk.stretches {
        let seen = stretch.seen((name, client), &scene, (&sights, &events, &said));
        let seen = seen.with_refusals(|text| client.refusals(mode, text));
        println!("  {}: {}", stretch.attack.id, seen.told());
        wrong.extend(stretch.differs(seen));
    }
    Ok(wrong)
}

/// A governed workspace with all that the attempts need.
fn prepared(
    folder: &Path,
    (name, client): (&str, &Client),
    attacks: &[&Attack],
) -> Result<Scene, XtaskError> {
    let scene = Scene::new(folder)?;
    client.prepare(&scene.places)?;
    let scope = attacks.first().map_or("project", |one| one.scope(name));
    scene.govern((name, scope), &["**", "!kept/**"])?;
    scene.put("kept/secret.txt", "secret\n")?;
    scene.link("src/link.txt", "../kept/secret.txt")?;
    scene.link("src/folder", "../kept")?;
    let texts = words((name, client), &scene);
    let texts = by_place(&texts);
    for (path, text) in attacks.iter().flat_map(|attack| attack.files(name)) {
        scene.put(&path, &fill(&text, &texts))?;
    }
    Ok(scene)
}

/// What is written for all turns, as if for one.
fn outcomes_of(turns: &[String]) -> String {
    let all: Vec<&str> = turns.iter().flat_map(|turn| outcomes(turn)).collect();
    all.join(", ")
}

impl<'a> Conversation<'a> {
    /// One attempt after another.
    fn of((name, client): (&str, &Client), mode: (&str, &Mode), attacks: &[&'a Attack]) -> Self {
        let (mode, how) = mode;
        let mut talk = Self {
            turns: Vec::new(),
            sub: Vec::new(),
            stretches: Vec::new(),
            ends: BTreeSet::new(),
        };
        for attack in attacks {
            let from = talk.turns.len();
            talk.turns
                .extend(attack.turns(name, client).unwrap_or_default());
            let sub = attack.sub.iter();
            let said = sub.map(|turn| turn.iter().map(|one| client.says(one)).collect());
            talk.sub.extend(said);
            let end = attack.end(name, client, mode);
            if let (End::Refused(turns), true) = (&end, client.refusal_ends) {
                let refuses = |turn: &String| outcomes(turn).any(|one| !Outcome::passes(one));
                let refusing = turns.iter().enumerate().filter(|(_, turn)| refuses(turn));
                talk.ends.extend(refusing.map(|(at, _)| from + at));
            }
            let turns = from..talk.turns.len();
            if how.asks == Asks::Ends {
                // Whether it does is known when it is too late, so each turn has its own run.
                talk.ends.extend(turns.clone());
            }
            talk.stretches.push(Stretch { attack, turns, end });
        }
        talk
    }

    /// The same with the places of a scene.
    fn filled(mut self, client: (&str, &Client), scene: &Scene) -> Self {
        let texts = words(client, scene);
        let words = by_place(&texts);
        for call in self.turns.iter_mut().chain(&mut self.sub).flatten() {
            call.input = filled(&call.input, &words);
        }
        self
    }

    /// The runs of the client that it takes: one, unless a refusal ends a run.
    fn runs(&self) -> Vec<Range<usize>> {
        let mut runs = Vec::new();
        let mut from = 0;
        for turn in 0..self.turns.len() {
            if self.ends.contains(&turn) || turn + 1 == self.turns.len() {
                runs.push(from..turn + 1);
                from = turn + 1;
            }
        }
        runs
    }

    /// Whether a run ended before its last turn; that one may be what ends it.
    fn left_out(&self, run: &Range<usize>, ends: bool, sights: &Sights) -> Option<String> {
        let reached = run.end - usize::from(ends);
        let seen = sights.lock().unwrap_or_else(PoisonError::into_inner);
        let last = seen.len();
        let all = self.turns.len();
        (!seen.contains_key(&reached))
            .then(|| format!("of the turns {run:?} of {all} the run ended before turn {last}"))
    }

    /// What the model read in each turn of a run. A subagent's words belong to the last turn of
    /// the attempt that has one: it starts after a person agreed.
    fn said(&self, run: &Range<usize>, heard: &[Value], prompt: &str) -> BTreeMap<usize, String> {
        let all: Vec<String> = heard.iter().map(conversation).collect();
        let is_sub = |text: &&String| text.contains(SUBAGENT_MARK) && !text.contains(prompt);
        let longest = |subs: bool| {
            let some = all.iter().filter(|text| is_sub(text) == subs);
            some.max_by_key(|text| text.len()).cloned()
        };
        let main = longest(false).unwrap_or_default();
        let turns = run.clone();
        let mut said: BTreeMap<usize, String> = turns
            .map(|turn| (turn, within(&main, turn - run.start + 1)))
            .collect();
        let delegating = self
            .stretches
            .iter()
            .filter(|one| !one.attack.sub.is_empty());
        for turn in delegating.filter_map(|one| one.turns.clone().next_back()) {
            if let (Some(said), Some(sub)) = (said.get_mut(&turn), longest(true)) {
                said.push_str(&sub);
            }
        }
        said
    }

    /// What the model does in a run: it selects the intent first.
    fn script(&self, run: &Range<usize>, selecting: Scripted, witness: Witness) -> Script {
        let turns = self.turns.get(run.clone()).unwrap_or_default();
        let main = std::iter::once(vec![selecting]).chain(turns.iter().cloned());
        Script {
            main: main.collect(),
            sub: self.sub.clone(),
            witness: Some(witness),
            ..Script::default()
        }
    }

    /// Looks at all trophies and at the ledger before every turn of a run, after the wait that the
    /// turn before asked for, and lets a person agree where the attempt needs one.
    fn witness(
        &self,
        client: (&str, &Client),
        scene: &Scene,
        (run, sights): (&Range<usize>, &Sights),
    ) -> Witness {
        let mut trophies = BTreeMap::new();
        let mut waits = BTreeMap::new();
        let mut agreed = BTreeSet::new();
        let mut asked = BTreeSet::new();
        for one in &self.stretches {
            let attack = one.attack;
            trophies.extend(places(client, scene, attack));
            waits.insert(one.turns.end, attack.wait_ms);
            agreed.extend(attack.agreed_before.map(|turn| one.turns.start + turn));
            let ends = [one.turns.start, one.turns.end];
            asked.extend(ends.into_iter().filter(|_| attack.still_asked));
        }
        let (scene, sights, from) = (scene.clone(), Arc::clone(sights), run.start);
        Witness(Arc::new(move |number: usize| {
            // The first turn of a run is the selection, which nobody has to see.
            let Some(turn) = number.checked_sub(1).map(|turn| from + turn) else {
                return;
            };
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
            let look = |(name, path): (&String, &PathBuf)| (name.clone(), looks(path));
            let waiting = asked.contains(&turn).then(|| scene.requests());
            let sight = Sight {
                trophies: trophies.iter().map(look).collect(),
                events: recorded(&scene.places.home),
                waiting: waiting.unwrap_or_default(),
            };
            let mut sights = sights.lock().unwrap_or_else(PoisonError::into_inner);
            sights.entry(turn).or_insert(sight);
        }))
    }
}

impl Stretch<'_> {
    /// How what was seen differs from what is written down.
    fn differs(&self, seen: Seen) -> Option<String> {
        let differs = match &self.end {
            End::Refused(turns) if self.attack.in_any_turn => {
                let written = outcomes_of(turns);
                seen.at_once().differs(&End::Refused(vec![written]))
            }
            end @ (End::Refused(_) | End::Open { .. }) => seen.differs(end),
        };
        differs.map(|why| format!("{}: {why}", self.attack.id))
    }

    fn seen(
        &self,
        client: (&str, &Client),
        scene: &Scene,
        (sights, events, said): (&BTreeMap<usize, Sight>, &[Value], &BTreeMap<usize, String>),
    ) -> Seen {
        let nothing = Sight::default();
        let at = |turn: usize| sights.get(&turn).unwrap_or(&nothing);
        let (before, after) = (at(self.turns.start), at(self.turns.end));
        let changed = |name: &&String| before.trophies.get(*name) != after.trophies.get(*name);
        let trophies = places(client, scene, self.attack);
        let mut taken: Vec<String> = trophies.keys().filter(changed).cloned().collect();
        let new = after
            .waiting
            .iter()
            .any(|one| !before.waiting.contains(one));
        if self.attack.still_asked && !new {
            taken.push("the yes of a person".to_owned());
        }
        let told = |turn: usize| events.get(at(turn).events..at(turn + 1).events);
        let turns = self.turns.clone().map(|turn| {
            let told = told(turn).unwrap_or_default();
            told.iter().filter_map(Outcome::of).collect()
        });
        let said = |turn: usize| said.get(&turn).cloned().unwrap_or_default();
        Seen {
            taken,
            turns: turns.collect(),
            said: self.turns.clone().map(said).collect(),
            refusals: Vec::new(),
        }
    }
}

/// What stands for the places of an attempt.
fn words<'n>((name, client): (&str, &Client), scene: &Scene) -> BTreeMap<&'n str, String> {
    let places = &scene.places;
    BTreeMap::from([
        ("{client}", name.to_owned()),
        ("{settings}", client.settings.clone()),
        ("{user_settings}", client.user_settings.clone()),
        ("{off}", client.off.clone()),
        ("{home}", places.home.to_string_lossy().into_owned()),
        (
            "{workspace}",
            places.workspace.to_string_lossy().into_owned(),
        ),
        ("{tagout}", places.program.to_string_lossy().into_owned()),
    ])
}

fn by_place<'t>(texts: &'t BTreeMap<&'t str, String>) -> Words<'t> {
    let pairs = texts.iter();
    pairs.map(|(place, word)| (*place, word.as_str())).collect()
}

/// Where the trophies of an attempt lie, by name.
fn places(client: (&str, &Client), scene: &Scene, attack: &Attack) -> BTreeMap<String, PathBuf> {
    let texts = words(client, scene);
    let words = by_place(&texts);
    let place = |name: &String| {
        let path = scene.places.workspace.join(fill(name, &words));
        (name.clone(), path)
    };
    attack.trophies.iter().map(place).collect()
}

/// Runs a client to its end, and keeps what it told whoever started it.
fn overheard(command: &mut Command, folder: &Path) -> Result<(String, String), XtaskError> {
    let path = folder.join("told");
    let file = File::create(&path).map_err(XtaskError::file("create", &path))?;
    let again = file.try_clone().map_err(XtaskError::file("use", &path))?;
    let ended = bounded(command.stdout(file).stderr(again))?;
    let told = std::fs::read(&path).map_err(XtaskError::file("read", &path))?;
    Ok((ended, String::from_utf8_lossy(&told).into_owned()))
}

/// A person agrees to everything that waits.
fn agree(scene: &Scene) -> Result<(), XtaskError> {
    for one in scene.requests() {
        answer(&mut scene.tagout(&["approve", &one, "--yes"]))?;
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
    if found.len() > READ_BYTES_MAX {
        // A program is large, and there is one look at it for every turn. No write leaves the time
        // of the last change as it was, and nobody can set it.
        let changed = (found.ino(), found.ctime(), found.ctime_nsec());
        return format!("{} bytes, {changed:?}", found.len());
    }
    std::fs::read(path).map_or_else(
        |error| error.to_string(),
        |bytes| {
            let mut state = DefaultHasher::new();
            bytes.hash(&mut state);
            format!("{} bytes, {:x}", bytes.len(), state.finish())
        },
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
