//! `tagout stats`: the figures of RFC-0001 §8.2 under their names.

use serde_json::json;

use crate::ran::Folder;

/// L11: every name, with figures that can be counted by hand.
#[test]
fn the_figures() {
    let folder = Folder::with_events();
    insta::assert_snapshot!(folder.run(&["stats", "--by-tool"]).shown());
    let third = 100.0 / 3.0;
    let ran = folder.run(&["stats", "--json"]);
    assert_eq!(
        ran.json_lines()[0],
        json!({
            "execution_count": 3, "success_rate": third, "failure_rate": third,
            "execution_duration": {"p50": 40, "p95": 60, "p99": 60},
            "resource_usage": {"cpu_ms": 3, "memory_bytes_max": 4096, "read_bytes": 10,
                "written_bytes": 20},
            "capability_denials": 1, "rollback_count": 1,
        })
    );
    let ran = folder.run(&["stats", "--json", "--by-tool"]);
    let by_tool = &ran.json_lines()[0]["by_tool"];
    assert_eq!(by_tool.as_object().unwrap().len(), 3);
    assert_eq!(by_tool["delete_file"]["capability_denials"], 1);
    let ran = folder.run(&["stats", "--json", "--since", "1s"]);
    assert_eq!(ran.json_lines()[0]["execution_count"], 0);
}

#[test]
fn an_empty_ledger() {
    insta::assert_snapshot!(Folder::with_ledger().run(&["stats"]).shown());
}
