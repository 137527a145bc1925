//! A client's settings under a hook: what takes the hook away, what leaves it standing alone, and
//! what a person did.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tagout_agents::Client;

use crate::confined::Site;
use crate::hook_oracle::{Does, Said, said};
use crate::hooked::{Line, fed, site_for, told};

/// The binary outside of the build folder, where `install` accepts it.
fn installed_binary(site: &Site) -> PathBuf {
    let own = PathBuf::from(env!("CARGO_BIN_EXE_tagout"));
    let path = site.home().join("tagout");
    fs::hard_link(&own, &path)
        .or_else(|_| fs::copy(&own, &path).map(|_| ()))
        .unwrap();
    path
}

/// A workspace in which a client was installed by a person who keeps the program elsewhere.
struct Installed {
    site: Site,
    binary: PathBuf,
    settings: PathBuf,
    scope: &'static str,
}

impl Installed {
    fn with(settings: &str) -> Self {
        Self::at_scope("project", settings)
    }

    /// The same for all workspaces of the person.
    fn at_scope(scope: &'static str, settings: &str) -> Self {
        let site = site_for(&[Client::ClaudeCode]);
        let binary = installed_binary(&site);
        let path = match scope {
            "project" => site.root().join(".claude/settings.local.json"),
            _ => site.home().join(".claude/settings.json"),
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, settings).unwrap();
        let installed = Self {
            site,
            binary,
            settings: path,
            scope,
        };
        installed.run(&["install", "claude-code", "--scope", scope, "--yes"]);
        installed
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(self.site.root()).env_clear();
        command
    }

    /// A verb of a person's.
    fn run(&self, words: &[&str]) -> std::process::Output {
        let mut command = self.command();
        command.args(words).env("HOME", self.site.home());
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{words:?}: {ran:?}");
        ran
    }

    fn change(&self, from: &str, to: &str) {
        let text = fs::read_to_string(&self.settings).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&self.settings, text.replacen(from, to, 1)).unwrap();
    }

    /// An event of a conversation.
    fn at(&self, event: &str, session: &str) -> Said {
        self.from(event, session, "startup")
    }

    /// The same, where a conversation says how it begins.
    fn from(&self, event: &str, session: &str, source: &str) -> Said {
        let mut payload = serde_json::json!({
            "session_id": session, "transcript_path": "/t", "cwd": self.site.root(),
            "hook_event_name": event,
        });
        match event {
            "ConfigChange" => payload["source"] = "local_settings".into(),
            "SessionStart" => payload["source"] = source.into(),
            _ => {}
        }
        let mut command = self.command();
        let mut words = Line::of(Client::ClaudeCode, event).words(&self.site);
        if self.scope != "project" {
            let at = words.iter().position(|word| word == "--workspace").unwrap();
            drop(words.drain(at..at + 2));
        }
        command.args(words);
        let ran = fed(command, payload.to_string().as_bytes());
        said(Client::ClaudeCode, &ran)
    }
}

const ASKS: &str = "{\"permissions\": {\"defaultMode\": \"default\"}, \"theme\": \"dark\"}\n";
const LOOSE: &str = "bypassPermissions";

/// What was loose before a person installed the hook, or when the conversation began, is not the
/// doing of a change that has nothing to do with it.
#[test]
fn settings_that_were_loose_before_stay_theirs() {
    let loose = ASKS.replace("\"default\"", &format!("\"{LOOSE}\""));
    let installed = Installed::with(&loose);
    let passes = |installed: &Installed| {
        let said = installed.at("ConfigChange", "main");
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{said:?}");
    };
    installed.change("dark", "light");
    passes(&installed);
    // A person made it so while no conversation ran.
    let installed = Installed::with(ASKS);
    installed.change("\"default\"", &format!("\"{LOOSE}\""));
    installed.at("SessionStart", "next");
    installed.change("dark", "light");
    passes(&installed);
}

/// A conversation that is taken up again begins with the settings as they are then.
#[test]
fn a_resumed_conversation_begins_with_the_settings_as_they_are() {
    for source in ["resume", "clear", "startup"] {
        let installed = Installed::with(ASKS);
        installed.at("SessionStart", "main");
        installed.at("SessionEnd", "main");
        installed.change("\"default\"", &format!("\"{LOOSE}\""));
        installed.from("SessionStart", "main", source);
        installed.change("dark", "light");
        let said = installed.at("ConfigChange", "main");
        assert_eq!(
            (said.code, said.stdout.as_str()),
            (Some(0), ""),
            "{source}: {said:?}"
        );
    }
}

