//! Places where nothing can go well: one clear error each, and everything stays whole.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use tagout_workspace::{Clash, Error, Options, Workspace};

use crate::powerloss::recorder::Recorder;
use crate::support::{NOW, Place, call, commit, crash_program, need, picture, quiet, rel};

/// A small file system in memory, unmounted with the value.
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    fn mount(path: &'a Path, options: &str) -> Self {
        fs::create_dir_all(path).unwrap();
        let data = std::ffi::CString::new(options).unwrap();
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("small", path, "tmpfs", flags, data.as_c_str())
            .expect("this test needs to run as root: it mounts small file systems");
        Self(path)
    }

    fn read_only(&self) {
        let flags = rustix::mount::MountFlags::RDONLY;
        rustix::mount::mount_remount(self.0, flags, "").unwrap();
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(self.0, rustix::mount::UnmountFlags::DETACH);
    }
}

fn change(workspace: &Workspace, size: usize) -> Result<(), Error> {
    let mut transaction = workspace.begin(&call("1"))?;
    transaction.write(&rel("a"), b"changed")?;
    transaction.write(&rel("dir/new"), &vec![7; size])?;
    transaction.write(&rel("z"), b"changed")?;
    commit(transaction)
}

fn fill(root: &Path) {
    fs::create_dir_all(root.join("dir")).unwrap();
    fs::write(root.join("a"), "one").unwrap();
    fs::write(root.join("z"), "one").unwrap();
}

/// A read-only workspace: refused before anything happens.
#[test]
fn a_read_only_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let (root, state) = (folder.path().join("w"), folder.path().join("s"));
    let small = Small::mount(&root, "size=1m");
    fill(&root);
    Workspace::create_state(&state).unwrap();
    small.read_only();
    let before = picture(&root);
    let workspace = Workspace::open(&root, &state, quiet()).unwrap();
    let error = change(&workspace, 10).unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("read-only"), "{error}");
    assert_eq!(picture(&root), before);
}

/// A read-only state: nothing can be recorded, so nothing is done.
#[test]
fn a_read_only_state() {
    let folder = tempfile::tempdir().unwrap();
    let (root, state) = (folder.path().join("w"), folder.path().join("s"));
    fill(&root);
    let small = Small::mount(&state, "size=1m");
    Workspace::create_state(&state).unwrap();
    small.read_only();
    let before = picture(&root);
    let workspace = Workspace::open(&root, &state, quiet()).unwrap();
    let error = change(&workspace, 10).unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    assert_eq!(picture(&root), before);
}

/// L9: a full disk under the workspace, the state or both, at every size: all or nothing.
#[test]
fn a_full_disk() {
    for (root_small, state_small) in [(true, false), (false, true), (true, true)] {
        let folder = tempfile::tempdir().unwrap();
        let shared = folder.path().join("both");
        let _both = (root_small && state_small).then(|| Small::mount(&shared, "size=1m"));
        let above = if root_small && state_small {
            shared.clone()
        } else {
            folder.path().into()
        };
        let (root, state) = (above.join("w"), above.join("s"));
        let _root = (root_small && !state_small).then(|| Small::mount(&root, "size=512k"));
        let _state = (!root_small).then(|| Small::mount(&state, "size=512k"));
        fill(&root);
        Workspace::create_state(&state).unwrap();
        let before = picture(&root);
        // Nothing is kept for undoing, so that what failed leaves its room to the next.
        let options = Options {
            undo_bytes_max: 0,
            ..quiet()
        };
        let workspace = Workspace::open(&root, &state, options).unwrap();
        let mut full = 0;
        // From sizes that fit nowhere down to the first that fits: every kind of write runs out
        // once.
        for step in 0..40_usize {
            let size = 1_200_000_usize.saturating_sub(step * 30_000);
            match change(&workspace, size) {
                Ok(()) => break,
                Err(error) => {
                    assert!(matches!(error, Error::Full { .. }), "{error}");
                    // On a small workspace it is one of its files that has no room.
                    let named = ["`a`", "`dir/new`", "`z`"];
                    let told = error.to_string();
                    assert!(
                        state_small || named.iter().any(|name| told.contains(name)),
                        "{told}"
                    );
                    full += 1;
                    let settled = workspace.recover().unwrap().settled;
                    assert_eq!(picture(&root), before, "{size} bytes");
                    // On a disk that is full to the last byte even this may have to wait.
                    let dead: Vec<_> = settled.into_iter().map(|one| one.execution).collect();
                    drop(workspace.confirm(&dead));
                    drop(workspace.checkpoint(|| Ok(())));
                    workspace.prune(NOW).unwrap();
                }
            }
        }
        println!("root {root_small} state {state_small}: full {full} times");
        assert!(full > 3, "the disk was full {full} times");
        assert_eq!(
            fs::read_to_string(root.join("z")).unwrap(),
            "changed",
            "and then it fits"
        );
    }
}

