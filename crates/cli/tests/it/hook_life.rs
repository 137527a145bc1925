//! Conversations through the real hook: pairing, missing results, prompts, subagents, settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tagout_agents::Client;
use tagout_vocab::Digest;

use crate::confined::Site;
use crate::hook_oracle::{Does, Said, said};
use crate::hooked::{
    Call, Line, ask, fed, happen, hook, in_full, intent_of, select, sends, site_for, site_for_all,
    tell, told, written,
};

/// How many calls came to a state, by the ledger.
fn count(site: &Site, state: &str) -> usize {
    let log = site.tagout(&["log", "--json"]).stdout;
    let events = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["state"] == state).count()
}

/// L10: a client does not tell the version of its tools, so theirs is that of the catalogue.
#[test]
fn a_clients_tool_has_the_version_of_the_catalogue() {
    let site = site_for(&[Client::ClaudeCode]);
    assert!(ask(&site, &written(Client::ClaudeCode, "a")).runs());
    let log = site.tagout(&["log", "--json"]).stdout;
    let last: Value = serde_json::from_str(log.lines().next_back().unwrap()).unwrap();
    let version = last["toolVersion"].as_str().unwrap();
    assert!(version.starts_with("catalogue-"), "{last}");
}

/// §13.8: two equal calls at once, on every client. Where calls have no ids, each result closes one
/// of them, the oldest first.
#[test]
fn slow_equal_calls_at_once_are_paired() {
    let site = site_for_all();
    site.write("src/read.txt", "x\n");
    for client in Client::ALL
        .iter()
        .filter(|client| sends(**client).read.is_some())
    {
        let calls = ["one", "two"].map(|id| Call::read(*client, ("main", id), "src/read.txt"));
        for call in &calls {
            let said = ask(&site, call);
            assert!(said.runs(), "{client}: {said:?}");
        }
        let before = count(&site, "COMPLETED") + count(&site, "ROLLED_BACK");
        tell(&site, &calls[1]);
        let between = count(&site, "COMPLETED") + count(&site, "ROLLED_BACK");
        tell(&site, &calls[0]);
        let after = count(&site, "COMPLETED") + count(&site, "ROLLED_BACK");
        assert_eq!((between - before, after - between), (1, 1), "{client}");
    }
}

/// §13.8: a result that never came is settled by what the arguments predict: at the next call that
/// needs the file, and at the end of the conversation.
#[test]
fn a_missing_result_is_settled_later() {
    let site = site_for(&[Client::ClaudeCode]);
    let client = Client::ClaudeCode;
    let first = written(client, "a");
    assert!(ask(&site, &first).runs());
    // The client is still at it: nobody else gets the file.
    let second = Call::write(client, ("main", "b"), "src/claude-code/a.txt", "more");
    let busy = ask(&site, &second);
    assert_eq!(busy.does(), Does::Denies, "{busy:?}");
    assert!(told(&busy).contains("PATH_BUSY"), "{busy:?}");
    // It is done, and its result was lost.
    site.write("src/claude-code/a.txt", "new");
    let next = ask(&site, &second);
    assert!(next.runs(), "{next:?}");
    assert_eq!(
        count(&site, "COMPLETED"),
        2,
        "the selection and the first write"
    );
    // The second was never carried out, and the conversation ends.
    happen(&site, client, "SessionEnd", "main", "");
    assert_eq!(count(&site, "ROLLED_BACK"), 1);
    let other = Client::Goose;
    let call = Call::write(other, ("main", "c"), "src/claude-code/a.txt", "x");
    assert!(
        !told(&ask(&site, &call)).contains("PATH_BUSY"),
        "the file is free"
    );
}

/// Makes every open permit older than any that is waited for.
fn age_permits(site: &Site) {
    for entry in fs::read_dir(site.state().join("gate/permits")).unwrap() {
        let path = entry.unwrap().path();
        let mut ticket: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let at = ticket["admitted_at"].as_i64().unwrap();
        ticket["admitted_at"] = (at - 60_000).into();
        fs::write(&path, ticket.to_string()).unwrap();
    }
}

