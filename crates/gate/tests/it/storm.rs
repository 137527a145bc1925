//! Many threads, several processes, kills, rollbacks and foreign editors on the same few files.

#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    reason = "the figures are what these tests are for"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tagout_workspace::{Options, Workspace, WriterProbe};

const FILES: [&str; 6] = ["f0", "f1", "dir/f2", "dir/f3", "g0", "g1"];

/// A workspace and its state, gone with the value.
struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Place {
    /// On a file system where displaced files are filled again.
    fn new() -> Self {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "tagout-gate"])
            .args(["--example", "storm"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .unwrap();
        assert!(built.success(), "the example does not build");
        let test = std::env::current_exe().unwrap();
        let built = test.parent().unwrap().parent().unwrap();
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        fs::create_dir_all(folder.path().join("w/dir")).unwrap();
        Workspace::create_state(&folder.path().join("s")).unwrap();
        for file in FILES {
            fs::write(folder.path().join("w").join(file), "").unwrap();
        }
        let program = built.join("examples/storm");
        Self { folder, program }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("w")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    fn open(&self) -> Workspace {
        let options = Options {
            writers: WriterProbe::Lease(tagout_sandbox::lease),
            ..Options::default()
        };
        Workspace::open(&self.root(), &self.state(), options).unwrap()
    }

    /// The lines of a file. What was written into one that was being filled stands behind zeros.
    fn lines(&self, path: &Path) -> Vec<String> {
        let text = fs::read_to_string(self.root().join(path)).unwrap();
        let lines = text.split(['\n', '\0']).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }
}

fn spawn(place: &Place, seed: u64, seconds: u64) -> Child {
    let log = place.folder.path().join(format!("log-{seed}"));
    Command::new(&place.program)
        .args([place.root(), place.state(), log])
        .args([seconds.to_string(), "16".to_owned(), seed.to_string()])
        .spawn()
        .unwrap()
}

/// Opens a file as an editor does that writes in place, holds it, adds a line and lets go.
fn appending_editor(root: &Path, stop: &AtomicBool) -> Vec<(String, String)> {
    let mut written = Vec::new();
    for count in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let name = FILES[usize::try_from(count % 4).unwrap()];
        let line = format!("F.{count}");
        // The name is away for a moment while another editor or a two-step swap is at it.
        if let Ok(mut file) = fs::OpenOptions::new().append(true).open(root.join(name)) {
            std::thread::sleep(Duration::from_micros(count % 7 * 400));
            file.write_all(format!("{line}\n").as_bytes()).unwrap();
            std::thread::sleep(Duration::from_micros(count % 5 * 300));
            written.push((name.to_owned(), line));
        }
        std::thread::sleep(Duration::from_millis(3));
    }
    written
}

/// What the saving editor did.
#[derive(Default)]
struct Saves {
    /// Every line that it saved, and where.
    lines: Vec<(&'static str, String)>,
    /// Where it wrote over saves of its own that it had not read.
    overlooked: Vec<Overlooked>,
    /// What it saved last.
    last: BTreeMap<&'static str, Vec<u8>>,
}

/// A save for which the editor had read the file in the middle of something: its own save before
/// was not in what it read.
struct Overlooked {
    /// The saves that were not in it.
    lines: BTreeSet<String>,
    /// What was in it and had not been when the editor saved before.
    instead: BTreeSet<String>,
}

fn lines_of(bytes: &[u8]) -> BTreeSet<String> {
    let lines = bytes.split(|byte| [b'\n', 0].contains(byte));
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect()
}

/// Saves as an editor does that writes a new file and renames it over the old one. What others
/// wrote between its reading and its renaming is its own loss; that its saves survive is ours to
/// keep.
fn saving_editor(root: &Path, stop: &AtomicBool) -> Saves {
    let mut saves = Saves::default();
    for count in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let name = FILES[4 + usize::try_from(count % 2).unwrap()];
        let path = root.join(name);
        let mut bytes = fs::read(&path).unwrap();
        let before = lines_of(saves.last.get(name).map_or(&[], Vec::as_slice));
        let now = lines_of(&bytes);
        let gone = before.difference(&now).filter(|line| is_save(line));
        let lines: BTreeSet<String> = gone.cloned().collect();
        if !lines.is_empty() {
            let instead = now.difference(&before).cloned().collect();
            saves.overlooked.push(Overlooked { lines, instead });
        }
        let line = format!("G.{count}");
        bytes.extend_from_slice(format!("{line}\n").as_bytes());
        let temporary = root.join(format!(".{name}.swp"));
        fs::write(&temporary, &bytes).unwrap();
        std::thread::sleep(Duration::from_micros(count % 3 * 500));
        fs::rename(&temporary, &path).unwrap();
        saves.lines.push((name, line));
        saves.last.insert(name, bytes);
        std::thread::sleep(Duration::from_millis(11));
    }
    saves
}

