//! Laws that hold for every call, every policy and every spelling.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use tagout_vocab::{Call, Code, Origin, State, WorkspacePath};

use super::world::{books, call, facts, session, with_metadata};
use crate::judge::{Books, judge};
use crate::law::compiled::{self, Apart, Key};
use crate::shell::Knowledge;

/// Arbitrary JSON, small but deep enough to be odd.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,24}".prop_map(Value::from),
        path_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "path",
            "file_path",
            "filePath",
            "content",
            "command",
            "patch",
            "intent_id",
            "mutation_class",
            "old_string",
            "new_string",
            "cwd",
            "paths",
            "files",
            "url",
            "diff",
        ])
        .prop_map(str::to_owned),
        "[a-z_]{1,8}",
    ]
}

/// Spellings of paths with every trick that should gain nothing.
fn path_text() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "src",
        "weather",
        "main.rs",
        "..",
        ".",
        "",
        "tests",
        "SRC",
        "Weather",
        ".orchestration",
        "se\u{301}cret",
        "secret",
        "\u{200b}",
        "a b",
        "~",
        "w",
        "..\\..",
        "file:",
        "C:",
    ]);
    (any::<bool>(), prop::collection::vec(part, 1..7)).prop_map(|(absolute, parts)| {
        let joined = parts.join("/");
        if absolute {
            format!("/{joined}")
        } else {
            joined
        }
    })
}

fn tool_name() -> impl Strategy<Value = String> {
    let known: Vec<String> = books("")
        .catalogue
        .tools()
        .map(|tool| tool.name.clone())
        .collect();
    prop_oneof![4 => prop::sample::select(known), 1 => "[a-zA-Z_]{1,12}"]
}

fn any_call() -> impl Strategy<Value = Call> {
    let origin = prop_oneof![
        3 => Just(Origin::Native),
        1 => Just(Origin::Custom),
        1 => Just(Origin::Mcp { server: "docs".to_owned() }),
        1 => Just(Origin::Client { client: "claude-code".to_owned() }),
    ];
    let arguments = prop::collection::vec((key(), any_json()), 0..5);
    let any = (tool_name(), origin, arguments).prop_map(|(tool, origin, entries)| {
        let arguments: Map<String, Value> = entries.into_iter().collect();
        Call {
            origin,
            ..call(&tool, Value::Object(arguments))
        }
    });
    // Arguments at random seldom fit a schema, so that later checks would hardly be reached.
    let write = path_text().prop_map(|path| {
        let arguments = serde_json::json!({"path": path, "content": "x"});
        call("write_to_file", with_metadata(arguments))
    });
    prop_oneof![3 => any, 1 => write]
}

fn any_state() -> impl Strategy<Value = State> {
    prop::sample::select(State::ALL.to_vec())
}

/// An independent reading of a spelling: the folded segments, or `None` when it leaves the
/// workspace.
fn reference_segments(raw: &str) -> Option<Vec<String>> {
    let elsewhere = ["~", "file:", "C:"]
        .iter()
        .any(|start| raw.starts_with(start));
    if elsewhere || raw.contains('\\') || raw.is_empty() {
        return None;
    }
    let mut kept: Vec<String> = Vec::new();
    let absolute = raw.starts_with('/');
    for part in raw.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                kept.pop()?;
            }
            other => kept.push(other.to_owned()),
        }
    }
    if absolute {
        if kept.first().map(String::as_str) != Some("w") {
            return None;
        }
        kept.remove(0);
    }
    Some(kept)
}

fn is_in_scope(segments: &[String]) -> bool {
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["src", "weather", "secret" | "frozen", ..] => false,
        ["src", "weather", _, ..] | ["tests", ..] => true,
        _ => false,
    }
}

