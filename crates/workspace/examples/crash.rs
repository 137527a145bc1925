//! A program that is made to be killed: the crash tests run it, cut it off anywhere, and let it
//! check.
//!
//! `crash init|commit|recover|check ROOT STATE …` moves a small workspace from one numbered version
//! to the next, each in one transaction that uses every kind of change.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test program: its output is its purpose and a panic is a finding"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tagout_vocab::{CallId, Timestamp};
use tagout_workspace::{
    Alone, Options, Outcome, RelPath, SyncPoint, Transaction, Workspace, WriterProbe,
};

/// What stands under a path, in a form that can be compared.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Entry {
    File(Vec<u8>, u32),
    Link(String),
    Folder,
}

type Picture = BTreeMap<String, Entry>;

/// Every version is longer or shorter than the one before it, by less or more than a block.
fn filled(version: u64, name: &str, size: usize) -> Vec<u8> {
    let more = match version % 3 {
        0 => 0,
        1 => 5_000,
        _ => 100,
    };
    let size = size + more;
    let line = format!("{name} version {version}\n");
    line.bytes().cycle().take(size.max(line.len())).collect()
}

/// The workspace in a version.
fn expected(version: u64) -> Picture {
    let mut picture = Picture::new();
    let mut put = |path: &str, entry: Entry| {
        picture.insert(path.to_owned(), entry);
    };
    put("dir", Entry::Folder);
    put("dir/sub", Entry::Folder);
    for (name, size) in [
        ("a.txt", 3000),
        ("dir/b.txt", 600),
        ("dir/sub/c.txt", 20_000),
    ] {
        put(name, Entry::File(filled(version, name, size), 0o644));
    }
    put(
        "big.bin",
        Entry::File(filled(version, "big", 300_000), 0o640),
    );
    let mode = if version.is_multiple_of(2) {
        0o644
    } else {
        0o600
    };
    put("mode.txt", Entry::File(b"the same\n".to_vec(), mode));
    put("link", Entry::Link(format!("v{version}")));
    let moved = if version.is_multiple_of(2) {
        "moved-even"
    } else {
        "moved-odd"
    };
    put(moved, Entry::File(b"moves to and fro\n".to_vec(), 0o644));
    if version.is_multiple_of(2) {
        put("tree", Entry::Folder);
        put("tree/inner", Entry::Folder);
        put("tree/inner/x", Entry::File(filled(7, "x", 900), 0o644));
    } else {
        put("tree", Entry::File(b"now a file\n".to_vec(), 0o644));
    }
    picture
}

fn rel(path: &str) -> RelPath {
    RelPath::new(path.as_bytes()).unwrap()
}

fn stage(transaction: &mut Transaction<'_>, version: u64) {
    for (name, size) in [
        ("a.txt", 3000),
        ("dir/b.txt", 600),
        ("dir/sub/c.txt", 20_000),
    ] {
        transaction
            .write(&rel(name), &filled(version, name, size))
            .unwrap();
    }
    transaction
        .write(&rel("big.bin"), &filled(version, "big", 300_000))
        .unwrap();
    let even = version.is_multiple_of(2);
    transaction
        .set_mode(&rel("mode.txt"), if even { 0o644 } else { 0o600 })
        .unwrap();
    transaction
        .symlink(&rel("link"), format!("v{version}").as_bytes())
        .unwrap();
    let (from, to) = if even {
        ("moved-odd", "moved-even")
    } else {
        ("moved-even", "moved-odd")
    };
    transaction.rename(&rel(from), &rel(to)).unwrap();
    transaction.remove_tree(&rel("tree")).unwrap();
    if even {
        transaction
            .write(&rel("tree/inner/x"), &filled(7, "x", 900))
            .unwrap();
    } else {
        transaction.write(&rel("tree"), b"now a file\n").unwrap();
    }
}

fn actual(folder: &Path, prefix: &str, picture: &mut Picture) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        let stat = fs::symlink_metadata(&path).unwrap();
        if stat.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            picture.insert(name, Entry::Link(target.to_str().unwrap().to_owned()));
        } else if stat.is_dir() {
            picture.insert(name.clone(), Entry::Folder);
            actual(&path, &format!("{name}/"), picture);
        } else {
            let mode = stat.permissions().mode() & 0o7777;
            picture.insert(name, Entry::File(fs::read(&path).unwrap(), mode));
        }
    }
}

