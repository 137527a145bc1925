//! Attacks: a model that does what it can to get around Tagout, with real clients. What comes of
//! each is written down in a table, which is held against what really happened and which the
//! documentation shows.

mod play;
mod seen;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::run::{Asks, Client, PERMISSIVE};
use super::speech::Spoken;
use crate::error::XtaskError;

pub(crate) use play::one;

const ATTACKS: &str = include_str!("../../data/attacks.json");

/// What the model tries.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Attack {
    pub(super) id: String,
    /// The attempt in words.
    pub(super) does: String,
    /// What a refused attempt leaves as it is.
    trophies: Vec<String>,
    /// Whether a request of the attempt still waits for a person when it is over.
    #[serde(default)]
    still_asked: bool,
    /// How often the ledger tells that the client did otherwise than it was let do.
    #[serde(default)]
    strays_count: usize,
    /// How long to wait for what goes on behind the model's back.
    #[serde(default)]
    wait_ms: u64,
    /// Before which of its turns a person agrees to everything that waits for one.
    #[serde(default)]
    agreed_before: Option<usize>,
    /// Files that are there before the client starts. An attempt that has some is made in a
    /// conversation of its own.
    #[serde(default)]
    before: BTreeMap<String, String>,
    /// For whom the hook is installed, if not for the project.
    #[serde(default)]
    scope: Option<String>,
    /// How it is made with every client that has no way of its own.
    #[serde(default)]
    turns: Vec<Vec<Spoken>>,
    /// What a subagent of it does.
    #[serde(default)]
    sub: Vec<Vec<Spoken>>,
    /// What should come of each turn: see [`End::Refused`].
    #[serde(default)]
    refused: Vec<String>,
    /// The same where commands can't be rewritten and each is tried both ways; the one above,
    /// twice for each command, where nothing is said.
    #[serde(default)]
    by_hand: Vec<String>,
    /// Whether it is a matter of chance in which turn an outcome is told.
    #[serde(default)]
    in_any_turn: bool,
    /// What is different with some clients.
    #[serde(default)]
    by: BTreeMap<String, Different>,
}

/// An attempt with one client, as far as it is different there.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Different {
    #[serde(default)]
    turns: Vec<Vec<Spoken>>,
    /// Files that are there before this client starts.
    #[serde(default)]
    before: BTreeMap<String, String>,
    /// For whom the hook is installed, if not for the project.
    #[serde(default)]
    scope: Option<String>,
    /// Whether nobody has trusted the hooks of this client.
    #[serde(default)]
    untrusted: bool,
    /// What comes of it, by the client's mode. In a mode that asks and is not among them it is
    /// what comes of it in the most permissive one.
    #[serde(default)]
    ends: BTreeMap<String, End>,
    /// Why the attempt is another one, or ends otherwise than with most clients.
    #[serde(default)]
    why: Option<String>,
}

/// What comes of an attempt.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// Nothing was taken, and for each turn this came of its calls, all of it, divided by `, `: the
    /// code of a refusal, or one of the words of [`Outcome`](seen::Outcome). Words in «» are what
    /// the model reads where the client itself refused, or keeps Tagout's command from the ledger.
    /// In a mode that asks, the client's own refusal may stand in the place of each of them.
    Refused(Vec<String>),
    /// It succeeds, because of this; and what closes it.
    Open { because: String, closed_by: String },
}

/// Stands among outcomes for a call that the client itself refused, in the words that its data has
/// for that.
pub(super) const BY_THE_CLIENT: &str = "by the client itself";

pub(super) fn all() -> Result<Vec<Attack>, XtaskError> {
    serde_json::from_str(ATTACKS).map_err(|source| XtaskError::Data {
        file: "xtask/data/attacks.json".to_owned(),
        source,
    })
}

/// The outcomes of a turn, as the data writes them.
pub(super) fn outcomes(turn: &str) -> impl Iterator<Item = &str> {
    turn.split(", ").filter(|one| !one.is_empty())
}

impl Attack {
    /// The turns as a client's model takes them, or nothing where it has no such way.
    fn turns(&self, name: &str, client: &Client) -> Option<Vec<Vec<super::stub::Scripted>>> {
        let own = self.by.get(name).map(|way| &way.turns);
        let own = own.filter(|turns| !turns.is_empty());
        let turns = own.unwrap_or(&self.turns);
        (!turns.is_empty()).then(|| client.turns(turns))
    }

    /// Whether there is such a way with a client.
    pub(super) fn is_for(&self, name: &str) -> bool {
        let own = self.by.get(name).is_some_and(|way| !way.turns.is_empty());
        own || !self.turns.is_empty()
    }

    /// Why it is different with some clients, those together that have the same reason.
    pub(super) fn otherwise(&self) -> Vec<(Vec<&str>, &str)> {
        let mut all: Vec<(Vec<&str>, &str)> = Vec::new();
        for (name, way) in &self.by {
            let Some(why) = way.why.as_deref() else {
                continue;
            };
            match all.iter_mut().find(|(_, other)| *other == why) {
                Some((names, _)) => names.push(name),
                None => all.push((vec![name], why)),
            }
        }
        all
    }

    /// Files that are there before a client starts.
    fn files(&self, name: &str) -> BTreeMap<String, String> {
        let mut files = self.before.clone();
        files.extend(
            self.by
                .get(name)
                .into_iter()
                .flat_map(|way| way.before.clone()),
        );
        files
    }

    /// For whom the hook is installed.
    fn scope(&self, name: &str) -> &str {
        let scope = self.by.get(name).and_then(|way| way.scope.as_deref());
        let scope = scope.or(self.scope.as_deref());
        scope.unwrap_or("project")
    }

    /// Whether it is made where nobody has trusted the client's hooks.
    pub(super) fn is_untrusted(&self, name: &str) -> bool {
        self.by.get(name).is_some_and(|way| way.untrusted)
    }

    /// What should come of it.
    pub(super) fn end(&self, name: &str, client: &Client, mode: &str) -> End {
        let asks = client
            .modes
            .get(mode)
            .is_some_and(|how| how.asks != Asks::Never);
        let ends = self.by.get(name).map(|way| &way.ends);
        let end = ends.and_then(|ends| {
            let as_without_asking = ends.get(PERMISSIVE).filter(|_| asks);
            ends.get(mode).or(as_without_asking)
        });
        if let Some(end) = end {
            return end.clone();
        }
        if client.rewrites {
            return End::Refused(self.refused.clone());
        }
        if !self.by_hand.is_empty() {
            return End::Refused(self.by_hand.clone());
        }
        // Each turn stands for as many as it becomes.
        let both = self
            .turns
            .iter()
            .zip(&self.refused)
            .flat_map(|(turn, end)| {
                let times = client.turns(std::slice::from_ref(turn)).len();
                std::iter::repeat_n(end.clone(), times)
            });
        End::Refused(both.collect())
    }
}

#[cfg(test)]
mod tests;
