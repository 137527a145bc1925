//! Systems without a proven implementation: everything refuses.

#![expect(
    clippy::unnecessary_wraps,
    reason = "the signatures are those of the proven systems"
)]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{FileTime, Rename, Stat};

/// An open file or folder.
#[derive(Debug)]
pub(crate) struct Handle(File);

impl Handle {
    /// The same open file as the standard library's type.
    pub(crate) fn into_file(self) -> File {
        self.0
    }

    /// Another handle on the same open file.
    pub(crate) fn duplicate(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }
}

fn refused<T>() -> io::Result<T> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// The path of some bytes.
pub(crate) fn path_of(_bytes: &[u8]) -> &Path {
    Path::new("")
}

/// The bytes of a path.
pub(crate) fn bytes_of(_path: &Path) -> &[u8] {
    &[]
}

/// Opens a folder by its absolute path; the only place where links may be followed.
pub(crate) fn open_root(_path: &Path) -> io::Result<Handle> {
    refused()
}

/// Opens a folder beneath another without following any link.
pub(crate) fn open_dir(_root: &Handle, _path: &[u8]) -> io::Result<Handle> {
    refused()
}

/// Opens a file for reading by its path. A link as the last part is an error.
pub(crate) fn open_unlinked(_path: &Path) -> io::Result<Handle> {
    refused()
}

/// Opens a folder whose path passes through no link.
pub(crate) fn open_root_unlinked(_path: &Path) -> io::Result<Handle> {
    refused()
}

/// Makes a file that was not there.
pub(crate) fn create_unlinked(_path: &Path, _mode: u32) -> io::Result<Handle> {
    refused()
}

/// Whether a path leads to something without passing through a link.
pub(crate) fn is_plain(_path: &Path) -> bool {
    false
}

/// Opens a file for reading. A pipe or device is not waited for.
pub(crate) fn open_read(_root: &Handle, _path: &[u8]) -> io::Result<Handle> {
    refused()
}

/// Opens a file for reading and writing. A pipe or device is not waited for.
pub(crate) fn open_write(_root: &Handle, _path: &[u8]) -> io::Result<Handle> {
    refused()
}

/// Creates a file that must not exist yet, for reading and writing.
pub(crate) fn create(_dir: &Handle, _file: &[u8], _mode: u32) -> io::Result<Handle> {
    refused()
}

/// Opens a file for reading and writing, creating it if need be.
pub(crate) fn open_or_create(_dir: &Handle, _file: &[u8], _mode: u32) -> io::Result<Handle> {
    refused()
}

/// Opens a file for reading and for adding to its end, creating it if need be.
pub(crate) fn open_append(_dir: &Handle, _file: &[u8], _mode: u32) -> io::Result<Handle> {
    refused()
}

/// What an open file is.
pub(crate) fn stat(_file: &impl std::fmt::Debug) -> io::Result<Stat> {
    refused()
}

/// What a name in a folder is, itself and not what it points to.
pub(crate) fn stat_at(_dir: &Handle, _file: &[u8]) -> io::Result<Stat> {
    refused()
}

/// The names in a folder, in no order.
pub(crate) fn names(_dir: &Handle) -> io::Result<Vec<Vec<u8>>> {
    refused()
}

/// Gives a file in one folder another name in the same or another folder.
pub(crate) fn rename(
    _from: (&Handle, &[u8]),
    _to: (&Handle, &[u8]),
    _how: Rename,
) -> io::Result<()> {
    refused()
}

/// Makes a folder.
pub(crate) fn mkdir(_dir: &Handle, _folder: &[u8], _mode: u32) -> io::Result<()> {
    refused()
}

/// Removes a name that is not a folder.
pub(crate) fn unlink(_dir: &Handle, _file: &[u8]) -> io::Result<()> {
    refused()
}

/// Removes an empty folder.
pub(crate) fn rmdir(_dir: &Handle, _folder: &[u8]) -> io::Result<()> {
    refused()
}

/// Makes a symbolic link.
pub(crate) fn symlink(_dir: &Handle, _link: &[u8], _target: &[u8]) -> io::Result<()> {
    refused()
}

/// Makes a named pipe or a socket that nobody listens on, with exactly these permission bits.
pub(crate) fn special(
    _dir: &Handle,
    _file: &[u8],
    _kind: super::Kind,
    _mode: u32,
) -> io::Result<()> {
    refused()
}

/// A file without a name on the file system of a folder, for as long as it is open.
pub(crate) fn nameless(_dir: &Handle) -> io::Result<Handle> {
    refused()
}

/// Where a symbolic link points.
pub(crate) fn readlink(_dir: &Handle, _link: &[u8]) -> io::Result<Vec<u8>> {
    refused()
}

/// Gives a file a second name.
pub(crate) fn link(_from: (&Handle, &[u8]), _to: (&Handle, &[u8])) -> io::Result<()> {
    refused()
}

/// Sets the permission bits.
pub(crate) fn chmod(_file: &impl std::fmt::Debug, _mode: u32) -> io::Result<()> {
    refused()
}

/// Sets owner and group.
pub(crate) fn chown(_file: &impl std::fmt::Debug, _uid: u32, _gid: u32) -> io::Result<()> {
    refused()
}

/// Sets owner and group of a name, itself and not what it points to.
pub(crate) fn chown_at(_dir: &Handle, _file: &[u8], _owner: (u32, u32)) -> io::Result<()> {
    refused()
}

/// Sets the time of the last change; the time of the last reading stays.
pub(crate) fn set_mtime(_file: &Handle, _mtime: FileTime) -> io::Result<()> {
    refused()
}

/// The same of a name, itself and not what it points to.
pub(crate) fn set_mtime_at(_dir: &Handle, _file: &[u8], _mtime: FileTime) -> io::Result<()> {
    refused()
}

