//! File names as diffs write them.

/// What stands after `---` or `+++`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Name {
    /// `/dev/null`: there is no file on that side.
    Nothing,
    /// A file.
    File(String),
}

impl Name {
    /// The file, if there is one.
    pub(super) fn file(self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::File(path) => Some(path),
        }
    }
}

/// The file named after `---` or `+++`.
pub(super) fn file_name(text: &str) -> Option<Name> {
    let (name, dated) = match text.split_once('\t') {
        Some((name, _)) => (name, true),
        None => (text, false),
    };
    // Without a tab after it, a name with blanks ends in different places for different programs.
    if !dated && !name.starts_with('"') && name.contains(char::is_whitespace) {
        return None;
    }
    let name = unquoted(name)?;
    if name == "/dev/null" {
        return Some(Name::Nothing);
    }
    let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    let file = bare.unwrap_or(&name);
    (!file.is_empty()).then(|| Name::File(file.to_owned()))
}

/// The two names of `a/x b/x`, which can be told apart without doubt only if they are the same.
pub(super) fn git_name(text: &str) -> Option<String> {
    let rest = text.strip_prefix("a/")?;
    // Both names have the same length: ` b/` stands in the middle.
    let length = rest.len().checked_sub(3)? / 2;
    let (old, new) = rest.split_at_checked(length)?;
    (new.strip_prefix(" b/") == Some(old)).then(|| old.to_owned())
}

/// A name as git writes it: plain, or in quotes with escapes.
pub(super) fn unquoted(text: &str) -> Option<String> {
    let Some(inner) = text.strip_prefix('"') else {
        return (!text.is_empty()).then(|| text.to_owned());
    };
    let inner = inner.strip_suffix('"')?;
    let mut bytes = Vec::new();
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return None,
            b'\\' => bytes.push(escaped(&mut rest)?),
            plain => bytes.push(plain),
        }
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|name| !name.is_empty())
}

/// The byte of an escape: a quote, a backslash or three octal digits. The other escapes are control
/// characters, which no path here may hold.
fn escaped(rest: &mut impl Iterator<Item = u8>) -> Option<u8> {
    let first = rest.next()?;
    match first {
        b'"' | b'\\' => Some(first),
        b'0'..=b'3' => {
            let mut value = first - b'0';
            for _ in 0..2 {
                let digit = rest.next().filter(|digit| (b'0'..=b'7').contains(digit))?;
                value = value.checked_mul(8)?.checked_add(digit - b'0')?;
            }
            Some(value)
        }
        _ => None,
    }
}
