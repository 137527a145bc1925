//! What `install --check` finds, and the client's own rules as a layer that only narrows.

use serde_json::{Value, json};
use tagout_agents::Client;
use tagout_agents::install::plan::{Base, Narrow, Place, Scope};
use tagout_agents::install::{FindingKind, Texts, check, install_plan, own_rules, places};
use tagout_agents::profile::Then;
use tagout_vocab::Call;

use crate::install::{apply, binary};

fn at(base: Base, path: &str) -> Place {
    Place::new(base, path)
}

fn kinds(client: Client, scope: Scope, texts: &Texts) -> Vec<FindingKind> {
    let findings = check(client, scope, &binary(), texts);
    for finding in &findings {
        assert!(!finding.text.is_empty());
    }
    findings.iter().map(|finding| finding.kind).collect()
}

fn installed(client: Client, scope: Scope) -> Texts {
    let edits = install_plan(client, scope, &binary(), &Texts::new()).unwrap();
    apply(&Texts::new(), &edits)
}

/// Before installing hooks are missing, afterwards they are there, and one that is taken away is
/// seen.
#[test]
fn what_is_there_and_what_is_not() {
    for client in Client::ALL {
        for scope in Scope::ALL {
            let Ok(files) = tagout_agents::install::files(*client, scope) else {
                assert!(kinds(*client, scope, &Texts::new()).contains(&FindingKind::Missing));
                continue;
            };
            let bare = kinds(*client, scope, &Texts::new());
            assert!(bare.contains(&FindingKind::Missing), "{client}");
            assert!(!bare.contains(&FindingKind::Installed), "{client}");
            let there = installed(*client, scope);
            let whole = kinds(*client, scope, &there);
            assert!(
                whole.contains(&FindingKind::Installed),
                "{client} {whole:?}"
            );
            assert!(!whole.contains(&FindingKind::Missing), "{client} {whole:?}");
            assert!(!whole.contains(&FindingKind::Foreign), "{client} {whole:?}");
            assert!(files.iter().all(|file| places(*client).contains(file)));
            let mut less = there.clone();
            less.remove(&files[0]);
            let less = kinds(*client, scope, &less);
            assert!(less.contains(&FindingKind::Missing), "{client} {less:?}");
        }
    }
}

/// A program that moved makes hooks outdated.
#[test]
fn a_moved_program_is_seen() {
    let there = installed(Client::GeminiCli, Scope::User);
    let mut moved = binary();
    moved.program = "/elsewhere/tagout".to_owned();
    let findings = check(Client::GeminiCli, Scope::User, &moved, &there);
    assert!(
        findings
            .iter()
            .any(|finding| finding.kind == FindingKind::Outdated)
    );
}

const SWITCHES: [(Client, Base, &str, &str); 9] = [
    (
        Client::ClaudeCode,
        Base::Workspace,
        ".claude/settings.json",
        "{\"disableAllHooks\": true}",
    ),
    (
        Client::GeminiCli,
        Base::Workspace,
        ".gemini/settings.json",
        "{ // quiet\n \"hooksConfig\": {\"enabled\": false}}",
    ),
    (
        Client::Codex,
        Base::Workspace,
        ".codex/config.toml",
        "model = \"x\"\n[features]\nhooks = false # off\n",
    ),
    (
        Client::Codex,
        Base::Workspace,
        ".codex/config.toml",
        "features.hooks = false\n",
    ),
    (
        Client::Codex,
        Base::Home,
        ".codex/config.toml",
        "features = { a = true, hooks = false }\n",
    ),
    (
        Client::Codex,
        Base::System,
        "etc/codex/requirements.toml",
        "allow_managed_hooks_only = true\n",
    ),
    (
        Client::CopilotCli,
        Base::Workspace,
        ".github/copilot/settings.json",
        "{\"disableAllHooks\":true}",
    ),
    (
        Client::Vscode,
        Base::Workspace,
        ".vscode/settings.json",
        "{\"chat.useHooks\": false}",
    ),
    (
        Client::ClaudeCode,
        Base::Home,
        ".claude/settings.json",
        "{\"permissions\": {\"defaultMode\": \"bypassPermissions\"}}",
    ),
];