fn init(root: &Path, state: &Path) {
    fs::create_dir_all(root).unwrap();
    for (path, entry) in expected(0) {
        let path = root.join(path);
        match entry {
            Entry::Folder => fs::create_dir(&path).unwrap(),
            Entry::Link(target) => symlink(target, &path).unwrap(),
            Entry::File(bytes, mode) => {
                fs::write(&path, bytes).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    }
    Workspace::create_state(state).unwrap();
    fs::write(state.join("ledger.txt"), "v0\n").unwrap();
}

fn open(root: &Path, state: &Path, skip: Option<&str>, checkpoint: usize) -> Workspace {
    let skip_sync = skip.and_then(|word| match word {
        "journal" => Some(SyncPoint::Journal),
        "journal_folder" => Some(SyncPoint::JournalFolder),
        "images" => Some(SyncPoint::Images),
        "checkpoint_files" => Some(SyncPoint::CheckpointFiles),
        "checkpoint_folders" => Some(SyncPoint::CheckpointFolders),
        _ => None,
    });
    // Nobody else is here to write, and looking through all processes would drown the interesting
    // system calls.
    let writers = WriterProbe::Lease(|_| Ok(false));
    let options = Options {
        skip_sync,
        writers,
        alone: Some(Alone {
            take: |_| Ok(false),
            lost: |_| Ok(false),
        }),
        checkpoint_commits: checkpoint,
        ..Options::default()
    };
    Workspace::open(root, state, options).unwrap()
}

fn ledger_line(state: &Path, line: &str, sync: bool) {
    let path = state.join("ledger.txt");
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(line.as_bytes()).unwrap();
    if sync {
        file.sync_all().unwrap();
    }
}

/// The ledger's whole lines; what a power loss left behind them is cut off.
fn repaired_ledger(state: &Path) -> String {
    let path = state.join("ledger.txt");
    let bytes = fs::read(&path).unwrap_or_default();
    let whole: Vec<&[u8]> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .take_while(|line| {
            let number = line
                .strip_prefix(b"v")
                .and_then(|rest| rest.strip_suffix(b"\n"));
            number.is_some_and(|number| number.iter().all(u8::is_ascii_digit))
        })
        .collect();
    let whole = String::from_utf8(whole.concat()).unwrap();
    if whole.len() != bytes.len() {
        fs::write(&path, &whole).unwrap();
    }
    whole
}

fn recover(workspace: &Workspace, state: &Path) {
    let recovery = workspace.recover().unwrap();
    let text = repaired_ledger(state);
    let mut confirmed = Vec::new();
    for settled in recovery.settled {
        let line = String::from_utf8(settled.closing).unwrap();
        if settled.outcome == Outcome::Committed && !text.lines().any(|one| one == line.trim()) {
            ledger_line(state, &line, true);
        }
        confirmed.push(settled.execution);
    }
    if !confirmed.is_empty() {
        workspace.confirm(&confirmed).unwrap();
    }
    assert!(
        recovery.conflicts.is_empty(),
        "conflicts: {:?}",
        recovery.conflicts
    );
}

fn commit(workspace: &Workspace, state: &Path, version: u64) {
    let id = CallId::new(&format!("call-{version}")).unwrap();
    let mut transaction = workspace.begin(&id).unwrap();
    stage(&mut transaction, version);
    let line = format!("v{version}\n");
    let committed = transaction
        .commit(Timestamp::from_millis(0), line.as_bytes())
        .unwrap();
    let due = committed.checkpoint_due;
    ledger_line(state, &line, false);
    committed.confirm();
    if due {
        let ledger = state.join("ledger.txt");
        assert!(
            workspace
                .checkpoint(|| fs::File::open(ledger)?.sync_all())
                .unwrap()
                .done
        );
    }
}

fn check(root: &Path, state: &Path, (least, most): (u64, u64)) -> Result<u64, String> {
    let mut picture = Picture::new();
    actual(root, "", &mut picture);
    let found = (least..=most).find(|version| expected(*version) == picture);
    let Some(found) = found else {
        let near = (0..=most).rev().map(|version| {
            let wanted = expected(version);
            let differing = picture
                .iter()
                .filter(|(path, entry)| wanted.get(*path) != Some(entry))
                .map(|(path, _)| path.clone())
                .chain(
                    wanted
                        .keys()
                        .filter(|path| !picture.contains_key(*path))
                        .cloned(),
                )
                .collect::<Vec<_>>();
            (differing.len(), version, differing)
        });
        let near = near.min().unwrap();
        return Err(format!(
            "no version of {least}..={most}; nearest {}: {:?}",
            near.1, near.2
        ));
    };
    let text = fs::read_to_string(state.join("ledger.txt")).map_err(|error| error.to_string())?;
    let newest = text.lines().last().unwrap_or_default().to_owned();
    if newest != format!("v{found}") {
        return Err(format!(
            "the workspace is v{found}, the ledger ends with {newest:?}"
        ));
    }
    Ok(found)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let text = |at: usize| arguments.get(at).map(String::as_str);
    let number = |at: usize| text(at).and_then(|word| word.parse().ok());
    let root = PathBuf::from(text(2).expect("a workspace folder"));
    let state = PathBuf::from(text(3).expect("a state folder"));
    match text(1).expect("a verb") {
        "init" => init(&root, &state),
        // commit ROOT STATE FROM TO CHECKPOINT SKIP MARK
        "commit" => {
            let checkpoint = number(6).unwrap_or(64);
            let workspace = open(&root, &state, text(7), usize::try_from(checkpoint).unwrap());
            recover(&workspace, &state);
            let mut mark =
                text(8).map(|path| fs::OpenOptions::new().write(true).open(path).unwrap());
            for version in number(4).unwrap()..=number(5).unwrap() {
                if let Some(mark) = &mut mark {
                    mark.write_all(format!("begin {version}\n").as_bytes())
                        .unwrap();
                }
                commit(&workspace, &state, version);
                if let Some(mark) = &mut mark {
                    mark.write_all(format!("acked {version}\n").as_bytes())
                        .unwrap();
                }
                println!("acked {version}");
            }
        }
        "recover" => recover(&open(&root, &state, text(4), 64), &state),
        // check ROOT STATE LEAST MOST
        "check" => match check(&root, &state, (number(4).unwrap(), number(5).unwrap())) {
            Ok(version) => println!("ok {version}"),
            Err(problem) => println!("bad {problem}"),
        },
        other => panic!("unknown verb {other}"),
    }
}
