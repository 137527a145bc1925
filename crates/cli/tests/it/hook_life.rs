//! Conversations through the real hook: pairing, missing results, prompts, subagents, settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tagout_agents::Client;

use crate::confined::Site;
use crate::hook_oracle::{Does, Said, said};
use crate::hooked::{
    Call, Line, ask, fed, happen, hook, intent_of, select, sends, site_for, site_for_all, tell,
    written,
};

/// How many calls came to a state, by the ledger.
fn count(site: &Site, state: &str) -> usize {
    let log = site.tagout(&["log", "--json"]).stdout;
    let events = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["state"] == state).count()
}

/// What the hook told the model, whichever way.
fn told(said: &Said) -> String {
    format!("{}{}", said.stdout, said.stderr)
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

/// The binary outside of the build folder, where `install` accepts it.
fn installed_binary(site: &Site) -> PathBuf {
    let own = PathBuf::from(env!("CARGO_BIN_EXE_tagout"));
    let path = site.home().join("tagout");
    fs::hard_link(&own, &path)
        .or_else(|_| fs::copy(&own, &path).map(|_| ()))
        .unwrap();
    path
}

/// A change of the client's settings that takes the hook away is refused; a hook that finds itself
/// gone says so to the model, in the ledger and in the next command, until it is installed again.
#[test]
fn a_hook_that_is_taken_away_is_noticed() {
    let site = site_for(&[Client::ClaudeCode]);
    let binary = installed_binary(&site);
    let run = |words: &[&str]| {
        let mut command = Command::new(&binary);
        command
            .args(words)
            .current_dir(site.root())
            .env_clear()
            .env("HOME", site.home());
        command.output().unwrap()
    };
    let installed = run(&["install", "claude-code", "--yes"]);
    assert!(installed.status.success(), "{installed:?}");
    let at = |event: &str| {
        let mut payload = serde_json::json!({
            "session_id": "main", "transcript_path": "/t", "cwd": site.root(),
            "hook_event_name": event,
        });
        if event == "ConfigChange" {
            payload["source"] = "local_settings".into();
        }
        let line = Line::of(Client::ClaudeCode, event);
        let mut command = Command::new(&binary);
        command
            .args(line.words(&site))
            .current_dir(site.root())
            .env_clear();
        said(
            Client::ClaudeCode,
            &fed(command, payload.to_string().as_bytes()),
        )
    };
    let settings = site.root().join(".claude/settings.local.json");
    let whole = fs::read_to_string(&settings).unwrap();
    let kept = at("ConfigChange");
    assert_eq!((kept.code, kept.stdout.as_str()), (Some(0), ""), "{kept:?}");
    fs::write(&settings, "{}\n").unwrap();
    let refused = at("ConfigChange");
    assert_eq!(refused.does(), Does::Denies, "{refused:?}");
    let greeted = at("SessionStart");
    assert!(
        told(&greeted).contains("will not call Tagout's hook"),
        "{greeted:?}"
    );
    let log = site.tagout(&["log", "--json"]);
    assert_eq!(
        log.stdout.matches("\"gone\":").count(),
        1,
        "recorded once: {}",
        log.stdout
    );
    let next = site.tagout(&["intent", "complete", "INT-001", "--yes"]);
    assert!(
        next.stderr.contains("will not call Tagout's hook"),
        "{}",
        next.shown()
    );
    fs::write(&settings, whole).unwrap();
    at("SessionStart");
    let next = site.tagout(&["intent", "release", "INT-002", "--yes"]);
    assert!(!next.stderr.contains("will not call"), "{}", next.shown());
}
