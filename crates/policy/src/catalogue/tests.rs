//! What the catalogue promises: classes, clients' names, protected paths, and that it only narrows.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tagout_vocab::{Class, Origin, Role, SideEffectLevel, ToolKind};

use super::*;
use crate::problem::Problems;
use crate::yaml::parse;

mod authority;
mod clients;

fn built_in() -> Catalogue {
    Catalogue::built_in().unwrap()
}

fn client(id: &str) -> Origin {
    Origin::Client {
        client: id.to_owned(),
    }
}

fn read(text: &str) -> Result<Option<Tool>, String> {
    let node = parse("t.yaml", text).unwrap().unwrap();
    let mut problems = Problems::new("t.yaml");
    let tool = read_tool(&node, &mut problems);
    problems.finish(tool).map_err(|found| {
        found
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    })
}

/// G1 the 22 tools of seed 000 have exactly its classes, and nothing but them and the proposal is
/// native.
#[test]
fn seed_classes() {
    let expected = [
        ("read_file", Class::Safe),
        ("list_files", Class::Safe),
        ("list_code_definition_names", Class::Safe),
        ("search_files", Class::Safe),
        ("codebase_search", Class::Safe),
        ("ask_followup_question", Class::Safe),
        ("select_active_intent", Class::Safe),
        ("switch_mode", Class::Safe),
        ("update_todo_list", Class::Safe),
        ("read_command_output", Class::Safe),
        ("access_mcp_resource", Class::Safe),
        ("attempt_completion", Class::Safe),
        ("write_to_file", Class::Destructive),
        ("apply_diff", Class::Destructive),
        ("edit", Class::Destructive),
        ("search_and_replace", Class::Destructive),
        ("search_replace", Class::Destructive),
        ("edit_file", Class::Destructive),
        ("apply_patch", Class::Destructive),
        ("delete_file", Class::Destructive),
        ("execute_command", Class::Destructive),
        ("new_task", Class::Destructive),
    ];
    let catalogue = built_in();
    for (name, class) in expected {
        let found = catalogue.lookup(&Origin::Native, name).unwrap();
        assert_eq!(found.tool.class, class, "{name}");
        assert_eq!(found.tool.name, name);
    }
    let mut native: BTreeSet<&str> = catalogue.native().map(|tool| tool.name.as_str()).collect();
    assert!(native.remove("propose_intent"));
    assert_eq!(native, expected.iter().map(|(name, _)| *name).collect());
    assert!(catalogue.lookup(&Origin::Native, "no_such_tool").is_none());
    assert!(catalogue.lookup(&Origin::Custom, "read_file").is_none());
}

#[test]
fn roles_are_played_by_native_tools() {
    let catalogue = built_in();
    let name = |role| catalogue.by_role(role).map(|tool| tool.name.as_str());
    assert_eq!(name(Role::SelectIntent), Some("select_active_intent"));
    assert_eq!(name(Role::ProposeIntent), Some("propose_intent"));
    assert_eq!(name(Role::Completion), Some("attempt_completion"));
    assert_eq!(name(Role::Shell), Some("execute_command"));
    assert_eq!(name(Role::OutputReader), Some("read_command_output"));
    assert_eq!(name(Role::Delegation), Some("new_task"));
    assert_eq!(name(Role::ModeSwitch), Some("switch_mode"));
    assert_eq!(name(Role::McpCall), Some("use_mcp_tool"));
}

/// A2 every tool says how far it reaches, A1 SAFE needs a read-only kind or a written reason.
#[test]
fn safe_is_earned() {
    let said_so = [
        "ask_followup_question",
        "ask_questions",
        "attempt_completion",
        "plan_mode",
        "propose_intent",
        "select_active_intent",
        "switch_mode",
    ];
    for tool in built_in().tools() {
        assert_ne!(tool.level, SideEffectLevel::None, "{}", tool.name);
        if tool.class == Class::Safe {
            let earned = tool.kind.is_read_only() || said_so.contains(&tool.name.as_str());
            assert!(earned, "{}", tool.name);
            let fetch = tool.kind == ToolKind::Fetch;
            assert!(
                tool.level == SideEffectLevel::ReadOnly || fetch,
                "{}",
                tool.name
            );
            assert!(tool.paths.iter().all(|param| !param.access.mutates()));
        }
    }
}

/// A4 the annotations carry the tool's facts, and what emits artifacts has an active reader.
#[test]
fn annotations_follow_the_tool() {
    let catalogue = built_in();
    let tool = catalogue.tool("execute_command").unwrap();
    let notes = catalogue.annotations(tool);
    assert!(notes.emits_artifacts);
    assert!(!notes.lacks_result_reader(|name| catalogue.tool(name).is_some()));
    assert!(notes.lacks_result_reader(|_| false));
    assert_eq!(notes.arg_schema.arg_aliases["cmd"], "command");
    assert_eq!(notes.capabilities["process"], ["spawn"]);
}

#[test]
fn survives_the_compiled_form() {
    let catalogue = built_in();
    let bytes = postcard::to_stdvec(&catalogue).unwrap();
    let back: Catalogue = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(back, catalogue);
}

