//! Linux: every call goes through a directory handle and follows no symbolic link.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use rustix::fs::{
    Access, AtFlags, FileType, FlockOperation, Gid, Mode, OFlags, RenameFlags, ResolveFlags,
    SeekFrom, Timespec, Timestamps, UTIME_OMIT, Uid, XattrFlags,
};

use super::{FileTime, Kind, Rename, Stat};

/// An open file or folder.
#[derive(Debug)]
pub(crate) struct Handle(OwnedFd);

impl AsFd for Handle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Handle {
    /// The same open file as the standard library's type.
    pub(crate) fn into_file(self) -> File {
        File::from(self.0)
    }

    /// Another handle on the same open file.
    pub(crate) fn duplicate(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }
}

fn name(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// The path of some bytes.
pub(crate) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The bytes of a path.
pub(crate) fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Opens a folder by its absolute path; the only place where links may be followed.
pub(crate) fn open_root(path: &Path) -> io::Result<Handle> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(Handle(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Opens a file for reading by its path. A link as the last part is an error; folders on the way
/// may be links.
pub(crate) fn open_unlinked(path: &Path) -> io::Result<Handle> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(Handle(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Makes a file that was not there.
pub(crate) fn create_unlinked(path: &Path, mode: u32) -> io::Result<Handle> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode);
    Ok(Handle(rustix::fs::open(path, flags, mode)?))
}

/// Whether a path leads to something without passing through a link.
pub(crate) fn is_plain(path: &Path) -> bool {
    plainly(path, OFlags::PATH).is_ok()
}

/// Opens a folder whose path passes through no link.
pub(crate) fn open_root_unlinked(path: &Path) -> io::Result<Handle> {
    plainly(path, OFlags::RDONLY | OFlags::DIRECTORY)
}

fn plainly(path: &Path, flags: OFlags) -> io::Result<Handle> {
    let (flags, at) = (flags | OFlags::CLOEXEC, rustix::fs::CWD);
    let resolve = ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let opened = rustix::fs::openat2(at, path, flags, Mode::empty(), resolve)?;
    Ok(Handle(opened))
}

fn beneath(root: &Handle, path: &[u8], flags: OFlags) -> io::Result<Handle> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let path = if path.is_empty() { b"." } else { path };
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    loop {
        // The kernel says «again» when a folder moved while it was looking.
        match rustix::fs::openat2(root, name(path), flags, Mode::empty(), resolve) {
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Ok(fd) => return Ok(Handle(fd)),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Opens a folder beneath another without following any link.
pub(crate) fn open_dir(root: &Handle, path: &[u8]) -> io::Result<Handle> {
    beneath(root, path, OFlags::RDONLY | OFlags::DIRECTORY)
}

/// Opens a file for reading. A pipe or device is not waited for.
pub(crate) fn open_read(root: &Handle, path: &[u8]) -> io::Result<Handle> {
    beneath(
        root,
        path,
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY,
    )
}

/// Opens a file for reading and writing. A pipe or device is not waited for.
pub(crate) fn open_write(root: &Handle, path: &[u8]) -> io::Result<Handle> {
    beneath(root, path, OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// Creates a file that must not exist yet, for reading and writing.
pub(crate) fn create(dir: &Handle, file: &[u8], mode: u32) -> io::Result<Handle> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode);
    Ok(Handle(rustix::fs::openat(dir, name(file), flags, mode)?))
}

/// Opens a file for reading and writing, creating it if need be.
pub(crate) fn open_or_create(dir: &Handle, file: &[u8], mode: u32) -> io::Result<Handle> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode);
    Ok(Handle(rustix::fs::openat(dir, name(file), flags, mode)?))
}

/// Opens a file for reading and for adding to its end, creating it if need be.
pub(crate) fn open_append(dir: &Handle, file: &[u8], mode: u32) -> io::Result<Handle> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode);
    Ok(Handle(rustix::fs::openat(dir, name(file), flags, mode)?))
}

fn kind_of(mode: u32) -> Kind {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Dir,
        FileType::Symlink => Kind::Symlink,
        FileType::Fifo => Kind::Fifo,
        FileType::Socket => Kind::Socket,
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Kind::Device,
    }
}

