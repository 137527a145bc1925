//! Which paths git tracks, read from its index; nothing of git is run.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use memchr::memmem;
use tagout_vocab::limits::GIT_INDEX_BYTES_MAX;
use tagout_workspace::files;

/// The tracked paths of a repository. Its index is as long as the repository is large, so it is
/// read when a path is first asked for, and taken apart only where its bytes hold that path.
#[derive(Debug)]
pub(crate) struct Tracked {
    index: PathBuf,
    bytes: OnceCell<Vec<u8>>,
    names: OnceCell<Names>,
}

impl Tracked {
    /// Those of a workspace. An index that is not understood tracks nothing, which keeps a build
    /// folder out of the workspace.
    pub(crate) fn of(root: &Path) -> Self {
        Self {
            index: root.join(".git/index"),
            bytes: OnceCell::new(),
            names: OnceCell::new(),
        }
    }

    /// Whether this path, or something beneath it, is tracked.
    pub(crate) fn holds(&self, path: &[u8]) -> bool {
        let bytes = self.bytes.get_or_init(|| {
            let index = files::read(&self.index, GIT_INDEX_BYTES_MAX);
            index.ok().flatten().unwrap_or_default()
        });
        if are_whole(bytes) && memmem::find(bytes, path).is_none() {
            return false;
        }
        let names = self
            .names
            .get_or_init(|| Names::read(bytes).unwrap_or_default());
        names.hold(path)
    }
}

/// Whether each name stands in the index as it is: the fourth version leaves out what a name shares
/// with the one before.
fn are_whole(index: &[u8]) -> bool {
    let version = index.get(4..8).and_then(|mut bytes| number(&mut bytes));
    version.is_none_or(|version| version < 4)
}

/// The names of an index, sorted, one after the other in one piece of text.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Names {
    text: Vec<u8>,
    spans: Vec<(usize, usize)>,
}

/// Bytes of one entry before its name: times, ids, mode, size and object name.
const FIXED: usize = 62;

impl Names {
    /// Reads an index. `None` when it is not one that is understood here.
    fn read(index: &[u8]) -> Option<Self> {
        let mut rest = index.strip_prefix(b"DIRC")?;
        let version = number(&mut rest)?;
        let count = number(&mut rest)?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let mut names = Self::default();
        for _ in 0..count {
            names.push(&mut rest, version)?;
        }
        if !names.spans.is_sorted_by_key(|span| names.name(*span)) {
            let mut spans = std::mem::take(&mut names.spans);
            spans.sort_by(|one, other| names.name(*one).cmp(names.name(*other)));
            names.spans = spans;
        }
        Some(names)
    }

    fn name(&self, (start, end): (usize, usize)) -> &[u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    fn hold(&self, path: &[u8]) -> bool {
        let from = |least: &[u8]| {
            let at = self.spans.partition_point(|span| self.name(*span) < least);
            self.spans.get(at).map(|span| self.name(*span))
        };
        let beneath = [path, b"/"].concat();
        from(path) == Some(path) || from(&beneath).is_some_and(|name| name.starts_with(&beneath))
    }

    /// Takes the next entry.
    fn push(&mut self, rest: &mut &[u8], version: u32) -> Option<()> {
        const EXTENDED: u8 = 0x40;
        let fixed = take(rest, FIXED)?;
        let flags = *fixed.get(FIXED - 2)?;
        let extended = if flags & EXTENDED == 0 { 0 } else { 2 };
        take(rest, extended)?;
        let start = self.text.len();
        if version == 4 {
            let (from, to) = self.spans.last().copied().unwrap_or_default();
            let kept = to.checked_sub(from)?.checked_sub(shared(rest)?)?;
            self.text.extend_from_within(from..from.checked_add(kept)?);
        }
        let end = memchr::memchr(0, rest)?;
        self.text.extend_from_slice(take(rest, end)?);
        self.spans.push((start, self.text.len()));
        // Versions 2 and 3 fill an entry with one to eight zeros up to a multiple of eight.
        let zeros = if version == 4 {
            1
        } else {
            8 - (FIXED + extended + end) % 8
        };
        take(rest, zeros)?;
        Some(())
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
