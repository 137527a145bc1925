//! Differences of the intents, and what each intent may do until a person accepted them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tagout_vocab::{Budget, Intent, IntentId, Timestamp};

use super::{Change, ChangeKind, Changes};
use crate::scope::Pattern;

/// Compares two states of the intents. The first of two with one id counts.
pub fn compare_intents(old: &[Intent], new: &[Intent]) -> Vec<Change> {
    let mut changes = Changes::default();
    let (old_by_id, new_by_id) = (by_id(old), by_id(new));
    for (id, intent) in &new_by_id {
        match old_by_id.get(id) {
            Some(known) => compare(known, intent, &mut changes),
            None if intent.status.is_open() => {
                let scope = intent.owned_scope.join(", ");
                let what = format!("adds the intent {id}, which owns: {scope}");
                changes.add(ChangeKind::Widens, what);
            }
            None => changes.add(ChangeKind::Neutral, format!("adds the closed intent {id}")),
        }
    }
    for id in old_by_id.keys().filter(|id| !new_by_id.contains_key(*id)) {
        changes.add(ChangeKind::Narrows, format!("removes the intent {id}"));
    }
    changes.0.sort();
    changes.0
}

fn by_id(intents: &[Intent]) -> BTreeMap<&IntentId, &Intent> {
    // Collected from the back, so that the first of two with one id stays.
    intents
        .iter()
        .rev()
        .map(|intent| (&intent.id, intent))
        .collect()
}

fn compare(old: &Intent, new: &Intent, changes: &mut Changes) {
    let id = &new.id;
    match (old.status.is_open(), new.status.is_open()) {
        (true, false) => changes.add(ChangeKind::Narrows, format!("{id} is closed")),
        (false, true) => changes.add(ChangeKind::Widens, format!("{id} is open again")),
        (true, true) | (false, false) if old.status != new.status => {
            let (was, is) = (old.status.as_str(), new.status.as_str());
            changes.add(ChangeKind::Neutral, format!("{id}: {was} → {is}"));
        }
        (true, true) | (false, false) => {}
    }
    scope(old, new, changes);
    let expiry = |intent: &Intent| intent.expires_at.map_or(i64::MAX, Timestamp::as_millis);
    changes.strictness(&expiry(new), &expiry(old), || {
        let shown = |intent: &Intent| {
            intent
                .expires_at
                .map_or_else(|| "never".to_owned(), |time| time.to_string())
        };
        format!("{id} expires: {} → {}", shown(old), shown(new))
    });
    for (what, was, is) in budgets(&old.budget, &new.budget) {
        let (was, is) = (was.unwrap_or(u64::MAX), is.unwrap_or(u64::MAX));
        changes.strictness(&is, &was, || format!("{id}: its budget of {what}"));
    }
    changes.grants(&old.shares_with, &new.shares_with, |other| {
        format!("that {id} shares files with {other}")
    });
    let told = |intent: &Intent| {
        (
            intent.name.clone(),
            intent.description.clone(),
            intent.constraints.clone(),
            intent.acceptance_criteria.clone(),
            intent.related_requirements.clone(),
        )
    };
    if told(old) != told(new) {
        changes.add(ChangeKind::Neutral, format!("{id}: its words"));
    }
}

fn budgets(old: &Budget, new: &Budget) -> [(&'static str, Option<u64>, Option<u64>); 2] {
    [
        ("calls", old.calls_max, new.calls_max),
        ("time", old.time_ms_max, new.time_ms_max),
    ]
}

/// An exclusion always wins over what is owned, so the order of patterns does not matter.
fn scope(old: &Intent, new: &Intent, changes: &mut Changes) {
    let id = &new.id;
    let covered = |pattern: &str| {
        let Ok(inner) = Pattern::parse(pattern) else {
            return false;
        };
        let owned = old.owned_scope.iter();
        let mut owned = owned.filter_map(|text| Pattern::parse(text).ok());
        owned.any(|outer| !outer.excludes() && outer.covers(&inner))
    };
    for pattern in new
        .owned_scope
        .iter()
        .filter(|pattern| !old.owned_scope.contains(pattern))
    {
        let kind = if pattern.starts_with('!') {
            ChangeKind::Narrows
        } else if covered(pattern) {
            ChangeKind::Neutral
        } else {
            ChangeKind::Widens
        };
        changes.add(kind, format!("{id}: its scope gains `{pattern}`"));
    }
    for pattern in old
        .owned_scope
        .iter()
        .filter(|pattern| !new.owned_scope.contains(pattern))
    {
        let kind = if pattern.starts_with('!') {
            ChangeKind::Widens
        } else {
            ChangeKind::Narrows
        };
        changes.add(kind, format!("{id}: its scope loses `{pattern}`"));
    }
}

/// An intent as it holds now.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct StandingIntent {
    /// The accepted intent, with what the tree narrows in it.
    pub intent: Intent,
    /// A second scope that every path must lie in too: the one in the tree, where it differs.
    pub also_within: Option<Vec<String>>,
}

/// The intents that hold while the tree's wait for a person: every accepted one that the tree still
/// has, never wider than either of the two.
pub fn effective_intents(accepted: &[Intent], proposed: &[Intent]) -> Vec<StandingIntent> {
    let proposed = by_id(proposed);
    by_id(accepted)
        .into_iter()
        .filter_map(|(id, intent)| Some(narrowed(intent, proposed.get(id)?)))
        .collect()
}

/// The accepted intents that the tree removes, closes or lets expire sooner.
pub fn withdrawn_intents(accepted: &[Intent], proposed: &[Intent]) -> Vec<Intent> {
    let proposed = by_id(proposed);
    let expiry = |intent: &Intent| intent.expires_at.map_or(i64::MAX, Timestamp::as_millis);
    let is_withdrawn = |intent: &&Intent| {
        let still = proposed.get(&intent.id);
        let holds = |now: &&Intent| now.status.is_open() && expiry(now) >= expiry(intent);
        intent.status.is_open() && !still.is_some_and(holds)
    };
    let accepted = by_id(accepted).into_values();
    accepted.filter(is_withdrawn).cloned().collect()
}

fn narrowed(accepted: &Intent, proposed: &Intent) -> StandingIntent {
    let mut intent = accepted.clone();
    if !proposed.status.is_open() || accepted.status.is_open() {
        intent.status = proposed.status;
    }
    intent.expires_at = least(accepted.expires_at, proposed.expires_at);
    intent.budget = Budget {
        calls_max: least(accepted.budget.calls_max, proposed.budget.calls_max),
        time_ms_max: least(accepted.budget.time_ms_max, proposed.budget.time_ms_max),
    };
    intent
        .shares_with
        .retain(|other| proposed.shares_with.contains(other));
    let differs = !same_patterns(&accepted.owned_scope, &proposed.owned_scope);
    StandingIntent {
        intent,
        also_within: differs.then(|| proposed.owned_scope.clone()),
    }
}

fn same_patterns(one: &[String], other: &[String]) -> bool {
    one.iter().all(|pattern| other.contains(pattern))
        && other.iter().all(|pattern| one.contains(pattern))
}

/// The smaller bound; an absent one is no bound.
fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (bound, None) | (None, bound) => bound,
    }
}
