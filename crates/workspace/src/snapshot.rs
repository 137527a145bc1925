//! Before-images of what a client is about to change by itself, and what it then really changed.

use std::collections::BTreeSet;
use std::io::Read as _;

use tagout_vocab::{CallId, Digest, Timestamp};

use crate::commit::{Change, changes};
use crate::error::{Error, at};
use crate::files;
use crate::journal::frame::{self, Frame};
use crate::journal::record::{Record, Unit};
use crate::look::{self, Keep};
use crate::node::same_tree;
use crate::relpath::RelPath;
use crate::state::owner_name;
use crate::sys;
use crate::workspace::Workspace;

const FOLDER: &str = "snapshots";

impl Workspace {
    /// Keeps what stands under these paths, for the call that is about to change them.
    ///
    /// It is not synced: a power loss takes the client's own unsynced writes along with it.
    pub fn snapshot(
        &self,
        execution: &CallId,
        paths: &[RelPath],
        now: Timestamp,
    ) -> Result<(), Error> {
        let mut units = Vec::new();
        for path in paths {
            let before = match self.root.parent(path) {
                Ok((folder, name)) => look::tree(&folder, name, path, self.keep())?,
                Err(Error::Missing { .. }) => Vec::new(),
                Err(error) => return Err(error),
            };
            units.push(Unit {
                path: path.clone(),
                before,
                after: Vec::new(),
                in_place: false,
            });
        }
        let (execution, at_ms) = (execution.clone(), now.as_millis());
        let name = owner_name(&execution);
        let (boot, folders, closing) = (self.boot(), Vec::new(), Vec::new());
        let mut record = Record {
            execution,
            at_ms,
            boot,
            units,
            folders,
            closing,
            links: Vec::new(),
        };
        record.spill(&self.state.images)?;
        let (bytes, _) = frame::encode(&record)?;
        files::write_lazily(&self.state.folder(FOLDER)?, name.as_bytes(), &bytes)
    }

    fn snapshot_frame(&self, name: &str) -> Result<Option<Frame>, Error> {
        let file = match sys::open_read(&self.state.folder(FOLDER)?, name.as_bytes()) {
            Ok(file) => file,
            Err(error) if sys::is_missing(&error) => return Ok(None),
            Err(error) => return Err(Error::io("read", FOLDER, error)),
        };
        let mut bytes = Vec::new();
        file.into_file()
            .read_to_end(&mut bytes)
            .map_err(at("read", FOLDER))?;
        Ok(frame::decode(&bytes, 0))
    }

    pub(crate) fn snapshot_of(&self, execution: &CallId) -> Result<Frame, Error> {
        self.snapshot_frame(&owner_name(execution))?
            .ok_or_else(|| Error::Unknown {
                execution: execution.to_string(),
            })
    }

    /// What changed under the paths of a snapshot since it was taken.
    pub fn diff(&self, execution: &CallId) -> Result<Vec<Change>, Error> {
        let mut record = self.snapshot_of(execution)?.record;
        let mut changed = Vec::new();
        for mut unit in record.units {
            unit.after = match self.root.parent(&unit.path) {
                Ok((folder, name)) => look::tree(&folder, name, &unit.path, Keep::Nothing)?,
                Err(Error::Missing { .. } | Error::Conflict { .. }) => Vec::new(),
                Err(error) => return Err(error),
            };
            if !same_tree(&unit.before, &unit.after) {
                changed.push(unit);
            }
        }
        record.units = changed;
        let mut found = changes(&record.units);
        // A folder is listed with everything beneath it; what stayed as it was is no change.
        found.retain(|change| change.before != change.after || change.before.is_none());
        Ok(found)
    }

    /// The bytes of a file as a snapshot has them; `None` when there was no file.
    pub fn snapshot_bytes(
        &self,
        execution: &CallId,
        path: &RelPath,
    ) -> Result<Option<Vec<u8>>, Error> {
        let frame = self.snapshot_of(execution)?;
        let blobs = crate::make::Blobs {
            inline: &frame.inline,
            images: &self.state.images,
        };
        for unit in &frame.record.units {
            for item in &unit.before {
                if unit.path.join(&item.sub) == *path
                    && let crate::node::Node::File {
                        digest,
                        size,
                        place,
                    } = &item.node
                {
                    return blobs.read(digest, *size, place).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// Lets a snapshot go.
    pub fn drop_snapshot(&self, execution: &CallId) -> Result<(), Error> {
        let name = owner_name(execution);
        match sys::unlink(&self.state.folder(FOLDER)?, name.as_bytes()) {
            Err(error) if !sys::is_missing(&error) => Err(Error::io("remove", FOLDER, error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Lets go what was taken longer ago than anything else is kept; its call is over, or was given
    /// up.
    pub(crate) fn drop_old_snapshots(&self, now: Timestamp) -> Result<(), Error> {
        let folder = self.state.folder(FOLDER)?;
        for name in sys::names(&folder).map_err(at("list", FOLDER))? {
            let frame = self.snapshot_frame(&String::from_utf8_lossy(&name))?;
            let end = frame.map(|frame| {
                let taken = frame.record.at_ms;
                taken.saturating_add(self.options.undo_horizon_ms)
            });
            if end.is_some_and(|end| end < now.as_millis()) {
                drop(sys::unlink(&folder, &name));
            }
        }
        Ok(())
    }

    /// The images that snapshots need.
    pub(crate) fn snapshot_images(&self) -> Result<BTreeSet<Digest>, Error> {
        let mut found = BTreeSet::new();
        for name in sys::names(&self.state.folder(FOLDER)?).map_err(at("list", FOLDER))? {
            if let Some(frame) = self.snapshot_frame(&String::from_utf8_lossy(&name))? {
                found.extend(frame.record.stored());
            }
        }
        Ok(found)
    }
}
