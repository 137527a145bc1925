//! Objects by their ids, and those that lie in files of their own.

use std::fmt::{self, Write as _};
use std::path::Path;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use tagout_workspace::files;

/// The id of an object: SHA-1 or SHA-256.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub(crate) struct Oid(Vec<u8>);

impl Oid {
    /// Bytes of an id of each kind.
    const LENGTHS: [usize; 2] = [20, 32];

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::LENGTHS
            .contains(&bytes.len())
            .then(|| Self(bytes.to_vec()))
    }

    /// The id in hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if !text.len().is_multiple_of(2) {
            return None;
        }
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        let bytes = text.as_bytes().chunks(2).map(|pair| match pair {
            [high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
            _ => None,
        });
        Self::from_bytes(&bytes.collect::<Option<Vec<u8>>>()?)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn first(&self) -> u8 {
        self.0.first().copied().unwrap_or_default()
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// What an object is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Commit,
    Tree,
    Blob,
    Tag,
}

impl Kind {
    fn parse(word: &[u8]) -> Option<Self> {
        match word {
            b"commit" => Some(Self::Commit),
            b"tree" => Some(Self::Tree),
            b"blob" => Some(Self::Blob),
            b"tag" => Some(Self::Tag),
            _ => None,
        }
    }
}

/// An object.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) bytes: Vec<u8>,
}

/// Bytes before an object's own: its kind, a blank, its length and a zero.
const HEADER_BYTES_MAX: usize = 32;

/// Bytes that so many others take at most when they are compressed.
pub(super) fn compressed(max: usize) -> usize {
    max.saturating_add(max / 1_000).saturating_add(256)
}

/// An object in a file of its own.
pub(super) fn loose(store: &Path, id: &Oid, max: usize) -> Option<Object> {
    let mut name = String::new();
    write!(name, "{id}").ok()?;
    let (folder, file) = name.split_at_checked(2)?;
    let max = max.saturating_add(HEADER_BYTES_MAX);
    let limit = u64::try_from(compressed(max)).ok()?;
    let packed = files::read(&store.join(folder).join(file), limit).ok()??;
    let mut bytes = decompress_to_vec_zlib_with_limit(&packed, max).ok()?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let (header, rest) = bytes.split_at_checked(end + 1)?;
    let blank = header.iter().position(|byte| *byte == b' ')?;
    let kind = Kind::parse(header.get(..blank)?)?;
    let length = std::str::from_utf8(header.get(blank + 1..end)?).ok()?;
    if length.parse() != Ok(rest.len()) {
        return None;
    }
    bytes.drain(..=end);
    Some(Object { kind, bytes })
}