/// A repository's file that switches hooks off is the first thing that is said.
#[test]
fn switches_are_found() {
    for (client, base, path, text) in SWITCHES {
        let place = at(base, path);
        assert!(places(client).contains(&place), "{client} {path}");
        let mut texts = installed(client, Scope::Project);
        texts.insert(place.clone(), text.to_owned());
        let findings = check(client, Scope::Project, &binary(), &texts);
        // Where the client asks nobody its hooks still run; they are all that stands.
        let expected = if text.contains("bypassPermissions") {
            FindingKind::Loosened
        } else {
            FindingKind::SwitchedOff
        };
        assert_eq!(findings[0].kind, expected, "{client} {findings:?}");
        assert_eq!(findings[0].place.as_ref(), Some(&place));
        let on = text
            .replace("false", "FALSE")
            .replace("true", "false")
            .replace("FALSE", "true");
        texts.insert(place, on.replace("bypassPermissions", "default"));
        let again = check(client, Scope::Project, &binary(), &texts);
        assert_ne!(
            again[0].kind,
            FindingKind::SwitchedOff,
            "{client} {again:?}"
        );
    }
}

/// A settings file that can't be read is said, because the client may read it otherwise.
#[test]
fn unreadable_settings_are_said() {
    let mut texts = installed(Client::ClaudeCode, Scope::Project);
    texts.insert(
        at(Base::Workspace, ".claude/settings.json"),
        "{\"disableAllHooks\": tru".to_owned(),
    );
    assert!(kinds(Client::ClaudeCode, Scope::Project, &texts).contains(&FindingKind::Unreadable));
}

/// What each failure of the hook is called.
const FAILURES: [&str; 4] = ["crashes", "program is gone", "taking too long", "cut off"];

/// Every failure after which a tool runs, or of which nobody knows, has its line; the others have
/// none, and nothing is said twice.
#[test]
fn the_failure_matrix_is_told() {
    let mut told = [0; 2];
    for client in Client::ALL {
        let failing = client.profile().failing;
        let cells = [
            failing.crash,
            failing.missing,
            failing.timeout,
            failing.garbled,
        ];
        let findings = check(*client, Scope::Project, &binary(), &Texts::new());
        let open: Vec<&str> = findings
            .iter()
            .filter(|finding| finding.kind == FindingKind::Open)
            .map(|finding| finding.text.as_str())
            .collect();
        for (then, failure) in cells.into_iter().zip(FAILURES) {
            let about: Vec<&&str> = open.iter().filter(|line| line.contains(failure)).collect();
            match then {
                Then::Blocked => assert!(about.is_empty(), "{client} {about:?}"),
                Then::Runs | Then::Unknown => {
                    assert_eq!(about.len(), 1, "{client} {failure} {open:?}");
                    let known = !about[0].ends_with("is not known");
                    assert_eq!(about[0].ends_with("lets the tool run"), known);
                    assert_eq!(known, then == Then::Runs, "{client} {about:?}");
                    told[usize::from(known)] += 1;
                }
            }
        }
        for (at, line) in open.iter().enumerate() {
            assert!(!open[..at].contains(line), "{client} twice: {line}");
        }
    }
    assert!(told.iter().all(|count| *count > 2), "{told:?}");
}

/// Clients that were never run say so.
#[test]
fn the_never_run_are_named() {
    for client in [
        Client::Cursor,
        Client::Vscode,
        Client::Windsurf,
        Client::Kiro,
    ] {
        assert!(kinds(client, Scope::Project, &Texts::new()).contains(&FindingKind::NeverRun));
    }
}

fn call(tool: &str, arguments: Value) -> Call {
    Call::new(tool, arguments.as_object().unwrap().clone())
}

fn narrowed(client: Client, base: Base, path: &str, text: &str, call: &Call) -> Option<Narrow> {
    let texts = Texts::from([(at(base, path), text.to_owned())]);
    assert!(places(client).contains(&at(base, path)));
    own_rules(client, &texts).narrows(call)
}

