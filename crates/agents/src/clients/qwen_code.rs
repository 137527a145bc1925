//! Qwen Code: the common dialect; it documents rewriting and drops it.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{
    At, Command, Does, Handler, Install, Layout, Moved, Narrow, Off, OwnSandbox, RuleSource,
    RuleSyntax, Scope, Shows, Switch, Unit,
};
use crate::install::sources::Source;
use crate::profile::{
    Ask, Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers,
    Profile, Prompts, Subagents,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "qwen-code",
    title: "Qwen Code",
    evidence: Evidence::Run { version: "0.24.4" },
    dialects: &[Dialect {
        keys: Keys::COMMON,
        tells_event: true,
        marks: MARKS,
        events: EVENTS,
    }],
    raw_controls: false,
    denial: Denial::EVERY_CHANNEL,
    subagents: Subagents::Within,
    // An empty prompt comes after every turn with a tool.
    prompts: Prompts::SENT,
    failing: Failing::GUARDED,
    shares: &[],
    install: INSTALL,
};

const MARKS: &[Mark] = &[
    Mark::has("session_id"),
    Mark::has("transcript_path"),
    Mark::has("timestamp"),
    Mark::runs_have("tool_use_id"),
    Mark::runs_have("tool_call_id"),
];

const PRE: Powers = Powers {
    ask: Ask::Asks,
    ..Powers::BLOCK
};

const EVENTS: &[Event] = &[
    Event::new("PreToolUse", Kind::Pre)
        .answered(Form::Specific, PRE)
        .waits(WAIT_MS),
    Event::new("PermissionRequest", Kind::Permission).answered(Form::Behavior, Powers::BLOCK),
    Event::new("PostToolUse", Kind::Post)
        .answered(Form::Block, Powers::CONTEXT)
        .ending(Ending::Success)
        .waits(WAIT_MS),
    Event::new("PostToolUseFailure", Kind::PostFailure).waits(WAIT_MS),
    Event::new("PostToolBatch", Kind::Other),
    Event::new("UserPromptSubmit", Kind::Prompt)
        .answered(Form::Block, Powers::CONTEXT)
        .waits(WAIT_BRIEF_MS),
    Event::new("SessionStart", Kind::SessionStart)
        .answered(Form::Block, Powers::CONTEXT)
        .waits(WAIT_BRIEF_MS),
    Event::new("SessionEnd", Kind::SessionEnd).waits(WAIT_BRIEF_MS),
    Event::new("SubagentStart", Kind::SubagentStart).waits(WAIT_BRIEF_MS),
    Event::new("SubagentStop", Kind::SubagentStop).waits(WAIT_BRIEF_MS),
    Event::new("Stop", Kind::Completion).waits(WAIT_BRIEF_MS),
    Event::new("StopFailure", Kind::Other),
    Event::new("Notification", Kind::Other),
    Event::new("PreCompact", Kind::Other),
    Event::new("PostCompact", Kind::Other),
    Event::new("PermissionDenied", Kind::Other),
    Event::new("TodoCreated", Kind::Other),
    Event::new("TodoCompleted", Kind::Other),
    Event::new("MessageDisplay", Kind::Other),
];

const PROJECT: At = At::project(".qwen/settings.json");
const USER: At = At::user(".qwen/settings.json");

const INSTALL: Install = Install {
    files: &[PROJECT, USER],
    sources: &[
        Source::file(PROJECT),
        Source::plugins(At::project(".qwen/extensions")),
        Source::file(USER),
        Source::plugins(At::user(".qwen/extensions")),
        Source::file(At::managed("etc/qwen-code/settings.json")),
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
    instructions: "QWEN.md",
    switches: &[
        off(PROJECT, "disableAllHooks", Off::True),
        off(USER, "disableAllHooks", Off::True),
        off(PROJECT, "hooksConfig.enabled", Off::False),
        off(USER, "hooksConfig.enabled", Off::False),
    ],
    rules: &[
        rules(PROJECT, "permissions.deny", Narrow::Deny),
        rules(PROJECT, "permissions.ask", Narrow::Ask),
        rules(USER, "permissions.deny", Narrow::Deny),
        rules(USER, "permissions.ask", Narrow::Ask),
        rules(PROJECT, "tools.exclude", Narrow::Deny),
        rules(USER, "tools.exclude", Narrow::Deny),
    ],
    needs: &["trust the folder, or its settings are not read"],
    once: &[(Scope::Project, "you trust this folder")],
    open: &[
        "other arguments than the model's are dropped, so shell commands can't be rewritten",
        "a trusted repository's settings can switch hooks off, and there is no managed scope",
    ],
    moved: &[Moved::folder("QWEN_HOME", ".qwen")],
    shows: Shows {
        programs: &["qwen"],
        home: &[".qwen"],
    },
    sandbox: Some(SANDBOX),
    held: None,
};

const SANDBOX: OwnSandbox = OwnSandbox {
    by_default: false,
    on: &[sandboxed(PROJECT), sandboxed(USER)],
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