/// §13.8: a busy path settles what held that path, and nothing else: other calls may still wait for
/// a person's yes at their client.
#[test]
fn a_busy_path_settles_no_other_call() {
    let client = Client::ClaudeCode;
    let site = site_for(&[client]);
    let (first, waiting) = (written(client, "a"), written(client, "waiting"));
    assert!(ask(&site, &first).runs());
    assert!(ask(&site, &waiting).runs());
    age_permits(&site);
    let again = Call::write(client, ("main", "b"), "src/claude-code/a.txt", "more");
    let said = ask(&site, &again);
    assert!(said.runs(), "{said:?}");
    assert_eq!(count(&site, "ROLLED_BACK"), 1, "the one whose path it is");
    let before = count(&site, "COMPLETED");
    site.write("src/claude-code/waiting.txt", "new");
    tell(&site, &waiting);
    assert_eq!(count(&site, "COMPLETED"), before + 1);
}

/// §13.3: a line that two conversations handed to `exec` belongs to neither until one of them says
/// it in other words.
#[test]
fn a_line_of_two_conversations_is_nobodys() {
    let client = Client::Goose;
    let site = site_for(&[]);
    site.write("src/a.txt", "a\n");
    let line = "cat src/a.txt";
    let asked = |session: &str, line: &str| {
        let own = format!("{} -- '{line}'", in_full(&site, "exec"));
        let call = Call::shell(client, (session, line), &own);
        let said = ask(&site, &call);
        assert!(said.runs(), "{said:?}");
    };
    asked("a", line);
    asked("b", line);
    let ran = site.tagout(&["exec", "--", line]);
    assert_eq!(ran.code, Some(126), "{}", ran.shown());
    let why = "more than one conversation";
    assert!(ran.stderr.contains(why), "{}", ran.shown());
    asked("b", "cat src/a.txt # b");
    let ran = site.tagout(&["exec", "--", "cat src/a.txt # b"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "a\n"));
    let log = site
        .tagout(&["log", "--json", "--session", "goose:b"])
        .stdout;
    assert!(log.contains("COMPLETED"), "{log}");
}

/// §13.8: a result that comes after its call was settled by the files takes its note away all the
/// same: the next equal call is paired with its own.
#[test]
fn a_late_result_leaves_no_note() {
    let client = Client::GeminiCli;
    let site = site_for(&[client]);
    let first = written(client, "a");
    assert!(ask(&site, &first).runs());
    site.write("src/gemini-cli/a.txt", "new");
    // Another call needs the file, so the first one is settled.
    let second = Call::write(client, ("main", "b"), "src/gemini-cli/a.txt", "more");
    assert!(ask(&site, &second).runs());
    let late = tell(&site, &first);
    assert_eq!(late.code, Some(0), "{late:?}");
    site.write("src/gemini-cli/a.txt", "more");
    tell(&site, &second);
    let before = count(&site, "COMPLETED");
    assert!(ask(&site, &first).runs());
    site.write("src/gemini-cli/a.txt", "new");
    tell(&site, &first);
    assert_eq!(count(&site, "COMPLETED"), before + 1, "its own result");
}

