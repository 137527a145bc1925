//! What each session has seen of each file, so that a write on a file that changed since is
//! refused.

use std::io::Read as _;

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::{
    DIFFERENCE_BYTES_MAX, PATH_BYTES_MAX, SEEN_CONTENT_BYTES_MAX, SEEN_SEARCHED_MAX,
};
use tagout_vocab::{Digest, SessionId};

use crate::commit::Committed;
use crate::error::{Error, at};
use crate::files;
use crate::look::{self, Keep};
use crate::mark::Mark;
use crate::node::{Identity, Item, Node, Place};
use crate::relpath::RelPath;
use crate::sys::{self, FileTime, Handle};
use crate::workspace::Workspace;

/// Whether a session's picture of a file still holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Freshness {
    /// The file is as the session saw it.
    Fresh,
    /// The session never saw it.
    NeverSeen,
    /// It changed since.
    Changed {
        /// The digest that the session saw; `None` when there was no file.
        expected: Option<Digest>,
        /// The digest now; `None` when there is no file.
        actual: Option<Digest>,
        /// The changed lines, where both versions are known text.
        difference: Option<String>,
    },
}

/// The notes of one session.
#[derive(Debug)]
pub struct Seen<'a> {
    workspace: &'a Workspace,
    folder: Handle,
}

/// One note: small, replaced as a whole, worthless when torn.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// The path, because its name in the folder is only a digest.
    path: RelPath,
    /// Digest of the bytes; `None` for «there was no file».
    digest: Option<[u8; 32]>,
    /// Which file it was; `None` when that alone must not be trusted.
    identity: Option<Identity>,
    /// The bytes of a small file.
    content: Option<Vec<u8>>,
}

/// A file younger than this when it was noted may change again without its times showing it: the
/// kernel's coarsest clock for them ticks every ten milliseconds.
const RACY_NANOS: i128 = 20_000_000;

const FOLDER: &str = "sessions";

fn folder_name(session: &SessionId) -> String {
    let digest = Digest::of(session.as_str().as_bytes());
    digest.hex().chars().take(32).collect()
}

impl Workspace {
    /// Drops the notes of a session. If it comes back, it has seen nothing.
    pub fn forget_session(&self, session: &SessionId) -> Result<(), Error> {
        let sessions = self.state.folder(FOLDER)?;
        let name = folder_name(session);
        let path = RelPath::new(name.as_bytes())?.with(b"seen");
        let doing = || at("remove", FOLDER);
        let folder = match sys::open_dir(&sessions, path.as_bytes()) {
            Ok(folder) => folder,
            Err(error) if sys::is_missing(&error) => return Ok(()),
            Err(error) => return Err(Error::io("open", FOLDER, error)),
        };
        for note in sys::names(&folder).map_err(doing())? {
            sys::unlink(&folder, &note).map_err(doing())?;
        }
        sys::rmdir(&sessions, path.as_bytes()).map_err(doing())?;
        sys::rmdir(&sessions, name.as_bytes()).map_err(doing())
    }

    /// The notes of a session; they outlive the process.
    pub fn seen(&self, session: &SessionId) -> Result<Seen<'_>, Error> {
        let sessions = self.state.folder(FOLDER)?;
        let name = folder_name(session);
        let path = RelPath::new(name.as_bytes())?.with(b"seen");
        let folder = match sys::open_dir(&sessions, path.as_bytes()) {
            Ok(folder) => folder,
            Err(error) if sys::is_missing(&error) => {
                for part in [name.as_bytes(), path.as_bytes()] {
                    match sys::mkdir(&sessions, part, 0o700) {
                        Err(error) if !sys::is_taken(&error) => {
                            return Err(Error::io("write", FOLDER, error));
                        }
                        Ok(()) | Err(_) => {}
                    }
                }
                sys::open_dir(&sessions, path.as_bytes()).map_err(at("open", FOLDER))?
            }
            Err(error) => return Err(Error::io("open", FOLDER, error)),
        };
        Ok(Seen {
            workspace: self,
            folder,
        })
    }
}

fn note_name(path: &RelPath) -> String {
    Digest::of(path.as_bytes()).hex().chars().take(40).collect()
}

fn nanos(time: FileTime) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanos)
}