/// A change that loosens is refused in words that say so, also when it is asked about again and
/// when it was loose once before.
#[test]
fn a_change_that_loosens_is_refused() {
    let installed = Installed::with(ASKS);
    installed.at("SessionStart", "main");
    let loosen = || {
        installed.change("\"default\"", &format!("\"{LOOSE}\""));
        for _ in 0..2 {
            let said = installed.at("ConfigChange", "main");
            assert_eq!(said.does(), Does::Denies, "{said:?}");
            assert!(told(&said).contains(LOOSE), "{said:?}");
            assert!(!told(&said).contains("hook away"), "{said:?}");
            // The text of a conversation is cut down, and it begins again with what was refused.
            installed.from("SessionStart", "main", "compact");
        }
    };
    loosen();
    installed.change(&format!("\"{LOOSE}\""), "\"default\"");
    let said = installed.at("ConfigChange", "main");
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{said:?}");
    loosen();
}

/// Who takes the hook out with `uninstall` hears nothing of it any more, in a conversation that
/// still runs and in the ledger; when it is put in again and goes otherwise, that is told.
#[test]
fn a_hook_that_a_person_took_out_is_not_missed() {
    let installed = Installed::with("{}\n");
    installed.at("SessionStart", "main");
    installed.run(&["uninstall", "claude-code", "--yes"]);
    let is_silent = |event: &str| {
        let said = installed.at(event, "main");
        assert_eq!(said.does(), Does::Runs, "{event}: {said:?}");
        assert!(!told(&said).contains("will not call"), "{event}: {said:?}");
    };
    for event in ["ConfigChange", "Stop", "SessionStart", "SessionEnd"] {
        is_silent(event);
    }
    let next = installed
        .site
        .tagout(&["intent", "release", "INT-002", "--yes"]);
    assert!(!next.stderr.contains("will not call"), "{}", next.shown());
    let log = installed.site.tagout(&["log", "--json"]).stdout;
    assert!(!log.contains("\"gone\":"), "{log}");
    installed.run(&["install", "claude-code", "--yes"]);
    is_silent("SessionStart");
    fs::write(&installed.settings, "{}\n").unwrap();
    let said = installed.at("SessionStart", "main");
    assert!(told(&said).contains("will not call"), "{said:?}");
    // A person who finds it missing says that it may stay so.
    installed.run(&["uninstall", "claude-code", "--yes"]);
    is_silent("SessionEnd");
    let next = installed
        .site
        .tagout(&["intent", "release", "INT-002", "--yes"]);
    assert!(!next.stderr.contains("will not call"), "{}", next.shown());
}

/// A change of the client's settings that takes the hook away is refused; a hook that finds itself
/// gone says so to the model, in the ledger and in the next command, until it is installed again.
#[test]
fn a_hook_that_is_taken_away_is_noticed() {
    let installed = Installed::with("{}\n");
    let site = &installed.site;
    let at = |event: &str| installed.at(event, "main");
    let settings = &installed.settings;
    let whole = fs::read_to_string(settings).unwrap();
    let kept = at("ConfigChange");
    assert_eq!((kept.code, kept.stdout.as_str()), (Some(0), ""), "{kept:?}");
    fs::write(settings, "{}\n").unwrap();
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
    fs::write(settings, whole).unwrap();
    at("SessionStart");
    let next = site.tagout(&["intent", "release", "INT-002", "--yes"]);
    assert!(!next.stderr.contains("will not call"), "{}", next.shown());
}

/// A person who takes the hook out of one scope says nothing about another one, at which it stood
/// before. No test writes where a machine keeps its own settings, so what the hook once noted of
/// those is put there by hand.
#[test]
fn a_hook_is_missed_at_the_scope_that_it_went_from() {
    for (is_taken_out, was_managed, is_news) in [
        (true, false, false),
        (true, true, true),
        (false, false, true),
        (false, true, true),
    ] {
        let installed = Installed::at_scope("user", "{}\n");
        let missed = |event: &str| told(&installed.at(event, "main")).contains("will not call");
        assert!(!missed("SessionStart"));
        let states = fs::read_dir(installed.site.home().join(".local/state/tagout"));
        let mut states = states.unwrap().map(|entry| entry.unwrap().path());
        // Beside the state lies what a person's own installations need.
        let stands =
            states.find_map(|state| Some(state.join("hook/stands")).filter(|at| at.is_dir()));
        let stands = stands.unwrap();
        assert!(stands.join("claude-code.user.json").exists());
        if was_managed {
            fs::write(stands.join("claude-code.managed.json"), "\"claude-code\"").unwrap();
        }
        assert!(!missed("SessionStart"), "it stands at one of them");
        if is_taken_out {
            installed.run(&["uninstall", "claude-code", "--scope", "user", "--yes"]);
        } else {
            fs::write(&installed.settings, "{}\n").unwrap();
        }
        let case = (is_taken_out, was_managed);
        assert_eq!(missed("SessionStart"), is_news, "{case:?}");
        let log = installed.site.tagout(&["log", "--json"]).stdout;
        assert_eq!(log.contains("\"gone\":"), is_news, "{case:?}: {log}");
    }
}