/// §13.5: what the hook sent to `exec` is run once, also when several processes come at once.
#[test]
fn a_sent_line_is_run_once() {
    let client = Client::ClaudeCode;
    let site = site_for(&[]);
    site.write("src/a.txt", "a\n");
    let said = ask(&site, &Call::shell(client, ("s", "c"), "cat src/a.txt"));
    let input = &said.value.as_ref().unwrap()["hookSpecificOutput"]["updatedInput"];
    let line = input["command"].as_str().unwrap();
    let start = || {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", line]).current_dir(site.root());
        shell.env("HOME", site.home()).stdout(Stdio::piped());
        shell.stderr(Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..6).map(|_| start()).collect();
    let mut codes = Vec::new();
    for child in children {
        codes.push(child.wait_with_output().unwrap().status.code());
    }
    let done = codes.iter().filter(|code| **code == Some(0)).count();
    assert_eq!(done, 1, "{codes:?}");
    let left = fs::read_dir(site.state().join("hook/exec")).unwrap();
    assert_eq!(left.count(), 0, "nothing is left of the note");
}

/// §13.8: where calls have no ids, commands that run side by side are paired by the line that each
/// was given instead, whichever line the client reports.
#[test]
fn rewritten_calls_are_paired() {
    let site = site_for(&[]);
    for client in [Client::GeminiCli, Client::CopilotCli, Client::FactoryDroid] {
        let open = || {
            let Ok(all) = fs::read_dir(site.state().join("hook/open")) else {
                return 0;
            };
            let each = all.map(|entry| fs::read_dir(entry.unwrap().path()).unwrap().count());
            each.sum::<usize>()
        };
        let before = open();
        let lines = ["ls src", "ls ."];
        let calls = lines.map(|line| Call::shell(client, ("pair", line), line));
        let run = calls.each_ref().map(|call| {
            let said = ask(&site, call);
            let value = said.value.as_ref().unwrap();
            let line = command_in(value).unwrap_or_else(|| panic!("{client}: {said:?}"));
            Call::shell(client, ("pair", "run"), line)
        });
        assert_eq!(open(), before + 2, "{client}");
        tell(&site, &run[1]);
        assert_eq!(open(), before + 1, "{client}: the line that was run");
        tell(&site, &calls[0]);
        assert_eq!(open(), before, "{client}: the line that was asked for");
    }
}

/// The command in an answer.
fn command_in(value: &Value) -> Option<&str> {
    let own = value.get("command").and_then(Value::as_str);
    own.or_else(|| value.as_object()?.values().find_map(command_in))
}

/// What nobody asked for is taken away: lines that were never run, and open calls of conversations
/// that are long over, with their folders.
#[test]
fn old_notes_are_taken_away() {
    let client = Client::GeminiCli;
    let site = site_for(&[]);
    let said = ask(&site, &Call::shell(client, ("s", "c"), "ls src"));
    assert!(said.runs(), "{said:?}");
    let notes = site.state().join("hook");
    let names = |folder: &str| -> Vec<PathBuf> {
        let all = fs::read_dir(notes.join(folder)).unwrap();
        all.map(|entry| entry.unwrap().path()).collect()
    };
    let (sent, sessions) = (names("exec"), names("open"));
    assert_eq!((sent.len(), sessions.len()), (1, 1));
    let open = fs::read_dir(&sessions[0]).unwrap().next().unwrap().unwrap();
    let age = |path: &Path, hours: u64| {
        let at = SystemTime::now() - Duration::from_secs(hours * 3600);
        fs::File::open(path).unwrap().set_modified(at).unwrap();
    };
    site.tagout(&["log"]);
    site.tagout(&["pending"]);
    assert_eq!((names("exec").len(), names("open").len()), (1, 1), "in use");
    age(&sent[0], 1);
    age(&open.path(), 25);
    age(&notes.join("tidied"), 2);
    site.tagout(&["pending"]);
    assert_eq!((names("exec").len(), names("open").len()), (0, 0));
}

/// A command that is too long to be sent on leaves nothing behind.
#[test]
fn a_refused_line_leaves_no_note() {
    let site = site_for(&[]);
    let line = format!("echo {}", "x".repeat(200 << 10));
    let said = ask(&site, &Call::shell(Client::ClaudeCode, ("s", "c"), &line));
    assert_eq!(said.does(), Does::Denies);
    for folder in ["exec", "open"] {
        let left = fs::read_dir(site.state().join("hook").join(folder));
        assert_eq!(left.map_or(0, Iterator::count), 0, "{folder}");
    }
}

/// §12: the hook believes no search path: on a client that takes no other line, the name may start
/// another program than this one, and only the path is let through.
#[test]
fn a_name_is_not_looked_up() {
    let site = site_for(&[]);
    let bin = site.home().join("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tagout"), bin.join("tagout")).unwrap();
    for client in [Client::Goose, Client::QwenCode, Client::Kiro] {
        let call = Call::shell(client, ("s", "c"), "tagout exec -- 'rm -rf src'");
        let mut command = hook(&site, &Line::of(client, &call.before()));
        command.env("PATH", &bin);
        let said = said(client, &fed(command, &call.payload(&site.root())));
        assert_eq!(said.does(), Does::Denies, "{said:?}");
        let own = format!("{} -- ", in_full(&site, "exec").replace('\'', ""));
        assert!(told(&said).contains(&own), "{said:?}");
    }
}

