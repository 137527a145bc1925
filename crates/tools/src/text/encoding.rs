//! From bytes to characters and back, exactly.

use crate::fault::Fault;

/// How a file spells its characters.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Encoding {
    /// UTF-8.
    #[default]
    Utf8,
    /// UTF-8 after a byte order mark.
    Utf8Bom,
    /// UTF-16, low byte first, after a byte order mark.
    Utf16Le,
    /// UTF-16, high byte first, after a byte order mark.
    Utf16Be,
    /// One byte per character: what is neither of the others. Every byte survives.
    Latin1,
}

impl Encoding {
    /// The word for it in a result.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf8Bom => "utf-8-bom",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
            Self::Latin1 => "latin-1",
        }
    }

    /// Every word that [`Self::as_str`] can give.
    pub const WORDS: [&'static str; 5] = ["utf-8", "utf-8-bom", "utf-16le", "utf-16be", "latin-1"];
}

const BOM: &[u8] = &[0xEF, 0xBB, 0xBF];
const BOM_LE: &[u8] = &[0xFF, 0xFE];
const BOM_BE: &[u8] = &[0xFE, 0xFF];

/// The characters of a file; `None` when it is binary.
pub(super) fn decode(bytes: &[u8]) -> Option<(String, Encoding)> {
    if let Some(rest) = bytes.strip_prefix(BOM_LE) {
        return Some((utf16(rest, u16::from_le_bytes)?, Encoding::Utf16Le));
    }
    if let Some(rest) = bytes.strip_prefix(BOM_BE) {
        return Some((utf16(rest, u16::from_be_bytes)?, Encoding::Utf16Be));
    }
    if bytes.contains(&0) {
        return None;
    }
    let (rest, encoding) = match bytes.strip_prefix(BOM) {
        Some(rest) => (rest, Encoding::Utf8Bom),
        None => (bytes, Encoding::Utf8),
    };
    match std::str::from_utf8(rest) {
        Ok(text) => Some((text.to_owned(), encoding)),
        // All of the bytes, the mark too, so that each comes back.
        Err(_) => Some((
            bytes.iter().copied().map(char::from).collect(),
            Encoding::Latin1,
        )),
    }
}

/// A lone half of a pair or an odd byte can't be put back, so it makes the file binary. So does a
/// NUL, as everywhere.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let text: Option<String> = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .map(Result::ok)
        .collect();
    text.filter(|text| !text.contains('\0'))
}

/// The bytes of a text. Fails when the encoding has no room for a character, or when a NUL would
/// make the file binary.
pub(super) fn encode(text: &str, encoding: Encoding) -> Result<Vec<u8>, Fault> {
    if text.contains('\0') {
        return Err(Fault::invalid(
            "the new text holds a NUL, which would make the file binary; leave it out",
        ));
    }
    let bytes = match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf8Bom => [BOM, text.as_bytes()].concat(),
        Encoding::Utf16Le => with_units(BOM_LE, text, u16::to_le_bytes),
        Encoding::Utf16Be => with_units(BOM_BE, text, u16::to_be_bytes),
        Encoding::Latin1 => text.chars().map(latin1).collect::<Result<_, _>>()?,
    };
    Ok(bytes)
}

fn with_units(mark: &[u8], text: &str, spell: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let mut bytes = mark.to_vec();
    bytes.extend(text.encode_utf16().flat_map(spell));
    bytes
}

fn latin1(character: char) -> Result<u8, Fault> {
    u8::try_from(u32::from(character)).map_err(|_| {
        Fault::invalid(format!(
            "the file spells one byte per character (latin-1), which has no room for \
             `{character}`; leave it out, or delete the file and write it anew as UTF-8"
        ))
    })
}
