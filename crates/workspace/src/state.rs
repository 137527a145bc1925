//! The state folder: owner-only, on a local disk, of a format that this program knows.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tagout_vocab::limits::LOCK_WAIT_MS_MAX;
use tagout_vocab::{CallId, Digest};

use crate::error::{Error, at};
use crate::images::Images;
use crate::journal::Journal;
use crate::options::{Options, SyncPoint};
use crate::sys::{self, Handle};

/// The format that this program writes.
pub const STATE_FORMAT: u32 = if cfg!(tagout_next_format) { 3 } else { 2 };

const FOLDERS: [&str; 7] = [
    "journal",
    "images",
    "owners",
    "claims",
    "sessions",
    "snapshots",
    "displaced",
];

/// The open state folder.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) handle: Handle,
    pub(crate) journal: Journal,
    pub(crate) images: Images,
    /// Displaced files until the next checkpoint.
    pub(crate) yard: Handle,
    owners: Handle,
    path: PathBuf,
}

/// A held lock; dropping it lets go.
#[derive(Debug)]
#[must_use = "the lock is let go when this is dropped"]
pub(crate) struct Lock(
    #[expect(
        dead_code,
        reason = "held for its file, whose closing releases the lock"
    )]
    Handle,
);

/// The mark of a living transaction: a locked file that holds its call's name.
///
/// The files are few and stay: making and removing one per transaction would cost more than the
/// transaction, because a file system does not like to use a fresh inode number again.
#[derive(Debug)]
#[must_use = "the transaction counts as dead when this is dropped"]
pub(crate) struct Owner(File);

impl Drop for Owner {
    fn drop(&mut self) {
        // Unlocked it means nobody anyway.
        drop(self.0.set_len(0));
    }
}

/// Transactions that can live at once in one workspace.
const OWNERS_MAX: u64 = 1024;

