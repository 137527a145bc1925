//! From a command line to what the sandbox is asked for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tagout_policy::law;
use tagout_policy::shell::{self, Analysis};
use tagout_sandbox::layer::{self, Private};
use tagout_sandbox::{Cache, Lane, Layers, Limits, Network, Output, Through, Wanted, Weaker};
use tagout_vocab::limits::{
    COMMAND_TIME_MS_MAX, RUN_CPU_MS_MAX, RUN_DESCRIPTORS_MAX, RUN_OUTPUT_BYTES_MAX,
    RUN_PROCESSES_MAX, RUN_TOTAL_BYTES_MAX, RUN_WALL_MS_MAX,
};
use tagout_vocab::{Class, WorkspacePath};

use super::Command;
use super::folders::{made, scratch};
use super::run::{Room, confinement};
use crate::error::GateError;
use crate::tool::ToolError;

/// The shells that can run a line, in the order in which they are looked for. The analysis reads
/// what the first one would do.
const SHELLS: [(&str, &[&str]); 4] = [
    ("/bin/bash", &["--noprofile", "--norc", "-c"]),
    ("/usr/bin/bash", &["--noprofile", "--norc", "-c"]),
    ("/usr/local/bin/bash", &["--noprofile", "--norc", "-c"]),
    ("/bin/sh", &["-c"]),
];

/// A cache of a tool with its layers.
#[derive(Debug)]
pub(crate) struct CacheLayers {
    /// The real folder.
    pub(crate) folder: PathBuf,
    /// What stays with the session.
    pub(crate) private: Private,
    /// What this command writes.
    pub(crate) upper: PathBuf,
    work: PathBuf,
}

/// The folders of one run.
#[derive(Debug)]
pub(crate) struct Places {
    /// The layers of this execution.
    pub(crate) own: PathBuf,
    /// What stays with the session.
    pub(crate) session: PathBuf,
    /// The session's private layer over the workspace.
    pub(crate) private: Private,
    /// What git is told to leave out.
    exclude: Option<PathBuf>,
    /// Whether something lies over the workspace.
    stacked: bool,
    /// The file that takes the output.
    pub(crate) artifact: PathBuf,
    /// The caches that get layers.
    pub(crate) caches: Vec<CacheLayers>,
    /// Which of the known caches are folders of the person's home.
    there: Vec<bool>,
}

impl Places {
    /// Makes the folders of one run. A command that only reads, in a session that built nothing,
    /// has no use for layers and gets none.
    pub(crate) fn make(
        room: &Room<'_>,
        (command, found): (&Command, &Analysis),
    ) -> Result<Self, GateError> {
        let folders = room.folders();
        let own = folders.execution(&room.ticket.execution);
        let session = made(folders.session(&room.ticket.session))?;
        made(session.join("tmp"))?;
        made(session.join("net"))?;
        let artifact = made(folders.artifacts())?.join(room.ticket.execution.as_str());
        let private = Private::open(&session.join("private"))?;
        let there = room.caches_there();
        let unused = room.keeps_no_caches(command, found);
        let caches = room.caches(&session.join("caches"), unused, &there);
        let stacked = room.lane(command) != Lane::ReadOnly || !is_empty(private.tree());
        if stacked || !caches.is_empty() {
            scratch(own.clone())?;
        }
        let mut exclude = None;
        if stacked {
            layer::prepare(room.root(), &own.join("upper"), &own.join("work"))?;
            exclude = room.exclude(&own)?;
        }
        let layered = |(folder, name): (PathBuf, String)| -> Result<CacheLayers, GateError> {
            let upper = own.join(format!("cache-{name}"));
            let work = own.join(format!("work-{name}"));
            layer::prepare(&folder, &upper, &work)?;
            Ok(CacheLayers {
                folder,
                private: Private::open(&session.join("caches").join(&name))?,
                upper,
                work,
            })
        };
        Ok(Self {
            caches: caches.into_iter().map(layered).collect::<Result<_, _>>()?,
            exclude,
            stacked,
            own,
            session,
            private,
            artifact,
            there,
        })
    }

    /// Whether there are layers of this execution.
    pub(crate) fn has_layers(&self) -> bool {
        self.stacked || !self.caches.is_empty()
    }

    /// The layer that the command writes to.
    pub(crate) fn upper(&self) -> PathBuf {
        self.own.join("upper")
    }

    /// What lies between the workspace and the layer that is written to. A command that only reads
    /// sees the workspace itself, unless the session built something.
    fn lower(&self) -> Vec<PathBuf> {
        let tree = self.stacked.then(|| self.private.tree().to_owned());
        tree.into_iter()
            .chain(self.exclude.iter().cloned())
            .collect()
    }

