//! The conformance kit: honest tools pass, and each kind of lie is found.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};
use tagout_gate::workspace::RelPath;
use tagout_gate::{Context, Tool, ToolError};
use tagout_tools::kit::{KitError, Promise, Sample, conformance, conformance_with};
use tagout_vocab::{Declaration, ResourceLimits};

use crate::support::{some_intents, tools};

fn samples(tool: &str) -> Vec<Sample> {
    let edit = json!({"file_path": "f", "old_string": "b", "new_string": "x"});
    let edited = || {
        vec![
            Sample::new("an edit", edit.clone()).file("f", "a\nb\n"),
            Sample::new("no match", edit.clone())
                .file("f", "a\n")
                .failing(),
        ]
    };
    let one = |input: Value| vec![Sample::new("a call", input).file("src/a.rs", "fn f() {}\n")];
    match tool {
        "read_file" => one(json!({"path": "src/a.rs"})),
        "list_files" => one(json!({"path": ".", "recursive": true})),
        "search_files" => one(json!({"path": "src", "regex": "fn"})),
        "codebase_search" => one(json!({"query": "f"})),
        "list_code_definition_names" => one(json!({"path": "src"})),
        "write_to_file" => vec![
            Sample::new("a new file", json!({"path": "d/f", "content": "x\n"})),
            Sample::new("an old file", json!({"path": "f", "content": "x\n"})).file("f", "a\r\n"),
        ],
        "apply_diff" => vec![
            Sample::new(
                "a hunk",
                json!({"path": "f", "diff": "@@ -1 +1 @@\n-b\n+x\n"}),
            )
            .file("f", "b\n"),
        ],
        "edit" | "edit_file" | "search_and_replace" | "search_replace" => edited(),
        "apply_patch" => vec![
            Sample::new(
                "a patch",
                json!({"patch":
                "*** Begin Patch\n*** Add File: n/a\n+x\n*** Delete File: d\n*** Update File: f\n\
                 *** Move to: g\n@@\n-b\n+x\n*** End Patch\n"}),
            )
            .file("f", "b\n")
            .file("d", "x"),
        ],
        "delete_file" => vec![Sample::new("a file", json!({"path": "f"})).file("f", "x")],
        "select_active_intent" => one(json!({"intent_id": "INT-001"})),
        "propose_intent" => one(json!({"name": "N", "owned_scope": ["docs/**"], "reason": "r"})),
        "ask_followup_question" => one(json!({"question": "q", "follow_up": [{"text": "a"}]})),
        "attempt_completion" => one(json!({"result": "done"})),
        "switch_mode" => one(json!({"mode_slug": "code"})),
        "update_todo_list" => one(json!({"todos": "[ ] a"})),
        "new_task" => one(json!({"mode": "code", "message": "m"})),
        // A rehearsal holds no commands; the real ones are run by the binary's tests.
        "execute_command" => vec![Sample::new("none", json!({"command": "true"})).failing()],
        "read_command_output" => vec![Sample::new("none", json!({"artifact_id": "a"})).failing()],
        "access_mcp_resource" => {
            vec![Sample::new("none", json!({"server_name": "s", "uri": "u"})).failing()]
        }
        other => panic!("no sample for {other}"),
    }
}

/// L3: every native tool keeps what it declares.
#[test]
fn every_native_tool_conforms() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    for (name, tool) in tools() {
        let report = conformance_with(
            tool.as_ref(),
            &samples(&name),
            scratch.path(),
            &some_intents(),
        );
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        assert!(report.runs >= report.samples, "{name}");
    }
}

type Body = fn(&Map<String, Value>, &mut Context<'_, '_>) -> Result<Value, ToolError>;

/// A tool that says one thing and does another.
struct Liar {
    declaration: Declaration,
    body: Body,
}

impl Tool for Liar {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn run(
        &self,
        input: &Map<String, Value>,
        context: &mut Context<'_, '_>,
    ) -> Result<Value, ToolError> {
        (self.body)(input, context)
    }
}

fn liar(body: Body) -> Liar {
    let schema = |key: &str, kind: &str| {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "description": "It.", "type": "object", "required": [], "additionalProperties": false,
            "properties": {key: {"type": kind, "description": "It."}},
        })
    };
    Liar {
        declaration: Declaration {
            id: "liar".to_owned(),
            version: "1.0.0".to_owned(),
            name: "Liar".to_owned(),
            description: "Says one thing and does another.".to_owned(),
            input_schema: schema("path", "string"),
            output_schema: schema("number", "integer").into(),
            required_capabilities: vec![
                "filesystem.read".to_owned(),
                "filesystem.write".to_owned(),
            ],
            resource_limits: ResourceLimits::default(),
            deterministic: true,
            idempotent: true,
        },
        body,
    }
}

