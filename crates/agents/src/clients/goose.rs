//! Goose: a plugin folder; it can only be told «no», and its subagents reach no hook.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{At, Command, Handler, Install, Layout, Shows, Unit};
use crate::install::sources::Source;
use crate::profile::{
    Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers, Profile,
    Prompts, Subagents,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "goose",
    title: "Goose",
    evidence: Evidence::Run { version: "1.52.0" },
    dialects: &[Dialect {
        keys: KEYS,
        tells_event: true,
        marks: MARKS,
        events: EVENTS,
    }],
    raw_controls: false,
    denial: Denial::EVERY_CHANNEL,
    subagents: Subagents::Bypass,
    prompts: Prompts::SENT,
    failing: Failing::GUARDED,
    shares: &[],
    install: INSTALL,
};

const KEYS: Keys = Keys {
    event: &["event"],
    agent: &[],
    mode: &[],
    model: &[],
    cwd: &["working_dir"],
    call: &["tool_call_id"],
    output: &[],
    prompt: &["message"],
    ..Keys::COMMON
};

const MARKS: &[Mark] = &[
    Mark::has("event"),
    Mark::has("session_id"),
    Mark::lacks("hook_event_name"),
    Mark::lacks("timestamp"),
];

const EVENTS: &[Event] = &[
    Event::new("PreToolUse", Kind::Pre)
        .answered(Form::Block, Powers::BLOCK)
        .waits(WAIT_MS),
    Event::new("PostToolUse", Kind::Post)
        .ending(Ending::Success)
        .waits(WAIT_MS),
    Event::new("PostToolUseFailure", Kind::PostFailure).waits(WAIT_MS),
    Event::new("UserPromptSubmit", Kind::Prompt).waits(WAIT_BRIEF_MS),
    Event::new("SessionStart", Kind::SessionStart).waits(WAIT_BRIEF_MS),
    Event::new("SessionEnd", Kind::SessionEnd).waits(WAIT_BRIEF_MS),
    Event::new("SubagentStart", Kind::SubagentStart).waits(WAIT_BRIEF_MS),
    Event::new("SubagentStop", Kind::SubagentStop).waits(WAIT_BRIEF_MS),
    Event::new("Stop", Kind::Completion).waits(WAIT_BRIEF_MS),
    // These repeat what the events above say, and their answers are not read.
    Event::new("BeforeShellExecution", Kind::Other),
    Event::new("AfterShellExecution", Kind::Other),
    Event::new("BeforeReadFile", Kind::Other),
    Event::new("AfterFileEdit", Kind::Other),
];

const INSTALL: Install = Install {
    files: &[
        At::project(".agents/plugins/tagout"),
        At::user(".agents/plugins/tagout"),
    ],
    sources: &[
        Source::plugins(At::project(".agents/plugins")),
        Source::plugins(At::user(".agents/plugins")),
    ],
    through: None,
    layout: Layout::PluginFolder {
        handler: Handler {
            says_type: true,
            command: Command::Line("command"),
            timeout: Some(("timeout", Unit::Seconds)),
            closed: None,
        },
    },
    instructions: "AGENTS.md",
    switches: &[],
    rules: &[],
    needs: &[],
    once: &[],
    open: &[
        "a subagent's calls reach no hook, so delegating is denied",
        "arguments can't be rewritten, so shell commands run as they are or not at all",
    ],
    moved: &[],
    shows: Shows {
        programs: &["goose"],
        home: &[".config/goose"],
    },
    sandbox: None,
    held: None,
};
