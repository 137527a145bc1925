//! What commands must not be able to do to the workspace, and what happens instead.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::confined::Site;

/// Runs a program as a person, without any wall, and says whether the planted code left its marks,
/// which are removed again.
fn lands_outside(site: &Site, program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).current_dir(site.root());
    command.env("HOME", site.home()).stdin(Stdio::null());
    command.output().unwrap();
    let marks = [site.root().join("PWNED"), site.home().join("PWNED")];
    marks.map(|mark| fs::remove_file(mark).is_ok()) == [true, true]
}

/// Repositories whose own configuration makes readers run code: the readers run, nothing lands.
/// What is planted does land where there is no wall, by `git` and by `.npmrc`.
#[test]
fn readers_that_run_code() {
    let site = Site::with_setup(
        &[
            ("src/a.txt", "one\n"),
            (".gitattributes", "*.txt diff=evil\n"),
        ],
        |site| {
            let evil = site.root().join("evil.sh");
            let mark = site.root().join("PWNED");
            let script = format!(
                "#!/bin/sh\necho x > {0} 2>/dev/null; echo x > {1}/PWNED 2>/dev/null; cat \"$1\" 2>/dev/null\n",
                mark.display(),
                site.home().display()
            );
            fs::write(&evil, script).unwrap();
            fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
            let evil = evil.display().to_string();
            site.git(&["config", "core.fsmonitor", &evil]);
            site.git(&["config", "diff.evil.textconv", &evil]);
            site.git(&["config", "core.pager", &evil]);
            site.write(".npmrc", "script-shell=./evil.sh\n");
            let package = r#"{"name": "planted", "scripts": {"hello": "true"}}"#;
            site.write("package.json", package);
            site.write("src/a.txt", "two\n");
        },
    );
    for (program, args) in [
        ("git", &["status"][..]),
        ("git", &["diff"]),
        ("npm", &["run", "hello"]),
    ] {
        assert!(lands_outside(&site, program, args), "{program} {args:?}");
    }
    let before = site.tree();
    for line in [
        "git status",
        "git diff",
        "git log -p",
        "git show",
        "git diff --stat",
        "npm --version",
        "npm pkg get scripts",
        "npm config get script-shell",
    ] {
        let told = site.receipt(line);
        let lane = told["lane"].as_str().unwrap_or_default();
        assert!(told["exit_code"].is_number(), "{line}: {told:#}");
        assert!(
            lane == "read-only" || told["changed"] == Value::Array(Vec::new()),
            "{line}: {told:#}"
        );
    }
    assert_eq!(site.tree(), before);
    // The script that `.npmrc` names does run behind the walls, and what it wrote is parked.
    let told = site.receipt("npm run hello");
    assert_eq!(told["error"]["code"], "SCOPE_VIOLATION", "{told:#}");
    assert_eq!(told["changed"], serde_json::json!(["PWNED"]), "{told:#}");
    assert_eq!(site.tree(), before);
    assert!(!site.home().join("PWNED").exists());
}

