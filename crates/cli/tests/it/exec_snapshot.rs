//! The snapshot lane: a workspace with a mount in it, over which no overlay can be laid, and a
//! machine without name spaces, where commands write in place.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::confined::Site;

const FILES: &[(&str, &str)] = &[
    ("src/a.txt", "one\n"),
    ("src/b.txt", "two\n"),
    ("src/deep/c.txt", "three\n"),
    ("other.txt", "other\n"),
    ("vol/.keep", ""),
];

/// Moves a folder in a way that no analysis sees beforehand, and that no overlay minds.
const MOVE: &str = "python3 -c 'import shutil; shutil.move(\"src/deep\", \"src/moved\")'";

/// A site whose person accepts this much, with a session that has read the files.
fn accepting(accept: &str) -> Site {
    let site = Site::with_setup(FILES, |site| {
        let folder = site.home().join(".config/tagout");
        fs::create_dir_all(&folder).unwrap();
        let policy = format!("version: 1\nisolation:\n  accept: {accept}\n");
        fs::write(folder.join("policy.yaml"), policy).unwrap();
    });
    let read = site.exec("cat src/a.txt src/b.txt src/deep/c.txt");
    assert_eq!(read.code, Some(0), "{}", read.shown());
    site
}

/// `tagout` with a mount of its own inside the workspace.
fn mounted(site: &Site, args: &[&str]) -> Command {
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let spaces: &[&str] = if root { &["-m"] } else { &["-U", "-r", "-m"] };
    within(site, args, (spaces, "mount -t tmpfs none vol"))
}

/// `tagout` where something was done before, in name spaces of its own.
fn within(site: &Site, args: &[&str], (spaces, line): (&[&str], &str)) -> Command {
    let inner = site.command(args);
    let mut outer = Command::new("unshare");
    let line = format!("{line} && exec \"$@\"");
    outer.args(spaces).args(["sh", "-c", &line, "sh"]);
    outer.arg(inner.get_program()).args(inner.get_args());
    outer.current_dir(site.root()).env_clear();
    let variables = inner.get_envs();
    outer.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    outer.stdin(Stdio::null());
    outer
}

fn exec(site: &Site, options: &[&str], line: &str) -> Command {
    let first = ["exec", "--session", "s-1", "--intent", "INT-001", "--json"];
    mounted(site, &[&first[..], options, &["--", line]].concat())
}

fn told(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn receipt(site: &Site, line: &str) -> Value {
    told(&exec(site, &[], line).output().unwrap())
}

/// The same where no name spaces can be had, so that the command writes in place.
fn bare(site: &Site, options: &[&str], line: &str) -> Command {
    let first = ["exec", "--session", "s-1", "--intent", "INT-001", "--json"];
    let args = [&first[..], options, &["--", line]].concat();
    let spaces = (
        &["-U", "-r"][..],
        "echo 0 > /proc/sys/user/max_user_namespaces",
    );
    within(site, &args, spaces)
}

fn bare_receipt(site: &Site, line: &str) -> Value {
    told(&bare(site, &[], line).output().unwrap())
}

/// Kinds, modes and times of everything in the scope.
fn picture(site: &Site) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![site.root().join("src")];
    while let Some(path) = open.pop() {
        let stat = fs::symlink_metadata(&path).unwrap();
        let (mode, time) = (stat.mode(), (stat.mtime(), stat.mtime_nsec()));
        found.push(format!("{} {mode:o} {time:?}", path.display()));
        if stat.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().flatten().map(|one| one.path()));
        }
    }
    found.sort();
    found
}

