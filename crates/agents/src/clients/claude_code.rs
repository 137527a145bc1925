//! Claude Code: the richest of the dialects, and the one that most others took over.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{
    At, Closed, Command, Does, Handler, Install, Layout, Moved, Narrow, Off, OwnSandbox,
    RuleSource, RuleSyntax, Shows, Switch, Unit,
};
use crate::install::sources::Source;
use crate::profile::{
    Ask, Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers,
    Profile, Prompts, Rewrite, Subagents, Then,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "claude-code",
    title: "Claude Code",
    evidence: Evidence::Run { version: "2.1.325" },
    dialects: &[Dialect {
        keys: KEYS,
        tells_event: true,
        marks: MARKS,
        events: EVENTS,
    }],
    raw_controls: false,
    denial: Denial::EVERY_CHANNEL,
    subagents: Subagents::Within,
    prompts: Prompts {
        sent: true,
        people: &["user", "sdk"],
        own: &["<task-notification>"],
    },
    failing: Failing {
        crash: Then::Blocked,
        timeout: Then::Blocked,
        missing: Then::Blocked,
        garbled: Then::Runs,
    },
    shares: &["copilot-cli", "cursor", "vscode"],
    install: INSTALL,
};

const KEYS: Keys = Keys {
    changed: &["tool_response.bashEditDiff.changedFiles"],
    background: &["tool_response.backgroundTaskId", "tool_response.outputFile"],
    ..Keys::COMMON
};

const MARKS: &[Mark] = &[
    Mark::has("session_id"),
    Mark::has("transcript_path"),
    Mark::lacks("timestamp"),
    Mark::lacks("cursor_version"),
    Mark::tools_lack("turn_id"),
    Mark::runs_have("tool_use_id"),
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
    Event::new("PermissionRequest", Kind::Permission).answered(
        Form::Behavior,
        Powers {
            rewrite: Rewrite::NeedsAllow,
            ..Powers::BLOCK
        },
    ),
    Event::new("PostToolUse", Kind::Post)
        .answered(Form::Block, Powers::TELL)
        .ending(Ending::Success)
        .waits(WAIT_MS),
    Event::new("PostToolUseFailure", Kind::PostFailure)
        .answered(Form::Block, Powers::CONTEXT)
        .waits(WAIT_MS),
    Event::new("PostToolBatch", Kind::Other),
    Event::new("UserPromptSubmit", Kind::Prompt)
        .answered(Form::Block, Powers::BLOCK_OR_TELL)
        .waits(WAIT_BRIEF_MS),
    Event::new("UserPromptExpansion", Kind::Other),
    Event::new("SessionStart", Kind::SessionStart)
        .answered(Form::Block, Powers::CONTEXT)
        .going_on(&["compact"])
        .waits(WAIT_BRIEF_MS),
    Event::new("SessionEnd", Kind::SessionEnd).waits(WAIT_BRIEF_MS),
    Event::new("SubagentStart", Kind::SubagentStart)
        .answered(Form::Block, Powers::CONTEXT)
        .waits(WAIT_BRIEF_MS),
    Event::new("SubagentStop", Kind::SubagentStop)
        .answered(Form::Block, Powers::TELL)
        .waits(WAIT_BRIEF_MS),
    Event::new("Stop", Kind::Completion)
        .answered(Form::Block, Powers::TELL)
        .waits(WAIT_BRIEF_MS),
    Event::new("StopFailure", Kind::Other),
    Event::new("ConfigChange", Kind::ConfigChange)
        .answered(Form::Block, Powers::BLOCK)
        .waits(WAIT_BRIEF_MS),
    Event::new("PermissionDenied", Kind::Other),
    Event::new("Notification", Kind::Other),
    Event::new("PreCompact", Kind::Other),
    Event::new("PostCompact", Kind::Other),
    Event::new("PreModelSwitch", Kind::Other),
    Event::new("PostModelSwitch", Kind::Other),
    Event::new("Setup", Kind::Other),
    Event::new("TeammateIdle", Kind::Other),
    Event::new("TaskCreated", Kind::Other),
    Event::new("TaskCompleted", Kind::Other),
    Event::new("Elicitation", Kind::Other),
    Event::new("ElicitationResult", Kind::Other),
    Event::new("WorktreeCreate", Kind::Other),
    Event::new("WorktreeRemove", Kind::Other),
    Event::new("InstructionsLoaded", Kind::Other),
    Event::new("CwdChanged", Kind::Other),
    Event::new("FileChanged", Kind::Other),
    Event::new("DirectoryAdded", Kind::Other),
    Event::new("MessageDisplay", Kind::Other),
];

