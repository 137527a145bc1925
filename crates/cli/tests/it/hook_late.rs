//! Commands that the hook sent through `exec` and that came too late, or never: whose they are
//! then, and what the ledger says of them.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tagout_agents::Client;
use tagout_ledger::TextRecord;
use tagout_vocab::Digest;
use tagout_vocab::limits::{HOOK_NOTE_MS_MAX, PERMIT_OPEN_MS_MAX};

use crate::confined::Site;
use crate::hook_strayed::{given, run, strays, told_with};
use crate::hooked::{Call, ask, happen, in_full, site_for, tell};

const MINUTE_MS: i64 = 60_000;

/// Makes the notes of a folder, and of those in it, older.
fn age_in(folder: &Path, by_ms: i64) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            age_in(&path, by_ms);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        if let Ok(mut note) = serde_json::from_str::<Value>(&text)
            && let Some(at) = note["at"].as_i64()
        {
            note["at"] = (at - by_ms).into();
            fs::write(&path, note.to_string()).unwrap();
        }
        let by = Duration::from_millis(by_ms.try_into().unwrap());
        let file = File::options().append(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - by).unwrap();
    }
}

/// Lets time pass for what the hook noted: whoever comes by next tidies.
fn pass(site: &Site, ms: i64) {
    for kind in ["exec", "open"] {
        age_in(&site.state().join("hook").join(kind), ms);
    }
    fs::remove_file(site.state().join("hook/tidied")).unwrap_or_default();
}

/// An agent's own line for `exec`, where its client can't rewrite.
fn own_line(site: &Site, line: &str) -> String {
    format!("{} -- '{line}'", in_full(site, "exec"))
}

/// §13.3: an agent's line that its client lets run too late is refused, and not taken for that of a
/// person who works in that terminal. Made again, it is the agent's; typed again, the person's.
#[test]
fn a_line_that_comes_too_late_is_nobodys() {
    let client = Client::Goose;
    let site = site_for(&[client]);
    let held = site.tagout(&["exec", "--intent", "INT-001", "--", "true"]);
    assert_eq!(held.code, Some(0), "{}", held.shown());
    let line = "echo x > src/claude-code/a.txt";
    let call = Call::shell(client, ("main", "c"), &own_line(&site, line));
    assert!(ask(&site, &call).runs());
    for minutes in [0, 60] {
        pass(&site, HOOK_NOTE_MS_MAX + minutes * MINUTE_MS + 1);
    }
    assert_eq!(site.tagout(&["log"]).code, Some(0));
    let late = site.tagout(&["exec", "--", line]);
    assert_eq!(late.code, Some(126), "{}", late.shown());
    assert!(late.stderr.contains("too long ago"), "{}", late.shown());
    assert!(
        late.stderr.contains("run the command again"),
        "{}",
        late.shown()
    );
    assert_eq!(site.read("src/claude-code/a.txt"), None);
    assert!(ask(&site, &call).runs());
    let agents = site.tagout(&["exec", "--", line]);
    assert_eq!(agents.code, Some(126), "{}", agents.shown());
    assert!(agents.stderr.contains("INT-008"), "{}", agents.shown());
    assert_eq!(site.read("src/claude-code/a.txt"), None);
    let typed = site.tagout(&["exec", "--", line]);
    assert_eq!(typed.code, Some(0), "{}", typed.shown());
}

