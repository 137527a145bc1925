//! The compiled form of the law: bytes that load without parsing, or not at all.
//!
//! Layout: magic, format (4 bytes, little-endian), digest of the build, key, sum of all of these
//! and the payload (8 bytes, little-endian), payload in postcard. The sum finds damage; it is no
//! protection against someone who can write the file, which lies in the state folder for that
//! reason. So it need not be a digest, which would take longer than everything else of a loading.

use std::hash::BuildHasher as _;
use std::sync::Arc;

use foldhash::quality::FixedState;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tagout_vocab::Digest;
use thiserror::Error;

use crate::packed;

const MAGIC: [u8; 8] = *b"TAGOUTLW";
/// Changes whenever a stored type changes its shape.
const FORMAT: u32 = 6;
const DIGEST_BYTES: usize = 32;
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

/// Writes a value so that [`decode`] gives it back for the same key.
pub fn encode<T: Serialize>(key: &Key, value: &T) -> Result<Vec<u8>, CompiledError> {
    let payload = postcard::to_allocvec(value).map_err(|source| CompiledError::Codec { source })?;
    let mut bytes = Vec::with_capacity(payload.len() + 128);
    bytes.extend(MAGIC);
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend(key.build.as_bytes());
    bytes.extend(key.sources.as_bytes());
    let sum = checksum(&bytes, &payload);
    bytes.extend(sum.to_le_bytes());
    bytes.extend(payload);
    Ok(bytes)
}

/// Reads what [`encode`] wrote for this key. Anything else is an error, never another value.
pub fn decode<T: DeserializeOwned>(bytes: &[u8], key: &Key) -> Result<T, CompiledError> {
    let mut rest = bytes;
    if take::<{ MAGIC.len() }>(&mut rest)? != MAGIC {
        return Err(CompiledError::NotCompiled);
    }
    let found = u32::from_le_bytes(take(&mut rest)?);
    if found != FORMAT {
        return Err(CompiledError::Format { found });
    }
    let build = Digest::from_bytes(take::<DIGEST_BYTES>(&mut rest)?);
    let sources = Digest::from_bytes(take::<DIGEST_BYTES>(&mut rest)?);
    let header = bytes.len() - rest.len();
    let sum = u64::from_le_bytes(take(&mut rest)?);
    if build != key.build {
        return Err(CompiledError::Build);
    }
    if sources != key.sources {
        return Err(CompiledError::Stale);
    }
    if sum != checksum(bytes.get(..header).unwrap_or_default(), rest) {
        return Err(CompiledError::Damaged);
    }
    let (value, left) =
        postcard::take_from_bytes(rest).map_err(|source| CompiledError::Codec { source })?;
    if left.is_empty() {
        Ok(value)
    } else {
        Err(CompiledError::Damaged)
    }
}

/// The same for bytes that can be kept: what stays packed in the value stays where it is.
pub fn decode_kept<T: DeserializeOwned>(
    bytes: &Arc<Vec<u8>>,
    key: &Key,
) -> Result<T, CompiledError> {
    packed::sharing(bytes, |bytes| decode(bytes, key))
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
