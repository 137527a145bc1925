//! Which paths git tracks, read from its index; nothing of git is run.

use std::collections::BTreeSet;

/// The tracked paths of a repository, as bytes relative to its root.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tracked(BTreeSet<Vec<u8>>);

/// Bytes of one entry before its name: times, ids, mode, size and object name.
const FIXED: usize = 62;

impl Tracked {
    /// Reads an index. `None` when it is not one that is understood here; whoever asks then takes
    /// nothing for tracked, which keeps a build folder out of the workspace.
    pub(crate) fn read(index: &[u8]) -> Option<Self> {
        let mut rest = index.strip_prefix(b"DIRC")?;
        let version = number(&mut rest)?;
        let count = number(&mut rest)?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let mut found = BTreeSet::new();
        let mut before: Vec<u8> = Vec::new();
        for _ in 0..count {
            let name = entry(&mut rest, version, &before)?;
            before.clone_from(&name);
            found.insert(name);
        }
        Some(Self(found))
    }

    /// Whether this path, or something beneath it, is tracked.
    pub(crate) fn holds(&self, path: &[u8]) -> bool {
        if self.0.contains(path) {
            return true;
        }
        let mut beneath = path.to_vec();
        beneath.push(b'/');
        let first = self.0.range(beneath.clone()..).next();
        first.is_some_and(|one| one.starts_with(&beneath))
    }
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, left) = rest.split_first_chunk::<4>()?;
    *rest = left;
    Some(u32::from_be_bytes(*bytes))
}

fn take<'b>(rest: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

/// The name of the next entry.
fn entry(rest: &mut &[u8], version: u32, before: &[u8]) -> Option<Vec<u8>> {
    const EXTENDED: u8 = 0x40;
    let fixed = take(rest, FIXED)?;
    let flags = *fixed.get(FIXED - 2)?;
    let extended = if flags & EXTENDED == 0 { 0 } else { 2 };
    take(rest, extended)?;
    let kept = if version == 4 {
        before.len().checked_sub(shared(rest)?)?
    } else {
        0
    };
    let end = rest.iter().position(|byte| *byte == 0)?;
    let mut name = before.get(..kept)?.to_vec();
    name.extend_from_slice(take(rest, end)?);
    // Versions 2 and 3 fill an entry with one to eight zeros up to a multiple of eight.
    let zeros = if version == 4 {
        1
    } else {
        8 - (FIXED + extended + end) % 8
    };
    take(rest, zeros)?;
    Some(name)
}

/// How many bytes of the name before are dropped: git's variable-length number.
fn shared(rest: &mut &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    for step in 0..8 {
        let byte = *take(rest, 1)?.first()?;
        if step > 0 {
            value = value.checked_add(1)?;
        }
        value = value
            .checked_mul(128)?
            .checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests;
