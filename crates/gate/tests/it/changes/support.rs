//! A workspace, its state, a layer and a sandbox around a script.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use tagout_gate::changes::back::{self, Back};
use tagout_gate::changes::{self, StageError};
use tagout_gate::trace::undo::{Conflict, Step};
use tagout_sandbox::layer::{self, ChangeSet, Reading};
use tagout_sandbox::{Ended, Host, Input, Lane, Layers, Limits, Network, Output, Wanted};
use tagout_vocab::{CallId, Timestamp};
use tagout_workspace::{
    Change, Clash, ConflictPath, Error, Mark, Options, RelPath, Workspace, WriterProbe,
};

use super::picture::Picture;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_000_000);

/// Whether the long form of a test is wanted.
pub(crate) fn all() -> bool {
    std::env::var_os("TAGOUT_TEST_ALL").is_some()
}

/// The program that the tests need in and around the sandbox, built once and copied to where the
/// sandbox shows it.
pub(crate) fn tool() -> &'static Path {
    static PLACE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = PLACE.get_or_init(|| {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "tagout-gate"])
            .args(["--example", "changes"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .unwrap();
        assert!(built.success(), "the example does not build");
        let test = std::env::current_exe().unwrap();
        let built = test.parent().unwrap().parent().unwrap();
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = folder.path().join("changes");
        std::fs::copy(built.join("examples/changes"), &path).unwrap();
        tagout_sandbox::use_helper(path.clone());
        (folder, path)
    });
    path
}

fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        tool();
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        Host::probe(folder.path())
    })
}

pub(crate) fn call(name: &str) -> CallId {
    CallId::new(name).unwrap()
}

/// A workspace with its state and scratch; gone with the value.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

/// Everything that one confined command left.
pub(crate) struct Ran {
    pub(crate) mark: Mark,
    pub(crate) upper: PathBuf,
    /// What the command saw at its end.
    pub(crate) merged: Picture,
    pub(crate) ended: Ended,
}

