//! Each check refuses what it should, with its own code, and says so in the explanation.

use serde_json::{Value, json};
use tagout_vocab::{CheckResult, Gate, Judgement, Origin, State, ToolAnnotations, Verdict};

use super::world::{
    books, call, client_call, facts, in_action, said, session, user_books, with_metadata,
};
use crate::judge::{Approval, FileFact, Files, Isolation, Standing, judge};
use crate::problem::{Position, Problem};

fn write_to(path: &str) -> tagout_vocab::Call {
    call(
        "write_to_file",
        with_metadata(json!({"path": path, "content": "x"})),
    )
}

fn refused_by(judgement: &Judgement) -> Option<Gate> {
    judgement
        .checks
        .iter()
        .find(|check| check.result == CheckResult::Refuse)
        .map(|c| c.gate)
}

/// H3, H1: every way in which an intent can fail to carry a mutation.
#[test]
fn intents_that_can_not_carry_a_mutation() {
    let table = [
        (None, "deny INTENT_REQUIRED"),
        (Some("INT-404"), "deny INTENT_UNKNOWN"),
        (Some("INT-002"), "deny INTENT_CLOSED"),
        (Some("INT-003"), "deny INTENT_EXPIRED"),
        (Some("INT-004"), "deny SCOPE_EMPTY"),
        (Some("INT-005"), "deny INTENT_IGNORED"),
    ];
    for (intent, expected) in table {
        let write = write_to("src/weather/a.rs");
        let judgement = judge(
            &write,
            &session(State::Action, intent),
            &books(""),
            &facts(),
        );
        assert_eq!(said(&judgement), expected, "{intent:?}");
        assert_eq!(refused_by(&judgement), Some(Gate::Intent));
        let Some(intent) = intent else { continue };
        let select = call("select_active_intent", json!({"intent_id": intent}));
        let judgement = judge(
            &select,
            &session(State::Reasoning, None),
            &books(""),
            &facts(),
        );
        assert_eq!(said(&judgement), expected, "selecting {intent:?}");
    }
}

/// H7, H8: targets outside the scope, excluded, protected, or outside the workspace.
#[test]
fn targets_outside_the_scope() {
    for path in [
        "src/main.rs",
        "src/weather/../main.rs",
        "./src//weather/../../etc/hosts",
        "/var/lib/x",
        "/w/src/main.rs",
        "~/x",
        "src/weather/secret/key",
        "src/weather/frozen/a",
        "SRC/weather/a.rs",
        "../w/src/main.rs",
    ] {
        assert_eq!(
            said(&in_action(&write_to(path))),
            "deny SCOPE_VIOLATION",
            "{path}"
        );
    }
    for path in [
        "src/weather/a.rs",
        "/w/src/weather/a.rs",
        "./tests//x/../y",
        "tests/deep/z",
    ] {
        assert_eq!(said(&in_action(&write_to(path))), "allow ALLOWED", "{path}");
    }
}

/// H7: every file of a patch counts, not only the first.
#[test]
fn every_file_of_a_patch_counts() {
    let patch = "*** Begin Patch\n*** Update File: src/weather/a.rs\n@@\n-a\n+b\n\
                 *** Add File: src/main.rs\n+x\n*** End Patch\n";
    let judgement = in_action(&call("apply_patch", with_metadata(json!({"patch": patch}))));
    assert_eq!(said(&judgement), "deny SCOPE_VIOLATION");
}

/// H7: where a path really leads counts as much as what it says.
#[test]
fn a_symlink_out_of_the_scope_is_refused() {
    let mut facts = facts();
    let place = facts.roots.place("/var/lib/x", "");
    facts.resolved.insert("src/weather/link".to_owned(), place);
    let session = session(State::Action, Some("INT-001"));
    let judgement = judge(&write_to("src/weather/link"), &session, &books(""), &facts);
    assert_eq!(said(&judgement), "deny SCOPE_VIOLATION");
}

