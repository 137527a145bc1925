//! What clients did with each kind of answer, as it was measured, against the answers given here.
//!
//! The measured tables name what the hook did (`exit2_stderr`, `json_deny` …) and whether the tool
//! ran. Each answer is taken apart into the same words, so that «this is a denial» is what a client
//! showed and not what somebody believes.

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use serde_json::Value;
use tagout_agents::profile::{Ask, Deny, Rewrite};
use tagout_agents::{Answer, Client, Kind, Reply, reply, strongest_denial};

use crate::common;

static MEASURED: LazyLock<BTreeMap<Client, Value>> = LazyLock::new(|| {
    let read = |client: &Client| {
        let short = client.as_str().split('-').find(|part| *part != "factory")?;
        let path = common::folder().join(format!("behaviour-{short}-b.json"));
        let text = fs::read_to_string(path).ok()?;
        Some((*client, serde_json::from_str(&text).unwrap()))
    };
    let tables: BTreeMap<Client, Value> = Client::ALL.iter().filter_map(read).collect();
    assert_eq!(tables.len(), 8);
    tables
});

/// The measured tables.
fn measured(client: Client) -> Option<&'static Value> {
    MEASURED.get(&client)
}

/// Whether the tool ran; rewritten tools ran too.
fn ran(table: &Value, row: &str) -> Option<bool> {
    let row = table.get(row)?;
    Some(row["ran"] == true || row["rewritten"] == true)
}

fn stdout(reply: &Reply) -> Option<Value> {
    let bytes = reply.stdout.as_ref()?;
    assert_eq!(
        bytes.iter().filter(|byte| **byte == b'\n').count(),
        1,
        "one line"
    );
    assert!(bytes.ends_with(b"}\n"), "one whole object");
    Some(serde_json::from_slice(bytes).unwrap())
}

/// What a reply does, in the words of the measured tables: any of these alone would decide.
fn rows(client: Client, reply: &Reply) -> Vec<&'static str> {
    let mut rows = Vec::new();
    let has_text = !reply.stderr.trim().is_empty();
    match (reply.exit_code, has_text) {
        (2, true) => rows.push("exit2_stderr"),
        (2, false) => rows.push("exit2_silent"),
        _ => {}
    }
    let Some(value) = stdout(reply) else {
        return rows;
    };
    let specific = &value["hookSpecificOutput"];
    let decision = specific["permissionDecision"].as_str();
    match decision.or(value["permissionDecision"].as_str()) {
        Some("deny") => rows.push("json_deny"),
        Some("ask") => rows.push("json_ask"),
        Some("allow") if specific.get("updatedInput").is_some() => rows.push("updated_allow"),
        Some(_) => rows.push("json_allow"),
        None if specific.get("updatedInput").is_some() => rows.push("updated_nodecision"),
        None => {}
    }
    if specific.get("tool_input").is_some() {
        rows.push("updated");
    }
    if value.get("modifiedArgs").is_some() {
        rows.push("modifiedArgs_nodecision");
    }
    if value.get("overrideInput").is_some() {
        rows.push("overrideInput");
    }
    match value["decision"].as_str() {
        Some("block") if client == Client::Goose => rows.push("decision_block"),
        Some("block") => rows.push("legacy_block"),
        Some("deny") => rows.push("json_deny"),
        _ => {}
    }
    if value["cancel"] == true {
        rows.push("cancel");
    }
    rows
}

/// Whether a client that was measured blocks, or one that was read would.
pub(crate) fn is_denial(client: Client, _event: &str, reply: &Reply) -> bool {
    if reply.exit_code == 1 {
        return false;
    }
    let Some(table) = measured(client) else {
        return is_denial_by_documents(client, reply);
    };
    let rows = rows(client, reply);
    let decided: Vec<bool> = rows.iter().filter_map(|row| ran(table, row)).collect();
    !decided.is_empty() && decided.iter().all(|ran| !ran)
}

/// Whether one of the forms of a denial that is said in every form is one that the client obeys.
/// The others are words that it does not know.
pub(crate) fn some_form_denies(client: Client, reply: &Reply) -> bool {
    let Some(table) = measured(client) else {
        return is_denial_by_documents(client, reply) || reply.exit_code == 2;
    };
    let rows = rows(client, reply);
    rows.iter()
        .filter_map(|row| ran(table, row))
        .any(|ran| !ran)
}

