//! Parts of files.

use super::{Indentation, Scanned, block, scan, slice};
use crate::text::Text;

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

/// Gives a file in pieces of a few bytes, so that characters and line ends are cut.
struct Pieces<'a>(&'a [u8], usize);

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(self.0.len()).min(to.len());
        let (now, rest) = self.0.split_at(count);
        to[..count].copy_from_slice(now);
        self.0 = rest;
        Ok(count)
    }
}

/// What is read piece by piece is what is read as a whole.
#[test]
fn a_scan_shows_what_a_slice_shows() {
    let long = format!("a\n{}é{}\nend", "x".repeat(4095), "y".repeat(9000));
    let many = "line\n".repeat(2_500);
    let wide = format!("{}\n", "w".repeat(4000)).repeat(100);
    let texts: [&[u8]; 14] = [
        b"",
        b"\n",
        b"one",
        b"one\n",
        b"one\r\ntwo\r\n",
        b"one\r\ntwo\n\nfour",
        "\u{feff}märk\nzwei\n".as_bytes(),
        "日本語\r\n🦀\r\n".as_bytes(),
        b"caf\xe9\nth\xe9",
        b"cut \xe2\x82",
        b"a\0b\n",
        long.as_bytes(),
        many.as_bytes(),
        wide.as_bytes(),
    ];
    for text in texts {
        for piece in [1, 2, 3, 7, 100_000] {
            for (offset, limit) in [(1, None), (2, Some(1)), (1, Some(0)), (2, None), (0, None)] {
                let scanned = scan(Pieces(text, piece), offset, limit).unwrap();
                let shown = String::from_utf8_lossy(text)
                    .chars()
                    .take(20)
                    .collect::<String>();
                let about = format!("{shown:?} by {piece} from {offset}, {limit:?}");
                let Ok(whole) = Text::decode(text) else {
                    assert_eq!(scanned, Ok(Scanned::binary(text.len() as u64)), "{about}");
                    continue;
                };
                let sliced = slice(whole.flat(), offset, limit);
                let Ok(scanned) = scanned else {
                    assert_eq!(scanned.unwrap_err(), sliced.unwrap_err(), "{about}");
                    continue;
                };
                assert_eq!(Ok(scanned.excerpt), sliced, "{about}");
                assert_eq!(scanned.lines, whole.flat().lines().count(), "{about}");
                assert_eq!(scanned.endings, whole.endings(), "{about}");
                assert_eq!(
                    scanned.final_newline,
                    whole.flat().ends_with('\n'),
                    "{about}"
                );
                assert_eq!(scanned.encoding, whole.encoding().as_str(), "{about}");
            }
        }
    }
}
