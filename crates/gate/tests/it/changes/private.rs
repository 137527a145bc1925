//! Private layers: what belongs to a session stays with it, and shows in its next command.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use tagout_sandbox::layer::{self, Private};

use super::picture::Picture;
use super::support::{Bench, Ran, all, read, tool};
use super::tree::{Chance, build, script};

fn is_target(path: &[u8], _folder: bool) -> bool {
    path.split(|byte| *byte == b'/')
        .any(|name| name == b"target")
}

fn names(bench: &Bench, ran: &Ran) -> Vec<String> {
    // With the times of folders: those that only something private changed are not among them.
    let set = read(&bench.root(), &ran.upper, &is_target);
    set.entries
        .iter()
        .map(|entry| String::from_utf8(entry.path.clone()).unwrap())
        .collect()
}

/// One command with the private layer: run, read, split, apply.
fn step(bench: &Bench, private: &Private, (name, script): (&str, &str)) -> (Ran, Vec<String>) {
    private.refresh(&bench.root(), &is_target).unwrap();
    let ran = bench.run(name, script, vec![private.tree().to_path_buf()]);
    let changed = names(bench, &ran);
    private
        .split(&ran.upper, &bench.root(), &is_target)
        .unwrap();
    assert_eq!(
        names(bench, &ran),
        changed,
        "splitting changes nothing for the rest"
    );
    bench.apply(name, &ran).unwrap();
    (ran, changed)
}

fn put(bench: &Bench, path: &str, text: &str) {
    let path = bench.root().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// B2: builds are incremental at any depth and never reach the workspace.
#[test]
fn build_folders_stay_with_the_session() {
    let bench = Bench::new();
    put(&bench, "src/a", "one");
    put(&bench, "crates/b/src/x", "one");
    put(&bench, "target/of-a-person", "mine");
    let private = Private::open(&bench.at("private")).unwrap();
    let theirs = Picture::of(&bench.root().join("target"));

    let first = "mkdir -p target/debug crates/b/target; echo 1 > target/debug/o
        echo 1 > crates/b/target/o; rm target/of-a-person; echo two >> src/a";
    let (_, changed) = step(&bench, &private, ("one", first));
    assert_eq!(changed, ["src/a"]);
    assert_eq!(Picture::of(&bench.root().join("target")), theirs);
    assert!(!bench.root().join("crates/b/target").exists());

    // The next command finds what the first one built, and what it removed is gone for it.
    let second = "set -e; test -e target/debug/o; test ! -e target/of-a-person
        cat crates/b/target/o; echo 2 >> crates/b/target/o; rm -r target/debug
        mkdir target/debug; echo 3 > target/debug/p";
    let (ran, changed) = step(&bench, &private, ("two", second));
    assert!(ran.ended.exit.is_success());
    assert_eq!(changed, Vec::<String>::new());

    // Someone changes a folder on the way, and the session sees it as it is.
    let folder = bench.root().join("crates/b");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o711)).unwrap();
    let third = "set -e; test \"$(stat -c %a crates/b)\" = 711; test ! -e target/debug/o
        test -e target/debug/p; test \"$(cat crates/b/target/o | wc -l)\" = 2; echo y > crates/b/y";
    let (ran, changed) = step(&bench, &private, ("three", third));
    assert!(ran.ended.exit.is_success());
    assert_eq!(changed, ["crates/b", "crates/b/y"]);
    assert_eq!(
        fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
        0o711
    );

    // What is removed as a whole takes its private part with it.
    let fourth = "rm -rf crates/b; mkdir -p crates/b/src; echo new > crates/b/src/x";
    step(&bench, &private, ("four", fourth));
    let fifth = "test ! -e crates/b/target && test -e crates/b/src/x";
    let (ran, _) = step(&bench, &private, ("five", fifth));
    assert!(ran.ended.exit.is_success());

    // Someone removes the folder: nothing of it shows through.
    let sixth = "mkdir crates/b/target; echo 1 > crates/b/target/o";
    step(&bench, &private, ("six", sixth));
    fs::remove_dir_all(bench.root().join("crates")).unwrap();
    let (ran, _) = step(&bench, &private, ("seven", "test ! -e crates"));
    assert!(ran.ended.exit.is_success());
}

