//! The call that nobody made: every client's hook is found in its configuration, gets a payload
//! that is its own, and its denial is known as one.

use std::collections::BTreeSet;

use serde_json::Value;
use tagout_agents::install::plan::Scope;
use tagout_agents::install::{
    Registered, Texts, canary, files, install_plan, is_denial, is_sandboxed, registered,
};
use tagout_agents::{Client, What, parse, strongest_denial};

use crate::common;
use crate::install::{apply, binary};

/// The client whose dialect is tried: the hooks of one stand in another's files.
fn host(client: Client) -> Client {
    let through = client.profile().install.through.and_then(Client::named);
    through.unwrap_or(client)
}

/// What clients that were never captured send before the tool that is tried, by their documents.
const DOCUMENTED: [(Client, &[&str]); 4] = [
    (
        Client::Cursor,
        &[
            "conversation_id",
            "cursor_version",
            "cwd",
            "generation_id",
            "hook_event_name",
            "model",
            "tool_input",
            "tool_name",
            "tool_use_id",
            "transcript_path",
            "workspace_roots",
        ],
    ),
    (
        Client::Vscode,
        &[
            "cwd",
            "hook_event_name",
            "session_id",
            "sessionId",
            "timestamp",
            "tool_input",
            "tool_name",
            "tool_use_id",
            "transcript_path",
        ],
    ),
    (
        Client::Windsurf,
        &[
            "agent_action_name",
            "execution_id",
            "model_name",
            "timestamp",
            "tool_info",
            "tool_info.mcp_server_name",
            "tool_info.mcp_tool_arguments",
            "tool_info.mcp_tool_name",
            "trajectory_id",
        ],
    ),
    (
        Client::Kiro,
        &[
            "cwd",
            "hook_event_name",
            "session_id",
            "tool_input",
            "tool_name",
        ],
    ),
];

/// The ways to everything in a payload, but for what is in the arguments of a tool.
fn ways(value: &Value, way: &str, into: &mut BTreeSet<String>) {
    let Value::Object(map) = value else {
        return;
    };
    for (key, inner) in map {
        let way = if way.is_empty() {
            key.clone()
        } else {
            format!("{way}.{key}")
        };
        into.insert(way.clone());
        ways(inner, &way, into);
    }
}

/// A canary has no key that the client does not send with that event: else it would prove what no
/// real call shows.
#[test]
fn a_canary_sends_what_its_client_does() {
    for client in Client::ALL {
        let canary = canary(*client, "/home/dev/project").unwrap();
        let mut seen = BTreeSet::new();
        for capture in common::of(host(*client)) {
            if capture.event == canary.event {
                ways(
                    &serde_json::from_slice(&capture.bytes).unwrap(),
                    "",
                    &mut seen,
                );
            }
        }
        let documented = DOCUMENTED.iter().find(|(one, _)| *one == host(*client));
        let documented = documented.map_or(&[][..], |(_, keys)| keys);
        seen.extend(documented.iter().map(|key| (*key).to_owned()));
        // The plugin that `install` writes adds the folder.
        if *client == Client::Opencode {
            seen.extend(["directory", "hook"].map(str::to_owned));
        }
        let mut sent = BTreeSet::new();
        ways(
            &serde_json::from_slice(&canary.payload).unwrap(),
            "",
            &mut sent,
        );
        let more: Vec<&String> = sent.difference(&seen).collect();
        assert!(more.is_empty(), "{client} never sends {more:?}");
    }
}

/// Every client's canary is read as a call before a tool, in the folder that was named.
#[test]
fn a_canary_is_a_call_of_its_client() {
    for client in Client::ALL {
        let canary = canary(*client, "/home/dev/project").unwrap();
        let read = parse(host(*client), canary.event, &canary.payload);
        let shown = String::from_utf8_lossy(&canary.payload);
        let read = read.unwrap_or_else(|error| panic!("{client}: {error}: {shown}"));
        assert!(matches!(read.what, What::Pre(_)), "{client}: {read:?}");
        // One client tells the folder with commands alone.
        let told = if *client == Client::Windsurf {
            ""
        } else {
            "/home/dev/project"
        };
        assert_eq!(read.context.cwd, told, "{client}");
        assert!(read.context.session.as_str().contains("tagout_canary"));
    }
}

/// What is registered is read back from the file, in every scope.
#[test]
fn the_registered_command_is_found() {
    for client in Client::ALL {
        for scope in Scope::ALL {
            let Ok(places) = files(*client, scope) else {
                continue;
            };
            assert_eq!(registered(*client, scope, &Texts::new()), None, "{client}");
            let edits = install_plan(*client, scope, &binary(), &Texts::new()).unwrap();
            let there = apply(&Texts::new(), &edits);
            let event = canary(*client, "/").unwrap().event;
            match registered(*client, scope, &there).unwrap() {
                Registered::Words(words) => {
                    assert_eq!(words[0], "/opt/tag out/tagout", "{client}");
                    assert_eq!(words[1], "hook", "{client}");
                    assert!(words.contains(&event.to_owned()), "{client} {words:?}");
                    assert_eq!(words[words.len() - 2], "--state-dir", "{client}");
                }
                Registered::Line(line) => {
                    assert!(
                        line.contains(&format!("--event {event} ")),
                        "{client} {line}"
                    );
                    assert!(line.contains("exit 2"), "{client}: closed");
                }
                Registered::File(place) => assert!(places.contains(&place), "{client}"),
            }
        }
    }
}

/// The strongest denial of each client is known as one; silence and consent are not.
#[test]
fn denials_are_known() {
    for client in Client::ALL {
        let event = canary(*client, "/").unwrap().event;
        let reply = strongest_denial(host(*client), event, "no");
        let stdout = reply.stdout.unwrap_or_default();
        let code = Some(i32::from(reply.exit_code));
        let denied = is_denial(*client, code, &stdout, reply.stderr.as_bytes());
        assert!(denied, "{client}");
        assert!(!is_denial(*client, Some(0), b"", b""), "{client}");
        assert!(!is_denial(*client, Some(1), b"{", b"panicked"), "{client}");
        let none = b"{\"decision\": \"none\"}";
        assert!(!is_denial(*client, None, none, b""), "{client}");
    }
}

/// A client's own sandbox is seen in its settings.
#[test]
fn own_sandboxes_are_seen() {
    let with = |client: Client, path: &str, text: &str| {
        let places = tagout_agents::install::places(client);
        let place = places.into_iter().find(|place| place.path == path).unwrap();
        is_sandboxed(client, &Texts::from([(place, text.to_owned())]))
    };
    let bare = |client| is_sandboxed(client, &Texts::new());
    assert!(bare(Client::Codex) && !bare(Client::ClaudeCode) && !bare(Client::Goose));
    let config = ".codex/config.toml";
    assert!(!with(
        Client::Codex,
        config,
        "sandbox_mode = \"danger-full-access\"\n"
    ));
    assert!(with(
        Client::Codex,
        config,
        "sandbox_mode = \"read-only\"\n"
    ));
    let on = "{\"sandbox\": {\"enabled\": true}}";
    assert!(with(Client::ClaudeCode, ".claude/settings.json", on));
    let settings = ".gemini/settings.json";
    let docker = "{\"tools\": {\"sandbox\": \"docker\"}}";
    assert!(with(Client::GeminiCli, settings, docker));
    let off = "{\"tools\": {\"sandbox\": false}}";
    assert!(!with(Client::GeminiCli, settings, off));
}
