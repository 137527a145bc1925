//! Objects in packs: found by the pack's index, put together from their differences.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use tagout_vocab::limits::{GIT_DELTAS_MAX, GIT_DELTAS_TIMES_MAX, GIT_PACKS_MAX};

use super::Left;
use super::object::{Kind, Object, Oid, compressed};

/// One pack, opened when something is looked for in it.
#[derive(Debug)]
pub(super) struct Pack {
    index: PathBuf,
    opened: OnceCell<Option<Opened>>,
}

#[derive(Debug)]
struct Opened {
    index: File,
    data: File,
    count: u64,
}

/// The packs of one object store.
pub(super) fn all(store: &Path) -> Vec<Pack> {
    let Ok(found) = std::fs::read_dir(store.join("pack")) else {
        return Vec::new();
    };
    let paths = found.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "idx"))
        .take(GIT_PACKS_MAX)
        .collect();
    paths.sort_unstable();
    let pack = |index| Pack {
        index,
        opened: OnceCell::new(),
    };
    paths.into_iter().map(pack).collect()
}

fn at(file: &mut File, offset: u64, length: usize) -> Option<Vec<u8>> {
    let bytes = up_to(file, offset, length)?;
    (bytes.len() == length).then_some(bytes)
}

/// What is there of so many bytes.
fn up_to(file: &mut File, offset: u64, length: usize) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(offset)).ok()?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(length).ok()?;
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn number(file: &mut File, offset: u64) -> Option<u64> {
    let bytes: [u8; 4] = at(file, offset, 4)?.try_into().ok()?;
    Some(u64::from(u32::from_be_bytes(bytes)))
}

/// Where the table of first bytes begins in an index of version 2, and where it ends.
const FANOUT_AT: u64 = 8;
const NAMES_AT: u64 = FANOUT_AT + 256 * 4;

impl Opened {
    fn open(path: &Path) -> Option<Self> {
        let data = path.with_extension("pack");
        // Who opens a pipe waits for somebody to write to it.
        let is_file = |path: &Path| std::fs::metadata(path).is_ok_and(|found| found.is_file());
        if !is_file(path) || !is_file(&data) {
            return None;
        }
        let mut index = File::open(path).ok()?;
        if at(&mut index, 0, 8)? != *b"\xfftOc\x00\x00\x00\x02" {
            return None;
        }
        let mut data = File::open(data).ok()?;
        if at(&mut data, 0, 4)? != *b"PACK" {
            return None;
        }
        let count = number(&mut index, NAMES_AT - 4)?;
        Some(Self { index, data, count })
    }

    /// Where an object begins in the pack.
    fn find(&mut self, id: &Oid) -> Option<u64> {
        let first = u64::from(id.first());
        let mut low = match first.checked_sub(1) {
            None => 0,
            Some(before) => number(&mut self.index, FANOUT_AT + before * 4)?,
        };
        let mut high = number(&mut self.index, FANOUT_AT + first * 4)?.min(self.count);
        let length = id.as_bytes().len();
        let wide = u64::try_from(length).ok()?;
        while low < high {
            let middle = low.midpoint(high);
            let name = at(&mut self.index, NAMES_AT + middle * wide, length)?;
            match name.as_slice().cmp(id.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset(middle, wide),
            }
        }
        None
    }

    fn offset(&mut self, position: u64, wide: u64) -> Option<u64> {
        const FAR: u64 = 0x8000_0000;
        let offsets = NAMES_AT + self.count * (wide + 4);
        let near = number(&mut self.index, offsets + position * 4)?;
        let Some(far) = near.checked_sub(FAR) else {
            return Some(near);
        };
        let far = at(&mut self.index, offsets + self.count * 4 + far * 8, 8)?;
        Some(u64::from_be_bytes(far.try_into().ok()?))
    }

    /// What begins at an offset: an object, or a difference to another.
    fn entry(
        &mut self,
        offset: u64,
        (wide, max): (usize, usize),
        left: &mut Left,
    ) -> Option<(Base, Vec<u8>)> {
        /// Kind, length and the name of another object at most.
        const HEAD: usize = 64;
        let head = up_to(&mut self.data, offset, HEAD)?;
        let mut rest = head.as_slice();
        let (kind, length) = header(&mut rest)?;
        let base = match kind {
            1 => Base::None(Kind::Commit),
            2 => Base::None(Kind::Tree),
            3 => Base::None(Kind::Blob),
            4 => Base::None(Kind::Tag),
            6 => Base::At(offset.checked_sub(back(&mut rest)?)?),
            7 => {
                let (id, behind) = rest.split_at_checked(wide)?;
                rest = behind;
                Base::Named(Oid::from_bytes(id)?)
            }
            _ => return None,
        };
        if length > max {
            return None;
        }
        left.take(length)?;
        let begin = offset + u64::try_from(head.len() - rest.len()).ok()?;
        let packed = up_to(&mut self.data, begin, compressed(length))?;
        let bytes = decompress_to_vec_zlib_with_limit(&packed, length).ok()?;
        (bytes.len() == length).then_some((base, bytes))
    }
}

