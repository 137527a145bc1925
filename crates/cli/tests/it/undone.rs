//! Taking back: sessions, what is shown before, conflicts, crashes, and what can't be taken back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::commits::{select, write};
use crate::confined::{Ran, Site};

const TEXT: &str = "fn a() {}\n\nfn b() {}\n\nfn c() {}\n\nfn d() {}\n";

/// A workspace with two intents in two sessions.
fn two() -> Site {
    let site = Site::new(&[
        ("src/a.rs", TEXT),
        ("docs/a.md", "# One\n\n# Two\n\n# Three\n"),
    ]);
    let words = [
        "intent", "new", "INT-002", "--name", "Docs", "--scope", "docs/**", "--yes",
    ];
    let ran = site.tagout(&words);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    select(&site, "INT-001", "s-1");
    select(&site, "INT-002", "s-2");
    site
}

fn undo(site: &Site, words: &[&str]) -> Ran {
    site.tagout(&[&["undo", "--yes", "--json"][..], words].concat())
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.shown()))
}

/// The files that people care about.
fn files(site: &Site) -> BTreeMap<String, Option<String>> {
    let names = [
        "src/a.rs",
        "src/new.rs",
        "src/deep/er.rs",
        "docs/a.md",
        "docs/b.md",
    ];
    names.map(|name| (name.to_owned(), site.read(name))).into()
}