/// §13.8: a hook that died between its claim and its permit holds the path for nobody.
#[test]
fn a_dead_hook_holds_no_path() {
    let client = Client::ClaudeCode;
    let site = site_for(&[client]);
    let claims = site.state().join("claims");
    let name = Digest::of(b"src/claude-code/a.txt").hex();
    let claim = claims.join(name.get(..40).unwrap());
    fs::write(&claim, "release claude-code:dead\n").unwrap();
    let said = ask(&site, &written(client, "a"));
    assert!(said.runs(), "{said:?}");
    // What is really open still holds it.
    let kept = fs::read_to_string(&claim).unwrap();
    assert!(!kept.contains("dead"), "{kept}");
    let second = Call::write(client, ("main", "b"), "src/claude-code/a.txt", "more");
    let busy = ask(&site, &second);
    assert!(told(&busy).contains("PATH_BUSY"), "{busy:?}");
    assert_eq!(fs::read_to_string(&claim).unwrap(), kept);
}

/// §13.4: an empty prompt and a notification reset nothing; what a person types does.
#[test]
fn slow_only_people_reset() {
    let site = site_for_all();
    for client in Client::ALL {
        let Some(prompt) = &sends(*client).prompt else {
            continue;
        };
        happen(&site, *client, prompt, "main", "  \n");
        let said = ask(&site, &written(*client, "kept"));
        assert!(said.runs(), "{client}, nobody typed: {said:?}");
        happen(&site, *client, prompt, "main", "now do something else");
        let said = ask(&site, &written(*client, "lost"));
        assert_eq!(said.does(), Does::Denies, "{client}: {said:?}");
        assert!(
            told(&said).contains("STATE_VIOLATION"),
            "{client}: {said:?}"
        );
    }
    let notice = "<task-notification> a command ended";
    select(
        &site,
        Client::ClaudeCode,
        "main",
        &intent_of(Client::ClaudeCode),
    );
    happen(
        &site,
        Client::ClaudeCode,
        "UserPromptSubmit",
        "main",
        notice,
    );
    assert!(ask(&site, &written(Client::ClaudeCode, "noticed")).runs());
}

fn from_subagent(site: &Site, call: &Call) -> Said {
    let mut payload: Value = serde_json::from_slice(&call.payload(&site.root())).unwrap();
    payload["agent_id"] = "sub".into();
    let event = call.before();
    let ran = fed(
        hook(site, &Line::of(call.client, &event)),
        payload.to_string().as_bytes(),
    );
    said(call.client, &ran)
}

/// §13: a subagent is a session under its parent and never wider than it.
#[test]
fn subagents_are_never_wider_than_their_parents() {
    let site = site_for(&[Client::ClaudeCode, Client::Goose]);
    let client = Client::ClaudeCode;
    let select = |intent: &str, id: &str| {
        let line = format!("tagout intent select {intent}");
        from_subagent(&site, &Call::shell(client, ("main", id), &line))
    };
    happen(&site, Client::Goose, "SessionEnd", "main", "");
    let wider = select(&intent_of(Client::Goose), "s1");
    assert_eq!(wider.does(), Does::Denies, "{wider:?}");
    assert!(told(&wider).contains("INTENT_MISMATCH"), "{wider:?}");
    let same = select(&intent_of(client), "s2");
    assert!(same.runs(), "{same:?}");
    let write = |id: &str| from_subagent(&site, &written(client, id));
    assert!(write("sub1").runs());
    let out = Call::write(client, ("main", "sub2"), "src/goose/x.txt", "x");
    assert_eq!(from_subagent(&site, &out).does(), Does::Denies);
    // What the parent gives up, its children lose.
    happen(&site, client, "UserPromptSubmit", "main", "stop that");
    let after = write("sub3");
    assert_eq!(after.does(), Does::Denies, "{after:?}");
}