/// Stale compiled books are not believed: an older format, another build, other sources, another
/// shape under the same key.
#[test]
fn stale_compiled_books_are_not_believed() {
    let parsed = books("version: 1\n");
    let key = Key::of("test", [("hook_policy.yaml", b"x".as_slice())]);
    let bytes = compiled::encode(&key, &*parsed).unwrap();
    let refused = |bytes: &[u8], key: &Key| compiled::decode::<Books>(bytes, key).unwrap_err();
    let mut older = bytes.clone();
    older[8] -= 1;
    assert!(matches!(
        refused(&older, &key),
        compiled::CompiledError::Format { .. }
    ));
    let build = Key::of("other", [("hook_policy.yaml", b"x".as_slice())]);
    assert!(matches!(
        refused(&bytes, &build),
        compiled::CompiledError::Build
    ));
    let sources = Key::of("test", [("hook_policy.yaml", b"y".as_slice())]);
    assert!(matches!(
        refused(&bytes, &sources),
        compiled::CompiledError::Stale
    ));
    let more = compiled::encode(&key, &(&*parsed, 1_u8)).unwrap();
    assert!(matches!(
        refused(&more, &key),
        compiled::CompiledError::Damaged
    ));
    let less = compiled::encode(&key, &parsed.law).unwrap();
    assert!(compiled::decode::<Books>(&less, &key).is_err());
}

/// Bytes that count how often they are fetched, and how often they are called damaged.
struct Counted {
    bytes: Vec<u8>,
    fetched: AtomicUsize,
    damaged: AtomicUsize,
}

impl Counted {
    fn of(bytes: Vec<u8>) -> Self {
        let [fetched, damaged] = [0, 0].map(AtomicUsize::new);
        Self {
            bytes,
            fetched,
            damaged,
        }
    }

    fn told(&self) -> (usize, usize) {
        let [fetched, damaged] = [&self.fetched, &self.damaged];
        (
            fetched.load(Ordering::Relaxed),
            damaged.load(Ordering::Relaxed),
        )
    }
}

impl Apart for Counted {
    fn fetch(&self, range: Range<usize>) -> Option<Vec<u8>> {
        self.fetched.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch(range)
    }

    fn mend(&self) {
        self.damaged.fetch_add(1, Ordering::Relaxed);
    }
}

/// What lies apart and is damaged, cut off or out of reach is not there: no tool of it is known,
/// and nobody takes the list of protected paths for empty.
#[test]
fn damage_apart_is_found_when_it_is_asked_for() {
    let parsed = books("version: 1\n");
    let key = Key::of("test", [("hook_policy.yaml", b"x".as_slice())]);
    let bytes = compiled::encode(&key, &*parsed).unwrap();
    let length = compiled::front_length(&bytes).unwrap();
    let front: Arc<Vec<u8>> = Arc::new(bytes[..length].to_vec());
    let names: Vec<String> = parsed
        .catalogue
        .tools()
        .map(|one| one.name.clone())
        .collect();
    for place in (length..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        let counted = Arc::new(Counted::of(damaged));
        let apart = (bytes.len(), Arc::clone(&counted) as _);
        let kept: Books = compiled::decode_front(&front, &key, apart).unwrap();
        let known = names.iter().filter_map(|name| kept.catalogue.tool(name));
        let tools =
            known.inspect(|tool| assert_eq!(parsed.catalogue.tool(&tool.name), Some(*tool)));
        let is_tool = tools.count() < names.len();
        let is_client = kept.catalogue.clients().count() < parsed.catalogue.clients().count();
        let is_authority = kept.catalogue.authority().is_none();
        assert!(is_tool || is_client || is_authority, "{place}");
        assert!(counted.told().1 > 0, "{place}");
    }
    let nothing = Arc::new(Vec::new());
    let apart = (bytes.len(), Arc::clone(&nothing) as _);
    let kept: Books = compiled::decode_front(&front, &key, apart).unwrap();
    assert_eq!(kept.catalogue.tools().count(), 0);
    let path = WorkspacePath::new("src/a").unwrap();
    assert!(kept.catalogue.is_authority(&path).is_some());
    assert!(compiled::encode(&key, &kept).is_err());
    let short = compiled::decode_front::<Books>(&front, &key, (bytes.len() - 1, nothing));
    assert!(matches!(short, Err(compiled::CompiledError::Damaged)));
}

