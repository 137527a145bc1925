//! The other files that Tagout writes: whole files atomically, lines at the end, private folders.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tagout_vocab::Timestamp;
use tagout_vocab::limits::{LOCK_WAIT_MS_MAX, SYMLINK_HOPS_MAX};

use crate::error::{Error, at};
use crate::root;
use crate::sys::{self, Handle, Kind, Rename};

pub use crate::blocks::{Markers, merge_block, remove_block};
pub use crate::opened::Opened;

/// What is read in one step: the buffer is cleared first.
const READ_AT_ONCE_BYTES: usize = 128 * 1024;

/// The ending of a log that is being begun anew.
const NEXT: &str = "next";

static COUNTER: AtomicU64 = AtomicU64::new(0);

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The same where it is seldom needed.
fn named(path: &Path) -> std::path::Display<'_> {
    path.display()
}

/// The folder of a file as a handle, and its name.
fn split(path: &Path) -> Result<(Handle, Vec<u8>), Error> {
    let name = path
        .file_name()
        .ok_or_else(|| Error::BadPath { path: shown(path) })?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let handle = sys::open_root(folder).map_err(at("open the folder", named(folder)))?;
    Ok((handle, sys::bytes_of(Path::new(name)).to_vec()))
}

/// A file where it really lies.
struct Found {
    path: PathBuf,
    folder: Handle,
    name: Vec<u8>,
    /// What is there, if anything is.
    stat: std::io::Result<sys::Stat>,
}

/// Where a file really lies: a person who keeps a configuration file behind a link keeps the link.
fn followed(path: &Path) -> Result<Found, Error> {
    let mut path = path.to_path_buf();
    for _ in 0..SYMLINK_HOPS_MAX {
        let (folder, name) = split(&path)?;
        match sys::stat_at(&folder, &name) {
            Ok(stat) if stat.kind == Kind::Symlink => {
                let target = sys::readlink(&folder, &name).map_err(at("read", named(&path)))?;
                path = path
                    .parent()
                    .unwrap_or(Path::new("."))
                    .join(sys::path_of(&target));
            }
            stat => {
                return Ok(Found {
                    path,
                    folder,
                    name,
                    stat,
                });
            }
        }
    }
    Err(Error::Loop { path: shown(&path) })
}

/// The bytes of a file; `None` when it does not exist, an error when it is longer than `max`.
pub fn read(path: &Path, max: u64) -> Result<Option<Vec<u8>>, Error> {
    // Most files are no links, and then one step opens them.
    match sys::open_unlinked(path) {
        Ok(file) => return read_open(file, path, max).map(Some),
        Err(error) if sys::is_missing(&error) && path.parent().is_some_and(Path::is_dir) => {
            return Ok(None);
        }
        Err(_) => {}
    }
    let Found {
        path,
        folder,
        name,
        stat,
    } = followed(path)?;
    if stat.is_err_and(|error| sys::is_missing(&error)) {
        return Ok(None);
    }
    match sys::open_read(&folder, &name) {
        Ok(file) => read_open(file, &path, max).map(Some),
        Err(error) if sys::is_missing(&error) => Ok(None),
        Err(error) => Err(Error::io("read", shown(&path), error)),
    }
}

/// The last bytes of a file, no more than `max`; `None` when it does not exist or is shorter.
pub fn read_end(path: &Path, max: u64) -> Result<Option<Vec<u8>>, Error> {
    let Ok(file) = sys::open_unlinked(path) else {
        return Ok(None);
    };
    let stat = sys::stat(&file).map_err(at("read", named(path)))?;
    let Some(from) = stat.size.checked_sub(max) else {
        return Ok(None);
    };
    if stat.kind != Kind::File {
        return Ok(None);
    }
    let mut file = file.into_file();
    file.seek(SeekFrom::Start(from))
        .map_err(at("read", named(path)))?;
    let mut bytes = vec![0; usize::try_from(max).unwrap_or(usize::MAX)];
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        // Someone made it shorter just now.
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(Error::io("read", shown(path), error)),
    }
}

/// Whether a path leads to something without passing through a link.
pub fn is_plain(path: &Path) -> bool {
    root::is_straight(path) && sys::is_plain(path)
}

