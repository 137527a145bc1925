//! The view, and the maps of others.

use tagout_vocab::MutationClass;

use super::{IntentMap, read};
use crate::record::{Change, Facts, Record, Side, record};

const ONE: &[u8] = b"def f():\n    return 1\n";
const TWO: &[u8] = b"def f():\n    return 1\n\ndef g():\n    return 2\n";

fn made(
    intent: &str,
    path: &'static str,
    moved_from: Option<&'static str>,
    before: Option<&'static [u8]>,
    after: Option<&'static [u8]>,
) -> Record {
    let side = |bytes: &'static [u8]| Side { bytes, mode: 0o644 };
    let facts = Facts {
        id: path.to_owned(),
        intent_id: Some(intent.to_owned()),
        ..Facts::default()
    };
    let change = Change {
        path,
        moved_from,
        before: before.map(side),
        after: after.map(side),
    };
    record(facts, &[change])
}

/// H12
#[test]
fn evolution_adds_files_and_symbols() {
    let records = [
        made("INT-2", "b.py", None, None, Some(ONE)),
        made("INT-1", "a.py", None, None, Some(ONE)),
        made("INT-2", "a.py", None, Some(ONE), Some(TWO)),
        made("INT-1", "c`d.txt", None, None, Some(b"x\n")),
    ];
    let names = |id: &str| (id == "INT-1").then(|| "Build <it>\nwell".to_owned());
    let text = IntentMap::of(&records).to_markdown(names);
    insta::assert_snapshot!(text, @"
        # Intent Map

        A view of the trace: written anew from it, never read by it.

        - `INT-1` `` c`d.txt ``
        - `INT-1` `a.py`
        - `INT-1` `a.py` `f`
        - `INT-1`: Build &lt;it> well
        - `INT-2` `a.py`
        - `INT-2` `a.py` `g`
        - `INT-2` `b.py`
        - `INT-2` `b.py` `f`
        ");
    let back = read(&text);
    assert_eq!(back.iter().filter(|one| one.symbol.is_some()).count(), 3);
    // The lines mean the same in any order, and twice.
    let mut lines: Vec<&str> = text.lines().rev().collect();
    lines.extend(text.lines());
    assert_eq!(read(&lines.join("\n")), back);
}

#[test]
fn the_view_follows_what_becomes_of_files() {
    let mut map = IntentMap::of(&[made("INT-1", "a.py", None, None, Some(TWO))]);
    map.add(&made("INT-2", "n.py", Some("a.py"), Some(TWO), Some(TWO)));
    let text = map.to_markdown(|_| None);
    assert!(
        text.contains("`INT-1` `n.py` `g`") && !text.contains("a.py"),
        "{text}"
    );
    map.add(&made("INT-2", "n.py", None, Some(TWO), Some(ONE)));
    let text = map.to_markdown(|_| None);
    assert!(
        text.contains("`INT-1` `n.py` `f`") && !text.contains("`g`"),
        "{text}"
    );
    map.add(&made("INT-2", "n.py", None, Some(ONE), None));
    assert!(map.to_markdown(|_| None).contains("No intents mapped yet."));
}

#[test]
fn refactoring_adds_nothing() {
    let moved = made(
        "INT-1",
        "a.py",
        None,
        Some(ONE),
        Some(b"def f():\n  return 1\n"),
    );
    assert_eq!(moved.mutation_class, Some(MutationClass::AstRefactor));
    assert_eq!(IntentMap::of(&[moved]), IntentMap::default());
}

/// H16 The six shapes in which maps are found.
#[test]
fn maps_of_others_are_read() {
    let shapes = [
        "# Intent Map\n\n## 2026-02-18T10:00:00.000Z - INT-001\n- src/a.ts\n- src/b.ts\n",
        "## INT-001: Build it\n- `src/a.ts`\n- `src/b.ts`\n",
        "## INT-001 - Build it (2026-02-18T10:00:00Z)\n- src/a.ts (ast_fingerprint: ab)\n- src/b.ts\n",
        "| Intent ID | Name | Key paths |\n|---|---|---|\n| INT-001 | Build it | `src/a.ts`, `src/b.ts` |\n",
        "## INT-001\n| File | AST Anchor | Last Content Hash | Last Modified | Trace ID |\n\
         |:--|--|--|--|--|\n| src/a.ts | f | ab | now | t |\n| src/b.ts | g | cd | now | u |\n",
        "| File Path | Owning Intent ID | Last Hash | Prov. Locked? |\n|--|--|--|--|\n\
         | src/a.ts | INT-001 | abcdef01… | Yes |\n| src/b.ts | INT-001 | abcdef02… | Yes |\n",
    ];
    for shape in shapes {
        let found = read(shape);
        let places: Vec<(&str, &str)> = found
            .iter()
            .map(|one| (one.intent.as_str(), one.path.as_str()))
            .collect();
        assert_eq!(
            places,
            [("INT-001", "src/a.ts"), ("INT-001", "src/b.ts")],
            "{shape}"
        );
    }
}
