//! Every dialect and its damage.

use proptest::prelude::*;
use serde_json::{Value, json};
use tagout_vocab::{Digest, MutationClass, Timestamp};

use super::{Dialect, Item, Reading, read, write};
use crate::ranges::LineRange;
use crate::record::{
    AstStatus, ChangeKind, Contributor, Entity, Link, ModifiedRange, Record, Revision,
};

fn whole(text: &str, dialect: Dialect) -> Vec<Record> {
    let reading = read(text.as_bytes());
    assert_eq!(reading.damage, []);
    for entry in &reading.entries {
        assert_eq!(entry.dialect, dialect);
    }
    assert_eq!(reading.entries.len(), text.lines().count());
    reading.records().cloned().collect()
}

/// H16 Every place in which the nested dialect keeps a class or an intent is found.
#[test]
fn nested_records_are_read() {
    let records = whole(
        include_str!("../../tests/traces/nested.jsonl"),
        Dialect::Nested,
    );
    let short = |record: &Record| {
        let class = record.mutation_class.map_or("-", MutationClass::as_str);
        let range = &record.modified_ranges[0];
        let lines = range
            .new_range
            .map(|lines| (lines.start_line, lines.end_line));
        let hash = match (&range.content_hash, &range.other_hash) {
            (Some(_), None) => "whole",
            (None, Some(_)) => "other",
            _ => "none",
        };
        let kind = record.contributor.as_ref().map(|one| one.kind.as_str());
        format!(
            "{} {class} {} {:?} {hash} {} {}",
            record.intent_id.as_deref().unwrap_or("-"),
            range.file,
            lines.unwrap_or_default(),
            kind.unwrap_or("-"),
            record.session_id.as_deref().unwrap_or("-"),
        )
    };
    let found: Vec<String> = records.iter().map(short).collect();
    insta::assert_snapshot!(found.join("\n"), @"
        INT-001 - src/auth/a.ts (3, 9) whole ai task-7
        INT-001 AST_REFACTOR src/auth/a.ts (3, 9) whole ai task-7
        INT-001 INTENT_EVOLUTION src/auth/a.ts (3, 9) whole ai s-1
        INT-001 AST_REFACTOR src/auth/a.ts (3, 9) whole ai task-7
        INT-001 AST_REFACTOR src/auth/a.ts (3, 9) whole ai task-7
        INT-001 AST_REFACTOR src/auth/a.ts (3, 9) whole ai task-7
        INT-001 AST_REFACTOR unknown (1, 999999) other ai task-7
        INT-001 - src/auth/a.ts (1, 2) none ai task-7
        INT-001 INTENT_EVOLUTION src/auth/a.ts (1, 1) none human https://example.org/c/1
        INT-001 - src/auth/a.ts (3, 9) whole ai task-7
        ");
    let extras = |at: usize| records[at].extra.keys().cloned().collect::<Vec<_>>();
    assert_eq!(extras(0), Vec::<String>::new());
    assert_eq!(extras(2), ["duration_ms", "success"]);
    assert_eq!(extras(5), ["related"]);
    assert_eq!(extras(7), ["files", "vcs"]);
    assert_eq!(extras(9), ["integrity"]);
}

/// H16
#[test]
fn ranged_records_are_read() {
    let records = whole(
        include_str!("../../tests/traces/ranged.jsonl"),
        Dialect::Ranged,
    );
    let [first, second] = records.as_slice() else {
        panic!("two records");
    };
    let range = &first.modified_ranges[0];
    assert_eq!(range.change, ChangeKind::Created);
    assert!(range.old_range.unwrap().is_empty());
    assert_eq!(range.ast_status, AstStatus::Ok);
    assert_eq!(range.ast_nodes[0].symbol, "f");
    assert_eq!(first.related_requirements, ["REQ-1", "REQ-2"]);
    assert_eq!(first.vcs.as_ref().unwrap().revision, "deadbeef");
    assert_eq!(first.agent_action.as_deref(), Some("WRITE_FILE"));
    let range = &second.modified_ranges[0];
    assert_eq!(range.change, ChangeKind::Modified);
    assert_eq!(range.ast_nodes[0].symbol, "f");
    assert_eq!(second.tool_origin.as_deref(), Some("mcp_dynamic"));
}

/// H16
#[test]
fn audit_records_are_read() {
    let records = whole(
        include_str!("../../tests/traces/audit.jsonl"),
        Dialect::Audit,
    );
    let first = &records[0];
    assert_eq!(first.intent_id.as_deref(), Some("REQ-001"));
    assert_eq!(first.related_requirements, ["SPEC-2"]);
    assert_eq!(first.session_id.as_deref(), Some("s-9"));
    assert_eq!(first.vcs.as_ref().unwrap().revision, "abc123");
    let range = &first.modified_ranges[0];
    // An end of -1 says nothing about lines.
    assert_eq!(range.new_range, None);
    assert!(range.after_hash.is_some());
    assert_eq!(records[1].modified_ranges[0].change, ChangeKind::Deleted);
    assert_eq!(records[1].modified_ranges[0].content_hash, None);
    let refusal = &records[2];
    assert!(refusal.modified_ranges.is_empty());
    assert_eq!(refusal.mutation_class, None);
    assert_eq!(refusal.extra["mutation_class"], "N/A");
    assert_eq!(refusal.intent_id, None);
    assert_eq!(refusal.extra["result"]["status"], "DENIED");
}

/// H16
#[test]
fn simple_records_are_read() {
    let records = whole(
        include_str!("../../tests/traces/simple.jsonl"),
        Dialect::Simple,
    );
    for record in &records {
        assert_eq!(record.intent_id.as_deref(), Some("INT-001"));
        assert_eq!(record.modified_ranges[0].file, "src/a.py");
        assert!(record.modified_ranges[0].content_hash.is_some());
        assert!(!record.id.is_empty());
    }
    assert_eq!(records[0].tool_name.as_deref(), Some("write_to_file"));
    assert_eq!(records[1].mutation_class, Some(MutationClass::AstRefactor));
    assert_eq!(records[2].contributor.as_ref().unwrap().kind, Entity::Ai);
    assert_eq!(records[3].related_requirements, ["REQ-7"]);
    assert_eq!(records[3].extra["mutation_class"], "BUG_FIX");
    assert_eq!(records[4].related_requirements, ["REQ-1"]);
}

/// H16 Comments, blank lines, two objects on a line, pretty printing, conflict markers, a byte
/// order mark, torn lines and no last line end: what can be read is read, the rest has its place.
#[test]
fn damage_has_its_place_and_hides_nothing() {
    let reading = read(include_bytes!("../../tests/traces/damaged.jsonl"));
    let places: Vec<String> = reading.damage.iter().map(ToString::to_string).collect();
    let told = places.join("\n") + "\n";
    assert_eq!(told, include_str!("../../tests/golden/damage.txt"));
    let lines: Vec<usize> = reading
        .entries
        .iter()
        .map(|entry| entry.place.line)
        .collect();
    assert_eq!(reading.entries.len(), 9, "{lines:?}");
    assert_eq!(reading.damage_count, reading.damage.len());
}

fn digest(seed: u8) -> Digest {
    Digest::of(&[seed])
}

/// A record with everything in it.
fn full() -> Record {
    Record {
        version: 1,
        id: "rec-1".to_owned(),
        timestamp: Some(Timestamp::from_millis(1_771_000_000_123)),
        vcs: Some(Revision {
            kind: "git".to_owned(),
            revision: "c".repeat(40),
        }),
        intent_id: Some("INT-001".to_owned()),
        related_requirements: vec!["REQ-1".to_owned()],
        mutation_class: Some(MutationClass::IntentEvolution),
        declared_class: Some(MutationClass::AstRefactor),
        computed_class: Some(MutationClass::IntentEvolution),
        class_reason: Some("words that carry behaviour changed in `f`".to_owned()),
        tool_name: Some("write_to_file".to_owned()),
        tool_origin: Some("native".to_owned()),
        agent_action: Some("EDIT_FILE".to_owned()),
        contributor: Some(Contributor {
            kind: Entity::Ai,
            name: Some("agent".to_owned()),
            model: Some("acme/m-1".to_owned()),
        }),
        session_id: Some("s-1".to_owned()),
        call_id: Some("c-1".to_owned()),
        modified_ranges: vec![ModifiedRange {
            file: "src/a.rs".to_owned(),
            old_range: Some(LineRange {
                start_line: 2,
                end_line: 2,
            }),
            new_range: Some(LineRange {
                start_line: 2,
                end_line: 3,
            }),
            content_hash: Some(digest(1)),
            old_content_hash: Some(digest(2)),
            before_hash: Some(digest(3)),
            after_hash: Some(digest(4)),
            ast_status: AstStatus::Ok,
            ast_nodes: vec![crate::nodes::AstNode {
                symbol: "f".to_owned(),
                kind: "function".to_owned(),
                start_line: 1,
                end_line: 4,
                node_hash: digest(5),
                removed: false,
            }],
            ..ModifiedRange::default()
        }],
        ledger_event: Some(digest(6)),
        extra: serde_json::Map::new(),
    }
}

/// H11 The canonical line never changes its bytes.
#[test]
fn the_canonical_line_is_fixed() {
    let link = Link {
        version: 1,
        id: "link-1".to_owned(),
        timestamp: Some(Timestamp::from_millis(1_771_000_000_123)),
        commit: full().vcs,
        records: vec!["rec-1".to_owned()],
        ledger_event: Some(digest(7)),
    };
    let text = full().to_line() + &link.to_line();
    assert_eq!(text, include_str!("../../tests/golden/agent_trace.jsonl"));
    let reading = read(text.as_bytes());
    assert_eq!(reading.damage, []);
    assert_eq!(reading.entries[0].item, Item::Record(Box::new(full())));
    assert_eq!(reading.entries[1].item, Item::Link(link));
}

/// The lines of two writers, merged in any order, give the same file.
#[test]
fn merged_views_do_not_depend_on_the_order() {
    let mut other = full();
    other.id = "rec-0".to_owned();
    let lines = [full().to_line(), other.to_line(), full().to_line()];
    let forth = read(lines.concat().as_bytes());
    let back: String = lines.iter().rev().map(String::as_str).collect();
    let back = read(back.as_bytes());
    assert_eq!(write(&forth), write(&back));
    assert_eq!(write(&forth), other.to_line() + &full().to_line());
    // Each dialect's file becomes a canonical one that says the same.
    for text in [
        include_str!("../../tests/traces/nested.jsonl"),
        include_str!("../../tests/traces/ranged.jsonl"),
        include_str!("../../tests/traces/audit.jsonl"),
        include_str!("../../tests/traces/simple.jsonl"),
    ] {
        let first = read(text.as_bytes());
        let again = read(write(&first).as_bytes());
        assert_eq!(again.damage, []);
        let sorted = |reading: &Reading| {
            let mut lines: Vec<String> = reading.records().map(Record::to_line).collect();
            lines.sort();
            lines.dedup();
            lines
        };
        assert_eq!(sorted(&first), sorted(&again));
    }
}

fn words() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 /_.\"\\\\é-]{1,12}".prop_filter("a word", |word| !word.trim().is_empty())
}

