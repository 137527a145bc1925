//! What normalising and deriving promise: nothing is lost, nothing is guessed, nothing panics.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tagout_vocab::path::Roots;
use tagout_vocab::{Call, Class, Effect, Origin, ToolAnnotations};

use super::*;

mod captured;
mod input;
mod on_wire;
mod patches;

thread_local!(static CATALOGUE: Catalogue = Catalogue::built_in().unwrap());

const ROOT: &str = "/home/dev/project";

fn roots() -> Roots {
    Roots {
        workspace: ROOT.to_owned(),
        extra: Vec::new(),
    }
}

fn call(tool: &str, arguments: &Value) -> Call {
    Call::new(tool, arguments.as_object().cloned().unwrap_or_default())
}

fn client_call(client: &str, tool: &str, arguments: &Value) -> Call {
    Call {
        origin: Origin::Client {
            client: client.to_owned(),
        },
        ..call(tool, arguments)
    }
}

/// The effects in short: `write a.txt`, `run ls`.
fn shown(call: &Call) -> Vec<String> {
    CATALOGUE.with(|catalogue| {
        let normalised = normalise(call, catalogue);
        effects(&normalised, &roots(), &call.cwd)
            .iter()
            .map(short)
            .collect()
    })
}

fn short(effect: &Effect) -> String {
    let place = |target: &tagout_vocab::Target| match target.place.inside() {
        Some(path) => path.to_string(),
        None => format!("outside:{}", target.raw),
    };
    match effect {
        Effect::Read(target) => format!("read {}", place(target)),
        Effect::Write(target) => format!("write {}", place(target)),
        Effect::MakeFolder(target) => format!("make {}", place(target)),
        Effect::Delete(target) => format!("delete {}", place(target)),
        Effect::Move { from, to } => format!("move {} {}", place(from), place(to)),
        Effect::Run { command } => format!("run {command}"),
        Effect::Reach { host } => format!("reach {}", host.as_deref().unwrap_or("?")),
        Effect::Remote { server, tool } => format!("remote {server} {tool}"),
        Effect::Delegate => "delegate".to_owned(),
        Effect::Desktop => "desktop".to_owned(),
        Effect::Unknown { .. } => "unknown".to_owned(),
    }
}

/// A3 a change among several that names a file of its own changes that file.
#[test]
fn a_change_among_several_may_name_its_own_file() {
    let edits = json!([
        {"old_string": "a", "new_string": "b"},
        {"file_path": ".orchestration/hook_policy.yaml", "old_string": "a", "new_string": "b"},
    ]);
    let call = client_call(
        "claude-code",
        "MultiEdit",
        &json!({"file_path": "src/a.rs", "edits": edits}),
    );
    assert_eq!(
        shown(&call),
        ["write src/a.rs", "write .orchestration/hook_policy.yaml"]
    );
    let unknown = json!({"file_path": "src/a.rs", "edits": [{"somewhere": "else"}]});
    let call = client_call("claude-code", "MultiEdit", &unknown);
    CATALOGUE.with(|catalogue| {
        assert!(check_input(&normalise(&call, catalogue)).is_err());
    });
}

