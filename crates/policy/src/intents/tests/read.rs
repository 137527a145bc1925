//! Reading: what is refused says where, what is read is read in full, and nothing panics.

use std::fmt::Write as _;

use proptest::prelude::*;
use tagout_vocab::limits::{
    INTENTS_MAX, PATTERN_BYTES_MAX, SCOPE_PATTERNS_MAX, SHARES_MAX, SIDECAR_BYTES_MAX,
};
use tagout_vocab::{IntentStatus, Timestamp};

use super::super::{Dialect, IntentFile, IntentSet, read, write};
use super::{any_intents, id, intent, texts};

fn good(text: &str) -> IntentFile {
    read("f.yaml", text).unwrap()
}

/// Every problem, one a line.
fn bad(text: &str) -> String {
    let problems = read("f.yaml", text).unwrap_err();
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn an_empty_file_declares_no_intents_and_says_so() {
    for text in ["", "\n\n", "# nothing yet\n", "---\n"] {
        let file = good(text);
        assert_eq!(file.dialect, Dialect::Empty, "{text:?}");
        assert_eq!(file.intents, vec![]);
        assert_eq!(
            file.warnings[0].to_string(),
            "f.yaml:1:1: the file is empty: it declares no intents, so nothing can be selected \
             (start with `version: 1` and `active_intents:`)"
        );
    }
    assert_eq!(good("active_intents: []\n").warnings, vec![]);
    assert_eq!(good("active_intents:\n").intents, vec![]);
}

#[test]
fn what_is_no_list_of_intents_is_refused() {
    for (text, said) in [
        (
            "hello\n",
            "f.yaml:1:1: the file must list intents, not hold text \
             (put them under `active_intents:`)",
        ),
        (
            "7\n",
            "f.yaml:1:1: the file must list intents, not hold a number \
             (put them under `active_intents:`)",
        ),
        (
            "version: 1\n",
            "f.yaml:1:1: the intents file has no `active_intents` \
             (write `active_intents: []` if there are none)",
        ),
        (
            "version: 2\nactive_intents: []\n",
            "f.yaml:1:10: version `2` is not known (this build reads version 1)",
        ),
        (
            "version: one\nactive_intents: []\n",
            "f.yaml:1:10: version `one` is not known (this build reads version 1)",
        ),
        (
            "version:\nactive_intents: []\n",
            "f.yaml:1:8: version `nothing` is not known (this build reads version 1)",
        ),
        (
            "active_intents: []\nintents: []\n",
            "f.yaml:2:10: both `active_intents` and `intents`: keep one list",
        ),
        (
            "active_intents:\n  INT-1:\n    name: x\n",
            "f.yaml:2:3: the intents must be a list, not a mapping",
        ),
        (
            "- INT-001\n",
            "f.yaml:1:3: an intent must be a mapping, not text",
        ),
        (
            "active_intent: []\n",
            "f.yaml:1:1: the intents file has no field `active_intent` \
             (did you mean `active_intents`?)\n\
             f.yaml:1:1: the intents file has no `active_intents` \
             (write `active_intents: []` if there are none)",
        ),
    ] {
        assert_eq!(bad(text), said, "{text:?}");
    }
}

#[test]
fn wrong_fields_are_named_with_their_place() {
    let text = "\
active_intents:
  - id: INT-1
    nmae: x
    status: IN_PROGESS
    owned_scope: src/**
    constraints: [{a: b}, [c]]
    acceptance_criteria: {a: b}
    expires_at: tomorrow
    budget: {max_turn: 3, minutes: many, calls: -1}
    shares_with: [\"a b\"]
  - name: no id
  - id: [x]
  - id: \"a b\"
  - {id: A, intent_id: B, name: [], title: t}
";
    insta::assert_snapshot!(bad(text), @"
    f.yaml:3:5: an intent has no field `nmae` (did you mean `name`?)
    f.yaml:4:13: `status` can't be `IN_PROGESS` (did you mean `IN_PROGRESS`?)
    f.yaml:5:18: `owned_scope` must be a list, not text
    f.yaml:6:19: `constraints` lists texts, not a mapping (a text that holds `: ` needs quotes)
    f.yaml:6:27: `constraints` lists texts, not a list
    f.yaml:7:26: `acceptance_criteria` must be a list, not a mapping
    f.yaml:8:17: `expires_at` is `tomorrow`: not a time with its zone: write it as `2026-01-31T12:00:00Z` or `2026-01-31`
    f.yaml:9:14: `budget` has no field `max_turn` (did you mean `max_turns`?)
    f.yaml:9:36: `minutes` must be a whole number, not text
    f.yaml:9:49: `calls` must be a whole number, not text
    f.yaml:10:19: `shares_with`: an id holds ` `, which is not a letter, a digit or one of `-_.:@/+`
    f.yaml:11:5: an intent without `id`
    f.yaml:12:9: `id` must be text, not a list
    f.yaml:13:9: an id holds ` `, which is not a letter, a digit or one of `-_.:@/+`
    f.yaml:14:24: `intent_id` and `id` differ: keep one
    f.yaml:14:33: `name` must be text, not a list
    f.yaml:14:44: both `name` and `title`: keep one
    ");
}

/// H7: nothing outside the workspace can be owned, however it is spelled.
#[test]
fn patterns_that_leave_the_workspace_are_refused() {
    let text = "\
active_intents:
  - id: A
    name: a
    owned_scope:
      - /etc/**
      - ../other
      - src/../../x
      - \"!../x\"
      - 'C:\\windows'
      - '..\\x'
      - ~/notes
      - \"a\\u0000b\"
      - \"a\\nb\"
      - \"\"
      - \"!\"
      - a: b
      -
";
    insta::assert_snapshot!(bad(text), @r"
    f.yaml:5:9: `/etc/**`: the pattern is absolute; write it from the workspace's root, as in `src/auth/**`
    f.yaml:6:9: `../other`: the pattern holds `..`; patterns start at the workspace's root and stay in it
    f.yaml:7:9: `src/../../x`: the pattern holds `..`; patterns start at the workspace's root and stay in it
    f.yaml:8:9: `!../x`: the pattern holds `..`; patterns start at the workspace's root and stay in it
    f.yaml:9:9: `C:\windows`: the pattern is absolute; write it from the workspace's root, as in `src/auth/**`
    f.yaml:10:9: `..\x`: the pattern escapes `x`, which needs no escape; write `/` between folders
    f.yaml:11:9: `~/notes`: the pattern is absolute; write it from the workspace's root, as in `src/auth/**`
    f.yaml:12:9: `a�b`: the pattern holds a control character
    f.yaml:13:9: `a�b`: the pattern holds a control character
    f.yaml:14:9: ``: the pattern is empty; write `**` for the whole workspace
    f.yaml:15:9: `!`: the pattern is empty; write `**` for the whole workspace
    f.yaml:16:9: `owned_scope` lists texts, not a mapping (a text that holds `: ` needs quotes)
    f.yaml:17:8: `owned_scope` lists texts, not nothing
    ");
    let long = "x".repeat(PATTERN_BYTES_MAX + 1);
    let said = bad(&format!("- id: A\n  name: a\n  owned_scope: [{long}]\n"));
    assert!(
        said.ends_with("the pattern is longer than 1024 bytes"),
        "{said}"
    );
    assert!(said.starts_with("f.yaml:3:17: "), "{said}");
}

#[test]
fn too_many_are_refused_where_they_become_too_many() {
    let list = |count: usize| vec!["a"; count].join(",");
    let scope = |count| format!("- id: A\n  name: a\n  owned_scope: [{}]\n", list(count));
    assert_eq!(
        good(&scope(SCOPE_PATTERNS_MAX)).intents[0]
            .owned_scope
            .len(),
        SCOPE_PATTERNS_MAX
    );
    let said = bad(&scope(SCOPE_PATTERNS_MAX + 1));
    assert_eq!(
        said,
        "f.yaml:3:2017: `owned_scope` lists more than 1000 patterns"
    );
    let shares = format!(
        "- {{id: A, name: a, shares_with: [{}]}}\n",
        list(SHARES_MAX + 1)
    );
    assert!(bad(&shares).ends_with("lists more than 1000 intents"));
    let many: String = (0..=INTENTS_MAX).fold(String::new(), |mut text, n| {
        writeln!(text, "- {{id: I{n}, name: n}}").unwrap();
        text
    });
    assert_eq!(bad(&many), "f.yaml:20001:3: more than 20000 intents");
}

#[test]
fn an_id_that_appears_twice_is_refused_with_both_lines() {
    assert_eq!(
        bad("- id: A\n  name: a\n- id: B\n  name: b\n- intent_id: A\n  name: c\n"),
        "f.yaml:5:14: the intent `A` is declared twice: first in line 1, again in line 5"
    );
}

/// Each kind of damage says where it is.
#[test]
fn damage_names_line_and_column() {
    let deep = format!("- id: A\n  recent_history: {}\n", "[".repeat(100));
    let mut bomb = String::from("- id: A\n  related_files: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..10 {
        let items = vec![format!("*a{}", level - 1); 10].join(",");
        writeln!(bomb, "- id: A{level}\n  related_files: &a{level} [{items}]").unwrap();
    }
    let huge = "x".repeat(50 * 1024 * 1024);
    for (text, said) in [
        ("- id: A\n   name: a\n", "f.yaml:2:8: not YAML: "),
        ("- id: A\n name: a\n", "f.yaml:2:"),
        ("- id: A\n\tname: a\n", "f.yaml:1:7: not YAML: "),
        ("- id: \"A\n  name: a\n", "f.yaml:1:7: not YAML: "),
        ("- id: [A\n", "f.yaml:2:1: not YAML: "),
        (
            "- id: A\n  name: \u{0}\n",
            "f.yaml:2:9: a control character",
        ),
        ("- *x\n", "f.yaml:1:3: not YAML: "),
        (
            "- id: A\n  id: B\n",
            "f.yaml:2:3: the key `id` appears twice",
        ),
        ("- id: A\n---\n- id: B\n", "f.yaml:2:1: a second document"),
        (&deep, "f.yaml:2:"),
        (&bomb, "f.yaml:"),
        (&huge, "f.yaml:1:1: the file is larger than 4194304 bytes"),
    ] {
        let shown: String = text.chars().take(60).collect();
        let found = bad(text);
        assert!(found.starts_with(said), "{shown:?}: {found}");
    }
    assert!(bad(&bomb).contains("once aliases are followed"));
    assert!(bad(&deep).contains("nested deeper"));
}

#[test]
fn expiry_needs_a_zone_unless_it_is_a_date() {
    let with = |time: &str| format!("- id: A\n  name: a\n  expires_at: {time}\n");
    for time in [
        "2026-03-01T10:00:00Z",
        "\"2026-03-01T10:00:00Z\"",
        "2026-03-01 10:00:00Z",
        "2026-03-01T11:00:00+01:00",
        "2026-03-01t10:00:00.000z",
    ] {
        let expected = Timestamp::parse("2026-03-01T10:00:00Z").unwrap();
        assert_eq!(
            good(&with(time)).intents[0].expires_at,
            Some(expected),
            "{time}"
        );
    }
    let day = Timestamp::parse("2026-03-01T00:00:00Z").unwrap();
    assert_eq!(good(&with("2026-03-01")).intents[0].expires_at, Some(day));
    assert_eq!(
        bad(&with("2026-03-01T10:00:00")),
        "f.yaml:3:15: `expires_at` is `2026-03-01T10:00:00`: not a time with its \
         zone: write it as `2026-01-31T12:00:00Z` or `2026-01-31`"
    );
}

#[test]
fn every_status_word_in_use_is_understood() {
    for (word, status) in [
        ("DRAFT", IntentStatus::Draft),
        ("proposed", IntentStatus::Draft),
        ("PENDING", IntentStatus::Pending),
        ("NOT_STARTED", IntentStatus::Pending),
        ("not-started", IntentStatus::Pending),
        ("PLANNED", IntentStatus::Pending),
        ("~", IntentStatus::Pending),
        ("IN_PROGRESS", IntentStatus::InProgress),
        ("in progress", IntentStatus::InProgress),
        ("'active'", IntentStatus::InProgress),
        ("blocked", IntentStatus::Blocked),
        ("COMPLETED", IntentStatus::Completed),
        ("Done", IntentStatus::Completed),
        ("ABANDONED", IntentStatus::Abandoned),
    ] {
        let file = good(&format!("- id: A\n  name: a\n  status: {word}\n"));
        assert_eq!(file.intents[0].status, status, "{word}");
    }
    assert_eq!(
        bad("- id: A\n  name: a\n  status: complete\n"),
        "f.yaml:3:11: `status` can't be `complete` (did you mean `COMPLETED`?)"
    );
}

/// Ten thousand intents are read and found by id; quadratic work would not end here.
#[test]
fn ten_thousand_intents_are_read_and_found() {
    let many: Vec<_> = (0..10_000)
        .map(|n| {
            let folder = format!("src/part{n}/**");
            intent(&format!("INT-{n}"), &[&folder, "!src/gen/**"])
        })
        .collect();
    let text = write(&many);
    assert!(text.len() < SIDECAR_BYTES_MAX, "{}", text.len());
    let set = good(&text).into_set();
    assert_eq!(set.len(), 10_000);
    assert_eq!(
        set.get(&id("INT-9999")).unwrap().owned_scope[0],
        "src/part9999/**"
    );
    assert_eq!(set.get(&id("INT-10000")), None);
    assert_eq!(set.nearest_id("INT-10O0"), Some(&id("INT-100")));
}

#[test]
fn hostile_sizes_are_bounded() {
    let keys: String = (0..50_000).fold(String::from("- id: A\n"), |mut text, n| {
        writeln!(text, "  k{n}: 1").unwrap();
        text
    });
    assert_eq!(read("f", &keys).unwrap_err().len(), 50);
    let long_key = format!("- id: A\n  {}: 1\n", "k".repeat(1_000));
    assert!(bad(&long_key).len() < 2_000);
    let specs = vec!["x"; 100_000].join(",");
    let related = format!("- {{id: A, name: a, related_specs: [{specs}]}}\n");
    assert_eq!(good(&related).intents.len(), 1);
    let twins = "- {id: A, name: a}\n".repeat(INTENTS_MAX);
    assert_eq!(read("f", &twins).unwrap_err().len(), 50);
}

#[test]
fn a_set_has_no_twins() {
    let twice = IntentSet::new(vec![
        intent("A", &[]),
        intent("B", &[]),
        intent("A", &["x"]),
    ]);
    assert_eq!(
        twice.unwrap_err().to_string(),
        "the intent `A` is declared twice"
    );
}

#[test]
fn the_canonical_form_is_what_people_would_write() {
    let mut full = intent("INT-001", &["src/auth/**", "!src/auth/gen/**"]);
    full.status = IntentStatus::InProgress;
    full.constraints = texts(&["No new dependency", "Must: keep the API"]);
    full.acceptance_criteria = texts(&["tests pass"]);
    full.related_requirements = texts(&["REQ-1"]);
    full.description = Some("Two\nlines".to_owned());
    full.expires_at = Some(Timestamp::parse("2026-03-01").unwrap());
    full.budget.calls_max = Some(40);
    full.budget.time_ms_max = Some(120_000);
    full.shares_with = vec![id("INT-002")];
    insta::assert_snapshot!(write(&[full, intent("007", &[])]), @r#"
    version: 1
    active_intents:
      - id: INT-001
        name: About INT-001
        status: IN_PROGRESS
        description: "Two\nlines"
        owned_scope:
          - src/auth/**
          - "!src/auth/gen/**"
        constraints:
          - No new dependency
          - "Must: keep the API"
        acceptance_criteria:
          - tests pass
        related_requirements:
          - REQ-1
        shares_with:
          - INT-002
        budget: { calls: 40, minutes: 2 }
        expires_at: 2026-03-01T00:00:00.000Z
      - id: "007"
        name: About 007
        status: PENDING
        owned_scope: []
    "#);
    assert_eq!(write(&[]), "version: 1\nactive_intents: []\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// H16: what is written is read back as it was.
    #[test]
    fn written_is_read_back(intents in any_intents()) {
        let text = write(&intents);
        let file = read("f.yaml", &text);
        prop_assert!(file.is_ok(), "{:?}\n{text}", file);
        let file = file.unwrap();
        prop_assert_eq!(file.dialect, Dialect::Canonical);
        prop_assert_eq!(&file.intents, &intents);
        let bytes = postcard::to_allocvec(&file.clone().into_set()).unwrap();
        let set: IntentSet = postcard::from_bytes(&bytes).unwrap();
        prop_assert_eq!(set, file.into_set());
    }

    /// No text makes the reader panic, and none is read as something without intents by accident.
    #[test]
    fn arbitrary_text_is_read_or_refused(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn nearly_valid_text_is_read_or_refused(
        parts in prop::collection::vec(prop::sample::select(PARTS), 0..20)
    ) {
        check(&parts.concat());
    }
}

const PARTS: &[&str] = &[
    "active_intents:",
    "intents:",
    "version: 1",
    "\n",
    "\n  ",
    "\n    ",
    "- ",
    "id: A",
    "id: ",
    "intent_id: A",
    "name: x",
    "status: ",
    "DONE",
    "owned_scope: ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "a/**",
    "\"",
    "'",
    "!",
    "*",
    "&a ",
    "*a",
    "# c",
    "|",
    ">-",
    "\t",
    "\r\n",
    "~",
    "budget: ",
    "scope: ",
    "paths: ",
    "constraints:",
    "é",
    "? ",
    ": ",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "shares_with: ",
];

fn check(text: &str) {
    if let Err(problems) = read("f.yaml", text) {
        assert!(!problems.is_empty());
        assert!(
            problems.iter().all(|p| p.at.line >= 1 && p.at.column >= 1),
            "{problems:?}"
        );
    }
}
