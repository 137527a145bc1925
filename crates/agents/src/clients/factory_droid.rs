//! Factory Droid: the common dialect without ids, in a file that is keyed by event.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{
    At, Command, Does, Handler, Install, Layout, Narrow, Off, RuleSource, RuleSyntax, Shows,
    Switch, Unit,
};
use crate::install::sources::{Form as HookForm, Source};
use crate::profile::{
    Ask, Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers,
    Profile, Prompts, Rewrite, Subagents,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "factory-droid",
    title: "Factory Droid",
    evidence: Evidence::Run { version: "0.215.0" },
    dialects: &[Dialect {
        keys: KEYS,
        tells_event: true,
        marks: MARKS,
        events: EVENTS,
    }],
    raw_controls: false,
    denial: Denial::EVERY_CHANNEL,
    subagents: Subagents::Own,
    prompts: Prompts {
        own: &["# Task Tool Invocation"],
        ..Prompts::SENT
    },
    failing: Failing::GUARDED,
    shares: &[],
    install: INSTALL,
};

const KEYS: Keys = Keys {
    agent: &[],
    parent: &["calling_session_id"],
    call: &[],
    ..Keys::COMMON
};

const MARKS: &[Mark] = &[
    Mark::has("session_id"),
    Mark::has("transcript_path"),
    Mark::has("permission_mode"),
    Mark::lacks("timestamp"),
    Mark::lacks("turn_id"),
    Mark::lacks("prompt_id"),
    Mark::tools_lack("tool_use_id"),
];

const PRE: Powers = Powers {
    ask: Ask::Runs,
    rewrite: Rewrite::Takes,
    ..Powers::BLOCK
};

const EVENTS: &[Event] = &[
    Event::new("PreToolUse", Kind::Pre)
        .answered(Form::Specific, PRE)
        .waits(WAIT_MS),
    // A command that fails sends no event at all.
    Event::new("PostToolUse", Kind::Post)
        .answered(Form::Block, Powers::CONTEXT)
        .ending(Ending::Success)
        .waits(WAIT_MS),
    Event::new("UserPromptSubmit", Kind::Prompt).waits(WAIT_BRIEF_MS),
    Event::new("SessionStart", Kind::SessionStart)
        .answered(Form::Block, Powers::CONTEXT)
        .waits(WAIT_BRIEF_MS),
    Event::new("SessionEnd", Kind::SessionEnd).waits(WAIT_BRIEF_MS),
    Event::new("SubagentStop", Kind::SubagentStop).waits(WAIT_BRIEF_MS),
    Event::new("Stop", Kind::Completion).waits(WAIT_BRIEF_MS),
    Event::new("Notification", Kind::Other),
    Event::new("PreCompact", Kind::Other),
];

const SETTINGS: [At; 2] = [
    At::project(".factory/settings.json"),
    At::user(".factory/settings.json"),
];

const INSTALL: Install = Install {
    files: &[
        At::project(".factory/hooks.json"),
        At::user(".factory/hooks.json"),
    ],
    sources: &[
        Source::file(At::project(".factory/hooks.json")).formed(HookForm::Top),
        Source::file(At::project(".factory/hooks/hooks.json")).formed(HookForm::Top),
        Source::file(SETTINGS[0]),
        Source::file(At::project(".factory/settings.local.json")),
        Source::file(At::user(".factory/hooks.json")).formed(HookForm::Top),
        Source::file(At::user(".factory/hooks/hooks.json")).formed(HookForm::Top),
        Source::file(SETTINGS[1]),
        Source::file(At::managed("etc/factory/settings.json")),
    ],
    through: None,
    layout: Layout::Groups {
        under: None,
        handler: Handler {
            says_type: true,
            command: Command::Line("command"),
            timeout: Some(("timeout", Unit::Seconds)),
            closed: None,
        },
    },
    instructions: "AGENTS.md",
    switches: &[
        off(SETTINGS[0], "hooksDisabled"),
        off(SETTINGS[1], "hooksDisabled"),
        off(SETTINGS[0], "disableAllHooks"),
        off(SETTINGS[1], "disableAllHooks"),
    ],
    rules: &[lines(SETTINGS[0]), lines(SETTINGS[1])],
    needs: &[],
    once: &[],
    open: &[
        "the hook file can be changed in the middle of a session, and the change counts at once",
        "a question to the person lets the tool run when permissions are skipped",
    ],
    moved: &[],
    shows: Shows {
        programs: &["droid"],
        home: &[".factory"],
    },
    sandbox: None,
    held: None,
};

const fn off(at: At, way: &'static str) -> Switch {
    Switch {
        at,
        way,
        off: Off::True,
        does: Does::StopsAll,
        means: "hooks are switched off",
    }
}

const fn lines(at: At) -> RuleSource {
    RuleSource {
        at,
        syntax: RuleSyntax::Lines {
            way: "commandDenylist",
            means: Narrow::Deny,
        },
    }
}