fn stat_of(stat: &rustix::fs::Stat) -> Stat {
    let nanos = |nanos| i64::try_from(nanos).unwrap_or(0);
    Stat {
        kind: kind_of(stat.st_mode),
        dev: stat.st_dev,
        ino: stat.st_ino,
        nlink: widened(stat.st_nlink),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        mtime: FileTime {
            seconds: stat.st_mtime,
            nanos: nanos(stat.st_mtime_nsec),
        },
        ctime: FileTime {
            seconds: stat.st_ctime,
            nanos: nanos(stat.st_ctime_nsec),
        },
    }
}

/// The number of names has another width on each processor.
fn widened(count: impl Into<u64>) -> u64 {
    count.into()
}

/// What an open file is.
pub(crate) fn stat(file: &impl AsFd) -> io::Result<Stat> {
    Ok(stat_of(&rustix::fs::fstat(file)?))
}

/// What a name in a folder is, itself and not what it points to.
pub(crate) fn stat_at(dir: &Handle, file: &[u8]) -> io::Result<Stat> {
    Ok(stat_of(&rustix::fs::statat(
        dir,
        name(file),
        AtFlags::SYMLINK_NOFOLLOW,
    )?))
}

/// The names in a folder, in no order.
pub(crate) fn names(dir: &Handle) -> io::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for entry in rustix::fs::Dir::read_from(dir)? {
        let entry = entry?;
        let bytes = entry.file_name().to_bytes();
        if bytes != b"." && bytes != b".." {
            found.push(bytes.to_vec());
        }
    }
    Ok(found)
}

/// Gives a file in one folder another name in the same or another folder.
pub(crate) fn rename(from: (&Handle, &[u8]), to: (&Handle, &[u8]), how: Rename) -> io::Result<()> {
    let flags = match how {
        Rename::NoReplace => RenameFlags::NOREPLACE,
        Rename::Exchange => RenameFlags::EXCHANGE,
        Rename::Replace => RenameFlags::empty(),
    };
    Ok(rustix::fs::renameat_with(
        from.0,
        name(from.1),
        to.0,
        name(to.1),
        flags,
    )?)
}

/// Makes a folder.
pub(crate) fn mkdir(dir: &Handle, folder: &[u8], mode: u32) -> io::Result<()> {
    Ok(rustix::fs::mkdirat(
        dir,
        name(folder),
        Mode::from_raw_mode(mode),
    )?)
}

/// Removes a name that is not a folder.
pub(crate) fn unlink(dir: &Handle, file: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(dir, name(file), AtFlags::empty())?)
}

/// Removes an empty folder.
pub(crate) fn rmdir(dir: &Handle, folder: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(dir, name(folder), AtFlags::REMOVEDIR)?)
}

/// Makes a symbolic link.
pub(crate) fn symlink(dir: &Handle, link: &[u8], target: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::symlinkat(name(target), dir, name(link))?)
}

/// Makes a named pipe or a socket that nobody listens on, with exactly these permission bits.
pub(crate) fn special(dir: &Handle, file: &[u8], kind: Kind, mode: u32) -> io::Result<()> {
    let kind = match kind {
        Kind::Fifo => FileType::Fifo,
        Kind::Socket => FileType::Socket,
        Kind::File | Kind::Dir | Kind::Symlink | Kind::Device => {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
    };
    let mode = Mode::from_raw_mode(mode);
    rustix::fs::mknodat(dir, name(file), kind, mode, 0)?;
    Ok(rustix::fs::chmodat(
        dir,
        name(file),
        mode,
        AtFlags::empty(),
    )?)
}

/// A file without a name on the file system of a folder, for as long as it is open.
pub(crate) fn nameless(dir: &Handle) -> io::Result<Handle> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o600);
    Ok(Handle(rustix::fs::openat(dir, ".", flags, mode)?))
}

/// Where a symbolic link points.
pub(crate) fn readlink(dir: &Handle, link: &[u8]) -> io::Result<Vec<u8>> {
    Ok(rustix::fs::readlinkat(dir, name(link), Vec::new())?.into_bytes())
}

/// Gives a file a second name.
pub(crate) fn link(from: (&Handle, &[u8]), to: (&Handle, &[u8])) -> io::Result<()> {
    Ok(rustix::fs::linkat(
        from.0,
        name(from.1),
        to.0,
        name(to.1),
        AtFlags::empty(),
    )?)
}

