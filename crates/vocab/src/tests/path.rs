//! Paths that can't leave the workspace, and where a path lies.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;

use crate::path::{PathError, Roots};
use crate::{Place, WorkspacePath};

fn roots() -> Roots {
    Roots {
        workspace: "/home/u/ws".into(),
        extra: vec![
            ("outer".into(), "/data".into()),
            ("inner".into(), "/data/in/".into()),
            ("around".into(), "/home/u".into()),
        ],
    }
}

fn shown(raw: &str, cwd: &str) -> String {
    match roots().place(raw, cwd) {
        Place::Outside { path } => {
            assert_eq!(path, raw, "as it was given");
            "outside".to_owned()
        }
        place @ (Place::Inside { .. } | Place::Root { .. }) => place.shown(),
    }
}

/// H7, S3 Where paths lie.
#[test]
fn places() {
    for (raw, cwd, expected) in [
        ("a", "", "a"),
        (".", "", "."),
        ("./a//b/./c/", "", "a/b/c"),
        ("a/../b", "", "b"),
        ("../b", "a", "b"),
        ("../ws/a", "", "outside"),
        ("../ws/a", "/home/u/ws", "a"),
        ("/home/u/ws", "", "."),
        ("/home/u/ws/a/../b", "/tmp", "b"),
        ("/home/u/ws/../x", "", "around:x"),
        ("/home/u/wsx/a", "", "around:wsx/a"),
        ("/data/x", "", "outer:x"),
        ("/data/in/x", "", "inner:x"),
        ("/data/in", "", "inner:."),
        ("/data/inx", "", "outer:inx"),
        ("x", "/data/in", "inner:x"),
        ("/etc/passwd", "", "outside"),
        ("/../home/u/ws/a", "", "outside"),
        ("a", "/tmp", "outside"),
        ("a", "..", "outside"),
        ("", "", "outside"),
        ("~/a", "", "outside"),
        ("a", "~", "outside"),
        ("C:/a", "", "outside"),
        ("\\\\host\\a", "", "outside"),
        ("file:/home/u/ws/a", "", "outside"),
        ("FILE:/home/u/ws/a", "", "outside"),
        ("https://x/a", "", "outside"),
        ("a\0b", "", "outside"),
        ("a\nb", "", "outside"),
        ("a\\..\\b", "", "outside"),
        ("a/..\\..\\b", "", "outside"),
        ("a\\..\\b/../c", "", "outside"),
    ] {
        assert_eq!(shown(raw, cwd), expected, "`{raw}` in `{cwd}`");
    }
    assert_eq!(shown(&"a/".repeat(3000), ""), "outside");
}

/// H7 Without a workspace nothing absolute is inside.
#[test]
fn no_workspace() {
    for workspace in ["", "/", "//"] {
        let roots = Roots {
            workspace: workspace.into(),
            extra: Vec::new(),
        };
        assert!(
            roots.place("/etc/passwd", "").inside().is_none(),
            "`{workspace}`"
        );
    }
}

#[test]
fn workspace_paths() {
    let path = WorkspacePath::new("./a//b/").unwrap();
    assert_eq!(path.as_str(), "a/b");
    assert_eq!(path.parent().unwrap().as_str(), "a");
    assert_eq!(path.name(), Some("b"));
    assert_eq!(path.segments().collect::<Vec<_>>(), ["a", "b"]);
    let root = WorkspacePath::root();
    assert_eq!(
        (root.parent(), root.name(), root.to_string()),
        (None, None, ".".to_owned())
    );
    let beneath = |one: &str, other: &str| {
        WorkspacePath::new(one)
            .unwrap()
            .is_beneath(&WorkspacePath::new(other).unwrap())
    };
    assert!(beneath("a/b", "a") && beneath("a", "a") && beneath("a", ""));
    assert!(!beneath("ab", "a") && !beneath("a", "a/b") && !beneath("", "a"));
    for (text, error) in [
        ("/a", PathError::Absolute),
        ("~a", PathError::Absolute),
        ("a/../b", PathError::Climbs),
        ("..", PathError::Climbs),
        ("a\\..", PathError::Climbs),
        ("a\u{7f}", PathError::Control),
    ] {
        assert_eq!(WorkspacePath::new(text), Err(error), "`{text}`");
        let json = serde_json::to_string(text).unwrap();
        assert!(serde_json::from_str::<WorkspacePath>(&json).is_err());
    }
    assert_eq!(
        WorkspacePath::new(&"a".repeat(4097)),
        Err(PathError::TooLong)
    );
}

fn raw() -> impl Strategy<Value = String> {
    let part = select(vec![
        "a", "..", ".", "", "ws", "home", "u", "~", "\\", "C:", "a\\..", "é",
    ]);
    (
        select(vec!["", "/", "/home/u/ws/", "/data/"]),
        prop::collection::vec(part, 0..6),
    )
        .prop_map(|(start, parts)| format!("{start}{}", parts.join("/")))
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(4_000) })]

    /// H7 Whatever is inside has no way out in its text, and is placed there again.
    #[test]
    fn inside_is_clean(
        raw in raw(),
        cwd in select(vec!["", "a", "/home/u/ws", "/data/in", "..", "/"]),
    ) {
        let place = roots().place(&raw, cwd);
        let (Place::Inside { path } | Place::Root { path, .. }) = &place else {
            return Ok(());
        };
        let text = path.as_str();
        prop_assert!(!text.starts_with('/') && !text.ends_with('/') && !text.contains("//"));
        prop_assert!(text.split(['/', '\\']).all(|part| part != ".."));
        prop_assert!(path.segments().all(|part| part != "."));
        prop_assert_eq!(&WorkspacePath::new(text).unwrap(), path);
        if let Place::Inside { path } = &place && !path.is_root() {
            prop_assert_eq!(roots().place(text, ""), place.clone());
        }
        let bytes = postcard::to_stdvec(path).unwrap();
        prop_assert_eq!(&postcard::from_bytes::<WorkspacePath>(&bytes).unwrap(), path);
    }
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(512) })]

    #[test]
    fn no_text_panics(raw in "\\PC{0,40}", cwd in "\\PC{0,10}") {
        let _place = roots().place(&raw, &cwd);
    }
}
