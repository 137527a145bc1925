//! Displaced files that are filled again, with the kernel's real leases and others at work.

#![cfg(target_os = "linux")]

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags, XattrFlags};
use tagout_sandbox::{lease, lease_alone, lease_lost};
use tagout_vocab::{CallId, Timestamp};
use tagout_workspace::{Alone, Committed, LeaseProbe, Options, RelPath, Workspace, WriterProbe};

struct Place {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

/// As the gate opens it, but for what is to be put in between.
fn options(lost: LeaseProbe) -> Options {
    Options {
        writers: WriterProbe::Lease(lease),
        alone: Some(Alone {
            take: lease_alone,
            lost,
        }),
        ..Options::default()
    }
}

impl Place {
    fn new(lost: LeaseProbe) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let (root, state) = (folder.path().join("w"), folder.path().join("s"));
        fs::create_dir(&root).unwrap();
        Workspace::create_state(&state).unwrap();
        fs::write(root.join("f"), FIRST).unwrap();
        let workspace = Workspace::open(&root, &state, options(lost)).unwrap();
        workspace.recover().unwrap();
        Self { folder, workspace }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("w/f")
    }

    fn inode(&self) -> u64 {
        fs::metadata(self.path()).unwrap().ino()
    }

    fn write(&self, name: &str, text: &str) {
        let mut transaction = self.workspace.begin(&CallId::new(name).unwrap()).unwrap();
        let path = RelPath::new(b"f").unwrap();
        transaction.write(&path, text.as_bytes()).unwrap();
        let committed = transaction.commit(Timestamp::from_millis(0), b"closing");
        committed.map(Committed::confirm).unwrap();
    }

    /// The file that lies in the yard.
    fn displaced(&self) -> PathBuf {
        let mut yard = fs::read_dir(self.folder.path().join("s/displaced")).unwrap();
        yard.next().unwrap().unwrap().path()
    }

    /// What was kept beside, once everything that was displaced was looked at.
    fn kept(&self) -> Vec<String> {
        for _ in 0..2 {
            assert!(self.workspace.checkpoint(|| Ok(())).unwrap().done);
        }
        let names = fs::read_dir(self.folder.path().join("w")).unwrap();
        names
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_name() != "f")
            .map(|entry| fs::read_to_string(entry.path()).unwrap())
            .collect()
    }
}

const FIRST: &str = "the first content, which is longer than the second\n";

fn path_only(path: &Path) -> OwnedFd {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).unwrap()
}

/// Opens the file behind a handle that is not open itself.
fn open(handle: &OwnedFd, writes: bool) -> File {
    let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let mut options = OpenOptions::new();
    options.read(true).append(writes).open(link).unwrap()
}

