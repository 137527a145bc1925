//! Every captured payload becomes the call or the event that it is.

use serde_json::Value;
use tagout_agents::{Client, Incoming, What, parse};
use tagout_vocab::{Call, Digest, Origin};

use crate::common;

fn call(call: &Call) -> String {
    let origin = match &call.origin {
        Origin::Mcp { server } => format!("{server}/"),
        Origin::Native | Origin::Custom | Origin::Client { .. } => String::new(),
    };
    let mut arguments = Value::Object(call.arguments.clone()).to_string();
    if arguments.len() > 150 {
        // The digest is that of all of them.
        let digest = Digest::of(arguments.as_bytes()).hex();
        let shown: String = arguments.chars().take(150).collect();
        arguments = format!("{shown}… {}", &digest[..16]);
    }
    let id = if call.id.is_some() { "id" } else { "no id" };
    format!("{origin}{} {arguments} [{id}, {}]", call.tool, call.cwd)
}

fn shown(incoming: &Incoming) -> String {
    let what = match &incoming.what {
        What::Pre(pre) => {
            let shell = pre.shell.as_ref().map(|shell| format!(" {shell:?}"));
            format!("before {}{}", call(&pre.call), shell.unwrap_or_default())
        }
        What::Post(post) => {
            let mut text = format!("after {} {:?}", call(&post.call), post.ended);
            if !post.changed.is_empty() {
                text.push_str(&format!(" changed {:?}", post.changed));
            }
            if post.background.is_some() {
                text.push_str(" goes on in the background");
            }
            text
        }
        What::Prompt { text, from } => {
            format!(
                "{from:?} typed {:?}",
                text.chars().take(40).collect::<String>()
            )
        }
        other => format!("{other:?}"),
    };
    let context = &incoming.context;
    let parent = context
        .parent
        .as_ref()
        .map(|parent| format!(" under {parent}"));
    format!("{}{}: {what}", context.session, parent.unwrap_or_default())
}

fn check(client: Client) {
    let lines: Vec<String> = common::of(client)
        .iter()
        .map(|capture| {
            let incoming = parse(client, &capture.event, &capture.bytes)
                .unwrap_or_else(|error| panic!("{client} {}: {error}", capture.name));
            format!("{}\n    {}", capture.name, shown(&incoming))
        })
        .collect();
    assert!(lines.len() >= 17, "{client}: {}", lines.len());
    insta::assert_snapshot!(format!("captured_{client}"), lines.join("\n"));
}

#[test]
fn claude_code_is_understood() {
    check(Client::ClaudeCode);
}

#[test]
fn codex_is_understood() {
    check(Client::Codex);
}

#[test]
fn gemini_cli_is_understood() {
    check(Client::GeminiCli);
}

#[test]
fn copilot_cli_is_understood_in_both_dialects() {
    check(Client::CopilotCli);
}

#[test]
fn qwen_code_is_understood() {
    check(Client::QwenCode);
}

#[test]
fn cline_is_understood() {
    check(Client::Cline);
}

#[test]
fn factory_droid_is_understood() {
    check(Client::FactoryDroid);
}

#[test]
fn goose_is_understood() {
    check(Client::Goose);
}

#[test]
fn opencode_is_understood() {
    check(Client::Opencode);
}

/// Results of calls of which only the result was kept: a second call of a tool whose first one is
/// there whole.
const RESULTS_ALONE: [(Client, &str); 4] = [
    (Client::ClaudeCode, "PostToolUse-Bash-background"),
    (Client::ClaudeCode, "PostToolUseFailure-Bash"),
    (Client::QwenCode, "PostToolUseFailure-run_shell_command"),
    (Client::Goose, "PostToolUseFailure-shell"),
];

/// A capture's folder, and its name without the event.
fn parts(name: &str) -> (&str, &str) {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    (folder, file.split_once('-').unwrap().1)
}