    fn layers(&self) -> Layers {
        let cache = |cache: &CacheLayers| Cache {
            path: cache.folder.clone(),
            upper: cache.upper.clone(),
            work: cache.work.clone(),
            lower: vec![cache.private.tree().to_owned()],
        };
        Layers {
            upper: self.upper(),
            work: self.own.join("work"),
            lower: self.lower(),
            caches: self.caches.iter().map(cache).collect(),
            tmp: self.session.join("tmp"),
        }
    }
}

impl Room<'_> {
    /// The caches of the person's home that get layers, as folders and as names of private layers.
    ///
    /// Where only programs run that keep no caches, those in which the session has nothing yet are
    /// left as they are, for nobody to write to.
    fn caches(&self, private: &Path, unused: bool, there: &[bool]) -> Vec<(PathBuf, String)> {
        let Some(home) = &self.yard.given.home else {
            return Vec::new();
        };
        let known = self.yard.words.caches.iter().zip(there);
        known
            .filter(|(_, there)| **there)
            .map(|(cache, _)| (home.join(cache.folder), cache.folder.replace('/', "_")))
            .filter(|(folder, _)| !self.root().starts_with(folder))
            .filter(|(folder, name)| {
                // Below `/tmp`, which a command has its own of, only what is mounted is there.
                let covered = folder.starts_with("/tmp");
                !unused || covered || !is_empty(&private.join(name).join("tree"))
            })
            .collect()
    }

    /// Which of the known caches are folders of the person's home.
    fn caches_there(&self) -> Vec<bool> {
        let home = self.yard.given.home.as_deref();
        let is_there = |folder: &str| home.is_some_and(|home| home.join(folder).is_dir());
        let known = self.yard.words.caches.iter();
        known.map(|cache| is_there(cache.folder)).collect()
    }

    /// Whether the line only reads, and all its programs are known to keep nothing in the home.
    fn keeps_no_caches(&self, command: &Command, found: &Analysis) -> bool {
        if self.ticket.class != Class::Safe || command.long_running {
            return false;
        }
        let plain = &self.yard.words.without_caches;
        found.class == Class::Safe
            && found
                .parts
                .iter()
                .all(|part| plain.contains(&part.program.as_str()))
    }

    /// The lane that the command is meant for.
    fn lane(&self, command: &Command) -> Lane {
        match self.ticket.class {
            Class::Destructive if !command.long_running => Lane::Transaction,
            Class::Safe | Class::Destructive => Lane::ReadOnly,
        }
    }

    /// Everything that the sandbox is asked for.
    pub(crate) fn wanted(
        &self,
        (command, found): (&Command, &Analysis),
        cwd: PathBuf,
        places: &Places,
    ) -> Wanted {
        Wanted {
            lane: self.lane(command),
            workspace: self.root().to_owned(),
            cwd,
            argv: argv(&command.line),
            direct: direct(&command.line),
            env: self.environment(&places.there),
            limits: self.bounds(command),
            network: self.network((command, found), places),
            layers: places.layers(),
            writable: Vec::new(),
            hidden: self.hidden(),
            home: self.yard.given.home.clone(),
            through: Vec::new(),
            read_only_inside: Vec::new(),
            accept_degraded: self.accepted(),
            long_running: command.long_running,
            input: self.attached.input,
            output: Output {
                artifact: places.artifact.clone(),
                live: self.attached.live.clone(),
            },
        }
    }

    fn hidden(&self) -> Vec<PathBuf> {
        let mut hidden = self.yard.given.hidden.clone();
        hidden.push(self.inner.site.state.clone());
        hidden
    }

    /// The folders that the user's own layer passes through, as far as they are there. One that
    /// would open what must stay closed is refused: it would be open to every command.
    pub(crate) fn passed_through(&self) -> Result<Vec<Through>, ToolError> {
        let mut found = Vec::new();
        for text in self.inner.shelf.books.law.pass_through() {
            let path = self.root().join(text);
            let is_folder = path.symlink_metadata().is_ok_and(|there| there.is_dir());
            if !is_folder {
                continue;
            }
            if let Some(why) = self.must_stay_closed(&path) {
                let message = format!("`{text}` can't be passed through: {why}");
                let remedy = "name a narrower folder under `pass_through` in your own policy";
                return Err(confinement(message, remedy));
            }
            let from = path.clone();
            found.push(Through { path, from });
        }
        Ok(found)
    }

    fn must_stay_closed(&self, folder: &Path) -> Option<String> {
        let home = self.yard.given.home.as_deref();
        let whole = [Some(self.root()), home, Some(&self.inner.site.state)];
        if let Some(held) = whole
            .into_iter()
            .flatten()
            .find(|one| one.starts_with(folder))
        {
            return Some(format!("`{}` lies in it", held.display()));
        }
        let hidden = self.hidden();
        if hidden
            .iter()
            .any(|one| folder.starts_with(one) || one.starts_with(folder))
        {
            return Some("it holds what commands must not see".to_owned());
        }
        let inside = folder.strip_prefix(self.root()).ok()?;
        let inside = WorkspacePath::new(inside.to_str()?).ok()?;
        let below = WorkspacePath::new(&format!("{inside}/any")).ok();
        let catalogue = &self.inner.shelf.books.catalogue;
        let known = |path: &WorkspacePath| catalogue.is_authority(path).is_some();
        let git = inside
            .as_str()
            .split('/')
            .any(|name| name.eq_ignore_ascii_case(".git"));
        (git || known(&inside) || below.as_ref().is_some_and(known))
            .then(|| "it decides about agents or belongs to git".to_owned())
    }

    /// Another lane is used only by the user's own word.
    fn accepted(&self) -> Vec<Weaker> {
        match self.inner.shelf.books.law.isolation() {
            law::Isolation::Full => Vec::new(),
            law::Isolation::Process => vec![Weaker::Snapshot],
            law::Isolation::None => vec![Weaker::Snapshot, Weaker::NoNamespaces],
        }
    }

    fn bounds(&self, command: &Command) -> Limits {
        let most = self.declaration.resource_limits;
        let longest = most.max_execution_time_ms;
        let longest = longest
            .unwrap_or(COMMAND_TIME_MS_MAX)
            .min(COMMAND_TIME_MS_MAX);
        let wall = command.timeout_ms.unwrap_or(RUN_WALL_MS_MAX);
        let wall = (!command.long_running).then(|| Duration::from_millis(wall.min(longest)));
        Limits {
            wall,
            cpu: wall.map(processor_time),
            memory_bytes: most.max_memory_bytes,
            processes: Some(RUN_PROCESSES_MAX),
            file_bytes: most.max_file_size_bytes,
            total_bytes: Some(RUN_TOTAL_BYTES_MAX),
            descriptors: Some(RUN_DESCRIPTORS_MAX),
            output_bytes: Some(RUN_OUTPUT_BYTES_MAX),
        }
    }

    /// The network is off unless the law grants it; commands beside a long-running one share its
    /// own, where nothing but they can be reached.
    fn network(&self, (command, found): (&Command, &Analysis), places: &Places) -> Network {
        let shared = command.long_running || super::long::goes_on(&places.session);
        let own = || {
            if shared {
                Network::Session(places.session.join("net"))
            } else {
                Network::Off
            }
        };
        let books = &self.inner.shelf.books;
        let granted = books.law.network() == law::Network::Any;
        if !granted || command.long_running || self.ticket.class == Class::Safe {
            return own();
        }
        if found.stays_on_this_machine() {
            own()
        } else {
            Network::Any
        }
    }

    fn environment(&self, there: &[bool]) -> Vec<(OsString, OsString)> {
        let mut variables = self.yard.given.environment.clone();
        let mut set = |name: &str, value: OsString| {
            variables.retain(|(known, _)| known != name);
            variables.push((name.into(), value));
        };
        for (name, value) in &self.yard.words.environment {
            set(name, value.into());
        }
        if let Some(home) = &self.yard.given.home {
            set("HOME", home.into());
            for (cache, there) in self.yard.words.caches.iter().zip(there) {
                let Some(variable) = cache.variable.filter(|_| !there) else {
                    continue;
                };
                if !self.names(variable) {
                    let folder = Path::new("/tmp/.tagout-home").join(cache.folder);
                    set(variable, folder.into());
                }
            }
        }
        variables
    }

    /// Whether the person's own environment already says where a tool keeps its cache.
    fn names(&self, variable: &str) -> bool {
        let given = &self.yard.given.environment;
        given.iter().any(|(name, _)| name == variable)
    }
}

/// How much processor time a command gets: half of what all processors have in its wall time, so
/// that a build can use them all, and one that spins on all of them ends before.
fn processor_time(wall: Duration) -> Duration {
    let processors = u32::try_from(tagout_sandbox::processors()).unwrap_or(u32::MAX);
    let half = wall.saturating_mul(processors) / 2;
    half.max(Duration::from_millis(RUN_CPU_MS_MAX))
}

/// Whether a private layer has nothing in it, or does not exist. One that can't be listed may have.
fn is_empty(tree: &Path) -> bool {
    match std::fs::read_dir(tree) {
        Ok(mut names) => names.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// The line without a shell, where it needs none.
fn direct(line: &str) -> Option<Vec<OsString>> {
    let words = shell::plain_words(line)?;
    Some(words.into_iter().map(OsString::from).collect())
}

fn argv(line: &str) -> Vec<OsString> {
    let there = SHELLS.iter().find(|(shell, _)| Path::new(shell).exists());
    let (shell, options) = there.unwrap_or(&("/bin/sh", &["-c"]));
    let words = std::iter::once(*shell).chain(options.iter().copied());
    words.chain([line]).map(OsString::from).collect()
}