/// Invariant 8: authority is refused before state and scope, whatever spells it.
#[test]
fn authority_files_are_never_changed() {
    for path in [
        ".orchestration/active_intents.yaml",
        "sub/.orchestration/x",
        ".intentignore",
        ".git/hooks/pre-commit",
        ".claude/settings.json",
        ".ORCHESTRATION/hook_policy.yaml",
        "src/weather/../../.orchestration/x",
    ] {
        for (state, intent) in [(State::Request, None), (State::Action, Some("INT-001"))] {
            let judgement = judge(
                &write_to(path),
                &session(state, intent),
                &books(""),
                &facts(),
            );
            assert_eq!(said(&judgement), "deny AUTHORITY_FILE", "{path}");
        }
    }
    let delete = call("delete_file", with_metadata(json!({"path": ".git"})));
    assert_eq!(said(&in_action(&delete)), "deny AUTHORITY_FILE");
}

/// H10: what a write tool of ours must carry; a client's tool gets it from the session.
#[test]
fn write_metadata() {
    let arguments = json!({"path": "src/weather/a.rs", "content": "x"});
    let with = |extra: Value| {
        let mut arguments = arguments.clone();
        arguments
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        said(&in_action(&call("write_to_file", arguments)))
    };
    assert_eq!(with(json!({})), "deny INTENT_REQUIRED");
    assert_eq!(
        with(json!({"intent_id": "INT-001"})),
        "deny MUTATION_CLASS_REQUIRED"
    );
    let other = json!({"intent_id": "INT-002", "mutation_class": "AST_REFACTOR"});
    assert_eq!(with(other), "deny INTENT_MISMATCH");
    let odd = json!({"intent_id": "INT-001", "mutation_class": "AST_REFACTOR"});
    assert_eq!(with(odd), "allow ALLOWED");
    let write = client_call(
        "claude-code",
        "Write",
        json!({"file_path": "/w/src/weather/a.rs", "content": "x"}),
    );
    assert_eq!(said(&in_action(&write)), "allow ALLOWED");
}

/// L7: bad arguments are refused before state, each violation with its place.
#[test]
fn arguments_against_the_schema() {
    for (tool, arguments) in [
        ("write_to_file", json!({})),
        ("write_to_file", json!({"path": 7, "content": "x"})),
        ("write_to_file", json!({"path": "a\u{0}b", "content": "x"})),
        ("read_file", json!({"path": null})),
        ("read_file", json!({"path": "a", "file_path": "b"})),
        ("execute_command", json!({"command": ["a", 7]})),
    ] {
        let judgement = in_action(&call(tool, arguments.clone()));
        assert_eq!(
            said(&judgement),
            "deny SCHEMA_INVALID",
            "{tool} {arguments}"
        );
    }
}

/// H5, A6: an MCP tool is destructive until the policy says otherwise.
#[test]
fn mcp_tools_are_destructive_unless_the_policy_trusts_them() {
    let mcp = |tool: &str| tagout_vocab::Call {
        origin: Origin::Mcp {
            server: "docs".to_owned(),
        },
        ..call(tool, json!({"q": "x"}))
    };
    let reasoning = session(State::Reasoning, None);
    let hinted = |policy: &str, read_only: Option<bool>| {
        let mut facts = facts();
        facts.hints = Some(ToolAnnotations {
            read_only_hint: read_only,
            ..Default::default()
        });
        said(&judge(&mcp("find"), &reasoning, &books(policy), &facts))
    };
    assert_eq!(hinted("", Some(true)), "deny STATE_VIOLATION");
    let trusting = "version: 1\nmcp:\n  servers:\n    docs: {trust_hints: true}\n";
    assert_eq!(hinted(trusting, Some(true)), "allow ALLOWED");
    assert_eq!(hinted(trusting, None), "deny STATE_VIOLATION");
    let listed = "version: 1\nmcp:\n  readonly_tools: [docs/find]\n";
    assert_eq!(hinted(listed, None), "allow ALLOWED");
}

