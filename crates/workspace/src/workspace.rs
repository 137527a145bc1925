//! The door: one workspace with its state, opened for reading, changing and recovering.

use std::io::Read as _;
use std::path::Path;
use std::sync::OnceLock;

use tagout_vocab::{CallId, Digest};

use crate::error::{Error, at};
use crate::look::{self, Keep};
use crate::node::Node;
use crate::options::Options;
use crate::relpath::RelPath;
use crate::root::Root;
use crate::state::State;
use crate::sys;
use crate::transaction::Transaction;

/// One workspace and its state folder.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) root: Root,
    pub(crate) state: State,
    pub(crate) options: Options,
    boot: OnceLock<Option<[u8; 16]>>,
    umask: OnceLock<u32>,
}

impl Workspace {
    /// Makes a state folder, or completes one; what is there stays.
    pub fn create_state(state: &Path) -> Result<(), Error> {
        State::create(state)
    }

    /// Opens a workspace. Call [`Workspace::recover`] before anything else.
    pub fn open(root: &Path, state: &Path, options: Options) -> Result<Self, Error> {
        let state = State::open(state, &options)?;
        let root = Root::open(root)?;
        Ok(Self {
            root,
            state,
            options,
            boot: OnceLock::new(),
            umask: OnceLock::new(),
        })
    }

    /// Which boot of the machine this is. Who finds nothing to recover does not ask.
    pub(crate) fn boot(&self) -> Option<[u8; 16]> {
        *self.boot.get_or_init(sys::boot_id)
    }

    /// The permission bits that new files do not get. Most processes make none.
    pub(crate) fn umask(&self) -> u32 {
        *self.umask.get_or_init(|| sys::umask().unwrap_or(0o022))
    }

    /// The workspace's root as the file system spells it.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The state folder.
    pub fn state_path(&self) -> &Path {
        self.state.path()
    }

    /// Begins a transaction for a call. Nothing in the workspace changes before it is committed.
    pub fn begin(&self, execution: &CallId) -> Result<Transaction<'_>, Error> {
        let owner = self.state.own(execution)?;
        Ok(Transaction::new(self, execution.clone(), owner))
    }

    /// A file to be read piece by piece, links not followed, and how many bytes it has.
    pub fn open_file(&self, path: &RelPath) -> Result<(std::fs::File, u64), Error> {
        let shown = || path.to_string();
        let file =
            sys::open_read(self.root.handle(), path.as_bytes()).map_err(at("read", shown()))?;
        let stat = sys::stat(&file).map_err(at("read", shown()))?;
        if stat.kind != sys::Kind::File {
            let (found, needed) = ("not a regular file", "a file");
            return Err(Error::WrongKind {
                path: shown(),
                found,
                needed,
            });
        }
        Ok((file.into_file(), stat.size))
    }

    /// The bytes of a file, links not followed.
    pub fn read(&self, path: &RelPath, max: u64) -> Result<Vec<u8>, Error> {
        let (file, size) = self.open_file(path)?;
        let mut bytes = Vec::new();
        let mut limited = file.take(max.saturating_add(1));
        limited
            .read_to_end(&mut bytes)
            .map_err(at("read", path.to_string()))?;
        if bytes.len() as u64 > max {
            return Err(Error::TooLarge {
                path: path.to_string(),
                size,
                max,
            });
        }
        Ok(bytes)
    }

    /// The digest of a file's bytes; `None` when there is no regular file.
    pub fn digest(&self, path: &RelPath) -> Result<Option<Digest>, Error> {
        if path.is_root() {
            return Ok(None);
        }
        let (folder, name) = match self.root.parent(path) {
            Err(Error::Missing { .. }) => return Ok(None),
            other => other?,
        };
        let found = look::node(&folder, name, path, Keep::Nothing)?;
        Ok(found.as_ref().map(|item| &item.node).and_then(Node::digest))
    }

    pub(crate) const fn keep(&self) -> Keep<'_> {
        Keep::Images {
            images: &self.state.images,
            max: self.options.image_bytes_max,
        }
    }
}
