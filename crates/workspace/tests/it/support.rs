//! What the tests share: a workspace in a temporary folder, a picture of a tree, the crash program.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tagout_vocab::{CallId, Timestamp};
use tagout_workspace::{
    Alone, Committed, Error, Options, RelPath, Transaction, Workspace, WriterProbe,
};

/// A workspace and its state, gone with the value.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
}

/// Leases that are always granted and never asked back.
pub(crate) fn nobody_waits() -> Alone {
    let (take, lost) = (|_: BorrowedFd<'_>| Ok(false), |_: BorrowedFd<'_>| Ok(false));
    Alone { take, lost }
}

/// Nobody writes: for tests in which that holds, because looking through all processes is slow.
pub(crate) fn quiet() -> Options {
    Options {
        writers: WriterProbe::Lease(|_| Ok(false)),
        alone: Some(nobody_waits()),
        ..Options::default()
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::in_folder(Path::new("/dev/shm"))
    }

    pub(crate) fn in_folder(above: &Path) -> Self {
        let folder = tempfile::tempdir_in(above).unwrap();
        fs::create_dir(folder.path().join("w")).unwrap();
        Workspace::create_state(&folder.path().join("s")).unwrap();
        Self { folder }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("w")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    pub(crate) fn open_with(&self, options: Options) -> Workspace {
        let workspace = Workspace::open(&self.root(), &self.state(), options).unwrap();
        workspace.recover().unwrap();
        workspace
    }

    pub(crate) fn open(&self) -> Workspace {
        self.open_with(quiet())
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }
}

pub(crate) fn rel(path: &str) -> RelPath {
    RelPath::new(path.as_bytes()).unwrap()
}

pub(crate) fn call(name: &str) -> CallId {
    CallId::new(name).unwrap()
}

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_000_000);

/// Commits and confirms.
pub(crate) fn commit(transaction: Transaction<'_>) -> Result<(), Error> {
    transaction.commit(NOW, b"closing").map(Committed::confirm)
}

/// Everything about a tree that a rollback has to restore.
pub(crate) type Picture = BTreeMap<Vec<u8>, Vec<String>>;

pub(crate) fn picture(root: &Path) -> Picture {
    let mut found = Picture::new();
    let mut groups: BTreeMap<(u64, u64), Vec<String>> = BTreeMap::new();
    look(root, b"", &mut found, &mut groups);
    for (_, names) in groups.into_iter().filter(|(_, names)| names.len() > 1) {
        for name in &names {
            found
                .get_mut(name.as_bytes())
                .unwrap()
                .push(format!("linked with {names:?}"));
        }
    }
    found
}

fn look(
    folder: &Path,
    prefix: &[u8],
    found: &mut Picture,
    groups: &mut BTreeMap<(u64, u64), Vec<String>>,
) {
    facts(folder, prefix, found);
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    for name in names {
        let path = folder.join(&name);
        let mut full = prefix.to_vec();
        full.extend_from_slice(b"/");
        full.extend_from_slice(name.as_bytes());
        let stat = fs::symlink_metadata(&path).unwrap();
        if stat.is_dir() {
            look(&path, &full, found, groups);
        } else {
            facts(&path, &full, found);
            if stat.is_file()
                && let Ok(text) = String::from_utf8(full)
            {
                groups
                    .entry((stat.dev(), stat.ino()))
                    .or_default()
                    .push(text);
            }
        }
    }
}

fn facts(path: &Path, name: &[u8], found: &mut Picture) {
    let stat = fs::symlink_metadata(path).unwrap();
    let mut facts = vec![
        format!("mode {:o}", stat.mode()),
        format!("owner {} {}", stat.uid(), stat.gid()),
        format!("mtime {}.{}", stat.mtime(), stat.mtime_nsec()),
    ];
    if stat.is_symlink() {
        facts.push(format!("-> {}", fs::read_link(path).unwrap().display()));
    } else if stat.is_file() {
        let mut file = fs::File::open(path).unwrap();
        facts.push(format!("size {} sum {}", stat.size(), sum(&mut file)));
    }
    if !stat.is_symlink() {
        facts.extend(attributes(path));
    }
    found.insert(name.to_vec(), facts);
}

/// A sum over a file that need not be in memory as a whole.
fn sum(file: &mut fs::File) -> String {
    use std::io::Read as _;
    let mut parts = Vec::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer).unwrap();
        if count == 0 {
            return tagout_vocab::Digest::of_parts("sum", parts.iter().map(Vec::as_slice)).hex();
        }
        parts.push(
            tagout_vocab::Digest::of(&buffer[..count])
                .as_bytes()
                .to_vec(),
        );
    }
}

fn attributes(path: &Path) -> Vec<String> {
    let mut names = vec![0_u8; 4096];
    let count = rustix::fs::llistxattr(path, &mut names[..]).unwrap_or(0);
    names.truncate(count);
    let mut found: Vec<String> = names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| {
            let name = std::str::from_utf8(name).unwrap();
            let mut value = vec![0_u8; 4096];
            let size = rustix::fs::lgetxattr(path, name, &mut value[..]).unwrap_or(0);
            value.truncate(size);
            format!("{name}={value:?}")
        })
        .collect();
    found.sort();
    found
}

/// One of the programs that the tests start, kill and question; all are built once.
pub(crate) fn program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let built = Command::new(env!("CARGO"))
            .args([
                "build",
                "--quiet",
                "--package",
                "tagout-workspace",
                "--examples",
            ])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo runs");
        assert!(built.success(), "the examples do not build");
        let test = std::env::current_exe().unwrap();
        test.parent().unwrap().parent().unwrap().join("examples")
    });
    let path = folder.join(name);
    assert!(path.exists(), "{} is missing", path.display());
    path
}

/// The crash program.
pub(crate) fn crash_program() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| program("crash"))
}

/// Whether the long form of a test is wanted: `cargo xtask test --all` sets it.
pub(crate) fn all() -> bool {
    std::env::var_os("TAGOUT_TEST_ALL").is_some()
}

/// Fails with the tool's name when it is not there: a test that silently does nothing proves
/// nothing.
pub(crate) fn need(tool: &str) {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(tool).exists()))
        || Path::new("/usr/sbin").join(tool).exists();
    assert!(found, "this test needs `{tool}`, which is not installed");
}
