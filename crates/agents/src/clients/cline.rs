//! Cline: an executable file for each event, and only its standard output counts.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{At, Install, Layout, Scope, Shows};
use crate::install::sources::Source;
use crate::profile::{
    Ask, Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers,
    Profile, Prompts, Rewrite, Subagents, Then,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "cline",
    title: "Cline",
    evidence: Evidence::Run { version: "3.0.65" },
    dialects: &[Dialect {
        keys: KEYS,
        tells_event: true,
        marks: MARKS,
        events: EVENTS,
    }],
    raw_controls: false,
    denial: Denial::OUTPUT_ONLY,
    subagents: Subagents::Numbered,
    prompts: Prompts {
        sent: false,
        ..Prompts::SENT
    },
    failing: Failing {
        timeout: Then::Unknown,
        ..Failing::GUARDED
    },
    shares: &[],
    install: INSTALL,
};

const KEYS: Keys = Keys {
    event: &["hookName"],
    session: &["sessionContext.rootSessionId", "taskId"],
    parent: &["parent_agent_id"],
    cwd: &["workspaceInfo.rootPath", "workspaceRoots.0"],
    mode: &[],
    tool: &[
        "tool_call.name",
        "tool_result.name",
        "preToolUse.toolName",
        "postToolUse.toolName",
    ],
    // The older form carries texts only, which is why it is the last resort.
    arguments: &[
        "tool_call.input",
        "tool_result.input",
        "preToolUse.parameters",
        "postToolUse.parameters",
    ],
    call: &["tool_call.id", "tool_result.id"],
    output: &["tool_result.output"],
    error: &["tool_result.error"],
    prompt: &["userPromptSubmit.prompt", "prompt"],
    ..Keys::COMMON
};

const MARKS: &[Mark] = &[
    Mark::has("taskId"),
    Mark::has("clineVersion"),
    Mark::has("hookName"),
];

/// A denial ends the whole run.
const PRE: Powers = Powers {
    ask: Ask::Runs,
    rewrite: Rewrite::Takes,
    ..Powers::BLOCK_OR_TELL
};

const EVENTS: &[Event] = &[
    Event::new("PreToolUse", Kind::Pre)
        .on_wire("tool_call")
        .answered(Form::Cancel, PRE)
        .waits(WAIT_MS),
    Event::new("PostToolUse", Kind::Post)
        .on_wire("tool_result")
        .answered(Form::Cancel, Powers::CONTEXT)
        .ending(Ending::Flag("postToolUse.success"))
        .waits(WAIT_MS),
    Event::new("UserPromptSubmit", Kind::Prompt)
        .on_wire("prompt_submit")
        .answered(Form::Cancel, Powers::BLOCK_OR_TELL),
    Event::new("TaskStart", Kind::SessionStart)
        .on_wire("agent_start")
        .waits(WAIT_BRIEF_MS),
    Event::new("TaskResume", Kind::SessionStart)
        .on_wire("agent_resume")
        .waits(WAIT_BRIEF_MS),
    Event::new("TaskComplete", Kind::Completion)
        .on_wire("agent_end")
        .waits(WAIT_BRIEF_MS),
    Event::new("TaskCancel", Kind::Other).on_wire("agent_abort"),
    Event::new("TaskError", Kind::Other).on_wire("agent_error"),
    Event::new("PreCompact", Kind::Other).on_wire("pre_compact"),
    // It comes after every run, also after one that a denial ended: the intent is free then.
    Event::new("SessionShutdown", Kind::SessionEnd)
        .on_wire("session_shutdown")
        .waits(WAIT_BRIEF_MS),
];

const INSTALL: Install = Install {
    files: &[At::project(".cline/hooks"), At::user(".cline/hooks")],
    sources: &[
        Source::events(At::project(".cline/hooks")),
        Source::events(At::project(".clinerules/hooks")),
        Source::events(At::user(".cline/hooks")),
        Source::events(At::user("Documents/Cline/Hooks")),
    ],
    through: None,
    layout: Layout::Executables,
    instructions: ".clinerules/tagout.md",
    switches: &[],
    rules: &[],
    needs: &["switch hooks on in the editor's extension; the command line has them on"],
    once: &[
        (
            Scope::Project,
            "hooks are on, which the editor's extension leaves to you",
        ),
        (
            Scope::User,
            "hooks are on, which the editor's extension leaves to you",
        ),
    ],
    open: &[
        "a denial ends the whole run, so the agent can't recover from it",
        "a hook that fails to start is passed over without a word",
        "no event tells that a person typed; the first call of a run implies it",
    ],
    moved: &[],
    shows: Shows {
        programs: &["cline"],
        home: &[".cline"],
    },
    sandbox: None,
    held: None,
};
