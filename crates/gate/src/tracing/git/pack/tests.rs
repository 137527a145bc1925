//! Differences, whole and broken.

use std::path::Path;

use tagout_workspace::files;

use super::{Oid, all, apply, object};

#[test]
fn differences() {
    let base = b"one two three";
    // The base has 13 bytes, the result 11: a copy of 4 from 0, seven of its own.
    let delta = [&[13, 11, 0x90, 4, 7][..], b"and six"].concat();
    assert_eq!(apply(base, &delta, 100).unwrap(), b"one and six");
    // A result beyond the bound, another base, a copy from beyond the end, nothing at all.
    assert_eq!(apply(base, &delta, 10), None);
    assert_eq!(apply(b"another", &delta, 100), None);
    assert_eq!(apply(base, &[13, 4, 0x91, 12, 4], 100), None);
    assert_eq!(apply(base, &[13, 4, 0], 100), None);
    assert_eq!(apply(base, &[], 100), None);
    for cut in 0..delta.len() {
        assert_eq!(apply(base, &delta[..cut], 100), None, "{cut}");
    }
}

/// One entry of a pack whose bytes are not compressed: its head, then a stream of one stored piece.
fn entry(kind: u8, back: Option<u8>, bytes: &[u8]) -> Vec<u8> {
    let size = u16::try_from(bytes.len()).unwrap();
    let low = u8::try_from(size & 0x0f).unwrap();
    let mut made = vec![0x80 | (kind << 4) | low, u8::try_from(size >> 4).unwrap()];
    // What is less than 128 has one digit.
    made.extend(back.filter(|back| *back < 0x80));
    made.extend([0x78, 0x01, 0x01]);
    made.extend(size.to_le_bytes());
    made.extend((!size).to_le_bytes());
    made.extend(bytes);
    let (mut one, mut two) = (1_u32, 0_u32);
    for byte in bytes {
        one = (one + u32::from(*byte)) % 65_521;
        two = (two + one) % 65_521;
    }
    made.extend(((two << 16) | one).to_be_bytes());
    made
}

/// A pack in which each object is a difference to the one before; its index names them 0, 1, 2, …
fn chain(folder: &Path, links: u8) {
    let mut data = b"PACK\0\0\0\x02\0\0\0\0".to_vec();
    let mut offsets = vec![data.len()];
    data.extend(entry(3, None, &[b'x'; 100]));
    // The base and the result have 100 bytes: 80 of its own, a copy of 20.
    let delta = [&[100, 100, 80][..], &[b'y'; 80], &[0x90, 20]].concat();
    for _ in 0..links {
        let back = u8::try_from(data.len() - offsets.last().unwrap()).unwrap();
        offsets.push(data.len());
        data.extend(entry(6, Some(back), &delta));
    }
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for first in 0..256_usize {
        let count = offsets.len().min(first + 1);
        index.extend(u32::try_from(count).unwrap().to_be_bytes());
    }
    for number in 0..offsets.len() {
        index.extend(name(u8::try_from(number).unwrap()));
    }
    index.extend(vec![0; 4 * offsets.len()]);
    for offset in &offsets {
        index.extend(u32::try_from(*offset).unwrap().to_be_bytes());
    }
    std::fs::create_dir(folder.join("pack")).unwrap();
    for (name, bytes) in [("pack/pack-1.pack", data), ("pack/pack-1.idx", index)] {
        files::write_atomic(&folder.join(name), &bytes, None).unwrap();
    }
}

fn name(number: u8) -> [u8; 20] {
    let mut name = [0; 20];
    name[0] = number;
    name
}

/// Invariant 10: the differences of one object are bounded by their bytes too, not only by their
/// number.
#[test]
fn differences_are_bounded_together() {
    let folder = tempfile::tempdir().unwrap();
    chain(folder.path(), 6);
    let mut packs = all(folder.path());
    let mut read = |number: u8| {
        let id = Oid::from_bytes(&name(number)).unwrap();
        object(&mut packs, &id, 100).map(|found| found.bytes)
    };
    let made = [[b'y'; 80].as_slice(), &[b'x'; 20]].concat();
    assert_eq!(read(0), Some(vec![b'x'; 100]));
    assert_eq!(read(1), Some(made));
    // Four differences of 85 bytes fit into four times a hundred, five do not.
    assert!(read(4).is_some());
    assert_eq!(read(5), None);
}
