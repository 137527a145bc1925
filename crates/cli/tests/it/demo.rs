//! `demo` tells only what is true, and leaves nothing behind unless asked.

use std::fs;

use crate::ran::Folder;

#[test]
fn every_step_comes_out_as_told() {
    let ran = Folder::empty().run(&["demo", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let codes: Vec<String> = ran
        .json_lines()
        .iter()
        .map(|step| step["code"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        codes.iter().any(|code| code == "STATE_VIOLATION"),
        "{codes:?}"
    );
    assert!(
        codes.iter().any(|code| code == "AUTHORITY_FILE"),
        "{codes:?}"
    );
    assert!(codes.len() >= 11, "{codes:?}");
}

#[test]
fn what_is_kept_can_be_used() {
    let ran = Folder::empty().run(&["demo", "--keep"]);
    let kept = ran
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("workspace: "))
        .unwrap();
    let ran = Folder::empty().run(&["lint", "--workspace", kept]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    fs::remove_dir_all(std::path::Path::new(kept).parent().unwrap()).unwrap();
}
