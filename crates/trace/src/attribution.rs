//! Who put each line there: the lines of one version of a file, and how they reach the next one.
//!
//! A line keeps its author as long as its text stays, wherever it goes: through edits of other
//! lines, moves, formatting and renamed identifiers. Who did such a thing is kept beside the
//! author. What could be read in more than one way is marked [`Certainty::Likely`].

mod carry;
mod certain;
mod moves;
mod recall;
mod reformat;
mod rename;
mod sheet;
mod symbols;

use serde::{Deserialize, Serialize};
use tagout_vocab::{CallId, IntentId, SessionId, Timestamp};

pub(crate) use carry::{Draft, Step, evolve};
pub(crate) use recall::{Earlier, Reach, recall};
pub(crate) use sheet::{Line, Sheet};
pub use symbols::{SymbolCredit, symbols};

#[cfg(test)]
mod tests;

/// One execution that wrote lines: what `blame` tells about them.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The call.
    pub execution: CallId,
    /// The intent it was made for.
    pub intent: Option<IntentId>,
    /// The conversation it belongs to.
    pub session: Option<SessionId>,
    /// The client or program that ran the agent.
    pub agent: Option<String>,
    /// The model behind it.
    pub model: Option<String>,
    /// Who or what approved it: an approval's id, or the rule that allowed it.
    pub approval: Option<String>,
    /// When it was settled.
    pub at: Timestamp,
}

/// The number of an [`Origin`] in a store.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
pub struct OriginNo(pub u32);

/// Who put a line there.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub enum Author {
    /// A governed call.
    Agent(OriginNo),
    /// Someone outside of any governed call, after the file was first seen.
    Human,
    /// Nobody knows: the line was there before the file was first seen.
    Unknown,
}

/// How sure that is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub enum Certainty {
    /// Another reading is possible: repeated lines, text found again after it was gone.
    Likely,
    /// The recorded bytes leave no other reading.
    Certain,
}

/// What happened to a line without making it another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub enum Handling {
    /// It came from another place.
    Moved,
    /// Its blanks, breaks or trailing commas changed.
    Reformatted,
    /// An identifier in it was renamed everywhere.
    Renamed,
}

/// Who put a line there, and who handled it last.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub struct Credit {
    /// Who put it there.
    pub author: Author,
    /// How sure that is.
    pub certainty: Certainty,
    /// What was last done to it, and by whom.
    pub handled: Option<(Handling, Author)>,
}

impl Credit {
    /// A line written just now.
    pub const fn fresh(author: Author) -> Self {
        Self {
            author,
            certainty: Certainty::Certain,
            handled: None,
        }
    }

    /// The same, open to another reading.
    pub const fn likely(mut self) -> Self {
        self.certainty = Certainty::Likely;
        self
    }

    pub(crate) const fn handled(mut self, how: Handling, by: Author) -> Self {
        self.handled = Some((how, by));
        self
    }
}

/// One version of a file with the author of each line.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) sheet: Sheet,
    pub(crate) credits: Vec<Credit>,
}

impl Version {
    pub(crate) fn credit(&self, line: usize) -> Credit {
        let unknown = Credit::fresh(Author::Unknown);
        self.credits.get(line).copied().unwrap_or(unknown)
    }
}

/// A line that says something by itself: fewer letters and digits are found everywhere.
pub(crate) const TELLING_WEIGHT: u32 = 4;

/// Lines with fewer letters together do not hold their place: they may as well have been written
/// again.
pub(crate) const HELD_WEIGHT_MIN: u32 = 12;
