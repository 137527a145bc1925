//! Hooks of others, in every place that a client reads hooks from.

use tagout_agents::Client;
use tagout_agents::install::plan::{At, Base, Place, Scope};
use tagout_agents::install::sources::{Form, Source, Which};
use tagout_agents::install::{FindingKind, Texts, beside, files, install_plan};

use crate::install::{apply, binary};

const GROUPS: &str =
    r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#;
const HANDLERS: &str = r#"{"version": 1, "hooks": {"preToolUse": [{"command": "x"}]}}"#;
const SCRIPT: &str = "#!/bin/sh\ntrue\n";
const TABLES: &str = "model = \"x\"\n[[hooks.PreToolUse]]\nmatcher = \"y\"\n\
                      [[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"\"\"\nx\n\"\"\"\n\
                      [hooks.state.\"a:b\"]\ntype = \"trusted\"\n";

/// A file with one hook of somebody else, for every place that is known to be read.
const ONE: &[(Client, At, &str)] = &[
    (
        Client::ClaudeCode,
        At::project(".claude/settings.local.json"),
        GROUPS,
    ),
    (
        Client::ClaudeCode,
        At::project(".claude/settings.json"),
        GROUPS,
    ),
    (
        Client::ClaudeCode,
        At::user(".claude/settings.json"),
        GROUPS,
    ),
    (
        Client::ClaudeCode,
        At::managed("etc/claude-code/managed-settings.json"),
        GROUPS,
    ),
    (Client::Codex, At::project(".codex/hooks.json"), GROUPS),
    (Client::Codex, At::user(".codex/hooks.json"), GROUPS),
    (Client::Codex, At::project(".codex/config.toml"), TABLES),
    (Client::Codex, At::user(".codex/config.toml"), TABLES),
    (
        Client::Codex,
        At::managed("etc/codex/requirements.toml"),
        TABLES,
    ),
    (
        Client::Codex,
        At::user(".codex/config.toml"),
        "hooks.Stop = [\n  { hooks = [{ type = \"command\", command = \"x\" }] },\n]\n",
    ),
    (
        Client::Codex,
        At::user(".codex/config.toml"),
        "[hooks]\nStop = [{ hooks = [{ command = \"x\", type = \"command\" }] }]\n",
    ),
    (
        Client::GeminiCli,
        At::project(".gemini/settings.json"),
        GROUPS,
    ),
    (Client::GeminiCli, At::user(".gemini/settings.json"), GROUPS),
    (
        Client::GeminiCli,
        At::managed("etc/gemini-cli/settings.json"),
        GROUPS,
    ),
    (
        Client::GeminiCli,
        At::user(".gemini/extensions/other/hooks/hooks.json"),
        GROUPS,
    ),
    (
        Client::CopilotCli,
        At::project(".github/hooks/other.json"),
        HANDLERS,
    ),
    (
        Client::CopilotCli,
        At::project(".github/hooks/tagout.json"),
        HANDLERS,
    ),
    (
        Client::CopilotCli,
        At::user(".copilot/hooks/other.json"),
        HANDLERS,
    ),
    (
        Client::CopilotCli,
        At::user(".copilot/config.json"),
        HANDLERS,
    ),
    (
        Client::CopilotCli,
        At::project(".claude/settings.json"),
        GROUPS,
    ),
    (
        Client::CopilotCli,
        At::managed("etc/github-copilot/policy.d/other.json"),
        HANDLERS,
    ),
    (Client::QwenCode, At::project(".qwen/settings.json"), GROUPS),
    (Client::QwenCode, At::user(".qwen/settings.json"), GROUPS),
    (
        Client::QwenCode,
        At::user(".qwen/extensions/other/hooks/hooks.json"),
        GROUPS,
    ),
    (
        Client::Cline,
        At::project(".cline/hooks/PreToolUse"),
        SCRIPT,
    ),
    (
        Client::Cline,
        At::project(".clinerules/hooks/PreToolUse"),
        SCRIPT,
    ),
    (
        Client::Cline,
        At::user(".cline/hooks/PostToolUse.py"),
        SCRIPT,
    ),
    (
        Client::Cline,
        At::user("Documents/Cline/Hooks/TaskStart"),
        SCRIPT,
    ),
    (
        Client::FactoryDroid,
        At::project(".factory/hooks.json"),
        r#"{"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}"#,
    ),
    (
        Client::FactoryDroid,
        At::project(".factory/settings.json"),
        GROUPS,
    ),
    (
        Client::FactoryDroid,
        At::user(".factory/settings.json"),
        GROUPS,
    ),
    (
        Client::Goose,
        At::project(".agents/plugins/other/hooks/hooks.json"),
        GROUPS,
    ),
    (
        Client::Goose,
        At::user(".agents/plugins/other/hooks/hooks.json"),
        GROUPS,
    ),
    (
        Client::Opencode,
        At::project(".opencode/plugin/other.js"),
        SCRIPT,
    ),
    (
        Client::Opencode,
        At::user(".config/opencode/plugin/other.ts"),
        SCRIPT,
    ),
    (
        Client::Opencode,
        At::project("opencode.json"),
        "{\"plugin\": [\"other\"]}",
    ),
    (
        Client::Opencode,
        At::user(".config/opencode/opencode.jsonc"),
        "{ // mine\n  \"plugin\": [\"other\"],\n}",
    ),
    (Client::Cursor, At::project(".cursor/hooks.json"), HANDLERS),
    (Client::Cursor, At::user(".cursor/hooks.json"), HANDLERS),
    (Client::Cursor, At::user(".claude/settings.json"), GROUPS),
    (
        Client::Cursor,
        At::managed("etc/cursor/hooks.json"),
        HANDLERS,
    ),
    (
        Client::Vscode,
        At::project(".github/hooks/other.json"),
        HANDLERS,
    ),
    (
        Client::Vscode,
        At::project(".claude/settings.local.json"),
        GROUPS,
    ),
    (Client::Vscode, At::user(".claude/settings.json"), GROUPS),
    (
        Client::Windsurf,
        At::project(".windsurf/hooks.json"),
        HANDLERS,
    ),
    (
        Client::Windsurf,
        At::user(".codeium/windsurf/hooks.json"),
        HANDLERS,
    ),
    (
        Client::Windsurf,
        At::managed("etc/windsurf/hooks.json"),
        HANDLERS,
    ),
    (
        Client::Kiro,
        At::project(".kiro/hooks/other.json"),
        r#"{"version": "v1", "hooks": [
            {"trigger": "PreToolUse", "action": {"type": "command", "command": "x"}},
            {"trigger": "Stop", "action": {"type": "agent", "prompt": "x"}, "enabled": false}
        ]}"#,
    ),
    (Client::Kiro, At::user(".kiro/agents/other.json"), HANDLERS),
];

