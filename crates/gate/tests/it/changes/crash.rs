//! Killing the commit of a command's changes at every system call that changes something, and the
//! recovery after it as well.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use tagout_workspace::Workspace;

use super::picture::{Picture, shown};
use super::support::{Bench, quiet, tool};
use super::tree::{Chance, build, script};

/// The calls that change something, or that stand between two changes.
const CALLS: [&str; 17] = [
    "write",
    "fdatasync",
    "fsync",
    "renameat2",
    "mkdirat",
    "unlinkat",
    "symlinkat",
    "linkat",
    "mknodat",
    "fchmod",
    "fchmodat",
    "fchown",
    "fchownat",
    "ftruncate",
    "fsetxattr",
    "fremovexattr",
    "utimensat",
];

/// A command that ran, ready to be committed again and again.
struct Case {
    seed: u64,
    bench: Bench,
    upper: PathBuf,
    before: Picture,
    after: Picture,
    points: Vec<(&'static str, usize)>,
    /// What the command changed, came or went.
    changed: BTreeSet<String>,
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(status.unwrap().success());
}

/// One copy of the workspace with a state of its own.
struct Trial {
    root: PathBuf,
    state: PathBuf,
    mark: String,
}

impl Case {
    fn new(seed: u64) -> Self {
        let bench = Bench::new();
        let mut chance = Chance::new(seed);
        build(&bench.root(), &mut chance);
        // Several scripts in one, so that a commit has something to do.
        let script: String = (0..3).map(|_| script(tool(), &mut chance)).collect();
        let ran = bench.run("run", &script, Vec::new());
        let before = Picture::of(&bench.root()).without_inodes();
        let set = bench.read(&ran.upper);
        let judged = set.judged().map(|entry| shown(&entry.path));
        let mut case = Self {
            seed,
            changed: judged.collect(),
            upper: ran.upper,
            before,
            after: Picture::default(),
            points: Vec::new(),
            bench,
        };
        let trial = case.trial("whole");
        let log = case.bench.at("log");
        let status = Command::new("strace")
            .arg("-f")
            .arg("-o")
            .arg(&log)
            .arg(tool())
            .args(case.words(&trial))
            .stdout(Stdio::null())
            .status();
        assert!(
            status.unwrap().success(),
            "strace is not allowed here, or seed {seed}"
        );
        case.after = Picture::of(&trial.root).without_inodes();
        let log = std::fs::read_to_string(log).unwrap();
        for call in CALLS {
            let word = format!(" {call}(");
            let count = log.lines().filter(|line| line.contains(&word)).count();
            case.points.extend((1..=count).map(|when| (call, when)));
        }
        case
    }

    fn trial(&self, name: &str) -> Trial {
        let folder = self.bench.at(name);
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir(&folder).unwrap();
        let (root, state) = (folder.join("w"), folder.join("s"));
        copy(&self.bench.root(), &root);
        Workspace::create_state(&state).unwrap();
        // A copy is younger than the command's own mark.
        let workspace = Workspace::open(&root, &state, quiet()).unwrap();
        let mark = serde_json::to_string(&workspace.mark().unwrap()).unwrap();
        Trial { root, state, mark }
    }

    fn words(&self, trial: &Trial) -> Vec<String> {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        vec![
            "commit".to_owned(),
            text(&trial.root),
            text(&trial.state),
            text(&self.upper),
            trial.mark.clone(),
        ]
    }

    fn killed(&self, (call, when): (&str, usize), words: &[String]) {
        let status = Command::new("strace")
            .args(["-f", "-o", "/dev/null", "-e", &format!("trace={call}")])
            .args(["-e", &format!("inject={call}:signal=KILL:when={when}")])
            .arg(tool())
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.is_ok(), "strace does not run, seed {}", self.seed);
    }

