//! Others at work while a command runs: nothing of theirs is lost.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tagout_gate::changes::StageError;
use tagout_workspace::{Clash, Error, Options, WriterProbe};

use super::picture::Picture;
use super::support::{Bench, all, quiet, tool};
use super::tree::{Chance, build, script};

fn conflicts(error: &StageError) -> Vec<(String, Clash)> {
    let StageError::Workspace(Error::Conflict { paths }) = error else {
        panic!("not a conflict: {error}");
    };
    paths
        .iter()
        .map(|one| (one.path.clone(), one.found))
        .collect()
}

fn put(bench: &Bench, path: &str, text: &str) {
    let path = bench.root().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What a person does meanwhile, one thing per case, and the path that then is in conflict.
type Meanwhile = (&'static str, fn(&Path), Option<&'static str>);

const CASES: [Meanwhile; 9] = [
    (
        "writes in place what the command wrote",
        |root| fs::write(root.join("d/a"), "theirs").unwrap(),
        Some("d/a"),
    ),
    (
        "saves by renaming what the command wrote",
        |root| {
            fs::write(root.join("d/.tmp"), "theirs").unwrap();
            fs::rename(root.join("d/.tmp"), root.join("d/a")).unwrap();
        },
        Some("d/a"),
    ),
    (
        "writes deep in what the command removed",
        |root| fs::write(root.join("gone/deep/er/x"), "theirs").unwrap(),
        Some("gone"),
    ),
    (
        "makes a file deep in what the command removed",
        |root| fs::write(root.join("gone/deep/er/new"), "theirs").unwrap(),
        Some("gone"),
    ),
    (
        "moves an old folder into what the command removed",
        |root| fs::rename(root.join("old"), root.join("gone/deep/old")).unwrap(),
        Some("gone"),
    ),
    (
        "writes in a folder that the command replaced by a file",
        |root| fs::write(root.join("swap/in"), "theirs").unwrap(),
        Some("swap"),
    ),
    (
        "makes the file that the command made",
        |root| fs::write(root.join("d/new"), "theirs").unwrap(),
        Some("d/new"),
    ),
    (
        "changes the mode of what the command wrote",
        |root| {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            fs::set_permissions(root.join("d/a"), mode).unwrap();
        },
        Some("d/a"),
    ),
    (
        "works beside it in the same folders",
        |root| {
            fs::write(root.join("d/beside"), "theirs").unwrap();
            fs::write(root.join("elsewhere"), "theirs").unwrap();
        },
        None,
    ),
];

const COMMAND: &str = "echo ours > d/a; echo ours > d/new; rm -rf gone; rm -rf swap
    echo file > swap; chmod 700 mode";

fn laid_out() -> Bench {
    let bench = Bench::new();
    for path in [
        "d/a",
        "gone/deep/er/x",
        "gone/y",
        "swap/in",
        "mode/x",
        "old/z",
        "elsewhere",
    ] {
        put(&bench, path, "before");
    }
    bench
}

/// L4: a person's work in the meantime is a conflict where both touched the same, also deep in
/// folders that went, and no conflict elsewhere; in no case is it lost.
#[test]
fn work_in_the_meantime_is_kept() {
    for (what, meanwhile, conflict) in CASES {
        let bench = laid_out();
        let ran = bench.run("run", COMMAND, Vec::new());
        meanwhile(&bench.root());
        let theirs = Picture::of(&bench.root());
        let applied = bench.apply("done", &ran);
        match conflict {
            Some(path) => {
                let found = conflicts(&applied.unwrap_err());
                assert!(
                    found.iter().any(|(one, _)| one == path),
                    "{what}: {found:?}"
                );
                assert_eq!(Picture::of(&bench.root()), theirs, "{what}");
            }
            None => {
                applied.unwrap();
                for path in ["d/beside", "elsewhere"] {
                    let text = fs::read_to_string(bench.root().join(path)).unwrap();
                    assert_eq!(text, "theirs", "{what}");
                }
                let kept = &Picture::of(&bench.root()).paths["d"];
                // The folder's time is that of the later work.
                assert!(kept.mtime >= theirs.paths["d"].mtime, "{what}");
            }
        }
    }
}

/// L4: when the machine's clock was set meanwhile, nothing that exists is taken for unchanged.
#[test]
fn a_clock_that_was_set_trusts_nothing() {
    let bench = laid_out();
    let ran = bench.run("run", "echo ours > d/a", Vec::new());
    let ran = super::support::Ran {
        mark: ran.mark.with_clock_set(true),
        ..ran
    };
    let found = conflicts(&bench.apply("done", &ran).unwrap_err());
    assert_eq!(found, [("d/a".to_owned(), Clash::Changed)]);
    let ran = bench.run("new", "echo ours > d/fresh", Vec::new());
    let ran = super::support::Ran {
        mark: ran.mark.with_clock_set(true),
        ..ran
    };
    bench.apply("new", &ran).unwrap();
}

/// L4: what was written the moment before a command began is not taken for someone else's later
/// work.
#[test]
fn work_just_before_is_no_conflict() {
    let bench = laid_out();
    for round in 0..30 {
        fs::write(bench.root().join("d/a"), format!("{round}")).unwrap();
        let name = format!("run-{round}");
        let ran = bench.run(&name, "echo ours >> d/a", Vec::new());
        bench.apply(&name, &ran).unwrap();
    }
}

/// L4: a file that an editor holds open for writing is not replaced under its hands.
#[test]
fn held_files_are_conflicts() {
    let bench = laid_out();
    let held = fs::OpenOptions::new()
        .append(true)
        .open(bench.root().join("gone/deep/er/x"));
    let mut held = held.unwrap();
    let ran = bench.run("run", COMMAND, Vec::new());
    let probes = [
        WriterProbe::Processes,
        WriterProbe::Lease(tagout_sandbox::lease),
    ];
    for writers in probes {
        let before = Picture::of(&bench.root());
        let options = Options { writers, ..quiet() };
        let found = conflicts(&bench.apply_with(options, "done", &ran).unwrap_err());
        assert_eq!(found, [("gone".to_owned(), Clash::HeldOpen)]);
        assert_eq!(Picture::of(&bench.root()), before);
    }
    held.write_all(b" and more").unwrap();
    let text = fs::read_to_string(bench.root().join("gone/deep/er/x")).unwrap();
    assert_eq!(text, "before and more");
}

/// Every regular file beneath a folder.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// A person who does a few random things between a random command and its commit.
fn interfered(seed: u64) -> Result<bool, String> {
    let bench = Bench::new();
    let mut chance = Chance::new(seed);
    build(&bench.root(), &mut chance);
    let script = script(tool(), &mut chance);
    let ran = bench.run("run", &script, Vec::new());
    let mut written = Vec::new();
    for round in 0..=chance.below(3) {
        let token = format!("written by a person, {seed} {round}");
        let all = files(&bench.root());
        let folder = all
            .get(chance.below(all.len().max(1)))
            .and_then(|file| file.parent())
            .map_or_else(|| bench.root(), Path::to_path_buf);
        let path = match all.get(chance.below(all.len() + 1)) {
            Some(file) if chance.below(2) == 0 => {
                // Saved by renaming.
                fs::write(folder.join(".saving"), &token).unwrap();
                fs::rename(folder.join(".saving"), file).unwrap();
                file.clone()
            }
            Some(file) => {
                fs::write(file, &token).unwrap();
                file.clone()
            }
            None => {
                let path = folder.join("of a person");
                fs::write(&path, &token).unwrap();
                path
            }
        };
        written.retain(|(other, _)| *other != path);
        written.push((path, token));
    }
    let before = Picture::of(&bench.root());
    let applied = bench.apply("done", &ran);
    if let Err(error) = &applied {
        conflicts(error);
        if Picture::of(&bench.root()) != before {
            return Err(format!(
                "seed {seed}: a conflict that changed something\n{script}"
            ));
        }
    }
    // Names of one file share what was written last, so any name will do.
    let texts: Vec<String> = files(&bench.root())
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect();
    let there: Vec<String> = written
        .iter()
        .filter(|(path, token)| {
            let here = fs::read_to_string(path);
            here.is_ok_and(|text| text.contains("by a person")) || texts.contains(token)
        })
        .map(|(_, token)| token.clone())
        .collect();
    if there.len() != written.len() {
        return Err(format!("seed {seed}: lost one of {written:?}\n{script}"));
    }
    Ok(applied.is_ok())
}

fn many(seeds: std::ops::Range<u64>) {
    let total = seeds.end - seeds.start;
    let results: Vec<Result<bool, String>> = seeds.map(interfered).collect();
    let bad: Vec<&String> = results
        .iter()
        .filter_map(|one| one.as_ref().err())
        .collect();
    let applied = results.iter().filter(|one| matches!(one, Ok(true))).count();
    println!(
        "{total} commands with a person at work: {applied} applied, {} in conflict, {} lost",
        results.len() - applied - bad.len(),
        bad.len()
    );
    assert!(bad.is_empty(), "{} of {total}: {}", bad.len(), bad[0]);
    assert!(applied > 0 && applied < results.len(), "both were seen");
}

/// L4: whatever a person writes between a command and its commit stays, and the commit is whole or
/// not at all.
#[test]
fn nothing_of_a_person_is_lost() {
    many(0..100);
}

/// L4: the same many times over.
#[test]
fn soak_nothing_of_a_person_is_lost() {
    many(500..1000);
}

/// Appends numbered lines until told to stop; answers how many.
fn edit(path: &Path, stop: &AtomicBool) -> usize {
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        // Between being removed and being there again there is no file; a person tries again.
        let opened = fs::OpenOptions::new().append(true).open(path);
        if let Ok(mut file) = opened {
            file.write_all(format!("person {count}\n").as_bytes())
                .unwrap();
            count += 1;
        }
        // A person is slow; the file system's clock has to move for commits to have a chance.
        for _ in 0..5000 {
            std::thread::yield_now();
        }
    }
    count
}

