//! Parked sets on their way into the workspace: met by someone else's work, and killed on the way.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;

use crate::confined::Site;
use crate::undone::{copy, traced};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\n";

/// A set that changes the first line of a file beyond the scope and makes it executable.
fn parked(site: &Site) -> String {
    assert_eq!(site.exec("cat tool.sh").code, Some(0));
    let line = "python3 -c 'import os; text = open(\"tool.sh\").read(); \
                open(\"tool.sh\", \"w\").write(text.replace(\"one\", \"ONE\")); \
                os.chmod(\"tool.sh\", 0o755)'";
    let told = site.receipt(line);
    assert_eq!(told["error"]["code"], "SCOPE_VIOLATION", "{told:#}");
    told["parked"].as_str().unwrap().to_owned()
}

fn mode(site: &Site) -> u32 {
    let found = fs::metadata(site.root().join("tool.sh")).unwrap();
    found.mode() & 0o777
}

/// Whoever looks at what waits for a person is told of parked sets, below what is listed there; a
/// script that reads the list meets no further line.
#[test]
fn what_waits_for_a_person_tells_of_parked_sets() {
    let site = Site::new(&[("tool.sh", TEXT)]);
    let count = || {
        let told = site.tagout(&["pending", "--json"]).stdout;
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        told["parked_count"].as_u64()
    };
    let pending = || {
        let ran = site.tagout(&["pending"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
        ran.stderr
    };
    assert_eq!(count(), Some(0));
    assert_eq!(pending(), "nothing waits for a person\n");
    let id = parked(&site);
    assert_eq!(count(), Some(1));
    let one = "1 change set is parked: `tagout parked list` shows it\n";
    assert_eq!(pending(), one);
    parked(&site);
    let both = "2 change sets are parked: `tagout parked list` shows them\n";
    assert_eq!((count(), pending().as_str()), (Some(2), both));
    let dropped = site.tagout(&["parked", "drop", &id, "--yes"]);
    assert_eq!(dropped.code, Some(0), "{}", dropped.shown());
    assert_eq!((count(), pending().as_str()), (Some(1), one));
}

/// L4: where a set meets someone else's work, the permissions that the command gave come along; if
/// both gave other ones, it is a conflict.
#[test]
fn permissions_come_along_when_a_set_meets_other_work() {
    let merged = TEXT.replace("one", "ONE").replace("five", "FIVE");
    for (by_hand, expected) in [
        // Both changed it, in other places; both changed it alike.
        (TEXT.replace("five", "FIVE"), merged),
        (TEXT.replace("one", "ONE"), TEXT.replace("one", "ONE")),
    ] {
        let site = Site::new(&[("tool.sh", TEXT)]);
        let id = parked(&site);
        site.write("tool.sh", &by_hand);
        assert_ne!(mode(&site), 0o755);
        let ran = site.tagout(&["parked", "apply", &id, "--yes"]);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
        assert_eq!(site.read("tool.sh"), Some(expected));
        assert_eq!(mode(&site), 0o755);

        let site = Site::new(&[("tool.sh", TEXT)]);
        let id = parked(&site);
        site.write("tool.sh", &by_hand);
        let closed = fs::Permissions::from_mode(0o600);
        fs::set_permissions(site.root().join("tool.sh"), closed).unwrap();
        let ran = site.tagout(&["parked", "apply", &id, "--yes"]);
        assert_eq!(ran.code, Some(4), "{}", ran.shown());
        assert!(ran.stderr.contains("permissions"), "{}", ran.shown());
        assert_eq!((site.read("tool.sh"), mode(&site)), (Some(by_hand), 0o600));
        assert_eq!(site.parked(), [id]);
    }
}

/// L4: a person's `apply` that is killed at any step is done or not done: what is in the workspace
/// does not wait any more, and the ledger says so.
#[test]
fn a_killed_apply_leaves_nothing_parked_that_is_applied() {
    let site = Site::new(&[("tool.sh", TEXT)]);
    let id = parked(&site);
    let base = site.home().join("base");
    copy(&site, &base, true);
    let trace = site.home().join("calls.txt");
    let words = ["parked", "apply", &id, "--yes"];
    assert!(traced(&site, &["-o", trace.to_str().unwrap()], &words));
    assert_eq!(mode(&site), 0o755);
    let calls = fs::read_to_string(&trace).unwrap();
    let mut points: Vec<(&str, usize)> = Vec::new();
    for call in ["write", "renameat2", "unlinkat", "fdatasync"] {
        let name = format!(" {call}(");
        let count = calls.lines().filter(|line| line.contains(&name)).count();
        // The end is where the journal, the ledger and the list of parked sets are told.
        points.extend((1..=count).rev().take(5).map(|when| (call, when)));
    }
    let (mut stayed, mut went) = (0, 0);
    for (call, when) in points {
        copy(&site, &base, false);
        let inject = format!("inject={call}:signal=KILL:when={when}");
        let only = format!("trace={call}");
        let options = ["-o", "/dev/null", "-e", &only, "-e", &inject];
        traced(&site, &options, &words);
        let waiting = site.parked();
        let is_applied = mode(&site) == 0o755;
        let log = site.tagout(&["log", "--json"]).stdout;
        let is_told = log.contains("\"madeBy\"");
        assert_eq!(
            (waiting.is_empty(), is_told),
            (is_applied, is_applied),
            "{call}#{when}: {waiting:?}"
        );
        if is_applied {
            went += 1;
        } else {
            stayed += 1;
        }
    }
    assert!(stayed > 0 && went > 0, "{stayed} {went}");
}

/// L4: what a set holds is on the disk before it is said to be kept, so that no power loss leaves a
/// promise without the work.
#[test]
fn what_is_parked_is_durable_first() {
    let site = Site::new(&[("tool.sh", TEXT)]);
    let trace = site.home().join("calls.txt");
    let line = "python3 -c 'open(\"tool.sh\", \"w\").write(\"other\")'";
    let exec = site.command(&[
        "exec",
        "--session",
        "s-1",
        "--intent",
        "INT-001",
        "--",
        line,
    ]);
    let mut command = Command::new("strace");
    command
        .args([
            "-f",
            "-y",
            "-e",
            "trace=syncfs,renameat,renameat2,linkat",
            "-o",
        ])
        .arg(&trace)
        .arg(exec.get_program())
        .args(exec.get_args());
    command.current_dir(site.root()).env_clear();
    command
        .env("HOME", site.home())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    drop(command.output().unwrap());
    assert_eq!(site.parked().len(), 1);
    let calls = fs::read_to_string(&trace).unwrap();
    let told = calls.lines().position(|line| line.contains("gate/parked"));
    let synced = calls.lines().position(|line| line.contains("syncfs("));
    let (Some(told), Some(synced)) = (told, synced) else {
        panic!("{calls}");
    };
    assert!(synced < told, "{calls}");
}
