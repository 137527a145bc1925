//! Random commands in the shell: dropped, committed, undone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use tagout_sandbox::layer::{ChangeSet, Extent};

use super::picture::{Picture, shown};
use super::support::{Bench, tool};
use super::tree::{Chance, build, script};

/// The groups of names that have to be one file afterwards.
///
/// What the command saw, and in addition: a name that it left as it was keeps the names that it had
/// before. An overlay shows a file that was only opened for writing, or that got another name, as
/// parted from its older names; in the workspace it stays with them. And it gives the two names of
/// one file different numbers when one of them is older than the layer, so the layer itself is
/// asked.
fn groups(
    before: &Picture,
    (merged, upper): (&Picture, &Picture),
    set: &ChangeSet,
) -> Vec<Vec<String>> {
    let changed: BTreeSet<String> = set
        .entries
        .iter()
        .filter(|entry| entry.extent != Extent::FolderTime)
        .map(|entry| shown(&entry.path))
        .collect();
    let mut of: BTreeMap<&String, usize> = BTreeMap::new();
    let mut sets: Vec<BTreeSet<&String>> = Vec::new();
    let stay = |name: &&String| !changed.contains(*name) && merged.paths.contains_key(*name);
    let old = before
        .groups
        .iter()
        .map(|group| group.iter().filter(stay).collect());
    let seen = merged.groups.iter().map(|group| group.iter().collect());
    let layer = upper.groups.iter().map(|group| group.iter().collect());
    for group in seen.chain(layer).chain(old) {
        let group: Vec<&String> = group;
        let mut joined: BTreeSet<&String> = group.iter().copied().collect();
        for name in group {
            if let Some(at) = of.get(name) {
                joined.append(&mut std::mem::take(&mut sets[*at]));
            }
        }
        for name in &joined {
            of.insert(name, sets.len());
        }
        sets.push(joined);
    }
    let mut groups: Vec<Vec<String>> = sets
        .into_iter()
        .filter(|group| group.len() > 1)
        .map(|group| group.into_iter().cloned().collect())
        .collect();
    groups.sort();
    groups
}

fn difference(left: &Picture, right: &Picture) -> String {
    let mut lines = Vec::new();
    let names: BTreeSet<&String> = left.paths.keys().chain(right.paths.keys()).collect();
    for name in names {
        let (one, other) = (left.paths.get(name), right.paths.get(name));
        if one != other {
            lines.push(format!("{name:?}:\n  {one:?}\n  {other:?}"));
        }
    }
    if left.groups != right.groups {
        lines.push(format!("links:\n  {:?}\n  {:?}", left.groups, right.groups));
    }
    lines.join("\n")
}

/// One random command; what is wrong, if anything is. Answers how many paths it changed.
fn one(seed: u64) -> Result<usize, String> {
    let bench = Bench::new();
    let mut chance = Chance::new(seed);
    build(&bench.root(), &mut chance);
    let script = script(tool(), &mut chance);
    let before = Picture::of(&bench.root());
    let wrong = |what: &str, now: &Picture, then: &Picture| {
        let problem = difference(now, then);
        Err(format!("seed {seed}, {what}:\n{problem}\n--\n{script}"))
    };

    let ran = bench.run("run", &script, Vec::new());
    let now = Picture::of(&bench.root());
    if now != before {
        return wrong("dropped", &now, &before);
    }

    let set = bench.read(&ran.upper);
    let merged = Picture {
        groups: groups(&before, (&ran.merged, &Picture::of(&ran.upper)), &set),
        ..ran.merged.without_inodes()
    };
    let applied = bench.apply("done", &ran);
    let applied = applied.map_err(|error| format!("seed {seed}: {error}\n--\n{script}"))?;
    let now = Picture::of(&bench.root()).without_inodes();
    if now != merged {
        return wrong("committed", &now, &merged);
    }

    let undone = bench.undo("done");
    undone.map_err(|error| format!("seed {seed}: {error}\n--\n{script}"))?;
    let (now, then) = (
        Picture::of(&bench.root()).without_inodes(),
        before.without_inodes(),
    );
    if now != then {
        return wrong("undone", &now, &then);
    }
    tagout_sandbox::layer::remove(&bench.at("run")).map_err(|error| error.to_string())?;
    Ok(applied.len())
}

fn many(seeds: std::ops::Range<u64>) {
    let total = seeds.end - seeds.start;
    let next = Mutex::new(seeds);
    let (bad, counts) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(seed) = next.lock().unwrap().next() else {
                        return;
                    };
                    match one(seed) {
                        Ok(count) => counts.lock().unwrap().push(count),
                        Err(problem) => bad.lock().unwrap().push(problem),
                    }
                }
            });
        }
    });
    let (bad, counts) = (bad.into_inner().unwrap(), counts.into_inner().unwrap());
    let changed = counts.iter().filter(|count| **count > 0).count();
    println!(
        "{total} commands: {} identical, {changed} of them changed something, {} paths in all",
        counts.len(),
        counts.iter().sum::<usize>()
    );
    let shown: Vec<&String> = bad.iter().take(3).collect();
    assert!(
        bad.is_empty(),
        "{} of {total} are wrong: {}",
        bad.len(),
        shown
            .iter()
            .map(|one| one.as_str())
            .collect::<Vec<_>>()
            .join("\n\n")
    );
    assert!(
        changed * 3 > counts.len() * 2,
        "most commands change something"
    );
}

/// L4, B2: dropped, the tree is the very same; committed, it is what the command saw; undone, it is
/// what was before, with times, links and attributes.
#[test]
fn random_commands_are_dropped_committed_and_undone() {
    many(0..400);
}

/// L4, B2: the same, many times over.
#[test]
fn soak_random_commands_are_dropped_committed_and_undone() {
    many(1000..3000);
}