/// What makes a displaced file one that is not used.
type Unlike = (&'static str, fn(&Place, &Path) -> Option<File>);

const UNLIKE: [Unlike; 8] = [
    ("mode", |_, file| {
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
        None
    }),
    ("owner", |_, file| {
        // Only a privileged user can give a file away.
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(file, Some(12_345), None).unwrap();
        } else {
            fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        None
    }),
    ("attribute", |_, file| {
        rustix::fs::setxattr(file, "user.theirs", b"x", XattrFlags::empty()).unwrap();
        None
    }),
    ("another name", |place, file| {
        fs::hard_link(file, place.folder.path().join("another name")).unwrap();
        None
    }),
    ("content", |_, file| {
        fs::write(file, FIRST.to_uppercase()).unwrap();
        None
    }),
    ("length", |_, file| {
        let mut file = OpenOptions::new().append(true).open(file).unwrap();
        file.write_all(b"and more").unwrap();
        None
    }),
    ("a reader", |_, file| Some(File::open(file).unwrap())),
    ("a writer", |_, file| {
        Some(OpenOptions::new().append(true).open(file).unwrap())
    }),
];

/// L4: a displaced file that differs in anything from what is wanted, or that anybody has open, is
/// neither used nor touched.
#[test]
fn a_displaced_file_that_is_not_alike_is_not_touched() {
    for (what, change) in UNLIKE {
        let place = Place::new(lease_lost);
        let first = place.inode();
        place.write("c1", "one");
        let displaced = place.displaced();
        let holder = change(&place, &displaced);
        let seen = |path: &Path| {
            let stat = fs::metadata(path).unwrap();
            let text = fs::read_to_string(path).unwrap();
            (stat.ino(), stat.mode(), stat.mtime_nsec(), text)
        };
        let before = seen(&displaced);
        place.write("c2", "two");
        assert_ne!(place.inode(), first, "{what}");
        assert_eq!(fs::read_to_string(place.path()).unwrap(), "two", "{what}");
        assert_eq!(seen(&displaced), before, "{what}");
        drop(holder);
        place.write("c3", "three");
        assert_eq!(fs::read_to_string(place.path()).unwrap(), "three", "{what}");
    }
    let place = Place::new(lease_lost);
    let first = place.inode();
    place.write("c1", "one");
    place.write("c2", "two");
    assert_eq!(place.inode(), first, "without any of it, it is used");
}

thread_local! {
    /// At which look the opener comes, what it opens, and whether it writes.
    static OPENER: Cell<Option<(usize, OwnedFd, bool)>> = const { Cell::new(None) };
    static WAITING: Cell<Option<JoinHandle<String>>> = const { Cell::new(None) };
}

/// Lets the opener come before one of the looks, and goes on when it waits.
fn opener_comes(file: BorrowedFd<'_>) -> std::io::Result<bool> {
    let planned = OPENER.take();
    match planned {
        Some((0, handle, writes)) => {
            assert!(!lease_lost(file)?, "it was ours until then");
            let waiting = std::thread::spawn(move || {
                let mut file = open(&handle, writes);
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                if writes {
                    file.write_all(b"theirs").unwrap();
                }
                text
            });
            while !lease_lost(file)? {
                assert!(!waiting.is_finished(), "it must wait");
                std::thread::yield_now();
            }
            WAITING.set(Some(waiting));
        }
        Some((looks, handle, writes)) => OPENER.set(Some((looks - 1, handle, writes))),
        None => {}
    }
    lease_lost(file)
}

/// L4, H13: whoever opens a displaced file while it is filled again, for reading or for writing,
/// sees what was in it and loses nothing.
#[test]
fn who_opens_a_file_that_is_being_filled_gets_it_as_it_was() {
    for (looks, writes) in (0..3).flat_map(|looks| [(looks, false), (looks, true)]) {
        let place = Place::new(opener_comes);
        let first = place.inode();
        let handle = path_only(&place.path());
        place.write("c1", "one");
        OPENER.set(Some((looks, handle, writes)));
        place.write("c2", "two");
        let waiting = WAITING.take().expect("the opener came");
        assert_eq!(waiting.join().unwrap(), FIRST, "look {looks}");
        assert_ne!(place.inode(), first, "look {looks}: another file is used");
        assert_eq!(fs::read_to_string(place.path()).unwrap(), "two");
        let wanted: Vec<String> = writes
            .then(|| format!("{FIRST}theirs"))
            .into_iter()
            .collect();
        assert_eq!(place.kept(), wanted, "look {looks}");
    }
}

/// Opens files of a path that may have been replaced long ago, again and again.
fn late(path: &Path, (writes, stop): (bool, &AtomicBool), seen: &Mutex<Vec<String>>) {
    let mut handles = std::collections::VecDeque::new();
    for count in 0_usize.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        handles.push_back(path_only(path));
        if handles.len() <= count % 5 {
            continue;
        }
        let mut file = open(&handles.pop_front().unwrap(), writes);
        let mut text = String::new();
        if writes {
            text = format!("L{count}\n");
            file.write_all(text.as_bytes()).unwrap();
            // What has no name any more was given up by everybody.
            if file.metadata().unwrap().nlink() == 0 {
                continue;
            }
        } else {
            file.read_to_string(&mut text).unwrap();
        }
        seen.lock().unwrap().push(text);
        std::thread::yield_now();
    }
}

/// A text of one letter and many lengths, so that half of one is not another.
fn whole(round: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(round % 26).unwrap());
    let text: String = std::iter::repeat_n(letter, 1 + round * 997 % 9000).collect();
    format!("{text}.\n")
}

/// L4, H13: readers that are late in opening see whole files only, while two files take turns.
#[test]
fn late_readers_see_whole_files() {
    let place = Place::new(lease_lost);
    let (stop, seen) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let mut turns = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| late(&place.path(), (false, &stop), &seen));
        let mut inodes = std::collections::BTreeSet::new();
        for round in 0..400 {
            place.write(&format!("c{round}"), &whole(round));
            turns += usize::from(!inodes.insert(place.inode()));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let known: std::collections::BTreeSet<String> = (0..400).map(whole).collect();
    let seen = seen.into_inner().unwrap();
    let half = seen
        .iter()
        .find(|text| !known.contains(*text) && *text != FIRST);
    assert!(half.is_none(), "{half:?}");
    assert!(
        turns > 10 && seen.len() > 100,
        "{turns} turns, {} looks",
        seen.len()
    );
}

/// L4, H13: writers that are late in opening lose nothing, while two files take turns.
#[test]
fn late_writers_lose_nothing() {
    let place = Place::new(lease_lost);
    let (stop, seen) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let path = RelPath::new(b"f").unwrap();
    let mut committed = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| late(&place.path(), (true, &stop), &seen));
        for round in 0..400 {
            let id = CallId::new(&format!("c{round}")).unwrap();
            let mut transaction = place.workspace.begin(&id).unwrap();
            let line = format!("T{round}\n");
            let staged = transaction.read(&path).and_then(|mut bytes| {
                bytes.extend_from_slice(line.as_bytes());
                transaction.write(&path, &bytes)
            });
            let done = staged.and_then(|()| transaction.commit(Timestamp::from_millis(0), b""));
            if let Ok(done) = done {
                done.confirm();
                committed.push(line);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let mut found = place.kept().concat();
    found.push_str(&fs::read_to_string(place.path()).unwrap());
    let found: std::collections::BTreeSet<&str> = found.lines().collect();
    let seen = seen.into_inner().unwrap();
    let lost = |lines: &[String]| -> Vec<String> {
        let gone = lines.iter().filter(|line| !found.contains(line.trim_end()));
        gone.cloned().collect()
    };
    assert_eq!(lost(&seen), Vec::<String>::new());
    assert_eq!(lost(&committed), Vec::<String>::new());
    assert!(seen.len() > 50, "{} lines", seen.len());
}