/// Sets the permission bits.
pub(crate) fn chmod(file: &impl AsFd, mode: u32) -> io::Result<()> {
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
}

/// Sets owner and group.
pub(crate) fn chown(file: &impl AsFd, uid: u32, gid: u32) -> io::Result<()> {
    Ok(rustix::fs::fchown(
        file,
        Some(Uid::from_raw(uid)),
        Some(Gid::from_raw(gid)),
    )?)
}

/// Sets owner and group of a name, itself and not what it points to.
pub(crate) fn chown_at(dir: &Handle, file: &[u8], owner: (u32, u32)) -> io::Result<()> {
    let (uid, gid) = (Some(Uid::from_raw(owner.0)), Some(Gid::from_raw(owner.1)));
    Ok(rustix::fs::chownat(
        dir,
        name(file),
        uid,
        gid,
        AtFlags::SYMLINK_NOFOLLOW,
    )?)
}

fn modified(mtime: FileTime) -> Timestamps {
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: mtime.seconds,
            tv_nsec: mtime.nanos,
        },
    }
}

/// Sets the time of the last change; the time of the last reading stays.
pub(crate) fn set_mtime(file: &Handle, mtime: FileTime) -> io::Result<()> {
    Ok(rustix::fs::futimens(file, &modified(mtime))?)
}

/// The same of a name, itself and not what it points to.
pub(crate) fn set_mtime_at(dir: &Handle, file: &[u8], mtime: FileTime) -> io::Result<()> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    Ok(rustix::fs::utimensat(
        dir,
        name(file),
        &modified(mtime),
        flags,
    )?)
}

fn sized<E>(
    query: impl Fn(&mut [u8]) -> Result<usize, E>,
    too_small: impl Fn(&E) -> bool,
) -> Result<Vec<u8>, E> {
    let mut buffer = vec![0; 512];
    loop {
        match query(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(errno) if too_small(&errno) && buffer.len() < 1 << 20 => {
                buffer.resize(buffer.len() * 4, 0);
            }
            Err(errno) => return Err(errno),
        }
    }
}

/// The extended attributes of an open file, access lists among them; none where there are none.
pub(crate) fn xattrs(file: &Handle) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    use rustix::io::Errno;
    let listed = sized(
        |buffer| rustix::fs::flistxattr(file, buffer),
        |e| *e == Errno::RANGE,
    );
    let listed = match listed {
        Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
        other => other?,
    };
    let mut found = Vec::new();
    for attribute in listed
        .split(|byte| *byte == 0)
        .filter(|one| !one.is_empty())
    {
        let value = sized(
            |buffer| rustix::fs::fgetxattr(file, name(attribute), buffer),
            |e| *e == Errno::RANGE,
        );
        match value {
            Ok(value) => found.push((attribute.to_vec(), value)),
            // Removed in between, or not for this user to see.
            Err(Errno::NODATA | Errno::PERM | Errno::ACCESS | Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    found.sort();
    Ok(found)
}

/// Sets one extended attribute.
pub(crate) fn set_xattr(file: &Handle, attribute: &[u8], value: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::fsetxattr(
        file,
        name(attribute),
        value,
        XattrFlags::empty(),
    )?)
}

/// Removes one extended attribute.
pub(crate) fn remove_xattr(file: &Handle, attribute: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::fremovexattr(file, name(attribute))?)
}

/// Writes all bytes at the file's position.
pub(crate) fn write_all(file: &Handle, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero)),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Writes all bytes from an offset on; the file's position stays.
pub(crate) fn write_all_at(file: &Handle, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::pwrite(file, bytes, at) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero)),
            Ok(count) => {
                bytes = bytes.get(count..).unwrap_or_default();
                at += count as u64;
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Reads a file from its start until its end or until so many bytes; its position stays.
pub(crate) fn read_front(file: &Handle, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; bytes_max];
    let mut length = 0;
    while let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match rustix::io::pread(file, rest, length as u64) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    buffer.truncate(length);
    Ok(buffer)
}

/// Cuts a file off or lengthens it by zeros.
pub(crate) fn set_len(file: &Handle, size: u64) -> io::Result<()> {
    Ok(rustix::fs::ftruncate(file, size)?)
}