fn is_denial_by_documents(client: Client, reply: &Reply) -> bool {
    let value = stdout(reply);
    let says = |key: &str, word: &str| value.as_ref().is_some_and(|value| value[key] == word);
    let coded = reply.exit_code == 2 && !reply.stderr.is_empty();
    match client {
        Client::Cursor => says("permission", "deny") || coded,
        Client::Opencode => says("decision", "deny"),
        _ => coded,
    }
}

fn deny() -> Answer {
    Answer::Deny {
        reason: "out of scope".to_owned(),
        remedy: "select an intent".to_owned(),
    }
}

fn ask() -> Answer {
    Answer::Ask {
        reason: "this can't be undone".to_owned(),
        remedy: String::new(),
    }
}

/// An ordinary denial, the strongest one and a question where nobody can be asked all stop the
/// tool, on every client, by what that client was seen to do.
#[test]
fn denials_are_what_each_client_obeys() {
    for client in Client::ALL {
        for event in client.events().filter(|event| event.kind == Kind::Pre) {
            let name = event.name;
            let plain = reply(*client, event, &deny());
            assert!(
                is_denial(*client, name, &plain),
                "{client} {name} {plain:?}"
            );
            let strongest = strongest_denial(*client, name, "panicked");
            assert!(
                is_denial(*client, name, &strongest),
                "{client} {name} {strongest:?}"
            );
            let asked = reply(*client, event, &ask());
            match event.powers.ask {
                Ask::Runs => assert!(is_denial(*client, name, &asked), "{client} {asked:?}"),
                Ask::Asks => assert!(!is_denial_by_code(&asked), "{client} {asked:?}"),
            }
        }
    }
}

fn is_denial_by_code(reply: &Reply) -> bool {
    reply.exit_code != 0
}

/// Where a question is passed on as one, the client was seen to refuse when nobody is there.
#[test]
fn questions_are_asked_only_where_they_do_not_mean_yes() {
    let mut checked = 0;
    for client in Client::ALL {
        let Some(table) = measured(*client) else {
            continue;
        };
        let rows = [
            "json_ask",
            "json_ask_bypass",
            "json_ask_allowall",
            "json_ask_yolo",
            "claude_ask",
            "review",
        ];
        let runs = rows.iter().filter_map(|row| ran(table, row)).any(|ran| ran);
        for event in client.events().filter(|event| event.kind == Kind::Pre) {
            if runs {
                assert_eq!(event.powers.ask, Ask::Runs, "{client} {}", event.name);
            }
            checked += 1;
        }
    }
    assert!(checked >= 8, "{checked}");
}

/// Other arguments are sent only where they were seen to count, and in the form in which they did.
#[test]
fn rewriting_is_used_only_where_it_was_seen_to_work() {
    let mut arguments = serde_json::Map::new();
    arguments.insert("command".to_owned(), Value::from("touch rewritten"));
    let answer = Answer::rewritten(arguments);
    for client in Client::ALL {
        let Some(table) = measured(*client) else {
            continue;
        };
        let event = client
            .registered()
            .find(|event| event.kind == Kind::Pre)
            .unwrap();
        let said = reply(*client, event, &answer);
        if event.powers.rewrite == Rewrite::Never {
            assert!(is_denial(*client, event.name, &said), "{client} {said:?}");
            continue;
        }
        let rows = rows(*client, &said);
        let worked = rows.iter().filter_map(|row| table.get(row)).any(|row| row["rewritten"] == true)
            // The other dialect's row; this one was measured as well.
            || table.get("pascal_updatedInput").is_some_and(|row| row["rewritten"] == true);
        assert!(worked, "{client} {rows:?}");
    }
}

