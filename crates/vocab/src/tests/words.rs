//! Every word that goes over a wire, and the ladders.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::verdict::{CheckResult, Code, Gate};
use crate::{
    Class, IntentStatus, MutationClass, SideEffectLevel, State, ToolAnnotations, ToolArgSchema,
    ToolKind,
};

/// The word of each value is what serde writes and reads, in both encodings.
fn check<T>(values: &[T], word: impl Fn(T) -> &'static str)
where
    T: Copy + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned,
{
    for value in values {
        let text = serde_json::to_value(value).unwrap();
        assert_eq!(text, json!(word(*value)));
        assert_eq!(serde_json::from_value::<T>(text).unwrap(), *value);
        let bytes = postcard::to_stdvec(value).unwrap();
        assert_eq!(postcard::from_bytes::<T>(&bytes).unwrap(), *value);
    }
    let mut words: Vec<&str> = values.iter().map(|value| word(*value)).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), values.len(), "{words:?}");
}

/// A1, A2, A8, G1, G2 The words are the seeds' and the protocol's.
#[test]
fn words_are_what_is_written() {
    check(&ToolKind::ALL, ToolKind::as_str);
    check(&SideEffectLevel::ALL, SideEffectLevel::as_str);
    check(&State::ALL, State::as_str);
    check(&IntentStatus::ALL, IntentStatus::as_str);
    check(&MutationClass::ALL, MutationClass::as_str);
    check(&[Class::Safe, Class::Destructive], Class::as_str);
    check(Code::ALL, Code::as_str);
    check(Gate::ALL, Gate::as_str);
    check(CheckResult::ALL, CheckResult::as_str);
}

/// A1, A8 Ten kinds; four of them read; what nobody knows is `other`, which does not.
#[test]
fn kinds() {
    let table: Vec<(&str, bool, &str)> = ToolKind::ALL
        .iter()
        .map(|kind| (kind.as_str(), kind.is_read_only(), kind.mutation_class()))
        .collect();
    assert_eq!(
        table,
        [
            ("read", true, "read_only"),
            ("edit", false, "workspace_write"),
            ("delete", false, "destructive"),
            ("move", false, "destructive"),
            ("search", true, "read_only"),
            ("execute", false, "ambient_side_effect"),
            ("think", true, "read_only"),
            ("fetch", true, "read_only"),
            ("switch_mode", false, "other"),
            ("other", false, "other"),
        ]
    );
    for kind in ToolKind::ALL {
        assert_eq!(ToolKind::parse(kind.as_str()), kind);
    }
    for unknown in ["", "Read", "READ", "read ", "wait", "_custom"] {
        assert_eq!(ToolKind::parse(unknown), ToolKind::Other);
    }
    assert_eq!(ToolKind::default(), ToolKind::Other);
}

/// A2 The ladder, its unique top, and that a typo ranks lowest.
#[test]
fn levels() {
    let ranks: Vec<usize> = SideEffectLevel::ALL
        .iter()
        .map(|level| level.rank())
        .collect();
    assert_eq!(ranks, [0, 1, 2, 3, 4, 5]);
    assert!(SideEffectLevel::ALL.is_sorted());
    let above = |level: &&SideEffectLevel| **level >= SideEffectLevel::MAX;
    assert_eq!(SideEffectLevel::ALL.iter().filter(above).count(), 1);
    for level in SideEffectLevel::ALL {
        assert_eq!(SideEffectLevel::parse(level.as_str()), level);
        assert_eq!(SideEffectLevel::rank_str(level.as_str()), level.rank());
    }
    for typo in ["", "None", "network ", "desktop-control", "max"] {
        assert_eq!(SideEffectLevel::rank_str(typo), 0, "`{typo}`");
    }
}

