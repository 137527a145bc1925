//! Bad places: binary and large files, folders, links, paths that lead out.

use serde_json::json;
use tagout_gate::ToolError;

use crate::support::{Place, picture};

#[test]
fn binary_and_large_files_are_refused_clearly() {
    let large = vec![b'x'; 8 * 1024 * 1024 + 1];
    let place = Place::new(&[("bin", b"a\0b"), ("large", &large)]);
    let edit = |path: &str| json!({"file_path": path, "old_string": "x", "new_string": "y"});
    let got = place.call("edit", edit("bin")).output;
    assert!(matches!(got, Err(ToolError::Binary { .. })), "{got:?}");
    for (tool, input) in [
        ("edit", edit("large")),
        (
            "write_to_file",
            json!({"path": "new", "content": "x".repeat(8 * 1024 * 1024 + 1)}),
        ),
    ] {
        let got = place.call(tool, input).output;
        assert!(
            matches!(got, Err(ToolError::TooLarge { .. })),
            "{tool}: {got:?}"
        );
    }
}

/// H7, T-001: no path leads out, by text or by link.
#[test]
fn no_path_leads_out() {
    let place = Place::new(&[("a", b"x\n")]);
    let outside = place.folder.path().join("secret");
    std::fs::write(&outside, "secret\n").unwrap();
    std::os::unix::fs::symlink(&outside, place.root().join("link")).unwrap();
    std::os::unix::fs::symlink(place.folder.path(), place.root().join("up")).unwrap();
    let before = picture(place.folder.path());
    for path in [
        "../secret",
        "/etc/passwd",
        "link",
        "up/secret",
        "a/../../secret",
        "~/x",
        "C:/x",
    ] {
        for (tool, input) in [
            ("read_file", json!({"path": path})),
            ("write_to_file", json!({"path": path, "content": "x"})),
            (
                "edit",
                json!({"file_path": path, "old_string": "secret", "new_string": "x"}),
            ),
            ("search_files", json!({"path": path, "regex": "secret"})),
            ("list_files", json!({"path": path})),
            (
                "apply_patch",
                json!({"patch": format!(
                    "*** Begin Patch\n*** Update File: {path}\n@@\n-secret\n+x\n*** End Patch\n"
                )}),
            ),
        ] {
            let got = place.call(tool, input).output;
            let text = format!("{got:?}");
            assert!(
                matches!(got, Err(ToolError::Outside { .. })),
                "{tool} {path}: {text}"
            );
        }
    }
    let found = place.call("search_files", json!({"path": ".", "regex": "secret"}));
    assert_eq!(found.output.unwrap()["matched_lines"], 0);
    let after = picture(place.folder.path());
    let state = |name: &String| name.contains("/state/");
    let kept = |all: &std::collections::BTreeMap<String, Vec<u8>>| {
        all.iter()
            .filter(|(name, _)| !state(name))
            .map(|(name, seen)| (name.clone(), seen.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(kept(&after), kept(&before));
}

#[test]
fn folders_and_missing_files_are_refused() {
    let place = Place::new(&[("d/a", b"x\n")]);
    for path in ["d", "."] {
        for (tool, input) in [
            ("read_file", json!({"path": path})),
            ("write_to_file", json!({"path": path, "content": "x"})),
            ("delete_file", json!({"path": path})),
            (
                "edit",
                json!({"file_path": path, "old_string": "x", "new_string": "y"}),
            ),
        ] {
            assert!(place.call(tool, input).output.is_err(), "{tool} {path}");
        }
    }
    for (tool, input) in [
        ("read_file", json!({"path": "no"})),
        ("delete_file", json!({"path": "no"})),
        (
            "edit",
            json!({"file_path": "no", "old_string": "x", "new_string": "y"}),
        ),
        (
            "apply_diff",
            json!({"path": "no", "diff": "@@ -1 +1 @@\n-x\n+y\n"}),
        ),
        ("list_files", json!({"path": "no"})),
    ] {
        let got = place.call(tool, input).output;
        assert!(
            matches!(got, Err(ToolError::NotFound { .. })),
            "{tool}: {got:?}"
        );
    }
}

/// A link is deleted, not what it points to.
#[test]
fn a_link_inside_is_followed_for_content_and_not_for_names() {
    let place = Place::new(&[("a", b"x\n")]);
    std::os::unix::fs::symlink("a", place.root().join("l")).unwrap();
    let edit = json!({"file_path": "l", "old_string": "x", "new_string": "y"});
    place.call("edit", edit).output.unwrap();
    assert_eq!(place.read("a").unwrap(), b"y\n");
    let moved = "*** Begin Patch\n*** Update File: l\n*** Move to: m\n@@\n-y\n+z\n*** End Patch\n";
    assert!(
        place
            .call("apply_patch", json!({"patch": moved}))
            .output
            .is_err()
    );
    place
        .call("delete_file", json!({"path": "l"}))
        .output
        .unwrap();
    assert!(place.root().join("l").symlink_metadata().is_err());
    assert_eq!(place.read("a").unwrap(), b"y\n");
}
