//! Where a workspace's state lies, how it is made, and what is refused when it is gone.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::json;
use tagout_ledger::{Kind, Ledger, NewEvent, SealKey, Stamp};
use tagout_vocab::limits::ID_BYTES_MAX;
use tagout_vocab::{IntentId, SessionId, Timestamp};
use tagout_workspace::{Workspace, files};

use crate::clockwork::Clockwork;
use crate::error::GateError;
use crate::store::Store;

/// The uncommitted file that names a workspace's state, one per worktree.
pub const ID_FILE: &str = ".orchestration/.tagout-id";

/// The two folders that everything begins with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Places {
    /// The workspace's root.
    pub root: PathBuf,
    /// The folder that holds the states of all workspaces.
    pub state_home: PathBuf,
}

/// A workspace with its state.
#[derive(Clone, Debug)]
pub struct Site {
    pub(crate) root: PathBuf,
    pub(crate) state: PathBuf,
    pub(crate) store: Store,
    id: String,
}

fn read_id(root: &Path) -> Result<Option<String>, GateError> {
    let path = root.join(ID_FILE);
    match path.metadata() {
        Ok(_) => {}
        Err(source) if source.kind() == ErrorKind::PermissionDenied => {
            let doing = "look at";
            return Err(GateError::Io {
                doing,
                path,
                source,
            });
        }
        Err(_) => return Ok(None),
    }
    let bytes = files::read(&path, ID_BYTES_MAX as u64)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if text.is_empty() || !text.bytes().all(plain) {
        // Whatever it names, it is not a state.
        return Err(GateError::StateLost { id: text, path });
    }
    Ok(Some(text))
}

impl Site {
    /// Sets a workspace up: an id, an empty state, a ledger that begins with its epoch.
    pub fn create(places: &Places, clockwork: &Clockwork, by: &str) -> Result<Self, GateError> {
        if let Some(id) = read_id(&places.root)? {
            let path = places.state_home.join(&id);
            return Err(if is_there(&path)? {
                GateError::AlreadySetUp { path }
            } else {
                GateError::StateLost { id, path }
            });
        }
        Self::begin(places, clockwork, (by, None))
    }

    /// Starts anew where the state is gone, which is an event.
    pub fn new_epoch(places: &Places, clockwork: &Clockwork, by: &str) -> Result<Self, GateError> {
        match Self::open(places) {
            Err(GateError::StateLost { id, .. }) => Self::begin(places, clockwork, (by, Some(&id))),
            Err(error) => Err(error),
            Ok(site) => Err(GateError::AlreadySetUp { path: site.state }),
        }
    }

    fn begin(
        places: &Places,
        clockwork: &Clockwork,
        (by, lost): (&str, Option<&str>),
    ) -> Result<Self, GateError> {
        refuse_inside(places)?;
        let id = clockwork.id("w");
        let site = Self::at(places, &id);
        files::ensure_dir_private(&places.state_home)?;
        Workspace::create_state(&site.state)?;
        Store::create(&site.state.join("gate"))?;
        site.store.create_grant_key(clockwork.random())?;
        let origin = format!("tagout-{id}");
        Ledger::create(&site.ledger(), &origin)?;
        let key = SealKey::new(&origin, clockwork.random()).map_err(|source| {
            tagout_ledger::LedgerError::Note {
                path: site.seal_key(),
                source,
            }
        })?;
        key.create_file(&site.seal_key())?;
        let stamp = Stamp {
            event_id: clockwork.id("ev"),
            timestamp: clockwork.now(),
        };
        let mut epoch = NewEvent::new(stamp, Kind::Epoch);
        epoch.user_id = Some(by.to_owned());
        epoch.data = Some(json!({ "workspace": id, "lost": lost }));
        let ledger = Ledger::open(&site.ledger(), tagout_ledger::Options::default())?;
        drop(ledger.append(&[epoch])?);
        // The name comes last: a state that was not finished is nobody's.
        let text = format!("{id}\n");
        let name = places.root.join(ID_FILE);
        files::ensure_dir(name.parent().unwrap_or(&places.root))?;
        files::write_atomic(&name, text.as_bytes(), None)?;
        Ok(site)
    }

    fn at(places: &Places, id: &str) -> Self {
        let state = places.state_home.join(id);
        Self {
            root: places.root.clone(),
            store: Store::at(state.join("gate")),
            id: id.to_owned(),
            state,
        }
    }

    /// The session that holds an intent now, and until when unless it goes on.
    pub fn holder(
        &self,
        intent: &IntentId,
        now: Timestamp,
    ) -> Result<Option<(SessionId, Timestamp)>, GateError> {
        let used = self.store.intent_use(intent)?;
        Ok(used
            .held(now)
            .map(|lease| (lease.session.clone(), lease.until)))
    }

    /// Whether a session was seen by the workspace whose state lies in a folder.
    pub fn has_session(state: &Path, session: &SessionId) -> bool {
        Store::at(state.join("gate")).has_session(session)
    }

    /// Finds the state of a workspace.
    pub fn open(places: &Places) -> Result<Self, GateError> {
        refuse_inside(places)?;
        let Some(id) = read_id(&places.root)? else {
            return Err(GateError::NotSetUp {
                path: places.root.clone(),
            });
        };
        let site = Self::at(places, &id);
        if is_there(&site.state.join("gate"))? && is_there(&site.ledger())? {
            Ok(site)
        } else {
            Err(GateError::StateLost {
                id,
                path: site.state,
            })
        }
    }

    /// The workspace's random id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The workspace's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The state folder.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The ledger's folder.
    pub fn ledger(&self) -> PathBuf {
        self.state.join("ledger")
    }

    /// The file of the key that signs seals.
    pub fn seal_key(&self) -> PathBuf {
        self.state.join("seal.key")
    }
}

/// Whether a folder of the state is there. One that can't be looked at is not gone: whoever began
/// anew because of it would leave a whole ledger behind.
fn is_there(path: &Path) -> Result<bool, GateError> {
    match path.metadata() {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(source) => Err(GateError::StateUnreadable {
            path: path.to_owned(),
            source,
        }),
    }
}

/// The keys and the ledger must not lie among the files that agents read and write.
fn refuse_inside(places: &Places) -> Result<(), GateError> {
    let inside = resolved(&places.state_home).starts_with(resolved(&places.root));
    if inside {
        return Err(GateError::StateInside {
            path: places.state_home.clone(),
        });
    }
    Ok(())
}

/// A path with its links followed as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    // Most paths hold no links, and then one step tells so.
    if files::is_plain(&whole) {
        return whole;
    }
    for known in whole.ancestors() {
        if let Ok(real) = known.canonicalize() {
            let rest = whole.strip_prefix(known).unwrap_or(Path::new(""));
            return real.join(rest);
        }
    }
    whole
}
