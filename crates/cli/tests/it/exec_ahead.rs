//! A sandbox that stands before its call is recorded, and starts nothing until then.

use std::fs::{self, File};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use serde_json::Value;

use crate::confined::Site;

const PATIENCE: Duration = Duration::from_secs(60);

/// What the kernel tells about a process.
struct Told {
    pid: u32,
    parent: u32,
    /// How many filters hold it.
    filters: u32,
}

fn told(pid: u32) -> Option<Told> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    Some(Told {
        pid,
        parent: field("PPid:")?,
        filters: field("Seccomp_filters:")?,
    })
}

fn below(parent: u32) -> Vec<Told> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all = pids.filter_map(told);
    all.filter(|one| one.parent == parent).collect()
}

/// Waits until something is there.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{what} did not come");
        sleep(Duration::from_millis(5));
    }
}

/// The file that takes the texts of a step before that is on the disk, made into a pipe: whoever
/// records a step waits until someone reads.
struct Held {
    path: PathBuf,
    aside: PathBuf,
}

impl Held {
    fn new(site: &Site) -> Self {
        let mut texts = fs::read_dir(site.state().join("ledger/texts")).unwrap();
        let path = texts.next().unwrap().unwrap().path();
        let aside = path.with_extension("aside");
        fs::rename(&path, &aside).unwrap();
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        Self { path, aside }
    }

    /// Lets everybody go on: what they write lies in the pipe.
    fn let_go(&self) -> File {
        let mut both = File::options();
        both.read(true).write(true).open(&self.path).unwrap()
    }

    fn restore(self) {
        fs::rename(&self.aside, &self.path).unwrap();
    }
}

/// The filters that a sandbox's first process puts on, besides those that it inherits from here.
const FILTERS: u32 = 2;

/// A command whose call is about to be recorded, and the numbers of its helper and of its sandbox's
/// first process, which has its walls up.
fn standing(site: &Site, line: &str) -> (Child, Held, (u32, u32)) {
    assert_eq!(site.exec_with(&[], "cat src/a.txt").code, Some(0));
    let inherited = told(std::process::id()).unwrap().filters;
    let held = Held::new(site);
    let mut command = site.command(&["exec", "--session", "s-1", "--", line]);
    let ours = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = ours.spawn().unwrap();
    let found = until("a sandbox with its walls up", || {
        let helper = below(child.id()).pop()?.pid;
        let first = below(helper).pop()?;
        (first.filters >= inherited + FILTERS).then_some((helper, first.pid))
    });
    (child, held, found)
}

/// Invariant 2: the sandbox is built while the call waits to be recorded; the program is not
/// started before.
#[test]
fn serial_nothing_is_started_before_the_record() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let (child, held, (_, first)) = standing(&site, "cat src/a.txt");
    sleep(Duration::from_millis(300));
    assert!(below(first).is_empty(), "something runs in it");
    let pipe = held.let_go();
    let output = child.wait_with_output().unwrap();
    held.restore();
    drop(pipe);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"one\n");
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
}

/// L9: whoever is killed in between leaves no process and no control group, and nothing was run.
#[test]
fn serial_killed_before_the_record_nothing_is_left() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let has_groups = has_groups(&site);
    let (mut child, held, (helper, first)) = standing(&site, "cat src/a.txt");
    let groups = format!("tagout-{}-", child.id());
    if has_groups {
        until("its control groups", || left(&groups).pop());
    }
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"", "it ran");
    let gone = |pid: u32| told(pid).is_none().then_some(());
    until("the sandbox's end", || gone(first));
    until("the helper's end", || gone(helper));
    assert_eq!(left(&groups), Vec::<String>::new());
    held.restore();
    assert_eq!(site.exec_with(&[], "cat src/a.txt").stdout, "one\n");
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
}

/// B6: whoever comes meanwhile and cleans up leaves the layers of a command that stands alone.
#[test]
fn serial_who_cleans_up_leaves_what_stands() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    fs::create_dir_all(site.home().join(".cache")).unwrap();
    let (child, held, _) = standing(&site, "python3 --version");
    let before = layers(&site);
    assert_eq!(before.len(), 1, "it has a layer for its cache");
    assert_eq!(logs(&site), 1, "others know that it lives");
    let dead = site.state().join("layers/x-dead");
    fs::create_dir(&dead).unwrap();
    let mut other = site.command(&["exec", "--session", "s-2", "--", "cat", "src/a.txt"]);
    let other = other.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let other = other.unwrap();
    // It begins a log of its own once it has looked around.
    until("the other's log", || (logs(&site) == 2).then_some(()));
    assert!(!dead.exists(), "the other cleaned nothing up");
    assert!(before.iter().all(|layer| layer.is_dir()), "{before:?}");
    let pipe = held.let_go();
    for child in [child, other] {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    held.restore();
    drop(pipe);
}

/// B6: an execution has no layers before others can know that it lives.
#[test]
fn serial_nothing_is_laid_before_others_know() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    fs::create_dir_all(site.home().join(".cache")).unwrap();
    assert_eq!(site.exec_with(&[], "cat src/a.txt").code, Some(0));
    let seen = Seen::new(&site);
    let (child, held, _) = standing(&site, "python3 --version");
    let seen = seen.told();
    assert_eq!(layers(&site).len(), 1, "it has a layer for its cache");
    let first = |wanted: fn(&str) -> bool| seen.iter().position(|one| wanted(one));
    let known = first(|one| one.starts_with("written run"));
    let laid = first(|one| one.starts_with("made x-"));
    assert!(known.is_some() && known < laid, "{seen:#?}");
    let pipe = held.let_go();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    held.restore();
    drop(pipe);
}

/// What happens in the folders of logs and of layers, in the order in which it does.
struct Seen(OwnedFd);

impl Seen {
    fn new(site: &Site) -> Self {
        let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        for (folder, what) in [
            ("gate/running", WatchFlags::MODIFY),
            ("layers", WatchFlags::CREATE),
        ] {
            inotify::add_watch(&watch, site.state().join(folder), what).unwrap();
        }
        Self(watch)
    }

    fn told(self) -> Vec<String> {
        let mut room = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(self.0, &mut room);
        let mut told = Vec::new();
        while let Ok(event) = reader.next() {
            let name = event.file_name().unwrap().to_string_lossy().into_owned();
            let what = if event.events().contains(ReadFlags::CREATE) {
                "made"
            } else {
                "written"
            };
            told.push(format!("{what} {name}"));
        }
        told
    }
}

/// How many processes have a log of what they are at.
fn logs(site: &Site) -> usize {
    fs::read_dir(site.state().join("gate/running"))
        .unwrap()
        .count()
}

/// Whether commands are held by control groups here.
fn has_groups(site: &Site) -> bool {
    let report = site.tagout(&["doctor", "--json"]).stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    report.to_string().contains("control group (version")
}

/// The layers of executions.
fn layers(site: &Site) -> Vec<PathBuf> {
    let all = fs::read_dir(site.state().join("layers")).unwrap().flatten();
    let paths = all.map(|entry| entry.path());
    let own = |path: &PathBuf| path.to_string_lossy().contains("/x-");
    paths.filter(own).collect()
}

/// The control groups whose names begin so.
fn left(prefix: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut places = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(place) = places.pop() {
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(prefix) {
                found.push(name);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                places.push(entry.path());
            }
        }
    }
    found
}