/// A2, A5: ceilings, tools, capabilities and arguments, each with its own word.
#[test]
fn what_may_be_used_at_all() {
    let reasoning = session(State::Reasoning, None);
    let fetch = client_call(
        "claude-code",
        "WebFetch",
        json!({"url": "https://x.test", "prompt": "p"}),
    );
    assert_eq!(
        said(&judge(&fetch, &reasoning, &books(""), &facts())),
        "deny CEILING_EXCEEDED"
    );
    let online = user_books("version: 1\nnetwork: any\n");
    assert_eq!(
        said(&judge(&fetch, &reasoning, &online, &facts())),
        "allow ALLOWED"
    );
    let read = call("read_file", json!({"path": "a"}));
    let denied = books("version: 1\ntools: {deny: [read_file]}\n");
    assert_eq!(
        said(&judge(&read, &reasoning, &denied, &facts())),
        "deny CAPABILITY_DENIED"
    );
    let nothing = books("version: 1\ntools: {allow: []}\n");
    assert_eq!(
        said(&judge(&read, &reasoning, &nothing, &facts())),
        "deny CAPABILITY_DENIED"
    );
    let low = books("version: 1\nceiling: read_only\n");
    let action = session(State::Action, Some("INT-001"));
    let write = write_to("src/weather/a.rs");
    assert_eq!(
        said(&judge(&write, &action, &low, &facts())),
        "deny CEILING_EXCEEDED"
    );
}

/// H13: the stale check, and what an unknown file does.
#[test]
fn stale_files() {
    let action = session(State::Action, Some("INT-001"));
    let write = write_to("src/weather/a.rs");
    let with = |fact: Option<FileFact>| {
        let mut facts = facts();
        let path = tagout_vocab::WorkspacePath::new("src/weather/a.rs").unwrap();
        facts.files = Files::Known(fact.map(|fact| (path, fact)).into_iter().collect());
        said(&judge(&write, &action, &books(""), &facts))
    };
    assert_eq!(with(Some(FileFact::Absent)), "allow ALLOWED");
    assert_eq!(with(Some(FileFact::Fresh)), "allow ALLOWED");
    let unseen = |matches| FileFact::NeverSeen {
        old_text_matches_once: matches,
    };
    assert_eq!(with(Some(unseen(true))), "allow ALLOWED");
    assert_eq!(with(Some(unseen(false))), "deny STALE_FILE");
    let changed = FileFact::Changed {
        within: None,
        difference: "-a\n+b".to_owned(),
    };
    assert_eq!(with(Some(changed)), "deny STALE_FILE");
    assert_eq!(with(None), "deny STALE_FILE");
}

/// H13: a folder can't be read, so a command may work on one unless a file in it changed.
#[test]
fn stale_folders() {
    let action = session(State::Action, Some("INT-001"));
    let path = |text| tagout_vocab::WorkspacePath::new(text).unwrap();
    let with = |call: &tagout_vocab::Call, fact: FileFact| {
        let mut facts = facts();
        facts.files = Files::Known([(path("src/weather/sub"), fact)].into());
        judge(call, &action, &books(""), &facts)
    };
    let run = |line: &str| call("execute_command", json!({ "command": line }));
    for line in [
        "rm -r src/weather/sub",
        "rmdir src/weather/sub",
        "mkdir -p src/weather/sub",
    ] {
        let judged = with(&run(line), FileFact::Folder);
        assert_eq!(said(&judged), "allow ALLOWED", "{line}");
    }
    // Nothing holds what a tool does to a folder.
    let judged = with(&write_to("src/weather/sub"), FileFact::Folder);
    assert_eq!(said(&judged), "deny STALE_FILE");
    let unseen = FileFact::NeverSeen {
        old_text_matches_once: false,
    };
    let judged = with(&run("rm src/weather/sub"), unseen);
    assert_eq!(said(&judged), "deny STALE_FILE");
    let changed = FileFact::Changed {
        within: Some(path("src/weather/sub/a.rs")),
        difference: "-a\n+b".to_owned(),
    };
    let judged = with(&run("rm -r src/weather/sub"), changed);
    assert_eq!(said(&judged), "deny STALE_FILE");
    let told = format!("{judged:?}");
    assert!(told.contains("read src/weather/sub/a.rs again"), "{told}");
}

