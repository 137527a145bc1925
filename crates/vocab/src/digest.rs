//! SHA-256 digests, with one way to write them.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

const PREFIX: &str = "sha256:";
const HEX_BYTES: usize = 64;
const WRITTEN_BYTES: usize = PREFIX.len() + HEX_BYTES;

/// A SHA-256 digest.
#[derive(Clone, Copy, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Digest([u8; 32]);

/// The text is not a digest.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Error)]
#[error("not a digest: expected `sha256:` and 64 lower-case hexadecimal characters")]
pub struct DigestError;

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of several parts, each preceded by its length so that no two splits collide.
    pub fn of_parts<'a>(domain: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        let mut feed = |bytes: &[u8]| {
            hasher.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
            hasher.update(bytes);
        };
        feed(domain.as_bytes());
        for part in parts {
            feed(part);
        }
        Self(hasher.finalize().into())
    }

    /// A digest from its raw bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The raw bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 hexadecimal characters, without the prefix.
    pub fn hex(&self) -> String {
        self.short_hex(HEX_BYTES)
    }

    /// The first of them.
    pub fn short_hex(&self, count: usize) -> String {
        let written = self.written();
        let digits = written.get(PREFIX.len()..).unwrap_or_default();
        text(digits.get(..count).unwrap_or(digits)).to_owned()
    }

    /// The prefix and all digits. Digests are written so often that no formatter is asked.
    fn written(&self) -> [u8; WRITTEN_BYTES] {
        let digit = |half: u8| {
            if half < 10 {
                b'0' + half
            } else {
                b'a' - 10 + half
            }
        };
        let mut written = [0; WRITTEN_BYTES];
        let (prefix, digits) = written.split_at_mut(PREFIX.len());
        prefix.copy_from_slice(PREFIX.as_bytes());
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            if let [high, low] = pair {
                (*high, *low) = (digit(byte >> 4), digit(byte & 0xf));
            }
        }
        written
    }

    /// Reads `sha256:` and 64 hexadecimal characters.
    pub fn parse(text: &str) -> Result<Self, DigestError> {
        let hex = text.strip_prefix(PREFIX).ok_or(DigestError)?.as_bytes();
        if hex.len() != HEX_BYTES {
            return Err(DigestError);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            let [high, low] = pair else {
                return Err(DigestError);
            };
            *byte = nibble(*high)? << 4 | nibble(*low)?;
        }
        Ok(Self(bytes))
    }
}

/// What is written holds letters and digits alone.
fn text(written: &[u8]) -> &str {
    std::str::from_utf8(written).unwrap_or_default()
}

fn nibble(character: u8) -> Result<u8, DigestError> {
    match character {
        b'0'..=b'9' => Ok(character - b'0'),
        b'a'..=b'f' => Ok(character - b'a' + 10),
        _ => Err(DigestError),
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(text(&self.written()))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text(&self.written()))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}