/// The extended attributes of an open file, access lists among them; none where there are none.
pub(crate) fn xattrs(_file: &Handle) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    refused()
}

/// Sets one extended attribute.
pub(crate) fn set_xattr(_file: &Handle, _attribute: &[u8], _value: &[u8]) -> io::Result<()> {
    refused()
}

/// Removes one extended attribute.
pub(crate) fn remove_xattr(_file: &Handle, _attribute: &[u8]) -> io::Result<()> {
    refused()
}

/// Writes all bytes at the file's position.
pub(crate) fn write_all(_file: &Handle, _bytes: &[u8]) -> io::Result<()> {
    refused()
}

/// Takes an advisory lock without waiting; whether it was free.
pub(crate) fn try_lock(_file: &impl std::fmt::Debug) -> io::Result<bool> {
    refused()
}

/// Makes everything on the file system of a handle durable.
pub(crate) fn sync_system(_handle: &impl std::fmt::Debug) -> io::Result<()> {
    refused()
}

/// Makes the bytes of a file durable.
pub(crate) fn sync_data(_file: &impl std::fmt::Debug) -> io::Result<()> {
    refused()
}

/// Reads once, as much as the buffer has room for, behind what it holds.
pub(crate) fn read_once(_file: &impl std::fmt::Debug, _bytes: &mut Vec<u8>) -> io::Result<usize> {
    refused()
}

/// Reads into the room that is left, from a place in the file.
pub(crate) fn read_once_at(
    _file: &impl std::fmt::Debug,
    _bytes: &mut Vec<u8>,
    _at: u64,
) -> io::Result<usize> {
    refused()
}

/// Makes a file or folder durable with all that belongs to it.
pub(crate) fn sync_all(_file: &impl std::fmt::Debug) -> io::Result<()> {
    refused()
}

/// Lets `to` share the blocks of `from`; fails where the file system can't.
pub(crate) fn clone_file(_from: &File, _to: &File) -> io::Result<()> {
    refused()
}

/// The next range of a file that holds bytes, from an offset on; `None` when only holes follow.
pub(crate) fn next_data(_file: &File, _from: u64) -> io::Result<Option<(u64, u64)>> {
    refused()
}

/// Writes all bytes from an offset on; the file's position stays.
pub(crate) fn write_all_at(_file: &Handle, _bytes: &[u8], _at: u64) -> io::Result<()> {
    refused()
}

/// Reads a file from its start until its end or until so many bytes; its position stays.
pub(crate) fn read_front(_file: &Handle, _bytes_max: usize) -> io::Result<Vec<u8>> {
    refused()
}

/// Cuts a file off or lengthens it by zeros.
pub(crate) fn set_len(_file: &Handle, _size: u64) -> io::Result<()> {
    refused()
}

/// Gives back every block of a file, which then reads as zeros of the same length. Answers whether
/// none is left.
pub(crate) fn hollow(_file: &Handle, _size: u64) -> io::Result<bool> {
    refused()
}

/// Whether a folder lies on a file system on which it pays to fill a file again.
pub(crate) fn fills_again(_dir: &Handle) -> bool {
    false
}

/// Whether this process may add and remove names in a folder.
pub(crate) fn may_write(_dir: &Handle) -> io::Result<()> {
    refused()
}

/// The kernel's number for the kind of file system that a folder lies on.
pub(crate) fn file_system(_dir: &Handle) -> io::Result<u64> {
    refused()
}

/// Which boot of the machine this is; `None` where the kernel does not say.
pub(crate) fn boot_id() -> Option<[u8; 16]> {
    None
}

/// The permission bits that this process withholds from new files.
pub(crate) fn umask() -> Option<u32> {
    None
}

/// Whether this process can give a file to this owner and group.
pub(crate) fn may_own(_uid: u32, _gid: u32) -> bool {
    false
}

/// Whether an error says that a name is not there.
pub(crate) fn is_missing(_error: &io::Error) -> bool {
    false
}

/// Whether an error says that something that must be a folder is none, or that a link is in the
/// way.
pub(crate) fn is_not_a_folder(_error: &io::Error) -> bool {
    false
}

/// Whether an error says that a folder holds something.
pub(crate) fn is_not_empty(_error: &io::Error) -> bool {
    false
}

/// Whether an error says that the name exists.
pub(crate) fn is_taken(_error: &io::Error) -> bool {
    false
}

/// Whether an error says that the path is too long.
pub(crate) fn is_too_long(_error: &io::Error) -> bool {
    false
}

/// Whether an error says that nothing can be written there at all.
pub(crate) fn is_read_only(_error: &io::Error) -> bool {
    false
}

/// Whether an error says that there is no room.
pub(crate) fn is_full(_error: &io::Error) -> bool {
    false
}

/// Whether an error says that this user may not.
pub(crate) fn is_forbidden(_error: &io::Error) -> bool {
    false
}

/// Whether an error says that the call or one of its options does not exist here.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

/// The processes' open files, looked through for one that may write this one.
///
/// It needs no privilege for the user's own processes, and sees nothing of others' unless it runs
/// with it. A mapping whose file was closed is not seen either; a file lease would see both.
pub(crate) fn written_by_someone(
    _files: &std::collections::BTreeSet<(u64, u64)>,
) -> io::Result<std::collections::BTreeSet<(u64, u64)>> {
    refused()
}

/// Asks a probe that was handed in.
pub(crate) fn ask_lease(_file: &Handle, _probe: crate::options::LeaseProbe) -> io::Result<bool> {
    refused()
}

/// The path as the file system spells it, links followed; for folders that people name.
pub(crate) fn real_path(_dir: &Handle) -> io::Result<PathBuf> {
    refused()
}
