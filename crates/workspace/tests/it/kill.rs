//! Killing a commit at every system call, and the recovery after it as well.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::support::{all, crash_program, need};

/// The calls that change something, or that stand between two changes.
const CALLS: [&str; 13] = [
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
    "ftruncate",
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

fn killed(call: &str, when: usize, arguments: &[&str]) {
    let status = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:signal=KILL:when={when}")])
        .arg(crash_program())
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.is_ok(), "strace does not run");
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

struct Trial {
    base: PathBuf,
    folder: PathBuf,
}

impl Trial {
    fn fresh(&self) -> (String, String) {
        drop(std::fs::remove_dir_all(&self.folder));
        copy(&self.base, &self.folder);
        let at = |name: &str| self.folder.join(name).to_str().unwrap().to_owned();
        (at("w"), at("s"))
    }

    /// One commit from version 1 to 2, killed at a call; perhaps a recovery that is killed as well.
    fn at(
        &self,
        (call, when): (&str, usize),
        again: Option<(&str, usize)>,
    ) -> Result<String, String> {
        let (root, state) = self.fresh();
        killed(call, when, &["commit", &root, &state, "2", "2"]);
        if let Some((call, when)) = again {
            killed(call, when, &["recover", &root, &state]);
        }
        let recovered = run(&["recover", &root, &state]);
        let said = run(&["check", &root, &state, "1", "2"]);
        let whole = recovered.is_empty() && said.starts_with("ok");
        if whole {
            Ok(said)
        } else {
            Err(format!("{call}#{when} {again:?}: {recovered} {said}"))
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
    base: &Path,
    folder: &Path,
    points: &[(&'static str, usize)],
) -> Vec<Result<String, String>> {
    let work: Vec<(usize, bool)> = (0..points.len())
        .flat_map(|index| [(index, false), (index, true)])
        // The second kill at every point is for the long run; here every third has to do.
        .filter(|(index, twice)| all() || !twice || index % 3 == 0)
        .collect();
    let next = Mutex::new(work.into_iter());
    let results: Mutex<Vec<Result<String, String>>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let trial = Trial {
                base: base.to_path_buf(),
                folder: folder.join(format!("worker-{worker}")),
            };
            let (next, results) = (&next, &results);
            scope.spawn(move || {
                loop {
                    let Some((index, twice)) = next.lock().unwrap().next() else {
                        return;
                    };
                    let again = twice.then(|| (CALLS[index % CALLS.len()], 1 + index % 14));
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
fn killed_anywhere_the_workspace_is_whole() {
    need("strace");
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let base = folder.path().join("base");
    std::fs::create_dir(&base).unwrap();
    let at = |name: &str| base.join(name).to_str().unwrap().to_owned();
    assert_eq!(run(&["init", &at("w"), &at("s")]), "");
    assert_eq!(run(&["commit", &at("w"), &at("s"), "1", "1"]), "acked 1");

    let trial = Trial {
        base: base.clone(),
        folder: folder.path().join("trace"),
    };
    let (root, state) = trial.fresh();
    let log = folder.path().join("log");
    let points = points(&trace(&["commit", &root, &state, "2", "2"], &log));
    assert!(points.len() >= 100, "only {} crash points", points.len());

    // Without recovery the same look finds broken workspaces: the test can fail.
    let half = points
        .iter()
        .filter(|(call, _)| *call == "renameat2")
        .any(|(call, when)| {
            let (root, state) = trial.fresh();
            killed(call, *when, &["commit", &root, &state, "2", "2"]);
            run(&["check", &root, &state, "1", "2"]).starts_with("bad")
        });
    assert!(half, "no kill left anything to recover");

    let results = try_all(&base, folder.path(), &points);
    let bad: Vec<&String> = results
        .iter()
        .filter_map(|one| one.as_ref().err())
        .collect();
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for one in results.iter().flatten() {
        *outcomes.entry(one).or_default() += 1;
    }
    println!(
        "{} crash points, {} runs, {outcomes:?}",
        points.len(),
        results.len()
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