    /// One commit that is killed; perhaps a recovery that is killed as well. Answers whether the
    /// change happened.
    fn at(&self, worker: usize, index: usize, twice: bool) -> Result<bool, String> {
        let trial = self.trial(&format!("worker-{worker}"));
        let pictured = Picture::of(&trial.root);
        let point = self.points[index];
        self.killed(point, &self.words(&trial));
        let recovery: Vec<String> = ["recover".into()]
            .into_iter()
            .chain([&trial.root, &trial.state].map(|path| path.to_str().unwrap().to_owned()))
            .collect();
        if twice {
            let again = (CALLS[index % 6], 1 + index % 9);
            self.killed(again, &recovery);
        }
        let recovered = Command::new(tool()).args(&recovery).output().unwrap();
        let exact = Picture::of(&trial.root);
        let now = exact.without_inodes();
        let happened = now == self.after;
        let whole = now == self.before || happened;
        if recovered.status.success() && whole {
            let others = self.others(&pictured, &exact, happened);
            return if others.is_empty() {
                Ok(happened)
            } else {
                Err(format!(
                    "seed {} {point:?}: other files {others:?}",
                    self.seed
                ))
            };
        }
        let error = String::from_utf8_lossy(&recovered.stderr).into_owned();
        let (before, after) = (differing(&now, &self.before), differing(&now, &self.after));
        Err(format!(
            "seed {} {point:?} twice {twice}: {error}\nagainst before {before:?}\nafter {after:?}",
            self.seed
        ))
    }

    /// The paths that are other files than before the kill although nothing was to change them: all
    /// that differ where the commit did not happen, and those that the command left alone where it
    /// did.
    fn others(&self, before: &Picture, now: &Picture, happened: bool) -> Vec<String> {
        let number =
            |picture: &Picture, name: &String| picture.paths.get(name).map(|one| one.inode);
        let stays = |name: &&String| !happened || !self.changed.contains(*name);
        let names = before.paths.keys().filter(stays);
        let other = names.filter(|name| number(before, name) != number(now, name));
        other.cloned().collect()
    }
}

fn differing(one: &Picture, other: &Picture) -> Vec<String> {
    let mut names: Vec<String> = one
        .paths
        .keys()
        .chain(other.paths.keys())
        .filter(|name| one.paths.get(*name) != other.paths.get(*name))
        .map(|name| {
            format!(
                "{name} {:?} {:?}",
                one.paths.get(name),
                other.paths.get(name)
            )
        })
        .collect();
    names.dedup();
    if one.groups != other.groups {
        names.push(format!("links {:?} {:?}", one.groups, other.groups));
    }
    names.truncate(6);
    names
}

/// As many commands as have this many points together.
fn cases(seeds: std::ops::Range<u64>, points: usize) -> Vec<Case> {
    let (mut found, mut count) = (Vec::new(), 0);
    for case in seeds
        .map(Case::new)
        .filter(|case| case.before != case.after)
    {
        count += case.points.len();
        found.push(case);
        if count >= points {
            break;
        }
    }
    found
}

/// Tries every point of these commands.
fn many(cases: &[Case]) -> usize {
    let work: Vec<(usize, usize)> = cases
        .iter()
        .enumerate()
        .flat_map(|(at, case)| (0..case.points.len()).map(move |index| (at, index)))
        .collect();
    let tried = work.len();
    let next = Mutex::new(work.into_iter());
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (next, results) = (&next, &results);
            scope.spawn(move || {
                loop {
                    let Some((at, index)) = next.lock().unwrap().next() else {
                        return;
                    };
                    let result = cases[at].at(worker, index, index % 3 == 0);
                    results.lock().unwrap().push(result);
                }
            });
        }
    });
    let results = results.into_inner().unwrap();
    let bad: Vec<&String> = results
        .iter()
        .filter_map(|one| one.as_ref().err())
        .collect();
    let done = results.iter().filter(|one| matches!(one, Ok(true))).count();
    println!(
        "{} commands, {tried} crash points: {done} happened, {} did not, {} are torn",
        cases.len(),
        results.len() - done - bad.len(),
        bad.len()
    );
    let shown: Vec<&str> = bad.iter().take(4).map(|one| one.as_str()).collect();
    assert!(
        bad.is_empty(),
        "{} of {tried}:\n{}",
        bad.len(),
        shown.join("\n\n")
    );
    assert!(
        done > 0 && done < tried,
        "both sides of the commit point were reached"
    );
    tried
}

/// L4: killed at any moment of the commit, and again in the recovery, the workspace is wholly as
/// before or wholly what the command saw.
#[test]
fn slow_killed_commits_of_commands_are_whole() {
    assert!(many(&cases(0..200, 1000)) >= 1000);
}

/// L4: the same for many more commands.
#[test]
fn soak_killed_commits_of_commands_are_whole() {
    assert!(many(&cases(200..600, 4000)) >= 4000);
}
