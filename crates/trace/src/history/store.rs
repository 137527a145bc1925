//! Where the bytes of the history lie: somebody else's duty.

use std::collections::HashMap;

use thiserror::Error;

use super::Key;

/// A store could not do what it was asked.
#[derive(Debug, Error)]
#[error("a value can't be read or written")]
pub struct StoreError {
    /// Why.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Values under keys. One writer at a time; whoever implements it holds the lock.
///
/// Everything in it is derived from recorded changes, so that it may be lost without losing a
/// proof. Values are independent of each other: a write that is cut off between two calls leaves at
/// worst an index without its version, which readers step over.
pub trait Store {
    /// The value under a key, if there is one.
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError>;

    /// Sets the value under a key.
    fn put(&mut self, key: &Key, value: &[u8]) -> Result<(), StoreError>;

    /// Adds bytes to the value under a key, or starts it with them.
    fn append(&mut self, key: &Key, more: &[u8]) -> Result<(), StoreError>;
}

/// A store in memory, for tests and for looking at something without keeping it.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(HashMap<Key, Vec<u8>>);

impl MemoryStore {
    /// How many values it holds, and how many bytes they take.
    pub fn size(&self) -> (usize, usize) {
        (self.0.len(), self.0.values().map(Vec::len).sum())
    }
}

impl Store for MemoryStore {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.get(key).cloned())
    }

    fn put(&mut self, key: &Key, value: &[u8]) -> Result<(), StoreError> {
        self.0.insert(key.clone(), value.to_vec());
        Ok(())
    }

    fn append(&mut self, key: &Key, more: &[u8]) -> Result<(), StoreError> {
        self.0
            .entry(key.clone())
            .or_default()
            .extend_from_slice(more);
        Ok(())
    }
}
