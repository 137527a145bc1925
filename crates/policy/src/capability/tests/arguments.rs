//! Constraints on arguments: paths, never text, and doubt refuses.

use serde_json::{Value, json};
use tagout_vocab::SideEffectLevel;

use super::super::{ArgConstraint, CapabilityPolicy};
use super::policies::{constraint, run, tool};
use crate::catalogue::{Access, PathParam, TargetForm, Tool};

fn edit() -> Tool {
    tool(
        "edit",
        SideEffectLevel::WorkspaceWrite,
        &["filesystem.write"],
    )
}

fn passes(constraint: ArgConstraint, tool: &Tool, given: Value, targets: &[&str]) -> bool {
    let policy = CapabilityPolicy {
        constraints: vec![constraint],
        ..CapabilityPolicy::built_in()
    };
    run(&policy, tool, given, targets).is_ok()
}

/// A5 `src/*` does not accept `src/../x`, however it is spelled.
#[test]
fn values_are_paths() {
    for key in [Some("path"), None] {
        let held = || constraint("edit", key, &["src/*", "!src/gen"]);
        let check = |path: &str| passes(held(), &edit(), json!({"path": path}), &[]);
        for good in ["src/a", "./src//a", "/ws/src/a", "src/b/../a"] {
            assert!(check(good), "`{good}`");
        }
        for bad in [
            "src/../x",
            "src/..",
            "src/a/../../x",
            "src/a/b",
            "srcx/a",
            "",
            "src/gen",
            "SRC/a",
            "/etc/src/a",
            "/data/src/a",
            "src\\..\\x",
            "https://src/a",
            "../ws/src/a",
        ] {
            assert!(!check(bad), "`{bad}`");
        }
    }
}

/// A5 What can't be resolved refuses.
#[test]
fn doubt_refuses() {
    let held = |key| constraint("edit", key, &["**"]);
    for key in [
        Some("path"),
        Some("other"),
        Some("a.b"),
        Some("list[].path"),
        None,
    ] {
        for given in [
            json!({}),
            json!({"path": null, "other": null}),
            json!({"path": 7, "other": 7}),
            json!({"path": [], "other": []}),
            json!({"path": ["a", 1], "other": ["a", 1]}),
            json!({"path": {"a": "b"}, "other": {"a": "b"}}),
            json!({"path": [["a"]], "other": [["a"]], "list": [], "a": []}),
            json!({"path": true, "list": [{"path": "a"}, {}], "a": {"b": {}}}),
        ] {
            assert!(
                !passes(held(key), &edit(), given.clone(), &[]),
                "{key:?} {given}"
            );
        }
    }
    assert!(!passes(
        constraint("edit", Some("path"), &[]),
        &edit(),
        json!({"path": "a"}),
        &[]
    ));
    for form in [
        TargetForm::Nothing,
        TargetForm::Unknown,
        TargetForm::Command { key: "c".into() },
    ] {
        let blind = Tool {
            targets: form,
            ..edit()
        };
        assert!(!passes(held(None), &blind, json!({"path": "a"}), &["a"]));
    }
}

/// A5 Every element counts, every path parameter counts, every target counts.
#[test]
fn all_must_pass() {
    let held = |key| constraint("edit", key, &["src"]);
    let list = |paths: Value| json!({"path": paths});
    assert!(passes(
        held(Some("path")),
        &edit(),
        list(json!(["src/a", "src/b"])),
        &[]
    ));
    assert!(!passes(
        held(Some("path")),
        &edit(),
        list(json!(["src/a", "docs/b"])),
        &[]
    ));
    let deep = json!({"files": [{"path": "src/a"}, {"path": "docs/a"}]});
    assert!(!passes(held(Some("files[].path")), &edit(), deep, &[]));
    let deep = json!({"files": [{"path": "src/a"}, {"path": ["src/b"]}]});
    assert!(passes(held(Some("files[].path")), &edit(), deep, &[]));
    assert!(!passes(
        held(None),
        &edit(),
        json!({"path": "src/a"}),
        &["docs/x"]
    ));
    let mut two = edit();
    two.paths.push(PathParam {
        key: "to".into(),
        access: Access::MoveTo,
    });
    assert!(!passes(
        held(None),
        &two,
        json!({"path": "src/a", "to": "docs/a"}),
        &[]
    ));
    assert!(
        passes(held(None), &two, json!({"path": "src/a"}), &[]),
        "`to` is optional"
    );
    two.required = vec!["to".into()];
    assert!(
        !passes(held(None), &two, json!({"path": "src/a"}), &[]),
        "`to` is required"
    );
}

/// A5 A patch is judged by the files that were read from it, and refused when there are none.
#[test]
fn patches() {
    let patch = Tool {
        targets: TargetForm::Patch {
            key: "patch".into(),
        },
        paths: Vec::new(),
        required: vec!["patch".into()],
        ..edit()
    };
    let held = || constraint("edit", None, &["src"]);
    let given = || json!({"patch": "text"});
    assert!(passes(held(), &patch, given(), &["src/a"]));
    assert!(!passes(held(), &patch, given(), &["src/a", "docs/a"]));
    assert!(!passes(held(), &patch, given(), &[]));
}

/// A5 Relative paths start where the call says that it works.
#[test]
fn the_working_directory_counts() {
    let mut moved = edit();
    moved.paths.push(PathParam {
        key: "cwd".into(),
        access: Access::Cwd,
    });
    let held = |key| constraint("edit", key, &["src"]);
    for key in [Some("path"), None] {
        let check = |cwd: &str, path: &str| {
            passes(held(key), &moved, json!({"path": path, "cwd": cwd}), &[])
        };
        assert!(check("src", "a"));
        assert!(!check("docs", "a"));
        assert!(!check("src", "../a"));
        assert!(!check("/etc", "src/a"));
        assert!(!check("~", "src/a"));
    }
    let odd = json!({"path": "src/a", "cwd": 7});
    assert!(!passes(held(Some("path")), &moved, odd, &[]));
}

/// A constraint on other tools does not concern this one.
#[test]
fn other_tools_are_free() {
    assert!(passes(
        constraint("mcp/*", None, &[]),
        &edit(),
        json!({}),
        &[]
    ));
    assert!(!passes(
        constraint("ed*", None, &[]),
        &edit(),
        json!({"path": "a"}),
        &[]
    ));
}