const LOCAL: At = At::project(".claude/settings.local.json");
const SHARED: At = At::project(".claude/settings.json");
const USER: At = At::user(".claude/settings.json");
const MANAGED: At = At::managed("etc/claude-code/managed-settings.json");

const INSTALL: Install = Install {
    // The command holds paths of this machine, so it goes into the file that is not committed.
    files: &[LOCAL, USER, MANAGED],
    sources: &[
        Source::file(LOCAL),
        Source::file(SHARED),
        Source::file(USER),
        Source::file(MANAGED),
    ],
    through: None,
    layout: Layout::Groups {
        under: Some("hooks"),
        handler: Handler {
            says_type: true,
            command: Command::Exec,
            timeout: Some(("timeout", Unit::Seconds)),
            closed: Some(Closed::Word("onFailure", "block")),
        },
    },
    instructions: "CLAUDE.md",
    switches: &[
        off(SHARED, "disableAllHooks"),
        off(LOCAL, "disableAllHooks"),
        off(USER, "disableAllHooks"),
        Switch {
            at: MANAGED,
            way: "allowManagedHooksOnly",
            off: Off::True,
            does: Does::StopsUnmanaged,
            means: "only hooks of the managed scope run",
        },
        bypass(SHARED),
        bypass(LOCAL),
        bypass(USER),
    ],
    rules: &[
        rules(SHARED, "permissions.deny", Narrow::Deny),
        rules(SHARED, "permissions.ask", Narrow::Ask),
        rules(LOCAL, "permissions.deny", Narrow::Deny),
        rules(LOCAL, "permissions.ask", Narrow::Ask),
        rules(USER, "permissions.deny", Narrow::Deny),
        rules(USER, "permissions.ask", Narrow::Ask),
        rules(MANAGED, "permissions.deny", Narrow::Deny),
        rules(MANAGED, "permissions.ask", Narrow::Ask),
    ],
    needs: &[],
    once: &[],
    open: &[
        "a repository's settings can switch a user's hooks off; the managed scope withstands it",
        "the flags `--bare` and `--safe-mode` skip hooks below the managed scope",
        "files that a person mentions with `@` are read without a hook",
    ],
    moved: &[Moved::folder("CLAUDE_CONFIG_DIR", ".claude")],
    shows: Shows {
        programs: &["claude"],
        home: &[".claude"],
    },
    sandbox: Some(SANDBOX),
    held: None,
};

/// The commands of agents run in it only where a person switched it on.
const SANDBOX: OwnSandbox = OwnSandbox {
    by_default: false,
    on: &[
        sandboxed(SHARED),
        sandboxed(LOCAL),
        sandboxed(USER),
        sandboxed(MANAGED),
    ],
    off: &[],
    trial: None,
    remedy: "list `tagout *` under `sandbox.excludedCommands`, or switch `sandbox.enabled` off: \
             Tagout confines the commands itself",
};

const fn sandboxed(at: At) -> Switch {
    Switch {
        at,
        way: "sandbox.enabled",
        off: Off::True,
        does: Does::Loosens,
        means: "the client's own sandbox is on",
    }
}

const fn off(at: At, way: &'static str) -> Switch {
    Switch {
        at,
        way,
        off: Off::True,
        does: Does::StopsUnmanaged,
        means: "hooks are switched off",
    }
}

const fn bypass(at: At) -> Switch {
    Switch {
        at,
        way: "permissions.defaultMode",
        off: Off::Word("bypassPermissions"),
        does: Does::Loosens,
        means: "the client itself asks nobody; only the hooks still stand",
    }
}

const fn rules(at: At, way: &'static str, means: Narrow) -> RuleSource {
    RuleSource {
        at,
        syntax: RuleSyntax::Calls { way, means },
    }
}