impl State {
    /// Makes the folder and what belongs into it; what is there stays.
    pub(crate) fn create(path: &Path) -> Result<(), Error> {
        let shown = || path.display().to_string();
        crate::files::ensure_dir_private(path)?;
        let handle = sys::open_root(path).map_err(at("open", shown()))?;
        refuse_network(&handle, path)?;
        for folder in FOLDERS {
            match sys::mkdir(&handle, folder.as_bytes(), 0o700) {
                Err(error) if !sys::is_taken(&error) => {
                    return Err(Error::io("make a folder in", shown(), error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        if sys::stat_at(&handle, b"format").is_err() {
            say_format(path)?;
        }
        sys::sync_all(&handle).map_err(at("sync", shown()))
    }

    pub(crate) fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let shown = || path.display().to_string();
        let handle = match sys::open_root(path) {
            Ok(handle) => handle,
            Err(error) if sys::is_missing(&error) => {
                return Err(Error::StateMissing { path: shown() });
            }
            Err(error) => return Err(Error::io("open", shown(), error)),
        };
        refuse_network(&handle, path)?;
        if check_format(&handle, path)? < STATE_FORMAT {
            // From here on records may be written that an older program would take for torn ones.
            say_format(path)?;
        }
        let folder = |name: &str| match sys::open_dir(&handle, name.as_bytes()) {
            Ok(opened) => Ok(opened),
            Err(error) if sys::is_missing(&error) => Err(Error::StateDamaged {
                path: path.join(name).display().to_string(),
                what: "the folder is missing",
            }),
            Err(error) => Err(Error::io("open", shown(), error)),
        };
        let journal = Journal::new(folder("journal")?, options.skip_sync);
        let durable = options.skip_sync != Some(SyncPoint::Images);
        let images = Images::new(folder("images")?, durable);
        let owners = folder("owners")?;
        let yard = folder("displaced")?;
        let path = path.to_path_buf();
        Ok(Self {
            handle,
            journal,
            images,
            yard,
            owners,
            path,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn folder(&self, name: &str) -> Result<Handle, Error> {
        sys::open_dir(&self.handle, name.as_bytes()).map_err(at("open", name))
    }

    /// Waits, within bounds, until no other process commits or recovers.
    pub(crate) fn lock(&self) -> Result<Lock, Error> {
        let file = sys::open_or_create(&self.handle, b"lock", 0o600).map_err(at("open", "lock"))?;
        let started = Instant::now();
        let mut pause = Duration::from_micros(50);
        while !sys::try_lock(&file).map_err(at("lock", "lock"))? {
            if started.elapsed() > Duration::from_millis(LOCK_WAIT_MS_MAX) {
                return Err(Error::Locked {
                    waited_ms: LOCK_WAIT_MS_MAX,
                });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
        Ok(Lock(file))
    }

    /// Marks a transaction as living.
    pub(crate) fn own(&self, execution: &CallId) -> Result<Owner, Error> {
        let doing = || at("write", "the owners of transactions");
        let name = owner_name(execution);
        let mut patience = 20_u32;
        let mut slot = 0;
        while slot < OWNERS_MAX {
            let place = format!("{slot:04}");
            let handle = sys::open_or_create(&self.owners, place.as_bytes(), 0o600);
            let handle = handle.map_err(doing())?;
            let free = sys::try_lock(&handle).map_err(doing())?;
            let mut file = handle.into_file();
            if free {
                file.set_len(0).map_err(doing())?;
                file.write_all(name.as_bytes()).map_err(doing())?;
                return Ok(Owner(file));
            }
            if holder(&mut file).map_err(doing())? != name {
                slot += 1;
            } else if patience > 0 {
                // Someone may only be looking whether the last owner of this name still lives.
                patience -= 1;
                std::thread::sleep(Duration::from_micros(200));
            } else {
                let path = format!("the call `{execution}`");
                return Err(Error::conflict(path, crate::error::Clash::HeldOpen));
            }
        }
        let (what, max) = ("transactions at once", 1024);
        Err(Error::TooMany { what, max })
    }

    /// The owners whose processes still live.
    pub(crate) fn living(&self) -> Result<BTreeSet<String>, Error> {
        let doing = || at("read", "the owners of transactions");
        let mut living = BTreeSet::new();
        for name in sys::names(&self.owners).map_err(doing())? {
            let handle = sys::open_read(&self.owners, &name).map_err(doing())?;
            if !sys::try_lock(&handle).map_err(doing())? {
                living.insert(holder(&mut handle.into_file()).map_err(doing())?);
            }
        }
        Ok(living)
    }
}

fn holder(file: &mut File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(256).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A file name for a call, whatever its id holds.
pub(crate) fn owner_name(execution: &CallId) -> String {
    Digest::of(execution.as_str().as_bytes())
        .hex()
        .chars()
        .take(32)
        .collect()
}

fn say_format(path: &Path) -> Result<(), Error> {
    let text = format!("{{\"reader\":{STATE_FORMAT},\"writer\":{STATE_FORMAT}}}\n");
    crate::files::write_atomic(&path.join("format"), text.as_bytes(), Some(0o600))
}

/// The format that a state has, if this program knows it.
fn check_format(handle: &Handle, path: &Path) -> Result<u32, Error> {
    let shown = path.join("format").display().to_string();
    let damaged = || Error::StateDamaged {
        path: shown.clone(),
        what: "it does not say its format",
    };
    let opened = match sys::open_read(handle, b"format") {
        Ok(opened) => opened,
        Err(error) if sys::is_missing(&error) => return Err(damaged()),
        Err(error) => return Err(Error::io("read", shown, error)),
    };
    let mut text = String::new();
    let mut limited = opened.into_file().take(4096);
    limited
        .read_to_string(&mut text)
        .map_err(at("read", shown.clone()))?;
    let number = |key: &str| -> Option<u32> {
        let (_, rest) = text.split_once(&format!("\"{key}\":"))?;
        let digits: String = rest
            .trim_start()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse().ok()
    };
    let (reader, writer) = (
        number("reader").ok_or_else(damaged)?,
        number("writer").ok_or_else(damaged)?,
    );
    let needed = reader.max(writer);
    if needed > STATE_FORMAT {
        let path = path.display().to_string();
        return Err(Error::StateNewer {
            path,
            needed,
            known: STATE_FORMAT,
        });
    }
    Ok(needed)
}

fn refuse_network(handle: &Handle, path: &Path) -> Result<(), Error> {
    let shown = path.display().to_string();
    let number = sys::file_system(handle).map_err(at("look at", shown.clone()))?;
    network_kind(number).map_or(Ok(()), |kind| {
        Err(Error::StateOnNetwork { path: shown, kind })
    })
}

/// The name of a file system that reaches over a network, or may, by the kernel's number for it.
pub(crate) fn network_kind(number: u64) -> Option<&'static str> {
    const KINDS: [(u64, &str); 13] = [
        (0x6969, "NFS, a network file system"),
        (0x517b, "SMB, a network file system"),
        (0xfe53_4d42, "SMB2, a network file system"),
        (0xff53_4d42, "CIFS, a network file system"),
        (0x5346_414f, "AFS, a network file system"),
        (0x7375_7245, "Coda, a network file system"),
        (0x0102_1997, "9P, a network file system"),
        (0x00c3_6400, "Ceph, a network file system"),
        (0x0116_1970, "GFS2, a shared file system"),
        (0x0bd0_0bd0, "Lustre, a network file system"),
        (0x7461_636f, "OCFS2, a shared file system"),
        (0x4750_4653, "GPFS, a network file system"),
        (0x6573_5546, "FUSE, which may be a network file system"),
    ];
    KINDS
        .iter()
        .find(|(known, _)| *known == number)
        .map(|(_, kind)| *kind)
}
