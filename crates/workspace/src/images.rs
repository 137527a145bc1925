//! The image store: file contents under their digest, shared by reflink where that works, verified
//! on every read.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest as _, Sha256};
use tagout_vocab::Digest;

use crate::error::{Error, at};
use crate::relpath::RelPath;
use crate::sys::{self, Handle, Rename};

/// How many bytes are read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// The store's folder.
#[derive(Debug)]
pub(crate) struct Images {
    folder: Handle,
    durable: bool,
}

static COUNTER: AtomicU64 = AtomicU64::new(0);

impl Images {
    pub(crate) const fn new(folder: Handle, durable: bool) -> Self {
        Self { folder, durable }
    }

    /// Keeps some bytes.
    pub(crate) fn put_bytes(&self, bytes: &[u8]) -> Result<Digest, Error> {
        let digest = Digest::of(bytes);
        if self.has(&digest) {
            return Ok(digest);
        }
        let (name, mut file) = self.temporary()?;
        let written = file
            .write_all(bytes)
            .map_err(at("write", "the image store"));
        self.settle(&name, &file, &digest, written)?;
        Ok(digest)
    }

    /// Keeps the content of a file: by reflink where the file system can, else by copying.
    ///
    /// The digest is that of the copy, so that a writer in between cannot make the two differ.
    pub(crate) fn put_file(&self, from: &File) -> Result<(Digest, u64), Error> {
        let (name, mut file) = self.temporary()?;
        let kept = (|| {
            if sys::clone_file(from, &file).is_ok() {
                return hash_file(&file);
            }
            copy_sparse(from, &mut file)
        })();
        let (digest, size) = match kept {
            Ok(kept) => kept,
            Err(error) => {
                drop(sys::unlink(&self.folder, &name));
                return Err(Error::io("write", "the image store", error));
            }
        };
        self.settle(&name, &file, &digest, Ok(()))?;
        Ok((digest, size))
    }

    fn temporary(&self) -> Result<(Vec<u8>, File), Error> {
        loop {
            let count = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = format!("tmp-{}-{count}", std::process::id()).into_bytes();
            match sys::create(&self.folder, &name, 0o600) {
                Ok(handle) => {
                    // Held while it is written, so that pruning can tell it from a dead process's.
                    sys::try_lock(&handle).map_err(at("lock", "the image store"))?;
                    return Ok((name, handle.into_file()));
                }
                Err(error) if sys::is_taken(&error) => {}
                Err(error) => return Err(Error::io("write", "the image store", error)),
            }
        }
    }

    fn settle(
        &self,
        name: &[u8],
        file: &File,
        digest: &Digest,
        written: Result<(), Error>,
    ) -> Result<(), Error> {
        let settled = written.and_then(|()| {
            let doing = || at("write", "the image store");
            if self.durable {
                sys::sync_data(file).map_err(doing())?;
            }
            let hex = digest.hex();
            let to = (&self.folder, hex.as_bytes());
            sys::rename((&self.folder, name), to, Rename::Replace).map_err(doing())?;
            if self.durable {
                sys::sync_all(&self.folder).map_err(doing())?;
            }
            Ok(())
        });
        if settled.is_err() {
            drop(sys::unlink(&self.folder, name));
        }
        settled
    }

    /// Whether the store holds these bytes.
    pub(crate) fn has(&self, digest: &Digest) -> bool {
        sys::stat_at(&self.folder, digest.hex().as_bytes()).is_ok()
    }

    fn open(&self, digest: &Digest) -> Result<File, Error> {
        match sys::open_read(&self.folder, digest.hex().as_bytes()) {
            Ok(handle) => Ok(handle.into_file()),
            Err(error) if sys::is_missing(&error) => Err(Error::ImageGone {
                digest: digest.to_string(),
            }),
            Err(error) => Err(Error::io("read", "the image store", error)),
        }
    }

    /// Copies an image into a file that shall stand at a path and checks the digest on the way.
    pub(crate) fn copy_to(
        &self,
        digest: &Digest,
        (to, path): (&mut File, &RelPath),
    ) -> Result<(), Error> {
        let from = self.open(digest)?;
        let copied = if sys::clone_file(&from, to).is_ok() {
            hash_file(to)
        } else {
            copy_sparse(&from, to)
        };
        let (found, _) = copied.map_err(at("write", path.to_string()))?;
        Self::verified(digest, &found)
    }

