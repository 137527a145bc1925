//! What a record says about each kind of change.

use proptest::prelude::*;
use tagout_vocab::{Digest, MutationClass};

use super::{AstStatus, Change, ChangeKind, Facts, Record, Side, chain, record};

fn side(bytes: &[u8], mode: u32) -> Side<'_> {
    Side { bytes, mode }
}

fn made(path: &str, moved_from: Option<&str>, before: Option<Side>, after: Option<Side>) -> Record {
    let facts = Facts {
        id: "r".to_owned(),
        ..Facts::default()
    };
    let change = Change {
        path,
        moved_from,
        before,
        after,
    };
    record(facts, &[change])
}

/// H11 Creation, deletion, rename, mode change and files that are not text are records too.
#[test]
fn every_kind_of_change_is_a_record() {
    let text = b"def f():\n    return 1\n".as_slice();
    let one = made("a.py", None, None, Some(side(text, 0o644)));
    let range = &one.modified_ranges[0];
    assert_eq!(range.change, ChangeKind::Created);
    assert!(range.old_range.unwrap().is_empty() && range.before_hash.is_none());
    assert_eq!(range.content_hash, Some(Digest::of(text)));
    assert_eq!(one.agent_action.as_deref(), Some("WRITE_FILE"));

    let one = made("a.py", None, Some(side(text, 0o644)), None);
    let range = &one.modified_ranges[0];
    assert_eq!(range.change, ChangeKind::Deleted);
    assert_eq!((range.after_hash, range.content_hash), (None, None));
    assert_eq!(range.old_content_hash, Some(Digest::of(text)));
    assert!(range.ast_nodes[0].removed && range.ast_nodes[0].symbol == "f");
    assert_eq!(one.agent_action.as_deref(), Some("DELETE_FILE"));

    let one = made(
        "b.py",
        Some("a.py"),
        Some(side(text, 0o644)),
        Some(side(text, 0o644)),
    );
    let range = &one.modified_ranges[0];
    assert_eq!(range.change, ChangeKind::Renamed);
    assert_eq!(range.old_file.as_deref(), Some("a.py"));
    assert_eq!(one.mutation_class, Some(MutationClass::AstRefactor));

    let one = made(
        "a.py",
        None,
        Some(side(text, 0o644)),
        Some(side(text, 0o755)),
    );
    let range = &one.modified_ranges[0];
    assert_eq!(range.change, ChangeKind::Mode);
    assert_eq!(
        (range.old_mode.as_deref(), range.new_mode.as_deref()),
        (Some("0644"), Some("0755"))
    );
    assert_eq!(range.new_range, None);

    let one = made(
        "a.png",
        None,
        Some(side(b"\0a", 0o644)),
        Some(side(b"\0b", 0o644)),
    );
    let range = &one.modified_ranges[0];
    assert!(range.binary && range.new_range.is_none());
    assert_eq!(range.ast_status, AstStatus::Fallback);
}

/// H10 What the agent said and what the trees say are both kept.
#[test]
fn both_classes_are_kept() {
    let facts = |declared| Facts {
        declared_class: Some(declared),
        ..Facts::default()
    };
    let change = |path, after| Change {
        path,
        moved_from: None,
        before: Some(side(b"def f():\n    return 1\n", 0o644)),
        after: Some(side(after, 0o644)),
    };
    let evolved = change("a.py", b"def f():\n    return 2\n");
    let one = record(facts(MutationClass::AstRefactor), &[evolved]);
    assert_eq!(one.declared_class, Some(MutationClass::AstRefactor));
    assert_eq!(one.computed_class, Some(MutationClass::IntentEvolution));
    assert_eq!(one.mutation_class, Some(MutationClass::IntentEvolution));
    assert!(one.is_contradicted());
    assert!(one.class_reason.unwrap().contains("`f`"));
    // Without a tree nothing can be shown, and the agent's word stands.
    let unread = change("a.txt", b"x\n");
    let one = record(facts(MutationClass::AstRefactor), &[unread]);
    assert_eq!(one.mutation_class, Some(MutationClass::AstRefactor));
    assert_eq!(one.computed_class, Some(MutationClass::IntentEvolution));
}

/// H11 Ranges are hunks, each with the definitions that it touches.
#[test]
fn ranges_name_what_they_touch() {
    let before = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        \
                  return 2\n\ndef h():\n    return 3\n";
    let after = before
        .replace("return 1", "return 10")
        .replace("return 3", "return 30");
    let one = made(
        "a.py",
        None,
        Some(side(before.as_bytes(), 0)),
        Some(side(after.as_bytes(), 0)),
    );
    let found: Vec<(u32, Vec<&str>)> = one
        .modified_ranges
        .iter()
        .map(|range| {
            let symbols = range.ast_nodes.iter().map(|node| node.symbol.as_str());
            (range.new_range.unwrap().start_line, symbols.collect())
        })
        .collect();
    assert_eq!(found, [(3, vec!["A.f"]), (9, vec!["h"])]);
}

/// B6 The records that led to a file's bytes, through a rename.
#[test]
fn records_are_chained_by_their_bytes() {
    let mut records = Vec::new();
    let texts: [&[u8]; 4] = [b"1\n", b"2\n", b"3\n", b"4\n"];
    for (at, pair) in texts.windows(2).enumerate() {
        let moved = (at == 1).then_some("a.txt");
        let path = if at == 0 { "a.txt" } else { "b.txt" };
        let before = Some(side(pair[0], 0));
        let mut one = made(path, moved, before, Some(side(pair[1], 0)));
        one.id = format!("r{at}");
        records.push(one);
    }
    assert_eq!(
        chain(&records, "b.txt", Digest::of(b"4\n")),
        ["r2", "r1", "r0"]
    );
    assert_eq!(chain(&records, "b.txt", Digest::of(b"3\n")), ["r1", "r0"]);
    assert_eq!(
        chain(&records, "b.txt", Digest::of(b"9\n")),
        Vec::<&str>::new()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// No bytes under any name break a record, and its line comes back.
    #[test]
    fn any_bytes_make_a_record(
        before in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..200)),
        after in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..200)),
        name in "[a-z]{1,4}\\.(rs|py|ts|tsx|js|go|java|c|cpp|sh|txt)",
    ) {
        let one = made(
            &name,
            None,
            before.as_deref().map(|bytes| side(bytes, 0o644)),
            after.as_deref().map(|bytes| side(bytes, 0o644)),
        );
        let reading = crate::dialects::read(one.to_line().as_bytes());
        prop_assert_eq!(reading.records().next(), Some(&one));
    }
}