/// A3 every path counts: texts, lists, lists of objects; a wrong type is unknown.
#[test]
fn every_path_counts() {
    let cases = [
        (call("read_file", &json!({"path": "a"})), "read a"),
        (call("read_file", &json!({"path": 7})), "unknown"),
        (call("read_file", &json!({})), "unknown|read ."),
        (call("read_file", &json!({"path": null})), "unknown|read ."),
        (call("codebase_search", &json!({"query": "x"})), "read ."),
        (
            call("write_to_file", &json!({"content": "x"})),
            "unknown|unknown",
        ),
        (
            call("write_to_file", &json!({"path": "../x", "content": ""})),
            "write outside:../x",
        ),
        (
            call("write_to_file", &json!({"path": "", "content": ""})),
            "unknown|write outside:",
        ),
        (
            call("delete_file", &json!({"path": "a//./b/../c"})),
            "delete a/c",
        ),
        (
            call("read_files", &json!({"files": ["a", {"path": "b"}]})),
            "read a|read b",
        ),
        (call("read_files", &json!({"files": "a"})), "read a"),
        (
            call(
                "read_files",
                &json!({"files": [{"path": "b"}, {"mode": "x"}]}),
            ),
            "unknown|read b",
        ),
        (call("read_files", &json!({"files": []})), "unknown"),
        (
            call(
                "change_files",
                &json!({"replacements": [{"filePath": "a"}, {"filePath": "b"}]}),
            ),
            "write a|write b",
        ),
        (
            call("find_files", &json!({"pattern": "/etc/*"})),
            "read outside:/etc/*",
        ),
        (
            call("new_task", &json!({"mode": "m", "message": "x"})),
            "delegate",
        ),
        (call("drive_desktop", &json!({})), "desktop"),
        (call("web_search", &json!({"query": "x"})), "reach ?"),
        (call("run_sql", &json!({"query": "x"})), "unknown"),
        (call("no_such_tool", &json!({"path": "a"})), "unknown"),
    ];
    for (call, expected) in cases {
        assert_eq!(
            shown(&call).join("|"),
            expected,
            "{} {:?}",
            call.tool,
            call.arguments
        );
    }
}

/// An argument for the working directory moves where relative paths and commands start.
#[test]
fn the_working_directory_moves_relative_paths() {
    let mut inner = call(
        "apply_patch",
        &json!({"patch": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}),
    );
    inner.cwd = "sub".to_owned();
    assert_eq!(shown(&inner), ["delete sub/a"]);
    inner.cwd = "/etc".to_owned();
    assert_eq!(shown(&inner), ["delete outside:a"]);
    CATALOGUE.with(|catalogue| {
        let folder = |arguments: Value| {
            let call = call("execute_command", &arguments);
            working_directory(&normalise(&call, catalogue), "base")
        };
        assert_eq!(folder(json!({"command": "ls"})).as_deref(), Some("base"));
        assert_eq!(
            folder(json!({"command": "ls", "cwd": "x"})).as_deref(),
            Some("base/x")
        );
        assert_eq!(
            folder(json!({"command": "ls", "cwd": "/x"})).as_deref(),
            Some("/x")
        );
        assert_eq!(folder(json!({"command": "ls", "cwd": 7})), None);
    });
    let odd = call(
        "execute_command",
        &json!({"command": "ls", "cwd": ["a", "b"]}),
    );
    assert_eq!(shown(&odd), ["unknown", "run ls"]);
}

#[test]
fn commands_in_every_shape() {
    let cases = [
        (json!({"commands": "ls"}), "run ls"),
        (json!({"commands": ["ls", "rm x"]}), "run ls|run rm x"),
        (json!({"command": "ls -l"}), "run ls -l"),
        (
            json!({"commands": {"command": "git", "args": ["log", "a b"]}}),
            "run git log 'a b'",
        ),
        (json!({"commands": [{"command": "ls -l"}]}), "run ls -l"),
        (
            json!({"commands": [{"command": "ls", "args": [7]}]}),
            "unknown",
        ),
        (json!({"commands": ["ls", 7]}), "run ls|unknown"),
        (json!({"commands": [["ls"]]}), "unknown"),
        (json!({"commands": ["  "]}), "unknown"),
        (json!({}), "unknown"),
    ];
    for (arguments, expected) in cases {
        let shown = shown(&call("run_commands", &arguments)).join("|");
        assert_eq!(shown, expected, "{arguments}");
    }
    let argv = |words: Value| shown(&call("run_program", &json!({"command": words}))).join("|");
    assert_eq!(
        argv(json!(["bash", "-lc", "echo 'x' > y"])),
        r"run bash -lc 'echo '\''x'\'' > y'"
    );
    assert_eq!(argv(json!(["A=b", "c=d"])), "run 'A=b' c=d");
    assert_eq!(argv(json!("ls")), "unknown");
    assert_eq!(argv(json!([])), "unknown");
}