/// H7: the folders that lead to what an intent owns may be made, and nothing else done to them.
#[test]
fn folders_on_the_way() {
    let judged = |line: &str| {
        said(&in_action(&call(
            "execute_command",
            json!({ "command": line }),
        )))
    };
    for line in [
        "mkdir src/weather",
        "mkdir -p src/weather",
        "mkdir -p src",
        "mkdir -p src/weather/deep/er tests",
    ] {
        assert_eq!(judged(line), "allow ALLOWED", "{line}");
    }
    for line in [
        "mkdir other",
        "mkdir -p src/other",
        "mkdir -p src/weather src/other",
        "mkdir -p .",
        "mkdir -p src/weather/secret/x",
        "mkdir -p src/weather/frozen",
        "rmdir src/weather",
        "rm -r src/weather",
        "mv src/weather tests/weather",
        "touch src/weather",
        "chmod 700 src/weather",
        "echo a > src",
    ] {
        assert_eq!(judged(line), "deny SCOPE_VIOLATION", "{line}");
    }
}

/// H17, H6, S1: what is used up, busy, held by others, not to be confined, or not agreed to.
#[test]
fn facts_that_refuse() {
    let action = session(State::Action, Some("INT-001"));
    let write = write_to("src/weather/a.rs");
    let run = call(
        "execute_command",
        json!({"command": "touch src/weather/a.rs"}),
    );
    let with = |call: &tagout_vocab::Call, change: &dyn Fn(&mut crate::judge::Facts)| {
        let mut facts = facts();
        change(&mut facts);
        said(&judge(call, &action, &books(""), &facts))
    };
    assert_eq!(
        with(&write, &|f| f.usage.repeats = 1_000),
        "deny REPEAT_LIMIT"
    );
    assert_eq!(
        with(&run, &|f| f.isolation = Isolation::Unavailable),
        "deny ISOLATION_UNAVAILABLE"
    );
    assert_eq!(
        with(&run, &|f| f.isolation = Isolation::Snapshot),
        "deny ISOLATION_UNAVAILABLE"
    );
    let path = tagout_vocab::WorkspacePath::new("src/weather/a.rs").unwrap();
    assert_eq!(
        with(&write, &|f| {
            f.busy.insert(path.clone(), "call c-2".to_owned());
        }),
        "deny PATH_BUSY"
    );
    let other = tagout_vocab::SessionId::new("s-2").unwrap();
    assert_eq!(
        with(&write, &|f| f.leased_to = Some(other.clone())),
        "deny LEASED"
    );
    assert_eq!(
        with(&write, &|f| f.standing = Standing::NotTrusted),
        "deny NOT_TRUSTED"
    );
    assert_eq!(
        with(&write, &|f| f.standing = Standing::StateLost),
        "deny STATE_LOST"
    );
    let delegate = call("new_task", json!({"mode": "code", "message": "m"}));
    let by = "ada".to_owned();
    assert_eq!(with(&delegate, &|_| ()), "ask APPROVAL_REQUIRED");
    assert_eq!(
        with(&delegate, &|f| f.approval =
            Approval::Granted { by: by.clone() }),
        "allow ALLOWED"
    );
    let no = Approval::Rejected {
        reason: "no".to_owned(),
    };
    assert_eq!(
        with(&delegate, &|f| f.approval = no.clone()),
        "deny APPROVAL_REJECTED"
    );
    assert_eq!(
        with(&delegate, &|f| f.approval = Approval::Expired),
        "deny APPROVAL_EXPIRED"
    );
}

/// Invariant 3: broken files leave the built-in readers and nothing else.
#[test]
fn broken_files_leave_the_built_in_readers() {
    let mut facts = facts();
    facts.broken.push(Problem {
        file: "hook_policy.yaml".to_owned(),
        at: Position { line: 3, column: 5 },
        message: "not YAML".to_owned(),
        hint: None,
    });
    let action = session(State::Action, Some("INT-001"));
    let read = call("read_file", json!({"path": "a"}));
    assert_eq!(
        said(&judge(&read, &action, &books(""), &facts)),
        "allow ALLOWED"
    );
    let judgement = judge(&write_to("src/weather/a.rs"), &action, &books(""), &facts);
    assert_eq!(said(&judgement), "deny POLICY_INVALID");
    assert_eq!(judgement.class, tagout_vocab::Class::Destructive);
}

