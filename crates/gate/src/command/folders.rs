//! Where a command's layers, its output and its session's private files lie in the state.

use std::path::{Path, PathBuf};

use tagout_vocab::{CallId, SessionId};
use tagout_workspace::files;

use crate::error::GateError;
use crate::store::Store;

/// The folders of one state.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    state: PathBuf,
}

impl Folders {
    pub(crate) fn of(state: &Path) -> Self {
        Self {
            state: state.to_owned(),
        }
    }

    /// The folder of all layers.
    pub(crate) fn layers(&self) -> PathBuf {
        self.state.join("layers")
    }

    /// The layers of one execution.
    pub(crate) fn execution(&self, execution: &CallId) -> PathBuf {
        self.layers()
            .join(format!("x-{}", Store::name_of(execution.as_str())))
    }

    /// What stays between the commands of a session.
    pub(crate) fn session(&self, session: &SessionId) -> PathBuf {
        self.layers()
            .join(format!("s-{}", Store::name_of(session.as_str())))
    }

    /// The folder of all stored outputs.
    pub(crate) fn artifacts(&self) -> PathBuf {
        self.state.join("artifacts")
    }

    /// The stored output of an execution. An id that is no plain name leads nowhere.
    pub(crate) fn artifact(&self, id: &str) -> Option<PathBuf> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let named = !id.is_empty() && id.len() <= 100 && id.bytes().all(plain);
        named.then(|| self.artifacts().join(id))
    }
}

/// Makes a private folder and gives its path back.
pub(crate) fn made(path: PathBuf) -> Result<PathBuf, GateError> {
    files::ensure_dir_private(&path)?;
    Ok(path)
}

/// Makes a private folder that nobody misses when the machine goes down, and gives its path back.
pub(crate) fn scratch(path: PathBuf) -> Result<PathBuf, GateError> {
    if let Some(above) = path.parent().filter(|above| !above.is_dir()) {
        files::ensure_dir_private(above)?;
    }
    files::make_scratch_dir(&path)?;
    Ok(path)
}
