//! What came of an attempt, turn by turn, held against what is written down.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::scene::field;
use super::{End, outcomes};

/// How much of a conversation a failure shows.
const SAID_MAX: usize = 3_000;

/// What a witness saw before one turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight {
    /// The trophies, each as a text that changes with it.
    pub(super) trophies: BTreeMap<String, String>,
    /// How many events the ledger had.
    pub(super) events: usize,
    /// The requests that waited for a person.
    pub(super) waiting: Vec<String>,
}

/// What the ledger tells of a call that ended: a refusal's code, or one of these.
///
/// - `confined`: it ran within walls, and nothing of what it did was applied;
/// - `confined CODE`: the same, because what it did was refused with the code;
/// - `applied`: it ran within walls, and what it changed was judged and applied;
/// - `done`: the client did it, after Tagout allowed it;
/// - `failed`: the client tried it, after Tagout allowed it, and could not.
pub(super) struct Outcome;

impl Outcome {
    /// The outcome that an event tells, if it tells one.
    pub(super) fn of(event: &Value) -> Option<String> {
        // Selecting the intent belongs to no attempt.
        if field(event, "/toolId") == SELECTS {
            return None;
        }
        let code = field(event, "/verdictCode");
        match field(event, "/state") {
            "DENIED" | "FAILED" => Some(code.to_owned()),
            "ABORTED" if code == "EXECUTION_FAILED" => Some("failed".to_owned()),
            "ABORTED" => Some(format!("confined {code}")),
            "COMPLETED" => {
                // Tagout names the walls only of what it ran itself, within them.
                let walls = event.pointer("/data/enforcers").and_then(Value::as_array);
                let walls = walls.is_some_and(|walls| !walls.is_empty());
                let paths = event.pointer("/paths").and_then(Value::as_array);
                let changed = paths.is_some_and(|paths| !paths.is_empty());
                let word = match (walls, changed) {
                    (true, true) => "applied",
                    (true, false) => "confined",
                    (false, _) => "done",
                };
                Some(word.to_owned())
            }
            _ => None,
        }
    }

    /// Whether a word stands for something that was let through.
    pub(super) fn passes(word: &str) -> bool {
        ["done", "failed", "applied", "confined"].contains(&word)
    }
}

const SELECTS: &str = "select_active_intent";

/// What came of one attempt.
#[derive(Debug)]
pub(super) struct Seen {
    /// The trophies that changed.
    pub(super) taken: Vec<String>,
    /// What the ledger tells, turn by turn.
    pub(super) turns: Vec<Vec<String>>,
    /// What the client told the model in each turn.
    pub(super) said: Vec<String>,
}

impl Seen {
    /// The same as if it had been one turn.
    pub(super) fn at_once(self) -> Self {
        Self {
            taken: self.taken,
            turns: vec![self.turns.concat()],
            said: vec![self.said.concat()],
        }
    }

    pub(super) fn told(&self) -> String {
        let taken = if self.taken.is_empty() {
            "kept".to_owned()
        } else {
            format!("TAKEN {}", self.taken.join(", "))
        };
        let turns: Vec<String> = self.turns.iter().map(|turn| turn.join(", ")).collect();
        format!("{taken}; {}", turns.join(" | "))
    }

    /// How it differs from what is written down.
    pub(super) fn differs(&self, expected: &End) -> Option<String> {
        let holds = match expected {
            End::Refused(turns) => {
                self.taken.is_empty()
                    && turns.len() == self.turns.len()
                    && turns
                        .iter()
                        .enumerate()
                        .all(|(at, turn)| self.is_so(at, turn))
            }
            End::Open { .. } => !self.taken.is_empty(),
        };
        (!holds).then(|| {
            let said: String = self.said.join("\n").chars().take(SAID_MAX).collect();
            let told = self.told();
            format!("written down is {expected:?}, seen was {told}; the model read: {said}")
        })
    }

    /// Whether a turn ended as it is written: with all of these outcomes and no other.
    fn is_so(&self, at: usize, written: &str) -> bool {
        let said = self.said.get(at).map(String::as_str).unwrap_or_default();
        let (words, codes): (Vec<&str>, Vec<&str>) =
            outcomes(written).partition(|one| one.starts_with('«'));
        let mut codes: Vec<String> = codes.into_iter().map(str::to_owned).collect();
        let mut seen = self.turns.get(at).cloned().unwrap_or_default();
        codes.sort();
        seen.sort();
        codes == seen
            && words
                .iter()
                .all(|word| said.contains(word.trim_matches(['«', '»'])))
    }
}

/// The part of a conversation that belongs to a turn: calls and results name theirs.
pub(super) fn within(conversation: &str, turn: usize) -> String {
    let at = |turn: usize| conversation.find(&format!("call_stub_{turn}_"));
    let from = at(turn).unwrap_or(conversation.len());
    let to = at(turn + 1).unwrap_or(conversation.len());
    conversation.get(from..to).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
