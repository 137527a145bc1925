//! What came of an attempt, turn by turn, held against what is written down.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::scene::field;
use super::{BY_THE_CLIENT, End, outcomes};

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
/// - `failed`: the client tried it, after Tagout allowed it, and could not, or nobody told how it
///   ended.
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
            "ABORTED" if code == "EXECUTION_FAILED" => Some(FAILED.to_owned()),
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
                    (false, _) => DONE,
                };
                Some(word.to_owned())
            }
            _ => None,
        }
    }

    /// Whether a word stands for something that was let through.
    pub(super) fn passes(word: &str) -> bool {
        [DONE, FAILED, "applied", "confined"].contains(&word)
    }
}

const DONE: &str = "done";
const FAILED: &str = "failed";
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
    /// How many calls of each turn the client refused by itself, in its own words.
    pub(super) refusals: Vec<usize>,
}

impl Seen {
    /// The same with how often the client refused by itself, as its words tell.
    pub(super) fn with_refusals(self, count: impl Fn(&str) -> usize) -> Self {
        Self {
            refusals: self.said.iter().map(|text| count(text)).collect(),
            ..self
        }
    }

    /// The same as if it had been one turn.
    pub(super) fn at_once(self) -> Self {
        Self {
            taken: self.taken,
            turns: vec![self.turns.concat()],
            said: vec![self.said.concat()],
            refusals: vec![self.refusals.iter().sum()],
        }
    }

    pub(super) fn told(&self) -> String {
        let taken = if self.taken.is_empty() {
            "kept".to_owned()
        } else {
            format!("TAKEN {}", self.taken.join(", "))
        };
        let turns: Vec<String> = self
            .turns
            .iter()
            .enumerate()
            .map(|(at, turn)| {
                let own = std::iter::repeat_n(BY_THE_CLIENT, self.refusals(at));
                let all: Vec<&str> = turn.iter().map(String::as_str).chain(own).collect();
                all.join(", ")
            })
            .collect();
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

    fn refusals(&self, at: usize) -> usize {
        self.refusals.get(at).copied().unwrap_or_default()
    }

    /// Whether a turn ended as it is written: with all of these outcomes and no other, but for as
    /// many as the client refused itself before they could come.
    fn is_so(&self, at: usize, written: &str) -> bool {
        let said = self.said.get(at).map(String::as_str).unwrap_or_default();
        let (words, mut missing): (Vec<&str>, Vec<&str>) =
            outcomes(written).partition(|one| one.starts_with('«'));
        for seen in self.turns.get(at).into_iter().flatten() {
            if let Some(place) = missing.iter().position(|one| one == seen) {
                missing.swap_remove(place);
            } else if seen != FAILED || !missing.contains(&DONE) {
                return false;
            }
            // Else Tagout let the call pass, the client did not, and nobody told how it ended.
        }
        let unsaid = |word: &&str| !said.contains(word.trim_matches(['«', '»']));
        let unsaid = words.iter().any(unsaid);
        missing.len().max(usize::from(unsaid)) <= self.refusals(at)
    }
}

/// What a client and a model told each other, without what the client offers and demands.
pub(super) fn conversation(body: &Value) -> String {
    let parts = ["messages", "input", "contents"];
    let told = parts.into_iter().find_map(|part| body.get(part));
    told.map(Value::to_string).unwrap_or_default()
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
