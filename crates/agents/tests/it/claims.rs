//! The client and the event on the command line are claims, and the payload has to bear them out.

use tagout_agents::{AgentError, Client, Kind, parse, parse_shared, recognise};

use crate::common;

/// No call of one client is read as another's.
#[test]
fn a_call_of_one_client_is_no_call_of_another() {
    let mut checked = 0;
    for capture in common::all() {
        for other in Client::ALL.iter().filter(|other| **other != capture.client) {
            for event in other.events().filter(|event| event.kind.is_tool()) {
                let parsed = parse(*other, event.name, &capture.bytes);
                let claim = format!(
                    "{} {} as {other} {}",
                    capture.client, capture.name, event.name
                );
                assert!(parsed.is_err(), "{claim}");
                checked += 1;
            }
        }
    }
    assert!(checked > 5_000, "{checked}");
}

/// What comes after a tool is not taken for what comes before, nor the other way round.
#[test]
fn an_event_is_not_taken_for_another() {
    for capture in common::all() {
        let own = capture.client.event(&capture.event).unwrap();
        for event in capture
            .client
            .events()
            .filter(|event| event.name != own.name)
        {
            let parsed = parse(capture.client, event.name, &capture.bytes);
            // One dialect does not name its events; there the result alone tells them apart.
            let silent = capture.name.starts_with("camelCase/");
            let confusable = silent && !(own.kind == Kind::Post && event.kind == Kind::Pre);
            if !confusable {
                assert!(
                    parsed.is_err(),
                    "{} {} as {}",
                    capture.client,
                    capture.name,
                    event.name
                );
            }
        }
    }
}

/// A mismatch names the client whose payload it is.
#[test]
fn a_mismatch_names_the_other_client() {
    let mut named = 0;
    for capture in common::all() {
        let kind = capture.client.event(&capture.event).unwrap().kind;
        if kind != Kind::Pre {
            continue;
        }
        assert_eq!(
            recognise(&capture.bytes),
            Some(capture.client),
            "{}",
            capture.name
        );
        let other = if capture.client == Client::Goose {
            Client::Codex
        } else {
            Client::Goose
        };
        match parse(other, "PreToolUse", &capture.bytes) {
            Err(AgentError::Mismatch { found, .. }) => {
                assert_eq!(found, Some(capture.client));
                named += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(named > 70, "{named}");
}

/// Names are unique, and every client can be told «no» before a tool.
#[test]
fn the_tables_are_sound() {
    for client in Client::ALL {
        assert_eq!(Client::named(client.as_str()), Some(*client));
        let names: Vec<&str> = client.events().map(|event| event.name).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{client} {name} twice");
        }
        let mut pre = client.registered().filter(|event| event.kind == Kind::Pre);
        assert!(
            pre.next().is_some_and(tagout_agents::Event::can_block),
            "{client}"
        );
        for event in client.registered() {
            assert!(client.watchdog_ms(event) < event.wait_ms.unwrap());
        }
        for shared in client.profile().shares {
            assert!(Client::named(shared).unwrap().reads_hooks_of(*client));
        }
    }
    assert_eq!(Client::named("no-such-client"), None);
}

/// A client that reads another's hook files is governed in its own dialect; one that does not is
/// refused.
#[test]
fn readers_of_the_same_files_are_governed() {
    let copilot = common::of(Client::CopilotCli)
        .into_iter()
        .find(|capture| capture.name == "PascalCase/PreToolUse-Bash")
        .unwrap();
    let read = |claimed: Client| parse_shared(claimed, "PreToolUse", &copilot.bytes);
    assert_eq!(read(Client::ClaudeCode).unwrap().client, Client::CopilotCli);
    assert_eq!(read(Client::CopilotCli).unwrap().client, Client::CopilotCli);
    for stranger in [
        Client::Codex,
        Client::QwenCode,
        Client::FactoryDroid,
        Client::Goose,
    ] {
        assert!(read(stranger).is_err(), "{stranger}");
    }
    let editor = serde_json::json!({
        "timestamp": "t", "cwd": "/p", "sessionId": "s", "hookEventName": "PreToolUse",
        "transcript_path": "/t", "tool_name": "run_in_terminal", "tool_use_id": "u",
        "tool_input": {"command": "ls"}
    });
    let editor = editor.to_string();
    for claimed in [Client::CopilotCli, Client::ClaudeCode, Client::Vscode] {
        let incoming = parse_shared(claimed, "PreToolUse", editor.as_bytes()).unwrap();
        assert_eq!(incoming.client, Client::Vscode);
        assert_eq!(incoming.event.name, "PreToolUse");
    }
    let cursor = serde_json::json!({
        "conversation_id": "c", "generation_id": "g", "hook_event_name": "preToolUse",
        "cursor_version": "1", "workspace_roots": ["/p"], "tool_name": "Shell",
        "tool_input": {"command": "ls"}, "tool_use_id": "u"
    });
    let incoming = parse_shared(
        Client::ClaudeCode,
        "PreToolUse",
        cursor.to_string().as_bytes(),
    )
    .unwrap();
    assert_eq!(
        (incoming.client, incoming.event.name),
        (Client::Cursor, "preToolUse")
    );
    assert_eq!(incoming.context.cwd, "/p");
    // What comes after a tool is not let through as what comes before.
    let late = editor.replace("PreToolUse", "PostToolUse");
    assert!(parse_shared(Client::CopilotCli, "PreToolUse", late.as_bytes()).is_err());
}