#[test]
fn damaged_entries_are_named() {
    let entry = |lines: &str| {
        read(&format!(
            "name: t\nabout: x\nclass: DESTRUCTIVE\nkind: edit\nlevel: workspace_write\n{lines}"
        ))
    };
    assert!(entry("").unwrap().is_some());
    let cases = [
        ("undoabel: true\n", "did you mean `undoable`?"),
        ("kind2: x\n", "did you mean `kind`?"),
        ("role: sheell\n", "did you mean `shell`?"),
        (
            "targets: {patch: p}\n",
            "`targets` names `p`, which is no argument",
        ),
        ("targets: {patch: p, command: c}\n", "exactly one form"),
        ("safe_because: x\n", "belongs to a SAFE tool"),
        ("input_schema: '{'\n", "is not JSON"),
        ("arguments: {a: {about: x}}\n", "an argument needs `type`"),
        (
            "arguments: {a: {about: x, type: strng}}\n",
            "did you mean `string`?",
        ),
        (
            "arguments:\n  a: {about: x, type: any, aliases: [c]}\n  \
             b: {about: x, type: any, aliases: [c]}\n",
            "the alias `c` stands for two arguments",
        ),
        (
            "arguments:\n  a: {about: x, type: any, aliases: [b]}\n  \
             b: {about: x, type: any, aliases: [a]}\n",
            "the alias `b` stands for two arguments",
        ),
    ];
    for (lines, expected) in cases {
        let error = entry(lines).unwrap_err();
        assert!(error.contains(expected), "{lines}: {error}");
        assert!(error.starts_with("t.yaml:"), "{error}");
    }
    let safe = "name: t\nabout: x\nclass: SAFE\n";
    let unearned = read(&format!("{safe}kind: other\nlevel: read_only\n")).unwrap_err();
    assert!(unearned.contains("needs `safe_because`"), "{unearned}");
    let writes = read(&format!(
        "{safe}kind: read\nlevel: read_only\narguments:\n  \
         p: {{about: x, type: string, access: write}}\n"
    ));
    assert!(writes.unwrap_err().contains("can't change its targets"));
    let level = read(&format!("{safe}kind: read\nlevel: none\n")).unwrap_err();
    assert!(level.contains("can't be `none`"), "{level}");
    let reach = read(&format!("{safe}kind: read\nlevel: process_exec\n")).unwrap_err();
    assert!(reach.contains("can't reach as far"), "{reach}");
}

/// A5 the policy adds new tools and narrows known ones; what would widen is refused and named.
#[test]
fn extending_never_widens() {
    let mut catalogue = built_in();
    let mut safe_shell = catalogue.tool("execute_command").unwrap().clone();
    safe_shell.class = Class::Safe;
    let mut narrow_fetch = catalogue.tool("fetch_url").unwrap().clone();
    narrow_fetch.class = Class::Destructive;
    narrow_fetch.undoable = false;
    let mut blind = catalogue.tool("write_to_file").unwrap().clone();
    blind.paths.clear();
    let mut tame = catalogue.tool("drive_desktop").unwrap().clone();
    tame.level = SideEffectLevel::ReadOnly;
    let custom = Tool {
        class: Class::Safe,
        ..Tool::undeclared("mcp__github__get_issue")
    };
    let twice = custom.clone();
    let refused = catalogue.extend(vec![safe_shell, narrow_fetch, blind, tame, custom, twice]);
    let named: Vec<String> = refused.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(named.join("\n"), @r"
    the tool `execute_command` is in the catalogue; the policy can narrow its class, not change it
    the tool `write_to_file` is in the catalogue; the policy can narrow its paths, not change it
    the tool `drive_desktop` is in the catalogue; the policy can narrow its level, not change it
    the tool `mcp__github__get_issue` is declared twice
    ");
    let class = |origin: &Origin, name: &str| catalogue.lookup(origin, name).map(|r| r.tool.class);
    assert_eq!(
        class(&client("claude-code"), "WebFetch"),
        Some(Class::Destructive)
    );
    assert_eq!(
        class(&Origin::Native, "execute_command"),
        Some(Class::Destructive)
    );
    let github = Origin::Mcp {
        server: "github".to_owned(),
    };
    assert_eq!(class(&github, "get_issue"), Some(Class::Safe));
    assert_eq!(
        class(&client("claude-code"), "mcp__github__get_issue"),
        Some(Class::Safe)
    );
    assert_eq!(class(&client("qwen-code"), "mcp__github__other"), None);
    let mut narrower = catalogue.tool("read_file").unwrap().clone();
    narrower.class = Class::Destructive;
    assert!(catalogue.extend(vec![narrower]).is_empty());
    let found = catalogue.lookup(&client("codex"), "view_image").unwrap();
    assert_eq!(found.tool.class, Class::Safe);
    let read = catalogue.lookup(&client("claude-code"), "Read").unwrap();
    assert_eq!(read.tool.class, Class::Destructive);
}

/// A policy's tool can't stand in for a client's own.
#[test]
fn a_declared_tool_does_not_hide_a_clients_own() {
    let mut catalogue = built_in();
    let fake = Tool {
        class: Class::Safe,
        ..Tool::undeclared("Bash")
    };
    assert!(catalogue.extend(vec![fake]).is_empty());
    let found = catalogue.lookup(&client("claude-code"), "Bash").unwrap();
    assert_eq!(found.tool.name, "execute_command");
    assert_eq!(found.tool.class, Class::Destructive);
}