/// What a client sent after a tool belongs to what it sent before that very call, or is known to
/// stand alone.
#[test]
fn results_find_their_calls() {
    let mut alone = Vec::new();
    for client in Client::ALL {
        let captures = common::of(*client);
        let parsed = captures.iter().map(|capture| {
            let incoming = parse(*client, &capture.event, &capture.bytes).unwrap();
            (capture.name.as_str(), incoming)
        });
        let parsed: Vec<(&str, Incoming)> = parsed.collect();
        for (name, incoming) in &parsed {
            let What::Post(post) = &incoming.what else {
                continue;
            };
            // One run may have been captured in two spellings.
            let open = parsed.iter().filter(|(other, incoming)| {
                let before = incoming.event.kind == tagout_agents::Kind::Pre;
                before && parts(other).0 == parts(name).0
            });
            let open: Vec<_> = open
                .filter_map(|(name, incoming)| match &incoming.what {
                    What::Pre(pre) => Some((*name, pre.key.clone())),
                    _ => None,
                })
                .collect();
            let keys: Vec<_> = open.iter().map(|(_, key)| key.clone()).collect();
            match tagout_agents::pair(&post.key, &keys) {
                Some(at) => assert_eq!(parts(open[at].0), parts(name), "{client} {name}"),
                None => alone.push((*client, (*name).to_owned())),
            }
        }
    }
    let known = RESULTS_ALONE.map(|(client, name)| (client, name.to_owned()));
    assert_eq!(alone, known);
}

/// What nobody asked for is kept.
#[test]
fn unknown_fields_are_kept() {
    let capture = common::of(Client::ClaudeCode)
        .into_iter()
        .find(|capture| capture.name == "PreToolUse-Bash")
        .unwrap();
    let mut payload: Value = serde_json::from_slice(&capture.bytes).unwrap();
    payload["something_new"] = serde_json::json!({ "deep": [1, 2] });
    payload["tool_name"] = Value::from("ToolOfTomorrow");
    let incoming = parse(
        Client::ClaudeCode,
        "PreToolUse",
        payload.to_string().as_bytes(),
    )
    .unwrap();
    assert_eq!(incoming.rest["something_new"]["deep"][1], 2);
    let What::Pre(pre) = &incoming.what else {
        panic!("not before a tool")
    };
    assert_eq!(pre.call.tool, "ToolOfTomorrow");
    assert_eq!(pre.call.arguments.len(), 2);
}