/// Gives back every block of a file, which then reads as zeros of the same length. Answers whether
/// none is left.
pub(crate) fn hollow(file: &Handle, size: u64) -> io::Result<bool> {
    use rustix::fs::FallocateFlags;
    if size == 0 {
        return Ok(true);
    }
    // Up to the end of the file and no further, the last block would be kept and only zeroed.
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(file, flags, 0, size.saturating_add(1 << 20))?;
    match rustix::fs::seek(file, SeekFrom::Data(0)) {
        Err(rustix::io::Errno::NXIO) => Ok(true),
        Ok(_) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether a folder lies on a file system on which it pays to fill a file again, and where giving
/// back its blocks waits for nothing.
///
/// ext4 searches long for a new file where many were removed. XFS and btrfs do not, and write out
/// what is to be given back before they do.
pub(crate) fn fills_again(dir: &Handle) -> bool {
    const EXT: u64 = 0xef53;
    const TMPFS: u64 = 0x0102_1994;
    file_system(dir).is_ok_and(|number| [EXT, TMPFS].contains(&number))
}

/// Takes an advisory lock without waiting; whether it was free.
pub(crate) fn try_lock(file: &impl AsFd) -> io::Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Makes everything on the file system of a handle durable.
pub(crate) fn sync_system(handle: &impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::syncfs(handle)?)
}

/// Makes the bytes of a file durable.
pub(crate) fn sync_data(file: &impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::fdatasync(file)?)
}

/// Reads once, as much as the buffer has room for, behind what it holds.
pub(crate) fn read_once(file: &impl AsFd, bytes: &mut Vec<u8>) -> io::Result<usize> {
    Ok(rustix::io::read(
        file,
        rustix::buffer::spare_capacity(bytes),
    )?)
}

/// Reads into the room that is left, from a place in the file.
pub(crate) fn read_once_at(file: &impl AsFd, bytes: &mut Vec<u8>, at: u64) -> io::Result<usize> {
    let room = rustix::buffer::spare_capacity(bytes);
    Ok(rustix::io::pread(file, room, at)?)
}

/// Makes a file or folder durable with all that belongs to it.
pub(crate) fn sync_all(file: &impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::fsync(file)?)
}

/// Lets `to` share the blocks of `from`; fails where the file system can't.
pub(crate) fn clone_file(from: &File, to: &File) -> io::Result<()> {
    Ok(rustix::fs::ioctl_ficlone(to, from)?)
}