/// The strictest rule that may apply counts.
#[test]
fn the_clients_own_rules_narrow() {
    let text = r#"{"permissions": {
        "allow": ["Bash"], "ask": ["Bash(git push:*)", "WebFetch"],
        "deny": ["Bash(rm *)", "Read(./.env)", "mcp__prod__*", "WebFetch(domain:evil.example)"]
    }}"#;
    let judged = |tool: &str, arguments: Value| {
        narrowed(
            Client::ClaudeCode,
            Base::Workspace,
            ".claude/settings.json",
            text,
            &call(tool, arguments),
        )
    };
    assert_eq!(
        judged("Bash", json!({"command": "git push origin"})),
        Some(Narrow::Ask)
    );
    assert_eq!(
        judged("Bash", json!({"command": "cd x && rm -r y"})),
        Some(Narrow::Deny)
    );
    assert_eq!(judged("Bash", json!({"command": "git status"})), None);
    assert_eq!(
        judged("Read", json!({"file_path": "/p/.env"})),
        Some(Narrow::Deny)
    );
    assert_eq!(judged("Read", json!({"file_path": "/p/a.rs"})), None);
    assert_eq!(judged("mcp__prod__drop", json!({})), Some(Narrow::Deny));
    assert_eq!(
        judged("WebFetch", json!({"url": "https://evil.example/"})),
        Some(Narrow::Deny)
    );
    assert_eq!(
        judged("WebFetch", json!({"url": "https://good.example/"})),
        Some(Narrow::Ask)
    );
}

/// Rules in other forms: prefixes, tables, lines.
#[test]
fn other_forms_of_rules() {
    let rules = "# mine\nprefix_rule(\n  pattern = [\"git\", \"push\"],\n  decision = \"prompt\",\n)\n\
                 prefix_rule(pattern = [\"gh\", [\"pr\", \"issue\"]], decision = \"forbidden\")\n\
                 prefix_rule(pattern = [\"ls\"], decision = \"allow\")\n";
    let codex = |text: &str, line: &str| {
        narrowed(
            Client::Codex,
            Base::Home,
            ".codex/rules/default.rules",
            text,
            &call("Bash", json!({"command": line})),
        )
    };
    assert_eq!(codex(rules, "git -C x push"), Some(Narrow::Ask));
    assert_eq!(codex(rules, "gh pr list"), Some(Narrow::Deny));
    assert_eq!(codex(rules, "ls"), None);
    assert_eq!(
        codex("load(\"x\")\n", "ls"),
        Some(Narrow::Ask),
        "not understood asks"
    );
    assert_eq!(
        codex("prefix_rule(pattern = X, decision = \"prompt\")", "ls"),
        Some(Narrow::Ask)
    );

    let table = r#"{"permission": {"edit": "deny", "bash": {"git push*": "ask", "*": "allow"}}}"#;
    let opencode = |text: &str, call: &Call| {
        narrowed(
            Client::Opencode,
            Base::Workspace,
            "opencode.json",
            text,
            call,
        )
    };
    assert_eq!(
        opencode(table, &call("edit", json!({"filePath": "a"}))),
        Some(Narrow::Deny)
    );
    assert_eq!(
        opencode(table, &call("bash", json!({"command": "git push -f"}))),
        Some(Narrow::Ask)
    );
    assert_eq!(
        opencode(table, &call("bash", json!({"command": "ls"}))),
        None
    );
    let odd = r#"{"permission": {"edit": ["deny"]}}"#;
    assert_eq!(opencode(odd, &call("read", json!({}))), Some(Narrow::Ask));

    let lines = r#"{"commandDenylist": ["rm -rf", "mkfs"]}"#;
    let droid = |command: &str| {
        narrowed(
            Client::FactoryDroid,
            Base::Home,
            ".factory/settings.json",
            lines,
            &call("Execute", json!({"command": command})),
        )
    };
    assert_eq!(droid("rm -rf /"), Some(Narrow::Deny));
    assert_eq!(droid("ls"), None);
}
