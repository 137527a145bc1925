//! H16, H8: one sample of every variant in use, each with its expected result.

use std::fmt::Write as _;
use std::path::PathBuf;

use tagout_policy::intents::{IgnoreFile, IntentFile, append, read, set_scope, set_status, write};
use tagout_vocab::{IntentId, IntentStatus};

/// Every file of a folder of samples, by name.
fn samples(folder: &str) -> Vec<(String, String)> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/fixtures/intents", folder]
        .iter()
        .collect();
    let mut found: Vec<(String, String)> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no samples in {folder}");
    found
}

fn described(name: &str, file: &IntentFile) -> String {
    let mut text = format!("{name}: {:?}, version {:?}\n", file.dialect, file.version);
    for (intent, at) in file.intents.iter().zip(&file.positions) {
        let status = intent.status.as_str();
        writeln!(
            text,
            "  {} {:?} {status}, line {}",
            intent.id, intent.name, at.line
        )
        .unwrap();
        let lists = [
            ("owns", &intent.owned_scope),
            ("constraints", &intent.constraints),
            ("criteria", &intent.acceptance_criteria),
            ("requirements", &intent.related_requirements),
        ];
        for (word, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
            writeln!(text, "    {word} {list:?}").unwrap();
        }
        if let Some(description) = &intent.description {
            writeln!(text, "    description {description:?}").unwrap();
        }
        if let Some(at) = intent.expires_at {
            writeln!(text, "    expires {at}").unwrap();
        }
        let budget = intent.budget;
        if budget.calls_max.is_some() || budget.time_ms_max.is_some() {
            let (calls, time) = (budget.calls_max, budget.time_ms_max);
            writeln!(text, "    budget {calls:?} calls, {time:?} ms").unwrap();
        }
        if !intent.shares_with.is_empty() {
            let ids: Vec<&str> = intent.shares_with.iter().map(IntentId::as_str).collect();
            writeln!(text, "    shares with {ids:?}").unwrap();
        }
    }
    for warning in &file.warnings {
        writeln!(text, "  warning: {warning}").unwrap();
    }
    text
}