fn read_open(file: Handle, path: &Path, max: u64) -> Result<Vec<u8>, Error> {
    let stat = sys::stat(&file).map_err(at("read", named(path)))?;
    if stat.kind != Kind::File {
        let (found, needed) = ("not a regular file", "a file");
        return Err(Error::WrongKind {
            path: shown(path),
            found,
            needed,
        });
    }
    let expected = usize::try_from(stat.size.min(max)).unwrap_or(0);
    // One byte more than there is: a read that comes back with all the others has met the end. A
    // large file is not worth the room.
    let room = if expected < READ_AT_ONCE_BYTES {
        expected.saturating_add(1)
    } else {
        0
    };
    let mut bytes = Vec::with_capacity(room);
    // Whatever goes wrong here is left to the second way, which tries again.
    let found = if room == 0 {
        0
    } else {
        sys::read_once(&file, &mut bytes).unwrap_or(0)
    };
    let file = file.into_file();
    if found != expected || room == 0 {
        // Someone writes it just now, or it is none that knows its length.
        bytes.reserve(expected.saturating_add(1).saturating_sub(found));
        let left = max.saturating_add(1).saturating_sub(found as u64);
        file.take(left)
            .read_to_end(&mut bytes)
            .map_err(at("read", named(path)))?;
    }
    if bytes.len() as u64 > max {
        return Err(Error::TooLarge {
            path: shown(path),
            size: stat.size,
            max,
        });
    }
    Ok(bytes)
}

/// Replaces a file in one step, durably: whoever looks sees the old bytes or the new ones.
///
/// An existing file keeps its mode and owner unless `mode` says otherwise; a new one gets `mode`,
/// or what the user's mask leaves of `rw-rw-rw-`.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<(), Error> {
    write(path, bytes, (mode, true))
}

/// The same without waiting for the disk, for notes that something durable stands behind: after a
/// power failure such a file may be the old one, the new one, or empty.
pub fn write_note(path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<(), Error> {
    write(path, bytes, (mode, false))
}

/// A note that is new as a rule, and that only its owner can read. It is written in its place:
/// whoever reads such notes takes one that is empty or cut off for none.
pub fn write_new_note(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let Ok(mut file) = sys::create_unlinked(path, 0o600).map(Handle::into_file) else {
        return write_note(path, bytes, Some(0o600));
    };
    file.write_all(bytes).map_err(|error| {
        drop(remove_note(path));
        Error::io("write", shown(path), error)
    })
}

fn write(path: &Path, bytes: &[u8], (mode, durably): (Option<u32>, bool)) -> Result<(), Error> {
    let Found {
        path,
        folder,
        name,
        stat,
    } = followed(path)?;
    let present = stat.ok();
    if let Some(stat) = present
        && stat.kind != Kind::File
    {
        let (found, needed) = ("not a regular file", "a file");
        return Err(Error::WrongKind {
            path: shown(&path),
            found,
            needed,
        });
    }
    let temporary = format!(
        ".tagout-{}-{}",
        std::process::id(),
        COUNTER.fetch_add(1, Ordering::Relaxed)
    );
    let temporary = temporary.as_bytes();
    let created = sys::create(&folder, temporary, mode.unwrap_or(0o666));
    let created = created.map_err(at("write", named(&path)))?.into_file();
    let written = (|| {
        (&created).write_all(bytes)?;
        if let Some(stat) = present {
            let fresh = sys::stat(&created)?;
            if (fresh.uid, fresh.gid) != (stat.uid, stat.gid) {
                sys::chown(&created, stat.uid, stat.gid).or_else(forgiven)?;
            }
        }
        if let Some(mode) = mode.or(present.map(|stat| stat.mode)) {
            sys::chmod(&created, mode)?;
        }
        if durably {
            sys::sync_all(&created)?;
        }
        sys::rename((&folder, temporary), (&folder, &name), Rename::Replace)?;
        if durably {
            sys::sync_all(&folder)?;
        }
        Ok(())
    })();
    written.map_err(|error| {
        drop(sys::unlink(&folder, temporary));
        Error::io("write", shown(&path), error)
    })
}

fn forgiven(error: std::io::Error) -> std::io::Result<()> {
    if sys::is_forbidden(&error) {
        Ok(())
    } else {
        Err(error)
    }
}

/// Makes a folder and those above it, as anybody's program would; what is there stays as it is.
pub fn ensure_dir(path: &Path) -> Result<(), Error> {
    make_dir(path, 0o777)
}

/// Makes a folder, and those above it, that only its owner can enter.
pub fn ensure_dir_private(path: &Path) -> Result<(), Error> {
    if let Ok(handle) = sys::open_root(path) {
        let stat = sys::stat(&handle).map_err(at("look at", named(path)))?;
        if stat.mode & 0o077 != 0 {
            sys::chmod(&handle, stat.mode & 0o700).map_err(at("make private", named(path)))?;
        }
        return Ok(());
    }
    make_dir(path, 0o700)
}

/// Makes a folder, in one that exists, that only its owner can enter, for what nobody misses when
/// the machine goes down. That saves waiting for the disk.
pub fn make_scratch_dir(path: &Path) -> Result<(), Error> {
    let (folder, name) = split(path)?;
    sys::mkdir(&folder, &name, 0o700).map_err(at("make the folder", named(path)))
}

fn make_dir(path: &Path, mode: u32) -> Result<(), Error> {
    if sys::open_root(path).is_ok() {
        return Ok(());
    }
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        make_dir(above, mode)?;
    }
    let (folder, name) = split(path)?;
    match sys::mkdir(&folder, &name, mode) {
        Err(error) if !sys::is_taken(&error) => {
            return Err(Error::io("make the folder", shown(path), error));
        }
        Ok(()) | Err(_) => {}
    }
    sys::sync_all(&folder).map_err(at("sync", named(path)))
}

