//! Which way changes go, one by one.

use proptest::prelude::*;
use tagout_vocab::{Budget, Intent, IntentId, IntentStatus, Timestamp};

use super::{ChangeKind, compare_ignore, compare_intents, compare_layers, effective_intents};
use crate::law::Layer;
use crate::law::tests::{repository, user};

use ChangeKind::{Narrows, Neutral, Widens};

fn kinds(old: &Layer, new: &Layer) -> Vec<ChangeKind> {
    compare_layers(old, new)
        .into_iter()
        .map(|change| change.kind)
        .collect()
}

/// A key, what adding it does, and what removing it does.
const LAYER_CASES: &[(&str, &[ChangeKind], &[ChangeKind])] = &[
    ("profile: strict", &[Narrows], &[Widens]),
    ("tools: {allow: []}", &[Narrows], &[Widens]),
    ("tools: {deny: [a]}", &[Narrows], &[Widens]),
    ("capabilities: {allow: [state]}", &[Narrows], &[Widens]),
    ("ceiling: read_only", &[Narrows], &[Widens]),
    (
        "roots: [{name: a, path: /a, access: write}]",
        &[Widens],
        &[Narrows],
    ),
    ("roots: [{name: a, path: /a}]", &[Widens], &[Widens]),
    (
        "arguments: [{tool: a, key: b, exact: c}]",
        &[Narrows],
        &[Widens],
    ),
    (
        "rules: [{id: a, action: deny, match: {tool: a}}]",
        &[Narrows, Neutral],
        &[Widens, Neutral],
    ),
    (
        "rules: [{id: a, action: ask, match: {tool: a}}]",
        &[Narrows, Neutral],
        &[Widens, Neutral],
    ),
    (
        "rules: [{id: a, action: allow, match: {tool: a}}]",
        &[Widens, Neutral],
        &[Narrows, Neutral],
    ),
    (
        "mcp: {servers: {a: {trust_hints: true}}}",
        &[Widens],
        &[Narrows],
    ),
    (
        "mcp: {servers: {a: {trust_hints: false}}}",
        &[Narrows],
        &[Widens],
    ),
    ("mcp: {readonly_tools: [a/b]}", &[Widens], &[Narrows]),
    ("mcp: {deny: [a/b]}", &[Narrows], &[Widens]),
    (
        "commands: {readonly: [{words: a, examples: {match: [a]}}]}",
        &[Widens],
        &[Narrows],
    ),
    (
        "commands: {destructive: [{words: a}]}",
        &[Narrows],
        &[Widens],
    ),
    ("commands: {deny: [{words: a}]}", &[Narrows], &[Widens]),
    (
        "paths: {protect: [a]}",
        &[Narrows, Neutral],
        &[Widens, Neutral],
    ),
    (
        "declare: [{name: a, about: a, class: DESTRUCTIVE, kind: other, level: network}]",
        &[Widens],
        &[Widens],
    ),
    ("limits: {repeat_limit: 3}", &[Narrows], &[Widens]),
    ("limits: {calls: 3}", &[Narrows], &[Widens]),
    ("limits: {minutes: 3}", &[Narrows], &[Widens]),
    ("intents: {overlap: ask}", &[Widens], &[Narrows]),
    ("intents: {overlap: deny}", &[Narrows], &[Widens]),
    ("trace: {publish: on_commit}", &[Neutral], &[Neutral]),
    ("on_command_failure: keep", &[], &[]),
    ("on_command_failure: roll_back", &[Narrows], &[Widens]),
    ("offer_shell_before_handshake: true", &[Widens], &[Narrows]),
    ("offer_shell_before_handshake: false", &[Narrows], &[Widens]),
];

#[test]
fn each_field_of_a_layer_goes_its_way() {
    let nothing = repository("");
    for (text, there, back) in LAYER_CASES {
        let something = repository(text);
        assert_eq!(kinds(&nothing, &something), *there, "{text}");
        assert_eq!(kinds(&something, &nothing), *back, "{text}");
        assert_eq!(kinds(&something, &something), [], "{text}");
    }
}

#[test]
fn the_users_layer_has_its_own_keys() {
    let nothing = user("");
    for text in [
        "network: any",
        "isolation: {accept: none}",
        "pass_through: [a]",
        "profile: observe",
    ] {
        assert_eq!(kinds(&nothing, &user(text)), [Widens], "{text}");
        assert_eq!(kinds(&user(text), &nothing), [Narrows], "{text}");
    }
    let balanced = user("profile: balanced");
    assert_eq!(
        kinds(&nothing, &balanced),
        [Narrows],
        "its questions are now the user's own"
    );
}