/// B4: a session is taken back as a whole; the other one's work and a person's stay; the undo is
/// taken back again.
#[test]
fn a_session_is_taken_back_and_done_again() {
    let site = two();
    write(
        &site,
        ("INT-001", "s-1"),
        "src/a.rs",
        &TEXT.replace("fn a() {}", "fn a() { one() }"),
    );
    write(&site, ("INT-002", "s-2"), "docs/b.md", "# By the other\n");
    write(
        &site,
        ("INT-001", "s-1"),
        "src/deep/er.rs",
        "fn deep() {}\n",
    );
    let text = site.read("src/a.rs").unwrap();
    write(
        &site,
        ("INT-001", "s-1"),
        "src/a.rs",
        &text.replace("fn c() {}", "fn c() { two() }"),
    );
    let by_hand = site
        .read("src/a.rs")
        .unwrap()
        .replace("fn d() {}", "fn d() { hand() }");
    site.write("src/a.rs", &by_hand);
    let before = files(&site);
    let ran = undo(&site, &["--session", "s-1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(json(&ran)["calls"].as_array().unwrap().len(), 3);
    assert_eq!(
        site.read("src/a.rs").unwrap(),
        TEXT.replace("fn d() {}", "fn d() { hand() }")
    );
    assert_eq!(site.read("docs/b.md").as_deref(), Some("# By the other\n"));
    assert!(!site.root().join("src/deep").exists());
    let redo = undo(&site, &[json(&ran)["execution"].as_str().unwrap()]);
    assert_eq!(redo.code, Some(0), "{}", redo.shown());
    assert_eq!(files(&site), before);
    // An intent is one undo as well.
    let ran = undo(&site, &["--intent", "INT-002"]);
    assert_eq!(
        (ran.code, site.read("docs/b.md")),
        (Some(0), None),
        "{}",
        ran.shown()
    );
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
}

/// B4: what `--dry-run` shows is what then happens: git applies it to the same end.
#[test]
fn the_dry_run_is_exactly_what_happens() {
    let site = two();
    write(
        &site,
        ("INT-001", "s-1"),
        "src/a.rs",
        &TEXT.replace("fn b() {}\n", "fn b() {\n    x();\n}\n"),
    );
    write(
        &site,
        ("INT-001", "s-1"),
        "src/new.rs",
        "fn new() {}\nno end",
    );
    let line = "mv src/a.rs src/deep.rs && mkdir src/deep && echo 'fn e() {}' > src/deep/er.rs && \
        chmod +x src/new.rs";
    assert_eq!(site.exec(line).code, Some(0));
    let by_hand = format!("// by hand\n{}", site.read("src/deep.rs").unwrap());
    site.write("src/deep.rs", &by_hand);
    let before = site.tree();
    let dry = site.tagout(&["undo", "--session", "s-1", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{}", dry.shown());
    assert_eq!(site.tree(), before, "a dry run writes nothing");
    let copy = site.home().join("copy");
    fs::create_dir(&copy).unwrap();
    let status = Command::new("cp")
        .arg("-a")
        .arg(site.root().join("src"))
        .arg(&copy)
        .status();
    assert!(status.unwrap().success());
    fs::write(site.home().join("undo.patch"), &dry.stdout).unwrap();
    let mut apply = Command::new("git");
    apply
        .args(["apply", "--unsafe-paths", "../undo.patch"])
        .current_dir(&copy);
    let applied = apply.output().unwrap();
    let told = String::from_utf8_lossy(&applied.stderr).into_owned();
    assert!(applied.status.success(), "{told}\n{}", dry.stdout);
    let json_diff = json(&site.tagout(&["undo", "--session", "s-1", "--dry-run", "--json"]));
    assert_eq!(json_diff["diff"], dry.stdout);
    let ran = undo(&site, &["--session", "s-1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(json(&ran)["diff"], dry.stdout);
    assert_eq!(
        pictures(&site.root().join("src")),
        pictures(&copy.join("src"))
    );
    assert_eq!(
        site.read("src/a.rs").unwrap(),
        format!("// by hand\n{TEXT}")
    );
}

/// Every file beneath a folder with its content and whether it can be run.
fn pictures(folder: &Path) -> BTreeMap<String, (String, bool)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
                continue;
            }
            let name = entry
                .path()
                .strip_prefix(folder)
                .unwrap()
                .display()
                .to_string();
            let text = fs::read_to_string(entry.path()).unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            found.insert(name, (text, mode & 0o111 != 0));
        }
    }
    found
}

/// B4: one conflict in one file stops all of it; both sides are shown.
#[test]
fn a_conflict_writes_nothing_at_all() {
    let site = two();
    write(
        &site,
        ("INT-001", "s-1"),
        "src/a.rs",
        &TEXT.replace("fn a() {}", "fn a() { one() }"),
    );
    write(&site, ("INT-001", "s-1"), "src/new.rs", "fn new() {}\n");
    let by_hand = site.read("src/a.rs").unwrap().replace("one()", "by_hand()");
    site.write("src/a.rs", &by_hand);
    let before = site.tree();
    let events = site.tagout(&["log", "--json"]).stdout.lines().count();
    let ran = site.tagout(&["undo", "--session", "s-1", "--yes"]);
    assert_eq!(ran.code, Some(4), "{}", ran.shown());
    for side in [
        "<<<<<<< as it is",
        "fn a() { by_hand() }",
        "=======",
        "fn a() {}",
        ">>>>>>> before",
    ] {
        assert!(ran.stdout.contains(side), "{side}: {}", ran.shown());
    }
    assert_eq!(site.tree(), before);
    assert_eq!(
        site.tagout(&["log", "--json"]).stdout.lines().count(),
        events
    );
    let told = json(&undo(&site, &["--session", "s-1"]));
    assert_eq!(told["code"], "CONFLICT", "{told}");
}

/// B4: what others have is listed, and taken back here all the same.
#[test]
fn what_cannot_be_taken_back_is_listed() {
    let site = two();
    let call = write(
        &site,
        ("INT-001", "s-1"),
        "src/a.rs",
        &TEXT.replace("fn a() {}", "fn a() { one() }"),
    );
    site.git(&["add", "src"]);
    site.git(&["commit", "-q", "-m", "work"]);
    let told = json(&site.tagout(&["undo", &call, "--dry-run", "--json"]));
    assert_eq!(told["impossible"], Value::Array(vec![]), "{told}");
    // A person sends it to another repository.
    let other = site.home().join("other.git");
    site.git(&["init", "-q", "--bare", other.to_str().unwrap()]);
    site.git(&[
        "push",
        "-q",
        other.to_str().unwrap(),
        "HEAD:refs/heads/main",
    ]);
    site.git(&["remote", "add", "origin", other.to_str().unwrap()]);
    site.git(&["fetch", "-q", "origin"]);
    let ran = site.tagout(&["undo", &call, "--dry-run"]);
    let id = site.git(&["rev-parse", "HEAD"]);
    let listed = format!(
        "what commit {} holds of {call} can't be taken back: others may have it",
        id.trim()
    );
    assert!(ran.stderr.contains(&listed), "{}", ran.shown());
    // It is taken back here all the same.
    assert_eq!(undo(&site, &[&call]).code, Some(0));
    assert_eq!(site.read("src/a.rs").as_deref(), Some(TEXT));
}

/// B4, L4: an undo that is killed at any step leaves the workspace wholly as it was or wholly as it
/// should be, and the ledger says which.
#[test]
fn a_killed_undo_is_whole_or_nothing() {
    let site = two();
    write(
        &site,
        ("INT-001", "s-1"),
        "src/a.rs",
        &TEXT.replace("fn a() {}", "fn a() { one() }"),
    );
    write(&site, ("INT-001", "s-1"), "src/new.rs", "fn new() {}\n");
    write(
        &site,
        ("INT-001", "s-1"),
        "src/deep/er.rs",
        "fn deep() {}\n",
    );
    let before = files(&site);
    let base = site.home().join("base");
    copy(&site, &base, true);
    let trace = site.home().join("calls.txt");
    let words = ["undo", "--session", "s-1", "--yes", "--json"];
    let ran = traced(&site, &["-o", trace.to_str().unwrap()], &words);
    assert!(ran, "strace does not run");
    let after = files(&site);
    assert_ne!(before, after);
    let calls = fs::read_to_string(&trace).unwrap();
    let mut points: Vec<(&str, usize)> = Vec::new();
    for call in ["write", "renameat2", "unlinkat", "mkdirat", "fdatasync"] {
        let name = format!(" {call}(");
        let count = calls.lines().filter(|line| line.contains(&name)).count();
        points.extend((1..=count).map(|when| (call, when)));
    }
    assert!(points.len() > 8, "{points:?}");
    // Every step would take minutes; these are spread over all of them.
    let every = points.len().div_ceil(16);
    let points: Vec<(&str, usize)> = points.into_iter().step_by(every).collect();
    let (mut stayed, mut went) = (0, 0);
    for (call, when) in points {
        copy(&site, &base, false);
        assert_eq!(files(&site), before);
        let inject = format!("inject={call}:signal=KILL:when={when}");
        let only = format!("trace={call}");
        let options = ["-o", "/dev/null", "-e", &only, "-e", &inject];
        traced(&site, &options, &words);
        let log = site.tagout(&["log", "--json"]);
        let is_told = log.stdout.contains("\"kind\":\"undo\"");
        let now = files(&site);
        assert!(now == before || now == after, "{call}#{when}: {now:?}");
        assert_eq!(is_told, now == after, "{call}#{when}: the ledger differs");
        assert_eq!(site.tagout(&["verify"]).code, Some(0), "{call}#{when}");
        if now == after {
            went += 1;
        } else {
            stayed += 1;
            let ran = undo(&site, &["--session", "s-1"]);
            assert_eq!(
                (ran.code, files(&site)),
                (Some(0), after.clone()),
                "{}",
                ran.shown()
            );
        }
    }
    assert!(stayed > 0 && went > 0, "{stayed} {went}");
}

/// Runs a verb under a tracer; whether it went well.
pub(crate) fn traced(site: &Site, options: &[&str], words: &[&str]) -> bool {
    let verb = site.command(words);
    let mut command = Command::new("strace");
    command
        .arg("-f")
        .args(options)
        .arg(verb.get_program())
        .args(verb.get_args());
    command
        .current_dir(site.root())
        .env_clear()
        .env("HOME", site.home())
        .env("TZ", "UTC");
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Keeps workspace and state in a folder, or puts them back from there.
pub(crate) fn copy(site: &Site, base: &Path, keeps: bool) {
    let places = [(site.root(), "ws"), (site.home().join(".local"), "local")];
    if keeps {
        fs::create_dir(base).unwrap();
    }
    for (place, name) in places {
        let kept = base.join(name);
        let (from, to) = if keeps { (place, kept) } else { (kept, place) };
        if !keeps {
            fs::remove_dir_all(&to).unwrap();
        }
        let status = Command::new("cp")
            .arg("-a")
            .arg(from)
            .arg(to)
            .status()
            .unwrap();
        assert!(status.success());
    }
}

/// The beginning of a call's id is enough where only one begins so; what is unclear or unknown is
/// said, and nothing is written.
#[test]
fn the_beginning_of_a_call_is_enough() {
    let site = two();
    let first = write(&site, ("INT-001", "s-1"), "src/new.rs", "fn n() {}\n");
    let second = write(&site, ("INT-002", "s-2"), "docs/b.md", "# B\n");
    let before = files(&site);
    let ran = undo(&site, &["x-"]);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    let told = json(&ran).to_string();
    assert!(
        told.contains("more than one call") && told.contains(&first),
        "{told}"
    );
    let ran = undo(&site, &["x-nothing"]);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    let told = json(&ran).to_string();
    assert!(told.contains("there is no call with changes"), "{told}");
    assert_eq!(files(&site), before);
    let same = first.bytes().zip(second.bytes());
    let same = same.take_while(|(one, other)| one == other).count();
    let ran = undo(&site, &[first.get(..=same.max(3)).unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(json(&ran)["calls"], serde_json::json!([first]));
    assert_eq!(site.read("src/new.rs"), None);
    assert!(site.read("docs/b.md").is_some());
}

/// One letter would do where there is one call, and a slip must not undo it.
#[test]
fn a_slip_names_no_call() {
    let site = two();
    write(&site, ("INT-001", "s-1"), "src/new.rs", "fn n() {}\n");
    let before = files(&site);
    for slip in ["x", "x-"] {
        let ran = undo(&site, &[slip]);
        assert_eq!(ran.code, Some(3), "{}", ran.shown());
        let told = json(&ran).to_string();
        assert!(told.contains("too short to say which call"), "{told}");
    }
    assert_eq!(files(&site), before);
}
