//! Killing a commit at every system call, and the recovery after it as well.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::support::{crash_program, need};

/// The calls that change something, or that stand between two changes.
const CALLS: [&str; 16] = [
    "openat",
    "openat2",
    "write",
    "fdatasync",
    "fsync",
    "renameat2",
    "mkdirat",
    "unlinkat",
    "symlinkat",
    "fchmod",
    "fchown",
    "ftruncate",
    "fallocate",
    "pwrite64",
    "flock",
    "utimensat",
];

fn run(arguments: &[&str]) -> String {
    let output = Command::new(crash_program())
        .args(arguments)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return format!("bad: {arguments:?} failed: {error}");
    }
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Runs the program until its nth call of a kind, where it is killed; false if it never came there.
fn killed(call: &str, when: usize, arguments: &[&str]) -> bool {
    let status = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:signal=KILL:when={when}")])
        .arg(crash_program())
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // The tracer ends as its program did.
    status.expect("strace runs").signal() == Some(9)
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp")
        .arg("-a")
        .arg(from)
        .arg(to)
        .status()
        .unwrap();
    assert!(status.success());
}

/// What came of one run: which of the kills fell, and how the workspace was found.
struct Run {
    once: bool,
    twice: bool,
    result: Result<String, String>,
}

#[derive(Clone)]
struct Trial {
    base: PathBuf,
    folder: PathBuf,
    /// Commits after which a checkpoint is due.
    checkpoint: &'static str,
}

impl Trial {
    fn fresh(&self) -> (String, String) {
        drop(std::fs::remove_dir_all(&self.folder));
        copy(&self.base, &self.folder);
        let at = |name: &str| self.folder.join(name).to_str().unwrap().to_owned();
        let (root, state) = (at("w"), at("s"));
        // Committed here and not copied, so that the files that it displaced are filled again.
        assert_eq!(run(&["commit", &root, &state, "1", "1"]), "acked 1");
        (root, state)
    }

    /// The commit from version 1 to 2.
    const fn commit<'a>(&self, root: &'a str, state: &'a str) -> [&'a str; 6] {
        ["commit", root, state, "2", "2", self.checkpoint]
    }

    /// One commit from version 1 to 2, killed at a call; perhaps a recovery that is killed as well.
    fn at(&self, (call, when): (&str, usize), again: Option<(&str, usize)>) -> Run {
        let (root, state) = self.fresh();
        let once = killed(call, when, &self.commit(&root, &state));
        let twice =
            again.is_some_and(|(call, when)| killed(call, when, &["recover", &root, &state]));
        let recovered = run(&["recover", &root, &state]);
        let said = run(&["check", &root, &state, "1", "2"]);
        let whole = recovered.is_empty() && said.starts_with("ok");
        let result = if whole {
            Ok(said)
        } else {
            Err(format!("{call}#{when} {again:?}: {recovered} {said}"))
        };
        Run {
            once,
            twice,
            result,
        }
    }
}

fn points(trace: &str) -> Vec<(&'static str, usize)> {
    CALLS
        .into_iter()
        .flat_map(|call| {
            let count = trace
                .lines()
                .filter(|line| line.contains(&format!(" {call}(")))
                .count();
            (1..=count).map(move |when| (call, when))
        })
        .collect()
}

fn trace(arguments: &[&str], into: &Path) -> String {
    let status = Command::new("strace")
        .arg("-f")
        .arg("-o")
        .arg(into)
        .arg(crash_program())
        .args(arguments)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "strace is not allowed here");
    std::fs::read_to_string(into).unwrap()
}