#[test]
fn addresses_name_their_hosts() {
    let reach = |url: &str| shown(&call("fetch_url", &json!({"url": url}))).join("|");
    assert_eq!(
        reach("https://user:pw@Example.ORG:8080/x?y#z"),
        "reach example.org"
    );
    assert_eq!(reach("https://evil.org\\@good.org/"), "reach evil.org");
    assert_eq!(reach("http://[::1]:80/"), "reach ::1");
    assert_eq!(reach("example.org/x"), "reach ?");
    assert_eq!(reach("file:///etc/passwd"), "reach ?");
    let several = json!({"prompt": "compare https://a.org/x and http://b.org."});
    assert_eq!(
        shown(&call("fetch_from_prompt", &several)),
        ["reach a.org", "reach b.org"]
    );
}

/// A3 two spellings that disagree are a conflict; two that agree are one.
#[test]
fn disagreeing_spellings_conflict() {
    CATALOGUE.with(|catalogue| {
        let conflict = call("read_file", &json!({"path": "a", "file_path": "b"}));
        let normalised = normalise(&conflict, catalogue);
        assert_eq!(normalised.conflicts.len(), 1);
        assert_eq!(classify(&normalised), Class::Destructive);
        assert!(check_input(&normalised).is_err());
        assert!(shown(&conflict).contains(&"unknown".to_owned()));
        let aliases = call("read_file", &json!({"filePath": "a", "file_path": "b"}));
        assert_eq!(normalise(&aliases, catalogue).conflicts.len(), 1);
        let agreed = call("read_file", &json!({"path": "a", "file_path": "a"}));
        let normalised = normalise(&agreed, catalogue);
        assert!(normalised.conflicts.is_empty());
        assert!(check_input(&normalised).is_ok());
        assert_eq!(classify(&normalised), Class::Safe);
    });
}

/// H5 a call through a wrapper is judged as the tool that it is for, once that is declared.
#[test]
fn wrapped_calls_are_unwrapped() {
    let mut catalogue = Catalogue::built_in().unwrap();
    let arguments = json!({"server_name": "docs", "tool_name": "get", "arguments": {"p": "a"}});
    let wrapped = client_call("roo-code", "use_mcp_tool", &arguments);
    let normalised = normalise(&wrapped, &catalogue);
    let found: Vec<String> = effects(&normalised, &roots(), "")
        .iter()
        .map(short)
        .collect();
    assert_eq!(found, ["remote docs get", "unknown"]);
    let mut declared = crate::catalogue::Tool::undeclared("mcp__docs__get");
    declared.class = Class::Safe;
    declared.targets = TargetForm::Nothing;
    declared.level = tagout_vocab::SideEffectLevel::Network;
    assert!(catalogue.extend(vec![declared]).is_empty());
    let normalised = normalise(&wrapped, &catalogue);
    assert_eq!(normalised.name(), "mcp__docs__get");
    assert_eq!(classify(&normalised), Class::Safe);
    let found: Vec<String> = effects(&normalised, &roots(), "")
        .iter()
        .map(short)
        .collect();
    assert_eq!(found, ["remote docs get"]);
    let text = json!({"server_name": "docs", "tool_name": "get", "arguments": "{}"});
    let nested = client_call("roo-code", "use_mcp_tool", &text);
    let normalised = normalise(&nested, &catalogue);
    assert_eq!(
        classify(&normalised),
        Class::Destructive,
        "a text is not guessed to be JSON"
    );
}

/// Tagout's own tools are native, through whatever client they are called.
#[test]
fn own_tools_are_not_remote() {
    let arguments = json!({"path": "a", "content": ""});
    let own = client_call("claude-code", "mcp__tagout__write_to_file", &arguments);
    assert_eq!(shown(&own), ["write a"]);
    let lost = client_call("claude-code", "mcp__tagout__lost", &arguments);
    assert_eq!(shown(&lost), ["unknown"]);
}

