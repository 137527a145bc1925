//! Git's index, as far as it says what is staged.
//!
//! Beside that it remembers what each file looked like to save git some reading, and any `git
//! status` writes that anew. Two indexes that stage the same are the same to people.

/// Bytes of one entry before its name: times, device, inode, mode, owner, size, object, flags.
const FIXED: usize = 62;

/// Whether two indexes stage the same objects under the same names. What is not understood is not
/// the same.
pub(crate) fn stage_the_same(one: &[u8], other: &[u8]) -> bool {
    match (entries(one), entries(other)) {
        (Some(one), Some(other)) => one == other,
        (None, _) | (_, None) => false,
    }
}

/// One entry: its name, and mode, object and flags.
type Entry = (Vec<u8>, Vec<u8>);

fn entries(index: &[u8]) -> Option<Vec<Entry>> {
    let mut rest = index.strip_prefix(b"DIRC")?;
    let version = number(&mut rest)?;
    let count = number(&mut rest)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut found: Vec<Entry> = Vec::new();
    for _ in 0..count {
        let before = found.last().map_or(&[][..], |(name, _)| name);
        let next = entry(&mut rest, version, before)?;
        found.push(next);
    }
    // The checksum of the whole follows, at least.
    (rest.len() >= 20).then_some(found)
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

fn entry(rest: &mut &[u8], version: u32, before: &[u8]) -> Option<Entry> {
    const EXTENDED: u8 = 0x40;
    let fixed = take(rest, FIXED)?;
    let extended = if fixed.get(60)? & EXTENDED == 0 { 0 } else { 2 };
    let further = take(rest, extended)?;
    let kept = if version == 4 {
        before.len().checked_sub(varying(rest)?)?
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
    let (mode, object) = (fixed.get(24..28)?, fixed.get(40..)?);
    Some((name, [mode, object, further].concat()))
}

/// Git's variable-length number.
fn varying(rest: &mut &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    for step in 0..8 {
        let byte = *take(rest, 1)?.first()?;
        value = value.checked_add(usize::from(step > 0))?;
        value = value
            .checked_mul(128)?
            .checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
