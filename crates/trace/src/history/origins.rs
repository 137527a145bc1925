//! Origins by number, so that a line's author is a few bits.

use super::{HistoryError, Key, Store};
use crate::attribution::{Origin, OriginNo};

/// The origins in a store.
#[derive(Debug)]
pub(crate) struct Origins<'a, S>(pub(crate) &'a S);

impl<S: Store> Origins<'_, S> {
    pub(crate) fn find(&self, number: OriginNo) -> Result<Option<Origin>, HistoryError> {
        let key = Key::origin(number.0);
        let Some(bytes) = self.0.get(&key)? else {
            return Ok(None);
        };
        let origin = serde_json::from_slice(&bytes).map_err(|_| HistoryError::Damaged {
            key: key.to_string(),
            what: "an origin",
        })?;
        Ok(Some(origin))
    }

    pub(crate) fn number_of(&self, execution: &str) -> Result<Option<OriginNo>, HistoryError> {
        number(self.0, &Key::origin_of(execution)).map(|found| found.map(OriginNo))
    }
}

/// The number of an origin, given now if it has none yet.
pub(crate) fn assign<S: Store>(store: &mut S, origin: &Origin) -> Result<OriginNo, HistoryError> {
    let execution = origin.execution.as_str();
    if let Some(known) = Origins(store).number_of(execution)? {
        return Ok(known);
    }
    let next = number(store, &Key::origin_count())?.unwrap_or(0);
    let key = Key::origin(next);
    let bytes = serde_json::to_vec(origin).map_err(|_| HistoryError::Damaged {
        key: key.to_string(),
        what: "an origin that can be written",
    })?;
    store.put(&key, &bytes)?;
    // The count moves before the name is given: a cut between the two wastes a number and never
    // gives one twice.
    store.put(&Key::origin_count(), &next.saturating_add(1).to_be_bytes())?;
    store.put(&Key::origin_of(execution), &next.to_be_bytes())?;
    Ok(OriginNo(next))
}

fn number<S: Store>(store: &S, key: &Key) -> Result<Option<u32>, HistoryError> {
    let Some(bytes) = store.get(key)? else {
        return Ok(None);
    };
    let bytes: [u8; 4] = bytes.try_into().map_err(|_| HistoryError::Damaged {
        key: key.to_string(),
        what: "a number of four bytes",
    })?;
    Ok(Some(u32::from_be_bytes(bytes)))
}
