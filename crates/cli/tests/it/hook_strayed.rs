//! Results that are not those of the call that was let through: arguments that another hook
//! changed, commands that never came to where they are confined, files that no call accounts for.

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tagout_agents::Client;
use tagout_vocab::limits::{CHANGED_PATHS_MAX, PATH_BYTES_MAX};

use crate::confined::Site;
use crate::hook_oracle::{Said, said};
use crate::hooked::{Call, Line, ask, fed, hook, sends, site_for, tell};

/// Clients that take other arguments: some give their calls ids, some do not.
const REWRITING: [Client; 4] = [
    Client::ClaudeCode,
    Client::Codex,
    Client::GeminiCli,
    Client::FactoryDroid,
];

/// What the log says of results that strayed.
pub(crate) fn strays(site: &Site, word: &str) -> Vec<Value> {
    let log = site.tagout(&["log", "--json"]).stdout;
    let events = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    events
        .filter(|event| event["data"].get(word).is_some())
        .collect()
}

/// The line that the client was given instead.
pub(crate) fn given(said: &Said) -> String {
    fn found(value: &Value) -> Option<&str> {
        let own = value.get("command").and_then(Value::as_str);
        own.or_else(|| value.as_object()?.values().find_map(found))
    }
    let line = said.value.as_ref().and_then(found);
    line.unwrap_or_else(|| panic!("{said:?}")).to_owned()
}

/// Runs the line that the client was given, as its shell does.
pub(crate) fn run(site: &Site, line: &str) -> Output {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", line]).current_dir(site.root());
    shell.env("HOME", site.home()).stdin(Stdio::null());
    let ran = shell.output().unwrap();
    assert!(ran.status.code().is_some());
    ran
}

/// A report with more in it than this client usually sends.
pub(crate) fn told_with(site: &Site, call: &Call, change: impl FnOnce(&mut Value)) -> Said {
    let mut payload: Value = serde_json::from_slice(&call.reported(&site.root())).unwrap();
    change(&mut payload);
    let event = call.after();
    let line = Line::of(call.client, &event);
    let ran = fed(hook(site, &line), payload.to_string().as_bytes());
    said(call.client, &ran)
}

/// §13.6: a command that comes back as another one is recorded and told, whether the client names
/// its calls or not.
#[test]
fn a_command_that_another_hook_changed_is_reported() {
    for client in REWRITING {
        let site = site_for(&[client]);
        let asked = ask(&site, &Call::shell(client, ("main", "c"), "ls src"));
        given(&asked);
        let other = Call::shell(client, ("main", "c"), "echo pwn > outside.txt");
        let answer = tell(&site, &other);
        assert_eq!(answer.code, Some(0), "{client}: {answer:?}");
        let text = &answer.stdout;
        assert!(
            text.contains("another hook changed them"),
            "{client}: {answer:?}"
        );
        let found = strays(&site, "argumentsChanged");
        assert_eq!(found.len(), 1, "{client}: {found:?}");
        let event = &found[0];
        assert_eq!(event["session"], format!("{client}:main"), "{event}");
        let shown = site.tagout(&["log"]).stdout;
        assert!(shown.contains("with other arguments"), "{client}: {shown}");
        // The line that was let through is not good for anything any more.
        let left = std::fs::read_dir(site.state().join("hook/exec")).unwrap();
        assert_eq!(left.count(), 0, "{client}");
        assert_eq!(site.tagout(&["verify"]).code, Some(0));
    }
}

/// Whichever of the two lines a client reports, an ordinary command leaves nothing of this kind.
#[test]
fn a_command_that_was_confined_is_not_reported() {
    for client in REWRITING {
        let site = site_for(&[client]);
        for reports_own in [true, false] {
            let id = format!("c-{reports_own}");
            let call = Call::shell(client, ("main", &id), "ls src");
            let line = given(&ask(&site, &call));
            run(&site, &line);
            let result = if reports_own {
                call
            } else {
                Call::shell(client, ("main", &id), &line)
            };
            let answer = tell(&site, &result);
            assert!(!answer.stdout.contains("hook"), "{client}: {answer:?}");
        }
        for word in ["argumentsChanged", "unconfined"] {
            let found = strays(&site, word);
            assert!(found.is_empty(), "{client}: {found:?}");
        }
    }
}

