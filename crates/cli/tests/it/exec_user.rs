//! Everything as an ordinary user: the real verb, started by root as somebody else, and by whoever
//! is somebody else already as themselves.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A user that owns nothing else.
const NOBODY: u32 = 65_534;

struct Other {
    dir: TempDir,
}

/// Whether this is root, who can become somebody else.
fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// The ordinary user's number.
fn ordinary() -> u32 {
    if is_root() {
        NOBODY
    } else {
        fs::metadata("/proc/self").unwrap().uid()
    }
}

fn give(path: &Path) {
    if !is_root() {
        return;
    }
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            give(&entry.path());
        }
    }
}

impl Other {
    fn new() -> Self {
        let dir = tempfile::Builder::new()
            .prefix("user-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let other = Self { dir };
        for folder in ["ws/src", "home"] {
            fs::create_dir_all(other.dir.path().join(folder)).unwrap();
        }
        fs::copy(env!("CARGO_BIN_EXE_tagout"), other.binary()).unwrap();
        fs::write(other.root().join("src/a.txt"), "one\n").unwrap();
        give(other.dir.path());
        other
    }

    fn binary(&self) -> PathBuf {
        self.dir.path().join("tagout")
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    fn command(&self, program: &Path, args: &[&str]) -> Output {
        let mut command = Command::new("setpriv");
        let id = NOBODY.to_string();
        if is_root() {
            command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]);
        }
        command.arg("--no-new-privs");
        command.arg(program).args(args).current_dir(self.root());
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("HOME", self.dir.path().join("home"));
        command.stdin(Stdio::null()).output().unwrap()
    }

    fn tagout(&self, args: &[&str]) -> Output {
        self.command(&self.binary(), args)
    }

