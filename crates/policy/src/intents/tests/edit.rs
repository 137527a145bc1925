//! Edits by example: only the field changes, or the edit is refused.

use tagout_vocab::{IntentStatus, Timestamp};

use super::super::{
    EditError, append, read, set_expiry, set_scope, set_shares_with, set_status, write,
};
use super::{id, intent, texts};

const FILE: &str = "f.yaml";

fn status(text: &str, name: &str) -> Result<String, EditError> {
    set_status(FILE, text, &id(name), IntentStatus::Completed)
}

fn scope(text: &str, name: &str, patterns: &[&str]) -> Result<String, EditError> {
    set_scope(FILE, text, &id(name), &texts(patterns))
}

#[test]
fn a_status_changes_in_its_own_quotes() {
    for (before, after) in [
        (
            "- id: A # a\n  status: PENDING # why\n  name: x\n",
            "- id: A # a\n  status: COMPLETED # why\n  name: x\n",
        ),
        (
            "- id: A\n  name: x\n  status: 'active'\n",
            "- id: A\n  name: x\n  status: 'COMPLETED'\n",
        ),
        (
            "- id: A\n  name: x\n  status: \"ACTIVE\"",
            "- id: A\n  name: x\n  status: \"COMPLETED\"",
        ),
        (
            "- id: A\r\n  name: x\r\n  status: active\r\n",
            "- id: A\r\n  name: x\r\n  status: COMPLETED\r\n",
        ),
        (
            "- id: A\n  status: # none yet\n  name: x\n",
            "- id: A\n  status: COMPLETED # none yet\n  name: x\n",
        ),
        (
            "- id: A\n  status: ~ # none\n  name: x\n",
            "- id: A\n  status: COMPLETED # none\n  name: x\n",
        ),
        (
            "- id: A\n  status :\n  name: x\n",
            "- id: A\n  status : COMPLETED\n  name: x\n",
        ),
        (
            "intents: [{id: A, name: x, status: PENDING}]\n",
            "intents: [{id: A, name: x, status: COMPLETED}]\n",
        ),
        (
            "- {id: A, status: , name: x}\n",
            "- {id: A, status: COMPLETED , name: x}\n",
        ),
    ] {
        assert_eq!(status(before, "A").as_deref(), Ok(after), "{before:?}");
    }
}

#[test]
fn an_absent_field_is_inserted_where_it_belongs() {
    for (before, after) in [
        (
            "active_intents:\n  - id: A # a\n    # about it\n    constraints: []\n  - id: B\n",
            "active_intents:\n  - id: A # a\n    status: COMPLETED\n    # about it\n    constraints: []\n  - id: B\n",
        ),
        ("- id: A", "- id: A\n  status: COMPLETED"),
        (
            "-\n    id: A\r\n",
            "-\n    id: A\n    status: COMPLETED\r\n",
        ),
        (
            "- id: A\r\n  name: x\r\n",
            "- id: A\r\n  name: x\r\n  status: COMPLETED\r\n",
        ),
        ("- {id: A}\n", "- {id: A, status: COMPLETED}\n"),
        (
            "- name: |\n    x\n  id: A\n",
            "- name: |\n    x\n  id: A\n  status: COMPLETED\n",
        ),
    ] {
        assert_eq!(status(before, "A").as_deref(), Ok(after), "{before:?}");
    }
    assert_eq!(
        scope("- id: A\n  name: x\n", "A", &["src/**", "!src/gen/**"]).as_deref(),
        Ok("- id: A\n  name: x\n  owned_scope:\n    - src/**\n    - \"!src/gen/**\"\n")
    );
    assert_eq!(
        scope("- id: A\n  scope: all of it\n", "A", &["src/**"]).as_deref(),
        Ok("- id: A\n  owned_scope:\n    - src/**\n  scope: all of it\n")
    );
    assert_eq!(
        set_shares_with(FILE, "- {id: A, name: x}\n", &id("A"), &[id("B")]).as_deref(),
        Ok("- {id: A, name: x, shares_with: [B]}\n")
    );
    let at = Timestamp::parse("2026-03-01").unwrap();
    assert_eq!(
        set_expiry(FILE, "- id: A\n  name: x\n", &id("A"), at).as_deref(),
        Ok("- id: A\n  name: x\n  expires_at: 2026-03-01T00:00:00.000Z\n")
    );
}

