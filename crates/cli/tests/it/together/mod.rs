//! Two agents and a person who edit the same files at once, through the real binary: at the end
//! trace and ledger agree on every byte, and nobody's work is lost.

mod evidence;
mod hands;
mod mutants;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;
use tagout_ledger::{Kind, LifecycleState, Reader};
use tagout_vocab::Digest;

use crate::confined::Site;
use evidence::{Blamed, Done, Evidence, Kept};
use hands::{Agent, Notes, Person};

const FILES: [&str; 4] = [
    "src/one.py",
    "src/two.py",
    "src/deep/three.py",
    "src/four.py",
];

/// Both own the same files, and a person agreed to it.
const INTENTS: &str = "\
version: 1
active_intents:
  - id: INT-001
    name: First
    status: IN_PROGRESS
    owned_scope: [src/**]
    shares_with: [INT-002]
  - id: INT-002
    name: Second
    status: IN_PROGRESS
    owned_scope: [src/**]
    shares_with: [INT-001]
";

fn set_up() -> Site {
    let text = |file: usize| -> String {
        let line = |at: usize| format!("before_{file}_{at} = compute({at})\n");
        (0..24).map(line).collect()
    };
    let texts: Vec<String> = (0..FILES.len()).map(text).collect();
    let files: Vec<(&str, &str)> = FILES
        .into_iter()
        .zip(texts.iter().map(String::as_str))
        .collect();
    let site = Site::new(&files);
    site.write(".orchestration/active_intents.yaml", INTENTS);
    let ran = site.tagout(&["trust", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    for (session, intent) in [("s-a", "INT-001"), ("s-1", "INT-002")] {
        let ran = site.tagout(&["intent", "select", intent, "--session", session]);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
    }
    site
}

fn edit_for(site: &Site, time: Duration) -> Notes {
    let notes = Mutex::new(Notes::default());
    for file in FILES {
        hands::learn(&notes, &site.read(file).unwrap());
    }
    hands::learn(&notes, "");
    let first = Agent::new(site, &notes, ("a", "s-a", "INT-001"), 11);
    first.begin();
    let until = Instant::now() + time;
    std::thread::scope(|scope| {
        let first = &first;
        let second = Agent::new(site, &notes, ("b", "s-1", "INT-002"), 22).with_shell();
        let person = Person::new(site, &notes, 33);
        scope.spawn(move || first.work(until));
        scope.spawn(move || second.work(until));
        scope.spawn(move || person.work(until));
    });
    notes.into_inner().unwrap()
}

/// What ended with changed files, from the ledger's own bytes.
fn done(site: &Site) -> Vec<Done> {
    let reader = Reader::open(&site.state().join("ledger")).unwrap();
    let events = reader.events_from(0).unwrap().map(Result::unwrap);
    events
        .filter(|event| {
            let body = &event.body;
            let is_over = body.state == Some(LifecycleState::Completed);
            body.kind == Kind::Lifecycle && is_over && !body.paths.is_empty()
        })
        .map(|event| Done {
            seq: event.seq,
            hash: event.hash.to_string(),
            execution: event.body.execution_id.unwrap_or_default(),
            paths: event
                .body
                .paths
                .into_iter()
                .filter(|change| FILES.contains(&change.path.as_str()))
                .map(|change| {
                    let word = |digest: Option<Digest>| digest.map(|digest| digest.to_string());
                    (change.path, word(change.before), word(change.after))
                })
                .collect(),
        })
        .collect()
}

fn lines(text: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap();
    text.lines().map(parse).collect()
}

/// Versions that lie beside the files.
fn kept(site: &Site) -> Vec<Kept> {
    let tree = site.tree().into_iter();
    let beside = tree.filter(|(name, _)| name.contains(hands::KEPT));
    let kept = beside.map(|(place, content)| Kept {
        place,
        digest: Digest::of(&content).to_string(),
    });
    kept.collect()
}

/// What was replaced and still lies in the state.
fn resting(site: &Site) -> BTreeSet<String> {
    let yard = fs::read_dir(site.state().join("displaced")).unwrap();
    let files = yard.map(|entry| fs::read(entry.unwrap().path()).unwrap());
    files.map(|file| Digest::of(&file).to_string()).collect()
}

fn gather(site: &Site, notes: Notes) -> Evidence {
    let verified = site.tagout(&["verify", "--json"]);
    let exported = site.tagout(&["trace", "export"]);
    assert_eq!(exported.code, Some(0), "{}", exported.shown());
    let view = site
        .read(".orchestration/agent_trace.jsonl")
        .unwrap_or_default();
    let mut blamed = BTreeMap::new();
    for file in FILES {
        let ran = site.tagout(&["blame", file, "--json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        let blame = Blamed {
            text: site.read(file).unwrap(),
            lines: told["lines"].as_array().unwrap().clone(),
        };
        blamed.insert(file.to_owned(), blame);
    }
    Evidence {
        is_verified: verified.code == Some(0),
        done: done(site),
        records: lines(&exported.stdout),
        view: lines(&view),
        blamed,
        kept: kept(site),
        resting: resting(site),
        notes,
    }
}

/// B3, B6, G8: for a minute two agents write whole files and run commands while a person saves the
/// same files in place and by renaming. Afterwards every completed call of the ledger has its
/// record with the same digests, every record's ranges turn the bytes before into the bytes after,
/// every line that blame gives to a call came with that call, and every state of every file was
/// seen by whoever changed it next, or is kept beside it and the answer to a call says where.
#[test]
fn slow_two_agents_and_a_person_agree_on_every_byte() {
    let site = set_up();
    let notes = edit_for(&site, Duration::from_mins(1));
    let mut evidence = gather(&site, notes);
    evidence.learn_commands();
    println!("{}", evidence.counts());
    let findings = evidence.findings();
    assert!(findings.is_empty(), "{findings:#?}\n{}", evidence.counts());
    for agent in ["a", "b"] {
        let count = evidence
            .notes
            .calls
            .iter()
            .filter(|call| call.agent == agent)
            .count();
        // A machine of two cores that has other work to do comes to ten times as many.
        assert!(count >= 25, "agent {agent} came to {count} calls only");
    }
    assert!(evidence.notes.saves.len() >= 80, "{}", evidence.counts());
    mutants::are_found(&evidence);
}
