//! `intent list` and `intent show`.

use crate::ran::Folder;

/// H1: what is declared, and whether it can be selected.
#[test]
fn listing_and_showing() {
    let folder = Folder::workspace();
    insta::assert_snapshot!(folder.run(&["intent", "list"]).shown());
    insta::assert_snapshot!(folder.run(&["intent", "show", "INT-001"]).shown());
    insta::assert_snapshot!(folder.run(&["intent", "show", "INT-002", "--json"]).shown());
    insta::assert_snapshot!(folder.run(&["intent", "show", "INT-020"]).shown());
}

/// The workspace is the nearest folder above that has one.
#[test]
fn found_from_a_folder_beneath() {
    let folder = Folder::workspace().with("src/deep/file.rs", "");
    let inner = folder.path().join("src/deep");
    let ran = folder.run(&["intent", "list", "--workspace", inner.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0));
    let ran = folder.run(&["intent", "list", "--json"]);
    assert_eq!(ran.json_lines()[0]["intents"].as_array().unwrap().len(), 2);
}