/// A rewritten command bears the name of its note, also where the agent wrote `exec` itself: the
/// same line, typed by a person, is the person's, and leaves the note to tell of the agent's.
#[test]
fn a_persons_line_uses_no_note_up_that_has_a_name() {
    let client = Client::ClaudeCode;
    let asked = ["ls src", "tagout exec -- 'ls src'"];
    for (asked, minutes) in asked.iter().flat_map(|asked| [(asked, 0), (asked, 11)]) {
        let site = site_for(&[client]);
        let call = Call::shell(client, ("main", "c"), asked);
        let line = given(&ask(&site, &call));
        pass(&site, minutes * MINUTE_MS);
        let typed = site.tagout(&["exec", "--", "ls src"]);
        // What the agent wrote for `exec` may have lost its name on the way.
        let is_doubtful = minutes == 0 && asked.contains("exec");
        let code = if is_doubtful { 126 } else { 0 };
        assert_eq!(typed.code, Some(code), "{}", typed.shown());
        assert!(!typed.stderr.contains("LEASED"), "{}", typed.shown());
        if minutes == 0 {
            assert_eq!(run(&site, &line).status.code(), Some(0));
        }
        tell(&site, &call);
        let found = strays(&site, "unconfined");
        assert_eq!(found.len(), usize::from(minutes > 0), "{found:?}");
    }
}

/// A line that lost its name on the way does not take the note of another conversation, which
/// waits for the same line without one.
#[test]
fn a_line_without_its_name_takes_no_others_note() {
    let site = site_for(&[]);
    let named = Call::shell(Client::ClaudeCode, ("a", "c"), "tagout exec -- 'ls src'");
    let given = given(&ask(&site, &named));
    let bare = Call::shell(Client::Goose, ("b", "c"), &own_line(&site, "ls src"));
    assert!(ask(&site, &bare).runs());
    let ran = site.tagout(&["exec", "--", "ls src"]);
    assert_eq!(ran.code, Some(126), "{}", ran.shown());
    let why = "more than one conversation";
    assert!(ran.stderr.contains(why), "{}", ran.shown());
    assert_eq!(run(&site, &given).status.code(), Some(0));
}

/// A command that came to `exec` too late came there: it is refused, and nobody calls it
/// unconfined.
#[test]
fn a_command_that_comes_too_late_is_not_called_unconfined() {
    let client = Client::ClaudeCode;
    for is_reported in [true, false] {
        let site = site_for(&[client]);
        let call = Call::shell(client, ("main", "c"), "ls src");
        let line = given(&ask(&site, &call));
        pass(&site, HOOK_NOTE_MS_MAX + MINUTE_MS);
        let ran = run(&site, &line);
        assert_eq!(ran.status.code(), Some(126), "{ran:?}");
        assert_eq!(run(&site, &line).status.code(), Some(126), "still");
        if is_reported {
            tell(&site, &call);
        }
        happen(&site, client, "SessionEnd", "main", "");
        let found = strays(&site, "unconfined");
        assert!(found.is_empty(), "{found:?}");
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(told.contains("too long ago"), "{told}");
    }
}

fn started(id: &str) -> Call {
    let arguments = json!({"command": "ls src", "run_in_background": true});
    Call::tool(Client::ClaudeCode, ("main", id), "Bash", arguments)
}

/// A command that was only started, or whose result never came, and that did not come to where it
/// is confined, is recorded when its conversation is over, however long that takes; one that came
/// is not.
#[test]
fn a_command_that_nobody_reported_is_recorded_at_the_end() {
    let client = Client::ClaudeCode;
    let goes_on = |payload: &mut Value| payload["tool_response"]["backgroundTaskId"] = "b1".into();
    let ages = [60 * MINUTE_MS, PERMIT_OPEN_MS_MAX + MINUTE_MS];
    for (comes, age_ms) in ages.iter().flat_map(|ms| [(false, *ms), (true, *ms)]) {
        let site = site_for(&[client]);
        let mut lines = Vec::new();
        for id in ["told", "untold", "silent"] {
            lines.push(given(&ask(&site, &started(id))));
            match id {
                "told" => drop(told_with(&site, &started(id), goes_on)),
                "untold" => drop(tell(&site, &started(id))),
                _ => {}
            }
        }
        if comes {
            for line in &lines {
                run(&site, line);
            }
        }
        assert_eq!(strays(&site, "unconfined").len(), 0, "not yet");
        pass(&site, age_ms);
        assert_eq!(site.tagout(&["log"]).code, Some(0));
        site.tagout(&["exec", "--", "true"]);
        happen(&site, client, "SessionEnd", "main", "");
        let found = strays(&site, "unreported");
        assert_eq!(
            found.len(),
            if comes { 0 } else { 3 },
            "{age_ms}: {found:?}"
        );
        for event in &found {
            assert_eq!(event["data"]["unconfined"], true, "{event}");
            assert_eq!(event["session"], "claude-code:main", "{event}");
        }
        let shown = site.tagout(&["log"]).stdout;
        assert_eq!(shown.contains("nobody reported its end"), !comes, "{shown}");
        happen(&site, client, "SessionEnd", "main", "");
        assert_eq!(strays(&site, "unreported").len(), found.len(), "once");
        assert_eq!(site.tagout(&["verify"]).code, Some(0));
    }
}