/// Someone else's folder: refused before anything happens.
#[test]
fn no_permission() {
    need("setpriv");
    let place = Place::in_folder(&std::env::temp_dir());
    let program = place.folder.path().join("crash");
    fs::copy(crash_program(), &program).unwrap();
    let at = |name: &str| place.folder.path().join(name).to_str().unwrap().to_owned();
    fs::set_permissions(place.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (root, state) = (at("w2"), at("s2"));
    assert!(
        Command::new(&program)
            .args(["init", &root, &state])
            .status()
            .unwrap()
            .success()
    );
    let owner = Command::new("chown")
        .args(["-R", "65534:65534", &state])
        .status()
        .unwrap();
    assert!(owner.success());
    let before = picture(Path::new(&root));
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["commit", &root, &state, "1", "1"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("Forbidden") && !output.status.success(),
        "{said}"
    );
    assert_eq!(picture(Path::new(&root)), before);
}

/// A file that became a folder, a link or a pipe in the meantime is a conflict or refused.
#[test]
fn a_file_replaced_by_something_else() {
    for kind in ["folder", "link", "pipe"] {
        let place = Place::new();
        fill(&place.root());
        let workspace = place.open();
        let mut transaction = workspace.begin(&call("1")).unwrap();
        transaction.write(&rel("a"), b"changed").unwrap();
        transaction.write(&rel("z"), b"changed").unwrap();
        let path = place.root().join("z");
        fs::remove_file(&path).unwrap();
        match kind {
            "folder" => fs::create_dir(&path).unwrap(),
            "link" => symlink("/etc/passwd", &path).unwrap(),
            _ => assert!(
                Command::new("mkfifo")
                    .arg(&path)
                    .status()
                    .unwrap()
                    .success()
            ),
        }
        let before = picture(&place.root());
        let error = commit(transaction).unwrap_err();
        if let Error::Conflict { paths } = &error {
            assert_eq!(paths[0].found, Clash::Changed, "{kind}");
        } else {
            assert!(matches!(error, Error::Special { .. }), "{kind}: {error}");
        }
        assert_eq!(picture(&place.root()), before, "{kind}");
    }
}

/// L4: state that is missing, newer, damaged or incomplete is refused by name.
#[test]
fn a_state_that_cannot_be_used() {
    let place = Place::new();
    let open = || Workspace::open(&place.root(), &place.state(), Options::default());
    assert!(open().is_ok());
    fs::write(
        place.state().join("format"),
        "{\"reader\":3,\"writer\":1}\n",
    )
    .unwrap();
    let error = open().unwrap_err();
    assert!(
        matches!(
            error,
            Error::StateNewer {
                needed: 3,
                known: 2,
                ..
            }
        ),
        "{error}"
    );
    fs::write(
        place.state().join("format"),
        "{\"reader\":1,\"writer\":9}\n",
    )
    .unwrap();
    assert!(matches!(
        open().unwrap_err(),
        Error::StateNewer { needed: 9, .. }
    ));
    // What an older program made is taken over, and that program will refuse it from now on.
    let format = place.state().join("format");
    fs::write(&format, "{\"reader\":1,\"writer\":1}\n").unwrap();
    assert!(open().is_ok());
    let said = fs::read_to_string(&format).unwrap();
    assert_eq!(said, "{\"reader\":2,\"writer\":2}\n");
    fs::write(place.state().join("format"), "words").unwrap();
    assert!(matches!(open().unwrap_err(), Error::StateDamaged { .. }));
    fs::remove_file(place.state().join("format")).unwrap();
    assert!(matches!(open().unwrap_err(), Error::StateDamaged { .. }));
    Workspace::create_state(&place.state()).unwrap();
    assert!(open().is_ok(), "completed by a person's verb");
    fs::remove_dir(place.state().join("claims")).unwrap();
    assert!(open().is_ok_and(|workspace| {
        workspace
            .claim(
                &call("1"),
                &[rel("a")],
                tagout_workspace::Holding::WhileAlive,
            )
            .is_err()
    }));
    fs::remove_dir_all(place.state().join("journal")).unwrap();
    assert!(matches!(open().unwrap_err(), Error::StateDamaged { .. }));
    fs::remove_dir_all(place.state()).unwrap();
    let error = open().unwrap_err();
    assert!(matches!(error, Error::StateMissing { .. }), "{error}");
    assert!(error.to_string().contains("new epoch"), "{error}");
}

/// L4: state on a file system that may reach over a network is refused.
#[test]
fn a_state_on_a_network_file_system() {
    let place = Place::new();
    let front = place.folder.path().join("front");
    fs::create_dir(&front).unwrap();
    let _recorder = Recorder::mount(&front, 1);
    let error = Workspace::open(&place.root(), &front, Options::default()).unwrap_err();
    assert!(matches!(error, Error::StateOnNetwork { .. }), "{error}");
}

/// A file of 1 GB is refused when it is touched, by its size, and the rest goes on.
#[test]
fn a_file_that_is_too_large() {
    let place = Place::new();
    place.put("a", "one");
    let large = fs::File::create(place.root().join("large")).unwrap();
    large.set_len(1 << 30).unwrap();
    drop(large);
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    for result in [
        transaction.write(&rel("large"), b"small"),
        transaction.append(&rel("large"), b"x"),
        transaction.delete(&rel("large")),
        transaction.rename(&rel("large"), &rel("other")),
    ] {
        let error = result.unwrap_err();
        assert!(
            matches!(
                error,
                Error::TooLarge {
                    size: 1_073_741_824,
                    ..
                }
            ),
            "{error}"
        );
    }
    transaction.write(&rel("a"), b"two").unwrap();
    transaction.commit(NOW, b"").unwrap().confirm();
    assert_eq!(place.text("a"), "two");
    assert_eq!(
        fs::metadata(place.root().join("large")).unwrap().len(),
        1 << 30
    );
}
