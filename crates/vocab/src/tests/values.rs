//! Ids, digests, times, effects, verdicts.

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::json;

use crate::ids::IdError;
use crate::path::Roots;
use crate::{
    CallId, Code, Declaration, Digest, Effect, Gate, GrantId, IntentId, Reason, Refusal, Session,
    SessionId, State, Target, Timestamp, Verdict,
};

#[test]
fn ids() {
    for good in [
        "INT-001",
        "a",
        "math-functions",
        "server/tool",
        "a.b:c@d+e_f",
        "ä1",
        "..a",
    ] {
        assert_eq!(IntentId::new(good).unwrap().as_str(), good);
    }
    assert_eq!(IntentId::new(""), Err(IdError::Empty));
    assert_eq!(SessionId::new(&"x".repeat(201)), Err(IdError::TooLong));
    for (bad, character) in [
        ("a b", ' '),
        ("a\nb", '\n'),
        ("a\u{1b}[", '\u{1b}'),
        ("a`", '`'),
    ] {
        assert_eq!(CallId::new(bad), Err(IdError::Character(character)));
    }
    assert!(serde_json::from_value::<IntentId>(json!("a b")).is_err());
    assert_eq!(
        serde_json::to_value(IntentId::new("a").unwrap()).unwrap(),
        json!("a")
    );
}

/// An id that a client sends may end up in a file's name.
#[test]
fn ids_do_not_climb() {
    for bad in ["..", ".", "/a", "a/", "a//b", "../../etc", "a/../b", "./a"] {
        assert_eq!(SessionId::new(bad), Err(IdError::Climbs), "`{bad}`");
        assert_eq!(GrantId::new(bad), Err(IdError::Climbs), "`{bad}`");
    }
}

#[test]
fn digests() {
    let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(Digest::of(b"").to_string(), empty);
    assert_eq!(Digest::parse(empty), Ok(Digest::of(b"")));
    assert_eq!(serde_json::to_value(Digest::of(b"")).unwrap(), json!(empty));
    for bad in [
        "",
        "sha256:",
        "unknown",
        empty.strip_prefix("sha256:").unwrap(),
        empty.strip_suffix('5').unwrap(),
        &empty.to_uppercase(),
    ] {
        assert!(Digest::parse(bad).is_err(), "`{bad}`");
    }
    // The form must never change: chains and commitments stand on it.
    assert_eq!(
        Digest::of_parts("d", [&b"a"[..], b"bc"]).hex(),
        Digest::of(b"\0\0\0\0\0\0\0\x01d\0\0\0\0\0\0\0\x01a\0\0\0\0\0\0\0\x02bc").hex()
    );
}

#[test]
fn times() {
    let parse = |text: &str| Timestamp::parse(text).map(|time| time.to_string());
    for (text, shown) in [
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"),
        ("2026-01-31 12:00:00Z", "2026-01-31T12:00:00.000Z"),
        ("2026-01-31T12:00:00.1239+02:00", "2026-01-31T10:00:00.123Z"),
        (" 2026-01-31 ", "2026-01-31T00:00:00.000Z"),
    ] {
        assert_eq!(parse(text).as_deref(), Ok(shown));
    }
    assert_eq!(
        Timestamp::parse("1970-01-01").unwrap(),
        Timestamp::default()
    );
    let end = Timestamp::from_millis(i64::MAX);
    assert_eq!(end.plus_millis(1), end);
    assert!(end.to_string().contains("since the epoch"));
}

/// A time without its zone is refused: taking its date alone would move an end by hours.
#[test]
fn times_without_a_zone_are_refused() {
    for text in [
        "2026-01-31T23:00:00",
        "2026-01-31 23:00",
        "2026-01-31T23:00:00[Europe/Vienna]",
        "2026-01-31T25:00:00Z",
        "2026-02-30",
        "20260131",
        "31.01.2026",
        "tomorrow",
        "",
    ] {
        assert!(Timestamp::parse(text).is_err(), "`{text}`");
    }
}

/// G3 An intent counts only in ACTION.
#[test]
fn sessions() {
    let mut session = Session::new(SessionId::new("s").unwrap());
    session.intent = Some(IntentId::new("INT-1").unwrap());
    for state in State::ALL {
        session.state = state;
        assert_eq!(session.active_intent().is_some(), state == State::Action);
    }
}

fn effects() -> Vec<Effect> {
    let roots = Roots {
        workspace: "/ws".into(),
        extra: vec![("data".into(), "/data".into())],
    };
    let target = |raw: &str| Target {
        raw: raw.to_owned(),
        place: roots.place(raw, ""),
    };
    vec![
        Effect::Read(target("./a")),
        Effect::Write(target("/data/x")),
        Effect::MakeFolder(target("b")),
        Effect::Delete(target("../b")),
        Effect::Move {
            from: target("a"),
            to: target("b"),
        },
        Effect::Run {
            command: "ls".into(),
        },
        Effect::Reach { host: None },
        Effect::Remote {
            server: "s".into(),
            tool: "t".into(),
        },
        Effect::Delegate,
        Effect::Desktop,
        Effect::Unknown { what: "x".into() },
    ]
}