/// Payloads that were not captured, as documentation writes them: those of clients that were never
/// run, and of events that did not come up when the others were.
const DOCUMENTED: &[(Client, &str, &str)] = &[
    (
        Client::Cursor,
        "preToolUse",
        r#"{"tool_name":"Shell","tool_input":{"command":"ls","cwd":"/p"},"tool_use_id":"t1","cwd":"/p"}"#,
    ),
    (
        Client::Cursor,
        "postToolUse",
        r#"{"tool_name":"Shell","tool_input":{"command":"ls"},"tool_use_id":"t1","tool_output":"a","duration":3}"#,
    ),
    (
        Client::Cursor,
        "postToolUseFailure",
        r#"{"tool_name":"Write","tool_input":{"file_path":"a"},"tool_use_id":"t2","error_message":"no","failure_type":"error"}"#,
    ),
    (
        Client::Cursor,
        "beforeShellExecution",
        r#"{"command":"rm x","cwd":"/p","sandbox":false}"#,
    ),
    (
        Client::Cursor,
        "beforeMCPExecution",
        r#"{"tool_name":"echo","tool_input":"{\"text\":\"x\"}","mcp_server_name":"demo","command":"srv"}"#,
    ),
    (
        Client::Cursor,
        "beforeReadFile",
        r#"{"file_path":"/p/.env","content":"S","attachments":[]}"#,
    ),
    (
        Client::Cursor,
        "beforeSubmitPrompt",
        r#"{"prompt":"do it"}"#,
    ),
    (
        Client::Cursor,
        "subagentStart",
        r#"{"subagent_id":"sub1","subagent_type":"x","task":"t","parent_conversation_id":"c1"}"#,
    ),
    (
        Client::Cursor,
        "stop",
        r#"{"status":"completed","loop_count":0}"#,
    ),
    (
        Client::Vscode,
        "PreToolUse",
        r#"{"tool_name":"create_file","tool_input":{"filePath":"/p/a","content":"x"},"tool_use_id":"t1"}"#,
    ),
    (
        Client::Vscode,
        "PostToolUse",
        r#"{"tool_name":"create_file","tool_input":{"filePath":"/p/a"},"tool_use_id":"t1","tool_response":"ok"}"#,
    ),
    (Client::Vscode, "UserPromptSubmit", r#"{"prompt":"do it"}"#),
    (
        Client::Vscode,
        "SubagentStart",
        r#"{"agent_id":"a1","agent_type":"Plan"}"#,
    ),
    (
        Client::Windsurf,
        "pre_read_code",
        r#"{"tool_info":{"file_path":"/p/a"}}"#,
    ),
    (
        Client::Windsurf,
        "pre_write_code",
        r#"{"tool_info":{"file_path":"/p/a","edits":[{"old_string":"a","new_string":"b"}]}}"#,
    ),
    (
        Client::Windsurf,
        "pre_run_command",
        r#"{"tool_info":{"command_line":"make","cwd":"/p"}}"#,
    ),
    (
        Client::Windsurf,
        "post_run_command",
        r#"{"tool_info":{"command_line":"make","cwd":"/p"}}"#,
    ),
    (
        Client::Windsurf,
        "pre_mcp_tool_use",
        r#"{"tool_info":{"mcp_server_name":"s","mcp_tool_name":"t","mcp_tool_arguments":{"a":1}}}"#,
    ),
    (
        Client::Windsurf,
        "pre_user_prompt",
        r#"{"tool_info":{"user_prompt":"do it"}}"#,
    ),
    (
        Client::Kiro,
        "PreToolUse",
        r#"{"tool_name":"execute_bash","tool_input":{"command":"make"}}"#,
    ),
    (
        Client::Kiro,
        "preToolUse",
        r#"{"tool_name":"fs_write","tool_input":{"command":"create","path":"/p/a","file_text":"x"}}"#,
    ),
    (
        Client::Kiro,
        "PostToolUse",
        r#"{"tool_name":"execute_bash","tool_input":{"command":"make"},"tool_response":{"success":true}}"#,
    ),
    (Client::Kiro, "UserPromptSubmit", r#"{"prompt":"do it"}"#),
    (Client::Cursor, "sessionStart", r#"{"session_id":"c1"}"#),
    (Client::Cursor, "sessionEnd", r#"{"session_id":"c1"}"#),
    (
        Client::Cursor,
        "subagentStop",
        r#"{"status":"completed","duration_ms":1,"modified_files":[],"loop_count":0}"#,
    ),
    (Client::Vscode, "SessionStart", "{}"),
    (
        Client::Vscode,
        "SubagentStop",
        r#"{"agent_id":"a1","agent_type":"Plan"}"#,
    ),
    (Client::Vscode, "Stop", "{}"),
    (
        Client::Windsurf,
        "post_read_code",
        r#"{"tool_info":{"file_path":"/p/a"}}"#,
    ),
    (
        Client::Windsurf,
        "post_write_code",
        r#"{"tool_info":{"file_path":"/p/a","edits":[{"old_string":"a","new_string":"b"}]}}"#,
    ),
    (
        Client::Windsurf,
        "post_mcp_tool_use",
        r#"{"tool_info":{"mcp_server_name":"s","mcp_tool_name":"t","mcp_tool_arguments":{"a":1},"mcp_result":"ok"}}"#,
    ),
    (
        Client::Windsurf,
        "post_cascade_response",
        r#"{"tool_info":{"response":"done"}}"#,
    ),
    (Client::Kiro, "SessionStart", "{}"),
    (Client::Kiro, "Stop", "{}"),
    (
        Client::CopilotCli,
        "SubagentStart",
        r#"{"transcript_path":"/t","agent_name":"task","agent_id":"a1","agent_type":"task","parent_agent_id":"s1"}"#,
    ),
    (
        Client::QwenCode,
        "SessionEnd",
        r#"{"permission_mode":"yolo","reason":"other"}"#,
    ),
    (
        Client::Cline,
        "TaskResume",
        r#"{"taskResume":{"taskMetadata":{}}}"#,
    ),
    (Client::Goose, "SubagentStart", "{}"),
    (
        Client::Goose,
        "SubagentStop",
        r#"{"last_assistant_message":"done"}"#,
    ),
    (
        Client::Opencode,
        "session.deleted",
        r#"{"input":{"type":"session.deleted","properties":{"sessionID":"o1","info":{"id":"o1","directory":"/p"}}}}"#,
    ),
];

fn envelope(client: Client) -> &'static str {
    match client {
        Client::Cursor => {
            r#"{"conversation_id":"c1","generation_id":"g","model":"m","hook_event_name":"EVENT","cursor_version":"1.0","workspace_roots":["/p"],"transcript_path":null}"#
        }
        Client::Vscode => {
            r#"{"timestamp":"t","cwd":"/p","sessionId":"s1","hookEventName":"EVENT","transcript_path":"/t"}"#
        }
        Client::Windsurf => {
            r#"{"agent_action_name":"EVENT","trajectory_id":"t1","execution_id":"e1","timestamp":"t","model_name":"m"}"#
        }
        Client::CopilotCli => {
            r#"{"hook_event_name":"EVENT","session_id":"s1","timestamp":"t","cwd":"/p"}"#
        }
        Client::QwenCode => {
            r#"{"session_id":"s1","transcript_path":"/t","cwd":"/p","hook_event_name":"EVENT","timestamp":"t"}"#
        }
        Client::Cline => {
            r#"{"clineVersion":"","timestamp":"t","taskId":"s1","sessionContext":{"rootSessionId":"s1"},"workspaceRoots":["/p"],"workspaceInfo":{"rootPath":"/p"},"userId":"unknown","agent_id":"agent_1","parent_agent_id":null,"hookName":"EVENT"}"#
        }
        Client::Goose => r#"{"event":"EVENT","session_id":"s1","working_dir":"/p"}"#,
        Client::Opencode => r#"{"hook":"EVENT","output":null,"directory":"/p"}"#,
        _ => r#"{"hook_event_name":"EVENT","cwd":"/p","session_id":"k1"}"#,
    }
}

/// What becomes of an envelope, the event's name in it and further fields.
fn documented(client: Client, event: &str, (envelope, wire, fields): (&str, &str, &str)) -> String {
    let whole = envelope.replace("EVENT", wire);
    let mut payload: Value = serde_json::from_str(&whole).unwrap();
    let fields: Value = serde_json::from_str(fields).unwrap();
    payload
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    let incoming = parse(client, event, payload.to_string().as_bytes())
        .unwrap_or_else(|error| panic!("{client} {event}: {error}"));
    format!("{event}\n    {}", shown(&incoming))
}

#[test]
fn documented_payloads_are_understood() {
    let lines: Vec<String> = DOCUMENTED
        .iter()
        .map(|(client, event, fields)| {
            let wire = client.event(event).unwrap().wire;
            documented(*client, event, (envelope(*client), wire, fields))
        })
        .collect();
    insta::assert_snapshot!("documented", lines.join("\n"));
}

/// Other spellings of events that were captured, as documentation writes them: those of the
/// editor's extension of a client whose command line was run.
const OTHER_SPELLINGS: &[(Client, &str, &str)] = &[
    (
        Client::Cline,
        "PreToolUse",
        r#"{"preToolUse":{"toolName":"write_to_file","parameters":{"path":"src/a.txt","content":"x"}}}"#,
    ),
    (
        Client::Cline,
        "PreToolUse",
        r#"{"preToolUse":{"toolName":"execute_command","parameters":{"command":"make","requires_approval":"false"}}}"#,
    ),
    (
        Client::Cline,
        "PostToolUse",
        r#"{"postToolUse":{"toolName":"write_to_file","parameters":{"path":"src/a.txt","content":"x"},"result":"done","success":true,"executionTimeMs":3}}"#,
    ),
    (
        Client::Cline,
        "PostToolUse",
        r#"{"postToolUse":{"toolName":"execute_command","parameters":{"command":"make"},"result":"no","success":false,"executionTimeMs":3}}"#,
    ),
    (
        Client::Cline,
        "UserPromptSubmit",
        r#"{"userPromptSubmit":{"prompt":"do it","attachments":[]}}"#,
    ),
];

/// The event is spelled as it is configured, and there is no agent's id.
const OTHER_ENVELOPE: &str = r#"{"clineVersion":"3.36.0","hookName":"EVENT","timestamp":"1736654400000","taskId":"t1","workspaceRoots":["/p"],"userId":"u1"}"#;

#[test]
fn other_spellings_are_understood() {
    let lines: Vec<String> = OTHER_SPELLINGS
        .iter()
        .map(|(client, event, fields)| documented(*client, event, (OTHER_ENVELOPE, event, fields)))
        .collect();
    insta::assert_snapshot!("other_spellings", lines.join("\n"));
}

/// Line 1 of what hooks must show: no event that `install` registers is without a payload, captured
/// or at least documented.
#[test]
fn every_registered_event_has_a_payload() {
    for client in Client::ALL {
        let captures = common::of(*client);
        let missing: Vec<&str> = client
            .registered()
            .map(|event| event.name)
            .filter(|name| !captures.iter().any(|capture| capture.event == *name))
            .filter(|name| {
                let mut documented = DOCUMENTED.iter();
                !documented.any(|(whose, event, _)| whose == client && event == name)
            })
            .collect();
        assert!(missing.is_empty(), "{client} has no payload of {missing:?}");
    }
}

/// What was captured is shown as such: nothing stands in both lists.
#[test]
fn documented_payloads_were_not_captured() {
    for (client, event, _) in DOCUMENTED {
        let captures = common::of(*client);
        let is_known = captures.iter().any(|capture| capture.event == *event);
        assert!(!is_known, "{client} {event} was captured");
    }
}