/// B2: a layer whose change did not come to its end, or that is older than the machine's boot, is
/// not believed.
#[test]
fn half_merged_layers_are_dropped() {
    let bench = Bench::new();
    let folder = bench.at("private");
    let fill = || fs::write(folder.join("tree/file"), "cached").unwrap();
    let there = || folder.join("tree/file").exists();
    Private::open(&folder).unwrap();
    fill();
    Private::open(&folder).unwrap();
    assert!(there(), "a whole one stays");
    fs::remove_file(folder.join("whole")).unwrap();
    Private::open(&folder).unwrap();
    assert!(!there());
    fill();
    fs::write(folder.join("whole"), "another boot").unwrap();
    Private::open(&folder).unwrap();
    assert!(!there());
    // A split that fails half-way leaves it so.
    fill();
    let private = Private::open(&folder).unwrap();
    let upper = bench.at("upper");
    fs::create_dir_all(upper.join("target")).unwrap();
    fs::write(upper.join("target/x"), "x").unwrap();
    let asked = std::cell::Cell::new(false);
    let broken = |path: &[u8], _| {
        // Its source goes while it is moved.
        asked.set(true);
        drop(fs::remove_dir_all(upper.join("target")));
        path == b"target"
    };
    assert!(private.split(&upper, &bench.root(), &broken).is_err());
    assert!(asked.get());
    Private::open(&folder).unwrap();
    assert!(!there());
}

/// What a program in the sandbox nests or closes is removed all the same.
#[test]
fn deep_and_closed_layers_are_removed() {
    let bench = Bench::new();
    let script = "mkdir -p x/y; chmod 000 x/y; chmod 000 x
        d=deep; mkdir $d; cd $d; for i in $(seq 300); do mkdir n; cd n; done; true";
    let scratch = bench.at("run");
    drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(
        || {
            // The picture fails in folders that nobody may enter.
            bench.run("run", script, Vec::new())
        },
    )));
    assert!(scratch.join("upper/deep/n").exists());
    assert!(scratch.join("work/work").exists());
    layer::remove(&scratch).unwrap();
    assert!(!scratch.exists());
    layer::remove(&scratch).unwrap();
}

/// Random commands of one session in which everything is private: each sees what the last one left.
fn session(seed: u64) -> Result<(), String> {
    let bench = Bench::new();
    let mut chance = Chance::new(seed);
    build(&bench.root(), &mut chance);
    let before = Picture::of(&bench.root());
    let private = Private::open(&bench.at("private")).unwrap();
    let mut last: Option<Picture> = None;
    for round in 0..5 {
        let text = script(tool(), &mut chance);
        let text = format!("{} picture . /tmp/first\n{text}", tool().display());
        let name = format!("run-{round}");
        private.refresh(&bench.root(), &|_, _| true).unwrap();
        let lower = vec![private.tree().to_path_buf()];
        let ran = bench.run(&name, &text, lower);
        let first = fs::read(bench.at(&name).join("tmp/first")).unwrap();
        let first: Picture = serde_json::from_slice(&first).unwrap();
        if let Some(last) = &last {
            let differs = |name: &&String| {
                let plain = |picture: &Picture| picture.without_inodes().paths.get(*name).cloned();
                !name.is_empty() && plain(&first) != plain(last)
            };
            let bad: Vec<&String> = first
                .paths
                .keys()
                .chain(last.paths.keys())
                .filter(differs)
                .collect();
            if let Some(name) = bad.first() {
                let (now, then) = (first.paths.get(*name), last.paths.get(*name));
                return Err(format!(
                    "seed {seed} round {round} {name}: {now:?} {then:?}\n{text}"
                ));
            }
        }
        private
            .split(&ran.upper, &bench.root(), &|_, _| true)
            .unwrap();
        layer::remove(&bench.at(&name)).map_err(|error| error.to_string())?;
        last = Some(ran.merged);
    }
    if Picture::of(&bench.root()) != before {
        return Err(format!("seed {seed}: the workspace changed"));
    }
    Ok(())
}

/// B2: whatever a session's commands do to their private files, the next one sees exactly that.
#[test]
fn each_command_sees_what_the_last_one_left() {
    let seeds = if all() { 0..150 } else { 0..12 };
    let count = seeds.end;
    let bad: Vec<String> = seeds.filter_map(|seed| session(seed).err()).collect();
    println!("{count} sessions of 5 commands, {} wrong", bad.len());
    assert!(bad.is_empty(), "{} wrong: {}", bad.len(), bad[0]);
}