fn is_save(line: &str) -> bool {
    line.starts_with("G.")
}

/// The saves of which the state holds the bytes, so that they can be had back.
fn kept_in_state(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.append(&mut kept_in_state(&entry.path()));
            continue;
        }
        let bytes = fs::read(entry.path()).unwrap_or_default();
        // A record begins in the middle of a line of its segment.
        for line in lines_of(&bytes) {
            let number = line.rsplit_once("G.").map(|(_, number)| number);
            let is_number = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
            let save = number.filter(is_number).map(|number| format!("G.{number}"));
            found.extend(save);
        }
    }
    found
}

/// Every save is in the file, in a version kept beside it or among the images of what was replaced.
/// Otherwise the editor itself wrote over it: it had read what a change showed that was taken back.
fn every_save_is_kept(
    saves: &Saves,
    told: &Told,
    files: &BTreeMap<&str, Vec<String>>,
    beside: &BTreeSet<String>,
    state: &BTreeSet<String>,
) {
    let taken_back = |one: &&Overlooked| one.instead.iter().any(|id| is_transaction(id, told));
    let own: BTreeSet<&String> = saves
        .overlooked
        .iter()
        .filter(taken_back)
        .flat_map(|one| &one.lines)
        .collect();
    let mut counts = [0_usize; 4];
    for (file, line) in &saves.lines {
        let places = [
            files[file].contains(line),
            beside.contains(line),
            state.contains(line),
            own.contains(line),
        ];
        let place = places.iter().position(|there| *there);
        let place = place.unwrap_or_else(|| panic!("the foreign save {line} of {file} is lost"));
        counts[place] += 1;
    }
    let [there, beside, state, own] = counts;
    println!(
        "{} saves: {there} in the file, {beside} beside it, {state} in the state, {own} written \
         over by the editor, which read {} times in the middle of a change",
        saves.lines.len(),
        saves.overlooked.len()
    );
    // Most saves are read again by the next one.
    assert!(there * 2 > saves.lines.len(), "{counts:?}");
}

/// Whether a line is that of a change which nobody was told to be done.
fn is_transaction(line: &str, told: &Told) -> bool {
    told.tried.contains_key(line) && !told.acked.contains(line)
}