/// Undoes an execution as a person would.
fn undo(site: &Site, execution: &str) {
    let ran = site.tagout(&["undo", execution, "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
}

/// S1, S2: without the user's word nothing weaker is used, and the refusal says what would help.
#[test]
fn not_accepted_is_refused() {
    for site in [Site::new(FILES), accepting("full")] {
        let before = site.tree();
        let output = exec(&site, &[], "echo x > src/new.txt").output().unwrap();
        let told = told(&output);
        assert_eq!(output.status.code(), Some(126), "{told:#}");
        assert_eq!(told["error"]["code"], "ISOLATION_UNAVAILABLE", "{told:#}");
        let remedy = told["error"]["remedy"].as_str().unwrap();
        assert!(remedy.contains("isolation"), "{remedy}");
        assert_eq!(site.tree(), before);
        let reads = receipt(&site, "cat src/a.txt");
        assert_eq!(reads["lane"], "read-only", "{reads:#}");
    }
}

/// S2, L4: where it is accepted, what the intent owns is applied, recorded with the lane's name,
/// and can be taken back.
#[test]
fn accepted_runs_in_place_and_can_be_undone() {
    let site = accepting("process");
    let (before, pictured) = (site.tree(), picture(&site));
    let line = format!(
        "printf 'new\\n' > src/a.txt; rm src/b.txt; {MOVE}; \
                mkdir -p src/x/y; echo z > src/x/y/z; ln -s a.txt src/link"
    );
    let told = receipt(&site, &line);
    assert_eq!(
        (&told["outcome"], &told["lane"]),
        (&Value::from("completed"), &Value::from("snapshot")),
        "{told:#}"
    );
    let weaker = |one: &Value| one["what"] == "writes" && one["weaker"] == true;
    assert!(told["enforcers"].as_array().unwrap().iter().any(weaker));
    assert_eq!(site.read("src/a.txt").as_deref(), Some("new\n"));
    assert_eq!(site.read("src/link").as_deref(), Some("new\n"));
    assert_eq!(site.read("src/b.txt"), None);
    assert_eq!(site.read("src/deep/c.txt"), None);
    assert_eq!(site.read("src/moved/c.txt").as_deref(), Some("three\n"));
    assert_eq!(site.read("src/x/y/z").as_deref(), Some("z\n"));
    let log = site.tagout(&["log", "--json"]);
    assert!(
        log.stdout.contains("\"lane\":\"snapshot\""),
        "{}",
        log.stdout
    );
    let execution = told["execution"].as_str().unwrap();
    assert!(site.states(execution).contains(&"COMPLETED".to_owned()));
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
    undo(&site, execution);
    assert_eq!(site.tree(), before);
    assert_eq!(picture(&site), pictured);
}

/// B2: a folder that can't be renamed in one step is reported with what to do instead, and that
/// works.
#[test]
fn a_folder_that_is_renamed_is_told_how() {
    let site = accepting("process");
    let line = "python3 -c 'import os; os.rename(\"src/deep\", \"src/moved\")'";
    let told = receipt(&site, line);
    assert_eq!(told["lane"], "snapshot", "{told:#}");
    assert_ne!(told["exit_code"], 0, "{told:#}");
    let hint = told["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("`mv` copies it"), "{told:#}");
    let told = receipt(&site, "mv src/deep src/moved");
    assert_eq!(told["outcome"], "completed", "{told:#}");
    assert_eq!(site.read("src/moved/c.txt").as_deref(), Some("three\n"));
}

/// Invariant 7: nothing beyond the scope can be written, and what decides about agents is taken
/// back with all the rest.
#[test]
fn what_is_not_permitted_does_not_stay() {
    let site = accepting("process");
    let before = site.tree();
    let told = receipt(&site, "python3 -c 'open(\"other.txt\", \"w\")'");
    assert_ne!(told["exit_code"], 0, "{told:#}");
    assert_eq!(site.tree(), before);
    let line = "python3 -c 'import os; open(\"src/a.txt\", \"w\").write(\"2\"); \
                os.mkdir(\"src/.claude\"); open(\"src/.claude/settings.json\", \"w\")'";
    let told = receipt(&site, line);
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{told:#}");
    assert_eq!(told["outcome"], "rolled_back");
    assert_eq!(site.tree(), before);
    assert_eq!(site.parked(), [told["parked"].as_str().unwrap()]);
    // Modes can be changed where that is done to a layer, and are locked in place.
    let mode = "python3 -c 'import os; os.chmod(\"src/a.txt\", 0o700)'";
    let told = receipt(&site, mode);
    assert_eq!(told["outcome"], "completed", "{told:#}");
    let mode_of = |site: &Site| fs::metadata(site.root().join("src/a.txt")).unwrap().mode();
    assert_eq!(mode_of(&site) & 0o777, 0o700);
    let site = accepting("none");
    let before = mode_of(&site);
    let told = bare_receipt(&site, mode);
    assert_ne!(told["exit_code"], 0, "metadata is locked: {told:#}");
    assert_eq!(mode_of(&site), before);
}

/// H7, invariant 7: what a repository within the scope commits can't be judged where commands write
/// in place, so nothing of it stays.
#[test]
fn commits_in_place_do_not_stay() {
    let line = "python3 -c 'open(\"src/deep/c.txt\", \"w\"); \
                open(\"src/deep/.git/refs/heads/other\", \"w\").write(\"x\")'";
    let site = accepting("none");
    site.git(&["init", "-q", "src/deep"]);
    let before = site.tree();
    let told = bare_receipt(&site, line);
    assert_eq!(told["lane"], "snapshot", "{told:#}");
    assert_ne!(told["outcome"], "completed", "{told:#}");
    assert_eq!(told["error"]["code"], "SCOPE_VIOLATION", "{told:#}");
    assert_eq!(site.tree(), before, "{told:#}");
    assert!(!site.root().join("src/deep/.git/refs/heads/other").exists());
}

/// A file with a name elsewhere can't be held in place, and too much is not kept.
#[test]
fn what_can_not_be_kept_is_refused() {
    let site = accepting("none");
    fs::hard_link(site.root().join("src/a.txt"), site.root().join("vol-a.txt")).unwrap();
    let told = bare_receipt(&site, "echo x > src/b.txt");
    assert_eq!(told["error"]["code"], "ISOLATION_UNAVAILABLE", "{told:#}");
    fs::remove_file(site.root().join("vol-a.txt")).unwrap();
    let large = fs::File::create(site.root().join("src/large")).unwrap();
    large.set_len(600 * 1024 * 1024).unwrap();
    let told = bare_receipt(&site, "echo x > src/b.txt");
    assert_eq!(told["error"]["code"], "ISOLATION_UNAVAILABLE", "{told:#}");
    let remedy = told["error"]["remedy"].as_str().unwrap();
    assert!(remedy.contains("narrower scope"), "{remedy}");
    assert_eq!(site.read("src/b.txt").as_deref(), Some("two\n"));
}

/// A limit that was hit leaves nothing.
#[test]
fn a_limit_takes_it_back() {
    let site = accepting("process");
    let before = site.tree();
    let line = "echo x > src/a.txt; rm src/b.txt; sleep 60";
    let output = exec(&site, &["--timeout", "1500"], line).output().unwrap();
    let told = told(&output);
    assert_eq!(told["error"]["code"], "TIMEOUT", "{told:#}");
    assert_eq!(site.tree(), before);
}

/// Starts a command that changes things, and kills Tagout while it goes on.
fn killed(site: &Site) {
    let line = format!(
        "rm src/b.txt; mkdir src/new; echo x > src/new/f; {MOVE}; \
                echo changed > src/a.txt; sleep 60"
    );
    let mut command = bare(site, &[], &line);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while site.read("src/a.txt").as_deref() != Some("changed\n") {
        assert!(began.elapsed() < Duration::from_secs(30), "it never began");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// L4: the next process takes back what a killed one left in place.
#[test]
fn a_killed_run_is_taken_back() {
    let site = accepting("none");
    let before = site.tree();
    killed(&site);
    let next = site.exec_with(&["--json"], "cat src/a.txt");
    assert_eq!(next.code, Some(0), "{}", next.shown());
    assert_eq!(site.tree(), before);
    let log = site.tagout(&["log", "--json"]);
    assert!(log.stdout.contains("\"ROLLED_BACK\""), "{}", log.stdout);
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
    let told = receipt(&site, "echo again > src/a.txt");
    assert_eq!(told["outcome"], "completed", "{told:#}");
}

/// L4: a person's work after the kill stays, and so does what was there before.
#[test]
fn a_persons_work_after_the_kill_is_kept() {
    let site = accepting("none");
    killed(&site);
    site.write("src/a.txt", "a person's\n");
    // As if the run had ended long before the person came.
    let notes = fs::read_dir(site.state().join("gate/in-place")).unwrap();
    for note in notes.flatten() {
        let mut told: Value = serde_json::from_slice(&fs::read(note.path()).unwrap()).unwrap();
        let at = &mut told["alive"]["at"]["seconds"];
        *at = Value::from(at.as_i64().unwrap() - 1_000);
        fs::write(note.path(), told.to_string()).unwrap();
    }
    let next = site.exec_with(&["--json"], "cat src/a.txt");
    assert_eq!(next.code, Some(0), "{}", next.shown());
    assert_eq!(site.read("src/a.txt").as_deref(), Some("a person's\n"));
    assert_eq!(site.read("src/b.txt").as_deref(), Some("two\n"));
    let folders = fs::read_dir(site.state().join("kept")).unwrap().flatten();
    let kept: Vec<String> = folders
        .flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten())
        .map(|file| fs::read_to_string(file.path()).unwrap())
        .collect();
    assert!(kept.contains(&"one\n".to_owned()), "{kept:?}");
    let log = site.tagout(&["log", "--json"]);
    assert!(
        log.stdout.contains("src/a.txt"),
        "the conflict is told: {}",
        log.stdout
    );
}

/// S1, S2: without user name spaces everything is refused, unless the person accepts even that;
/// then lines that read run with nothing writable, and lines that write in place.
#[test]
fn without_name_spaces_only_if_accepted() {
    let run = bare_receipt;
    let site = accepting("process");
    for line in ["cat src/a.txt", "echo x > src/new.txt"] {
        let told = run(&site, line);
        assert_eq!(told["error"]["code"], "ISOLATION_UNAVAILABLE", "{told:#}");
    }
    let site = accepting("none");
    let told = run(&site, "cat src/a.txt");
    assert_eq!(
        (&told["outcome"], &told["lane"]),
        (&Value::from("completed"), &Value::from("snapshot")),
        "{told:#}"
    );
    let (before, pictured) = (site.tree(), picture(&site));
    let told = run(&site, "echo x > src/new.txt; rm src/b.txt");
    assert_eq!(told["outcome"], "completed", "{told:#}");
    assert_eq!(told["lane"], "snapshot");
    assert_eq!(site.read("src/new.txt").as_deref(), Some("x\n"));
    assert_eq!(site.read("src/b.txt"), None);
    undo(&site, told["execution"].as_str().unwrap());
    assert_eq!(site.tree(), before);
    assert_eq!(picture(&site), pictured);
}

/// Starts a command that writes and waits, does something meanwhile, and lets it go on.
fn meanwhile(site: &Site, mut command: Command, person: impl FnOnce(&Site)) -> Value {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.unwrap();
    let layers = site.state().join("layers");
    let tmp = || {
        let sessions = fs::read_dir(&layers).into_iter().flatten().flatten();
        let mut places = sessions.map(|entry| entry.path().join("tmp"));
        places.find(|tmp| tmp.join("ready").exists())
    };
    let began = Instant::now();
    let tmp = loop {
        if let Some(found) = tmp() {
            break found;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "it never began");
        std::thread::sleep(Duration::from_millis(5));
    };
    person(site);
    fs::write(tmp.join("go"), "").unwrap();
    told(&child.wait_with_output().unwrap())
}

const WAITS: &str = "echo theirs > src/a.txt; touch $TMPDIR/ready; \
                     while ! test -e $TMPDIR/go; do sleep 0.02; done";

/// H13, L4: a person who saves a file while the command has it, and one beside it, loses nothing:
/// the person's files stay, the command's are kept.
#[test]
fn a_persons_work_during_the_run_is_kept() {
    let site = accepting("process");
    let line = WAITS.replace("$TMPDIR", "/tmp");
    let told = meanwhile(&site, exec(&site, &[], &line), |site| {
        site.write("src/a.txt", "a person's\n");
        site.write("src/b.txt", "a person's too\n");
    });
    assert_eq!(told["error"]["code"], "CONFLICT", "{told:#}");
    assert_eq!(site.read("src/a.txt").as_deref(), Some("a person's\n"));
    assert_eq!(site.read("src/b.txt").as_deref(), Some("a person's too\n"));
    let id = told["parked"].as_str().unwrap();
    let shown = site.tagout(&["parked", "show", id]);
    assert!(shown.stdout.contains("src/a.txt"), "{}", shown.shown());
    assert!(!shown.stdout.contains("src/b.txt"), "{}", shown.shown());
}

/// L4: in place it can't be told who wrote what, so nothing that was found is given up: what is
/// refused is parked, and a person can apply it.
#[test]
fn in_place_nothing_is_given_up() {
    let site = accepting("none");
    let before = site.tree();
    let line = "python3 -c 'import os; open(\"src/a.txt\", \"w\").write(\"2\"); \
                os.remove(\"src/b.txt\"); os.rename(\"src/deep\", \"src/moved\"); \
                os.mkdir(\"src/.claude\"); open(\"src/.claude/settings.json\", \"w\")'";
    let told = bare_receipt(&site, line);
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{told:#}");
    assert_eq!(site.tree(), before);
    let id = told["parked"].as_str().unwrap();
    let shown = site.tagout(&["parked", "show", id]);
    for name in ["src/a.txt", "src/b.txt", "src/deep", "src/moved/c.txt"] {
        assert!(shown.stdout.contains(name), "{name}: {}", shown.shown());
    }
    let ran = site.tagout(&["parked", "apply", id, "--in-scope", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.read("src/a.txt").as_deref(), Some("2"));
    assert_eq!(site.read("src/b.txt"), None);
    assert_eq!(site.read("src/moved/c.txt").as_deref(), Some("three\n"));
    assert_eq!(site.read("src/.claude/settings.json"), None);

    let site = accepting("none");
    let line = "echo theirs > src/a.txt; sleep 60";
    let output = bare(&site, &["--timeout", "1500"], line).output().unwrap();
    let told = self::told(&output);
    assert_eq!(told["error"]["code"], "TIMEOUT", "{told:#}");
    assert_eq!(site.read("src/a.txt").as_deref(), Some("one\n"));
    assert_eq!(site.parked(), [told["parked"].as_str().unwrap()]);
}

/// H7, invariant 7: a link is no folder on the way to what the intent owns.
#[test]
fn in_place_a_link_is_no_way_into_the_scope() {
    let site = accepting("none");
    site.write("lib/a.txt", "one\n");
    let words = [
        "intent",
        "new",
        "INT-002",
        "--name",
        "Deep",
        "--scope",
        "lib/*/inner/**",
        "--yes",
    ];
    let made = site.tagout(&words);
    assert_eq!(made.code, Some(0), "{}", made.shown());
    let within = |line: &str| {
        let first = ["exec", "--session", "s-2", "--intent", "INT-002", "--json"];
        let args = [&first[..], &["--", line]].concat();
        let spaces = (
            &["-U", "-r"][..],
            "echo 0 > /proc/sys/user/max_user_namespaces",
        );
        told(&within(&site, &args, spaces).output().unwrap())
    };
    let told = within("python3 -c 'import os; os.symlink(\"a.txt\", \"lib/way\")'");
    // The kernel holds it before anybody judges it: only folders that are there can be written to.
    assert_eq!(told["exit_code"], 1, "{told:#}");
    assert!(site.root().join("lib/way").symlink_metadata().is_err());
}

/// B2: a tool's cache in the home is kept for the session in this lane too.
#[test]
fn caches_stay_with_the_session() {
    let site = accepting("process");
    fs::create_dir_all(site.home().join(".cache")).unwrap();
    let told = receipt(
        &site,
        "python3 -c 'import os; open(\"src/n\", \"w\"); \
         open(os.path.expanduser(\"~/.cache/note\"), \"w\").write(\"kept\\n\")'",
    );
    assert_eq!(told["lane"], "snapshot", "{told:#}");
    let told = receipt(&site, "cat ~/.cache/note > src/copy.txt");
    assert_eq!(told["outcome"], "completed", "{told:#}");
    assert_eq!(site.read("src/copy.txt").as_deref(), Some("kept\n"));
    assert!(!site.home().join(".cache/note").exists());
}

/// S1: it is told whether the weaker lane is accepted, and by what.
#[test]
fn doctor_says_what_is_accepted() {
    for (accept, word) in [
        ("full", "not accepted"),
        ("process", "snapshot lane"),
        ("none", "name spaces"),
    ] {
        let ran = accepting(accept).tagout(&["doctor", "--json"]);
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        let lines = told["lines"].as_array().unwrap();
        let line = lines
            .iter()
            .find(|line| line["what"] == "weaker lane for commands that write");
        let said = line.unwrap()["enforcer"].as_str().unwrap();
        assert!(said.contains(word), "{accept}: {said}");
    }
}
