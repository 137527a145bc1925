//! Committing: check, one durable write, swap, check again, and the mark that follows lazily.

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::CHECKPOINT_BYTES_MAX;
use tagout_vocab::{Digest, Timestamp};

use crate::check;
use crate::engine::{Again, Engine};
use crate::error::{ConflictPath, Error};
use crate::journal::Segment;
use crate::journal::done::{Done, applied_line, confirmed_line, staged_line};
use crate::journal::frame::{self, Frame};
use crate::journal::record::{Record, Unit};
use crate::make::Blobs;
use crate::node::{Identity, Item, Node};
use crate::recover::Recovery;
use crate::relpath::RelPath;
use crate::root::Parents;
use crate::state::{Owner, owner_name};
use crate::transaction::Transaction;
use crate::workspace::Workspace;

/// One path that a transaction changed.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The path; odd bytes are replaced when it is shown.
    pub path: RelPath,
    /// What was done.
    pub kind: ChangeKind,
    /// The digest of the file's bytes before; `None` when there was no file.
    pub before: Option<Digest>,
    /// The digest afterwards; `None` when there is no file.
    pub after: Option<Digest>,
    /// The file had other names, which keep the old content.
    pub link_broken: bool,
}

/// What happened to a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was not there before.
    Created,
    /// Its content or kind is another.
    Modified,
    /// It is not there any more.
    Deleted,
    /// Only its mode, owner, times or attributes are others.
    Attributes,
}

/// What a commit did. The change is durable and complete.
///
/// While this value lives, recovery leaves the closing events to its holder; [`Committed::confirm`]
/// says that the ledger has them.
#[derive(Debug)]
#[must_use = "confirm it once the closing events are in the ledger"]
pub struct Committed {
    /// Every path that changed.
    pub changes: Vec<Change>,
    /// Until when it can be undone, if the store's size does not end that earlier.
    pub undoable_until: Timestamp,
    /// Files that other programs left in folders that this transaction removed, and where they are.
    pub kept: Vec<ConflictPath>,
    /// It is time for [`Workspace::checkpoint`].
    pub checkpoint_due: bool,
    segment: Segment,
    offset: u64,
    #[expect(dead_code, reason = "held so that recovery sees the holder alive")]
    owner: Owner,
}

impl Committed {
    /// The caller has appended the closing events: recovery need not hand them back.
    ///
    /// If this note can't be written, recovery hands them back all the same, and the ledger finds
    /// that it has them.
    pub fn confirm(mut self) {
        drop(self.segment.note(&confirmed_line(self.offset)));
    }
}

/// Whether the newest record was applied in this boot, so that nothing is left to do.
pub(crate) fn is_settled(workspace: &Workspace, length: u64, done: &[Done]) -> bool {
    let whole = done.last().is_some_and(|last| last.end == length);
    let this_boot = || {
        let boot = workspace.boot();
        boot.is_some() && done.iter().all(|one| one.boot == boot)
    };
    length == 0 || (whole && this_boot())
}

pub(crate) fn commit(
    transaction: Transaction<'_>,
    now: Timestamp,
    closing: &[u8],
) -> Result<Committed, Error> {
    let workspace = transaction.workspace;
    let _lock = workspace.state.lock()?;
    let journal = &workspace.state.journal;
    let mut segment = journal.active()?;
    let done = segment.done()?;
    let offset = if is_settled(workspace, segment.length(), &done) {
        segment.length()
    } else {
        workspace.settle(&mut segment, &mut Recovery::default())?
    };
    let units = check::units(&transaction)?;
    let folders = check::folders(workspace, &units)?;
    let (at_ms, boot) = (now.as_millis(), workspace.boot());
    let closing = closing.to_vec();
    let Transaction {
        execution,
        owner,
        links,
        ..
    } = transaction;
    let mut record = Record {
        execution,
        at_ms,
        boot,
        units,
        folders,
        closing,
        links: links.into_iter().collect(),
    };
    record.spill(&workspace.state.images)?;
    let (bytes, checksum) = frame::encode(&record)?;
    // Pruning holds the same lock, so an image that is here now stays.
    if let Some(digest) = record
        .stored()
        .find(|digest| !workspace.state.images.has(digest))
    {
        return Err(Error::ImageGone {
            digest: digest.to_string(),
        });
    }
    let again = workspace.again(&mut segment, &done, &record);
    journal.append(&mut segment, offset, &bytes)?;
    // From here on the transaction has happened, unless it is decided durably that it has not.
    let end = offset + bytes.len() as u64;
    let slot = end - frame::SLOT_BYTES as u64;
    let frame = Frame {
        offset,
        slot,
        end,
        checksum,
        record,
        // The bytes are still in memory, where the record's items point to.
        inline: Vec::new(),
        aborted: false,
    };
    let kept = workspace.apply(&mut segment, &frame, again)?;
    let commits = done.len() + 1;
    let due = commits >= workspace.options.checkpoint_commits || end > CHECKPOINT_BYTES_MAX;
    Ok(Committed {
        changes: changes(&frame.record.units),
        undoable_until: now.plus_millis(workspace.options.undo_horizon_ms),
        kept,
        checkpoint_due: due,
        segment,
        offset,
        owner,
    })
}

