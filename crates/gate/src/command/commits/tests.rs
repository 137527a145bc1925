//! Reading what git prints.

use super::{Content, contents, listed};

fn content(path: &str, (from, object): (Option<&str>, Option<&str>)) -> Content {
    Content {
        path: path.as_bytes().to_vec(),
        from: from.map(str::to_owned),
        object: object.map(str::to_owned),
    }
}

/// L4: plain and combined differences are read by their own number of parents.
#[test]
fn raw_differences() {
    let raw = b":100644 100644 aa bb M\0src/a\0:100644 000000 aa 0000 D\0gone\0\
                ::100644 100644 100644 aa bb cc MM\0both\0\n:000000 100644 00 dd A\0new line\0";
    let found: Vec<Content> = contents(raw).into_iter().collect();
    let expected = [
        content("both", (None, Some("cc"))),
        content("gone", (Some("aa"), None)),
        content("new line", (None, Some("dd"))),
        content("src/a", (Some("aa"), Some("bb"))),
    ];
    assert_eq!(found, expected);
    assert!(contents(b"").is_empty() && contents(b"\0\0:").len() <= 1);
}

/// L4: lists of staged files.
#[test]
fn staged_lists() {
    let found: Vec<Content> = listed(b"100644 aa 0\ta b\0nonsense\0")
        .into_iter()
        .collect();
    assert_eq!(found, [content("a b", (None, Some("aa")))]);
}