/// A hook of somebody else is told with its file, beside Tagout's or alone, whatever scope Tagout's
/// hooks have.
#[test]
fn every_place_is_looked_at() {
    for (client, at, text) in ONE {
        let place = at.place();
        for scope in Scope::ALL {
            let mut texts = ours(*client, scope);
            let shared = texts.contains_key(&place);
            if !shared {
                assert!(beside(*client, &texts).is_empty(), "{client}");
            }
            texts.insert(place.clone(), (*text).to_owned());
            let found = beside(*client, &texts);
            assert_eq!(found.len(), 1, "{client} {place:?} {found:?}");
            assert_eq!(found[0].kind, FindingKind::Foreign);
            assert_eq!(found[0].place.as_ref(), Some(&place));
            assert!(
                found[0].text.starts_with("a ") && found[0].text.contains("of somebody else"),
                "{client} {place:?} {found:?}"
            );
        }
    }
    for client in Client::ALL {
        assert!(ONE.iter().any(|(known, ..)| known == client), "{client}");
    }
}

/// Tagout's hooks of a client at a scope; nothing where there is none.
fn ours(client: Client, scope: Scope) -> Texts {
    let edits = install_plan(client, scope, &binary(), &Texts::new()).unwrap_or_default();
    apply(&Texts::new(), &edits)
}

/// Tagout's hooks are nobody else's, also those for another client that reads the same file; what
/// `install` puts beside a hook leaves that one counted.
#[test]
fn ours_are_not_counted() {
    for client in Client::ALL {
        for other in Client::ALL {
            for scope in Scope::ALL {
                let found = beside(*client, &ours(*other, scope));
                assert!(found.is_empty(), "{client} {other} {found:?}");
            }
        }
    }
    for (client, at, text) in ONE {
        let place = at.place();
        let own = files(*client, at.scope).unwrap_or_default();
        let texts = Texts::from([(place.clone(), (*text).to_owned())]);
        let Ok(edits) = install_plan(*client, at.scope, &binary(), &texts) else {
            continue;
        };
        if own.contains(&place) {
            let found = beside(*client, &apply(&texts, &edits));
            assert_eq!(found.len(), 1, "{client} {place:?} {found:?}");
            assert!(found[0].text.starts_with("a hook"), "{client} {found:?}");
        }
    }
}

