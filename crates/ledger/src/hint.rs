//! What a look at the ledger's end found besides the end itself, noted in the lock's own file for
//! the next process: the last segment, and how far the ledger is sealed.
//!
//! It only saves work. It is believed for as long as the checkpoint is the very file that was
//! looked at, no further segment is there, and the bytes are those that were written; what it says
//! is then what another look would find. Whoever could write it could write the rest too.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use tagout_vocab::{Digest, Timestamp};

use crate::format::Identity;
use crate::seal::{self, Mark};

const MAGIC: [u8; 8] = *b"TAGOUTH1";
const NUMBER_BYTES: usize = 8;
/// Segment, size and time, then the six numbers that tell one file from another.
const NUMBERS: usize = 9;
const BODY_BYTES: usize = MAGIC.len() + NUMBERS * NUMBER_BYTES;
const SUM_BYTES: usize = 8;

/// The last segment, and how far the ledger is sealed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Hint {
    pub(crate) number: u64,
    pub(crate) sealed: Mark,
}

/// What was noted, if it still holds. Under the lock.
pub(crate) fn read(lock: &File, dir: &Path) -> Option<Hint> {
    let mut bytes = [0; BODY_BYTES + SUM_BYTES];
    lock.read_exact_at(&mut bytes, 0).ok()?;
    let (body, sum) = bytes.split_first_chunk::<BODY_BYTES>()?;
    if *sum != sum_of(body) {
        return None;
    }
    let mut numbers = body.strip_prefix(&MAGIC)?.chunks_exact(NUMBER_BYTES);
    let mut next = || Some(u64::from_le_bytes(numbers.next()?.try_into().ok()?));
    let (number, size, time) = (next()?, next()?, next()?);
    let checkpoint = [next()?, next()?, next()?, next()?, next()?, next()?];
    (identity(dir)? == checkpoint).then(|| Hint {
        number,
        sealed: Mark {
            size,
            time: Some(Timestamp::from_millis(time.cast_signed())),
        },
    })
}

/// Notes what was found. Under the lock; without the note the next process looks for itself.
pub(crate) fn note(lock: &File, dir: &Path, hint: Hint) {
    let Some(time) = hint.sealed.time else {
        return;
    };
    let Some(checkpoint) = identity(dir) else {
        return;
    };
    let time = time.as_millis().cast_unsigned();
    let numbers = [hint.number, hint.sealed.size, time];
    let mut bytes = MAGIC.to_vec();
    for number in numbers.into_iter().chain(checkpoint) {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(sum_of(&bytes));
    lock.write_all_at(&bytes, 0).unwrap_or_default();
}

fn identity(dir: &Path) -> Option<[u64; 6]> {
    Identity::of(&seal::checkpoint_path(dir)).map(Identity::numbers)
}

/// It finds what a crash tore.
fn sum_of(body: &[u8]) -> [u8; SUM_BYTES] {
    let digest = Digest::of(body);
    let first = digest.as_bytes().first_chunk::<SUM_BYTES>();
    first.copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
