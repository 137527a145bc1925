//! The tree against the definitions of RFC 9162, written down once more as naively as possible.

use proptest::prelude::*;

use super::*;

fn leaves(count: usize) -> Vec<Hash> {
    (0..count).map(|n| leaf_hash(&n.to_be_bytes())).collect()
}

/// MTH of RFC 9162 §2.1.1.
fn naive_root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => Sha256::digest([]).into(),
        [one] => *one,
        _ => {
            let mut k = 1;
            while k * 2 < leaves.len() {
                k *= 2;
            }
            node_hash(&naive_root(&leaves[..k]), &naive_root(&leaves[k..]))
        }
    }
}

/// PATH of RFC 9162 §2.1.3.1.
fn naive_path(leaves: &[Hash], m: usize) -> Vec<Hash> {
    if leaves.len() == 1 {
        return Vec::new();
    }
    let mut k = 1;
    while k * 2 < leaves.len() {
        k *= 2;
    }
    let (left, right) = leaves.split_at(k);
    let (mut path, other) = if m < k {
        (naive_path(left, m), naive_root(right))
    } else {
        (naive_path(right, m - k), naive_root(left))
    };
    path.push(other);
    path
}

fn range_of(leaves: &[Hash]) -> Range {
    let mut range = Range::starting_at(0);
    for leaf in leaves {
        range.push(*leaf);
    }
    range
}

/// B6: the known answers of RFC 6962's and RFC 9162's test trees.
#[test]
fn known_answers() {
    let hex = |hash: Hash| tagout_vocab::Digest::from_bytes(hash).hex();
    let empty = Range::starting_at(0).root().unwrap();
    assert_eq!(
        hex(empty),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    assert_eq!(
        hex(leaf_hash(b"")),
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    );
    let two = [leaf_hash(b""), leaf_hash(b"\0")];
    assert_eq!(
        hex(range_of(&two).root().unwrap()),
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"
    );
}

/// B6: roots and inclusion proofs of every tree up to 70 events, for every event.
#[test]
fn small_trees_are_right() {
    for size in 1..70 {
        let leaves = leaves(size);
        let root = naive_root(&leaves);
        assert_eq!(range_of(&leaves).root(), Some(root));
        for index in 0..size {
            let path = inclusion_proof(&leaves, index).unwrap();
            assert_eq!(path, naive_path(&leaves, index), "{index} of {size}");
            let holds = |index: usize, size: usize, path: &[Hash]| {
                verify_inclusion(&leaves[index], index as u64, size as u64, path, &root)
            };
            assert!(holds(index, size, &path));
            assert!(index == 0 || !holds(index - 1, size, &path));
            assert!(!verify_inclusion(
                &leaves[index],
                size as u64,
                size as u64,
                &path,
                &root
            ));
            let mut longer = path.clone();
            longer.push(root);
            assert!(!holds(index, size, &longer));
            assert!(path.is_empty() || !holds(index, size, &path[1..]));
        }
        assert_eq!(inclusion_proof(&leaves, size), None);
    }
}

/// B6: consistency of every pair of trees up to 40 events, and of no other pair.
#[test]
fn small_trees_are_consistent() {
    let all = leaves(40);
    for new in 1..=40usize {
        let new_root = naive_root(&all[..new]);
        for old in 1..=new {
            let old_root = naive_root(&all[..old]);
            let path = consistency_proof(&all[..new], old).unwrap();
            let holds = |old_root: &Hash, path: &[Hash]| {
                verify_consistency((old as u64, old_root), (new as u64, &new_root), path)
            };
            assert!(holds(&old_root, &path), "{old} to {new}");
            let other = naive_root(&all[1..=old.min(39)]);
            assert!(!holds(&other, &path), "{old} to {new}");
            let mut longer = path.clone();
            longer.push(new_root);
            assert!(!holds(&old_root, &longer));
            assert!(path.is_empty() || !holds(&old_root, &path[1..]));
        }
        assert_eq!(consistency_proof(&all[..new], 0), None);
        assert_eq!(consistency_proof(&all[..new], new + 1), None);
    }
}

/// A fixed number of cases, and no files beside the tests.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(64))]

    /// B6: a tree hashed in any pieces, and one continued from its frontier, has the same root.
    #[test]
    fn pieces_join(size in 1usize..600, cuts in proptest::collection::vec(0usize..600, 0..6)) {
        let leaves = leaves(size);
        let root = naive_root(&leaves);
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < size).collect();
        cuts.extend([0, size]);
        cuts.sort_unstable();
        let mut whole = Range::starting_at(0);
        for cut in cuts.windows(2) {
            let mut piece = Range::starting_at(cut[0] as u64);
            for leaf in &leaves[cut[0]..cut[1]] {
                piece.push(*leaf);
            }
            prop_assert!(whole.join(&piece));
            let stored = Range::from_frontier(whole.end(), &whole.frontier()).unwrap();
            prop_assert_eq!(&stored, &whole);
        }
        prop_assert_eq!(whole.root(), Some(root));
        prop_assert!(!whole.join(&Range::starting_at(size as u64 + 1)));
        prop_assert_eq!(Range::from_frontier(whole.end() + 1, &[]), None);
    }

    /// B6: large trees agree with the definition too.
    #[test]
    fn large_trees_are_right(size in 1usize..3_000, index in any::<prop::sample::Index>()) {
        let leaves = leaves(size);
        let index = index.index(size);
        let path = inclusion_proof(&leaves, index).unwrap();
        prop_assert_eq!(&path, &naive_path(&leaves, index));
        let root = naive_root(&leaves);
        prop_assert!(verify_inclusion(&leaves[index], index as u64, size as u64, &path, &root));
    }
}

/// The hash of a line where it lies is the hash of the line, whatever its length.
#[test]
fn a_line_is_hashed_where_it_lies() {
    let bytes: Vec<u8> = (0..=250).cycle().take(400).collect();
    for length in 0..bytes.len() {
        let line = &bytes[..length];
        let prefixed = [&[0], line].concat();
        assert_eq!(
            super::leaf_hash_in_place(&prefixed),
            super::leaf_hash(line),
            "{length}"
        );
    }
}

/// Two lines hashed in turn have the hashes that each has alone, whatever their lengths.
#[test]
fn two_lines_are_hashed_in_turn() {
    let bytes: Vec<u8> = (0..=250).cycle().take(300).collect();
    let prefixed = |length: usize| [&[0], &bytes[..length]].concat();
    for one in (0..bytes.len()).step_by(7) {
        for two in (0..bytes.len()).step_by(11) {
            assert_eq!(
                super::leaf_hashes_in_place(&prefixed(one), &prefixed(two)),
                [&bytes[..one], &bytes[..two]].map(super::leaf_hash),
                "{one} and {two}"
            );
        }
    }
}
