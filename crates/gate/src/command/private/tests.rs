//! Which paths never reach the workspace.
#![allow(
    clippy::disallowed_methods,
    reason = "tests set up the files that they look at"
)]

use std::fs;

use super::{Private, Words};

fn holds(path: &str, owned: bool) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("app")).unwrap();
    fs::write(root.join(".gitignore"), "/out/\n*.log\n!keep.log\n.env\n").unwrap();
    fs::write(root.join("app/.gitignore"), "!wanted.log\ngen/\n").unwrap();
    let words = Words::read().unwrap();
    let private = Private::of(root, &words);
    let (path, is_dir) = path
        .strip_suffix('/')
        .map_or((path, false), |folder| (folder, true));
    private.holds(path.as_bytes(), is_dir, || owned)
}

/// Build folders at any depth and ignored folders are private, whoever owns them.
#[test]
fn folders_that_never_reach_the_workspace() {
    for path in [
        "target/",
        "target/debug/x",
        "a/b/__pycache__/m.pyc",
        "out/a.txt",
        "app/gen/x",
    ] {
        assert!(holds(path, true), "{path}");
    }
    for path in ["src/a.rs", "targets/x", "app/out/x", "src/target"] {
        assert!(!holds(path, false), "{path}");
    }
}

/// An ignored file is work where the intent owns it; nested files have the last word.
#[test]
fn ignored_files() {
    assert!(holds("a.log", false) && !holds("a.log", true));
    assert!(holds("src/deep/a.log", false) && !holds("keep.log", false));
    assert!(!holds("app/wanted.log", false) && holds(".env", false) && !holds(".env", true));
}

/// A list of versions that a tool wrote by itself does not stand in the way of the rest.
#[test]
fn generated_files() {
    assert!(holds("Cargo.lock", false) && !holds("Cargo.lock", true));
    assert!(holds("app/package-lock.json", false) && !holds("package.json", false));
}

/// Git's own folder is never private: it has rules of its own.
#[test]
fn git_is_not_private() {
    assert!(!holds(".git/index", false) && !holds(".git/target/x", false));
}