/// H1: what an agent is told to ask first is answered before it has selected anything, wherever the
/// program lies: by its name where the line can be rewritten, by its path everywhere.
#[test]
fn the_first_question_is_answered() {
    let clients = [Client::ClaudeCode, Client::Goose, Client::Codex];
    let site = site_for(&clients);
    let path = format!("'{}'", env!("CARGO_BIN_EXE_tagout"));
    for client in clients {
        for (at, verb) in ["intent list", "log", "verify"].iter().enumerate() {
            for (name, program) in [("tagout", "n"), (path.as_str(), "p")] {
                let id = format!("{program}{at}");
                let call = Call::shell(client, ("fresh", &id), &format!("{name} {verb}"));
                let event = call.before();
                let line = Line::of(client, &event);
                let said = said(
                    client,
                    &fed(hook(&site, &line), &call.payload(&site.root())),
                );
                let by_path =
                    said.does() == Does::Denies && told(&said).contains("run exactly this");
                assert!(
                    said.runs() || (by_path && name == "tagout"),
                    "{client}, {name} {verb}: {said:?}"
                );
            }
        }
    }
}

/// Where a client's subagents reach no hook, delegating is denied.
#[test]
fn delegation_past_the_hooks_is_denied() {
    let site = site_for(&[Client::Goose]);
    let client = Client::Goose;
    let mut payload: Value =
        serde_json::from_slice(&written(client, "d").payload(&site.root())).unwrap();
    payload["tool_name"] = "delegate".into();
    payload["matcher_context"] = "delegate".into();
    payload["tool_input"] = serde_json::json!({ "instructions": "write the files" });
    let line = Line::of(client, "PreToolUse");
    let said = said(
        client,
        &fed(hook(&site, &line), payload.to_string().as_bytes()),
    );
    assert_eq!(said.does(), Does::Denies, "{said:?}");
    assert!(told(&said).contains("CAPABILITY_DENIED"), "{said:?}");
}

/// Loading a skill hands no work to anybody: it is judged as what it is, and the reason is true.
#[test]
fn a_skill_is_no_delegation() {
    let client = Client::Goose;
    let site = site_for(&[client]);
    for (session, code) in [("fresh", "STATE_VIOLATION"), ("main", "APPROVAL_REQUIRED")] {
        for tool in ["load", "load_skill"] {
            let name = serde_json::json!({ "name": "review" });
            let said = ask(&site, &Call::tool(client, (session, tool), tool, name));
            assert_eq!(said.does(), Does::Denies, "{tool}: {said:?}");
            assert!(told(&said).contains(code), "{tool}: {said:?}");
        }
    }
}

/// A command that goes on in the background is settled when it ends, not when its client says that
/// it was begun.
#[test]
fn a_background_command_is_settled_at_its_exit() {
    let site = site_for(&[Client::ClaudeCode]);
    let client = Client::ClaudeCode;
    // A tool that starts commands need not say so in words that anybody knows.
    for (id, response) in [
        (
            "bg",
            serde_json::json!({ "backgroundTaskId": "b1", "stdout": "" }),
        ),
        ("watch", serde_json::json!("it was started")),
    ] {
        let path = format!("src/claude-code/{id}.txt");
        let call = Call::shell(client, ("main", id), &format!("echo later > {path}"));
        let said = ask(&site, &call);
        assert_eq!(said.does(), Does::RunsRewritten, "{said:?}");
        let value = said.value.unwrap();
        let line = value["hookSpecificOutput"]["updatedInput"]["command"]
            .as_str()
            .unwrap()
            .to_owned();
        let mut begun: Value = serde_json::from_slice(&call.reported(&site.root())).unwrap();
        begun["tool_response"] = response;
        let event = call.after();
        let done = count(&site, "COMPLETED");
        fed(
            hook(&site, &Line::of(client, &event)),
            begun.to_string().as_bytes(),
        );
        assert_eq!(count(&site, "COMPLETED"), done, "it only began");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &line])
            .current_dir(site.root())
            .env("HOME", site.home());
        let ran = shell.output().unwrap();
        assert!(ran.status.success(), "{id}: {ran:?}");
        assert_eq!(site.read(&path).as_deref(), Some("later\n"));
        assert_eq!(count(&site, "COMPLETED"), done + 1, "it ended");
    }
}