/// A6, H5: hints are advice, and absent ones take MCP's own defaults.
#[test]
fn hints_are_believed_only_of_trusted_servers() {
    let hints = |read_only, destructive| ToolAnnotations {
        read_only_hint: read_only,
        destructive_hint: destructive,
        ..ToolAnnotations::default()
    };
    let cases = [
        (hints(Some(true), None), true, false, Class::Safe),
        (hints(Some(true), Some(false)), true, false, Class::Safe),
        (
            hints(Some(true), Some(true)),
            true,
            false,
            Class::Destructive,
        ),
        (hints(Some(true), None), false, false, Class::Destructive),
        (hints(None, None), true, false, Class::Destructive),
        (
            hints(Some(false), Some(false)),
            true,
            false,
            Class::Destructive,
        ),
        (hints(None, Some(false)), true, false, Class::Destructive),
        (hints(None, None), false, true, Class::Safe),
    ];
    for (hints, trusted, allowlisted, expected) in cases {
        assert_eq!(
            mcp_class(&hints, trusted, allowlisted),
            expected,
            "{hints:?}"
        );
    }
}

#[test]
fn too_many_targets_are_unknown() {
    let files: Vec<String> = (0..20_000).map(|n| format!("f{n}")).collect();
    let found = shown(&call("read_files", &json!({"files": files})));
    assert_eq!(found.len(), tagout_vocab::limits::TARGETS_MAX + 1);
    assert_eq!(found.last().unwrap(), "unknown");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "(\\.\\./|/|~|a|\\.git|\\*\\*\\* (Add|Update) File: x\n|--- a/x\n|\\+\\+\\+ |@@ ){0,5}"
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("path".to_owned()),
        Just("file_path".to_owned()),
        Just("command".to_owned()),
        Just("patch".to_owned()),
        Just("files".to_owned()),
        Just("args".to_owned()),
        Just("url".to_owned()),
        "[a-z_]{1,8}",
    ]
}

fn any_call() -> impl Strategy<Value = (usize, Vec<(String, Value)>)> {
    let arguments = proptest::collection::vec((key(), any_json()), 0..5);
    (any::<usize>(), arguments)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Nothing panics on arbitrary arguments, and a call that changes things always has an effect.
    #[test]
    fn arbitrary_arguments_never_panic((index, arguments) in any_call()) {
        CATALOGUE.with(|catalogue| {
            let tools: Vec<&Tool> = catalogue.tools().collect();
            let tool = tools[index % tools.len()];
            let arguments: Map<String, Value> = arguments.into_iter().collect();
            let call = Call::new(&tool.name, arguments);
            let normalised = normalise(&call, catalogue);
            let found = effects(&normalised, &roots(), "");
            let _checked = check_input(&normalised);
            let touches_nothing = tool.targets == TargetForm::Nothing;
            prop_assert!(touches_nothing || !found.is_empty(), "{}", tool.name);
            Ok(())
        })?;
    }

    /// A3 renaming a key to its alias changes neither effects, nor class, nor the input check.
    #[test]
    fn aliases_change_nothing(
        (index, value) in (any::<usize>(), any_json()),
        choice in any::<usize>(),
    ) {
        CATALOGUE.with(|catalogue| {
            let tools: Vec<&Tool> = catalogue.tools().filter(|t| !t.aliases.is_empty()).collect();
            let tool = tools[index % tools.len()];
            let (alias, canonical) = &tool.aliases[choice % tool.aliases.len()];
            let other = tool.required.iter().find(|key| *key != canonical);
            let judged = |key: &String| {
                let mut arguments = Map::new();
                arguments.insert(key.clone(), value.clone());
                if let Some(other) = other {
                    arguments.insert(other.clone(), json!("x"));
                }
                let call = Call::new(&tool.name, arguments);
                let normalised = normalise(&call, catalogue);
                (
                    effects(&normalised, &roots(), ""),
                    classify(&normalised),
                    check_input(&normalised),
                    normalised.arguments,
                )
            };
            prop_assert_eq!(judged(alias), judged(canonical));
            Ok(())
        })?;
    }
}
