//! The compiled form of the law: bytes that load without parsing, or not at all.
//!
//! Layout, numbers in little-endian: magic, format (4 bytes), digest of the build, key, the lengths
//! of the two parts that follow (8 bytes each), sum of all of these and the first part (8 bytes),
//! the first part in postcard, and what lies apart from it: values that are read when they are
//! asked for, each with a sum of its own. The sums find damage; they are no protection against
//! someone who can write the file, which lies in the state folder for that reason. So they need not
//! be digests, which would take longer than everything else of a loading.

use std::hash::BuildHasher as _;
use std::ops::Range;
use std::sync::Arc;

use foldhash::quality::FixedState;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tagout_vocab::Digest;
use thiserror::Error;

use crate::packed;

pub use crate::packed::{Apart, Fetch};

const MAGIC: [u8; 8] = *b"TAGOUTLW";
/// Changes whenever a stored type changes its shape.
const FORMAT: u32 = 7;
const DIGEST_BYTES: usize = 32;
const LENGTH_BYTES: usize = 8;
/// Everything before the first part.
const HEADER_BYTES: usize = MAGIC.len() + 4 + 2 * DIGEST_BYTES + 3 * LENGTH_BYTES;
const DOMAIN_KEY: &str = "tagout compiled law key";
const DOMAIN_BUILD: &str = "tagout compiled law build";
/// Any number, as long as it stays the same.
const SUM_SEED: u64 = 0x5441_474f_5554;

/// Why a compiled law was not loaded. The sources are then read again.
#[derive(Debug, Error)]
pub enum CompiledError {
    /// Not a compiled law, or not all of one.
    #[error("not a compiled law")]
    NotCompiled,
    /// Written in another format.
    #[error("the compiled law has format {found}, not {FORMAT}")]
    Format {
        /// The format that was found.
        found: u32,
    },
    /// Written by another build.
    #[error("the compiled law was written by another build")]
    Build,
    /// Made from other sources.
    #[error("the compiled law was made from other sources")]
    Stale,
    /// The bytes are not those that were written.
    #[error("the compiled law is damaged")]
    Damaged,
    /// The value can't be written or read.
    #[error("the compiled law can't be encoded or decoded")]
    Codec {
        /// What the codec said.
        #[source]
        source: postcard::Error,
    },
}

/// What a compiled law was made from and by: it is used only for exactly these.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Key {
    build: Digest,
    sources: Digest,
}

impl Key {
    /// The key of some sources, by name and bytes, for one build of the program.
    ///
    /// A source that does not exist must be left out, not passed as empty: the two mean different
    /// laws.
    pub fn of<'a>(build: &str, sources: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let format = FORMAT.to_le_bytes();
        let fixed = [build.as_bytes(), &format];
        let named = sources
            .into_iter()
            .flat_map(|(name, bytes)| [name.as_bytes(), bytes]);
        Self {
            build: Digest::of_parts(DOMAIN_BUILD, [build.as_bytes()]),
            sources: Digest::of_parts(DOMAIN_KEY, fixed.into_iter().chain(named)),
        }
    }

    /// The digest that names the compiled form.
    pub const fn digest(&self) -> Digest {
        self.sources
    }
}

/// Writes a value so that [`decode`] gives it back for the same key. What stays packed in it lies
/// apart.
pub fn encode<T: Serialize>(key: &Key, value: &T) -> Result<Vec<u8>, CompiledError> {
    let (payload, apart) = packed::put_apart(|| postcard::to_allocvec(value));
    framed(key, payload, &apart)
}

/// The same with everything in the front.
pub fn encode_whole<T: Serialize>(key: &Key, value: &T) -> Result<Vec<u8>, CompiledError> {
    framed(key, postcard::to_allocvec(value), &[])
}

fn framed(
    key: &Key,
    payload: postcard::Result<Vec<u8>>,
    apart: &[u8],
) -> Result<Vec<u8>, CompiledError> {
    let payload = payload.map_err(|source| CompiledError::Codec { source })?;
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len() + apart.len());
    bytes.extend(MAGIC);
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend(key.build.as_bytes());
    bytes.extend(key.sources.as_bytes());
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend((apart.len() as u64).to_le_bytes());
    let sum = checksum(&bytes, &payload);
    bytes.extend(sum.to_le_bytes());
    bytes.extend(payload);
    bytes.extend(apart);
    Ok(bytes)
}

