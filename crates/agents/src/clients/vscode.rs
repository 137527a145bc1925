//! VS Code's agent: read from its documentation and repository, never run here.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{
    At, Command, Does, Handler, Install, Layout, Moved, Off, Scope, Shows, Switch, Unit,
};
use crate::install::sources::Source;
use crate::profile::{
    Ask, Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers,
    Profile, Prompts, Rewrite, Subagents, Then,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "vscode",
    title: "VS Code agent",
    evidence: Evidence::Read {
        source: "its hooks reference and the Copilot Chat repository",
    },
    dialects: &[Dialect {
        keys: KEYS,
        tells_event: true,
        marks: MARKS,
        events: EVENTS,
    }],
    raw_controls: false,
    denial: Denial::EVERY_CHANNEL,
    subagents: Subagents::Within,
    prompts: Prompts::SENT,
    failing: Failing {
        timeout: Then::Unknown,
        ..Failing::GUARDED
    },
    shares: &[],
    install: INSTALL,
};

const KEYS: Keys = Keys {
    event: &["hook_event_name", "hookEventName"],
    session: &["session_id", "sessionId"],
    mode: &[],
    ..Keys::COMMON
};

const MARKS: &[Mark] = &[
    Mark::has("timestamp"),
    Mark::lacks("cursor_version"),
    Mark::runs_have("tool_use_id"),
    Mark::tools_lack("tool_call_id"),
    Mark::tools_lack("permission_mode"),
];

const PRE: Powers = Powers {
    ask: Ask::Asks,
    rewrite: Rewrite::Takes,
    ..Powers::BLOCK_OR_TELL
};

const EVENTS: &[Event] = &[
    Event::new("PreToolUse", Kind::Pre)
        .answered(Form::Specific, PRE)
        .waits(WAIT_MS),
    Event::new("PostToolUse", Kind::Post)
        .answered(Form::Block, Powers::TELL)
        .ending(Ending::Untold)
        .waits(WAIT_MS),
    Event::new("UserPromptSubmit", Kind::Prompt)
        .answered(Form::Block, Powers::NONE)
        .waits(WAIT_BRIEF_MS),
    Event::new("SessionStart", Kind::SessionStart)
        .answered(Form::Block, Powers::CONTEXT)
        .waits(WAIT_BRIEF_MS),
    Event::new("SubagentStart", Kind::SubagentStart)
        .answered(Form::Block, Powers::CONTEXT)
        .waits(WAIT_BRIEF_MS),
    Event::new("SubagentStop", Kind::SubagentStop).waits(WAIT_BRIEF_MS),
    Event::new("Stop", Kind::Completion).waits(WAIT_BRIEF_MS),
    Event::new("PreCompact", Kind::Other),
];

const INSTALL: Install = Install {
    files: &[],
    sources: &[
        Source::folder(At::project(".github/hooks")),
        Source::file(At::project(".claude/settings.json")),
        Source::file(At::project(".claude/settings.local.json")),
        Source::folder(At::user(".copilot/hooks")),
        Source::file(At::user(".claude/settings.json")),
        Source::folder(At::managed("etc/github-copilot/policy.d")),
    ],
    through: Some("copilot-cli"),
    layout: Layout::Handlers {
        handler: Handler {
            says_type: true,
            command: Command::Line("command"),
            timeout: Some(("timeout", Unit::Seconds)),
            closed: None,
        },
        version: true,
    },
    instructions: ".github/copilot-instructions.md",
    switches: &[
        Switch {
            at: At::project(".vscode/settings.json"),
            way: "chat.useHooks",
            off: Off::False,
            does: Does::StopsAll,
            means: "hooks are switched off",
        },
        Switch {
            at: At::user(".config/Code/User/settings.json"),
            way: "chat.useHooks",
            off: Off::False,
            does: Does::StopsAll,
            means: "hooks are switched off",
        },
    ],
    rules: &[],
    needs: &["trust the workspace; hooks are a preview and may have to be switched on"],
    once: &[(
        Scope::Project,
        "you trust this workspace and hooks are switched on",
    )],
    open: &[
        "its hooks are those of the command line, whose files it reads; payloads tell them apart",
    ],
    moved: &[Moved::folder("XDG_CONFIG_HOME", ".config")],
    shows: Shows {
        programs: &["code"],
        home: &[".config/Code"],
    },
    sandbox: None,
    held: None,
};