/// What an entry stands on.
#[derive(Debug)]
enum Base {
    None(Kind),
    At(u64),
    Named(Oid),
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (first, left) = rest.split_first()?;
    *rest = left;
    Some(*first)
}

/// Kind and length of an entry.
fn header(rest: &mut &[u8]) -> Option<(u8, usize)> {
    let first = byte(rest)?;
    let mut length = usize::from(first & 0x0f);
    let mut shift = 4;
    let mut more = first & 0x80 != 0;
    while more {
        let next = byte(rest)?;
        length |= usize::from(next & 0x7f).checked_shl(shift)?;
        shift = shift.checked_add(7).filter(|shift| *shift < 60)?;
        more = next & 0x80 != 0;
    }
    Some(((first >> 4) & 0x07, length))
}

/// How far back another entry begins.
fn back(rest: &mut &[u8]) -> Option<u64> {
    let mut next = byte(rest)?;
    let mut value = u64::from(next & 0x7f);
    while next & 0x80 != 0 {
        next = byte(rest)?;
        value = value.checked_add(1)?.checked_mul(128)?;
        value = value.checked_add(u64::from(next & 0x7f))?;
    }
    Some(value)
}

impl Pack {
    fn open(&mut self) -> Option<&mut Opened> {
        self.opened.get_or_init(|| Opened::open(&self.index));
        self.opened.get_mut()?.as_mut()
    }
}

/// An object of some packs, of at most so many bytes.
pub(super) fn object(packs: &mut [Pack], id: &Oid, max: usize, left: &mut Left) -> Option<Object> {
    let (mut number, mut offset) = find(packs, id)?;
    let wide = id.as_bytes().len();
    let mut deltas = Vec::new();
    let mut held = Left(max.saturating_mul(GIT_DELTAS_TIMES_MAX));
    loop {
        let pack = packs.get_mut(number)?.open()?;
        let (base, bytes) = pack.entry(offset, (wide, max), left)?;
        match base {
            Base::None(kind) => return whole((kind, bytes), &deltas, max, left),
            Base::At(earlier) => offset = earlier,
            Base::Named(id) => (number, offset) = find(packs, &id)?,
        }
        if deltas.len() >= GIT_DELTAS_MAX {
            return None;
        }
        held.take(bytes.len())?;
        deltas.push(bytes);
    }
}

fn find(packs: &mut [Pack], id: &Oid) -> Option<(usize, u64)> {
    let mut all = packs.iter_mut().enumerate();
    all.find_map(|(number, pack)| Some((number, pack.open()?.find(id)?)))
}

fn whole(
    (kind, mut bytes): (Kind, Vec<u8>),
    deltas: &[Vec<u8>],
    max: usize,
    left: &mut Left,
) -> Option<Object> {
    for delta in deltas.iter().rev() {
        bytes = apply(&bytes, delta, max)?;
        left.take(bytes.len())?;
    }
    Some(Object { kind, bytes })
}

fn size(rest: &mut &[u8]) -> Option<usize> {
    let (mut value, mut shift) = (0_usize, 0_u32);
    loop {
        let next = byte(rest)?;
        value |= usize::from(next & 0x7f).checked_shl(shift)?;
        if next & 0x80 == 0 {
            return Some(value);
        }
        shift = shift.checked_add(7).filter(|shift| *shift < 60)?;
    }
}

/// The bytes of a copy's offset or length that its first byte announces.
fn sparse(rest: &mut &[u8], announced: u8, count: u32) -> Option<usize> {
    let mut value = 0;
    for place in 0..count {
        if announced & (1 << place) != 0 {
            value |= usize::from(byte(rest)?) << (8 * place);
        }
    }
    Some(value)
}

/// A text put together from pieces of another and bytes of its own.
fn apply(base: &[u8], delta: &[u8], max: usize) -> Option<Vec<u8>> {
    let mut rest = delta;
    if size(&mut rest)? != base.len() {
        return None;
    }
    let length = size(&mut rest).filter(|length| *length <= max)?;
    let mut made = Vec::with_capacity(length);
    while !rest.is_empty() {
        let order = byte(&mut rest)?;
        let piece = if order & 0x80 == 0 {
            let (own, left) = rest
                .split_at_checked(usize::from(order))
                .filter(|_| order > 0)?;
            rest = left;
            own
        } else {
            let from = sparse(&mut rest, order & 0x0f, 4)?;
            let count = match sparse(&mut rest, (order >> 4) & 0x07, 3)? {
                0 => 0x1_0000,
                count => count,
            };
            base.get(from..from.checked_add(count)?)?
        };
        if made.len().saturating_add(piece.len()) > length {
            return None;
        }
        made.extend_from_slice(piece);
    }
    (made.len() == length).then_some(made)
}

#[cfg(test)]
mod tests;
