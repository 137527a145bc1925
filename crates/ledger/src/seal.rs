//! Seals: the tree so far, signed by the process whose append crosses a bound.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tagout_vocab::Timestamp;
use tagout_vocab::limits::LEDGER_PROOF_BYTES_MAX;

use crate::append::{Ledger, Sealing, SyncPoint};
use crate::error::{At as _, LedgerError};
use crate::event::{Event, Kind, NewEvent, Stamp};
use crate::format;
use crate::keys::SealKey;
use crate::line;
use crate::merkle::{Hash, Range, inclusion_proof, leaf_hash};
use crate::note::{Checkpoint, NoteError, SignedCheckpoint};
use crate::place::{self, Sync};
use crate::position::Position;
use crate::proof::Proof;
use crate::reader::Reader;

const CHECKPOINT: &str = "checkpoint";
const FRONTIER: &str = "frontier";

/// How far the ledger is sealed, and since when.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Mark {
    pub(crate) size: u64,
    pub(crate) time: Option<Timestamp>,
}

/// The stored frontier. It only saves work: it is believed if it leads to the signed root.
#[derive(Debug, Serialize, Deserialize)]
struct Frontier {
    size: u64,
    time: Timestamp,
    hashes: Vec<String>,
}

impl Frontier {
    fn range(&self) -> Option<Range> {
        let hashes = self.hashes.iter().map(String::as_str);
        Range::from_frontier(self.size, &parsed(hashes)?)
    }
}

fn written(tree: &Range) -> Vec<String> {
    let hashes = tree.frontier();
    hashes.iter().map(|hash| BASE64.encode(hash)).collect()
}

fn parsed<'a>(hashes: impl Iterator<Item = &'a str>) -> Option<Vec<Hash>> {
    hashes
        .map(|hash| BASE64.decode(hash.as_bytes()).ok()?.try_into().ok())
        .collect()
}

/// What a seal's event says: the tree before it, and the checkpoint that signs that tree.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) tree: Option<Range>,
    pub(crate) checkpoint: Result<SignedCheckpoint, NoteError>,
}

impl Sealed {
    /// Reads the event of a seal.
    pub(crate) fn read(event: &Event) -> Self {
        let data = event.body.data.as_ref();
        let field = |name| data.and_then(|data| data.get(name));
        let hashes = field("frontier").and_then(Value::as_array);
        let tree = hashes
            .and_then(|hashes| parsed(hashes.iter().map(|hash| hash.as_str().unwrap_or_default())))
            .and_then(|hashes| Range::from_frontier(event.seq, &hashes));
        let text = field("checkpoint").and_then(Value::as_str);
        let none = NoteError::Form {
            detail: "the seal holds none",
        };
        Self {
            tree,
            checkpoint: text.ok_or(none).and_then(SignedCheckpoint::parse),
        }
    }

    /// The root of the tree that ends with the seal's own event.
    pub(crate) fn root_after(&self, own: Hash) -> Option<Hash> {
        let mut tree = self.tree.clone()?;
        tree.push(own);
        tree.root()
    }
}

/// Reads a small file; `None` if it is not there.
pub(crate) fn read_small(path: &Path) -> Result<Option<Vec<u8>>, LedgerError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LedgerError::io("open", path, error)),
    };
    let mut bytes = Vec::with_capacity(place::SMALL_FILE_BYTES);
    file.take(LEDGER_PROOF_BYTES_MAX as u64)
        .read_to_end(&mut bytes)
        .at("read", path)?;
    Ok(Some(bytes))
}

/// Where the last checkpoint is stored.
pub(crate) fn checkpoint_path(dir: &Path) -> PathBuf {
    dir.join(CHECKPOINT)
}

/// The last checkpoint that was stored here; not yet believed.
pub(crate) fn read_checkpoint(dir: &Path) -> Result<Option<SignedCheckpoint>, LedgerError> {
    let path = checkpoint_path(dir);
    let Some(bytes) = read_small(&path)? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&bytes);
    SignedCheckpoint::parse(&text)
        .map(Some)
        .map_err(|source| LedgerError::Note { path, source })
}

fn read_frontier(dir: &Path) -> Option<Frontier> {
    let bytes = read_small(&dir.join(FRONTIER)).ok()??;
    serde_json::from_slice(&bytes).ok()
}

/// How far the ledger is sealed, from the small files beside it.
pub(crate) fn read_mark(dir: &Path) -> Result<Mark, LedgerError> {
    let size = read_checkpoint(dir)?.map_or(0, |signed| signed.claimed().size);
    let time = read_frontier(dir)
        .filter(|frontier| frontier.size == size)
        .map(|frontier| frontier.time);
    Ok(Mark { size, time })
}