/// Every crash point on its own, and with a second kill inside the recovery.
fn try_all(
    trial: &Trial,
    points: &[(&'static str, usize)],
    recovery: &[(&'static str, usize)],
) -> Vec<Run> {
    let work: Vec<(usize, bool)> = (0..points.len())
        .flat_map(|index| [(index, false), (index, true)])
        .collect();
    let next = Mutex::new(work.into_iter());
    let results: Mutex<Vec<Run>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let trial = Trial {
                folder: trial.folder.with_extension(format!("worker-{worker}")),
                ..trial.clone()
            };
            let (next, results) = (&next, &results);
            scope.spawn(move || {
                loop {
                    let Some((index, twice)) = next.lock().unwrap().next() else {
                        return;
                    };
                    // Coprime strides meet every point of a recovery beside every kind of kill.
                    let again = twice.then(|| recovery[index * 7 % recovery.len()]);
                    let result = trial.at(points[index], again);
                    results.lock().unwrap().push(result);
                }
            });
        }
    });
    results.into_inner().unwrap()
}

/// L4: killed at every system call of a commit, and again inside the recovery, the workspace is
/// wholly before or wholly after and the ledger agrees.
#[test]
fn slow_killed_anywhere_the_workspace_is_whole() {
    killed_everywhere("64");
}

/// L4: the same where the commit is followed by a checkpoint.
#[test]
fn slow_killed_in_a_checkpoint_the_workspace_is_whole() {
    killed_everywhere("1");
}

fn killed_everywhere(checkpoint: &'static str) {
    need("strace");
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let base = folder.path().join("base");
    std::fs::create_dir(&base).unwrap();
    let at = |name: &str| base.join(name).to_str().unwrap().to_owned();
    assert_eq!(run(&["init", &at("w"), &at("s")]), "");

    let trial = Trial {
        base: base.clone(),
        folder: folder.path().join("trace"),
        checkpoint,
    };
    let (root, state) = trial.fresh();
    let log = folder.path().join("log");
    let trace = trace(&trial.commit(&root, &state), &log);
    let begins = trace.contains("journal/00000002.wal") || trace.contains("\"00000002.wal\"");
    assert_eq!(begins, checkpoint == "1", "whether a checkpoint falls due");
    let points = points(&trace);
    assert!(points.len() >= 100, "only {} crash points", points.len());
    let recovery = recovery_points(&trial, &log);

    // Without recovery the same look finds broken workspaces: the test can fail.
    let half = points
        .iter()
        .filter(|(call, _)| *call == "renameat2")
        .any(|(call, when)| {
            let (root, state) = trial.fresh();
            killed(call, *when, &trial.commit(&root, &state));
            run(&["check", &root, &state, "1", "2"]).starts_with("bad")
        });
    assert!(half, "no kill left anything to recover");

    let results = try_all(&trial, &points, &recovery);
    tell(&points, &recovery, &results);
}

/// The calls of a recovery that has something to do.
fn recovery_points(trial: &Trial, log: &Path) -> Vec<(&'static str, usize)> {
    let (root, state) = trial.fresh();
    assert!(killed("renameat2", 2, &trial.commit(&root, &state)));
    points(&trace(&["recover", &root, &state], log))
}

fn tell(points: &[(&str, usize)], recovery: &[(&str, usize)], results: &[Run]) {
    let bad: Vec<&String> = results
        .iter()
        .filter_map(|one| one.result.as_ref().err())
        .collect();
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for one in results.iter().filter_map(|one| one.result.as_ref().ok()) {
        *outcomes.entry(one).or_default() += 1;
    }
    let fell = |twice: bool| {
        let hit = |one: &&Run| if twice { one.twice } else { one.once };
        results.iter().filter(hit).count()
    };
    let (commits, recoveries) = (fell(false), fell(true));
    println!(
        "{} crash points of a commit, {} of a recovery, {} runs, {commits} commits killed, \
         {recoveries} recoveries killed as well, {} violations, {outcomes:?}",
        points.len(),
        recovery.len(),
        results.len(),
        bad.len()
    );
    assert_eq!(commits, results.len(), "a kill that never fell");
    assert!(
        recoveries >= 100,
        "only {recoveries} recoveries were killed"
    );
    assert!(
        bad.is_empty(),
        "{} of {}: {:#?}",
        bad.len(),
        results.len(),
        bad
    );
    assert!(
        outcomes.len() == 2,
        "both sides of the commit point were reached: {outcomes:?}"
    );
}