/// Reads what [`encode`] wrote for this key. Anything else is an error, never another value.
pub fn decode<T: DeserializeOwned>(bytes: &[u8], key: &Key) -> Result<T, CompiledError> {
    let all = Arc::new(bytes.to_vec());
    let front = front_length(bytes).and_then(|length| bytes.get(..length));
    let front = Arc::new(front.ok_or(CompiledError::NotCompiled)?.to_vec());
    decode_front(&front, key, (all.len(), all))
}

/// The same for what [`encode_whole`] wrote, where it lies.
pub fn decode_whole<T: DeserializeOwned>(bytes: Vec<u8>, key: &Key) -> Result<T, CompiledError> {
    let front = Arc::new(bytes);
    decode_front(&front, key, (front.len(), Arc::new(Vec::new())))
}

/// Bytes that are all there.
impl Apart for Vec<u8> {
    fn fetch(&self, range: Range<usize>) -> Option<Vec<u8>> {
        self.get(range).map(<[u8]>::to_vec)
    }

    fn mend(&self) {}
}

/// The bytes behind the front.
struct Behind {
    front: usize,
    whole: Fetch,
}

impl Apart for Behind {
    fn fetch(&self, range: Range<usize>) -> Option<Vec<u8>> {
        let start = range.start.checked_add(self.front)?;
        self.whole.fetch(start..range.end.checked_add(self.front)?)
    }

    fn mend(&self) {
        self.whole.mend();
    }
}

/// How many bytes [`decode_front`] wants, which the first of them tell. `None` where they don't.
pub fn front_length(bytes: &[u8]) -> Option<usize> {
    let lengths = bytes.get(HEADER_BYTES - 3 * LENGTH_BYTES..)?;
    let length = u64::from_le_bytes(*lengths.first_chunk()?);
    HEADER_BYTES.checked_add(usize::try_from(length).ok()?)
}

/// The same for the front of what was written, with the length of the whole and a way to further
/// bytes of it: what stays packed in the value is fetched when it is asked for.
pub fn decode_front<T: DeserializeOwned>(
    front: &Arc<Vec<u8>>,
    key: &Key,
    (length, whole): (usize, Fetch),
) -> Result<T, CompiledError> {
    let mut rest = front.as_slice();
    if take::<{ MAGIC.len() }>(&mut rest)? != MAGIC {
        return Err(CompiledError::NotCompiled);
    }
    let found = u32::from_le_bytes(take(&mut rest)?);
    if found != FORMAT {
        return Err(CompiledError::Format { found });
    }
    let build = Digest::from_bytes(take::<DIGEST_BYTES>(&mut rest)?);
    let sources = Digest::from_bytes(take::<DIGEST_BYTES>(&mut rest)?);
    let [first, apart] = [take(&mut rest)?, take(&mut rest)?].map(u64::from_le_bytes);
    let summed = front.len() - rest.len();
    let sum = u64::from_le_bytes(take(&mut rest)?);
    if build != key.build {
        return Err(CompiledError::Build);
    }
    if sources != key.sources {
        return Err(CompiledError::Stale);
    }
    let is_all = rest.len() as u64 == first
        && (front.len() as u64).checked_add(apart) == Some(length as u64);
    if !is_all || sum != checksum(front.get(..summed).unwrap_or_default(), rest) {
        return Err(CompiledError::Damaged);
    }
    let behind = Arc::new(Behind {
        front: front.len(),
        whole,
    });
    let read = || postcard::take_from_bytes(rest);
    let value = packed::fetching(behind, || packed::sharing(front, read));
    match value {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(CompiledError::Damaged),
        Err(source) => Err(CompiledError::Codec { source }),
    }
}

fn checksum(header: &[u8], payload: &[u8]) -> u64 {
    FixedState::with_seed(SUM_SEED).hash_one((header, payload))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], CompiledError> {
    let (taken, left) = rest
        .split_first_chunk::<N>()
        .ok_or(CompiledError::NotCompiled)?;
    *rest = left;
    Ok(*taken)
}

#[cfg(test)]
mod tests;