/// Clients fill arguments in, or say them in other words: of a command its line counts.
#[test]
fn other_arguments_than_the_line_are_the_clients() {
    let client = Client::FactoryDroid;
    let site = site_for(&[client]);
    let call = Call::shell(client, ("main", "c"), "ls src");
    let line = given(&ask(&site, &call));
    run(&site, &line);
    let answer = told_with(
        &site,
        &Call::shell(client, ("main", "c"), &line),
        |payload| {
            payload["tool_input"]["riskLevel"] = json!({ "value": "low", "reason": "r" });
            payload["tool_input"]["timeout"] = 60.into();
        },
    );
    assert_eq!(answer.stdout.trim(), "", "{answer:?}");
    for word in ["argumentsChanged", "unconfined"] {
        assert_eq!(strays(&site, word).len(), 0, "{word}");
    }
}

/// §13.5: another hook can put the model's own line back. Where the command is over, and nobody
/// came to confine it, that is recorded, once.
#[test]
fn a_command_that_nobody_confined_is_reported() {
    for client in REWRITING {
        let site = site_for(&[client]);
        let call = Call::shell(client, ("main", "c"), "ls src");
        given(&ask(&site, &call));
        let answer = tell(&site, &call);
        assert!(answer.stdout.contains("unconfined"), "{client}: {answer:?}");
        assert_eq!(strays(&site, "unconfined").len(), 1, "{client}");
    }
}

/// A command that failed, as its client says, ran all the same; one that was refused did not.
#[test]
fn a_command_that_failed_unconfined_is_reported() {
    let failed = |client: Client, event: &str, change: &dyn Fn(&mut Value)| {
        let site = site_for(&[client]);
        let call = Call::shell(client, ("main", "c"), "false");
        given(&ask(&site, &call));
        let mut payload: Value = serde_json::from_slice(&call.reported(&site.root())).unwrap();
        payload["hook_event_name"] = event.into();
        change(&mut payload);
        let ran = fed(
            hook(&site, &Line::of(client, event)),
            payload.to_string().as_bytes(),
        );
        assert_eq!(ran.status.code(), Some(0), "{client}: {ran:?}");
        strays(&site, "unconfined").len()
    };
    let error = |payload: &mut Value| payload["error"] = "Exit code 1".into();
    assert_eq!(failed(Client::ClaudeCode, "PostToolUseFailure", &error), 1);
    for (why, count) in [("error", 1), ("permission_denied", 0)] {
        let refused = |payload: &mut Value| {
            payload["error_message"] = "no".into();
            payload["failure_type"] = why.into();
        };
        let found = failed(Client::Cursor, "postToolUseFailure", &refused);
        assert_eq!(found, count, "{why}");
    }
}

/// Damages a record of the state; the one of every session by what can't be read as a file.
fn damage(site: &Site, file: &str, text: &str) {
    let Some((folder, name)) = file.split_once("/*/") else {
        let path = site.state().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        return;
    };
    for entry in std::fs::read_dir(site.state().join(folder)).unwrap() {
        let path = entry.unwrap().path().join(name);
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(path).unwrap();
    }
}

/// What keeps anybody from looking at the changed files keeps nothing from being recorded, and is
/// itself recorded. Where the client reports no files, there was nothing to look at.
#[test]
fn a_record_needs_no_look_at_the_files() {
    let client = Client::ClaudeCode;
    let session = "gate/sessions/*/session.jsonl";
    for (what, file, text) in [
        ("trace", "trace/trace.db", "no database"),
        ("lessons", "gate/taught.json", "{"),
        ("permits", "gate/permits/x", "[1]"),
        ("session", session, ""),
        ("nothing", "other", ""),
    ] {
        let with_files: &[bool] = if what == "session" {
            &[true, false]
        } else {
            &[true]
        };
        for &has_files in with_files {
            let site = site_for(&[client]);
            site.write("src/claude-code/b.txt", "x");
            let call = Call::shell(client, ("main", "c"), "ls src");
            given(&ask(&site, &call));
            damage(&site, file, text);
            let other = Call::shell(client, ("main", "c"), "echo pwn > outside.txt");
            let file = site.root().join("src/claude-code/b.txt");
            let answer = told_with(&site, &other, |payload| {
                if has_files {
                    payload["tool_response"]["bashEditDiff"] = json!({ "changedFiles": [file] });
                }
            });
            assert_eq!(answer.code, Some(0), "{what}: {answer:?}");
            assert!(answer.stdout.contains("another hook"), "{what}: {answer:?}");
            let found = strays(&site, "argumentsChanged");
            assert_eq!(found.len(), 1, "{what}: {found:?}");
            let data = &found[0]["data"];
            let is_unknown = has_files && matches!(what, "permits" | "session");
            let said = data.get("changesUnknown") == Some(&true.into());
            assert_eq!(said, is_unknown, "{what}: {data}");
            let is_told = answer.stdout.contains("nobody could look");
            assert_eq!(is_told, is_unknown, "{what}: {answer:?}");
            let cause = data["unread"].as_str().unwrap_or_default();
            let is_damaged = is_unknown || what == "session";
            assert_eq!(cause.contains("gate/"), is_damaged, "{what}: {data}");
            let count = (has_files && !is_unknown).then_some(1);
            assert_eq!(data["unexpectedCount"].as_u64(), count, "{what}: {data}");
        }
    }
}

