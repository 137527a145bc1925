//! Alternatives in braces, taken apart one at a time.

/// The length in bytes of the first atom of a text: an escape, a class or a character.
///
/// A broken escape or class counts as what is left; parsing has refused it before.
pub(super) fn atom_bytes(text: &str) -> usize {
    let mut characters = text.chars();
    match characters.next() {
        None => 0,
        Some('\\') => 1 + characters.next().map_or(0, char::len_utf8),
        Some('[') => class(characters.as_str()).map_or(text.len(), |class| {
            text.len().saturating_sub(class.rest.len())
        }),
        Some(other) => other.len_utf8(),
    }
}

/// A character class taken from a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class<'a> {
    /// Whether it holds every character but its members.
    pub(super) negated: bool,
    /// Members and ranges, as written.
    pub(super) members: &'a str,
    /// What follows the closing bracket.
    pub(super) rest: &'a str,
}

/// Reads a class from behind its opening bracket; `None` when it has no end.
///
/// A `]` right at the start is a member, and a backslash is one anywhere.
pub(super) fn class(text: &str) -> Option<Class<'_>> {
    let inner = text.strip_prefix(['!', '^']);
    let negated = inner.is_some();
    let inner = inner.unwrap_or(text);
    let first = inner.chars().next()?;
    let tail = inner.get(first.len_utf8()..)?;
    let end = first.len_utf8() + tail.find(']')?;
    Some(Class {
        negated,
        members: inner.get(..end)?,
        rest: inner.get(end + 1..)?,
    })
}

/// Whether a comma stands outside of every group and class, where it is part of a name or was meant
/// to end a pattern.
pub(super) fn has_bare_comma(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match first {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return true,
            _ => {}
        }
        rest = rest.get(atom_bytes(rest)..).unwrap_or_default();
    }
    false
}

/// The first group of alternatives of a pattern, with what stands around it.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// What stands before the opening brace.
    pub(super) before: &'a str,
    /// The alternatives, which may hold groups themselves.
    pub(super) branches: Vec<&'a str>,
    /// What stands after the closing brace.
    pub(super) after: &'a str,
}

/// Finds the first group; `None` when there is none or it has no end.
pub(super) fn first_group(text: &str) -> Option<Group<'_>> {
    let mut at = 0;
    let mut depth = 0_usize;
    let mut open = 0;
    let mut branch_start = 0;
    let mut branches = Vec::new();
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match rest.chars().next() {
            Some('{') => {
                if depth == 0 {
                    (open, branch_start) = (at, at + 1);
                }
                depth += 1;
            }
            Some(',') if depth == 1 => {
                branches.push(text.get(branch_start..at)?);
                branch_start = at + 1;
            }
            Some('}') if depth == 1 => {
                branches.push(text.get(branch_start..at)?);
                return Some(Group {
                    before: text.get(..open)?,
                    branches,
                    after: text.get(at + 1..)?,
                });
            }
            Some('}') => depth = depth.saturating_sub(1),
            Some(_) | None => {}
        }
        at += atom_bytes(rest);
    }
    None
}
