//! The system calls that reading and moving layers stands on: each goes through a folder's handle
//! and follows no link.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, ResolveFlags, Timespec, Timestamps,
    UTIME_OMIT, Uid, XattrFlags,
};
use rustix::io::Errno;

use super::{Attribute, LayerError, Time};

/// What a name stands for in a layer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Type {
    File,
    Folder,
    Symlink,
    Pipe,
    Socket,
    Device,
    /// The mark of a deletion: a character device with the number zero.
    Whiteout,
}

/// What the kernel says of one name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stat {
    pub kind: Type,
    pub dev: u64,
    pub ino: u64,
    pub nlink: u64,
    pub bytes: u64,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub mtime: Time,
}

pub(super) fn shown(path: &[u8]) -> String {
    if path.is_empty() {
        return ".".to_owned();
    }
    String::from_utf8_lossy(path).chars().take(200).collect()
}

/// The error of a failed system call on a path, for `map_err`.
pub(super) fn at(doing: &'static str, path: &[u8]) -> impl FnOnce(io::Error) -> LayerError {
    let path = shown(path);
    move |source| LayerError::Io {
        doing,
        path,
        source,
    }
}

fn name(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

pub(super) fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Opens a folder by its absolute path.
pub(super) fn open_root(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn beneath(root: &OwnedFd, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let path = if path.is_empty() { b"." } else { path };
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    loop {
        match rustix::fs::openat2(root, name(path), flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(fd) => return Ok(fd),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Opens a folder beneath another.
pub(super) fn open_dir(root: &OwnedFd, path: &[u8]) -> io::Result<OwnedFd> {
    beneath(root, path, OFlags::RDONLY | OFlags::DIRECTORY)
}

/// Opens a folder of a layer of our own, also one that was closed to its owner.
pub(super) fn open_own_dir(root: &OwnedFd, path: &[u8]) -> io::Result<OwnedFd> {
    opened_up(root, path, 0o700, open_dir)
}

/// Opens a file of a layer of our own for reading, also one that was closed to its owner.
pub(super) fn open_own_file(root: &OwnedFd, path: &[u8]) -> io::Result<File> {
    opened_up(root, path, 0o400, open_file)
}

/// Opens a file for reading.
pub(super) fn open_file(root: &OwnedFd, path: &[u8]) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    beneath(root, path, flags).map(File::from)
}

/// Runs an opening; where the mode forbids it, with the mode widened for that moment.
fn opened_up<T>(
    root: &OwnedFd,
    path: &[u8],
    needed: u32,
    open: impl Fn(&OwnedFd, &[u8]) -> io::Result<T>,
) -> io::Result<T> {
    let first = match open(root, path) {
        Err(error) if error.raw_os_error() == Some(Errno::ACCESS.raw_os_error()) => error,
        other => return other,
    };
    let Ok(stat) = stat_at(root, path) else {
        return Err(first);
    };
    chmod_at(root, path, stat.mode | needed)?;
    let opened = open(root, path);
    chmod_at(root, path, stat.mode)?;
    opened
}

fn chmod_at(root: &OwnedFd, path: &[u8], mode: u32) -> io::Result<()> {
    let mode = Mode::from_raw_mode(mode);
    Ok(rustix::fs::chmodat(
        root,
        name(path),
        mode,
        AtFlags::empty(),
    )?)
}

fn stat_of(stat: &rustix::fs::Stat) -> Stat {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Type::File,
        FileType::Directory => Type::Folder,
        FileType::Symlink => Type::Symlink,
        FileType::Fifo => Type::Pipe,
        FileType::Socket => Type::Socket,
        FileType::CharacterDevice if stat.st_rdev == 0 => Type::Whiteout,
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Type::Device,
    };
    Stat {
        kind,
        dev: stat.st_dev,
        ino: stat.st_ino,
        nlink: widened(stat.st_nlink),
        bytes: u64::try_from(stat.st_size).unwrap_or(0),
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        mtime: Time {
            seconds: stat.st_mtime,
            nanos: i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
        },
    }
}

/// The number of names has another width on each processor.
fn widened(count: impl Into<u64>) -> u64 {
    count.into()
}

pub(super) fn stat(file: &OwnedFd) -> io::Result<Stat> {
    Ok(stat_of(&rustix::fs::fstat(file)?))
}

/// What a name in a folder is, itself and not what it points to.
pub(super) fn stat_at(dir: &OwnedFd, file: &[u8]) -> io::Result<Stat> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    Ok(stat_of(&rustix::fs::statat(dir, name(file), flags)?))
}

/// The same, `None` when nothing is there.
pub(super) fn stat_if(dir: &OwnedFd, file: &[u8]) -> io::Result<Option<Stat>> {
    match stat_at(dir, file) {
        Ok(stat) => Ok(Some(stat)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn is_missing(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::NOENT.raw_os_error())
}

/// The names in a folder, sorted.
pub(super) fn names(dir: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for entry in rustix::fs::Dir::read_from(dir)? {
        let entry = entry?;
        let bytes = entry.file_name().to_bytes();
        if bytes != b"." && bytes != b".." {
            found.push(bytes.to_vec());
        }
    }
    found.sort();
    Ok(found)
}

pub(super) fn readlink(dir: &OwnedFd, link: &[u8]) -> io::Result<Vec<u8>> {
    Ok(rustix::fs::readlinkat(dir, name(link), Vec::new())?.into_bytes())
}

pub(super) fn mkdir(dir: &OwnedFd, folder: &[u8], mode: u32) -> io::Result<()> {
    Ok(rustix::fs::mkdirat(
        dir,
        name(folder),
        Mode::from_raw_mode(mode),
    )?)
}

/// What an overlay takes for «nothing is here»; every user may make it.
pub(super) fn whiteout(dir: &OwnedFd, file: &[u8]) -> io::Result<()> {
    let (kind, mode) = (FileType::CharacterDevice, Mode::empty());
    Ok(rustix::fs::mknodat(dir, name(file), kind, mode, 0)?)
}

pub(super) fn symlink(dir: &OwnedFd, link: &[u8], target: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::symlinkat(name(target), dir, name(link))?)
}

pub(super) fn unlink(dir: &OwnedFd, file: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(dir, name(file), AtFlags::empty())?)
}

pub(super) fn rmdir(dir: &OwnedFd, folder: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(dir, name(folder), AtFlags::REMOVEDIR)?)
}

/// Gives a file another place; whatever file is there goes.
pub(super) fn rename(from: (&OwnedFd, &[u8]), to: (&OwnedFd, &[u8])) -> io::Result<()> {
    let flags = RenameFlags::empty();
    Ok(rustix::fs::renameat_with(
        from.0,
        name(from.1),
        to.0,
        name(to.1),
        flags,
    )?)
}

pub(super) fn chmod(file: &OwnedFd, mode: u32) -> io::Result<()> {
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
}

/// Sets the owner where this user may.
pub(super) fn chown(file: &OwnedFd, uid: u32, gid: u32) -> io::Result<()> {
    match rustix::fs::fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))) {
        Ok(()) | Err(Errno::PERM) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

pub(super) fn set_mtime(file: &OwnedFd, mtime: Time) -> io::Result<()> {
    let times = Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: mtime.seconds,
            tv_nsec: mtime.nanos,
        },
    };
    Ok(rustix::fs::futimens(file, &times)?)
}