/// Removes the file that a path leads to, through links, durably.
pub fn remove_followed(path: &Path) -> Result<(), Error> {
    remove(&followed(path)?.path)
}

/// Removes a file without waiting for the disk; a file that is not there is not missed.
pub fn remove_note(path: &Path) -> Result<(), Error> {
    let (folder, name) = split(path)?;
    match sys::unlink(&folder, &name) {
        Err(error) if !sys::is_missing(&error) => Err(Error::io("remove", shown(path), error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// When a file was written last, by its own time. Nothing where it can't be looked at.
pub fn written_at(path: &Path) -> Option<Timestamp> {
    let written = std::fs::metadata(path).and_then(|found| found.modified());
    let since = written.ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let millis = i64::try_from(since.as_millis()).ok()?;
    Some(Timestamp::from_millis(millis))
}

/// Removes a file durably; a file that is not there is not missed.
pub fn remove(path: &Path) -> Result<(), Error> {
    let (folder, name) = split(path)?;
    match sys::unlink(&folder, &name) {
        Ok(()) => sys::sync_all(&folder).map_err(at("sync", named(path))),
        Err(error) if sys::is_missing(&error) => Ok(()),
        Err(error) => Err(Error::io("remove", shown(path), error)),
    }
}

/// Makes a new file that only its owner can read. `false` when it is there: of several processes
/// that try, one makes it.
pub fn create_note(path: &Path) -> Result<bool, Error> {
    let (folder, name) = split(path)?;
    match sys::create(&folder, &name, 0o600) {
        Ok(_) => Ok(true),
        Err(error) if sys::is_taken(&error) => Ok(false),
        Err(error) => Err(Error::io("write", shown(path), error)),
    }
}

/// Removes an empty folder durably; a folder that is not there is not missed.
pub fn remove_dir(path: &Path) -> Result<(), Error> {
    let (folder, name) = split(path)?;
    match sys::rmdir(&folder, &name) {
        Ok(()) => sys::sync_all(&folder).map_err(at("sync", named(path))),
        Err(error) if sys::is_missing(&error) => Ok(()),
        Err(error) => Err(Error::io("remove", shown(path), error)),
    }
}

/// Adds whole lines to the end of a file that several processes write to.
///
/// A line that an earlier writer left half-written is ended first, so that it spoils no other.
pub fn append_lines(path: &Path, lines: &[u8]) -> Result<(), Error> {
    let Found {
        path, folder, name, ..
    } = followed(path)?;
    let doing = || at("append to", named(&path));
    let file = sys::open_append(&folder, &name, 0o666).map_err(doing())?;
    wait_for(&file, &path)?;
    let mut file = file.into_file();
    let mut bytes = Vec::with_capacity(lines.len() + 2);
    if !ends_whole(&mut file).map_err(doing())? {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(lines);
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    file.write_all(&bytes).map_err(doing())
}

/// A file of lines that one process adds to. It is locked for as long as that lives, and is about
/// living processes, so that nobody waits for the disk.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: std::fs::File,
    /// Whether the last line may be half there.
    torn: bool,
}

impl Log {
    /// Begins a log that only its owner can read. `None` if someone who cleans up took it for a
    /// dead process's before it was locked.
    pub fn begin(path: &Path) -> Result<Option<Self>, Error> {
        let (folder, name) = split(path)?;
        let file = sys::open_append(&folder, &name, 0o600).map_err(at("write", named(path)))?;
        wait_for(&file, path)?;
        let is_there = sys::stat(&file).map_err(at("look at", named(path)))?.nlink > 0;
        Ok(is_there.then(|| Self {
            path: path.to_owned(),
            file: file.into_file(),
            torn: false,
        }))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a whole line, with its end. One that could be added in part only spoils no other.
    pub fn add(&mut self, line: &[u8]) -> Result<(), Error> {
        let ended: &[u8] = if self.torn { b"\n" } else { b"" };
        let added = self.file.write_all(&[ended, line].concat());
        self.torn = added.is_err();
        added.map_err(at("append to", named(&self.path)))
    }

    /// How long it is.
    pub fn size(&self) -> Result<u64, Error> {
        let doing = || at("look at", shown(&self.path));
        Ok(self.file.metadata().map_err(doing())?.len())
    }

    /// Begins it anew with these lines. Others see the old lines or the new ones, and a lock at any
    /// time.
    pub fn renew(&mut self, lines: &[u8]) -> Result<(), Error> {
        let doing = || at("shorten", shown(&self.path));
        let next = Self::next(&self.path);
        let (folder, name) = split(&self.path)?;
        let (_, next_name) = split(&next)?;
        // One that is left from an attempt that failed is nobody's.
        drop(sys::unlink(&folder, &next_name));
        let file = sys::open_append(&folder, &next_name, 0o600).map_err(doing())?;
        wait_for(&file, &next)?;
        let mut file = file.into_file();
        let renamed = file
            .write_all(lines)
            .and_then(|()| sys::rename((&folder, &next_name), (&folder, &name), Rename::Replace));
        if renamed.is_err() {
            drop(sys::unlink(&folder, &next_name));
        }
        renamed.map_err(doing())?;
        (self.file, self.torn) = (file, false);
        Ok(())
    }

    /// Removes it.
    pub fn remove(&self) -> Result<(), Error> {
        remove_note(&self.path)
    }

    /// Where a log that is begun anew lies until it takes the place of the old one.
    pub fn next(path: &Path) -> PathBuf {
        path.with_extension(NEXT)
    }
}

/// A lock between processes, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: Handle,
}

/// Waits until no other process holds the lock of a file, which is made if it is not there.
pub fn lock(path: &Path) -> Result<Lock, Error> {
    let (folder, name) = split(path)?;
    let file = sys::open_append(&folder, &name, 0o600).map_err(at("lock", named(path)))?;
    wait_for(&file, path)?;
    Ok(Lock { _file: file })
}

fn wait_for(file: &Handle, path: &Path) -> Result<(), Error> {
    let started = Instant::now();
    while !sys::try_lock(file).map_err(at("lock", named(path)))? {
        if started.elapsed() > Duration::from_millis(LOCK_WAIT_MS_MAX) {
            return Err(Error::Locked {
                waited_ms: LOCK_WAIT_MS_MAX,
            });
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}

fn ends_whole(file: &mut File) -> std::io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Replaces a file of the state in one step, without making it durable: for what may be lost.
pub(crate) fn write_lazily(folder: &Handle, name: &[u8], bytes: &[u8]) -> Result<(), Error> {
    let doing = || at("write", "the state folder");
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = format!(".tmp-{}-{count}", std::process::id());
    let temporary = temporary.as_bytes();
    // A name left by a dead process with the same number is nobody's any more.
    drop(sys::unlink(folder, temporary));
    let created = sys::create(folder, temporary, 0o600).map_err(doing())?;
    let written = created
        .into_file()
        .write_all(bytes)
        .and_then(|()| sys::rename((folder, temporary), (folder, name), Rename::Replace));
    written.map_err(|error| {
        drop(sys::unlink(folder, temporary));
        Error::io("write", "the state folder", error)
    })
}