#[test]
fn lines_of_patterns_that_stay_are_not_touched() {
    let before = "\
active_intents:
  - id: A
    name: x
    # what it owns
    owned_scope:
      # the sources
      - src/**   # all of them
      - \"docs/**\"
      # the tests
      - 'tests/**' # too

    constraints: []
";
    let expect = |from: &str, to: &str| before.replace(from, to);
    assert_eq!(
        scope(before, "A", &["src/**", "docs/**", "tests/**", "*.md"]).unwrap(),
        expect("# too\n", "# too\n      - \"*.md\"\n")
    );
    assert_eq!(
        scope(before, "A", &["src/**", "tests/**"]).unwrap(),
        expect("      - \"docs/**\"\n", "")
    );
    assert_eq!(
        scope(before, "A", &["tests/**", "src/**"]).unwrap(),
        expect("      - src/**   # all of them\n      - \"docs/**\"\n", "")
            .replace("# too\n", "# too\n      - src/**\n")
    );
    let emptied = scope(before, "A", &[]).unwrap();
    assert!(emptied.contains("owned_scope: []\n      # the sources\n      # the tests\n\n"));
    assert_eq!(
        scope("- id: A\n  owned_scope:\n  - a\n  - b", "A", &["c"]).as_deref(),
        Ok("- id: A\n  owned_scope:\n  - c\n")
    );
}

#[test]
fn every_spelling_of_a_scope_can_be_changed() {
    for (before, after) in [
        (
            "- id: A\n  ownedScope: [a, b] # c\n",
            "- id: A\n  ownedScope: [c/**] # c\n",
        ),
        (
            "- id: A\n  owned_scope: [\n    a, # one\n    b, # two\n  ] # c\n",
            "- id: A\n  owned_scope: [c/**] # c\n",
        ),
        (
            "- id: A\n  scope: {paths: [a]}\n",
            "- id: A\n  scope: {paths: [c/**]}\n",
        ),
        (
            "- id: A\n  scope:\n    paths:\n    - a # x\n",
            "- id: A\n  scope:\n    paths:\n    - c/**\n",
        ),
        (
            "- id: A\n  owned_scope: []\n",
            "- id: A\n  owned_scope: [c/**]\n",
        ),
        (
            "- id: A\n  owned_scope:\n  name: x\n",
            "- id: A\n  owned_scope: [c/**]\n  name: x\n",
        ),
        (
            "- {id: A, owned_scope: [a]}\n",
            "- {id: A, owned_scope: [c/**]}\n",
        ),
    ] {
        assert_eq!(
            scope(before, "A", &["c/**"]).as_deref(),
            Ok(after),
            "{before:?}"
        );
    }
}

#[test]
fn a_new_intent_goes_to_the_end_of_any_dialect() {
    let new = intent("NEW", &["n/**"]);
    let entry = |margin: &str| {
        format!(
            "{margin}- id: NEW\n{margin}  name: About NEW\n{margin}  status: PENDING\n\
             {margin}  owned_scope:\n{margin}    - n/**\n"
        )
    };
    for (before, after) in [
        (
            "# c\n",
            format!("# c\nversion: 1\nactive_intents:\n{}", entry("  ")),
        ),
        (
            "# c",
            format!("# c\nversion: 1\nactive_intents:\n{}", entry("  ")),
        ),
        (
            "intents:\n- id: A # a\n# end",
            format!("intents:\n- id: A # a\n# end\n{}", entry("")),
        ),
        (
            "intents:\n    - id: A\n",
            format!("intents:\n    - id: A\n{}", entry("    ")),
        ),
        (
            "active_intents:\n  -\n    id: A\n",
            format!("active_intents:\n  -\n    id: A\n{}", entry("  ")),
        ),
        ("- id: A", format!("- id: A\n{}", entry(""))),
        (
            "active_intents: [] # none\n",
            format!("active_intents: # none\n{}", entry("  ")),
        ),
        (
            "active_intents:\n",
            format!("active_intents:\n{}", entry("  ")),
        ),
        (
            "active_intents:",
            format!("active_intents:\n{}", entry("  ")),
        ),
        (
            "intents:\n  - id: A\n    constraints: |\n      x\n\n# next\nactive_intent_id: A\n",
            format!(
                "intents:\n  - id: A\n    constraints: |\n      x\n{}\n# next\nactive_intent_id: A\n",
                entry("  ")
            ),
        ),
        (
            "intents: [{id: A, owned_scope: [x, y] }, # a\n ]\n",
            "intents: [{id: A, owned_scope: [x, y] }, {id: NEW, name: About NEW, status: PENDING, \
             owned_scope: [n/**]}, # a\n ]\n"
                .to_owned(),
        ),
    ] {
        assert_eq!(append(FILE, before, &new), Ok(after), "{before:?}");
    }
    let crlf = append(FILE, "- id: A\r\n", &new).unwrap();
    assert_eq!(
        crlf,
        format!("- id: A\r\n{}", entry("").replace('\n', "\r\n"))
    );
    assert_eq!(
        append(FILE, "- id: NEW\n", &new).unwrap_err().to_string(),
        "the intent `NEW` is in the file already"
    );
    assert_eq!(read(FILE, "[]\n").unwrap().intents.len(), 0);
    assert!(append(FILE, "[]\n", &new).is_ok());
}

#[test]
fn what_can_not_be_edited_safely_is_refused() {
    for (text, said) in [
        (
            "- &a\n  id: A\n",
            "line 1, column 3: the file uses anchors, so an edit would show up in other places; \
             write the values out first",
        ),
        ("- id: B\n", "there is no intent `A` in the file"),
        (
            "- id: [\n",
            "the file can't be read: f.yaml:2:1: not YAML: ",
        ),
        (
            "- id: A\n  status: >-\n    PENDING\n",
            "line 3, column 5: a block text can't be edited in place",
        ),
        (
            "- id: A\n  status: !!str PENDING\n",
            "line 2, column 11: a tagged value can't be edited in place",
        ),
        ("- ? id\n  : A\n", "the edit would not do what it should ("),
    ] {
        let found = status(text, "A").unwrap_err().to_string();
        assert!(found.starts_with(said), "{text:?}: {found}");
    }
    assert_eq!(
        scope("- id: A\n", "A", &["../x"]).unwrap_err().to_string(),
        "`../x`: the pattern holds `..`; patterns start at the workspace's root and stay in it"
    );
    let block_items = "- id: A\n  owned_scope:\n    - |-\n      a\n    - b\n";
    assert!(matches!(
        scope(block_items, "A", &["b"]),
        Err(EditError::Unsupported { .. })
    ));
}

/// A file as large as they come is edited in reasonable time.
#[test]
fn a_large_file_is_edited() {
    let many: Vec<_> = (0..3_000)
        .map(|n| intent(&format!("I{n}"), &["src/**"]))
        .collect();
    let text = write(&many);
    let edited = status(&text, "I2999").unwrap();
    assert_eq!(
        edited.len(),
        text.len() + "COMPLETED".len() - "PENDING".len()
    );
}