/// What an effect names and what it changes; a move changes both ends.
#[test]
fn effects_know_their_targets() {
    let counts: Vec<(usize, usize)> = effects()
        .iter()
        .map(|effect| (effect.targets().len(), effect.mutated().len()))
        .collect();
    let none = (0, 0);
    assert_eq!(
        counts,
        [
            (1, 0),
            (1, 1),
            (1, 1),
            (1, 1),
            (2, 2),
            none,
            none,
            none,
            none,
            none,
            none
        ]
    );
}

#[test]
fn effects_survive_json() {
    for effect in effects() {
        let text = serde_json::to_string(&effect).unwrap();
        assert_eq!(
            serde_json::from_str::<Effect>(&text).unwrap(),
            effect,
            "{text}"
        );
    }
    assert_eq!(
        serde_json::to_value(&effects()[0]).unwrap(),
        json!({"effect": "read", "raw": "./a", "where": "inside", "path": "a"})
    );
}

fn refusal() -> Refusal {
    Refusal {
        code: Code::ScopeViolation,
        reason: "why".into(),
        remedy: "what".into(),
        retryable: false,
        intent_id: Some(IntentId::new("INT-1").unwrap()),
        paths: vec!["a".into()],
        gate: Gate::Scope,
        rule: "built-in: scope".into(),
    }
}

/// H9 The one form of a refusal.
#[test]
fn refusals() {
    assert_eq!(
        refusal().to_json(),
        json!({
            "status": "error",
            "code": "SCOPE_VIOLATION",
            "reason": "why",
            "remedy": "what",
            "retryable": false,
            "intent_id": "INT-1",
            "paths": ["a"],
            "gate": "scope",
            "rule": "built-in: scope",
        })
    );
}

#[test]
fn verdicts() {
    let allow = Verdict::Allow(Reason {
        text: "t".into(),
        rule: "r".into(),
    });
    let ask = Verdict::Ask(Box::new(refusal()));
    let deny = Verdict::Deny(Box::new(refusal()));
    let shown = |verdict: &Verdict| (verdict.as_str(), verdict.code(), verdict.is_allow());
    assert_eq!(shown(&allow), ("allow", Code::Allowed, true));
    assert_eq!(shown(&ask), ("ask", Code::ScopeViolation, false));
    assert_eq!(shown(&deny), ("deny", Code::ScopeViolation, false));
    assert!(deny.permissiveness() < ask.permissiveness());
    assert!(ask.permissiveness() < allow.permissiveness());
}

/// L2 A declaration that lacks any of its ten fields is none.
#[test]
fn declarations_are_whole() {
    let full = json!({
        "id": "x", "version": "1.0.0", "name": "n", "description": "d",
        "inputSchema": {}, "outputSchema": {}, "requiredCapabilities": [],
        "resourceLimits": {"maxExecutionTime": 5, "maxMemory": null, "maxFileSize": null},
        "deterministic": true, "idempotent": false,
    });
    let read: Declaration = serde_json::from_value(full.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), full);
    let fields = full.as_object().unwrap();
    assert_eq!(fields.len(), 10);
    for key in fields.keys() {
        let mut lacking = fields.clone();
        lacking.remove(key);
        let value = serde_json::Value::Object(lacking);
        assert!(
            serde_json::from_value::<Declaration>(value).is_err(),
            "without `{key}`"
        );
    }
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(512) })]

    #[test]
    fn a_digest_reads_what_it_writes(bytes in any::<[u8; 32]>()) {
        let digest = Digest::from_bytes(bytes);
        prop_assert_eq!(Digest::parse(&digest.to_string()), Ok(digest));
    }

    /// No two ways of cutting a text give one digest.
    #[test]
    fn parts_do_not_run_together(
        one in prop::collection::vec("[ab]{0,2}", 0..4),
        other in prop::collection::vec("[ab]{0,2}", 0..4),
    ) {
        let of = |parts: &[String]| Digest::of_parts("x", parts.iter().map(String::as_bytes));
        prop_assert_eq!(one == other, of(&one) == of(&other));
    }

    #[test]
    fn a_time_reads_what_it_writes(millis in -62_000_000_000_000_i64..250_000_000_000_000) {
        let time = Timestamp::from_millis(millis);
        prop_assert_eq!(Timestamp::parse(&time.to_string()), Ok(time));
    }

    #[test]
    fn no_text_panics(text in ".{0,40}") {
        let _ids = (IntentId::new(&text).is_ok(), Digest::parse(&text).is_ok());
        let _time = Timestamp::parse(&text);
    }
}