fn authority(site: &Site, line: &str) {
    let told = site.receipt(line);
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{line}: {told:#}");
    let id = told["parked"]
        .as_str()
        .unwrap_or_else(|| panic!("{line}: {told:#}"));
    let ran = site.tagout(&["parked", "apply", id, "--yes"]);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    assert_eq!(site.tagout(&["parked", "drop", id, "--yes"]).code, Some(0));
}

/// Invariant 8, T-002: what decides about agents is out of reach by link, hard link and patch.
#[test]
fn authority_is_parked_whatever_the_way() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let law = site.read(".orchestration/active_intents.yaml");
    let hook = "python3 -c 'import os; os.symlink(\"../.git/hooks\", \"src/h\"); \
                open(\"src/h/pre-commit\", \"w\").write(\"#!/bin/sh\")'";
    authority(&site, hook);
    authority(
        &site,
        "python3 -c 'import os; os.link(\".orchestration/active_intents.yaml\", \"src/l\"); \
         open(\"src/l\", \"a\").write(\"# more\")'",
    );
    let line = "printf '%s\\n' '--- /dev/null' '+++ b/.orchestration/more.yaml' '@@ -0,0 +1 @@' '+x' \
                > src/p.patch && git apply src/p.patch";
    authority(&site, line);
    let told = site.receipt("git config core.hooksPath src");
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{told:#}");
    assert_eq!(
        site.git(&["config", "--get-regexp", "core.hookspath|core.bare"]),
        "core.bare false\n"
    );
    assert_eq!(site.read(".orchestration/active_intents.yaml"), law);
    assert!(!site.root().join(".git/hooks/pre-commit").exists());
    assert_eq!(site.read("src/l"), None);
}

/// Invariant 8: nothing is left in git's folder that a person's next git command would run or
/// follow, or that would stop it. A rebase that stopped goes on.
#[test]
fn nothing_for_git_to_run_is_left_behind() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let before = site.git(&["status", "--porcelain"]);
    let write = |path: &str, text: &str| {
        format!(
            "python3 -c 'import os; os.makedirs(os.path.dirname(\"{path}\"), exist_ok=True); \
             open(\"{path}\", \"w\").write(\"{text}\")'"
        )
    };
    for line in [
        write(".git/rebase-merge/git-rebase-todo", "pick a\\nexec touch x"),
        write(".git/rebase-merge/git-rebase-todo", " x touch x"),
        write(".git/shallow", "x"),
        write(".git/remotes/origin", "URL: elsewhere"),
        "python3 -c 'import os; os.symlink(\"../src\", \".git/rebase-merge\")'".to_owned(),
        "python3 -c 'import os; os.symlink(\"../../../src/a\", \".git/refs/heads/l\")'".to_owned(),
        "python3 -c 'import os; os.link(\"src/a.txt\", \".git/SQUASH_MSG\")'".to_owned(),
    ] {
        authority(&site, &line);
    }
    assert_eq!(site.git(&["status", "--porcelain"]), before);
    assert_eq!(site.exec("cat src/a.txt").code, Some(0));
    let line = "echo two > src/a.txt && git commit -qam two && git switch -qc other HEAD~1 && \
                echo three > src/a.txt && git commit -qam three && git rebase -q master; exit 0";
    let line = line.replace("master", site.git(&["branch", "--show-current"]).trim());
    let told = site.receipt(&line);
    assert_eq!(told["outcome"], "completed", "{told:#}");
    assert!(
        site.root()
            .join(".git/rebase-merge/git-rebase-todo")
            .exists()
    );
}

/// Invariant 2: a change that one event of the ledger can't list is not made, and nothing is stuck
/// behind it.
#[test]
fn what_cannot_be_told_is_not_done() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let line = "python3 -c 'import os; deep = \"src/\" + \"/\".join([\"d\" * 250] * 14); \
                os.makedirs(deep); [open(deep + \"/\" + str(i), \"w\") for i in range(1300)]'";
    let told = site.receipt(line);
    assert_eq!(told["error"]["code"], "LIMIT_EXCEEDED", "{told:#}");
    let told = site.receipt("echo two > src/b.txt");
    assert_eq!(told["outcome"], "completed", "{told:#}");
    assert_eq!(site.read("src/b.txt").as_deref(), Some("two\n"));
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
}

