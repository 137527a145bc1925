//! What a commit says of itself.

use super::Oid;

/// A commit, as far as it is looked at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Commit {
    pub(crate) tree: Oid,
    pub(crate) parents: Vec<Oid>,
    /// When it was made, in seconds since 1970, as its maker's clock had it.
    pub(crate) made: i64,
}

impl Commit {
    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let one = size_of::<Oid>().saturating_add(self.tree.as_bytes().len());
        let ids = self.parents.len().saturating_add(1);
        size_of::<Self>().saturating_add(one.saturating_mul(ids))
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(2).position(|two| two == b"\n\n");
        let head = bytes.get(..end.unwrap_or(bytes.len()))?;
        let (mut tree, mut parents, mut made) = (None, Vec::new(), None);
        for line in head.split(|byte| *byte == b'\n') {
            let blank = line.iter().position(|byte| *byte == b' ').unwrap_or(0);
            let (word, rest) = line.split_at_checked(blank)?;
            let rest = rest.get(1..).unwrap_or_default();
            let id = || Oid::parse(std::str::from_utf8(rest).ok()?);
            match word {
                b"tree" if tree.is_none() => tree = Some(id()?),
                b"parent" => parents.push(id()?),
                b"committer" if made.is_none() => made = time(rest),
                _ => {}
            }
        }
        Some(Self {
            tree: tree?,
            parents,
            made: made.unwrap_or_default(),
        })
    }
}

/// The time after a person's name and address.
fn time(rest: &[u8]) -> Option<i64> {
    let end = rest.iter().rposition(|byte| *byte == b'>')?;
    let text = std::str::from_utf8(rest.get(end + 1..)?).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}
