//! Every captured payload becomes the call or the event that it is.

use serde_json::Value;
use tagout_agents::{Client, Incoming, What, parse};
use tagout_vocab::{Call, Origin};

use crate::common;

fn call(call: &Call) -> String {
    let origin = match &call.origin {
        Origin::Mcp { server } => format!("{server}/"),
        Origin::Native | Origin::Custom | Origin::Client { .. } => String::new(),
    };
    let mut arguments = Value::Object(call.arguments.clone()).to_string();
    if arguments.len() > 150 {
        arguments = arguments.chars().take(150).chain("…".chars()).collect();
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

/// What a client sent after a tool belongs to what it sent before it.
#[test]
fn results_find_their_calls() {
    let mut pairs = 0;
    for client in Client::ALL {
        let parsed: Vec<Incoming> = common::of(*client)
            .iter()
            .map(|capture| parse(*client, &capture.event, &capture.bytes).unwrap())
            .collect();
        let open: Vec<_> = parsed
            .iter()
            .filter_map(|incoming| match &incoming.what {
                What::Pre(pre) if incoming.event.kind == tagout_agents::Kind::Pre => Some(&pre.key),
                _ => None,
            })
            .cloned()
            .collect();
        for incoming in &parsed {
            let What::Post(post) = &incoming.what else {
                continue;
            };
            let Some(at) = tagout_agents::pair(&post.key, &open) else {
                continue;
            };
            assert_eq!(open[at].tool, post.key.tool);
            pairs += 1;
        }
    }
    assert!(pairs > 60, "{pairs}");
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