/// H16: every dialect in use is read, and means what it says.
#[test]
fn every_dialect_is_read() {
    let all: String = samples("read")
        .iter()
        .map(|(name, text)| described(name, &read(name, text).unwrap()))
        .collect();
    insta::assert_snapshot!(all, @r#"
    bare_list.yaml: BareList, version None
      math-functions "Add and subtract, with overflow checks." PENDING, line 1
        owns ["src/math/"]
        description "Add and subtract, with overflow checks."
      INT-CI "Make the build faster." PENDING, line 5
        owns ["ci/**", "*.yml"]
        description "Make the build faster.\nCache what can be cached.\n"
    camel_case.yaml: Intents, version None
      INT-010 "Camel" COMPLETED, line 2
        owns ["app/**"]
        criteria ["it walks"]
    canonical.yaml: Canonical, version Some(1)
      INT-001 "Sign people in with a passkey" IN_PROGRESS, line 4
        owns ["src/auth/**", "!src/auth/generated/**"]
        constraints ["No new dependency"]
        criteria ["tests/auth passes"]
        requirements ["REQ-12"]
        description "Second factor first,\npasswords later"
        expires 2027-01-31T12:00:00.000Z
        budget Some(40) calls, Some(5400000) ms
        shares with ["INT-002"]
      INT-002 "Audit log of sign-ins" PENDING, line 21
        owns ["src/audit/**", "src/auth/events.rs"]
    comments_only.yaml: Empty, version None
      warning: comments_only.yaml:1:1: the file is empty: it declares no intents, so nothing can be selected (start with `version: 1` and `active_intents:`)
    crlf.yaml: ActiveIntents, version None
      INT-040 "Made on Windows" IN_PROGRESS, line 2
        owns ["src/**"]
    extras.yaml: ActiveIntents, version None
      REQ-030 "Everything that others write" PENDING, line 2
        owns ["src/**"]
        requirements ["specs/030.md"]
        description "One line"
        budget Some(25) calls, None ms
      warning: extras.yaml:12:19: `max_tokens` is not enforced: calls and time are what is counted
    intent_id_alone_prose_scope.yaml: Intents, version None
      REQ-login-3 "Log in again after a day" IN_PROGRESS, line 2
        constraints ["Keep the cookie's name.\nDo not log tokens."]
        criteria ["A session older than a day asks again"]
      warning: intent_id_alone_prose_scope.yaml:2:16: the intent `REQ-login-3` owns nothing, so it can't be selected
      warning: intent_id_alone_prose_scope.yaml:5:12: `scope` is prose and owns nothing (list its paths under `owned_scope`)
    intent_id_beside_id.yaml: ActiveIntents, version None
      INT-7 "Both keys" DRAFT, line 2
        owns ["lib/**"]
    root_intents.yaml: Intents, version None
      CHI-001 "Tidy the menu" IN_PROGRESS, line 3
        owns ["src/menu/", "assets/icons.svg"]
      GOV-TEST-001 "Check the gate" PENDING, line 10
        owns ["tests/gate/**"]
    six_fields.yaml: ActiveIntents, version None
      INT-001 "Forecast service" IN_PROGRESS, line 2
        owns ["src/forecast/**", "src/http/routes.ts"]
        constraints ["No paid data sources"]
        criteria ["Unit tests in tests/forecast/ pass"]
    statuses.yaml: ActiveIntents, version None
      S-1 "a" PENDING, line 2
        owns ["a"]
      S-2 "b" COMPLETED, line 3
        owns ["a"]
      S-3 "c" COMPLETED, line 4
        owns ["a"]
      S-4 "d" PENDING, line 5
        owns ["a"]
      S-5 "e" DRAFT, line 6
        owns ["a"]
      S-6 "f" PENDING, line 7
        owns ["a"]
      S-7 "g" IN_PROGRESS, line 8
        owns ["a"]
      S-8 "h" BLOCKED, line 9
        owns ["a"]
      S-9 "i" COMPLETED, line 10
        owns ["a"]
      S-10 "j" ABANDONED, line 11
        owns ["a"]
      S-11 "k" IN_PROGRESS, line 12
        owns ["a"]
    without_status.yaml: ActiveIntents, version None
      INT-020 "No status" PENDING, line 2
        owns ["src/**"]
      INT-021 "No scope either" PENDING, line 5
      warning: without_status.yaml:5:9: the intent `INT-021` owns nothing, so it can't be selected
    "#);
}

/// H16: every dialect can be edited in place and appended to, and rewritten in the canonical form.
#[test]
fn every_dialect_is_edited() {
    let new = {
        let text = "- {id: NEW-1, name: new, owned_scope: [new/**]}\n";
        read("new", text).unwrap().intents.remove(0)
    };
    let scope = vec!["only/this/**".to_owned(), "!only/this/not".to_owned()];
    for (name, text) in samples("read") {
        let file = read(&name, &text).unwrap();
        assert_eq!(
            read(&name, &write(&file.intents)).unwrap().intents,
            file.intents
        );
        let longer = append(&name, &text, &new).unwrap();
        assert_eq!(
            read(&name, &longer).unwrap().intents.len(),
            file.intents.len() + 1
        );
        for (index, intent) in file.intents.iter().enumerate() {
            let closed = set_status(&name, &text, &intent.id, IntentStatus::Abandoned).unwrap();
            let closed = read(&name, &closed).unwrap().intents.remove(index);
            assert_eq!(closed.status, IntentStatus::Abandoned);
            let moved = set_scope(&name, &text, &intent.id, &scope).unwrap();
            let moved = read(&name, &moved).unwrap().intents.remove(index);
            assert_eq!(moved.owned_scope, scope);
        }
    }
}

/// H16: a file that can't be understood names line, column and what to do.
#[test]
fn every_damage_is_named() {
    let mut all = String::new();
    for (name, text) in samples("damaged") {
        for problem in read(&name, &text).unwrap_err() {
            assert!(problem.at.line >= 1 && problem.at.column >= 1);
            writeln!(all, "{problem}").unwrap();
        }
    }
    insta::assert_snapshot!(all, @"
    duplicate_ids.yaml:6:16: the intent `INT-001` is declared twice: first in line 2, again in line 6
    ids_differ.yaml:3:16: `intent_id` and `id` differ: keep one
    indentation.yaml:4:4: not YAML: while parsing a block collection, did not find expected '-' indicator
    invalid_status.yaml:4:13: `status` can't be `ACTVE` (did you mean `ACTIVE`?)
    leaves_the_workspace.yaml:5:9: `../sibling/**`: the pattern holds `..`; patterns start at the workspace's root and stay in it
    leaves_the_workspace.yaml:6:9: `/etc/passwd`: the pattern is absolute; write it from the workspace's root, as in `src/auth/**`
    newer_version.yaml:1:10: version `2` is not known (this build reads version 1)
    nul.yaml:3:12: a control character
    prose.yaml:1:1: the file must list intents, not hold text (put them under `active_intents:`)
    tabs.yaml:2:2: not YAML: tabs disallowed within this context (block indentation)
    unclosed_quote.yaml:3:11: not YAML: invalid indentation in quoted scalar
    unknown_field.yaml:4:5: an intent has no field `owned_scopes` (did you mean `owned_scope`?)
    unquoted_exclude.yaml:6:9: the tag `!src/generated/**` means nothing here (a text that starts with `!` needs quotes)
    unquoted_star.yaml:5:9: not YAML: while parsing node, found unknown anchor (a text that starts with `*` needs quotes)
    wrong_types.yaml:3:11: `name` must be text, not a list
    wrong_types.yaml:4:18: `owned_scope` must be a list, not a mapping
    wrong_types.yaml:5:18: `constraints` must be a list, not a mapping
    wrong_types.yaml:6:13: `budget` must be a mapping, not text
    wrong_types.yaml:7:18: `shares_with` must be a list, not text
    ");
}

/// H8: whatever a file's author meant, it is read as a denial.
#[test]
fn every_ignore_file_denies() {
    let ids = ["INT-001", "INT-003", "INT-004", "CHI-001"];
    let mut all = String::new();
    for (name, text) in samples("ignore") {
        let file = IgnoreFile::read(&name, &text).unwrap();
        writeln!(all, "{name}: {:?}", file.path_patterns()).unwrap();
        for id in ids {
            if let Some(line) = file.blocks_intent(&IntentId::new(id).unwrap()) {
                writeln!(all, "  {id} is blocked by {line}").unwrap();
            }
        }
        for warning in file.warnings() {
            writeln!(all, "  warning: {warning}").unwrap();
        }
    }
    insta::assert_snapshot!(all, @r#"
    exempt_paths.intentignore: ["**/*.md", "**/*.md/**", "docs/**"]
      warning: exempt_paths.intentignore:4:1: `!docs/contract.md` has no effect: nothing here allows
    intent_ids.intentignore: ["**/CHI-*", "**/CHI-*/**", "**/INT-003", "**/INT-003/**"]
      INT-003 is blocked by `INT-003` in intent_ids.intentignore, line 2
      INT-004 is blocked by `INT-004: waits for the lawyers` in intent_ids.intentignore, line 3
      CHI-001 is blocked by `CHI-*` in intent_ids.intentignore, line 4
    mixed.intentignore: ["**/vendor", "**/vendor/**"]
      INT-003 is blocked by `intent:INT-003` in mixed.intentignore, line 1
    protected_paths.intentignore: ["**/*.pem", "**/*.pem/**", "**/secrets", "**/secrets/**", "config/production.yaml", "config/production.yaml/**"]
    "#);
}