/// However much a client reports, a bounded part of it is recorded, and how much there was.
#[test]
fn a_report_of_any_size_is_recorded() {
    let client = Client::ClaudeCode;
    let site = site_for(&[client]);
    let told = |id: &str, changed: Vec<String>| {
        let call = Call::shell(client, ("main", id), "ls src");
        run(&site, &given(&ask(&site, &call)));
        let answer = told_with(&site, &call, |payload| {
            payload["tool_response"]["bashEditDiff"] = json!({ "changedFiles": changed });
        });
        assert_eq!(answer.code, Some(0), "{id}: {:?}", answer.code);
        let found = strays(&site, "unexpected");
        found.last().unwrap()["data"].clone()
    };
    let long = "é".repeat(5 << 19);
    let data = told("long", vec![long, "/elsewhere".to_owned()]);
    assert_eq!(data["unexpectedCount"], 2);
    let path = data["unexpected"][0]["path"].as_str().unwrap();
    assert!(
        (4000..=PATH_BYTES_MAX).contains(&path.len()),
        "{}",
        path.len()
    );
    let many = CHANGED_PATHS_MAX + 100;
    let all = (0..many).map(|at| format!("/elsewhere/{at}")).collect();
    let data = told("many", all);
    assert_eq!(data["unexpectedCount"], CHANGED_PATHS_MAX);
    assert_eq!(data["changedCount"], many);
}

/// A command in the background may begin after its result; what it was started with is compared.
#[test]
fn a_background_command_is_compared_and_not_guessed_about() {
    let client = Client::ClaudeCode;
    let site = site_for(&[client]);
    let tool = |id: &str, line: &str| {
        let arguments = json!({"command": line, "run_in_background": true});
        Call::tool(client, ("main", id), "Bash", arguments)
    };
    let goes_on = |payload: &mut Value| payload["tool_response"]["backgroundTaskId"] = "b1".into();
    for (id, told_background) in [("c-1", true), ("c-2", false)] {
        let call = tool(id, "ls src");
        given(&ask(&site, &call));
        let answer = told_with(&site, &call, |payload| {
            if told_background {
                goes_on(payload);
            }
        });
        assert_eq!(answer.stdout.trim(), "", "{id}: {answer:?}");
    }
    given(&ask(&site, &tool("c-3", "ls src")));
    let answer = told_with(&site, &tool("c-3", "echo pwn > outside.txt"), goes_on);
    assert!(answer.stdout.contains("another hook"), "{answer:?}");
    assert_eq!(strays(&site, "argumentsChanged").len(), 1);
    assert_eq!(strays(&site, "unconfined").len(), 0);
}

/// §13.8: where calls have no ids and two are open, nobody knows which of them was changed; that
/// one was is known.
#[test]
fn a_result_that_fits_no_open_call_is_reported() {
    let client = Client::GeminiCli;
    let site = site_for(&[client]);
    for line in ["ls src", "ls ."] {
        given(&ask(&site, &Call::shell(client, ("main", "c"), line)));
    }
    let other = Call::shell(client, ("main", "c"), "echo pwn > outside.txt");
    let answer = tell(&site, &other);
    assert!(answer.stdout.contains("another hook"), "{answer:?}");
    assert_eq!(strays(&site, "argumentsChanged").len(), 1);
}

