//! The Merkle tree of RFC 9162 over the events: incremental roots and both kinds of proof.

use sha2::block_api::compress256;
use sha2::{Digest as _, Sha256};

/// A SHA-256 hash inside the tree.
pub type Hash = [u8; 32];

/// The hash of one event's exact line, without its line feed; also what the next event links to.
pub fn leaf_hash(line: &[u8]) -> Hash {
    Sha256::new()
        .chain_update([0u8])
        .chain_update(line)
        .finalize()
        .into()
}

/// What SHA-256 starts from.
const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

const BLOCK: usize = 64;

/// The hashes of two lines that already stand behind their leading zero bytes: whole blocks are
/// hashed where they lie, and only the ends are copied.
///
/// A block waits for the one before it, so one hash alone leaves most of a core idle. Two that do
/// not wait for each other, taken block by block in turn, share it.
pub(crate) fn leaf_hashes_in_place(first: &[u8], second: &[u8]) -> [Hash; 2] {
    let (one, one_rest) = first.as_chunks::<BLOCK>();
    let (two, two_rest) = second.as_chunks::<BLOCK>();
    let (mut one_state, mut two_state) = (START, START);
    for (one, two) in one.iter().zip(two) {
        compress256(&mut one_state, std::slice::from_ref(one));
        compress256(&mut two_state, std::slice::from_ref(two));
    }
    let both = one.len().min(two.len());
    compress256(&mut one_state, one.get(both..).unwrap_or_default());
    compress256(&mut two_state, two.get(both..).unwrap_or_default());
    [
        finish(one_state, one_rest, first.len()),
        finish(two_state, two_rest, second.len()),
    ]
}

/// The same hash of one such line.
pub(crate) fn leaf_hash_in_place(zero_and_line: &[u8]) -> Hash {
    let mut state = START;
    let (blocks, rest) = zero_and_line.as_chunks::<BLOCK>();
    compress256(&mut state, blocks);
    finish(state, rest, zero_and_line.len())
}

/// Hashes what is left of `length` bytes after their whole blocks, with its mark and its length.
fn finish(mut state: [u32; 8], rest: &[u8], length: usize) -> Hash {
    let mut end = [[0; BLOCK]; 2];
    let flat = end.as_flattened_mut();
    for (place, byte) in flat.iter_mut().zip(rest.iter().chain([&0x80])) {
        *place = *byte;
    }
    // The length needs eight bytes behind the mark.
    let count = if rest.len() < BLOCK - 8 { 1 } else { 2 };
    let bits = (length as u64).wrapping_mul(8).to_be_bytes();
    for (place, byte) in flat
        .iter_mut()
        .take(count * BLOCK)
        .rev()
        .zip(bits.iter().rev())
    {
        *place = *byte;
    }
    compress256(&mut state, end.get(..count).unwrap_or_default());
    let mut hash = [0; 32];
    for (place, word) in hash.chunks_exact_mut(4).zip(state) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    hash
}

/// The hash of an inner node.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new()
        .chain_update([1u8])
        .chain_update(left)
        .chain_update(right)
        .finalize()
        .into()
}

/// A whole aligned subtree: 2^`level` leaves from `index` · 2^`level` on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Node {
    level: u32,
    index: u64,
    hash: Hash,
}

/// The fewest aligned subtrees that cover a run of leaves: what is needed to go on from there.
///
/// Ranges that touch can be joined, so a large ledger can be hashed in pieces at once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Range {
    begin: u64,
    end: u64,
    nodes: Vec<Node>,
}

impl Range {
    /// The empty range before leaf `begin`.
    pub const fn starting_at(begin: u64) -> Self {
        Self {
            begin,
            end: begin,
            nodes: Vec::new(),
        }
    }

    /// The range of the first `size` leaves from its stored hashes, largest subtree first.
    pub fn from_frontier(size: u64, hashes: &[Hash]) -> Option<Self> {
        let mut range = Self::starting_at(0);
        let mut left = hashes.iter();
        for level in (0..u64::BITS).rev().filter(|level| size >> level & 1 == 1) {
            let node = Node {
                level,
                index: range.end >> level,
                hash: *left.next()?,
            };
            range.nodes.push(node);
            range.end = range.end.checked_add(1 << level)?;
        }
        left.next().is_none().then_some(range)
    }

    /// The hashes of the subtrees, from left to right.
    pub fn frontier(&self) -> Vec<Hash> {
        self.nodes.iter().map(|node| node.hash).collect()
    }

    /// The first leaf of the range.
    pub const fn begin(&self) -> u64 {
        self.begin
    }

    /// The leaf after the last one; the tree's size for a range that starts at zero.
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Adds the next leaf.
    pub fn push(&mut self, leaf: Hash) {
        let index = self.end;
        self.end = self.end.saturating_add(1);
        self.push_node(Node {
            level: 0,
            index,
            hash: leaf,
        });
    }

