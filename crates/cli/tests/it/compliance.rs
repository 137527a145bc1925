//! The list of RFC-0001 §9, answered by trying it.

use crate::ran::Folder;

/// L12: every line has an answer and evidence, and what this build lacks is a no.
#[test]
fn every_line_is_answered_with_evidence() {
    let folder = Folder::empty();
    assert_eq!(folder.run(&["init", "--yes"]).code, Some(0));
    let ran = folder.run(&["compliance", "--json"]);
    let answer = &ran.json_lines()[0];
    let lines = answer["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 23);
    let mut open = Vec::new();
    for line in lines {
        assert!(!line["evidence"].as_str().unwrap().is_empty(), "{line}");
        if line["met"] == false {
            open.push(line["line"].as_str().unwrap());
        }
    }
    // Nothing bounds the working memory of a tool inside the process, and that is told.
    let limits = &lines[12];
    assert_eq!(
        (limits["line"].as_str(), limits["met"].as_bool()),
        (Some("9.2.3"), Some(false))
    );
    let evidence = limits["evidence"].as_str().unwrap();
    assert!(evidence.contains("working memory"), "{evidence}");
    // Whether there is a sandbox depends on the build and on the host; everything else is met.
    open.retain(|line| !["9.2.3", "9.3.5"].contains(line));
    assert!(open.is_empty(), "{open:?}: {}", ran.shown());
    assert_eq!(answer["ok"], false);
    assert_eq!(ran.code, Some(1));
    let own = lines[17]["evidence"].as_str().unwrap();
    assert!(own.contains("of this workspace verify"), "{own}");
}

/// L12: evidence is looked for and not told by heart: a ledger that was changed is a no.
#[test]
fn a_changed_ledger_is_a_no() {
    let folder = Folder::empty();
    assert_eq!(folder.run(&["init", "--yes"]).code, Some(0));
    assert_eq!(folder.run(&["seal", "--yes"]).code, Some(0));
    let states = folder.home().join(".local/state/tagout");
    let state = std::fs::read_dir(states).unwrap().next().unwrap().unwrap();
    let segment = state.path().join("ledger/00000001.jsonl");
    let text = std::fs::read_to_string(&segment).unwrap();
    std::fs::write(&segment, text.replacen("epoch", "epoxy", 1)).unwrap();
    let ran = folder.run(&["compliance", "--json"]);
    let answer = &ran.json_lines()[0];
    assert_eq!(answer["lines"][17]["line"], "9.2.8");
    assert_eq!(answer["lines"][17]["met"], false, "{}", ran.shown());
}