/// A report without arguments is none of other arguments, and a line that calls Tagout by its name
/// is the same as the one with its path that the client was given.
#[test]
fn what_a_client_does_not_report_is_not_compared() {
    let client = Client::ClaudeCode;
    let site = site_for(&[client]);
    let asked = |call: &Call| assert!(ask(&site, call).runs());
    let silent = |payload: &mut Value| drop(payload.as_object_mut().unwrap().remove("tool_input"));
    let shell = Call::shell(client, ("main", "c-1"), "ls src");
    run(&site, &given(&ask(&site, &shell)));
    let write = Call::write(client, ("main", "c-2"), "src/claude-code/a.txt", "new");
    asked(&write);
    let own = Call::shell(client, ("main", "c-3"), "tagout intent list");
    asked(&own);
    for (call, is_silent) in [(shell, true), (write, true), (own, false)] {
        let answer = told_with(&site, &call, |payload| {
            if is_silent {
                silent(payload);
            }
        });
        assert!(!answer.stdout.contains("hook"), "{answer:?}");
    }
    let found = strays(&site, "argumentsChanged");
    assert!(found.is_empty(), "{found:?}");
}

/// Runs a command as the client was told to, and reports it with the files that it changed.
fn ran(site: &Site, (id, line): (&str, &str), changed: &[&str]) -> Said {
    let call = Call::shell(Client::ClaudeCode, ("main", id), line);
    run(site, &given(&ask(site, &call)));
    let root = site.root();
    let whole = |path: &&str| root.join(path).to_str().unwrap().to_owned();
    let changed: Vec<String> = changed.iter().map(whole).collect();
    told_with(site, &call, |payload| {
        payload["tool_response"]["bashEditDiff"] = json!({ "changedFiles": changed });
    })
}

/// What the client says a command changed is held against what calls did: a command that was
/// confined accounts for its files, and the rest is recorded and told.
#[test]
fn files_that_no_call_accounts_for_are_reported() {
    let site = site_for(&[Client::ClaudeCode]);
    site.write("src/claude-code/b.txt", "x");
    site.write("outside.txt", "x");
    let all = [
        "src/claude-code/a.txt",
        "src/claude-code/b.txt",
        "outside.txt",
    ];
    let answer = ran(&site, ("c", "echo a > src/claude-code/a.txt"), &all);
    let text = &answer.stdout;
    assert!(
        text.contains("outside.txt") && text.contains("b.txt"),
        "{answer:?}"
    );
    assert!(!text.contains("a.txt"), "{answer:?}");
    let found = strays(&site, "unexpected");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["data"]["unexpectedCount"], 2);
    let shown = site.tagout(&["log"]).stdout;
    assert!(shown.contains("no call accounts for"), "{shown}");
}

/// Tagout itself writes into the tree: the views of the trace, and what failures teach.
#[test]
fn what_tagout_itself_wrote_is_accounted_for() {
    let site = site_for(&[Client::ClaudeCode]);
    let line = "echo a > src/claude-code/a.txt";
    let views = [
        ".orchestration/agent_trace.jsonl",
        ".orchestration/intent_map.md",
    ];
    let ours = ran(
        &site,
        ("c-1", line),
        &[&views[..], &["src/claude-code/a.txt"]].concat(),
    );
    assert_eq!(ours.stdout.trim(), "", "{ours:?}");
    let failing = "sh -c 'echo broken; exit 3' test";
    let taught = ran(&site, ("c-2", failing), &["AGENT.md"]);
    assert!(site.root().join("AGENT.md").exists());
    assert_eq!(taught.stdout.trim(), "", "{taught:?}");
    // Once someone else changed them, they are not what Tagout wrote.
    for (id, path) in [("c-3", "AGENT.md"), ("c-4", views[1])] {
        site.write(path, "changed by someone else\n");
        let answer = ran(&site, (id, "ls src"), &[path]);
        assert!(answer.stdout.contains(path), "{answer:?}");
    }
}

/// A file that is not what the call's arguments say is told by the log, and is no failure.
#[test]
fn a_formatted_file_is_told_by_the_log() {
    let client = Client::Goose;
    let site = site_for(&[client]);
    for (id, text) in [("plain", "new"), ("formatted", "FORMATTED differently")] {
        let path = format!("src/goose/{id}.txt");
        let call = Call::write(client, ("main", id), &path, "new");
        assert!(ask(&site, &call).runs());
        site.write(&path, text);
        tell(&site, &call);
    }
    let said: Vec<Value> = strays(&site, "asPredicted")
        .iter()
        .map(|event| json!([event["state"], event["data"]["asPredicted"]]))
        .collect();
    assert_eq!(
        said,
        [json!(["COMPLETED", true]), json!(["COMPLETED", false])]
    );
    let log = site.tagout(&["log"]).stdout;
    let told: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("not what its arguments say"))
        .collect();
    assert_eq!(told.len(), 1, "{log}");
    assert!(told[0].contains("formatted.txt"), "{log}");
    assert!(sends(client).read.is_none(), "it reports no content either");
}
