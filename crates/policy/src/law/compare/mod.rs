//! What a change of the repository's files would narrow or widen, and what holds until a person
//! accepted it.

mod ignore;
mod intents;
mod layers;

pub use ignore::compare_ignore;
pub use intents::{StandingIntent, compare_intents, effective_intents, withdrawn_intents};
pub use layers::compare_layers;

use serde::{Deserialize, Serialize};

/// Which way a change goes. What can't be shown to narrow widens.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Lets more through: waits for a person.
    Widens,
    /// Lets less through: holds at once.
    Narrows,
    /// Lets through what it let through before.
    Neutral,
}

/// One difference.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
pub struct Change {
    /// Which way it goes.
    pub kind: ChangeKind,
    /// What changes, for a person.
    pub what: String,
}

/// Gathers differences.
#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn add(&mut self, kind: ChangeKind, what: impl Into<String>) {
        self.0.push(Change {
            kind,
            what: what.into(),
        });
    }

    /// A value on a scale where more lets less through.
    fn strictness<T: Ord>(&mut self, old: &T, new: &T, what: impl FnOnce() -> String) {
        match new.cmp(old) {
            std::cmp::Ordering::Less => self.add(ChangeKind::Widens, what()),
            std::cmp::Ordering::Greater => self.add(ChangeKind::Narrows, what()),
            std::cmp::Ordering::Equal => {}
        }
    }

    /// Entries of a list in which each one lets less through.
    fn denials<'a, T: PartialEq + 'a>(
        &mut self,
        old: &'a [T],
        new: &'a [T],
        shown: impl Fn(&T) -> String,
    ) {
        for entry in new.iter().filter(|entry| !old.contains(entry)) {
            self.add(ChangeKind::Narrows, format!("adds {}", shown(entry)));
        }
        for entry in old.iter().filter(|entry| !new.contains(entry)) {
            self.add(ChangeKind::Widens, format!("removes {}", shown(entry)));
        }
    }

    /// Entries of a list in which each one lets more through.
    fn grants<'a, T: PartialEq + 'a>(
        &mut self,
        old: &'a [T],
        new: &'a [T],
        shown: impl Fn(&T) -> String,
    ) {
        for entry in new.iter().filter(|entry| !old.contains(entry)) {
            self.add(ChangeKind::Widens, format!("adds {}", shown(entry)));
        }
        for entry in old.iter().filter(|entry| !new.contains(entry)) {
            self.add(ChangeKind::Narrows, format!("removes {}", shown(entry)));
        }
    }
}

#[cfg(test)]
mod tests;
