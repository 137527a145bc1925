//! The real binary, killed at the system calls of `run` that change something: wholly before or
//! wholly after, the ledger agrees, nothing acknowledged is lost, and the next run works.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::ran::Folder;

/// The calls that change something or make it durable.
const CALLS: [&str; 17] = [
    "write",
    "pwrite64",
    "fdatasync",
    "fsync",
    "rename",
    "renameat",
    "renameat2",
    "linkat",
    "mkdir",
    "mkdirat",
    "unlink",
    "unlinkat",
    "ftruncate",
    "fallocate",
    "fchmod",
    "fchown",
    "utimensat",
];

/// Names and contents beneath `src/`.
type Picture = BTreeMap<String, String>;

fn picture(folder: &Folder) -> Picture {
    let entries = fs::read_dir(folder.path().join("src")).unwrap();
    entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect()
}

fn pictured(files: &[(&str, &str)]) -> Picture {
    let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    files.iter().map(owned).collect()
}

/// A call that is killed, and what it makes of `src/`.
struct Case {
    tool: &'static str,
    input: Value,
    after: Picture,
}

const BEFORE: [(&str, &str); 3] = [("a.rs", "one\n"), ("b.rs", "one\n"), ("gone.rs", "one\n")];

fn write_of(path: &str, content: &str) -> Value {
    json!({
        "path": path,
        "content": content,
        "intent_id": "INT-001",
        "mutation_class": "INTENT_EVOLUTION",
    })
}

fn arguments<'a>(tool: &'a str, input: &'a str) -> [&'a str; 7] {
    ["run", tool, "--input", input, "--session", "s-1", "--json"]
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(status.unwrap().success());
}

/// What one kill did.
struct Killed {
    /// Whether the call came to the point.
    fell: bool,
    /// Whether there was something to recover in the files.
    half: bool,
    /// Whether the change stands, after all that had to be looked at was found right.
    stands: Result<bool, String>,
}

/// A workspace that is put back before each kill. Its own path stays, because its state knows it.
struct Stage {
    folder: Folder,
    saved: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = Folder::empty();
        let run = |args: &[&str]| {
            let ran = folder.run(args);
            assert_eq!(ran.code, Some(0), "{}", ran.shown());
        };
        run(&["init", "--yes", "--intent", "Weather", "--scope", "src/**"]);
        run(&["intent", "select", "INT-001", "--session", "s-1"]);
        for (name, text) in BEFORE {
            let input = write_of(&format!("src/{name}"), text).to_string();
            run(&arguments("write_to_file", &input));
        }
        let saved = tempfile::tempdir().unwrap();
        let stage = Self { folder, saved };
        for (name, path) in stage.places() {
            copy(&path, &stage.saved.path().join(name));
        }
        stage
    }

    fn places(&self) -> [(&'static str, PathBuf); 2] {
        let folder = &self.folder;
        [("w", folder.path().into()), ("h", folder.home().into())]
    }

    fn put_back(&self) {
        for (name, path) in self.places() {
            for entry in fs::read_dir(&path).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    fs::remove_dir_all(entry.path()).unwrap();
                } else {
                    fs::remove_file(entry.path()).unwrap();
                }
            }
            copy(&self.saved.path().join(name).join("."), &path);
        }
    }

    /// The call under `strace`; how it ended and what it answered.
    fn traced(&self, case: &Case, how: &[&str]) -> (Option<i32>, String) {
        let input = case.input.to_string();
        let inner = self.folder.command(&arguments(case.tool, &input));
        let mut outer = Command::new("strace");
        outer.arg("-f").args(how).arg(inner.get_program());
        outer.args(inner.get_args()).current_dir(self.folder.path());
        for (name, value) in inner.get_envs() {
            outer.env(name, value.unwrap_or_default());
        }
        let output = outer.stdin(Stdio::null()).stderr(Stdio::null()).output();
        let output = output.expect("this test needs `strace`");
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.signal(), answer)
    }

    /// Where the call can be killed: each call of a kind, as often as one thread makes it.
    fn points(&self, case: &Case) -> Vec<(&'static str, usize)> {
        self.put_back();
        let log = self.saved.path().join("log");
        let (signal, answer) = self.traced(case, &["-o", log.to_str().unwrap()]);
        assert!(
            signal.is_none() && answer.contains("\"completed\""),
            "{answer}"
        );
        assert_eq!(picture(&self.folder), case.after);
        let trace = fs::read_to_string(log).unwrap();
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for line in trace.lines() {
            let Some((thread, rest)) = line.split_once(' ') else {
                continue;
            };
            if let Some((call, _)) = rest.trim_start().split_once('(') {
                *counts.entry((call, thread)).or_default() += 1;
            }
        }
        let most = |call: &str| {
            let of_call = counts.iter().filter(|((one, _), _)| *one == call);
            of_call.map(|(_, count)| *count).max().unwrap_or(0)
        };
        CALLS
            .into_iter()
            .flat_map(|call| (1..=most(call)).map(move |when| (call, when)))
            .collect()
    }

    /// One kill, and what is found afterwards.
    fn killed(&self, case: &Case, (call, when): (&str, usize)) -> Killed {
        self.put_back();
        let inject = format!("inject={call}:signal=KILL:when={when}");
        let trace = format!("trace={call}");
        let how = ["-o", "/dev/null", "-e", &trace, "-e", &inject];
        let (signal, answer) = self.traced(case, &how);
        let mut left = picture(&self.folder);
        // What is about to take a file's place stands beside it for a moment, and is no file yet.
        left.retain(|name, _| !name.starts_with(".tagout"));
        let stands = self
            .looked_at(case, &answer)
            .map_err(|problem| format!("{} {call}#{when}: {problem}", case.tool));
        Killed {
            fell: signal == Some(9),
            half: left != case.after && left != pictured(&BEFORE),
            stands,
        }
    }

    fn looked_at(&self, case: &Case, answer: &str) -> Result<bool, String> {
        let folder = &self.folder;
        let run = |args: &[&str]| {
            let ran = folder.run(args);
            if ran.code == Some(0) {
                Ok(ran)
            } else {
                Err(format!("{args:?}: {}", ran.shown()))
            }
        };
        run(&["verify"])?;
        // Whatever comes next recovers first.
        let listing = json!({ "path": "src" }).to_string();
        run(&arguments("list_files", &listing))?;
        let found = picture(folder);
        let stands = found == case.after;
        if !stands && found != pictured(&BEFORE) {
            return Err(format!("neither before nor after: {found:?}"));
        }
        if answer.contains("\"completed\"") && !stands {
            return Err("an acknowledged commit is lost".to_owned());
        }
        if told(&run(&["log", "--json"])?.json_lines(), case) != usize::from(stands) {
            return Err(format!("the ledger disagrees with the files: {stands}"));
        }
        let next = write_of("src/next.rs", "next\n").to_string();
        run(&arguments("write_to_file", &next))?;
        if fs::read_to_string(folder.path().join("src/next.rs")).ok() != Some("next\n".to_owned()) {
            return Err("the next run wrote nothing".to_owned());
        }
        run(&["verify"])?;
        Ok(stands)
    }
}