prop_compose! {
    fn ranges()(
        file in words(),
        start_line in 1_u32..500,
        length in 0_u32..50,
        hash in any::<u8>(),
        is_created in any::<bool>(),
    ) -> ModifiedRange {
        ModifiedRange {
            file,
            change: if is_created { ChangeKind::Created } else { ChangeKind::Modified },
            old_range: Some(LineRange { start_line, end_line: start_line }),
            new_range: Some(LineRange { start_line, end_line: start_line + length }),
            content_hash: Some(digest(hash)),
            before_hash: (!is_created).then(|| digest(hash.wrapping_add(1))),
            after_hash: Some(digest(hash.wrapping_add(2))),
            ..ModifiedRange::default()
        }
    }
}

prop_compose! {
    fn records()(
        id in words(),
        millis in 0_i64..4_000_000_000_000,
        intent in words(),
        session in words(),
        requirement in words(),
        ranges in proptest::collection::vec(ranges(), 1..4),
        class in proptest::sample::select(MutationClass::ALL.as_slice()),
    ) -> Record {
        Record {
            version: 1,
            id,
            timestamp: Some(Timestamp::from_millis(millis)),
            vcs: Some(Revision { kind: "git".to_owned(), revision: "a".repeat(40) }),
            intent_id: Some(format!("I{intent}")),
            related_requirements: vec![format!("R{requirement}")],
            mutation_class: Some(class),
            declared_class: Some(class),
            session_id: Some(session),
            contributor: Some(Contributor {
                kind: Entity::Ai,
                name: None,
                model: Some("acme/m-1".to_owned()),
            }),
            modified_ranges: ranges,
            ..Record::default()
        }
    }
}

