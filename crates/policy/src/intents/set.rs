//! The intents of a workspace, found by id without looking at the others.

use serde::{Deserialize, Serialize};
use tagout_vocab::{Intent, IntentId};
use thiserror::Error;

/// Intents sorted by id. The compiled law stores it, so it is plain data without skipped fields.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IntentSet {
    intents: Vec<Intent>,
}

/// Two intents of the same id: which of them decides would be chance.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
#[error("the intent `{id}` is declared twice")]
pub struct DuplicateIntent {
    /// The id that both have.
    pub id: IntentId,
}

/// Ids that are compared with an unknown one; the nearest is a courtesy, not worth a long search.
const NEAREST_CANDIDATES_MAX: usize = 2_000;

impl IntentSet {
    /// The set of these intents, unless two have the same id.
    pub fn new(mut intents: Vec<Intent>) -> Result<Self, DuplicateIntent> {
        intents.sort_by(|left, right| left.id.cmp(&right.id));
        let twice = intents
            .iter()
            .zip(intents.iter().skip(1))
            .find(|(left, right)| left.id == right.id);
        if let Some((twice, _)) = twice {
            return Err(DuplicateIntent {
                id: twice.id.clone(),
            });
        }
        Ok(Self { intents })
    }

    /// The intent of this id.
    pub fn get(&self, id: &IntentId) -> Option<&Intent> {
        let found = self.intents.binary_search_by(|intent| intent.id.cmp(id));
        found.ok().and_then(|index| self.intents.get(index))
    }

    /// Every intent, by id.
    pub fn iter(&self) -> std::slice::Iter<'_, Intent> {
        self.intents.iter()
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.intents.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.intents.is_empty()
    }

    /// The id that an unknown one was probably meant to be. For messages, not for decisions.
    pub fn nearest_id(&self, wrong: &str) -> Option<&IntentId> {
        let candidates = || self.intents.iter().take(NEAREST_CANDIDATES_MAX);
        let near = crate::problem::nearest(wrong, candidates().map(|intent| intent.id.as_str()))?;
        candidates()
            .map(|intent| &intent.id)
            .find(|id| id.as_str() == near)
    }
}

impl<'a> IntoIterator for &'a IntentSet {
    type Item = &'a Intent;
    type IntoIter = std::slice::Iter<'a, Intent>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
