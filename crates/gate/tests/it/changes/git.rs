//! Git in commands: what it writes is applied by git's own rules, and undone without harm.

use std::path::Path;
use std::process::Command;

use tagout_gate::changes::StageError;
use tagout_workspace::Error;

use super::picture::Picture;
use super::support::{Bench, Ran};

/// Runs git as a person does, outside of any sandbox.
fn git(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .envs([("GIT_AUTHOR_NAME", "p"), ("GIT_AUTHOR_EMAIL", "p@example")])
        .envs([
            ("GIT_COMMITTER_NAME", "p"),
            ("GIT_COMMITTER_EMAIL", "p@example"),
        ])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {words:?}: {error}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Everything about a repository that people would miss.
fn state(root: &Path) -> Vec<String> {
    [
        &["rev-parse", "HEAD"][..],
        &["for-each-ref"],
        &["status", "--porcelain", "--branch"],
        &["stash", "list"],
        &["log", "--all", "--oneline", "--format=%H %s"],
        &["ls-files", "--stage"],
    ]
    .into_iter()
    .map(|words| git(root, words))
    .collect()
}

fn clean(root: &Path) {
    let said = git(root, &["fsck", "--full", "--strict", "--no-dangling"]);
    assert!(
        !said.contains("missing") && !said.contains("error"),
        "{said}"
    );
}

/// A repository with a few commits on two branches, and something not committed.
fn repository() -> Bench {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet", "--initial-branch", "main"]);
    for (name, text) in [("a", "one\ntwo\nthree\n"), ("b", "b\n")] {
        std::fs::write(root.join(name), text).unwrap();
    }
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "-m", "first"]);
    git(&root, &["checkout", "--quiet", "-b", "topic"]);
    std::fs::write(root.join("t"), "topic\n").unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "-m", "topic"]);
    git(&root, &["checkout", "--quiet", "main"]);
    std::fs::write(root.join("c"), "c\n").unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "-m", "second"]);
    std::fs::write(root.join("a"), "one\ntwo\nthree, edited\n").unwrap();
    bench
}

fn ran(bench: &Bench, name: &str, script: &str) -> Ran {
    let ran = bench.run(name, &format!("set -e\n{script}"), Vec::new());
    let output = std::fs::read_to_string(bench.at(name).join("output")).unwrap_or_default();
    assert!(ran.ended.exit.is_success(), "{script}: {output}");
    ran
}

const COMMANDS: [(&str, &str); 9] = [
    ("commit", "git commit -qam work"),
    ("amend", "git commit -qa --amend -m other"),
    (
        "rebase",
        "git stash -q; git checkout -q topic; git rebase -q main",
    ),
    ("stash", "git stash -q"),
    (
        "merge",
        "git commit -qam work; git merge -q -m merged topic",
    ),
    ("branch", "git branch x; git tag y; git branch -D topic"),
    (
        "worktree",
        "git worktree add -q wt topic; (cd wt; echo more >> t; git commit -qam more)",
    ),
    ("pack", "git pack-refs --all; git repack -q -d"),
    ("reset", "git reset -q --hard HEAD~1"),
];

/// B2, L4: after each command the repository is what the command saw; after the undo it is what was
/// before; git finds no fault either time, and no object was ever removed.
#[test]
fn commands_of_git_are_applied_and_undone() {
    for (name, script) in COMMANDS {
        let bench = repository();
        let root = bench.root();
        let before = state(&root);
        let objects = |picture: &Picture| -> Vec<String> {
            // What lies in `info` is a list of the others and can be made again.
            let inside = |path: &&String| {
                path.starts_with(".git/objects/") && !path.starts_with(".git/objects/info")
            };
            picture.paths.keys().filter(inside).cloned().collect()
        };
        let old = objects(&Picture::of(&root));
        let seen = ran(&bench, name, &format!("{script}\n{LOOK}"));
        let seen = (
            std::fs::read_to_string(bench.at(name).join("tmp/state")).unwrap(),
            seen,
        );
        bench.apply(name, &seen.1).unwrap();
        clean(&root);
        let all = |lines: Vec<String>| lines.join("\n");
        assert_eq!(all(looked(&root)), seen.0.trim(), "{name}");
        let now = objects(&Picture::of(&root));
        assert!(
            old.iter().all(|one| now.contains(one)),
            "{name} removed objects"
        );

        bench.undo(name).unwrap();
        clean(&root);
        assert_eq!(state(&root), before, "{name}");
        let left = objects(&Picture::of(&root));
        assert!(
            now.iter().all(|one| left.contains(one)),
            "undoing {name} removed objects"
        );
    }
}