/// H6: what needs a person is a denial that names the request; after the yes the same call goes
/// through once, on every client.
#[test]
fn slow_a_yes_is_good_for_one_call_on_every_client() {
    let site = site_for_all();
    site.write(
        ".orchestration/hook_policy.yaml",
        "version: 1\nprofile: strict\n",
    );
    let trusted = site.tagout(&["trust", "--yes"]);
    assert_eq!(trusted.code, Some(0), "{}", trusted.shown());
    let call = |client: &Client, id: &str| {
        let path = format!("src/{client}/asked.txt");
        Call::write(*client, ("main", id), &path, "new")
    };
    let mut texts = Vec::new();
    for client in Client::ALL {
        let asked = ask(&site, &call(client, "one"));
        assert_eq!(asked.does(), Does::Denies, "{client}: {asked:?}");
        let text = told(&asked);
        assert!(text.contains("APPROVAL_REQUIRED"), "{client}: {asked:?}");
        assert!(text.contains("tagout pending"), "{client}: {asked:?}");
        assert!(
            !text.contains("tagout approve"),
            "the model can't be told how: {asked:?}"
        );
        texts.push(text);
    }
    let listed = site.tagout(&["pending", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let requests = listed["approvals"].as_array().unwrap();
    assert_eq!(requests.len(), Client::ALL.len(), "{listed}");
    for (client, text) in Client::ALL.iter().zip(&texts) {
        let mut ids = requests.iter().filter_map(|one| one["id"].as_str());
        let id = ids.find(|id| text.contains(*id));
        let id = id.unwrap_or_else(|| panic!("{client} is not told its request: {text}"));
        let approved = site.tagout(&["approve", id, "--yes"]);
        assert_eq!(approved.code, Some(0), "{}", approved.shown());
        let again = ask(&site, &call(client, "two"));
        assert!(again.runs(), "{client}, after the yes: {again:?}");
        tell(&site, &call(client, "two"));
        let once_more = ask(&site, &call(client, "three"));
        assert_eq!(
            once_more.does(),
            Does::Denies,
            "{client}, a second time: {once_more:?}"
        );
    }
}

/// Every file below a folder, with its time.
fn files(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let meta = entry.metadata().unwrap();
            found.push((entry.path(), meta.modified().unwrap()));
            if meta.is_dir() {
                open.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// The hook of a user in a repository that nobody governs says nothing and writes nothing.
#[test]
fn an_ungoverned_repository_is_passed_in_silence() {
    let site = site_for(&[]);
    let states = site.home().join(".local/state/tagout");
    let elsewhere = tempfile::tempdir().unwrap();
    let before = files(&states);
    for client in Client::ALL {
        let call = written(*client, "free");
        let event = call.before();
        let words = [
            "hook",
            "--client",
            client.as_str(),
            "--event",
            &event,
            "--state-dir",
        ];
        let mut command = site.command(&words);
        command.arg(&states).current_dir(elsewhere.path());
        let ran = fed(command, &call.payload(elsewhere.path()));
        let said = said(*client, &ran);
        assert_eq!(said.does(), Does::Runs, "{client}: {said:?}");
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{client}");
    }
    assert_eq!(files(&states), before, "no state was written");
    assert_eq!(files(elsewhere.path()), Vec::new());
}

/// At its start a conversation is told which intents are open and which another one holds, until
/// when; its own are open to it.
#[test]
fn held_intents_are_told_as_held() {
    let client = Client::ClaudeCode;
    let site = Site::new(&[]);
    let starts = |session: &str| told(&happen(&site, client, "SessionStart", session, ""));
    assert!(starts("a").contains("Open intents: INT-001."));
    select(&site, client, "b", "INT-001");
    let list = site.tagout(&["intent", "list"]).stdout;
    let (_, until) = list.split_once("until ").unwrap();
    let (until, _) = until.split_once(')').unwrap();
    let said = starts("a");
    let held =
        format!("No intent is free; other conversations hold INT-001 until {until}, or longer");
    assert!(
        said.contains(&held) && said.contains("intent propose"),
        "{said}"
    );
    assert!(starts("b").contains("Open intents: INT-001."));
    let new = [
        "intent", "new", "--yes", "--name", "Docs", "--scope", "docs/**",
    ];
    assert_eq!(site.tagout(&new).code, Some(0));
    let said = starts("a");
    let open = "Open intents: INT-002. Other conversations hold INT-001 until";
    assert!(said.contains(open), "{said}");
}
