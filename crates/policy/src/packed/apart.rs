//! Values that lie apart from the rest of a stored book and stay there until one is asked for: of
//! the hundreds that a book holds, a call needs two or three.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::hash::BuildHasher as _;
use std::ops::Range;
use std::sync::Arc;

use foldhash::quality::FixedState;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Numbers, Runs};

/// Where the values of a book lie apart from it.
pub trait Apart: Send + Sync {
    /// Some bytes of it. `None` where they can't be read.
    fn fetch(&self, range: Range<usize>) -> Option<Vec<u8>>;

    /// What was fetched is not what was written. It is asked for once more after this.
    fn mend(&self);
}

/// Somewhere apart, for as long as the book is in use.
pub type Fetch = Arc<dyn Apart>;

/// Any number, as long as it stays the same.
const SUM_SEED: u64 = 0x4150_4152_5421;
const SUM_BYTES: usize = 8;

thread_local! {
    /// What is put apart of the book that is being written just now.
    static PUT: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
    /// How the book that is being read just now gets what lies apart.
    static GET: RefCell<Option<Fetch>> = const { RefCell::new(None) };
}

/// What `write` writes, and apart from it the values that need not be read with it.
pub(crate) fn put_apart<T>(write: impl FnOnce() -> T) -> (T, Vec<u8>) {
    PUT.set(Some(Vec::new()));
    let written = write();
    (written, PUT.take().unwrap_or_default())
}

/// Lets what `read` reads fetch later what lies apart from it.
pub(crate) fn fetching<T>(fetch: Fetch, read: impl FnOnce() -> T) -> T {
    GET.set(Some(fetch));
    let value = read();
    GET.take();
    value
}

/// Packed values by their places.
#[derive(Clone)]
pub(crate) enum Values {
    Here(Runs),
    There(There),
}

/// Each value is followed by a sum of itself and its place, which finds damage.
#[derive(Clone)]
pub(crate) struct There {
    start: usize,
    ends: Numbers,
    apart: Fetch,
}

/// The form in which values are written.
#[derive(Serialize, Deserialize)]
enum Form<'f> {
    Here(Cow<'f, Runs>),
    There { start: usize, ends: Numbers },
}

impl Values {
    pub(crate) fn of<'r>(runs: impl IntoIterator<Item = &'r [u8]>) -> Self {
        Self::Here(Runs::of(runs))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Here(runs) => runs.len(),
            Self::There(there) => there.ends.len(),
        }
    }

    /// The packed value at a place. What is damaged is as good as not there.
    pub(crate) fn get(&self, at: usize) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Here(runs) => runs.get(at).map(Cow::Borrowed),
            Self::There(there) => there.get(at).map(Cow::Owned),
        }
    }
}

impl There {
    fn get(&self, at: usize) -> Option<Vec<u8>> {
        let own = self.ends.range(at)?;
        let start = self.start.checked_add(own.start)?;
        let end = self.start.checked_add(own.end)?;
        let fetched = || without_sum(self.apart.fetch(start..end)?, start);
        fetched().or_else(|| {
            self.apart.mend();
            fetched()
        })
    }
}

fn without_sum(mut bytes: Vec<u8>, place: usize) -> Option<Vec<u8>> {
    let (value, sum) = bytes.split_last_chunk::<SUM_BYTES>()?;
    let length = value.len();
    let is_whole = u64::from_le_bytes(*sum) == sum_of(place, value);
    bytes.truncate(length);
    is_whole.then_some(bytes)
}

fn sum_of(place: usize, value: &[u8]) -> u64 {
    FixedState::with_seed(SUM_SEED).hash_one((place as u64, value))
}

/// Puts values apart, if the book that is being written wants that.
fn put(runs: &Runs) -> Option<Form<'static>> {
    PUT.with_borrow_mut(|apart| {
        let apart = apart.as_mut()?;
        let start = apart.len();
        let mut ends = Vec::with_capacity(runs.len());
        for value in runs.iter() {
            let sum = sum_of(apart.len(), value);
            apart.extend_from_slice(value);
            apart.extend(sum.to_le_bytes());
            ends.push(apart.len() - start);
        }
        let ends = Numbers::of(ends);
        Some(Form::There { start, ends })
    })
}

impl Default for Values {
    fn default() -> Self {
        Self::Here(Runs::default())
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        let same = |at| self.get(at) == other.get(at);
        self.len() == other.len() && (0..self.len()).all(same)
    }
}

impl Eq for Values {}

impl fmt::Debug for Values {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} packed values", self.len())
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self::Here(runs) = self else {
            // Whoever writes books has put them together, and then everything is here.
            return Err(S::Error::custom("what lies apart is not written again"));
        };
        let form = put(runs).unwrap_or(Form::Here(Cow::Borrowed(runs)));
        form.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Here(runs) => Ok(Self::Here(runs.into_owned())),
            Form::There { start, ends } => {
                let apart = GET.with_borrow(Clone::clone);
                let apart = apart.ok_or_else(|| D::Error::custom("nothing lies apart"))?;
                Ok(Self::There(There { start, ends, apart }))
            }
        }
    }
}