/// The next range of a file that holds bytes, from an offset on; `None` when only holes follow.
pub(crate) fn next_data(file: &File, from: u64) -> io::Result<Option<(u64, u64)>> {
    match rustix::fs::seek(file, SeekFrom::Data(from)) {
        Ok(start) => Ok(Some((
            start,
            rustix::fs::seek(file, SeekFrom::Hole(start))?,
        ))),
        Err(rustix::io::Errno::NXIO) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether this process may add and remove names in a folder.
pub(crate) fn may_write(dir: &Handle) -> io::Result<()> {
    let access = Access::WRITE_OK | Access::EXEC_OK;
    Ok(rustix::fs::accessat(dir, ".", access, AtFlags::EACCESS)?)
}

/// The kernel's number for the kind of file system that a folder lies on.
pub(crate) fn file_system(dir: &Handle) -> io::Result<u64> {
    Ok(u64::try_from(rustix::fs::fstatfs(dir)?.f_type).unwrap_or(u64::MAX) & 0xffff_ffff)
}

/// Which boot of the machine this is; `None` where the kernel does not say.
pub(crate) fn boot_id() -> Option<[u8; 16]> {
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    let mut id = [0; 16];
    let nibbles: Vec<u8> = text
        .iter()
        .filter_map(|byte| char::from(*byte).to_digit(16))
        .filter_map(|digit| u8::try_from(digit).ok())
        .collect();
    if nibbles.len() != 32 {
        return None;
    }
    for (byte, pair) in id.iter_mut().zip(nibbles.chunks_exact(2)) {
        if let [high, low] = pair {
            *byte = high << 4 | low;
        }
    }
    Some(id)
}

/// The permission bits that this process withholds from new files.
pub(crate) fn umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

/// Whether this process can give a file to this owner and group.
pub(crate) fn may_own(uid: u32, gid: u32) -> bool {
    use rustix::process::{getegid, geteuid, getgroups};
    let user = geteuid();
    let member = || {
        getegid().as_raw() == gid
            || getgroups().is_ok_and(|groups| groups.iter().any(|group| group.as_raw() == gid))
    };
    user.is_root() || (user.as_raw() == uid && member())
}

/// Whether an error says that a name is not there.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    is(error, rustix::io::Errno::NOENT)
}

/// Whether an error says that something that must be a folder is none, or that a link is in the
/// way.
pub(crate) fn is_not_a_folder(error: &io::Error) -> bool {
    is(error, rustix::io::Errno::NOTDIR) || is(error, rustix::io::Errno::LOOP)
}

/// Whether an error says that a folder holds something.
pub(crate) fn is_not_empty(error: &io::Error) -> bool {
    is(error, rustix::io::Errno::NOTEMPTY)
}

/// Whether an error says that the name exists.
pub(crate) fn is_taken(error: &io::Error) -> bool {
    is(error, rustix::io::Errno::EXIST)
}

/// Whether an error says that the path is too long.
pub(crate) fn is_too_long(error: &io::Error) -> bool {
    is(error, rustix::io::Errno::NAMETOOLONG)
}

/// Whether an error says that nothing can be written there at all.
pub(crate) fn is_read_only(error: &io::Error) -> bool {
    is(error, rustix::io::Errno::ROFS)
}

/// Whether an error says that there is no room.
pub(crate) fn is_full(error: &io::Error) -> bool {
    is(error, rustix::io::Errno::NOSPC) || is(error, rustix::io::Errno::DQUOT)
}

/// Whether an error says that this user may not.
pub(crate) fn is_forbidden(error: &io::Error) -> bool {
    is(error, rustix::io::Errno::ACCESS) || is(error, rustix::io::Errno::PERM)
}

/// Whether an error says that the call or one of its options does not exist here.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP]
        .into_iter()
        .any(|errno| is(error, errno))
}

fn is(error: &io::Error, errno: rustix::io::Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

/// Which of these files, by device and inode, some process may write: all processes' open files are
/// looked through once.
///
/// It needs no privilege for the user's own processes, and sees nothing of others' unless it runs
/// with it. A mapping whose file was closed is not seen either; a file lease would see both.
pub(crate) fn written_by_someone(files: &BTreeSet<(u64, u64)>) -> io::Result<BTreeSet<(u64, u64)>> {
    let mut found = BTreeSet::new();
    for process in std::fs::read_dir("/proc")? {
        let process = process?.path();
        let numbered = process
            .file_name()
            .is_some_and(|name| name.as_bytes().iter().all(u8::is_ascii_digit));
        // A process that ended in between, or that this user may not look into, holds nothing that
        // can be seen.
        if numbered && let Ok(open) = std::fs::read_dir(process.join("fd")) {
            found.extend(open.flatten().filter_map(|entry| {
                let stat = rustix::fs::stat(entry.path()).ok()?;
                let file = (stat.st_dev, stat.st_ino);
                let info = process.join("fdinfo").join(entry.file_name());
                (files.contains(&file) && opened_for_writing(&info)).then_some(file)
            }));
        }
    }
    Ok(found)
}

fn opened_for_writing(info: &Path) -> bool {
    std::fs::read_to_string(info).is_ok_and(|text| {
        text.lines()
            .find_map(|line| line.strip_prefix("flags:"))
            .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
            .is_some_and(|flags| {
                let flags = OFlags::from_bits_retain(flags);
                !flags.contains(OFlags::PATH) && flags.intersects(OFlags::WRONLY | OFlags::RDWR)
            })
    })
}

/// Asks a probe that was handed in.
pub(crate) fn ask_lease(file: &Handle, probe: crate::options::LeaseProbe) -> io::Result<bool> {
    probe(file.as_fd())
}

/// The path as the file system spells it, links followed; for folders that people name.
pub(crate) fn real_path(dir: &Handle) -> io::Result<std::path::PathBuf> {
    use std::os::fd::AsRawFd as _;
    let link = format!("/proc/self/fd/{}", dir.0.as_raw_fd());
    let bytes = rustix::fs::readlink(link, Vec::new())?.into_bytes();
    Ok(std::path::PathBuf::from(std::ffi::OsString::from_vec(
        bytes,
    )))
}