/// The record as others would write it, in the fields that they have.
fn as_nested(record: &Record) -> Value {
    let files: Vec<Value> = record
        .modified_ranges
        .iter()
        .map(|range| {
            json!({
                "relative_path": range.file,
                "conversations": [{
                    "url": record.session_id,
                    "contributor": {"entity_type": "AI", "model_identifier": "acme/m-1"},
                    "ranges": [{
                        "start_line": range.new_range.unwrap().start_line,
                        "end_line": range.new_range.unwrap().end_line,
                        "content_hash": range.content_hash,
                    }],
                    "related": [
                        {"type": "specification", "value": record.intent_id},
                        {"type": "specification", "value": record.related_requirements[0]},
                    ],
                }],
            })
        })
        .collect();
    json!({
        "id": record.id,
        "timestamp": record.timestamp.unwrap().to_string(),
        "vcs": {"revision_id": record.vcs.as_ref().unwrap().revision},
        "mutation_class": record.declared_class,
        "files": files,
    })
}

fn as_ranged(record: &Record) -> Value {
    json!({
        "id": record.id,
        "timestamp": record.timestamp.unwrap().to_string(),
        "revision_id": record.vcs.as_ref().unwrap().revision,
        "intent_id": record.intent_id,
        "related_requirements": record.related_requirements,
        "mutation_class": record.declared_class,
        "session_id": record.session_id,
        "modified_ranges": record.modified_ranges,
    })
}