#[test]
fn a_rule_that_grows_stricter_narrows() {
    let rule = |action: &str, id: &str| {
        repository(&format!(
            "rules: [{{id: {id}, action: {action}, match: {{tool: [a, b]}}}}]"
        ))
    };
    assert_eq!(kinds(&rule("ask", "r"), &rule("deny", "r")), [Narrows]);
    assert_eq!(kinds(&rule("deny", "r"), &rule("ask", "r")), [Widens]);
    assert_eq!(kinds(&rule("deny", "r"), &rule("deny", "s")), [Neutral]);
    assert_eq!(
        kinds(&rule("allow", "r"), &rule("deny", "r")),
        [Narrows, Narrows]
    );
    let reordered = repository("rules: [{id: r, action: deny, match: {tool: [b, a]}}]");
    assert_eq!(kinds(&rule("deny", "r"), &reordered), []);
}

#[test]
fn a_person_reads_what_changes() {
    let old = repository("profile: strict\ntools: {deny: [a]}");
    let new = repository("profile: balanced\ntools: {deny: [b]}\nlimits: {calls: 5}");
    let changes: Vec<String> = compare_layers(&old, &new)
        .into_iter()
        .map(|change| format!("{:?}: {}", change.kind, change.what))
        .collect();
    insta::assert_snapshot!(changes.join("\n"), @r"
    Widens: profile: strict → balanced
    Widens: removes the denial of the tool `a`
    Narrows: adds the denial of the tool `b`
    Narrows: calls: none → 5
    ");
}

fn intent(id: &str) -> Intent {
    Intent {
        id: IntentId::new(id).unwrap(),
        name: "n".to_owned(),
        status: IntentStatus::InProgress,
        owned_scope: vec!["src/**".to_owned(), "!src/gen/**".to_owned()],
        constraints: vec![],
        acceptance_criteria: vec![],
        related_requirements: vec![],
        description: None,
        expires_at: Some(Timestamp::from_millis(1000)),
        budget: Budget {
            calls_max: Some(10),
            time_ms_max: None,
        },
        shares_with: vec![IntentId::new("B").unwrap()],
    }
}

fn changed(change: impl FnOnce(&mut Intent)) -> Intent {
    let mut intent = intent("A");
    change(&mut intent);
    intent
}

/// H17 Each field of an intent, and the same change backwards.
#[test]
fn each_field_of_an_intent_goes_its_way() {
    let scope = |patterns: &[&str]| {
        patterns
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    let both = ["src/**", "!src/gen/**"];
    let cases: Vec<(&str, Intent, Vec<ChangeKind>, Vec<ChangeKind>)> = vec![
        (
            "closed",
            changed(|i| i.status = IntentStatus::Completed),
            vec![Narrows],
            vec![Widens],
        ),
        (
            "blocked",
            changed(|i| i.status = IntentStatus::Blocked),
            vec![Narrows],
            vec![Widens],
        ),
        (
            "pending",
            changed(|i| i.status = IntentStatus::Pending),
            vec![Neutral],
            vec![Neutral],
        ),
        (
            "more",
            changed(|i| i.owned_scope = scope(&["src/**", "!src/gen/**", "docs/**"])),
            vec![Widens],
            vec![Narrows],
        ),
        (
            "exclude gone",
            changed(|i| i.owned_scope = scope(&["src/**"])),
            vec![Widens],
            vec![Narrows],
        ),
        (
            "order",
            changed(|i| i.owned_scope = scope(&["!src/gen/**", "src/**"])),
            vec![],
            vec![],
        ),
        (
            "empty",
            changed(|i| i.owned_scope = vec![]),
            vec![Widens, Narrows],
            vec![Widens, Narrows],
        ),
        (
            "deeper",
            changed(|i| i.owned_scope = scope(&["src/auth/**", both[1]])),
            vec![Narrows, Neutral],
            vec![Widens, Narrows],
        ),
        (
            "later",
            changed(|i| i.expires_at = Some(Timestamp::from_millis(2000))),
            vec![Widens],
            vec![Narrows],
        ),
        (
            "never",
            changed(|i| i.expires_at = None),
            vec![Widens],
            vec![Narrows],
        ),
        (
            "budget",
            changed(|i| i.budget.calls_max = Some(11)),
            vec![Widens],
            vec![Narrows],
        ),
        (
            "time",
            changed(|i| i.budget.time_ms_max = Some(0)),
            vec![Narrows],
            vec![Widens],
        ),
        (
            "shares",
            changed(|i| i.shares_with = vec![]),
            vec![Narrows],
            vec![Widens],
        ),
        (
            "name",
            changed(|i| i.name = "m".to_owned()),
            vec![Neutral],
            vec![Neutral],
        ),
        (
            "constraint",
            changed(|i| i.constraints = scope(&["x"])),
            vec![Neutral],
            vec![Neutral],
        ),
    ];
    let kinds = |old: &Intent, new: &Intent| -> Vec<ChangeKind> {
        let changes = compare_intents(std::slice::from_ref(old), std::slice::from_ref(new));
        changes.into_iter().map(|change| change.kind).collect()
    };
    for (name, other, there, back) in cases {
        assert_eq!(kinds(&intent("A"), &other), there, "{name}");
        assert_eq!(kinds(&other, &intent("A")), back, "{name} backwards");
    }
    let added = compare_intents(&[], &[intent("A")]);
    assert_eq!(added[0].kind, Widens);
    assert_eq!(compare_intents(&[intent("A")], &[])[0].kind, Narrows);
}

#[test]
fn ignore_lines_narrow() {
    let kinds = |old: &str, new: &str| -> Vec<ChangeKind> {
        compare_ignore(old, new)
            .into_iter()
            .map(|change| change.kind)
            .collect()
    };
    assert_eq!(kinds("a\n# c\n", "a\nb\n"), [Narrows]);
    assert_eq!(kinds("a\nb\n", "b\n\n"), [Widens]);
    assert_eq!(kinds("a", "a\n!b"), [Widens]);
    assert_eq!(kinds("a\n!b", "a"), [Narrows]);
    assert_eq!(kinds("!b\na", "a\n!b"), [Widens]);
    assert_eq!(kinds("a\nb", "b\na"), []);
}

/// The accepted intent holds with what the tree narrows; what it widens waits.
#[test]
fn effective_intents_take_the_narrower_of_the_two() {
    let proposed = changed(|i| {
        i.owned_scope = vec!["src/auth/**".to_owned(), "docs/**".to_owned()];
        i.expires_at = None;
        i.budget = Budget {
            calls_max: Some(99),
            time_ms_max: Some(5),
        };
        i.shares_with = vec![];
        i.status = IntentStatus::Blocked;
    });
    let standing = effective_intents(
        &[intent("A"), intent("gone")],
        &[proposed.clone(), intent("new")],
    );
    assert_eq!(standing.len(), 1);
    let now = &standing[0];
    assert_eq!(now.intent.owned_scope, intent("A").owned_scope);
    assert_eq!(now.also_within.as_ref(), Some(&proposed.owned_scope));
    assert_eq!(now.intent.expires_at, Some(Timestamp::from_millis(1000)));
    assert_eq!(
        now.intent.budget,
        Budget {
            calls_max: Some(10),
            time_ms_max: Some(5)
        }
    );
    assert_eq!(now.intent.shares_with, []);
    assert_eq!(now.intent.status, IntentStatus::Blocked);
    let closed = changed(|i| i.status = IntentStatus::Completed);
    let reopened = &effective_intents(std::slice::from_ref(&closed), &[intent("A")])[0];
    assert_eq!(
        reopened.intent.status,
        IntentStatus::Completed,
        "reopening waits"
    );
    assert_eq!(
        effective_intents(&[intent("A")], &[intent("A")])[0].also_within,
        None
    );
}

fn arbitrary_intent() -> impl Strategy<Value = Intent> {
    let patterns = ["src/**", "src/auth/**", "!src/gen/**", "docs/**"];
    let scope = proptest::sample::subsequence(patterns.to_vec(), 0..=patterns.len());
    let others = proptest::sample::subsequence(&["B", "C"][..], 0..=2);
    let status = proptest::sample::select(&IntentStatus::ALL[..]);
    let bound = || proptest::option::of(0_u64..3);
    (scope, others, status, bound(), bound(), bound()).prop_map(
        |(scope, others, status, calls_max, time_ms_max, expires)| {
            changed(|i| {
                i.owned_scope = scope.into_iter().map(str::to_owned).collect();
                i.shares_with = others.iter().map(|id| IntentId::new(id).unwrap()).collect();
                i.status = status;
                i.budget = Budget {
                    calls_max,
                    time_ms_max,
                };
                i.expires_at = expires.map(|time| Timestamp::from_millis(time.cast_signed()));
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// H17 The intent that holds is never wider than the accepted one nor than the one in the tree.
    #[test]
    fn effective_intents_never_widen(
        accepted in arbitrary_intent(),
        proposed in arbitrary_intent(),
    ) {
        let standing = effective_intents(
            std::slice::from_ref(&accepted),
            std::slice::from_ref(&proposed),
        );
        let now = &standing[0];
        let mut in_tree = now.intent.clone();
        in_tree.owned_scope = now.also_within.clone().unwrap_or(in_tree.owned_scope);
        for (old, new) in [(&accepted, &now.intent), (&proposed, &in_tree)] {
            let changes = compare_intents(std::slice::from_ref(old), std::slice::from_ref(new));
            prop_assert!(changes.iter().all(|change| change.kind != Widens), "{:?}", changes);
        }
    }
}