    /// The bytes of an image.
    pub(crate) fn read(&self, digest: &Digest) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let mut file = self.open(digest)?;
        file.read_to_end(&mut bytes)
            .map_err(at("read", "the image store"))?;
        Self::verified(digest, &Digest::of(&bytes))?;
        Ok(bytes)
    }

    fn verified(wanted: &Digest, found: &Digest) -> Result<(), Error> {
        if wanted == found {
            return Ok(());
        }
        let path = format!("images/{}", wanted.hex());
        Err(Error::StateDamaged {
            path,
            what: "its bytes do not have its digest",
        })
    }

    /// Every image with its size.
    pub(crate) fn list(&self) -> Result<Vec<(Digest, u64)>, Error> {
        let mut found = Vec::new();
        for name in sys::names(&self.folder).map_err(at("list", "the image store"))? {
            let text = format!("sha256:{}", String::from_utf8_lossy(&name));
            if let (Ok(digest), Ok(stat)) =
                (Digest::parse(&text), sys::stat_at(&self.folder, &name))
            {
                found.push((digest, stat.size));
            }
        }
        Ok(found)
    }

    /// Drops every image that is not in `kept`, and what dead processes left half-written.
    pub(crate) fn keep_only(&self, kept: &BTreeSet<Digest>) -> Result<u64, Error> {
        let mut freed = 0;
        for (digest, size) in self.list()? {
            if !kept.contains(&digest) {
                sys::unlink(&self.folder, digest.hex().as_bytes())
                    .map_err(at("remove an image from", "the image store"))?;
                freed += size;
            }
        }
        for name in sys::names(&self.folder).map_err(at("list", "the image store"))? {
            if name.starts_with(b"tmp-") {
                let dead = sys::open_read(&self.folder, &name)
                    .and_then(|handle| sys::try_lock(&handle))
                    .unwrap_or(false);
                if dead {
                    drop(sys::unlink(&self.folder, &name));
                }
            }
        }
        Ok(freed)
    }
}

/// The digest and size of an open file, read from its start.
pub(crate) fn hash_file(file: &File) -> io::Result<(Digest, u64)> {
    let mut reader = file;
    reader.seek(SeekFrom::Start(0))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut size = 0;
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            return Ok((Digest::from_bytes(hasher.finalize().into()), size));
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
        size += count as u64;
    }
}

/// Copies a file, holes as holes, and hashes it on the way.
fn copy_sparse(from: &File, to: &mut File) -> io::Result<(Digest, u64)> {
    let size = sys::stat(from)?.size;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut position = 0;
    let mut reader = from;
    while position < size {
        let (start, end) = sys::next_data(from, position)?.unwrap_or((size, size));
        hash_zeros(&mut hasher, start.min(size) - position);
        position = start.min(size);
        reader.seek(SeekFrom::Start(position))?;
        to.seek(SeekFrom::Start(position))?;
        while position < end.min(size) {
            let wanted = usize::try_from(end.min(size) - position).unwrap_or(usize::MAX);
            let part = buffer
                .get_mut(..wanted.min(CHUNK_BYTES))
                .unwrap_or_default();
            let count = reader.read(part)?;
            if count == 0 {
                // Someone cut the file short: what is left of it is its content.
                to.set_len(position)?;
                return Ok((Digest::from_bytes(hasher.finalize().into()), position));
            }
            let part = part.get(..count).unwrap_or_default();
            hasher.update(part);
            to.write_all(part)?;
            position += count as u64;
        }
    }
    to.set_len(size)?;
    Ok((Digest::from_bytes(hasher.finalize().into()), size))
}

fn hash_zeros(hasher: &mut Sha256, mut count: u64) {
    const ZEROS: [u8; 4096] = [0; 4096];
    while count > 0 {
        let part = usize::try_from(count)
            .unwrap_or(usize::MAX)
            .min(ZEROS.len());
        hasher.update(ZEROS.get(..part).unwrap_or_default());
        count -= part as u64;
    }
}