fn sized(query: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 512];
    loop {
        match query(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < 1 << 20 => buffer.resize(buffer.len() * 4, 0),
            Err(errno) => return Err(errno),
        }
    }
}

/// The extended attributes of an open file, sorted by name; none where there are none.
pub(super) fn xattrs(file: &impl std::os::fd::AsFd) -> io::Result<Vec<Attribute>> {
    let listed = match sized(|buffer| rustix::fs::flistxattr(file, buffer)) {
        Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
        other => other?,
    };
    let mut found = Vec::new();
    for attribute in listed
        .split(|byte| *byte == 0)
        .filter(|one| !one.is_empty())
    {
        match sized(|buffer| rustix::fs::fgetxattr(file, name(attribute), buffer)) {
            Ok(value) => found.push((attribute.to_vec(), value)),
            Err(Errno::NODATA | Errno::PERM | Errno::ACCESS | Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    found.sort();
    Ok(found)
}

/// Gives a folder exactly these attributes; what only the system may set stays.
pub(super) fn set_xattrs(file: &OwnedFd, wanted: &[Attribute]) -> io::Result<()> {
    let present = xattrs(file)?;
    for (gone, _) in present
        .iter()
        .filter(|(one, _)| !wanted.iter().any(|(other, _)| other == one))
    {
        lenient(gone, rustix::fs::fremovexattr(file, name(gone)))?;
    }
    for (attribute, value) in wanted.iter().filter(|one| !present.contains(one)) {
        let set = rustix::fs::fsetxattr(file, name(attribute), value, XattrFlags::empty());
        lenient(attribute, set)?;
    }
    Ok(())
}

fn lenient(attribute: &[u8], result: Result<(), Errno>) -> io::Result<()> {
    match result {
        Err(Errno::PERM | Errno::ACCESS | Errno::OPNOTSUPP) if !attribute.starts_with(b"user.") => {
            Ok(())
        }
        other => Ok(other?),
    }
}

/// Writes a small file.
pub(super) fn write(dir: &OwnedFd, file: &[u8], bytes: &[u8]) -> io::Result<()> {
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(dir, name(file), flags, Mode::from_raw_mode(0o600))?;
    io::Write::write_all(&mut File::from(opened), bytes)
}

/// Copies a file in pieces, and one byte more than it may have at most. Gives back how many.
pub(super) fn copy(dir: &OwnedFd, file: &[u8], (from, max): (&File, u64)) -> io::Result<u64> {
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if from.metadata()?.len() > max {
        return Ok(max.saturating_add(1));
    }
    let opened = rustix::fs::openat(dir, name(file), flags, Mode::from_raw_mode(0o600))?;
    let mut limited = io::Read::take(from, max.saturating_add(1));
    io::copy(&mut limited, &mut File::from(opened))
}

/// Takes the lock of a file, and waits for it.
pub(super) fn lock(dir: &OwnedFd, file: &[u8]) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(dir, name(file), flags, Mode::from_raw_mode(0o600))?;
    rustix::fs::flock(&opened, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(opened)
}

/// How many folders deep a removal goes before it lifts what lies deeper.
const LIFT_DEPTH: usize = 64;

/// Removes a tree under a name of a folder, also what was closed to its owner; what is not there is
/// not missed.
///
/// What lies very deep is lifted beside the tree and removed from there: a program can nest folders
/// deeper than this one has descriptors.
pub(super) fn remove_tree(dir: &OwnedFd, file: &[u8]) -> io::Result<()> {
    let mut lifted = Vec::new();
    remove_at((dir, file), dir, (0, &mut lifted))?;
    while let Some(next) = lifted.pop() {
        remove_at((dir, &next), dir, (0, &mut lifted))?;
    }
    Ok(())
}

fn remove_at(
    (dir, file): (&OwnedFd, &[u8]),
    base: &OwnedFd,
    (depth, lifted): (usize, &mut Vec<Vec<u8>>),
) -> io::Result<()> {
    match unlink(dir, file) {
        Ok(()) => return Ok(()),
        Err(error) if is_missing(&error) => return Ok(()),
        Err(error) => {
            if stat_at(dir, file)?.kind != Type::Folder {
                return Err(error);
            }
        }
    }
    // An overlay leaves a folder that nobody may enter in its work folder.
    let opened = open_own_dir(dir, file)?;
    chmod(&opened, 0o700)?;
    if depth >= LIFT_DEPTH {
        let free = format!(".lifted-{}", stat(&opened)?.ino).into_bytes();
        rename((dir, file), (base, &free))?;
        lifted.push(free);
        return Ok(());
    }
    for inner in names(&opened)? {
        remove_at((&opened, &inner), base, (depth + 1, &mut *lifted))?;
    }
    match rmdir(dir, file) {
        Err(error) if is_missing(&error) => Ok(()),
        other => other,
    }
}
