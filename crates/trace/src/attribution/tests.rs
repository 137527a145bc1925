//! Lines through single changes.

use super::{Author, Certainty, Credit, Handling, OriginNo, Sheet, Step, Version, evolve};

const AGENT: Author = Author::Agent(OriginNo(9));

/// A version whose lines all have one author.
fn by(author: Author, text: &str) -> Version {
    let sheet = Sheet::of(text.as_bytes());
    let credits = vec![Credit::fresh(author); sheet.lines.len()];
    Version { sheet, credits }
}

/// One letter a line: who wrote it, small when that is only likely.
fn letters(credits: &[Credit]) -> String {
    let letter = |credit: &Credit| {
        let letter = match credit.author {
            Author::Agent(_) => 'A',
            Author::Human => 'H',
            Author::Unknown => 'U',
        };
        match credit.certainty {
            Certainty::Certain => letter,
            Certainty::Likely => letter.to_ascii_lowercase(),
        }
    };
    credits.iter().map(letter).collect()
}

fn credits(old: &str, new: &str) -> Vec<Credit> {
    let old = by(Author::Human, old);
    let new = Sheet::of(new.as_bytes());
    let step = Step {
        old: Some(&old),
        new: Some(&new),
    };
    evolve(&[step], AGENT).pop().unwrap().finish(&new, AGENT)
}

/// Old lines are a person's, the change is an agent's.
#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    assert_eq!(letters(&credits(old, new)), expected, "{old}---\n{new}");
}

/// B3 Lines that were not touched keep their author.
#[test]
fn edits_of_other_lines() {
    check(
        "fn one() {}\nfn two() {}\n",
        "fn one() {}\nfn new_one() {}\nfn two() {}\n",
        "HAH",
    );
    check(
        "let a = 1;\nlet b = 2;\n",
        "let a = 1;\nlet b = compute(3, 4);\n",
        "HA",
    );
    check("one_line\r\nother_line\r\n", "one_line\nother_line\n", "HH");
}

/// B3 A block that moves keeps its author, within a file and reindented.
#[test]
fn moves() {
    let block = "    let first_name = lookup(17);\n    let second_name = lookup(18);\n";
    let rest = "fn stays_here() {\n    call_something(1, 2, 3);\n}\nfn stays_too() {\n    call_other(4);\n}\n";
    let moved = credits(&format!("{block}{rest}"), &format!("{rest}{block}"));
    assert_eq!(letters(&moved), "HHHHHHHH");
    let deeper = block.replace("    ", "        ");
    let moved = credits(&format!("{block}{rest}"), &format!("{rest}{deeper}"));
    assert!(moved.iter().all(|credit| credit.author == Author::Human));
    assert!(
        moved
            .iter()
            .any(|credit| credit.handled == Some((Handling::Moved, AGENT)))
    );
}

/// B3 A block that goes to another file in the same step keeps its author.
#[test]
fn moves_between_files() {
    let block = "    let first_name = lookup(17);\n    let second_name = lookup(18);\n";
    let old = by(Author::Human, &format!("keep_this();\n{block}"));
    let left = Sheet::of(b"keep_this();\n");
    let target = Sheet::of(format!("fn made_by_agent() {{\n{block}}}\n").as_bytes());
    let steps = [
        Step {
            old: Some(&old),
            new: Some(&left),
        },
        Step {
            old: None,
            new: Some(&target),
        },
    ];
    let mut drafts = evolve(&steps, AGENT);
    let draft = drafts.pop().unwrap();
    assert_eq!(letters(&draft.finish(&target, AGENT)), "AHHa");
}

/// B3 Formatting keeps the author: breaks, blanks, trailing commas, quotes.
#[test]
fn formatting() {
    check(
        "    let value = compute_all(first, second, third);\n",
        "    let value = compute_all(\n        first,\n        second,\n        third,\n    );\n",
        "HHHHH",
    );
    check("if(ready){go_now();}\n", "if (ready) { go_now(); }\n", "H");
    let credits = credits(
        "x = call('some text', \"other text\")\n",
        "x = call('some text', `other text`)\n",
    );
    assert_eq!(credits[0].handled, Some((Handling::Reformatted, AGENT)));
    // A string whose blanks changed is another string.
    check("print_it(\"one two\");\n", "print_it(\"one  two\");\n", "A");
}

/// B3 Formatting together with one changed token: only that line is the agent's.
#[test]
fn formatting_and_a_change() {
    check(
        "  first_call_here(1);\n  second_call_here(2);\n  third_call_here(3);\n",
        "    first_call_here(1);\n    second_call_here(99);\n    third_call_here(3);\n",
        "HAH",
    );
}

/// B3 A bracket among lines that were only indented may have been written again: it is nobody's for
/// certain. One that was broken off a longer line was not.
#[test]
fn brackets_among_formatted_lines() {
    check(
        "  first_call_here(1);\n    }\n  third_call_here(3);\n",
        "    first_call_here(1);\n}\n    third_call_here(3);\n",
        "HhH",
    );
    check(
        "  first_call_here(1);\n  go();\n  third_call_here(3);\n",
        "    first_call_here(1);\n    go();\n    third_call_here(4);\n",
        "HhA",
    );
    check(
        "  first_call_here(one);\n\n  third_call_here(3);\n",
        "    first_call_here(\n        one,\n    );\n\n    third_call_here(3);\n",
        "HHHhH",
    );
}

/// B3 A renamed identifier keeps its lines' authors; a changed word does not.
#[test]
fn renames() {
    let renamed = credits(
        "fn total(items: u32) -> u32 {\n    items + 1\n}\nfn main() {\n    total(5);\n}\n",
        "fn sum_of(items: u32) -> u32 {\n    items + 1\n}\nfn main() {\n    sum_of(5);\n}\n",
    );
    assert_eq!(letters(&renamed), "hHHHhH");
    assert_eq!(renamed[0].handled, Some((Handling::Renamed, AGENT)));
    check(
        "    return left_side;\n    left_side\n",
        "    return right_side;\n    left_side\n",
        "aH",
    );
    check("    log_line(message);\n", "    log_error(message);\n", "a");
}

/// B3 Repeated lines are not claimed by their content alone.
#[test]
fn repeated_lines() {
    // One more bracket than before: which one is new can't be told.
    check("fn a() {\n}\n", "fn a() {\n}\n}\n", "Hha");
    // A bracket that stayed while everything around it changed.
    check(
        "fn first() {\n    x();\n}\n",
        "struct Other {\n    y: u8,\n}\nfn more() {}\n",
        "AAhA",
    );
}

/// B3 An empty, a binary and an unended text have their lines too.
#[test]
fn odd_texts() {
    check("", "one_line\n", "A");
    check("one_line\n", "", "");
    check("one_line\nlast_line", "one_line\nlast_line\n", "HH");
    let mut binary = b"a\nb\n\0".to_vec();
    assert_eq!(Sheet::of(&binary).lines.len(), 1);
    binary.push(1);
    assert_ne!(Sheet::of(&binary).lines, Sheet::of(b"a\nb\n\0").lines);
}