/// How often the ledger says that the case's change was completed: with just its files and digests.
fn told(log: &[Value], case: &Case) -> usize {
    let digest = |text: &String| tagout_vocab::Digest::of(text.as_bytes()).to_string();
    let before = pictured(&BEFORE);
    let names = before.keys().chain(case.after.keys());
    let wanted: BTreeMap<String, Option<String>> = names
        .filter(|name| before.get(*name) != case.after.get(*name))
        .map(|name| (format!("src/{name}"), case.after.get(name).map(digest)))
        .collect();
    let is_it = |event: &&Value| {
        let paths = event["paths"].as_array().into_iter().flatten();
        let paths: BTreeMap<String, Option<String>> = paths
            .map(|one| {
                let text = |key: &str| one[key].as_str().map(str::to_owned);
                (text("path").unwrap_or_default(), text("after"))
            })
            .collect();
        event["state"] == "COMPLETED" && paths == wanted
    };
    log.iter().filter(is_it).count()
}

/// Kills a call at every point, on two workspaces at once. Answers how often half a change was left
/// for the next run.
fn killed_everywhere(case: &Case, least: usize) -> usize {
    let stages = [Stage::new(), Stage::new()];
    let points = stages[0].points(case);
    assert!(points.len() >= least, "only {} points", points.len());
    let next = Mutex::new(points.iter().copied());
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for stage in &stages {
            let (next, results) = (&next, &results);
            scope.spawn(move || {
                loop {
                    let Some(point) = next.lock().unwrap().next() else {
                        return;
                    };
                    let result = stage.killed(case, point);
                    results.lock().unwrap().push(result);
                }
            });
        }
    });
    let results = results.into_inner().unwrap();
    let count = |is: &dyn Fn(&Killed) -> bool| results.iter().filter(|one| is(one)).count();
    let (fell, half) = (count(&|one| one.fell), count(&|one| one.half));
    let stood = count(&|one| one.stands == Ok(true));
    let bad: Vec<&String> = results
        .iter()
        .filter_map(|one| one.stands.as_ref().err())
        .collect();
    println!(
        "{}: {} points, {fell} kills, {half} left half a change, {stood} were after the commit, \
         {} violations",
        case.tool,
        points.len(),
        bad.len()
    );
    assert!(
        bad.is_empty(),
        "{} of {}: {bad:#?}",
        bad.len(),
        points.len()
    );
    // Threads take turns, so that now and then a call comes once less often.
    assert!(fell + 3 >= points.len(), "{fell} of {}", points.len());
    assert!(
        0 < stood && stood < results.len(),
        "both sides of the commit point were reached"
    );
    half
}

/// L4: `run write_to_file`, killed anywhere.
#[test]
fn slow_killed_run_of_a_write_is_whole() {
    let mut after = pictured(&BEFORE);
    after.insert("a.rs".to_owned(), "two\n".to_owned());
    let case = Case {
        tool: "write_to_file",
        input: write_of("src/a.rs", "two\n"),
        after,
    };
    // One file changes in one step.
    assert_eq!(killed_everywhere(&case, 50), 0);
}

/// L4: `run apply_patch` over four files, killed anywhere.
#[test]
fn slow_killed_run_of_a_patch_is_whole() {
    let patch = "*** Begin Patch\n\
        *** Update File: src/a.rs\n@@\n-one\n+two\n\
        *** Update File: src/b.rs\n@@\n-one\n+two\n\
        *** Delete File: src/gone.rs\n\
        *** Add File: src/new.rs\n+new\n\
        *** End Patch\n";
    let case = Case {
        tool: "apply_patch",
        input: json!({
            "patch": patch,
            "intent_id": "INT-001",
            "mutation_class": "INTENT_EVOLUTION",
        }),
        after: pictured(&[("a.rs", "two\n"), ("b.rs", "two\n"), ("new.rs", "new\n")]),
    };
    let half = killed_everywhere(&case, 60);
    assert!(half > 0, "no kill left anything to recover");
}