/// L4: an editor that appends all the while, and commands that append to the same file: no line of
/// either is lost, except those of commands that were told so.
#[test]
fn an_editor_that_never_stops_loses_nothing() {
    let bench = Bench::new();
    put(&bench, "f", "");
    let (path, stop) = (bench.root().join("f"), AtomicBool::new(false));
    let mut kept = Vec::new();
    let (lines, rounds) = std::thread::scope(|scope| {
        let editor = scope.spawn(|| edit(&path, &stop));
        let rounds = if all() { 200 } else { 25 };
        for round in 0..rounds {
            let name = format!("run-{round}");
            let ran = bench.run(&name, &format!("echo command {round} >> f"), Vec::new());
            let writers = WriterProbe::Lease(tagout_sandbox::lease);
            match bench.apply_with(Options { writers, ..quiet() }, &name, &ran) {
                Ok(_) => kept.push(round),
                Err(error) => drop(conflicts(&error)),
            }
            tagout_sandbox::layer::remove(&bench.at(&name)).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        (editor.join().unwrap(), rounds)
    });
    let workspace = bench.open();
    for _ in 0..3 {
        workspace.checkpoint(|| Ok(())).unwrap();
    }
    let text: String = files(&bench.root())
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let found: std::collections::BTreeSet<&str> = text.lines().collect();
    let lost = |word: &str, number: usize| !found.contains(format!("{word} {number}").as_str());
    println!(
        "{lines} lines of a person, {} of {rounds} commands applied",
        kept.len()
    );
    let missing: Vec<usize> = (0..lines)
        .filter(|number| lost("person", *number))
        .collect();
    assert!(missing.is_empty(), "lost {missing:?} of {lines}");
    assert!(
        kept.iter().all(|number| !lost("command", *number)),
        "{text}"
    );
}
