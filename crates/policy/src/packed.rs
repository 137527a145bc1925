//! Values that stay packed until someone asks for them: a short-lived process pays only for what it
//! looks at.

mod apart;

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

pub use apart::{Apart, Fetch};
pub(crate) use apart::{Values, fetching, put_apart};

use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

thread_local! {
    /// What is being read just now by someone who keeps it.
    static SOURCE: RefCell<Option<Arc<Vec<u8>>>> = const { RefCell::new(None) };
}

/// Lets what `read` reads out of a source keep its bytes there instead of copying them.
pub(crate) fn sharing<T>(source: &Arc<Vec<u8>>, read: impl FnOnce() -> T) -> T {
    SOURCE.set(Some(Arc::clone(source)));
    let value = read();
    SOURCE.take();
    value
}

/// Bytes that are written and read as one run, not one by one.
#[derive(Clone, Default)]
struct Bytes {
    all: Arc<Vec<u8>>,
    own: Range<usize>,
}

impl Bytes {
    fn of(bytes: Vec<u8>) -> Self {
        let own = 0..bytes.len();
        Self {
            all: Arc::new(bytes),
            own,
        }
    }

    /// The same bytes where they already lie, if someone keeps them there.
    fn found(bytes: &[u8]) -> Self {
        SOURCE
            .with_borrow(|source| {
                let all = source.as_ref()?;
                let start = bytes.as_ptr().addr().checked_sub(all.as_ptr().addr())?;
                let own = start..start.checked_add(bytes.len())?;
                // An empty run may begin anywhere, so what lies there is looked at.
                (all.get(own.clone())? == bytes).then(|| Self {
                    all: Arc::clone(all),
                    own,
                })
            })
            .unwrap_or_else(|| Self::of(bytes.to_vec()))
    }

    fn get(&self) -> &[u8] {
        self.all.get(self.own.clone()).unwrap_or_default()
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(formatter)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.get())
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Run;
        impl Visitor<'_> for Run {
            type Value = Bytes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes::found(bytes))
            }
        }
        deserializer.deserialize_bytes(Run)
    }
}

/// Numbers in four bytes each, which are not read before they are asked for.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Numbers(Bytes);

const NUMBER_BYTES: usize = 4;

impl Numbers {
    pub(crate) fn of(numbers: impl IntoIterator<Item = usize>) -> Self {
        let bytes = |number| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        Self(Bytes::of(numbers.into_iter().flat_map(bytes).collect()))
    }

    pub(crate) fn get(&self, at: usize) -> Option<usize> {
        let rest = self.0.get().get(at.checked_mul(NUMBER_BYTES)?..)?;
        usize::try_from(u32::from_le_bytes(*rest.first_chunk()?)).ok()
    }

    fn len(&self) -> usize {
        self.0.get().len() / NUMBER_BYTES
    }

    /// The range that ends with the number at a place, and begins with the one before it.
    fn range(&self, at: usize) -> Option<Range<usize>> {
        let before = at.checked_sub(1).and_then(|before| self.get(before));
        Some(before.unwrap_or_default()..self.get(at)?)
    }
}

/// Many runs of bytes in one.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Runs {
    bytes: Bytes,
    ends: Numbers,
}

impl Runs {
    pub(crate) fn of<'r>(runs: impl IntoIterator<Item = &'r [u8]>) -> Self {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for run in runs {
            bytes.extend_from_slice(run);
            ends.push(bytes.len());
        }
        Self {
            bytes: Bytes::of(bytes),
            ends: Numbers::of(ends),
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<&[u8]> {
        self.bytes.get().get(self.ends.range(at)?)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// The place of a name among runs that are sorted names.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle)?.cmp(name.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// Named values, sorted by name, of which each stays packed until it is asked for.
///
/// A value that can't be unpacked is as good as not there, and what is not there is refused.
pub(crate) struct Drawer<T> {
    names: Runs,
    values: Values,
    open: Vec<OnceLock<Option<Box<T>>>>,
}

impl<T: Serialize + DeserializeOwned> Drawer<T> {
    /// Packs values under their names.
    pub(crate) fn of(mut values: Vec<T>, name: impl Fn(&T) -> &str) -> Self {
        values.sort_by(|a, b| name(a).cmp(name(b)));
        let packed: Vec<Vec<u8>> = values.iter().map(pack).collect();
        Self::holding(
            Runs::of(values.iter().map(|value| name(value).as_bytes())),
            Values::of(packed.iter().map(Vec::as_slice)),
        )
    }

    fn holding(names: Runs, values: Values) -> Self {
        let open = (0..names.len()).map(|_| OnceLock::new()).collect();
        Self {
            names,
            values,
            open,
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.find(name).is_some()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.at(self.names.find(name)?)
    }

    fn at(&self, at: usize) -> Option<&T> {
        let unpacked = || unpack(&self.values.get(at)?).map(Box::new);
        self.open.get(at)?.get_or_init(unpacked).as_deref()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.names.len()).filter_map(|at| self.at(at))
    }
}

fn pack<T: Serialize>(value: &T) -> Vec<u8> {
    // What can't be packed can't be unpacked either, and is then not there.
    postcard::to_allocvec(value).unwrap_or_default()
}

fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}

impl<T: Serialize + DeserializeOwned> Clone for Drawer<T> {
    fn clone(&self) -> Self {
        Self::holding(self.names.clone(), self.values.clone())
    }
}

impl<T> PartialEq for Drawer<T> {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names && self.values == other.values
    }
}

impl<T> Eq for Drawer<T> {}

impl<T> fmt::Debug for Drawer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names.iter().map(String::from_utf8_lossy);
        formatter.debug_set().entries(names).finish()
    }
}

impl<T> Serialize for Drawer<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.names, &self.values).serialize(serializer)
    }
}

impl<'de, T: Serialize + DeserializeOwned> Deserialize<'de> for Drawer<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (names, values): (Runs, Values) = Deserialize::deserialize(deserializer)?;
        if names.len() != values.len() {
            return Err(D::Error::custom("as many names as values"));
        }
        Ok(Self::holding(names, values))
    }
}

/// One value that stays packed until it is asked for.
pub(crate) struct Packed<T> {
    value: Values,
    open: OnceLock<Option<Box<T>>>,
}

impl<T: Serialize + DeserializeOwned> Packed<T> {
    pub(crate) fn of(value: &T) -> Self {
        Self::holding(Values::of([pack(value).as_slice()]))
    }

    const fn holding(value: Values) -> Self {
        Self {
            value,
            open: OnceLock::new(),
        }
    }

    /// The value. `None` where it can't be unpacked: nothing may then be taken for granted.
    pub(crate) fn get(&self) -> Option<&T> {
        let unpacked = || unpack(&self.value.get(0)?).map(Box::new);
        self.open.get_or_init(unpacked).as_deref()
    }
}

impl<T: Serialize + DeserializeOwned + Default> Default for Packed<T> {
    fn default() -> Self {
        Self::of(&T::default())
    }
}

impl<T: Serialize + DeserializeOwned> Clone for Packed<T> {
    fn clone(&self) -> Self {
        Self::holding(self.value.clone())
    }
}

impl<T> PartialEq for Packed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T> Eq for Packed<T> {}

impl<T: Serialize + DeserializeOwned + fmt::Debug> fmt::Debug for Packed<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(formatter)
    }
}

impl<T> Serialize for Packed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de, T: Serialize + DeserializeOwned> Deserialize<'de> for Packed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Values::deserialize(deserializer).map(Self::holding)
    }
}

#[cfg(test)]
mod tests;