/// H7: a pack whose index gives another content under a known name does not reach the repository,
/// nor does such an object in a file of its own; what git makes does.
#[test]
fn objects_are_what_their_names_say() {
    let forge = "
import hashlib, struct, sys, zlib
def forge(name, content):
    begin = b'PACK' + struct.pack('>II', 2, 1)
    entry = bytes([0x30 | len(content)]) + zlib.compress(content)
    pack = begin + entry
    end = hashlib.sha1(pack).digest()
    index = b'\\xfftOc' + struct.pack('>I', 2)
    index += struct.pack('>256I', *[int(first >= name[0]) for first in range(256)])
    index += name + struct.pack('>II', zlib.crc32(entry), len(begin)) + end
    index += hashlib.sha1(index).digest()
    for ending, content in ('pack', pack + end), ('idx', index):
        open('.git/objects/pack/pack-' + end.hex() + '.' + ending, 'wb').write(content)
forge(bytes.fromhex(sys.argv[1]), b'EVIL')
";
    let site = Site::new(&[
        ("src/a.txt", "one\n"),
        ("src/forge.py", forge),
        ("docs/b.txt", "two\n"),
    ]);
    let id = site.git(&["rev-parse", "HEAD:docs/b.txt"]);
    let told = site.receipt(&format!("python3 src/forge.py {}", id.trim()));
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{told:#}");
    let line = "python3 -c 'import os, zlib; os.makedirs(\".git/objects/ab\", exist_ok=True); \
                open(\".git/objects/ab/\" + \"c\" * 38, \"wb\").write(zlib.compress(b\"blob 1\\0x\"))'";
    let told = site.receipt(line);
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{told:#}");
    assert_eq!(site.git(&["cat-file", "-p", id.trim()]), "two\n");
    assert_eq!(site.exec("cat src/a.txt").code, Some(0));
    let told = site.receipt("echo two > src/a.txt && git commit -qam two");
    assert_eq!(told["outcome"], "completed", "{told:#}");
    site.git(&["fsck", "--strict"]);
}

/// H7, invariant 8: a file that may not be changed gets no second name in the scope either, under
/// which another tool could write to it.
#[test]
fn a_second_name_is_a_change_of_what_it_names() {
    let site = Site::new(&[("src/a.txt", "one\n"), ("docs/b.txt", "two\n")]);
    for (to, code) in [
        ("docs/b.txt", "SCOPE_VIOLATION"),
        (".orchestration/hook_policy.yaml", "AUTHORITY_FILE"),
        (".git/config", "AUTHORITY_FILE"),
    ] {
        let line = format!("python3 -c 'import os; os.link(\"{to}\", \"src/l\")'");
        let told = site.receipt(&line);
        assert_eq!(told["error"]["code"], code, "{line}: {told:#}");
        assert_eq!(site.read("src/l"), None, "{line}");
    }
    let told = site.receipt("python3 -c 'import os; os.link(\"src/a.txt\", \"src/l\")'");
    assert_eq!(told["outcome"], "completed", "{told:#}");
    assert_eq!(site.read("src/l").as_deref(), Some("one\n"));
}

/// A link in the workspace that leads out of it carries no write there.
#[test]
fn links_lead_nowhere() {
    let site = Site::with_setup(&[], |site| {
        symlink(site.home(), site.root().join("src/out")).unwrap();
    });
    let ran = site.exec("python3 -c 'open(\"src/out/x\", \"w\")'");
    assert_ne!(ran.code, Some(0), "{}", ran.shown());
    assert!(!site.home().join("x").exists());
}

/// Waits until something is there, with a bound.
fn wait_for(what: impl Fn() -> bool) {
    let started = Instant::now();
    while !what() {
        assert!(started.elapsed() < Duration::from_secs(60), "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// H13: a person who saves the same file meanwhile loses nothing; the command's version is parked.
#[test]
fn a_foreign_edit_is_a_conflict() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let go = site.state().join("layers");
    assert_eq!(site.exec("cat src/a.txt").code, Some(0));
    let line =
        "echo theirs > src/a.txt; touch /tmp/ready; while ! test -e /tmp/go; do sleep 0.02; done";
    let args = [
        "exec",
        "--session",
        "s-1",
        "--intent",
        "INT-001",
        "--json",
        "--",
        line,
    ];
    let child = site
        .command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let tmp = || {
        let sessions = fs::read_dir(&go).into_iter().flatten().flatten();
        sessions
            .map(|entry| entry.path().join("tmp"))
            .find(|tmp| tmp.join("ready").exists())
    };
    wait_for(|| tmp().is_some());
    site.write("src/a.txt", "a person's\n");
    fs::write(tmp().unwrap().join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["error"]["code"], "CONFLICT", "{told:#}");
    assert_eq!(site.read("src/a.txt").as_deref(), Some("a person's\n"));
    let id = told["parked"].as_str().unwrap();
    let ran = site.tagout(&["parked", "apply", id, "--yes"]);
    assert_eq!(ran.code, Some(4), "{}", ran.shown());
    for side in [
        "in the workspace, line 1\na person's\n",
        "theirs\n>>>>>>> the command's",
    ] {
        assert!(ran.stderr.contains(side), "{}", ran.shown());
    }
    assert_eq!(site.read("src/a.txt").as_deref(), Some("a person's\n"));
    assert_eq!(site.parked(), [id], "it stays");
    // Once the two agree there is nothing left to decide.
    site.write("src/a.txt", "theirs\n");
    let ran = site.tagout(&["parked", "apply", id, "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.parked(), Vec::<String>::new());
}

/// H13, L4: where a person changed other lines of the same file, applying again brings the two
/// together, and can be undone; later work is judged anew.
#[test]
fn a_parked_conflict_is_brought_together() {
    let lines: Vec<String> = (1..=20).map(|line| format!("line {line}\n")).collect();
    let text = lines.concat();
    let site = Site::new(&[("src/a.txt", &text)]);
    // The session has to have seen the file, and not in the very moment in which it was written.
    std::thread::sleep(Duration::from_millis(60));
    assert_eq!(site.exec("cat src/a.txt").code, Some(0));
    let line = "sed -i '2s/.*/the command/' src/a.txt; echo new > src/new.txt; touch /tmp/ready; \
                while ! test -e /tmp/go; do sleep 0.02; done";
    let args = [
        "exec",
        "--session",
        "s-1",
        "--intent",
        "INT-001",
        "--json",
        "--",
        line,
    ];
    let child = site.command(&args).stdout(Stdio::piped()).spawn().unwrap();
    let layers = site.state().join("layers");
    let tmp = || {
        let sessions = fs::read_dir(&layers).into_iter().flatten().flatten();
        sessions
            .map(|entry| entry.path().join("tmp"))
            .find(|tmp| tmp.join("ready").exists())
    };
    wait_for(|| tmp().is_some());
    site.write("src/a.txt", &text.replace("line 19\n", "a person\n"));
    fs::write(tmp().unwrap().join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["error"]["code"], "CONFLICT", "{told:#}");
    let id = told["parked"].as_str().unwrap();
    let ran = site.tagout(&["parked", "apply", id, "--yes", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let both = text
        .replace("line 2\n", "the command\n")
        .replace("line 19\n", "a person\n");
    assert_eq!(site.read("src/a.txt"), Some(both));
    assert_eq!(site.read("src/new.txt").as_deref(), Some("new\n"));
    let applied: Value = serde_json::from_str(&ran.stdout).unwrap();
    let ran = site.tagout(&["undo", applied["execution"].as_str().unwrap(), "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let theirs = text.replace("line 19\n", "a person\n");
    assert_eq!(site.read("src/a.txt"), Some(theirs));
}

/// Whether a process of this command line runs, anywhere.
fn runs(mark: &str) -> bool {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.into_iter().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let own = entry.file_name().to_string_lossy() == std::process::id().to_string();
        !own && String::from_utf8_lossy(&line).contains(mark)
    })
}

/// L4: kill -9 of Tagout while the command runs: nothing is left of it, and the ledger says so.
#[test]
fn killed_while_a_command_runs() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    assert_eq!(site.exec("cat src/a.txt").code, Some(0));
    let before = site.tree();
    let line = "echo two > src/a.txt; touch /tmp/ready; (setsid sleep 86397 &); sleep 86398";
    let args = [
        "exec",
        "--session",
        "s-1",
        "--intent",
        "INT-001",
        "--",
        line,
    ];
    let mut child = site
        .command(&args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let layers = site.state().join("layers");
    let ready = || {
        let sessions = fs::read_dir(&layers).into_iter().flatten().flatten();
        sessions
            .into_iter()
            .any(|entry| entry.path().join("tmp/ready").exists())
    };
    wait_for(|| ready() && runs("86397"));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for(|| !runs("8639"));
    assert_eq!(site.tree(), before);
    let ran = site.tagout(&["parked", "list"]);
    assert!(
        ran.stderr.contains("did not end; nothing of it is left"),
        "{}",
        ran.shown()
    );
    let log = site.tagout(&["log", "--json"]);
    let last: Vec<Value> = log
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let states: Vec<&str> = last
        .iter()
        .filter_map(|event| event["state"].as_str())
        .collect();
    assert!(
        states.contains(&"ABORTED") && states.contains(&"ROLLED_BACK"),
        "{states:?}"
    );
    let left = fs::read_dir(&layers).unwrap().flatten();
    let own = left
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("x-"))
        .count();
    assert_eq!(own, 0, "its layers are gone");
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
    assert_eq!(site.exec("echo three > src/b.txt").code, Some(0));
}

/// Ctrl-C ends the whole tree and rolls back, and the ledger hears of it at once.
#[test]
fn interrupted() {
    let site = Site::new(&[]);
    let line = "echo x > src/b.txt; touch /tmp/ready; sleep 86396";
    let args = [
        "exec",
        "--session",
        "s-1",
        "--intent",
        "INT-001",
        "--json",
        "--",
        line,
    ];
    let child = site
        .command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(|| runs("sleep\u{0}86396"));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["outcome"], "rolled_back", "{told:#}");
    assert!(!runs("sleep\u{0}86396"));
    assert_eq!(site.read("src/b.txt"), None);
    let states = site.states(told["execution"].as_str().unwrap());
    assert_eq!(
        states.last().map(String::as_str),
        Some("ROLLED_BACK"),
        "{states:?}"
    );
}

/// Ctrl-C before anybody was told that a command goes on ends the command; a moment later it goes
/// on, and that is said together with what ends it.
#[test]
fn interrupted_before_it_is_left_running() {
    let site = Site::new(&[]);
    let line = "sleep 86394";
    let words = ["exec", "--session", "s-1", "--intent", "INT-001"];
    let words = [&words[..], &["--long-running", "--", line]].concat();
    let end = || site.tagout(&["exec", "--session", "s-1", "--end"]).stdout;
    let mut ended = false;
    // A machine that is slow to signal may be too late.
    for _ in 0..20 {
        let mut command = site.command(&words);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        wait_for(|| runs("sleep\u{0}86394"));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !id.is_empty() {
            let goes_on = "it goes on; `tagout exec --session s-1 --end` ends it";
            let is_told = told.contains(goes_on);
            assert_eq!(is_told, output.status.code() == Some(130), "{output:?}");
            assert_eq!(end(), format!("ended {id}\n"), "{output:?}");
            continue;
        }
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        assert!(told.contains("it was ended"), "{output:?}");
        assert!(!runs("sleep\u{0}86394"), "{output:?}");
        assert_eq!(end(), "", "{output:?}");
        ended = true;
        break;
    }
    assert!(ended, "no signal came in time");
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
}

/// S2: the first process of a sandbox stems from the process that a person called. Nothing of that
/// one's environment can be found in it, and a variable that commands may not see is in no other.
#[test]
fn the_caller_s_environment_stays_outside() {
    let site = Site::new(&[]);
    let line = "cat /proc/1/environ /proc/self/environ 2> /dev/null | tr '\\0' '\\n'; ps axe";
    let args = [
        "exec",
        "--session",
        "one",
        "--intent",
        "INT-001",
        "--",
        line,
    ];
    let mut command = site.command(&args);
    let output = command
        .env("DEPLOY_TOKEN", "a-secret-word")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("TAGOUT_GOVERNED=1"), "{told}");
    assert!(!told.contains("a-secret-word"), "{told}");
}

/// B2: a reader that keeps no caches itself sees what a build of its session put into one, and can
/// put nothing into any.
#[test]
fn readers_see_the_session_s_caches() {
    let site = Site::new(&[]);
    fs::create_dir_all(site.home().join(".cache/real")).unwrap();
    let ran = site.exec("cat $HOME/.cache/built; ls $HOME/.cache");
    assert!(ran.stdout.ends_with("real\n"), "{}", ran.shown());
    let ran = site.exec("sh -c 'echo made > $HOME/.cache/built'");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert!(!site.home().join(".cache/built").exists());
    let ran = site.exec("cat $HOME/.cache/built; ls $HOME/.cache");
    assert_eq!(ran.stdout, "made\nbuilt\nreal\n", "{}", ran.shown());
}
