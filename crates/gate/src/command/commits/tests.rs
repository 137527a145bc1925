//! Reading what git prints.

use super::{Content, contents, listed};

fn content(path: &str, (from, object): (Option<&str>, Option<&str>)) -> Content {
    Content {
        path: path.as_bytes().to_vec(),
        from: from.map(str::to_owned),
        object: object.map(str::to_owned),
    }
}

/// L4: what git says is read, and what it says besides is an error: a merge that it skips must not
/// pass for one that changes nothing.
#[test]
fn raw_differences() {
    let raw = b":100644 100644 aa bb M\0src/a\0:100644 000000 aa 0000 D\0gone\0\
                \n:000000 100644 00 dd A\0new line\0";
    let found: Vec<Content> = contents(raw).unwrap().into_iter().collect();
    let expected = [
        content("gone", (Some("aa"), None)),
        content("new line", (None, Some("dd"))),
        content("src/a", (Some("aa"), Some("bb"))),
    ];
    assert_eq!(found, expected);
    assert!(contents(b"").unwrap().is_empty() && contents(b"\0\0").unwrap().is_empty());
    for odd in [
        &b"0123\0diff: warning: Skipping remerge-diff for octopus merges.\n"[..],
        b"::100644 100644 100644 aa bb cc MM\0both\0",
        b":100644 100644 aa bb M",
        b":",
    ] {
        assert!(contents(odd).is_err(), "{}", String::from_utf8_lossy(odd));
    }
}

/// L4: lists of staged files.
#[test]
fn staged_lists() {
    let found: Vec<Content> = listed(b"100644 aa 0\ta b\0nonsense\0")
        .into_iter()
        .collect();
    assert_eq!(found, [content("a b", (None, Some("aa")))]);
}
