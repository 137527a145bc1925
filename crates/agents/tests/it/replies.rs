//! What each client reads for each answer, side by side.

use serde_json::Map;
use tagout_agents::{Answer, Client, Reply, reply, strongest_denial};

fn answers() -> Vec<(&'static str, Answer)> {
    let mut arguments = Map::new();
    arguments.insert("command".to_owned(), "tagout exec -- ls".into());
    vec![
        ("no decision", Answer::NoDecision),
        (
            "allow",
            Answer::Allow {
                reason: "WHY".to_owned(),
            },
        ),
        ("rewrite", Answer::rewritten(arguments)),
        (
            "ask",
            Answer::Ask {
                reason: "WHY".to_owned(),
                remedy: "HOW".to_owned(),
            },
        ),
        (
            "deny",
            Answer::Deny {
                reason: "WHY".to_owned(),
                remedy: "HOW".to_owned(),
            },
        ),
        (
            "context",
            Answer::Context {
                text: "TEXT".to_owned(),
            },
        ),
    ]
}

fn shown(reply: &Reply) -> String {
    let out = reply.stdout.as_deref().map(String::from_utf8_lossy);
    let out = out
        .map(|out| format!(" out {}", out.trim_end()))
        .unwrap_or_default();
    let err = match reply.stderr.as_str() {
        "" => String::new(),
        text => format!(" err {text:?}"),
    };
    format!("exit {}{out}{err}", reply.exit_code)
}

/// The answers of every event of every client.
#[test]
fn answers_of_every_event() {
    for client in Client::ALL {
        let mut lines = Vec::new();
        for event in client.events() {
            lines.push(event.name.to_owned());
            for (name, answer) in answers() {
                lines.push(format!(
                    "    {name}: {}",
                    shown(&reply(*client, event, &answer))
                ));
            }
            let strongest = strongest_denial(*client, event.name, "WHY");
            lines.push(format!("    strongest: {}", shown(&strongest)));
        }
        insta::assert_snapshot!(format!("answers_{client}"), lines.join("\n"));
    }
}