/// G1, G2 Unknown words are no state and no class; the default class is the careful one.
#[test]
fn unknown_words_are_nothing() {
    assert_eq!(Class::default(), Class::Destructive);
    assert_eq!(State::default(), State::Request);
    for word in ["", "request", "ACTION ", "DONE"] {
        assert_eq!(State::parse(word), None);
        assert_eq!(MutationClass::parse(word), None);
    }
    assert_eq!(
        MutationClass::parse("AST_REFACTOR"),
        Some(MutationClass::AstRefactor)
    );
    let open: Vec<&str> = IntentStatus::ALL
        .iter()
        .filter(|status| status.is_open())
        .map(|status| status.as_str())
        .collect();
    assert_eq!(open, ["PENDING", "IN_PROGRESS"]);
}

/// The codes that scripts stand on are all there.
#[test]
fn codes() {
    let fixed = "INTENT_REQUIRED INTENT_UNKNOWN INTENT_CLOSED INTENT_IGNORED INTENT_EXPIRED \
        INTENT_OVERLAP INTENT_MISMATCH SCOPE_EMPTY REPEAT_LIMIT STATE_LOST MUTATION_CLASS_REQUIRED \
        STATE_VIOLATION SCOPE_VIOLATION TARGET_UNKNOWN AUTHORITY_FILE STALE_FILE CAPABILITY_DENIED \
        CEILING_EXCEEDED ARG_CONSTRAINT SCHEMA_INVALID APPROVAL_REQUIRED APPROVAL_REJECTED \
        APPROVAL_EXPIRED ISOLATION_UNAVAILABLE LIMIT_EXCEEDED BUDGET_EXCEEDED POLICY_INVALID \
        TOOL_UNKNOWN TOOL_PINNED NOT_TRUSTED PERSON_ONLY PATH_BUSY LEASED OUTPUT_INVALID \
        EXECUTION_FAILED TIMEOUT CONFLICT LEDGER_UNAVAILABLE INTERNAL";
    let ours: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    for word in fixed.split_whitespace() {
        assert!(ours.contains(&word), "{word}");
    }
    assert_eq!(
        ours.len(),
        fixed.split_whitespace().count() + 1,
        "and `ALLOWED`"
    );
}

/// A3, A4 The wire names of seed 003; hints that are absent stay absent.
#[test]
fn annotations() {
    let full = json!({
        "kind": "execute",
        "side_effect_level": "process_exec",
        "arg_schema": {
            "path_params": ["path"],
            "arg_aliases": {"file": "path"},
            "required": ["path"],
        },
        "capabilities": {"workspace": ["read_text", "list"]},
        "emits_artifacts": true,
        "result_readers": ["reader"],
        "inline_result": false,
        "readOnlyHint": true,
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false,
    });
    let read: ToolAnnotations = serde_json::from_value(full.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), full);
    let empty: ToolAnnotations = serde_json::from_value(json!({})).unwrap();
    assert_eq!(empty, ToolAnnotations::default());
    assert_eq!(empty.arg_schema, ToolArgSchema::default());
    assert!(!serde_json::to_string(&empty).unwrap().contains("Hint"));
}

/// A4 An execute tool whose output may be a handle needs a reader that is offered.
#[test]
fn result_readers() {
    let tool = ToolAnnotations {
        kind: ToolKind::Execute,
        emits_artifacts: true,
        result_readers: vec!["a".into(), "b".into()],
        ..ToolAnnotations::default()
    };
    assert!(tool.lacks_result_reader(|_| false));
    assert!(!tool.lacks_result_reader(|name| name == "b"));
    let silent = ToolAnnotations {
        result_readers: Vec::new(),
        ..tool.clone()
    };
    assert!(silent.lacks_result_reader(|_| true));
    let inline = ToolAnnotations {
        inline_result: true,
        ..silent.clone()
    };
    assert!(!inline.lacks_result_reader(|_| false));
    let reading = ToolAnnotations {
        kind: ToolKind::Read,
        ..silent
    };
    assert!(!reading.lacks_result_reader(|_| false));
}
