//! Names as a file system that ignores case compares them.

use unicode_normalization::UnicodeNormalization as _;

use super::{Reading, braces};

/// Folds a name.
///
/// Granting folds only what every such file system folds: composed form and simple lower case.
/// Denying folds whatever any of them might: full case folding, and the characters that some file
/// systems leave out when comparing.
pub(super) fn name(text: &str, reading: Reading) -> String {
    match reading {
        Reading::Granting => text.nfc().map(lower).nfc().collect(),
        Reading::Denying => text
            .nfc()
            .filter(|c| !is_ignorable(*c))
            .flat_map(char::to_uppercase)
            .flat_map(char::to_lowercase)
            .nfc()
            .collect(),
    }
}

/// Folds a pattern outside of its classes, whose ranges would lose their meaning.
pub(super) fn pattern(text: &str, reading: Reading) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut plain = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (atom, tail) = rest
            .split_at_checked(braces::atom_bytes(rest))
            .unwrap_or((rest, ""));
        if atom.starts_with('[') {
            folded.push_str(&name(&plain, reading));
            plain.clear();
            folded.push_str(atom);
        } else {
            plain.push_str(atom);
        }
        rest = tail;
    }
    folded.push_str(&name(&plain, reading));
    folded
}

/// The lower case of a character where that is one character, else the character.
pub(super) fn lower(character: char) -> char {
    single(character, character.to_lowercase())
}

/// The upper case of a character where that is one character, else the character.
pub(super) fn upper(character: char) -> char {
    single(character, character.to_uppercase())
}

fn single(character: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => character,
    }
}

/// Zero-width and direction characters that at least one file system skips when comparing names.
fn is_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}
