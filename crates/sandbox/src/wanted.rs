//! What a caller wants to be run, and how far it may reach.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::output::Output;

/// How a command is held.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Everything is read-only, the workspace too.
    ReadOnly,
    /// The workspace is an overlay: what the command writes lands in the upper layer.
    Transaction,
    /// Exactly the given paths are writable in place; the caller keeps before-images of them.
    Snapshot,
}

impl Lane {
    /// Its name in receipts and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Transaction => "transaction",
            Self::Snapshot => "snapshot",
        }
    }
}

/// What the command may reach through the network.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// A network of its own with nothing in it but itself.
    #[default]
    Off,
    /// The machine's network.
    Any,
    /// A network that the commands of one session share and nobody else; the folder is the
    /// session's own and is where the process that keeps it alive is found.
    Session(PathBuf),
}

/// A folder outside of the workspace that gets an overlay of its own, such as a tool's cache.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// Where the command sees it.
    pub path: PathBuf,
    /// Fresh folder for what this command writes.
    pub upper: PathBuf,
    /// Fresh folder that the kernel works in; on the same file system as `upper`.
    pub work: PathBuf,
    /// Private layers above the real folder, newest first.
    pub lower: Vec<PathBuf>,
}

/// The folders that the transaction lane is made of.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Layers {
    /// Fresh folder for what this command writes. Only the transaction lane needs it.
    pub upper: PathBuf,
    /// Fresh folder that the kernel works in; on the same file system as `upper`.
    pub work: PathBuf,
    /// Private layers above the workspace, newest first.
    pub lower: Vec<PathBuf>,
    /// Folders outside of the workspace with an overlay of their own.
    pub caches: Vec<Cache>,
    /// The session's folder that is seen as `/tmp`.
    pub tmp: PathBuf,
}

/// A path whose changes are real at once, in every lane that writes and has name spaces.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Through {
    /// Where the command sees it. It must exist.
    pub path: PathBuf,
    /// What it sees there: the path itself, or a copy that takes its place.
    pub from: PathBuf,
}

/// A weaker form that the user's own layer may accept.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weaker {
    /// Snapshot lane where no overlay can be had.
    Snapshot,
    /// Snapshot lane without namespaces: the process tree is ended by looking for it, and the
    /// network is closed by refusing sockets.
    NoNamespaces,
}

/// What the command reads from its standard input.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Nothing.
    #[default]
    Nothing,
    /// What this process itself would read.
    Inherited,
}

/// One command, where it may write, and what bounds it.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The lane that the command's class asks for.
    pub lane: Lane,
    /// The workspace's root, absolute.
    pub workspace: PathBuf,
    /// The folder to start in, absolute.
    pub cwd: PathBuf,
    /// The program and its arguments; the program is looked up in the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// The same command without the shell that `argv` starts: a program and its arguments, run with
    /// what that shell would have set. Where it can't be started as it is, `argv` is.
    pub direct: Option<Vec<OsString>>,
    /// The whole environment, see [`crate::environment`].
    pub env: Vec<(OsString, OsString)>,
    /// The bounds.
    pub limits: Limits,
    /// What it may reach.
    pub network: Network,
    /// The layers of the transaction lane, and `/tmp`.
    pub layers: Layers,
    /// Snapshot lane: the paths that are writable in place. Each must exist.
    pub writable: Vec<PathBuf>,
    /// Paths that are written past the lane's own way of keeping changes apart.
    pub through: Vec<Through>,
    /// Paths that the command must not see, besides the built-in list; absolute. What does not
    /// exist is passed over.
    pub hidden: Vec<PathBuf>,
    /// Home folder whose credential folders are hidden.
    pub home: Option<PathBuf>,
    /// Paths inside the writable area that stay read-only; absolute.
    pub read_only_inside: Vec<PathBuf>,
    /// The weaker forms that are acceptable.
    pub accept_degraded: Vec<Weaker>,
    /// Runs until its session ends: the workspace is live and read-only, [`Network::Session`] is
    /// needed, and the command outlives this process.
    pub long_running: bool,
    /// What it reads from its standard input.
    pub input: Input,
    /// Where its output goes.
    pub output: Output,
}