impl Ledger {
    pub(crate) fn is_seal_due(&self, position: &Position, now: Timestamp) -> bool {
        let (Some(policy), Some(_)) = (self.options.seal, &self.options.key) else {
            return false;
        };
        let open = position.size.saturating_sub(position.sealed.size);
        let since = |time: Timestamp| now.as_millis().saturating_sub(time.as_millis());
        // A clock that went back must not put off sealing.
        let is_late = position
            .sealed
            .time
            .is_none_or(|time| since(time) >= policy.ms_max || since(time) < 0);
        open > 0 && (open >= policy.events_max || is_late)
    }

    pub(crate) fn seal_if_due(&self, now: Timestamp) -> Sealing {
        match self.seal_when(now, |ledger, position| ledger.is_seal_due(position, now)) {
            Ok(Some(sealed)) => Sealing::Sealed(sealed),
            Ok(None) => Sealing::NotDue,
            Err(error) => Sealing::Failed(error),
        }
    }

    /// Seals now. The returned checkpoint covers every event, the seal's own included.
    pub fn seal(&self, now: Timestamp) -> Result<SignedCheckpoint, LedgerError> {
        if let Some(sealed) = self.seal_when(now, |_, position| {
            position.size > position.sealed.size || position.size == 0
        })? {
            return Ok(sealed);
        }
        // Nothing new since the last seal: that one still covers everything.
        read_checkpoint(&self.dir)?.ok_or(LedgerError::NoKey)
    }

    fn seal_when(
        &self,
        now: Timestamp,
        due: impl Fn(&Self, &Position) -> bool,
    ) -> Result<Option<SignedCheckpoint>, LedgerError> {
        let key = self
            .options
            .key
            .as_ref()
            .ok_or(LedgerError::NoKey)?
            .load()?;
        let mut locked = self.lock()?;
        let position = self.refresh(&mut locked)?;
        position.sealed = read_mark(&self.dir)?;
        if !due(self, position) {
            return Ok(None);
        }
        self.settle(position, now)?;
        let tree = self.tree_so_far(position, &key)?;
        let embedded = self.sign(&tree, &key)?;
        let stamp = Stamp {
            event_id: format!("seal-{}", tree.end()),
            timestamp: now,
        };
        let mut event = NewEvent::new(stamp, Kind::Seal);
        // With the frontier in it, the seal alone ties a checkpoint that covers it to the chain.
        event.data = Some(json!({
            "checkpoint": embedded.text(),
            "frontier": written(&tree),
        }));
        self.write_own(position, event)?;
        let tree = self.extended(tree, position)?;
        let sealed = self.sign(&tree, &key)?;
        self.store(&tree, &sealed, now)?;
        position.sealed = Mark {
            size: tree.end(),
            time: Some(now),
        };
        Ok(Some(sealed))
    }

    fn sign(&self, tree: &Range, key: &SealKey) -> Result<SignedCheckpoint, LedgerError> {
        let root = tree.root().ok_or_else(|| self.mismatch(tree.end()))?;
        let checkpoint = Checkpoint {
            origin: self.origin.clone(),
            size: tree.end(),
            root,
        };
        Ok(checkpoint.sign(key))
    }

    fn mismatch(&self, sealed: u64) -> LedgerError {
        LedgerError::SealMismatch {
            path: self.dir.clone(),
            sealed,
        }
    }

    /// The tree over all events, going on from the last seal if that is still true.
    fn tree_so_far(&self, position: &Position, key: &SealKey) -> Result<Range, LedgerError> {
        let Some(signed) = read_checkpoint(&self.dir)? else {
            return self.extended(Range::starting_at(0), position);
        };
        let sealed = signed
            .verified(&self.origin, &[key.verifier()])
            .map_err(|source| LedgerError::Note {
                path: checkpoint_path(&self.dir),
                source,
            })?;
        let leads_to_root =
            |range: &Range| range.end() == sealed.size && range.root() == Some(sealed.root);
        let stored = read_frontier(&self.dir)
            .and_then(|frontier| frontier.range())
            .filter(leads_to_root);
        if let Some(range) = stored {
            return self.extended(range, position);
        }
        let rebuilt = self.extended_to(Range::starting_at(0), sealed.size)?;
        if !leads_to_root(&rebuilt) {
            return Err(self.mismatch(sealed.size));
        }
        self.extended(rebuilt, position)
    }

    fn extended(&self, range: Range, position: &Position) -> Result<Range, LedgerError> {
        self.extended_to(range, position.size)
    }

    /// Adds the events up to `size` and checks on the way that each one links to the one before.
    fn extended_to(&self, mut range: Range, size: u64) -> Result<Range, LedgerError> {
        if range.end() >= size {
            return Ok(range);
        }
        let from = range.end();
        let reader = Reader::open(&self.dir)?;
        let mut expected = (from == 0).then(|| format::genesis(&self.origin));
        for line in reader.lines_from(from.saturating_sub(1))? {
            let line = line?;
            let head = line::head(&line.bytes).ok_or_else(|| self.mismatch(range.end()))?;
            let hash = leaf_hash(&line.bytes);
            if head.seq.saturating_add(1) < from {
                continue;
            }
            let prev = data_encoding::HEXLOWER.decode(head.prev_hex).ok();
            let is_linked =
                expected.is_none_or(|expected| prev.as_deref() == Some(expected.as_slice()));
            let next = head.seq == range.end() || head.seq.saturating_add(1) == from;
            if !is_linked || !next {
                return Err(self.mismatch(range.end()));
            }
            expected = Some(hash);
            if head.seq == range.end() {
                range.push(hash);
            }
            if range.end() == size {
                return Ok(range);
            }
        }
        Err(self.mismatch(range.end()))
    }