/// H6: the strict profile asks for every destructive call; rules narrow further.
#[test]
fn profiles_and_rules() {
    let action = session(State::Action, Some("INT-001"));
    let write = write_to("src/weather/a.rs");
    let strict = books("version: 1\nprofile: strict\n");
    assert_eq!(
        said(&judge(&write, &action, &strict, &facts())),
        "ask APPROVAL_REQUIRED"
    );
    let read = call("read_file", json!({"path": "a"}));
    assert_eq!(
        said(&judge(&read, &action, &strict, &facts())),
        "allow ALLOWED"
    );
    let rule = "version: 1\nrules:\n  - id: no-rust\n    action: deny\n    match: {path: 'src/**/*.rs'}\n    \
                reason: frozen\n    examples: {match: [{path: src/a/b.rs}], no_match: [{path: a.py}]}\n";
    let judgement = judge(&write, &action, &books(rule), &facts());
    assert_eq!(said(&judgement), "deny CAPABILITY_DENIED", "{judgement:#?}");
}

/// H4: a command is SAFE when every part only reads; what it writes is held against the scope.
#[test]
fn commands_by_what_they_do() {
    let run = |line: &str| call("execute_command", json!({ "command": line }));
    let reasoning = session(State::Reasoning, None);
    let early = |line: &str| said(&judge(&run(line), &reasoning, &books(""), &facts()));
    assert_eq!(early("git log --oneline | head -5"), "allow ALLOWED");
    assert_eq!(early("cat src/main.rs > copy"), "deny STATE_VIOLATION");
    assert_eq!(early("ls; $(touch x)"), "deny STATE_VIOLATION");
    let now = |line: &str| said(&in_action(&run(line)));
    assert_eq!(now("touch src/weather/a.rs"), "allow ALLOWED");
    assert_eq!(now("touch src/main.rs"), "deny SCOPE_VIOLATION");
    assert_eq!(
        now("echo x > .orchestration/active_intents.yaml"),
        "deny AUTHORITY_FILE"
    );
    assert_eq!(now("curl https://x.test"), "deny CEILING_EXCEEDED");
    assert_eq!(now("rm -rf /"), "deny SCOPE_VIOLATION");
}

/// Verbs for people are refused inside every governed call; agents' own verbs are not.
#[test]
fn verbs_for_people_are_refused() {
    let run = |line: &str| call("execute_command", json!({ "command": line }));
    for line in [
        "tagout approve ap-1",
        "echo y | tagout trust",
        "sh -c 'tagout init --yes'",
        "tagout intent select INT-001 --session other",
        "tagout intent select --session=other INT-001",
        "tagout intent propose --name a --scope 'b/**' --reason c --session other",
        "cd src && tagout intent select INT-001",
        "cd src && tagout intent select INT-001 --session other",
        "tagout intent select INT-001 > /dev/null",
        "bash -c 'tagout intent select INT-001'",
        "env tagout intent select INT-001",
        "echo INT-001 | xargs tagout intent select",
        "tagout intent select INT-001 $(cat src/options)",
        "tagout intent propose --name a --scope b --reason c $(cat src/options)",
        "tagout exec --session other -- ls",
        "ls; tagout exec --intent INT-001 -- ls",
        "ls; tagout exec $options -- ls",
        "cd src; tagout intent list; tagout exec -- ls",
        "for f in src/*.rs; do tagout exec -- cat \"$f\"; done",
        "tagout exec -- ls > /dev/null",
        "tagout --workspace=. exec --intent INT-001 -- ls",
        "tagout --workspace . exec -- ls",
        "tagout --workspace=. intent select INT-001",
        "cd src; tagout intent propose --name a --scope b --reason c",
        "tagout --workspace log approve ap-1",
        "tagout --state-dir help approve ap-1",
        "tagout intent --workspace list release INT-001",
        "tagout $verb log",
        "tagout intent $verb list",
        "tagout approve ap-1 -- --help",
        "tagout approve $id --help",
    ] {
        assert_eq!(said(&in_action(&run(line))), "deny PERSON_ONLY", "{line}");
    }
    for line in [
        "tagout log",
        "tagout intent select INT-001",
        "tagout log --session other",
        "cd src && tagout log --session other",
        "tagout intent propose --name a --scope 'b/**' --reason 'c d'",
        "cd src; tagout intent list; tagout log",
        "for f in src/*.rs; do tagout blame \"$f\"; done",
        "tagout exec --intent INT-001 -- ls",
        "tagout --workspace . log",
        "tagout --help",
        "tagout help",
        "tagout help exec | head",
        "tagout exec --help",
        "cd src && tagout intent select -h",
        "tagout approve --help",
    ] {
        assert_eq!(said(&in_action(&run(line))), "allow ALLOWED", "{line}");
    }
    // Whoever performs what stands alone performs one line, not several.
    let lines = ["tagout exec -- ls", "tagout log"];
    let several = client_call("cline", "run_commands", json!({ "commands": lines }));
    assert_eq!(said(&in_action(&several)), "deny PERSON_ONLY");
}