/// Text for the model goes beside other arguments where the event takes both, and changes nothing
/// of them; where it takes no text, it is as if there were none.
#[test]
fn context_goes_beside_a_rewrite() {
    let mut arguments = serde_json::Map::new();
    arguments.insert("command".to_owned(), Value::from("ls"));
    let mut together = Vec::new();
    for client in Client::ALL {
        for event in client.events() {
            let plain = reply(*client, event, &Answer::rewritten(arguments.clone()));
            let answer = Answer::AllowRewritten {
                arguments: arguments.clone(),
                context: Some("TEXT".to_owned()),
            };
            let said = reply(*client, event, &answer);
            let takes = event.powers.context && event.powers.rewrite != Rewrite::Never;
            if !takes {
                assert_eq!(said, plain, "{client} {}", event.name);
                continue;
            }
            let (mut whole, plain) = (stdout(&said).unwrap(), stdout(&plain).unwrap());
            together.push(format!("{client} {} {whole}", event.name));
            let inner = whole.get_mut("hookSpecificOutput");
            let told = inner.and_then(|inner| inner.as_object_mut()?.remove("additionalContext"));
            let top = whole.as_object_mut().unwrap();
            let keys = [
                "additionalContext",
                "contextModification",
                "additional_context",
            ];
            let told = told.or_else(|| keys.iter().find_map(|key| top.remove(*key)));
            assert_eq!(told, Some(Value::from("TEXT")), "{client} {}", event.name);
            assert_eq!(whole, plain, "{client} {}", event.name);
        }
    }
    insta::assert_snapshot!(together.join("\n"), @r#"
    claude-code PreToolUse {"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"},"additionalContext":"TEXT"}}
    codex PreToolUse {"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"},"permissionDecision":"allow","additionalContext":"TEXT"}}
    copilot-cli PreToolUse {"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"},"additionalContext":"TEXT"}}
    copilot-cli preToolUse {"modifiedArgs":{"command":"ls"},"additionalContext":"TEXT"}
    cline PreToolUse {"cancel":false,"overrideInput":{"command":"ls"},"contextModification":"TEXT"}
    cursor preToolUse {"permission":"allow","updated_input":{"command":"ls"},"additional_context":"TEXT"}
    vscode PreToolUse {"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"},"additionalContext":"TEXT"}}
    "#);
}

/// «No decision» decides nothing: what was seen to pre-approve is not sent.
#[test]
fn no_decision_leaves_the_client_its_own_rules() {
    for client in Client::ALL {
        for event in client.events() {
            let said = reply(*client, event, &Answer::NoDecision);
            assert_eq!(said.exit_code, 0);
            assert_eq!(said.stderr, "");
            if let Some(value) = stdout(&said) {
                assert!(value.get("hookSpecificOutput").is_none());
                assert!(value.get("permissionDecision").is_none());
            }
        }
    }
}

/// Half an answer is consent on most clients, so every answer is one whole object; and code 1 is.
#[test]
fn every_answer_is_whole() {
    let answers = [
        Answer::NoDecision,
        Answer::Allow {
            reason: "r".to_owned(),
        },
        Answer::AllowRewritten {
            arguments: serde_json::Map::new(),
            context: Some("c".repeat(100_000)),
        },
        ask(),
        deny(),
        Answer::Deny {
            reason: String::new(),
            remedy: String::new(),
        },
        Answer::Deny {
            reason: "x\u{1b}[2J\0".repeat(100_000),
            remedy: "y".repeat(100_000),
        },
        Answer::Context {
            text: "c".repeat(100_000),
        },
    ];
    for client in Client::ALL {
        for event in client.events() {
            for answer in &answers {
                let said = reply(*client, event, answer);
                assert!(said.exit_code == 0 || said.exit_code == 2);
                assert!(said.stderr.len() < 32 * 1024 && !said.stderr.contains('\u{1b}'));
                let bytes = said.stdout.clone().unwrap_or_default();
                assert!(bytes.len() < 64 * 1024, "it fits into a pipe");
                if event.form != tagout_agents::profile::Form::ExitAndPrint {
                    stdout(&said);
                }
                if event.powers.deny == Deny::Nothing {
                    assert_eq!(said.exit_code, 0, "{client} {}", event.name);
                }
            }
        }
    }
}

/// A reason on standard error is words. One client reads an object there as its own kind of answer
/// when the code is 2, finds no decision in it and runs the tool, although the same words in plain
/// text stop it: seen with its 0.24.4.
#[test]
fn a_reason_on_standard_error_is_no_object() {
    for reason in ["{\"status\":\"error\",\"code\":\"X\"}", " [1]", "\"{}\""] {
        let answer = Answer::Deny {
            reason: reason.to_owned(),
            remedy: String::new(),
        };
        for client in Client::ALL {
            for event in client.events() {
                let said = reply(*client, event, &answer);
                let read = serde_json::from_str::<Value>(said.stderr.trim());
                assert!(read.is_err(), "{client} {}: {said:?}", event.name);
            }
        }
    }
}