    /// Joins the range that starts where this one ends; `false` and unchanged if it does not.
    #[must_use]
    pub fn join(&mut self, next: &Self) -> bool {
        if next.begin != self.end {
            return false;
        }
        self.end = next.end;
        for node in &next.nodes {
            self.push_node(*node);
        }
        true
    }

    /// The root, if the range starts at the first leaf.
    pub fn root(&self) -> Option<Hash> {
        if self.begin != 0 {
            return None;
        }
        let mut nodes = self.nodes.iter().rev();
        let Some(last) = nodes.next() else {
            return Some(Sha256::digest([]).into());
        };
        Some(nodes.fold(last.hash, |right, left| node_hash(&left.hash, &right)))
    }

    fn push_node(&mut self, mut node: Node) {
        while node.index % 2 == 1
            && let Some(left) = self.nodes.last()
            && left.level == node.level
            && left.index.checked_add(1) == Some(node.index)
        {
            node = Node {
                level: node.level + 1,
                index: node.index / 2,
                hash: node_hash(&left.hash, &node.hash),
            };
            self.nodes.pop();
        }
        self.nodes.push(node);
    }
}

fn root_of(leaves: &[Hash]) -> Hash {
    let mut range = Range::starting_at(0);
    for leaf in leaves {
        range.push(*leaf);
    }
    range.root().unwrap_or_default()
}

/// The largest power of two smaller than `count`, for `count` > 1.
const fn split(count: usize) -> usize {
    count.next_power_of_two() / 2
}

/// RFC 9162 §2.1.3.1: the hashes that lead from leaf `index` to the root over `leaves`.
pub fn inclusion_proof(leaves: &[Hash], index: usize) -> Option<Vec<Hash>> {
    if index >= leaves.len() {
        return None;
    }
    let mut path = Vec::new();
    let (mut rest, mut index) = (leaves, index);
    while rest.len() > 1 {
        let (left, right) = rest.split_at_checked(split(rest.len()))?;
        if index < left.len() {
            path.push(root_of(right));
            rest = left;
        } else {
            index -= left.len();
            path.push(root_of(left));
            rest = right;
        }
    }
    path.reverse();
    Some(path)
}

/// RFC 9162 §2.1.3.2: whether `path` leads from `leaf` at `index` to `root` in a tree of `size`.
pub fn verify_inclusion(leaf: &Hash, index: u64, size: u64, path: &[Hash], root: &Hash) -> bool {
    if index >= size {
        return false;
    }
    let (mut node, mut last) = (index, size - 1);
    let mut hash = *leaf;
    for sibling in path {
        if last == 0 {
            return false;
        }
        if node % 2 == 1 || node == last {
            hash = node_hash(sibling, &hash);
            while node % 2 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
        } else {
            hash = node_hash(&hash, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    last == 0 && hash == *root
}

/// RFC 9162 §2.1.4.1: the hashes that show that `leaves` extends the tree of its first `old`.
pub fn consistency_proof(leaves: &[Hash], old: usize) -> Option<Vec<Hash>> {
    if old == 0 || old > leaves.len() {
        return None;
    }
    let mut path = Vec::new();
    let (mut rest, mut old, mut whole) = (leaves, old, true);
    while old != rest.len() {
        let (left, right) = rest.split_at_checked(split(rest.len()))?;
        if old <= left.len() {
            path.push(root_of(right));
            rest = left;
        } else {
            path.push(root_of(left));
            old -= left.len();
            rest = right;
            whole = false;
        }
    }
    if !whole {
        path.push(root_of(rest));
    }
    path.reverse();
    Some(path)
}

/// A tree's size and root.
type Tree<'a> = (u64, &'a Hash);

/// RFC 9162 §2.1.4.2: whether `path` shows that the tree `new` extends the tree `old`.
pub fn verify_consistency(old: Tree<'_>, new: Tree<'_>, path: &[Hash]) -> bool {
    let ((old_size, old_root), (new_size, new_root)) = (old, new);
    if old_size == new_size {
        return path.is_empty() && old_root == new_root;
    }
    if old_size == 0 || old_size > new_size {
        return false;
    }
    let mut hashes = path.iter();
    let first = if old_size.is_power_of_two() {
        Some(old_root)
    } else {
        hashes.next()
    };
    let Some(first) = first else { return false };
    let (mut node, mut last) = (old_size - 1, new_size - 1);
    while node % 2 == 1 {
        node >>= 1;
        last >>= 1;
    }
    let (mut from_old, mut from_new) = (*first, *first);
    for sibling in hashes {
        if last == 0 {
            return false;
        }
        if node % 2 == 1 || node == last {
            from_old = node_hash(sibling, &from_old);
            from_new = node_hash(sibling, &from_new);
            while node % 2 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
        } else {
            from_new = node_hash(&from_new, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    last == 0 && from_old == *old_root && from_new == *new_root
}

#[cfg(test)]
mod tests;
