//! Tests of the rules about intents.

mod edit;
mod generated;
mod ignore;
mod overlap;
mod read;
mod rules;

use proptest::prelude::*;
use tagout_vocab::{Budget, Intent, IntentId, IntentStatus, Timestamp};

use crate::scope::Pattern;

fn id(text: &str) -> IntentId {
    IntentId::new(text).unwrap()
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn intent(name: &str, scope: &[&str]) -> Intent {
    Intent {
        id: id(name),
        name: format!("About {name}"),
        status: IntentStatus::Pending,
        owned_scope: texts(scope),
        constraints: Vec::new(),
        acceptance_criteria: Vec::new(),
        related_requirements: Vec::new(),
        description: None,
        expires_at: None,
        budget: Budget::default(),
        shares_with: Vec::new(),
    }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Texts that are hard to quote, next to arbitrary ones.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,20}",
        "[\\n\\r\\t #:\"'\\\\{}\\[\\],&*!|>%@`~-]{0,8}",
        prop_oneof![
            Just("null"),
            Just("~"),
            Just("true"),
            Just("No"),
            Just("1e3"),
            Just("0x1f"),
            Just("---"),
            Just("- a"),
            Just("a: b"),
            Just("a #b"),
            Just(""),
            Just("2026-01-31"),
            Just("\u{feff}x"),
            Just("a\u{2028}b\u{85}c"),
            Just("\u{1f600} \u{202e}"),
        ]
        .prop_map(str::to_owned),
    ]
}

fn any_id() -> impl Strategy<Value = IntentId> {
    prop_oneof![
        "[A-Z]{1,3}-[0-9]{1,3}",
        "[a-zA-Z0-9._:@/+-]{1,12}",
        Just("null".to_owned())
    ]
    .prop_filter_map("not an id", |text| IntentId::new(&text).ok())
}

fn any_pattern() -> impl Strategy<Value = String> {
    prop_oneof!["!?[a-z]{1,4}(/([a-z*?]{1,4}|\\*\\*)){0,3}/?", any_text()]
        .prop_filter("not a pattern", |text| {
            Pattern::parse_relative(text).is_ok()
        })
}

fn any_status() -> impl Strategy<Value = IntentStatus> {
    proptest::sample::select(&IntentStatus::ALL[..])
}

prop_compose! {
    fn any_intent()(
        id in any_id(),
        name in any_text(),
        status in any_status(),
        owned_scope in prop::collection::vec(any_pattern(), 0..4),
        constraints in prop::collection::vec(any_text(), 0..3),
        acceptance_criteria in prop::collection::vec(any_text(), 0..3),
        related_requirements in prop::collection::vec(any_text(), 0..2),
        description in prop::option::of(any_text()),
        expires_at in prop::option::of((-62_000_000_000_000_i64..253_000_000_000_000).prop_map(at)),
        calls_max in prop::option::of(any::<u64>()),
        time_ms_max in prop::option::of(prop_oneof![
            any::<u64>(),
            (0..1000_u64).prop_map(|minutes| minutes * 60_000),
        ]),
        shares_with in prop::collection::vec(any_id(), 0..3),
    ) -> Intent {
        Intent {
            id, name, status, owned_scope, constraints, acceptance_criteria, related_requirements,
            description, expires_at, budget: Budget { calls_max, time_ms_max }, shares_with,
        }
    }
}

fn any_intents() -> impl Strategy<Value = Vec<Intent>> {
    prop::collection::vec(any_intent(), 0..5).prop_map(|mut intents| {
        let mut seen = std::collections::HashSet::new();
        intents.retain(|intent| seen.insert(intent.id.clone()));
        intents
    })
}
