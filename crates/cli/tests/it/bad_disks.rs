//! Bad places for `run`: a disk that can't be written or has no room. One clear error each;
//! workspace and ledger stay whole.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};

use crate::confined::{Ran, Site};

const WRITE: &str = r#"{"path": "src/a.txt", "content": "CONTENT", "intent_id": "INT-001",
    "mutation_class": "INTENT_EVOLUTION"}"#;

fn site() -> Site {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let read = r#"{"path": "src/a.txt"}"#;
    for words in [
        &["intent", "select", "INT-001", "--session", "s"][..],
        &["run", "read_file", "--session", "s", "--input", read],
    ] {
        let ran = site.tagout(words);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
    }
    site
}

/// `tagout run write_to_file` after a line of shell, in mounts of its own.
fn write_after(site: &Site, line: &str, content: &str) -> Ran {
    let input = WRITE.replace("CONTENT", content);
    let inner = site.command(&["run", "write_to_file", "--session", "s", "--input", &input]);
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let spaces: &[&str] = if is_root {
        &["-m"]
    } else {
        &["-U", "-r", "-m"]
    };
    let line = format!("{line} && exec \"$@\"");
    let mut outer = Command::new("unshare");
    outer.args(spaces).args(["sh", "-ec", &line, "sh"]);
    outer.arg(inner.get_program()).args(inner.get_args());
    outer.current_dir(site.root()).env_clear();
    let variables = inner.get_envs();
    outer.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    let output = outer.stdin(Stdio::null()).output().unwrap();
    Ran::of(&output, &site.home())
}

fn is_whole(site: &Site) {
    assert_eq!(site.read("src/a.txt").as_deref(), Some("one\n"));
    let ran = site.tagout(&["verify"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let ran = write_after(site, "true", "two");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.read("src/a.txt").as_deref(), Some("two"));
}

/// L9 Bad place: a workspace, then a state, that is mounted read-only.
#[test]
fn a_read_only_disk() {
    for folder in ["src", "state"] {
        let site = site();
        let place = match folder {
            "src" => site.root().join("src"),
            _ => site.state(),
        };
        let place = place.display();
        let line =
            format!("mount --bind '{place}' '{place}' && mount -o remount,bind,ro '{place}'");
        let ran = write_after(&site, &line, "two");
        assert!([Some(1), Some(2)].contains(&ran.code), "{}", ran.shown());
        assert!(ran.stderr.contains("ead-only"), "{}", ran.shown());
        assert!(!ran.stderr.contains("panicked"), "{}", ran.shown());
        is_whole(&site);
    }
}

/// L9 Bad place: a workspace, then a state, without room.
#[test]
fn a_full_disk() {
    let large = "x".repeat(100_000);
    for folder in ["src", "state"] {
        let site = site();
        let place = match folder {
            "src" => site.root().join("src"),
            _ => site.state(),
        };
        let place = place.display();
        let small = format!(
            "room=$(( $(du -sk '{place}' | cut -f1) + 40 ))k && \
             cp -a '{place}' '{place}.copy' && mount -t tmpfs -o size=$room small '{place}' && \
             cp -a '{place}.copy/.' '{place}/' && rm -r '{place}.copy'"
        );
        let ran = write_after(&site, &small, &large);
        assert!([Some(1), Some(2)].contains(&ran.code), "{}", ran.shown());
        let told = ["no space left", "no room left"];
        let is_told = told.iter().any(|words| ran.stderr.contains(words));
        assert!(is_told, "{}", ran.shown());
        if folder == "src" {
            assert!(ran.stderr.contains("`src/a.txt`"), "{}", ran.shown());
        }
        assert!(!ran.stderr.contains("panicked"), "{}", ran.shown());
        is_whole(&site);
    }
}