/// What an agent can do in other words is told so; what only a person does is not.
#[test]
fn what_acts_can_be_said_otherwise() {
    let run = |line: &str| call("execute_command", json!({ "command": line }));
    let refusal = |line: &str| match in_action(&run(line)).verdict {
        Verdict::Deny(refusal) => refusal,
        other @ (Verdict::Allow(_) | Verdict::Ask(_)) => panic!("{line}: {other:?}"),
    };
    for (line, remedy) in [
        ("ls; tagout exec -- ls", "`tagout exec -- 'LINE'`"),
        (
            "ls; tagout intent select INT-001",
            "`tagout intent select ID`",
        ),
        (
            "ls; tagout intent propose --name a",
            "as a command of its own",
        ),
        ("tagout exec --session s -- ls", "leave the option away"),
    ] {
        let refusal = refusal(line);
        assert!(refusal.remedy.contains(remedy), "{line}: {refusal:?}");
        assert!(refusal.retryable, "{line}: {refusal:?}");
        assert_eq!(refusal.gate, tagout_vocab::Gate::Authority);
    }
    assert!(!refusal("tagout approve ap-1").retryable);
}

/// H4: lines that once were taken for readers, each found by an attack.
#[test]
fn attacks_on_the_reading_of_commands() {
    let reasoning = session(State::Reasoning, None);
    let now = |call: &tagout_vocab::Call| said(&judge(call, &reasoning, &books(""), &facts()));
    let run = |line: &str| call("execute_command", json!({ "command": line }));
    for line in [
        "declare -i n; n='a[$(touch x)]'",
        "declare -i n; read n <<< 'a[$(touch x)]'",
        "typeset -i n; for n in 'a[$(touch x)]'; do :; done",
        "git --git-dir=src/weather/x status",
    ] {
        assert_eq!(now(&run(line)), "deny STATE_VIOLATION", "{line}");
    }
    let doubled = format!("a=xx;{}ls $a", "a=$a$a;".repeat(60));
    assert!(
        judge(&run(&doubled), &reasoning, &books(""), &facts())
            .effects
            .len()
            < 100
    );
    let power = client_call(
        "claude-code",
        "PowerShell",
        json!({"command": "cat a\\; rm x"}),
    );
    assert_eq!(now(&power), "deny STATE_VIOLATION");
    let other = json!({"cmd": "ls", "shell": "src/weather/evil"});
    assert_eq!(
        now(&client_call("codex", "exec_command", other)),
        "deny STATE_VIOLATION"
    );
    let known = json!({"cmd": "ls", "shell": "/bin/bash"});
    assert_eq!(
        now(&client_call("codex", "exec_command", known)),
        "allow ALLOWED"
    );
    let suffix = "cd src/weather; sed -i'../../.git/hooks/*' s/a/b/ pre-commit";
    let judgement = in_action(&run(suffix));
    let named = judgement
        .effects
        .iter()
        .any(|effect| effect.described().starts_with("runs"));
    assert!(named, "what the suffix writes is not known: {judgement:#?}");
}