impl Workspace {
    /// The engine for one record.
    pub(crate) fn engine<'a>(&'a self, segment: u64, frame: &'a Frame) -> Engine<'a> {
        let domain = "tagout temporary name";
        let place = format!("{segment}/{}", frame.offset);
        let token = Digest::of_parts(domain, [&frame.checksum[..], place.as_bytes()]);
        let token = token.hex().chars().take(16).collect();
        Engine {
            root: &self.root,
            options: &self.options,
            record: &frame.record,
            blobs: Blobs {
                inline: &frame.inline,
                images: &self.state.images,
            },
            yard: &self.state.yard,
            segment,
            token,
            staged: None,
            parents: Parents::default(),
            again: Vec::new(),
        }
    }

    /// Puts a committed record into the workspace, or gives it up as a whole.
    fn apply(
        &self,
        segment: &mut Segment,
        frame: &Frame,
        again: Vec<Option<Again>>,
    ) -> Result<Vec<ConflictPath>, Error> {
        let mut engine = self.engine(segment.number, frame);
        engine.again = again;
        match stage_and_swap(segment, frame, &mut engine) {
            Ok(()) => Ok(self.finish(segment, frame, &engine)),
            Err(error) => {
                let reason = self.give_up(segment, (frame, &engine), error)?;
                // The caller learns it here and now; only a death on the way leaves it to recovery.
                drop(segment.note(&confirmed_line(frame.offset)));
                Err(reason)
            }
        }
    }

    /// Cleans up and leaves the mark.
    ///
    /// The transaction is complete and durable already. What fails here is done by the next process
    /// that comes along, because the mark is missing.
    pub(crate) fn finish(
        &self,
        segment: &mut Segment,
        frame: &Frame,
        engine: &Engine<'_>,
    ) -> Vec<ConflictPath> {
        let Ok(kept) = engine.clean_up() else {
            return Vec::new();
        };
        engine.set_folder_times();
        self.note_applied(segment, frame, engine.installed());
        kept
    }

    pub(crate) fn note_applied(
        &self,
        segment: &mut Segment,
        frame: &Frame,
        installed: Vec<Option<Identity>>,
    ) {
        let owner = owner_name(&frame.record.execution);
        let (offset, end, boot) = (frame.offset, frame.end, self.boot());
        let done = Done {
            offset,
            end,
            boot,
            installed,
            confirmed: false,
            owner,
        };
        drop(segment.note(&applied_line(&done)));
    }

    /// Decides against a record and takes it out again; the answer is the reason.
    pub(crate) fn give_up(
        &self,
        segment: &mut Segment,
        (frame, engine): (&Frame, &Engine<'_>),
        reason: Error,
    ) -> Result<Error, Error> {
        self.state.journal.abort(segment, frame)?;
        let kept = engine.undo()?;
        self.note_applied(segment, frame, Vec::new());
        if let Error::Conflict { mut paths } = reason {
            merge_kept(&mut paths, kept);
            return Ok(Error::Conflict { paths });
        }
        Ok(reason)
    }
}

/// Makes the new trees, notes which they are, and puts them in their places.
pub(crate) fn stage_and_swap(
    segment: &mut Segment,
    frame: &Frame,
    engine: &mut Engine<'_>,
) -> Result<(), Error> {
    engine.stage()?;
    // Recovery takes the absence of this line for «nothing was swapped yet».
    let staged = engine.staged.take().unwrap_or_default();
    segment.note(&staged_line(frame.offset, &staged))?;
    engine.staged = Some(staged);
    engine.forward()
}

/// Adds where things were kept to the paths that they belong to. One path may have several.
fn merge_kept(paths: &mut Vec<ConflictPath>, kept: Vec<ConflictPath>) {
    for one in kept {
        let open = |path: &&mut ConflictPath| path.path == one.path && path.kept.is_none();
        match paths.iter_mut().find(open) {
            Some(path) => path.kept = one.kept,
            None => paths.push(one),
        }
    }
}

/// What units do, path by path. The time of a folder alone is not worth a word.
pub(crate) fn changes(units: &[Unit]) -> Vec<Change> {
    let mut found = Vec::new();
    for unit in units.iter().filter(|unit| !check::is_folder_time(unit)) {
        for (sub, (before, after)) in unit.pairs() {
            let alike = |before: &Item, after: &Item| {
                unit.in_place || (sub.is_root() && before.node.same(&after.node))
            };
            let kind = match (before, after) {
                (None, _) => ChangeKind::Created,
                (_, None) => ChangeKind::Deleted,
                (Some(before), Some(after)) if alike(before, after) => ChangeKind::Attributes,
                (Some(_), Some(_)) => ChangeKind::Modified,
            };
            let file = |item: &Item| matches!(item.node, Node::File { .. });
            let link_broken = !unit.in_place
                && before.is_some_and(|item| {
                    file(item) && item.identity.is_some_and(|identity| identity.nlink > 1)
                });
            found.push(Change {
                path: unit.path.join(sub),
                kind,
                before: before.and_then(|item| item.node.digest()),
                after: after.and_then(|item| item.node.digest()),
                link_broken,
            });
        }
    }
    found
}