/// Keeps hold of files as a program does that is in the middle of opening them, for as long as it
/// likes, and adds a line when they have long been replaced.
fn late_editor(root: &Path, stop: &AtomicBool) -> Vec<(String, String)> {
    use rustix::fs::{Mode, OFlags};
    let mut written = Vec::new();
    let mut handles = std::collections::VecDeque::new();
    for count in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let name = FILES[usize::try_from(count % 4).unwrap()];
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        if let Ok(handle) = rustix::fs::open(root.join(name), flags, Mode::empty()) {
            handles.push_back((name, handle));
        }
        if handles.len() > usize::try_from(count % 13).unwrap() {
            let (name, handle) = handles.pop_front().unwrap();
            let behind = format!("/proc/self/fd/{}", handle.as_raw_fd());
            let mut file = fs::OpenOptions::new().append(true).open(behind).unwrap();
            let line = format!("L.{count}");
            file.write_all(format!("\n{line}\n").as_bytes()).unwrap();
            // A file without a name was given up by everybody long ago.
            if file.metadata().unwrap().nlink() > 0 {
                written.push((name.to_owned(), line));
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    written
}

#[derive(Default)]
struct Told {
    tried: BTreeMap<String, Vec<String>>,
    acked: BTreeSet<String>,
    refused: BTreeSet<String>,
}

fn told(place: &Place) -> Told {
    let mut told = Told::default();
    for entry in fs::read_dir(place.folder.path()).unwrap().flatten() {
        if !entry.file_name().to_str().unwrap().starts_with("log-") {
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap();
        for line in text
            .split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'))
        {
            let words: Vec<&str> = line.split(' ').collect();
            let id = words[1].to_owned();
            match words[0] {
                "try" => {
                    let files = words[2..].iter().filter(|word| !word.is_empty());
                    told.tried
                        .insert(id, files.map(ToString::to_string).collect());
                }
                "ack" => drop(told.acked.insert(id)),
                "rolled" | "conflict" => drop(told.refused.insert(id)),
                other => panic!("odd line {other}"),
            }
        }
    }
    told
}

/// Whether the orders of lines in all files come from one order of transactions.
fn has_serial_order(
    files: &BTreeMap<&str, Vec<String>>,
    tried: &BTreeMap<String, Vec<String>>,
) -> bool {
    let mut before: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for lines in files.values() {
        let ours: Vec<&str> = lines
            .iter()
            .map(String::as_str)
            .filter(|line| tried.contains_key(*line))
            .collect();
        for pair in ours.windows(2) {
            before.entry(pair[1]).or_default().insert(pair[0]);
            before.entry(pair[0]).or_default();
        }
    }
    let mut after: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (late, earlier) in &before {
        for early in earlier {
            after.entry(early).or_default().push(late);
        }
    }
    let mut waiting: BTreeMap<&str, usize> = before
        .iter()
        .map(|(id, earlier)| (*id, earlier.len()))
        .collect();
    let mut ready: Vec<&str> = waiting
        .iter()
        .filter(|(_, count)| **count == 0)
        .map(|(id, _)| *id)
        .collect();
    let mut placed = 0;
    while let Some(id) = ready.pop() {
        placed += 1;
        for late in after.get(id).into_iter().flatten() {
            let count = waiting.get_mut(late).unwrap();
            *count -= 1;
            if *count == 0 {
                ready.push(late);
            }
        }
    }
    placed == before.len()
}

/// L4, H13: every final file is explained by some serial order; no update is lost, no foreign byte
/// is lost, whoever is killed.
#[test]
fn a_storm_loses_nothing() {
    storm(8);
}

/// L4, H13: the same for a minute.
#[test]
fn slow_a_storm_of_a_minute_loses_nothing() {
    storm(60);
}

fn storm(seconds: u64) {
    let place = Place::new();
    let end = Instant::now() + Duration::from_secs(seconds);
    let stop = AtomicBool::new(false);
    let (root, mut kills) = (place.root(), 0);
    let (appended, saves) = std::thread::scope(|scope| {
        let appending = scope.spawn(|| appending_editor(&root, &stop));
        let late = scope.spawn(|| late_editor(&root, &stop));
        let saving = scope.spawn(|| saving_editor(&root, &stop));
        let mut seed = 4;
        let mut children: Vec<Child> = (0..4).map(|one| spawn(&place, one, seconds)).collect();
        while Instant::now() < end {
            std::thread::sleep(Duration::from_millis(150));
            let index = usize::try_from(seed % 4).unwrap();
            children[index].kill().unwrap();
            children[index].wait().unwrap();
            kills += 1;
            children[index] = spawn(&place, seed, seconds);
            seed += 1;
        }
        stop.store(true, Ordering::Relaxed);
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let appended = [appending.join().unwrap(), late.join().unwrap()];
        (appended.concat(), saving.join().unwrap())
    });
    let workspace = place.open();
    let dead: Vec<_> = workspace
        .recover()
        .unwrap()
        .settled
        .into_iter()
        .map(|one| one.execution)
        .collect();
    workspace.confirm(&dead).unwrap();
    // The second one looks at what the first left to rest.
    for _ in 0..2 {
        assert!(workspace.checkpoint(|| Ok(())).unwrap().done);
    }
    explain(&place, kills, &appended, &saves);
}

/// How many versions were kept beside, and what is in them.
fn conflict_copies(place: &Place) -> (usize, BTreeSet<String>) {
    let mut beside = BTreeSet::new();
    let mut copies = 0;
    for folder in [place.root(), place.root().join("dir")] {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            assert!(!name.starts_with(".tagout-"), "{name} was left behind");
            if name.contains(".tagout-conflict-") {
                copies += 1;
                beside.extend(place.lines(&entry.path()));
            }
        }
    }
    (copies, beside)
}

fn every_line_has_a_writer(files: &BTreeMap<&str, Vec<String>>, told: &Told) {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for (file, lines) in files {
        let unique: BTreeSet<&String> = lines.iter().collect();
        assert_eq!(unique.len(), lines.len(), "{file} holds a line twice");
        known.extend(lines.iter().map(String::as_str));
    }
    let strange: Vec<&&str> = known
        .iter()
        .filter(|line| {
            !["F.", "G.", "L."]
                .iter()
                .any(|start| line.starts_with(start))
        })
        .filter(|line| !told.tried.contains_key(**line))
        .collect();
    assert!(strange.is_empty(), "lines that nobody wrote: {strange:?}");
}

fn explain(place: &Place, kills: usize, appended: &[(String, String)], saves: &Saves) {
    let told = told(place);
    let files: BTreeMap<&str, Vec<String>> = FILES
        .iter()
        .map(|file| (*file, place.lines(Path::new(file))))
        .collect();
    let (copies, kept) = conflict_copies(place);

    every_line_has_a_writer(&files, &told);
    // The saving editor may copy bytes that it read while a commit was being checked; the other
    // files hold nothing but what was committed.
    let quiet: BTreeMap<&str, Vec<String>> = files
        .iter()
        .filter(|(file, _)| !file.starts_with('g'))
        .map(|(file, lines)| (*file, lines.clone()))
        .collect();
    let came_back: Vec<&String> = quiet
        .values()
        .flatten()
        .filter(|line| told.refused.contains(*line))
        .collect();
    assert!(
        came_back.is_empty(),
        "refused or rolled back, and there all the same: {came_back:?}"
    );

    for (id, targets) in &told.tried {
        let targets: Vec<&String> = targets
            .iter()
            .filter(|file| quiet.contains_key(file.as_str()))
            .collect();
        let found = targets
            .iter()
            .filter(|file| quiet[file.as_str()].contains(id))
            .count();
        if told.acked.contains(id) {
            assert_eq!(found, targets.len(), "the update {id} is lost");
        } else {
            assert!(
                found == 0 || found == targets.len(),
                "{id} is there in part"
            );
        }
    }
    for (file, line) in appended {
        let there = files[file.as_str()].contains(line) || kept.contains(line);
        assert!(there, "the foreign line {line} of {file} is lost");
    }
    for (file, bytes) in &saves.last {
        let now = fs::read(place.root().join(file)).unwrap();
        assert!(
            now.starts_with(bytes),
            "the last foreign save of {file} is lost"
        );
    }
    let state = kept_in_state(&place.state());
    every_save_is_kept(saves, &told, &files, &kept, &state);
    assert!(
        has_serial_order(&quiet, &told.tried),
        "no serial order explains the files"
    );
    println!(
        "4 processes of 16 threads: {} tried, {} acknowledged, {} refused or rolled back, {kills} \
         kills, {} foreign lines, {} conflict copies, 0 lost",
        told.tried.len(),
        told.acked.len(),
        told.refused.len(),
        appended.len(),
        copies
    );
    assert!(told.acked.len() > 100 && told.refused.len() > 50 && appended.len() > 20);
}