    fn receipt(&self, line: &str) -> Value {
        let first = [
            "exec",
            "--session",
            "s-1",
            "--intent",
            "INT-001",
            "--json",
            "--",
        ];
        let output = self.tagout(&[&first[..], &[line]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }
}

fn done(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

/// A script of the workspace, of which nothing can be known before it runs, tries to leave marks
/// everywhere that its user may write. It says which of its steps failed.
const ESCAPE: &str = r#"
for target in "$HOME/mark" "$HOME/.profile" ../mark "$1/mark"; do
    echo x >> "$target" || echo "held: $target"
done
rm -f "$1/kept" || echo "held: rm"
cat "$HOME/.ssh/id_ed25519" || echo "held: key"
unshare -r true || echo "held: unshare"
echo done > src/mark
"#;

/// S1, S2: the script runs to its end as an ordinary user, and nothing is left of it but what the
/// intent owns.
fn a_script_is_held(other: &Other) {
    let home = other.dir.path().join("home");
    let outside = other.dir.path().join("outside");
    for folder in [&outside, &home.join(".ssh")] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(outside.join("kept"), "kept\n").unwrap();
    fs::write(home.join(".ssh/id_ed25519"), "a key\n").unwrap();
    fs::write(home.join(".profile"), "mine\n").unwrap();
    fs::write(other.root().join("escape.sh"), ESCAPE).unwrap();
    give(other.dir.path());
    let marks = || {
        let all = [
            home.join("mark"),
            other.dir.path().join("mark"),
            outside.join("mark"),
        ];
        all.into_iter().filter(|mark| mark.exists()).count()
    };
    let told = other.receipt(&format!("sh ./escape.sh '{}'", outside.display()));
    assert_eq!(
        (&told["outcome"], &told["lane"], &told["exit_code"]),
        (
            &Value::from("completed"),
            &Value::from("transaction"),
            &Value::from(0)
        ),
        "{told:#}"
    );
    assert_eq!(told["changed"], serde_json::json!(["src/mark"]), "{told:#}");
    let said = told["output"].as_str().unwrap();
    for step in ["rm", "key", "unshare"] {
        assert!(said.contains(&format!("held: {step}")), "{step}: {said}");
    }
    assert!(!said.contains("a key"), "{said}");
    assert_eq!(marks(), 0, "{said}");
    for (path, text) in [
        (home.join(".profile"), "mine\n"),
        (outside.join("kept"), "kept\n"),
    ] {
        assert_eq!(fs::read_to_string(path).unwrap(), text, "{said}");
    }
    // Without walls every step of it lands, or the test says nothing.
    let plain = other.command(
        Path::new("sh"),
        &["./escape.sh", &outside.display().to_string()],
    );
    assert_eq!(
        (marks(), outside.join("kept").exists()),
        (3, false),
        "{plain:?}"
    );
    for left in [
        home.join("mark"),
        home.join(".profile"),
        other.dir.path().join("mark"),
    ] {
        fs::remove_file(left).unwrap();
    }
}

/// S1, B2: setting up, reading, writing, committing, parking, applying, undoing and the limits work
/// for a user without any right, by the verb itself.
#[test]
fn the_verb_works_for_an_ordinary_user() {
    let other = Other::new();
    let git = |args: &[&str]| done(&other.command(Path::new("git"), args));
    git(&["init", "-q", "."]);
    git(&["config", "user.email", "n@example.org"]);
    git(&["config", "user.name", "N"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "first"]);
    let scope = ["--scope", "src/**", "--scope", "tests/**"];
    done(&other.tagout(&[&["init", "--yes", "--intent", "Work"][..], &scope].concat()));

    let told = other.receipt("cat src/a.txt; id -u");
    assert_eq!(told["lane"], "read-only", "{told:#}");
    assert!(
        told["output"]
            .as_str()
            .unwrap()
            .contains(&ordinary().to_string()),
        "{told:#}"
    );
    let told = other.receipt("echo two > src/b.txt && git add src && git commit -qm second");
    assert_eq!(
        (&told["outcome"], &told["lane"]),
        (&Value::from("completed"), &Value::from("transaction")),
        "{told:#}"
    );
    assert_eq!(
        fs::read_to_string(other.root().join("src/b.txt")).unwrap(),
        "two\n"
    );
    let told = other.receipt("python3 -c 'open(\"other.txt\", \"w\").write(\"x\")'");
    assert_eq!(told["error"]["code"], "SCOPE_VIOLATION", "{told:#}");
    let id = told["parked"].as_str().unwrap();
    done(&other.tagout(&["parked", "apply", id, "--yes"]));
    let told = other.receipt("echo three > src/c.txt");
    done(&other.tagout(&["undo", told["execution"].as_str().unwrap(), "--yes"]));
    assert!(!other.root().join("src/c.txt").exists());
    let told = other.receipt("touch ~/x /etc/x /var/tmp/x");
    assert!(told["exit_code"].is_null(), "known, so not run: {told:#}");
    a_script_is_held(&other);
    let line = "python3 -c 'b = bytearray(8 << 30); b[::4096] = b\"x\" * (len(b) // 4096)'";
    let told = other.receipt(line);
    println!("8 GB for an ordinary user: {}", told["limit_hit"]);
    assert_ne!(told["outcome"], "completed", "{told:#}");
    done(&other.tagout(&["verify"]));
}

/// Takes a folder away from the ordinary user, or gives it back.
fn own(path: &Path, away: bool) {
    let mode = if away && !is_root() { 0o000 } else { 0o700 };
    if is_root() {
        let user = if away { 0 } else { NOBODY };
        chown(path, Some(user), Some(user)).unwrap();
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A state that another user owns is not gone: every verb refuses, says that it may not read and
/// what helps, and none of them leads to a new ledger.
#[test]
fn a_state_of_another_user_is_not_gone() {
    let other = Other::new();
    done(&other.tagout(&["init", "--yes", "--intent", "Work", "--scope", "src/**"]));
    let home = other.dir.path().join("home/.local/state/tagout");
    let state = fs::read_dir(&home).unwrap().flatten();
    let state = state.map(|entry| entry.path()).find(|path| path.is_dir());
    let state = state.unwrap();
    let verbs = [
        "log",
        "verify",
        "stats",
        "pending",
        "parked list",
        "blame src/a.txt",
        "intent select INT-001 --session s",
        "intent release INT-001 --yes",
        "run list_files --session s",
        "exec --session s -- true",
        "trust --yes",
        "init --yes",
        "epoch new --yes",
    ];
    let id = fs::read(other.root().join(".orchestration/.tagout-id")).unwrap();
    for folder in [&home, &state, &state.join("gate"), &state.join("ledger")] {
        own(folder, true);
        for verb in verbs {
            let words: Vec<&str> = verb.split(' ').collect();
            let output = other.tagout(&words);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let at = format!("{verb}, {}: {output:?}", folder.display());
            assert!(!told.contains("gone"), "{at}");
            assert!(!told.contains("epoch new"), "{at}");
            // Of the two folders inside, some verbs need only the other one, or see that it is
            // there.
            let inner = folder.parent() == Some(&state);
            if inner && (output.status.success() || verb.starts_with("epoch")) {
                continue;
            }
            assert!(!output.status.success(), "{at}");
            let words = ["permission denied", "no permission for"];
            let told_so = words.iter().any(|one| told.to_lowercase().contains(one));
            assert!(told_so, "{at}");
            assert!(inner || told.contains("run this as that user"), "{at}");
        }
        own(folder, false);
    }
    let now = fs::read(other.root().join(".orchestration/.tagout-id")).unwrap();
    assert_eq!(now, id);
    done(&other.tagout(&["verify"]));
}

/// A set-up whose state may not be written leaves nothing in the workspace; with the right given,
/// the same line ends in a workspace whose law holds.
#[test]
fn a_state_that_may_not_be_written() {
    let other = Other::new();
    let home = other.dir.path().join("home");
    own(&home, true);
    let line = "init --yes --intent Work --scope src/** --json";
    let line: Vec<&str> = line.split(' ').collect();
    let output = other.tagout(&line);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(!output.status.success(), "{output:?}");
    let reason = told["reason"].as_str().unwrap().to_lowercase();
    assert!(reason.contains("permission denied"), "{told:#}");
    let remedy = told["remedy"].as_str().unwrap();
    assert!(remedy.contains("run `tagout init` again"), "{told:#}");
    assert!(!other.root().join(".orchestration").exists());
    own(&home, false);
    let output = other.tagout(&line);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["accepted"], true, "{output:?}");
    let told = other.receipt("echo two > src/b.txt");
    assert_eq!(told["outcome"], "completed", "{told:#}");
}