/// The files of every scope are among the places that are read.
#[test]
fn own_files_are_sources() {
    for client in Client::ALL {
        let sources = client.profile().install.sources;
        for scope in Scope::ALL {
            let manifest = |place: &Place| place.path.ends_with("/plugin.json");
            for place in files(*client, scope).unwrap_or_default() {
                let texts = Texts::from([(place.clone(), "\0".to_owned())]);
                let found = beside(*client, &texts);
                assert_eq!(found.is_empty(), manifest(&place), "{client} {place:?}");
            }
        }
        for source in sources {
            let named = source.inside(*client, "PreToolUse.json");
            assert_eq!(source.listed().is_none(), source.which == Which::Itself);
            assert!(source.listed().is_some() || named.is_none());
        }
    }
}

/// Several are counted, a group with two handlers as two; a handler beside Tagout's in one group
/// too. Lists of other things, events of a later version and hooks that are switched off are told
/// apart.
#[test]
fn how_many() {
    let place = At::user(".claude/settings.json").place();
    let own = r#"{"type": "command", "command": "/t/tagout", "args": ["hook", "--client", "claude-code", "--event", "PreToolUse"]}"#;
    let two = r#"{"type": "command", "command": "x"}, {"type": "http", "url": "y"}"#;
    for (text, count) in [
        (
            format!(
                r#"{{"hooks": {{"Stop": [{{"hooks": [{two}]}}], "New": [{{"hooks": [{two}]}}]}}}}"#
            ),
            4,
        ),
        (
            format!(r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{own}, {two}]}}]}}}}"#),
            2,
        ),
        (
            format!(r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{own}]}}]}}}}"#),
            0,
        ),
        (
            r#"{"hooks": {"disabled": ["x", "y"], "PreToolUse": [{"hooks": []}]}}"#.to_owned(),
            0,
        ),
        ("{\"permissions\": {\"deny\": [\"Bash\"]}}".to_owned(), 0),
        (String::new(), 0),
    ] {
        let found = beside(
            Client::ClaudeCode,
            &Texts::from([(place.clone(), text.clone())]),
        );
        let told = found.first().map(|finding| finding.text.clone());
        let expected =
            (count > 0).then(|| format!("{count} hooks of others stand beside Tagout's"));
        assert_eq!(told, expected, "{text}");
    }
}

/// What can't be read is said, a file as well as a folder; names that a client does not read are
/// passed over.
#[test]
fn the_unreadable_and_the_unread() {
    for (client, at, text, told) in [
        (
            Client::ClaudeCode,
            At::project(".claude/settings.json"),
            "{\"hooks\": [",
            true,
        ),
        (Client::Codex, At::user(".codex/config.toml"), "\0", true),
        (Client::CopilotCli, At::project(".github/hooks"), "", true),
        (Client::Goose, At::user(".agents/plugins"), "", true),
        (
            Client::Cline,
            At::project(".clinerules/hooks/PreToolUse"),
            "\0",
            true,
        ),
        (
            Client::CopilotCli,
            At::project(".github/hooks/notes.md"),
            HANDLERS,
            false,
        ),
        (
            Client::Cline,
            At::project(".clinerules/hooks/notes"),
            SCRIPT,
            false,
        ),
        (
            Client::Goose,
            At::project(".agents/plugins/other/plugin.json"),
            GROUPS,
            false,
        ),
        (
            Client::Goose,
            At::project(".claude/settings.json"),
            GROUPS,
            false,
        ),
    ] {
        let texts = Texts::from([(at.place(), text.to_owned())]);
        assert_eq!(!beside(client, &texts).is_empty(), told, "{client} {at:?}");
    }
}

/// A name in a folder leads to the file that is read for it.
#[test]
fn names_lead_to_files() {
    let inside = |source: Source, client: Client, name: &str| {
        source.inside(client, name).map(|place| place.path)
    };
    let folder = Source::folder(At::project("f"));
    assert_eq!(
        inside(folder, Client::Kiro, "a.json").as_deref(),
        Some("f/a.json")
    );
    assert_eq!(inside(folder, Client::Kiro, "a.md"), None);
    let plugins = Source::plugins(At::user("p"));
    assert_eq!(
        inside(plugins, Client::Goose, "a.b").as_deref(),
        Some("p/a.b/hooks/hooks.json")
    );
    let events = Source::events(At::user("e"));
    assert_eq!(
        inside(events, Client::Cline, "TaskStart.sh").as_deref(),
        Some("e/TaskStart.sh")
    );
    assert_eq!(
        inside(events, Client::Cline, "TaskStart").as_deref(),
        Some("e/TaskStart")
    );
    assert_eq!(inside(events, Client::Cline, "README"), None);
    let file = Source::file(At::user("x.json")).formed(Form::Top);
    assert_eq!(inside(file, Client::Cline, "x.json"), None);
    assert_eq!(file.at.place(), Place::new(Base::Home, "x.json"));
}
