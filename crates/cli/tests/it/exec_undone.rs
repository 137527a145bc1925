//! `undo` after `exec`: what a command did comes back whole, by the verb that people use.

use std::process::Command;

use serde_json::Value;

use crate::confined::Site;

/// Everything in the scope: kind, mode, time, owner, attributes, content and which names are one
/// file.
const PICTURE: &str = r"
import os, stat
names = {}
def look(path):
    found = os.lstat(path)
    kind = stat.S_IFMT(found.st_mode)
    what = ''
    if stat.S_ISLNK(found.st_mode): what = os.readlink(path)
    if stat.S_ISREG(found.st_mode): what = repr(open(path, 'rb').read())
    attributes = []
    if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
        attributes = sorted((name, os.getxattr(path, name)) for name in os.listxattr(path))
    if stat.S_ISREG(found.st_mode): names.setdefault(found.st_ino, []).append(path)
    mode = stat.S_IMODE(found.st_mode)
    print(path, oct(kind), oct(mode), found.st_mtime_ns, found.st_uid, attributes, what)
    if stat.S_ISDIR(found.st_mode):
        for name in sorted(os.listdir(path)): look(os.path.join(path, name))
look('src')
print(sorted(sorted(one) for one in names.values() if len(one) > 1))
";

fn picture(site: &Site) -> String {
    let mut python = Command::new("python3");
    let output = python.args(["-c", PICTURE]).current_dir(site.root());
    let output = output.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn person(site: &Site, line: &str) {
    let mut shell = Command::new("bash");
    let status = shell.args(["-ec", line]).current_dir(site.root()).status();
    assert!(status.unwrap().success(), "{line}");
}

fn undo(site: &Site, call: &str) -> Value {
    let ran = site.tagout(&["undo", call, "--yes", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    serde_json::from_str(&ran.stdout).unwrap()
}

fn applied(site: &Site, line: &str) -> String {
    let told = site.receipt(line);
    assert_eq!(told["outcome"], "completed", "{told:#}");
    told["execution"].as_str().unwrap().to_owned()
}

fn site() -> Site {
    let site = Site::new(&[
        ("src/a.txt", "one\n"),
        ("src/b.txt", "two\n"),
        ("src/h.txt", "several names\n"),
        ("src/deep/c.txt", "three\n"),
    ]);
    person(
        &site,
        "mkfifo src/p0; ln src/h.txt src/deep/h2.txt; ln -s a.txt src/link; \
         python3 -c 'import os; os.setxattr(\"src/b.txt\", \"user.k\", b\"v\")'; \
         printf x > $'src/odd\\xff'; chmod 711 src/deep; \
         touch -h -d @1000000000.25 src/* src/deep/* src/deep src",
    );
    // A session changes what it has seen.
    let read = site.exec("cat src/a.txt src/b.txt src/h.txt src/deep/c.txt src/deep/h2.txt");
    assert_eq!(read.code, Some(0), "{}", read.shown());
    site
}

/// What no content shows.
const ATTRIBUTES: &str = "python3 -c 'import os; os.setxattr(\"src/a.txt\", \"user.new\", b\"1\"); \
     os.removexattr(\"src/b.txt\", \"user.k\"); os.utime(\"src/h.txt\", (5, 5)); \
     os.utime(\"src/deep/c.txt\", (5, 5))'";

/// B2, L4, B4: pipes, attributes, times, modes, links and folders come back as they
/// were, and the undo's own undo brings back what the command had done.
#[test]
fn everything_that_a_command_did_comes_back() {
    for (name, line) in [
        ("pipes", "mkfifo src/p; rm src/p0"),
        ("attributes", ATTRIBUTES),
        (
            "folders",
            "rm -r src/deep; mkdir -m 700 src/deep src/n; touch src/n/x",
        ),
        (
            "swaps",
            "rm src/a.txt src/link; mkdir src/a.txt; mkfifo src/link; rm src/p0; echo x > src/p0",
        ),
        ("names", "printf more >> src/h.txt; ln src/b.txt src/b2.txt"),
        (
            "modes",
            "chmod 600 src/a.txt; chmod 755 src/deep; echo x >> src/deep/c.txt",
        ),
        (
            "moved",
            "python3 -c 'import os; os.rename(\"src/a.txt\", \"src/deep/a.txt\")'",
        ),
    ] {
        let site = site();
        // A script shows nothing beforehand, so that nothing is refused beforehand.
        site.write("src/run.sh", &format!("{line}\n"));
        let before = picture(&site);
        let call = applied(&site, "bash src/run.sh");
        let after = picture(&site);
        assert_ne!(before, after, "{name}");
        let told = undo(&site, &call);
        assert_eq!(told["impossible"], Value::Array(Vec::new()), "{name}");
        same(&picture(&site), &before, name);
        let again = undo(&site, told["execution"].as_str().unwrap());
        assert_eq!(again["status"], "undone", "{name}");
        same(&picture(&site), &after, name);
        assert_eq!(site.tagout(&["verify"]).code, Some(0), "{name}");
    }
}

fn same(now: &str, then: &str, name: &str) {
    let missing = then
        .lines()
        .filter(|line| now.lines().all(|one| one != *line));
    let other = now
        .lines()
        .filter(|line| then.lines().all(|one| one != *line));
    let differing: Vec<String> = missing
        .map(|line| format!("- {line}"))
        .chain(other.map(|line| format!("+ {line}")))
        .collect();
    assert!(differing.is_empty(), "{name}:\n{}", differing.join("\n"));
}

/// L4: attributes and times that a person set since stay; the rest comes back.
#[test]
fn what_a_person_set_since_stays() {
    let site = site();
    let call = applied(
        &site,
        &format!("{ATTRIBUTES}; echo more >> src/a.txt; mkfifo src/p"),
    );
    person(
        &site,
        "touch -d @2000000000 src/deep/c.txt; touch src/theirs; \
         python3 -c 'import os; os.setxattr(\"src/a.txt\", \"user.theirs\", b\"2\")'",
    );
    let told = undo(&site, &call);
    assert_eq!(told["impossible"], Value::Array(Vec::new()));
    let now = picture(&site);
    let line = |name: &str| {
        now.lines()
            .find(|line| line.starts_with(name))
            .unwrap_or("")
    };
    assert!(
        line("src/a.txt").contains("[('user.theirs', b'2')] b'one\\n'"),
        "{now}"
    );
    assert!(line("src/b.txt").contains("user.k"), "{now}");
    assert!(
        line("src/deep/c.txt").contains(" 2000000000000000000 "),
        "{now}"
    );
    assert!(line("src/h.txt").contains(" 1000000000250000000 "), "{now}");
    assert_eq!(line("src/p "), "", "{now}");
    assert!(!line("src/theirs").is_empty(), "{now}");
}

/// B2, L4: what git did comes back by the same verb; no object goes, and git finds no fault.
#[test]
fn what_git_did_comes_back() {
    for line in [
        "git commit -qam work",
        "git stash -q; git checkout -q topic; git rebase -q main",
        "git stash -q",
        "git branch x; git tag y; git branch -D topic",
        "git reset -q --hard HEAD~1",
    ] {
        let site = Site::with_setup(&[("src/a.txt", "one\n")], |site| {
            site.git(&["branch", "-m", "main"]);
            site.git(&["checkout", "-q", "-b", "topic"]);
            site.write("src/t.txt", "topic\n");
            site.git(&["add", "src"]);
            site.git(&["commit", "-q", "-m", "topic"]);
            site.git(&["checkout", "-q", "main"]);
            site.write("src/b.txt", "two\n");
            site.git(&["add", "src"]);
            site.git(&["commit", "-q", "-m", "second"]);
            site.write("src/a.txt", "edited\n");
        });
        let state = || {
            [
                &["for-each-ref"][..],
                &["status", "--porcelain", "--branch"],
                &["stash", "list"],
                &["ls-files", "--stage"],
                &["worktree", "list"],
            ]
            .map(|words| site.git(words))
        };
        let (before, pictured) = (state(), picture(&site));
        let call = applied(&site, line);
        assert_ne!(state(), before, "{line}");
        let told = undo(&site, &call);
        assert_eq!(told["impossible"], Value::Array(Vec::new()), "{line}");
        assert_eq!(state(), before, "{line}");
        same(&picture(&site), &pictured, line);
        site.git(&["fsck", "--full", "--strict", "--no-dangling"]);
    }
}