/// The compiled books decide exactly as the parsed ones, on 10,000 generated calls.
#[test]
fn compiled_books_decide_the_same() {
    let parsed = books(
        "version: 1\nprofile: strict\ntools: {deny: [\"switch_*\"]}\nrules:\n  \
         - {id: r, action: allow, match: {path: 'src/**'}, reason: ok, \
         examples: {match: [{path: src/a}]}}\n",
    );
    let key = Key::of("test", [("hook_policy.yaml", b"x".as_slice())]);
    let bytes = compiled::encode(&key, &*parsed).unwrap();
    let mut compiled: Books = compiled::decode(&bytes, &key).unwrap();
    // What lies apart is fetched, each value once and no other.
    let front: Arc<Vec<u8>> = Arc::new(bytes[..compiled::front_length(&bytes).unwrap()].to_vec());
    let counted = Arc::new(Counted::of(bytes.clone()));
    let apart = (bytes.len(), Arc::clone(&counted) as _);
    let kept: Books = compiled::decode_front(&front, &key, apart).unwrap();
    assert_eq!(counted.told(), (0, 0));
    let client = "claude-code".to_owned();
    for _ in 0..2 {
        let found = kept.catalogue.lookup(
            &Origin::Client {
                client: client.clone(),
            },
            "Read",
        );
        assert!(found.is_some());
        assert_eq!(counted.told(), (2, 0));
    }
    assert_eq!(kept.catalogue, compiled.catalogue);
    assert!(kept.catalogue.tools().eq(compiled.catalogue.tools()));
    // Without what is stored apart, no command is known.
    assert_ne!(*parsed, compiled);
    let apart = compiled::encode(&key, parsed.knowledge.kept()).unwrap();
    compiled.knowledge = Knowledge::later(move || compiled::decode(&apart, &key).ok());
    assert_eq!(*parsed, compiled);
    let mut runner = TestRunner::deterministic();
    let calls = (any_call(), any_state());
    let mut verdicts = BTreeMap::new();
    for _ in 0..10_000 {
        let (call, state) = calls.new_tree(&mut runner).unwrap().current();
        let session = session(state, (state == State::Action).then_some("INT-001"));
        let one = judge(&call, &session, &parsed, &facts());
        let other = judge(&call, &session, &compiled, &facts());
        assert_eq!(one, other);
        *verdicts.entry(one.verdict.code().as_str()).or_insert(0) += 1;
    }
    // Calls that all end the same way would show nothing.
    assert!(verdicts.len() >= 8, "{verdicts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// L5: no call and no state makes the judge panic, and every verdict has its reason.
    #[test]
    fn judging_is_total(call in any_call(), state in any_state()) {
        let intent = (state == State::Action).then_some("INT-001");
        let judgement = judge(&call, &session(state, intent), &books(""), &facts());
        prop_assert_eq!(judgement.checks.len(), super::super::ORDER.len());
        let again = judge(&call, &session(state, intent), &books(""), &facts());
        prop_assert_eq!(judgement, again);
    }

    /// H7: a path that the scope does not own is never allowed, whatever spells it.
    #[test]
    fn no_spelling_leaves_the_scope(raw in path_text()) {
        let write = call("write_to_file", with_metadata(json!({"path": raw, "content": "x"})));
        let judgement =
            judge(&write, &session(State::Action, Some("INT-001")), &books(""), &facts());
        let owned = reference_segments(&raw).is_some_and(|segments| is_in_scope(&segments));
        if judgement.verdict.is_allow() {
            prop_assert!(owned, "{raw} was allowed: {judgement:#?}");
        }
    }

    /// Invariant 8: authority is never allowed, existing or not, whatever surrounds it.
    #[test]
    fn no_spelling_reaches_authority(before in path_text(), after in path_text()) {
        let raw = format!("{before}/.orchestration/{after}");
        let write = call("write_to_file", with_metadata(json!({"path": raw, "content": "x"})));
        let judgement =
            judge(&write, &session(State::Action, Some("INT-001")), &books(""), &facts());
        let leads_there = reference_segments(&raw)
            .is_none_or(|segments| segments.iter().any(|s| s == ".orchestration"));
        prop_assert!(!(leads_there && judgement.verdict.is_allow()), "{raw}");
    }

    /// G1: what nobody declared is never allowed to change anything.
    #[test]
    fn an_unknown_tool_never_allows(name in "x_[a-z_]{1,12}", arguments in any_json(), state in any_state()) {
        let arguments = if arguments.is_object() { arguments } else { json!({"a": arguments}) };
        let judgement =
            judge(&call(&name, arguments), &session(state, Some("INT-001")), &books(""), &facts());
        prop_assert!(!judgement.verdict.is_allow());
    }

    /// A5, H6: adding a deny rule, or narrowing a layer, never allows more.
    #[test]
    fn narrowing_never_allows_more(
        call in any_call(),
        state in any_state(),
        extra in prop::sample::select(vec![
            "rules:\n  - {id: r, action: deny, match: {kind: edit}, reason: no, examples: {match: [{kind: edit}]}}\n",
            "rules:\n  - {id: r, action: ask, match: {path: 'src/**'}, reason: no, examples: {match: [{path: src/a}]}}\n",
            "tools: {deny: ['*_file']}\n",
            "tools: {allow: []}\n",
            "ceiling: read_only\n",
            "profile: strict\n",
            "capabilities: {deny: [filesystem.write]}\n",
            "paths:\n  protect: [{path: 'src/**', reason: frozen}]\n",
            "limits: {repeat_limit: 1}\n",
        ]),
    ) {
        let intent = (state == State::Action).then_some("INT-001");
        let session = session(state, intent);
        let wide = judge(&call, &session, &books("version: 1\n"), &facts());
        let narrow = judge(&call, &session, &books(&format!("version: 1\n{extra}")), &facts());
        prop_assert!(
            narrow.verdict.permissiveness() <= wide.verdict.permissiveness(),
            "{extra}: {wide:#?} became {narrow:#?}"
        );
    }

    /// A3: renaming a key to its alias does not change the verdict.
    #[test]
    fn aliases_change_nothing(raw in path_text(), alias in prop::sample::select(vec!["path", "file_path", "filePath"])) {
        let session = session(State::Action, Some("INT-001"));
        let one = call("write_to_file", with_metadata(json!({"path": raw, "content": "x"})));
        let other = call("write_to_file", with_metadata(json!({alias: raw, "content": "x"})));
        let books = books("");
        let (one, other) =
            (judge(&one, &session, &books, &facts()), judge(&other, &session, &books, &facts()));
        prop_assert_eq!(one.verdict, other.verdict);
        prop_assert_eq!(one.effects, other.effects);
    }
}

/// H4: where what programs do can't be had, no command runs, whatever the class, the state and a
/// person's yes; what runs none is judged as ever.
#[test]
fn without_knowledge_no_command_runs() {
    let mut without = Books::clone(&books("version: 1\n"));
    without.knowledge = Knowledge::default();
    let mut facts = facts();
    facts.approval = crate::judge::Approval::Granted {
        by: "person".to_owned(),
    };
    for line in ["ls", "git status", "rm -rf /", "true"] {
        for (state, intent) in [(State::Request, None), (State::Action, Some("INT-001"))] {
            let call = call("execute_command", json!({ "command": line }));
            let session = session(state, intent);
            let with = judge(&call, &session, &books("version: 1\n"), &facts);
            let found = judge(&call, &session, &without, &facts);
            assert_eq!(
                found.verdict.code(),
                Code::PolicyInvalid,
                "{line}: {with:?}"
            );
        }
    }
    let call = call("read_file", json!({"path": "src/a"}));
    let found = judge(&call, &session(State::Request, None), &without, &facts);
    assert_eq!(found.verdict.code(), Code::Allowed);
    // What was stored and says nothing is not what is stored.
    without.knowledge = Knowledge::later(|| Some(crate::shell::Kept::default()));
    assert!(without.knowledge.is_there());
}
