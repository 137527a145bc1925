//! Parts of files.

use super::{Indentation, block, slice};

const SOURCE: &str = "use a;\n\nfn f() {\n    if x {\n        y();\n        z();\n    }\n\
    \x20   w();\n}\n\nfn g() {\n    v();\n}\n";

#[test]
fn slices_count_from_one() {
    let part = slice("a\nb\nc\n", 2, Some(1)).unwrap();
    assert_eq!(
        (part.content.as_str(), part.start_line, part.end_line),
        ("b", 2, 2)
    );
    let whole = slice("a\nb", 1, None).unwrap();
    assert_eq!((whole.content.as_str(), whole.end_line), ("a\nb", 2));
    let empty = slice("", 1, None).unwrap();
    assert_eq!((empty.start_line, empty.end_line), (0, 0));
    assert!(slice("a\n", 0, None).is_err());
    assert!(slice("a\n", 2, None).is_err());
}

#[test]
fn a_reading_is_bounded() {
    let part = slice(&"x\n".repeat(5_000), 1, None).unwrap();
    assert_eq!((part.end_line, part.truncated), (2_000, true));
    let part = slice(&"x".repeat(10_000), 1, None).unwrap();
    assert!(part.truncated && part.content.len() < 5_000);
}

#[test]
fn a_block_is_chosen_by_indentation() {
    let around = |anchor_line, max_levels| {
        let choice = Indentation {
            anchor_line,
            max_levels,
            ..Indentation::default()
        };
        let part = block(SOURCE, choice).unwrap();
        (part.start_line, part.end_line)
    };
    assert_eq!(around(5, Some(1)), (4, 7));
    assert_eq!(around(5, Some(2)), (3, 9));
    assert_eq!(around(12, Some(1)), (11, 13));
    let whole = Indentation {
        anchor_line: 5,
        max_levels: Some(2),
        include_header: true,
        ..Indentation::default()
    };
    assert_eq!(block(SOURCE, whole).unwrap().start_line, 1);
    assert!(block(SOURCE, Indentation::default()).is_err());
    assert!(
        block(
            "",
            Indentation {
                anchor_line: 1,
                ..Indentation::default()
            }
        )
        .is_err()
    );
}
