//! Kiro: read from its documentation, never run here.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{At, Install, Layout, Shows};
use crate::install::sources::Source;
use crate::profile::{
    Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers, Profile,
    Prompts, Subagents, Then,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "kiro",
    title: "Kiro",
    evidence: Evidence::Read {
        source: "its documentation",
    },
    dialects: &[
        Dialect {
            keys: KEYS,
            tells_event: true,
            marks: MARKS,
            events: FILES,
        },
        Dialect {
            keys: KEYS,
            tells_event: true,
            marks: MARKS,
            events: AGENTS,
        },
    ],
    raw_controls: false,
    denial: Denial::EXIT,
    subagents: Subagents::Unmarked,
    prompts: Prompts::SENT,
    failing: Failing {
        timeout: Then::Unknown,
        ..Failing::GUARDED
    },
    shares: &[],
    install: INSTALL,
};

const KEYS: Keys = Keys {
    agent: &[],
    mode: &[],
    ..Keys::COMMON
};

const MARKS: &[Mark] = &[
    Mark::has("hook_event_name"),
    Mark::lacks("transcript_path"),
    Mark::lacks("timestamp"),
    Mark::lacks("cursor_version"),
];

/// Hooks in files of their own.
const FILES: &[Event] = &[
    Event::new("PreToolUse", Kind::Pre)
        .answered(Form::Exit, Powers::BLOCK)
        .waits(WAIT_MS),
    Event::new("PostToolUse", Kind::Post)
        .ending(Ending::Untold)
        .waits(WAIT_MS),
    Event::new("UserPromptSubmit", Kind::Prompt)
        .answered(Form::ExitAndPrint, Powers::CONTEXT)
        .waits(WAIT_BRIEF_MS),
    Event::new("SessionStart", Kind::SessionStart)
        .answered(Form::ExitAndPrint, Powers::CONTEXT)
        .waits(WAIT_BRIEF_MS),
    Event::new("Stop", Kind::Completion).waits(WAIT_BRIEF_MS),
];

/// Hooks in an agent's configuration, as older versions have them.
const AGENTS: &[Event] = &[
    Event::new("preToolUse", Kind::Pre).answered(Form::Exit, Powers::BLOCK),
    Event::new("postToolUse", Kind::Post).ending(Ending::Untold),
    Event::new("userPromptSubmit", Kind::Prompt).answered(Form::ExitAndPrint, Powers::CONTEXT),
    Event::new("agentSpawn", Kind::SessionStart).answered(Form::ExitAndPrint, Powers::CONTEXT),
    Event::new("stop", Kind::Completion),
];

const INSTALL: Install = Install {
    files: &[
        At::project(".kiro/hooks/tagout.json"),
        At::user(".kiro/hooks/tagout.json"),
    ],
    sources: &[
        Source::folder(At::project(".kiro/hooks")),
        Source::folder(At::project(".kiro/agents")),
        Source::folder(At::user(".kiro/hooks")),
        Source::folder(At::user(".kiro/agents")),
    ],
    through: None,
    layout: Layout::Triggers,
    instructions: ".kiro/steering/tagout.md",
    switches: &[],
    rules: &[],
    needs: &["versions before 3 keep hooks in an agent's own file, which `install` does not write"],
    once: &[],
    open: &[
        "no question and no rewriting: only code 2 before a tool",
        "a payload without a session is refused",
    ],
    moved: &[],
    shows: Shows {
        programs: &["kiro", "kiro-cli"],
        home: &[".kiro"],
    },
    sandbox: None,
    held: None,
};