impl Seen<'_> {
    fn look(&self, path: &RelPath) -> Result<Option<Item>, Error> {
        let (folder, name) = match self.workspace.root.parent(path) {
            Ok(found) => found,
            Err(Error::Missing { .. } | Error::Conflict { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        // Large files are only hashed; small ones come with their bytes.
        let stat = sys::stat_at(&folder, name);
        let keep = match stat {
            Ok(stat) if stat.size <= SEEN_CONTENT_BYTES_MAX => self.workspace.keep(),
            Ok(_) | Err(_) => Keep::Nothing,
        };
        look::node(&folder, name, path, keep)
    }

    /// The kernel's time for files, now: that of a file that was just written. The wall clock that
    /// programs read may differ from it and is not asked.
    fn file_clock(&self) -> Result<FileTime, Error> {
        let doing = || at("write", FOLDER);
        let name = format!(".clock-{}", std::process::id());
        let file = sys::open_append(&self.folder, name.as_bytes(), 0o600).map_err(doing())?;
        std::io::Write::write_all(&mut file.duplicate().map_err(doing())?.into_file(), b".")
            .map_err(doing())?;
        let now = sys::stat(&file).map_err(doing())?.ctime;
        drop(sys::unlink(&self.folder, name.as_bytes()));
        Ok(now)
    }

    /// Notes that the session sees the file as it is now, there or not. Returns its digest.
    pub fn note(&self, path: &RelPath) -> Result<Option<Digest>, Error> {
        let found = self.look(path)?;
        self.record(path, found.as_ref())
    }

    fn record(&self, path: &RelPath, found: Option<&Item>) -> Result<Option<Digest>, Error> {
        let digest = found.and_then(|item| item.node.digest());
        let content = found.and_then(|item| match &item.node {
            Node::File {
                place: Place::Memory(bytes),
                ..
            } => Some(bytes.to_vec()),
            Node::File { .. } | Node::Symlink { .. } | Node::Dir | Node::Pipe | Node::Socket => {
                None
            }
        });
        let now = self.file_clock()?;
        let identity = found
            .and_then(|item| item.identity)
            .filter(|identity| nanos(identity.ctime) + RACY_NANOS < nanos(now));
        let raw = digest.map(|digest| *digest.as_bytes());
        let note = Note {
            path: path.clone(),
            digest: raw,
            identity,
            content,
        };
        let damaged = |_| Error::StateDamaged {
            path: FOLDER.to_owned(),
            what: "a note can't be written",
        };
        let body = postcard::to_stdvec(&note).map_err(damaged)?;
        let mut bytes = Digest::of(&body).as_bytes().to_vec();
        bytes.extend_from_slice(&body);
        files::write_lazily(&self.folder, note_name(path).as_bytes(), &bytes)?;
        Ok(digest)
    }

    /// Notes everything that a commit of this session changed: it knows what it wrote.
    pub fn note_committed(&self, committed: &Committed) -> Result<(), Error> {
        for change in &committed.changes {
            let found = self.look(&change.path)?;
            // Someone may have written in between; then the session has not seen what is there.
            if found.as_ref().and_then(|item| item.node.digest()) == change.after {
                self.record(&change.path, found.as_ref())?;
            }
        }
        Ok(())
    }

    fn recall(&self, path: &RelPath) -> Result<Option<Note>, Error> {
        let file = match sys::open_read(&self.folder, note_name(path).as_bytes()) {
            Ok(file) => file,
            Err(error) if sys::is_missing(&error) => return Ok(None),
            Err(error) => return Err(Error::io("read", FOLDER, error)),
        };
        let mut bytes = Vec::new();
        file.into_file()
            .read_to_end(&mut bytes)
            .map_err(at("read", FOLDER))?;
        // A torn note is no note: the session then has to read the file again.
        let whole = bytes
            .split_at_checked(32)
            .filter(|(sum, body)| Digest::of(body).as_bytes() == *sum)
            .and_then(|(_, body)| postcard::from_bytes::<Note>(body).ok());
        Ok(whole.filter(|note| note.path == *path))
    }

    /// The bytes of a small file as the session saw it, if that was before a mark.
    pub fn remembered(&self, path: &RelPath, before: &Mark) -> Result<Option<Vec<u8>>, Error> {
        let note = self.recall(path)?;
        let old = note.filter(|note| {
            let identity = note.identity.as_ref();
            identity.is_some_and(|identity| !before.may_have_changed(identity))
        });
        Ok(old.and_then(|note| note.content))
    }

    /// The digest of what the session saw, `None` inside for no file; `None` if it never looked.
    pub fn saw(&self, path: &RelPath) -> Result<Option<Option<Digest>>, Error> {
        let note = self.recall(path)?;
        Ok(note.map(|note| note.digest.map(Digest::from_bytes)))
    }

    /// H13: whether the file is still as the session saw it.
    pub fn check(&self, path: &RelPath) -> Result<Freshness, Error> {
        let Some(note) = self.recall(path)? else {
            return Ok(Freshness::NeverSeen);
        };
        if let (Some(identity), Some(stat)) = (note.identity, self.workspace.root.stat(path)?)
            && identity == Identity::of(&stat)
        {
            return Ok(Freshness::Fresh);
        }
        let found = self.look(path)?;
        let actual = found.as_ref().and_then(|item| item.node.digest());
        let expected = note.digest.map(Digest::from_bytes);
        if expected == actual && (actual.is_some() || found.is_none()) {
            // Touched but the same: the next look need not hash again.
            self.record(path, found.as_ref())?;
            return Ok(Freshness::Fresh);
        }
        let bytes = found.as_ref().and_then(|item| match &item.node {
            Node::File {
                place: Place::Memory(bytes),
                ..
            } => Some(bytes.to_vec()),
            Node::File { .. } | Node::Symlink { .. } | Node::Dir | Node::Pipe | Node::Socket => {
                None
            }
        });
        let difference = note
            .content
            .zip(bytes)
            .and_then(|(old, new)| difference(&old, &new));
        Ok(Freshness::Changed {
            expected,
            actual,
            difference,
        })
    }

    /// The first thing beneath a folder that the session saw and that is another now, with how it
    /// differs. What is gone has nothing left that could be lost.
    pub fn changed_beneath(&self, folder: &RelPath) -> Result<Option<(RelPath, Freshness)>, Error> {
        let notes = sys::names(&self.folder).map_err(at("list", FOLDER))?;
        if notes.len() > SEEN_SEARCHED_MAX {
            return Err(Error::TooMany {
                what: "files that this session saw",
                max: SEEN_SEARCHED_MAX,
            });
        }
        let mut beneath = Vec::new();
        for note in &notes {
            let path = self.noted_path(note)?;
            beneath.extend(path.filter(|path| path != folder && path.is_beneath(folder)));
        }
        beneath.sort();
        for path in beneath {
            let freshness = self.check(&path)?;
            let Freshness::Changed {
                expected, actual, ..
            } = &freshness
            else {
                continue;
            };
            // Links and folders have no digest, before or now.
            let replaced = expected.is_some() && self.workspace.root.stat(&path)?.is_some();
            if actual.is_some() || replaced {
                return Ok(Some((path, freshness)));
            }
        }
        Ok(None)
    }

    /// The path that a note begins with; the rest of it may be large. Whether the note is whole is
    /// for whoever reads all of it.
    fn noted_path(&self, note: &[u8]) -> Result<Option<RelPath>, Error> {
        let file = match sys::open_read(&self.folder, note) {
            Ok(file) => file,
            Err(error) if sys::is_missing(&error) => return Ok(None),
            Err(error) => return Err(Error::io("read", FOLDER, error)),
        };
        // The sum, the length of the path and the path.
        let front = u64::try_from(32 + 10 + PATH_BYTES_MAX).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        let mut file = file.into_file().take(front);
        file.read_to_end(&mut bytes).map_err(at("read", FOLDER))?;
        let path = bytes
            .split_at_checked(32)
            .and_then(|(_, body)| postcard::take_from_bytes::<RelPath>(body).ok());
        Ok(path.map(|(path, _)| path))
    }

    /// Forgets a file.
    pub fn forget(&self, path: &RelPath) -> Result<(), Error> {
        match sys::unlink(&self.folder, note_name(path).as_bytes()) {
            Err(error) if !sys::is_missing(&error) => Err(Error::io("remove", FOLDER, error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// The lines between the first and the last difference of two texts, old and new, bounded.
pub(crate) fn difference(old: &[u8], new: &[u8]) -> Option<String> {
    let (old, new) = (
        std::str::from_utf8(old).ok()?,
        std::str::from_utf8(new).ok()?,
    );
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let front = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let back = old
        .iter()
        .skip(front)
        .rev()
        .zip(new.iter().skip(front).rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (gone, come) = (old.len() - front - back, new.len() - front - back);
    let mut text = format!("@@ -{},{gone} +{},{come} @@\n", front + 1, front + 1);
    let lines = old.iter().skip(front).take(gone).map(|line| ('-', line));
    for (sign, line) in lines.chain(new.iter().skip(front).take(come).map(|line| ('+', line))) {
        if text.len() + line.len() > DIFFERENCE_BYTES_MAX {
            text.push_str("(more)\n");
            break;
        }
        text.push(sign);
        text.push_str(line);
        text.push('\n');
    }
    Some(text)
}
