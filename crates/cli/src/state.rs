//! Where the state of a workspace lies, and what to do when it is not there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tagout_gate::{GateError, ID_FILE};
use tagout_ledger::LedgerError;
use tagout_vocab::Code;
use tagout_vocab::limits::ID_BYTES_MAX;

use crate::args::{self, PlaceArgs};
use crate::failure::Failure;
use crate::site;

/// The state of one workspace.
#[derive(Debug)]
pub(crate) struct State {
    /// The workspace's root.
    pub(crate) root: PathBuf,
    folder: PathBuf,
}

impl State {
    /// Finds the state of the workspace that was named, or of the nearest one above.
    pub(crate) fn find(place: &PlaceArgs) -> Result<Self, Failure> {
        let root = site::require(place.workspace.as_deref())?;
        let id = read_id(&root)?;
        let folder = home(place)?.join(&id);
        let state = Self { root, folder };
        let ledger = state.ledger();
        match fs::metadata(&ledger) {
            Ok(found) if found.is_dir() => Ok(state),
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                let path = ledger;
                Err(GateError::StateUnreadable { path, source }.into())
            }
            Ok(_) | Err(_) => Err(lost(&format!(
                "there is no ledger in `{}`",
                state.folder.display()
            ))),
        }
    }

    /// The ledger's folder.
    pub(crate) fn ledger(&self) -> PathBuf {
        self.folder.join("ledger")
    }

    /// The file of the key that signs seals.
    pub(crate) fn seal_key(&self) -> PathBuf {
        self.folder.join("seal.key")
    }
}

/// The folder that holds the states of all workspaces.
pub(crate) fn home(place: &PlaceArgs) -> Result<PathBuf, Failure> {
    let named = place.state_dir.clone().or_else(args::state_dir);
    let named = named.ok_or_else(|| {
        Failure::invalid("there is no state folder: neither `--state-dir` nor a home is known")
            .hint("name it with `--state-dir DIR` or `TAGOUT_STATE_DIR`")
    })?;
    std::path::absolute(&named)
        .map_err(|error| Failure::invalid(format!("`{}`: {error}", named.display())))
}

fn read_id(root: &Path) -> Result<String, Failure> {
    let path = root.join(ID_FILE);
    let bytes = match site::read_bounded(&path, ID_BYTES_MAX) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Failure::not_set_up(root));
        }
        Err(error) => {
            let message = format!("`{}` can't be read: {error}", path.display());
            return Err(Failure::failed(message));
        }
    };
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    // Anything else could lead out of the folder of states.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if text.is_empty() || !text.bytes().all(is_plain) {
        return Err(lost(&format!("`{}` names no state", path.display())));
    }
    Ok(text)
}

fn lost(why: &str) -> Failure {
    if args::is_governed() {
        return Failure::out_of_reach();
    }
    Failure::failed(format!("the state of this workspace is gone: {why}"))
        .code(Code::StateLost)
        .hint(
            "it may lie with another user, under another `HOME` or `--state-dir`; else restore it, \
             or a person starts anew with `tagout epoch new`",
        )
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        if matches!(error, LedgerError::NoSuchEvent { .. }) {
            Self::invalid(error)
        } else {
            Self::failed(error).code(Code::LedgerUnavailable)
        }
    }
}
