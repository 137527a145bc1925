//! The folder: owner-only files, durable replacement, and file systems that can't be trusted.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::error::{At as _, LedgerError};

/// What small files hold at most as a rule: so much is read at once.
pub(crate) const SMALL_FILE_BYTES: usize = 1024;

/// Whether a replaced file must survive a power loss.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Sync {
    /// Its bytes are on the disk before it takes its place.
    Yes,
    /// It can be rebuilt.
    No,
}

/// Creates a folder that only its owner can enter.
pub(crate) fn create_folder(path: &Path) -> Result<(), LedgerError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(path).at("create", path)
}

/// Options for a file that only its owner can read.
pub(crate) fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<(), LedgerError> {
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .at("sync", path)
}

/// Replaces a file as a whole.
pub(crate) fn replace(path: &Path, bytes: &[u8], sync: Sync) -> Result<(), LedgerError> {
    let temporary = path.with_extension(format!("tmp{}", std::process::id()));
    let mut file = owner_only()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&temporary)
        .at("create", &temporary)?;
    let written = file.write_all(bytes).and_then(|()| match sync {
        Sync::Yes => file.sync_all(),
        Sync::No => Ok(()),
    });
    let placed = written.and_then(|()| fs::rename(&temporary, path));
    if placed.is_err() {
        // What is left of a failed attempt helps nobody; the first error is the one to tell.
        fs::remove_file(&temporary).unwrap_or_default();
    }
    placed.at("write", path)
}

/// Which file it is, for as long as it is open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct FileId {
    dev: u64,
    ino: u64,
}

impl FileId {
    pub(crate) fn of(found: &fs::Metadata) -> Self {
        Self {
            dev: found.dev(),
            ino: found.ino(),
        }
    }
}

/// How long the file is that is open, if its path still names it and not another one or none.
pub(crate) fn still_named(path: &Path, open: FileId) -> Result<Option<u64>, LedgerError> {
    match fs::symlink_metadata(path) {
        Ok(named) => Ok((FileId::of(&named) == open).then_some(named.len())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LedgerError::io("look at", path, error)),
    }
}

/// Refuses a folder that is missing, that others can enter, or that lies on another machine.
pub(crate) fn check_folder(path: &Path) -> Result<(), LedgerError> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(LedgerError::MissingFolder {
                path: path.to_owned(),
            });
        }
        Err(error) => return Err(LedgerError::io("open", path, error)),
    };
    if !found.is_dir() {
        return Err(LedgerError::NotALedger {
            path: path.to_owned(),
            detail: "it is not a folder".to_owned(),
        });
    }
    if found.mode() & 0o077 != 0 {
        return Err(LedgerError::Exposed {
            path: path.to_owned(),
        });
    }
    match file_system_of(path)? {
        None => Ok(()),
        Some(NetworkFileSystem { name }) => Err(LedgerError::NetworkFileSystem {
            path: path.to_owned(),
            name,
        }),
    }
}

/// A file system whose locks and syncs are not those of this machine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NetworkFileSystem {
    /// Its name.
    pub name: String,
}

const FUSE: u64 = 0x6573_5546;

/// Numbers that `statfs` gives for file systems that live elsewhere.
const REMOTE: [(u64, &str); 18] = [
    (0x6969, "nfs"),
    (0x517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x0102_1997, "9p"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "afs"),
    (0x7375_7245, "coda"),
    (0x564c, "ncp"),
    (0x00c3_6400, "ceph"),
    (0x0bd0_0bd0, "lustre"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
    (0x4750_4653, "gpfs"),
    (0x786f_4256, "vboxsf"),
    (0xbacb_acbc, "vmhgfs"),
    (0x0131_11a8, "ibrix"),
    (0xaad7_aaea, "panfs"),
];

/// File systems in user space that keep their bytes on this machine.
const LOCAL_FUSE: [&str; 8] = [
    "fuseblk",
    "fuse.fuse-overlayfs",
    "fuse.gocryptfs",
    "fuse.encfs",
    "fuse.cryfs",
    "fuse.bindfs",
    "fuse.mergerfs",
    "fuse.squashfuse",
];

/// Whether a file system lives elsewhere, by its `statfs` number and its name in the mount table.
///
/// All file systems in user space share one number; one whose name is not known as local counts as
/// remote.
pub fn network_file_system(magic: u64, name: Option<&str>) -> Option<NetworkFileSystem> {
    // Some systems sign-extend the 32 bits.
    let magic = magic & 0xffff_ffff;
    if let Some((_, name)) = REMOTE.iter().find(|(number, _)| *number == magic) {
        return Some(NetworkFileSystem {
            name: (*name).to_owned(),
        });
    }
    if magic != FUSE || name.is_some_and(|name| LOCAL_FUSE.contains(&name)) {
        return None;
    }
    Some(NetworkFileSystem {
        name: name.unwrap_or("fuse").to_owned(),
    })
}

fn file_system_of(path: &Path) -> Result<Option<NetworkFileSystem>, LedgerError> {
    let found = rustix::fs::statfs(path).at("look at the file system of", path)?;
    let magic = u64::try_from(found.f_type).unwrap_or(u64::MAX);
    if magic != FUSE {
        return Ok(network_file_system(magic, None));
    }
    let device = fs::metadata(path).at("open", path)?.dev();
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    Ok(network_file_system(magic, mounted_as(&table, device)))
}

/// The name of a device's file system in the text of a mount table.
fn mounted_as(table: &str, device: u64) -> Option<&str> {
    let number = format!(
        "{}:{}",
        rustix::fs::major(device),
        rustix::fs::minor(device)
    );
    table
        .lines()
        .find(|line| line.split(' ').nth(2) == Some(&number))
        .and_then(|line| line.split_once(" - "))
        .and_then(|(_, after)| after.split(' ').next())
}

#[cfg(test)]
mod tests;