fn found(tool: &Liar) -> Vec<Promise> {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let samples = [Sample::new("a call", json!({"path": "f"})).file("f", "x\n")];
    match conformance(tool, &samples, scratch.path()) {
        Ok(_) => Vec::new(),
        Err(KitError::Breaches { breaches, .. }) => {
            let mut promises: Vec<Promise> = breaches.iter().map(|breach| breach.promise).collect();
            promises.dedup();
            promises
        }
        Err(other) => panic!("{other}"),
    }
}

fn write(context: &mut Context<'_, '_>, path: &str, text: &str) -> Result<(), ToolError> {
    let path = RelPath::from(&context.resolve(path)?);
    Ok(context.transaction().write(&path, text.as_bytes())?)
}

/// L14, T-005: a tool declared deterministic that is not is found, whatever it draws on.
#[test]
fn threat_t005_a_tool_that_is_not_deterministic_is_found() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let bodies: [Body; 4] = [
        |_, _| Ok(json!({"number": CALLS.fetch_add(1, Ordering::Relaxed)})),
        |_, context| Ok(json!({"number": context.now().as_millis()})),
        |_, context| {
            Ok(
                json!({"number": context.workspace().root().as_os_str().len() + usize::from(
            context.workspace().root().display().to_string().contains("-2/"))}),
            )
        },
        |_, context| {
            let count = CALLS.fetch_add(1, Ordering::Relaxed);
            write(context, "f", &format!("{count}"))?;
            Ok(json!({}))
        },
    ];
    for (index, body) in bodies.into_iter().enumerate() {
        let mut tool = liar(body);
        tool.declaration.idempotent = false;
        assert_eq!(found(&tool), [Promise::Deterministic], "{index}");
        // Who does not promise it does not break it.
        tool.declaration.deterministic = false;
        assert_eq!(found(&tool), [], "{index}");
    }
}

#[test]
fn a_tool_that_is_not_idempotent_is_found() {
    let mut tool = liar(|_, context| {
        let path = RelPath::from(&context.resolve("f")?);
        context.transaction().append(&path, b"more\n")?;
        Ok(json!({}))
    });
    assert_eq!(found(&tool), [Promise::Idempotent]);
    tool.declaration.idempotent = false;
    assert_eq!(found(&tool), []);
}

#[test]
fn changes_without_a_capability_or_beside_the_target_are_found() {
    let mut tool = liar(|_, context| {
        write(context, "f", "y")?;
        Ok(json!({}))
    });
    assert_eq!(found(&tool), []);
    tool.declaration.required_capabilities = vec!["filesystem.read".to_owned()];
    assert_eq!(found(&tool), [Promise::Capabilities]);
    let tool = liar(|_, context| {
        write(context, "elsewhere", "y")?;
        Ok(json!({}))
    });
    assert_eq!(found(&tool), [Promise::Targets]);
    let mut tool = liar(|_, context| {
        let path = context.resolve("f")?;
        context.note_seen(&path);
        Ok(json!({}))
    });
    tool.declaration.required_capabilities.clear();
    assert_eq!(found(&tool), [Promise::Capabilities]);
}

/// L4: a tool that goes around its transaction is found.
#[test]
fn a_change_around_the_transaction_is_found() {
    let tool = liar(|_, context| {
        let path = context.workspace().root().join("f");
        std::fs::write(path, "around").unwrap();
        Ok(json!({}))
    });
    assert!(found(&tool).contains(&Promise::Transaction));
}

#[test]
fn bad_outputs_errors_and_panics_are_found() {
    assert_eq!(
        found(&liar(|_, _| Ok(json!({"number": "one"})))),
        [Promise::Output]
    );
    assert_eq!(found(&liar(|_, _| Ok(json!([])))), [Promise::Output]);
    assert_eq!(
        found(&liar(|_, _| Err(ToolError::failed("no")))),
        [Promise::Success]
    );
    let promises = found(&liar(|_, _| panic!("boom")));
    assert!(promises.contains(&Promise::NoPanic), "{promises:?}");
}

#[test]
fn a_declaration_that_says_too_little_is_found() {
    let mut tool = liar(|_, _| Ok(json!({})));
    tool.declaration.name = " ".to_owned();
    tool.declaration.version = "1".to_owned();
    tool.declaration.required_capabilities = vec!["filesystem.wirte".to_owned()];
    assert_eq!(found(&tool), [Promise::Declaration]);
    let mut tool = liar(|_, _| Ok(json!({})));
    tool.declaration.output_schema = json!({"type": "object"}).into();
    assert_eq!(found(&tool), [Promise::Schemas]);
    let scratch = tempfile::tempdir().unwrap();
    let none = conformance(&liar(|_, _| Ok(json!({}))), &[], scratch.path());
    assert!(matches!(none, Err(KitError::NoSample)));
}