/// A client that was killed reports nothing and ends no conversation: after a day, whoever comes by
/// records what it left, once, before the notes go.
#[test]
fn a_killed_clients_command_is_recorded_by_whoever_comes_by() {
    let client = Client::ClaudeCode;
    let verb = |site: &Site| drop(site.tagout(&["exec", "--", "true"]));
    let over = |site: &Site| drop(happen(site, Client::GeminiCli, "SessionEnd", "next", ""));
    let comers: [&dyn Fn(&Site); 2] = [&verb, &over];
    for (comer, comes) in comers.iter().flat_map(|one| [(one, false), (one, true)]) {
        let site = site_for(&[client]);
        let line = given(&ask(&site, &Call::shell(client, ("main", "c"), "ls src")));
        if comes {
            run(&site, &line);
        }
        pass(&site, PERMIT_OPEN_MS_MAX - MINUTE_MS);
        comer(&site);
        assert_eq!(strays(&site, "unreported").len(), 0, "not yet");
        pass(&site, PERMIT_OPEN_MS_MAX + MINUTE_MS);
        for _ in 0..2 {
            comer(&site);
        }
        let found = strays(&site, "unreported");
        assert_eq!(found.len(), usize::from(!comes), "{found:?}");
        for event in &found {
            assert_eq!(event["session"], "claude-code:main", "{event}");
            assert_eq!(event["agent"], "claude-code", "{event}");
        }
        for kind in ["exec", "open"] {
            let left = fs::read_dir(site.state().join("hook").join(kind));
            assert_eq!(left.unwrap().count(), 0, "nothing is left in {kind}");
        }
        assert_eq!(site.tagout(&["verify"]).code, Some(0));
    }
}

/// What nobody reported names its call as every other event does, and commits to the command that
/// was asked for.
#[test]
fn an_unreported_command_is_told_by_its_call_and_its_line() {
    let client = Client::ClaudeCode;
    let site = site_for(&[client]);
    given(&ask(&site, &started("told")));
    // Another event about the same call.
    told_with(&site, &started("told"), |payload| {
        payload["tool_response"]["backgroundTaskId"] = "b1".into();
        payload["tool_response"]["bashEditDiff"] = json!({ "changedFiles": ["/elsewhere"] });
    });
    happen(&site, client, "SessionEnd", "main", "");
    let (other, found) = (strays(&site, "unexpected"), strays(&site, "unreported"));
    assert_eq!((other.len(), found.len()), (1, 1), "{other:?} {found:?}");
    let call = &found[0]["data"]["call"];
    assert!(call.as_str().unwrap().starts_with("claude-code:"), "{call}");
    assert_eq!(*call, other[0]["data"]["call"]);
    let texts = site.state().join("ledger/texts/00000000.jsonl");
    let texts = fs::read_to_string(texts).unwrap();
    let mut texts = texts
        .lines()
        .filter_map(|line| serde_json::from_str::<TextRecord>(line).ok());
    let salted = texts
        .find(|text| found[0]["eventId"] == text.event)
        .unwrap();
    let opens = |line: &str| {
        let asked = json!({ "command": line }).to_string();
        let digest: Digest = salted.commitment_to(asked.as_bytes()).unwrap().digest;
        found[0]["inputHash"] == json!(digest)
    };
    assert!(opens("ls src") && !opens("ls"), "{}", found[0]);
}
