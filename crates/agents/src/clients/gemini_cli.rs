//! Gemini CLI: its own event names, and no id that would tie a call to its result.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{
    At, Command, Does, Handler, Held, Install, Layout, Moved, Narrow, Off, OwnSandbox, RuleSource,
    RuleSyntax, Scope, Shows, Switch, Unit,
};
use crate::install::sources::Source;
use crate::profile::{
    Ask, Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers,
    Profile, Prompts, Rewrite, Subagents,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "gemini-cli",
    title: "Gemini CLI",
    evidence: Evidence::Run { version: "0.61.0" },
    dialects: &[Dialect {
        keys: KEYS,
        tells_event: true,
        marks: MARKS,
        events: EVENTS,
    }],
    raw_controls: false,
    denial: Denial::EVERY_CHANNEL,
    subagents: Subagents::Unmarked,
    prompts: Prompts::SENT,
    failing: Failing::GUARDED,
    shares: &[],
    install: INSTALL,
};

const KEYS: Keys = Keys {
    agent: &[],
    mode: &[],
    call: &[],
    server: &["mcp_context.server_name"],
    server_tool: &["mcp_context.tool_name"],
    ..Keys::COMMON
};

const MARKS: &[Mark] = &[
    Mark::has("session_id"),
    Mark::has("transcript_path"),
    Mark::has("timestamp"),
    Mark::tools_lack("tool_use_id"),
    Mark::tools_lack("permission_mode"),
];

/// A question stops a run without a terminal for ever, and a payload does not tell whether there is
/// one; so a denial is sent instead.
const PRE: Powers = Powers {
    ask: Ask::Runs,
    rewrite: Rewrite::Takes,
    ..Powers::BLOCK
};

const EVENTS: &[Event] = &[
    Event::new("BeforeTool", Kind::Pre)
        .answered(Form::Decision, PRE)
        .waits(WAIT_MS),
    Event::new("AfterTool", Kind::Post)
        .answered(Form::Decision, Powers::TELL)
        .ending(Ending::Error("tool_response.error"))
        .waits(WAIT_MS),
    Event::new("BeforeAgent", Kind::Prompt)
        .answered(Form::Decision, Powers::BLOCK_OR_TELL)
        .waits(WAIT_BRIEF_MS),
    Event::new("AfterAgent", Kind::Completion)
        .answered(
            Form::Decision,
            Powers {
                context: false,
                ..Powers::TELL
            },
        )
        .waits(WAIT_BRIEF_MS),
    Event::new("SessionStart", Kind::SessionStart)
        .answered(Form::Decision, Powers::CONTEXT)
        .waits(WAIT_BRIEF_MS),
    Event::new("SessionEnd", Kind::SessionEnd).waits(WAIT_BRIEF_MS),
    Event::new("BeforeModel", Kind::Other),
    Event::new("AfterModel", Kind::Other),
    Event::new("BeforeToolSelection", Kind::Other),
    Event::new("Notification", Kind::Other),
    Event::new("PreCompress", Kind::Other),
];

const PROJECT: At = At::project(".gemini/settings.json");
const USER: At = At::user(".gemini/settings.json");
const MANAGED: At = At::managed("etc/gemini-cli/settings.json");

const INSTALL: Install = Install {
    files: &[PROJECT, USER, MANAGED],
    sources: &[
        Source::file(PROJECT),
        Source::plugins(At::project(".gemini/extensions")),
        Source::file(USER),
        Source::plugins(At::user(".gemini/extensions")),
        Source::file(MANAGED),
    ],
    through: None,
    layout: Layout::Groups {
        under: Some("hooks"),
        handler: Handler {
            says_type: true,
            command: Command::Line("command"),
            timeout: Some(("timeout", Unit::Milliseconds)),
            closed: None,
        },
    },
    instructions: "GEMINI.md",
    switches: &[
        // The managed file holds the setting, so that nobody else's counts there.
        Switch {
            does: Does::StopsUnmanaged,
            ..off(PROJECT, "hooksConfig.enabled", Off::False)
        },
        Switch {
            does: Does::StopsUnmanaged,
            ..off(USER, "hooksConfig.enabled", Off::False)
        },
        off(PROJECT, "hooksConfig.disabled", Off::Filled),
        off(USER, "hooksConfig.disabled", Off::Filled),
    ],
    rules: &[
        rules(PROJECT, "tools.exclude", Narrow::Deny),
        rules(USER, "tools.exclude", Narrow::Deny),
        rules(PROJECT, "excludeTools", Narrow::Deny),
        rules(USER, "excludeTools", Narrow::Deny),
    ],
    needs: &["trust the folder, or its settings are not read"],
    once: &[(Scope::Project, "you trust this folder")],
    open: &[
        "a trusted repository's settings can switch hooks off; the managed scope withstands it, \
         but for a list of disabled hooks that names its very command",
    ],
    moved: &[Moved::home("GEMINI_CLI_HOME", ".gemini")],
    shows: Shows {
        programs: &["gemini"],
        home: &[".gemini"],
    },
    sandbox: Some(SANDBOX),
    held: Some(Held {
        table: "hooksConfig",
        key: "enabled",
    }),
};

const SANDBOX: OwnSandbox = OwnSandbox {
    by_default: false,
    on: &[sandboxed(PROJECT), sandboxed(USER), sandboxed(MANAGED)],
    off: &[],
    trial: None,
    remedy: "switch `tools.sandbox` off: Tagout confines the commands itself",
};

const fn sandboxed(at: At) -> Switch {
    Switch {
        at,
        way: "tools.sandbox",
        off: Off::Set,
        does: Does::Loosens,
        means: "the client's own sandbox is on",
    }
}

const fn off(at: At, way: &'static str, off: Off) -> Switch {
    Switch {
        at,
        way,
        off,
        does: Does::StopsAll,
        means: "hooks are switched off",
    }
}

const fn rules(at: At, way: &'static str, means: Narrow) -> RuleSource {
    RuleSource {
        at,
        syntax: RuleSyntax::Calls { way, means },
    }
}