fn as_audit(record: &Record) -> Value {
    let range = &record.modified_ranges[0];
    json!({
        "trace_id": record.id,
        "timestamp": record.timestamp.unwrap().to_string(),
        "intent_id": record.intent_id,
        "related": record.related_requirements,
        "mutation_class": record.declared_class,
        "contributor": {"entity_type": "AI", "model_identifier": "acme/m-1"},
        "ranges": {
            "file": range.file,
            "content_hash": range.content_hash,
            "start_line": range.new_range.unwrap().start_line,
            "end_line": range.new_range.unwrap().end_line,
        },
        "metadata": {"session_id": record.session_id},
    })
}

fn as_simple(record: &Record) -> Value {
    let range = &record.modified_ranges[0];
    json!({
        "id": record.id,
        "timestamp": record.timestamp.unwrap().to_string(),
        "intent_id": record.intent_id,
        "related": record.related_requirements,
        "classification": record.declared_class,
        "contributor": "AI",
        "file_path": range.file,
        "content_hash": range.content_hash,
    })
}

/// What every dialect can hold.
fn core(record: &Record) -> Value {
    let range = &record.modified_ranges[0];
    json!([
        record.id,
        record.timestamp,
        record.intent_id,
        record.related_requirements,
        record.mutation_class,
        range.file,
        range.content_hash,
        record.contributor.as_ref().map(|one| one.kind),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// H16 What another dialect can hold comes back from it.
    #[test]
    fn records_come_back_from_every_dialect(record in records()) {
        type Written = fn(&Record) -> Value;
        let dialects: [(Written, Dialect); 4] = [
            (as_nested, Dialect::Nested),
            (as_ranged, Dialect::Ranged),
            (as_audit, Dialect::Audit),
            (as_simple, Dialect::Simple),
        ];
        for (written, dialect) in dialects {
            let reading = read(written(&record).to_string().as_bytes());
            prop_assert_eq!(&reading.damage, &[]);
            prop_assert_eq!(reading.entries[0].dialect, dialect);
            let back = reading.records().next().unwrap();
            let mut wanted = record.clone();
            if dialect == Dialect::Ranged {
                // This one has no contributor.
                wanted.contributor = None;
            }
            prop_assert_eq!(core(back), core(&wanted));
        }
        let nested = read(as_nested(&record).to_string().as_bytes());
        prop_assert_eq!(
            nested.records().next().unwrap().modified_ranges.len(),
            record.modified_ranges.len()
        );
        let canonical = read(record.to_line().as_bytes());
        prop_assert_eq!(canonical.records().next(), Some(&record));
        let line = crate::agent_trace::export(&record, "0.1.0").to_string();
        let exported = read(line.as_bytes());
        prop_assert_eq!(exported.entries[0].dialect, Dialect::AgentTrace);
        prop_assert_eq!(exported.records().next(), Some(&record));
    }

    #[test]
    fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let reading = read(&bytes);
        prop_assert!(reading.damage_count >= reading.damage.len());
    }

    /// A line cut anywhere costs itself alone.
    #[test]
    fn a_torn_line_costs_itself_alone(record in records(), cut in 1_usize..200) {
        let line = record.to_line();
        let torn = crate::nodes::cut(&line, cut.min(line.len() - 2));
        let text = format!("{torn}\n{line}");
        let reading = read(text.as_bytes());
        prop_assert_eq!(reading.damage_count, 1);
        prop_assert_eq!(reading.records().collect::<Vec<_>>(), vec![&record]);
    }
}

#[test]
fn hostile_texts_end() {
    for text in [
        "{\"a\":".repeat(50_000),
        "{\"a\":[\n".repeat(20_000),
        "[".repeat(100_000),
        "{\n".repeat(50_000),
        "#\n".repeat(100_000),
    ] {
        assert_eq!(read(text.as_bytes()).entries, []);
    }
}
