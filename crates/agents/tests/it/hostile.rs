//! Whatever arrives: no panic, an error, and an error's answer is a denial.

use proptest::prelude::*;
use tagout_agents::{Client, Kind, Reply, parse, strongest_denial};

use crate::behaviour::{is_denial, some_form_denies};
use crate::common;

fn pre(client: Client) -> impl Iterator<Item = &'static str> {
    client
        .events()
        .filter(|event| event.kind == Kind::Pre)
        .map(|event| event.name)
}

fn refused(client: Client, event: &str, bytes: &[u8]) -> Reply {
    let error = parse(client, event, bytes).unwrap_err();
    let reply = strongest_denial(client, event, &error.to_string());
    assert!(
        is_denial(client, event, &reply),
        "{client} {event} {reply:?}"
    );
    reply
}

/// A payload that is cut off anywhere is refused.
#[test]
fn truncated_payloads_are_refused() {
    for client in Client::ALL {
        let captures = common::of(*client);
        let found = captures
            .iter()
            .find(|capture| client.event(&capture.event).unwrap().kind == Kind::Pre);
        let Some(capture) = found else { continue };
        let whole = capture.bytes.trim_ascii_end();
        assert!(parse(*client, &capture.event, whole).is_ok());
        for end in 0..whole.len() {
            refused(*client, &capture.event, &whole[..end]);
        }
    }
}

/// The same key twice, garbage behind the payload, deep nesting, too many values and too many
/// bytes are refused.
#[test]
fn malformed_payloads_are_refused() {
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    let deeper = "[".repeat(1_000_000);
    let many = format!(r#"{{"a":[{}0]}}"#, "0,".repeat(500_000));
    let huge = vec![b' '; 64 * 1024 * 1024 + 1];
    let cases: &[&[u8]] = &[
        b"",
        b"   ",
        b"null",
        b"[]",
        b"\"text\"",
        b"{}",
        b"{\"a\":1}{",
        b"{\"a\":\"\xff\"}",
        b"{\"a\":\"\\ud800\"}",
        b"{\"session_id\":\"a\",\"session_id\":\"b\"}",
        deep.as_bytes(),
        deeper.as_bytes(),
        many.as_bytes(),
        &huge,
    ];
    for client in Client::ALL {
        let event = pre(*client).next().unwrap();
        for case in cases {
            refused(*client, event, case);
        }
    }
}

/// A repeated key is refused wherever it stands, because readers differ in which one counts.
#[test]
fn repeated_keys_are_refused_at_any_depth() {
    for capture in common::all() {
        let event = capture.client.event(&capture.event).unwrap();
        if event.kind != Kind::Pre {
            continue;
        }
        let text = String::from_utf8(capture.bytes.clone()).unwrap();
        // The arguments' opening bracket is the last one before their first key.
        let Some(at) = text
            .find("\"command\"")
            .or_else(|| text.find("\"pattern\""))
        else {
            continue;
        };
        let key = text[at..].split(':').next().unwrap();
        let twice = format!("{}{key}: \"harmless\", {}", &text[..at], &text[at..]);
        refused(capture.client, &capture.event, twice.as_bytes());
    }
}

/// An event or client that nobody knows is denied as well.
#[test]
fn unknown_events_are_denied() {
    for client in Client::ALL {
        assert!(parse(*client, "NoSuchEvent", b"{}").is_err());
        let reply = strongest_denial(*client, "NoSuchEvent", "no such event");
        let event = pre(*client).next().unwrap();
        assert!(is_denial(*client, event, &reply), "{client} {reply:?}");
    }
    for client in Client::ALL {
        let reply = tagout_agents::denial_for_anyone("");
        assert!(some_form_denies(*client, &reply), "{client} {reply:?}");
        assert!(!reply.stderr.is_empty());
    }
}

/// One client forgets to escape control characters; its payloads are understood all the same.
#[test]
fn raw_control_characters_are_repaired_where_they_were_seen() {
    let text = "{\"agent_action_name\":\"pre_run_command\",\"trajectory_id\":\"t\",\
                \"tool_info\":{\"command_line\":\"echo \\\"a\nb\\\"\",\"cwd\":\"/x\"}}";
    let incoming = parse(Client::Windsurf, "pre_run_command", text.as_bytes()).unwrap();
    assert_eq!(incoming.context.cwd, "/x");
    refused(Client::Kiro, "PreToolUse", text.as_bytes());
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?[0-9]{1,25}(\\.[0-9]{1,3})?(e[0-9]{1,3})?",
        "\"[ -!#-\\[\\]-~]{0,8}\"",
    ];
    let key = prop_oneof![
        Just("tool_name"),
        Just("tool_input"),
        Just("session_id"),
        Just("hook_event_name"),
        Just("hookName"),
        Just("event"),
        Just("toolArgs"),
        Just("input"),
        Just("output"),
        Just("tool_call"),
        Just("hook"),
        Just("tool_info"),
        Just("cwd"),
        Just("timestamp"),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|entries| {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| format!("\"{key}\":{value}"))
                    .collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Arbitrary bytes are refused, and the refusal is a denial.
    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for client in Client::ALL {
            for event in pre(*client) {
                refused(*client, event, &bytes);
            }
        }
    }

    /// JSON with the right keys in the wrong places does not panic; what is understood has a tool.
    #[test]
    fn arbitrary_json_does_not_panic(text in json()) {
        for client in Client::ALL {
            for event in client.events() {
                if let Err(error) = parse(*client, event.name, text.as_bytes()) {
                    let reply = strongest_denial(*client, event.name, &error.to_string());
                    prop_assert_ne!(reply.exit_code, 1);
                }
            }
        }
    }

    /// A captured payload with bytes changed is understood or refused.
    #[test]
    fn damaged_payloads_do_not_panic(
        pick in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let all = common::all();
        let capture = pick.get(&all);
        let mut bytes = capture.bytes.clone();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Err(error) = parse(capture.client, &capture.event, &bytes) {
            let event = capture.client.event(&capture.event).unwrap();
            let reply = strongest_denial(capture.client, event.name, &error.to_string());
            if event.kind == Kind::Pre {
                prop_assert!(is_denial(capture.client, event.name, &reply));
            }
        }
    }

    /// Whatever the reason says, it is a denial of one whole line.
    #[test]
    fn any_reason_denies(reason in any::<String>()) {
        for client in Client::ALL {
            for event in pre(*client) {
                let reply = strongest_denial(*client, event, &reason);
                prop_assert!(is_denial(*client, event, &reply), "{} {} {:?}", client, event, reply);
            }
        }
    }
}