    fn store(
        &self,
        tree: &Range,
        sealed: &SignedCheckpoint,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let is_skipped = self.options.skip_sync == Some(SyncPoint::Checkpoint);
        let sync = if is_skipped { Sync::No } else { Sync::Yes };
        place::replace(&checkpoint_path(&self.dir), sealed.text().as_bytes(), sync)?;
        let frontier = Frontier {
            size: tree.end(),
            time: now,
            hashes: written(tree),
        };
        let mut text = serde_json::to_vec(&frontier).map_err(|source| LedgerError::Json {
            seq: tree.end(),
            source,
        })?;
        text.push(b'\n');
        place::replace(&self.dir.join(FRONTIER), &text, Sync::No)
    }

    /// `seal --to FILE`: seals, and adds the checkpoint to a file kept elsewhere.
    ///
    /// The file only ever grows: older checkpoints in it are what shows a rewritten ledger.
    pub fn seal_to(&self, now: Timestamp, path: &Path) -> Result<SignedCheckpoint, LedgerError> {
        let sealed = self.seal(now)?;
        let mut text = sealed.text();
        text.push('\n');
        let mut file = place::owner_only()
            .append(true)
            .create(true)
            .open(path)
            .at("open", path)?;
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .at("write", path)?;
        path.parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .map_or(Ok(()), place::sync_folder)?;
        Ok(sealed)
    }
}

impl SignedCheckpoint {
    /// Reads a file that [`Ledger::seal_to`] wrote: every checkpoint that was kept, oldest first.
    pub fn read_kept(path: &Path) -> Result<Vec<Self>, LedgerError> {
        let mut text = String::new();
        let file = File::open(path).at("open", path)?;
        file.take(LEDGER_PROOF_BYTES_MAX as u64 + 1)
            .read_to_string(&mut text)
            .at("read", path)?;
        if text.len() > LEDGER_PROOF_BYTES_MAX {
            return Err(LedgerError::TooLarge {
                path: path.to_owned(),
                max: LEDGER_PROOF_BYTES_MAX,
            });
        }
        let note = |source| LedgerError::Note {
            path: path.to_owned(),
            source,
        };
        let mut kept = Vec::new();
        let mut lines = text.split_inclusive('\n').peekable();
        while lines.peek().is_some() {
            let mut one = String::new();
            for line in lines.by_ref() {
                let ends = line == "\n" && one.contains("\n\n");
                if ends {
                    break;
                }
                one.push_str(line);
            }
            kept.push(Self::parse(&one).map_err(note)?);
        }
        Ok(kept)
    }
}

impl Reader {
    /// The last checkpoint stored beside the ledger; not yet believed.
    pub fn checkpoint(&self) -> Result<Option<SignedCheckpoint>, LedgerError> {
        read_checkpoint(self.dir())
    }

    /// B6: a proof that one event is in the ledger, under the last stored checkpoint.
    pub fn prove(&self, seq: u64) -> Result<Proof, LedgerError> {
        // An event that is not there will not be covered by a seal either.
        let event = self.event(seq)?;
        let checkpoint = self
            .checkpoint()?
            .filter(|signed| signed.claimed().size > seq)
            .ok_or(LedgerError::NotSealed { seq })?;
        let leaves = self.leaves(checkpoint.claimed().size)?;
        let index = usize::try_from(seq).unwrap_or(usize::MAX);
        let path = inclusion_proof(&leaves, index).ok_or(LedgerError::NoSuchEvent {
            seq,
            present: leaves.len() as u64,
        })?;
        Ok(Proof {
            line: String::from_utf8_lossy(&event.line).into_owned(),
            index: seq,
            path,
            checkpoint,
        })
    }

    /// The hashes that show that the stored checkpoint extends an older one of `old` events.
    pub fn prove_consistency(&self, old: u64) -> Result<Vec<Hash>, LedgerError> {
        let size = self.checkpoint()?.map_or(0, |signed| signed.claimed().size);
        let leaves = self.leaves(size)?;
        let old_size = usize::try_from(old).unwrap_or(usize::MAX);
        crate::merkle::consistency_proof(&leaves, old_size).ok_or(LedgerError::NoSuchEvent {
            seq: old,
            present: size,
        })
    }

    fn leaves(&self, size: u64) -> Result<Vec<Hash>, LedgerError> {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        self.lines_from(0)?
            .take(size)
            .map(|line| line.map(|line| leaf_hash(&line.bytes)))
            .collect()
    }
}