/// Nobody writes.
pub(crate) fn quiet() -> Options {
    Options {
        writers: WriterProbe::Lease(|_| Ok(false)),
        ..Options::default()
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        std::fs::create_dir(folder.path().join("w")).unwrap();
        Workspace::create_state(&folder.path().join("s")).unwrap();
        Self { folder }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.at("w")
    }

    pub(crate) fn open(&self) -> Workspace {
        self.open_with(quiet())
    }

    pub(crate) fn open_with(&self, options: Options) -> Workspace {
        let workspace = Workspace::open(&self.root(), &self.at("s"), options).unwrap();
        workspace.recover().unwrap();
        workspace
    }

    /// Runs a script in the transaction lane, with the lower layers given; the last thing that it
    /// does is to take a picture of what it sees.
    pub(crate) fn run(&self, name: &str, script: &str, lower: Vec<PathBuf>) -> Ran {
        let ran = self.run_blind(name, script, lower);
        let (exit, hit) = (ran.ended.exit, &ran.ended.failed_by);
        let picture = std::fs::read(self.at(name).join("tmp/picture"));
        let picture = picture.unwrap_or_else(|_| panic!("{exit:?} {hit:?} after\n{script}"));
        Ran {
            merged: serde_json::from_slice(&picture).unwrap(),
            ..ran
        }
    }

    /// The same for a script after which no picture can be taken.
    pub(crate) fn run_blind(&self, name: &str, script: &str, lower: Vec<PathBuf>) -> Ran {
        let scratch = self.at(name);
        std::fs::create_dir(&scratch).unwrap();
        let (upper, work, tmp) = (
            scratch.join("upper"),
            scratch.join("work"),
            scratch.join("tmp"),
        );
        layer::prepare(&self.root(), &upper, &work).unwrap();
        std::fs::create_dir(&tmp).unwrap();
        std::fs::write(tmp.join("script"), script).unwrap();
        let mark = self.open().mark().unwrap();
        let last = format!(
            "bash /tmp/script; code=$?; {} picture . /tmp/picture; exit $code",
            tool().display()
        );
        let variable = |name: &str, value: &str| (name.into(), value.into());
        let wanted = Wanted {
            lane: Lane::Transaction,
            workspace: self.root(),
            cwd: self.root(),
            argv: vec!["bash".into(), "-c".into(), last.into()],
            direct: None,
            env: vec![
                variable("PATH", "/usr/local/bin:/usr/bin:/bin"),
                variable("HOME", "/tmp"),
                variable("GIT_CONFIG_GLOBAL", "/dev/null"),
                variable("GIT_AUTHOR_NAME", "a"),
                variable("GIT_AUTHOR_EMAIL", "a@example"),
                variable("GIT_COMMITTER_NAME", "a"),
                variable("GIT_COMMITTER_EMAIL", "a@example"),
            ],
            limits: Limits {
                wall: Some(Duration::from_secs(30)),
                ..Limits::default()
            },
            network: Network::Off,
            layers: Layers {
                upper: upper.clone(),
                work,
                lower,
                caches: Vec::new(),
                tmp: tmp.clone(),
            },
            writable: Vec::new(),
            hidden: Vec::new(),
            home: None,
            through: Vec::new(),
            read_only_inside: Vec::new(),
            accept_degraded: Vec::new(),
            long_running: false,
            input: Input::Nothing,
            output: Output {
                artifact: scratch.join("output"),
                live: None,
            },
        };
        let plan = tagout_sandbox::plan(host(), &wanted).unwrap();
        let ended = plan.start().unwrap().wait().unwrap();
        Ran {
            mark: mark.with_clock_set(ended.clock_was_set),
            upper,
            merged: Picture::default(),
            ended,
        }
    }

    pub(crate) fn read(&self, upper: &Path) -> ChangeSet {
        read(&self.root(), upper, &|_, _| false)
    }

    /// Stages and commits what a command left.
    pub(crate) fn apply(&self, name: &str, ran: &Ran) -> Result<Vec<Change>, StageError> {
        self.apply_with(quiet(), name, ran)
    }

    pub(crate) fn apply_with(
        &self,
        options: Options,
        name: &str,
        ran: &Ran,
    ) -> Result<Vec<Change>, StageError> {
        let workspace = self.open_with(options);
        let set = self.read(&ran.upper);
        let mut transaction = workspace.begin(&call(name))?;
        changes::stage(&set, &ran.upper, &mut transaction, &ran.mark)?;
        let announced = transaction.staged()?;
        let committed = transaction.commit(NOW, b"closing")?;
        assert_eq!(announced, committed.changes, "announced and done");
        committed.confirm();
        Ok(announced)
    }

    /// Takes a call back as `tagout undo` does. What stands in the way is a conflict, and nothing
    /// may be beyond it.
    pub(crate) fn undo(&self, name: &str) -> Result<(), Error> {
        let workspace = self.open();
        let execution = call(name);
        let step = Step {
            changes: back::changes(workspace.effects(&execution, 1 << 30)?),
            execution: execution.clone(),
            undoes: Vec::new(),
            beyond: Vec::new(),
        };
        let back = Back::plan(&workspace, &[step], &BTreeSet::from([execution]))?;
        assert!(
            back.plan.impossible.is_empty(),
            "{:?}",
            back.plan.impossible
        );
        let clash = |conflict: &Conflict<RelPath>| ConflictPath {
            path: conflict.path.to_string(),
            found: Clash::Changed,
            kept: None,
        };
        let paths: Vec<ConflictPath> = back.plan.conflicts.iter().map(clash).collect();
        if !paths.is_empty() {
            return Err(Error::Conflict { paths });
        }
        let mut transaction = workspace.begin(&call(&format!("undo-{name}")))?;
        back.stage(&mut transaction)?;
        transaction.commit(NOW, b"closing")?.confirm();
        Ok(())
    }
}

pub(crate) fn read(
    root: &Path,
    upper: &Path,
    is_private: &dyn Fn(&[u8], bool) -> bool,
) -> ChangeSet {
    let how = Reading {
        workspace: root,
        is_private,
        entries_max: 10_000,
        bytes_max: 1 << 30,
    };
    layer::read(upper, how).unwrap()
}