/// What both sides look at: the same commands in the sandbox and outside.
const LOOK: &str = "{ git rev-parse HEAD; git for-each-ref; git stash list; \
    git status --porcelain --branch; git ls-files --stage; } > /tmp/state";

fn looked(root: &Path) -> Vec<String> {
    [
        &["rev-parse", "HEAD"][..],
        &["for-each-ref"],
        &["stash", "list"],
        &["status", "--porcelain", "--branch"],
        &["ls-files", "--stage"],
    ]
    .into_iter()
    .map(|words| git(root, words))
    .filter(|text| !text.is_empty())
    .collect()
}

/// B2: what `gc` and `prune` would remove stays, because someone may be about to stand on it.
#[test]
fn objects_are_only_ever_added() {
    let bench = repository();
    let root = bench.root();
    // An object that nothing refers to yet: a person is in the middle of something.
    let middle = git(&root, &["hash-object", "-w", "a"]);
    let seen = ran(&bench, "gc", "git gc -q --prune=now; git prune");
    bench.apply("gc", &seen).unwrap();
    clean(&root);
    assert!(git(&root, &["cat-file", "-p", &middle]).contains("edited"));
    let (folder, name) = middle.split_at(2);
    assert!(root.join(".git/objects").join(folder).join(name).exists());
}

/// L4: a person commits while a command commits: the command's changes are a conflict as a whole,
/// and the person's commit stands.
#[test]
fn a_commit_of_a_person_meanwhile_stands() {
    let bench = repository();
    let root = bench.root();
    let seen = ran(&bench, "commit", "git commit -qam 'of the command'");
    git(&root, &["commit", "--quiet", "-am", "of the person"]);
    let theirs = state(&root);
    let error = bench.apply("commit", &seen).unwrap_err();
    let conflict = matches!(error, StageError::Workspace(Error::Conflict { .. }));
    assert!(conflict, "{error}");
    assert_eq!(state(&root), theirs);
    clean(&root);
}

/// L4: a person commits on top of a command's commit: undoing that one is refused as a whole. On a
/// branch beside it, the undo works, and the person's commit keeps the objects that it shares.
#[test]
fn a_commit_of_a_person_in_between_survives_the_undo() {
    let bench = repository();
    let root = bench.root();
    let seen = ran(&bench, "commit", "git commit -qam 'of the command'");
    bench.apply("commit", &seen).unwrap();
    std::fs::write(root.join("b"), "of the person\n").unwrap();
    git(&root, &["commit", "--quiet", "-am", "of the person"]);
    let theirs = state(&root);
    assert!(matches!(bench.undo("commit"), Err(Error::Conflict { .. })));
    assert_eq!(state(&root), theirs);
    clean(&root);

    let bench = repository();
    let (root, beside) = (bench.root(), bench.at("beside"));
    git(
        &root,
        &[
            "worktree",
            "add",
            "--quiet",
            beside.to_str().unwrap(),
            "topic",
        ],
    );
    let before = git(&root, &["rev-parse", "main"]);
    let seen = ran(&bench, "commit", "git commit -qam 'of the command'");
    bench.apply("commit", &seen).unwrap();
    // The same content, so that git uses the blob that the command wrote.
    std::fs::copy(root.join("a"), beside.join("a")).unwrap();
    git(&beside, &["commit", "--quiet", "-am", "of the person"]);
    bench.undo("commit").unwrap();
    clean(&root);
    assert_eq!(git(&root, &["rev-parse", "main"]), before);
    assert!(git(&beside, &["log", "-1", "--format=%s"]).contains("of the person"));
    assert!(git(&beside, &["show", "HEAD:a"]).contains("edited"));
    assert_eq!(git(&beside, &["status", "--porcelain"]), "");
}
