//! Windsurf Cascade: read from its documentation, never run here; the event is the tool.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{At, Command, Handler, Install, Layout, Shows};
use crate::install::sources::Source;
use crate::profile::{
    CallForm, Denial, Dialect, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers, Profile,
    Prompts, Subagents, Then,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "windsurf",
    title: "Windsurf Cascade",
    evidence: Evidence::Read {
        source: "its documentation",
    },
    dialects: &[Dialect {
        keys: KEYS,
        tells_event: true,
        marks: MARKS,
        events: EVENTS,
    }],
    raw_controls: true,
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
    event: &["agent_action_name"],
    session: &["trajectory_id"],
    agent: &[],
    cwd: &["tool_info.cwd"],
    model: &["model_name"],
    mode: &[],
    tool: &[],
    arguments: &["tool_info"],
    call: &[],
    output: &[],
    error: &[],
    prompt: &["tool_info.user_prompt"],
    ..Keys::COMMON
};

const MARKS: &[Mark] = &[Mark::has("agent_action_name"), Mark::has("trajectory_id")];

const READ: CallForm = CallForm::Event {
    tool: "pre_read_code",
    keys: &["file_path"],
};
const WRITE: CallForm = CallForm::Event {
    tool: "pre_write_code",
    keys: &["file_path", "edits"],
};
const RUN: CallForm = CallForm::Event {
    tool: "pre_run_command",
    keys: &["command_line", "cwd"],
};
const REMOTE: CallForm = CallForm::Event {
    tool: "pre_mcp_tool_use",
    keys: &["mcp_server_name", "mcp_tool_name", "mcp_tool_arguments"],
};

const EVENTS: &[Event] = &[
    before("pre_read_code", READ),
    before("pre_write_code", WRITE),
    before("pre_run_command", RUN),
    before("pre_mcp_tool_use", REMOTE),
    after("post_read_code", READ),
    after("post_write_code", WRITE),
    after("post_run_command", RUN),
    after("post_mcp_tool_use", REMOTE),
    Event::new("pre_user_prompt", Kind::Prompt)
        .answered(Form::Exit, Powers::BLOCK)
        .waits(WAIT_BRIEF_MS),
    Event::new("post_cascade_response", Kind::Completion).waits(WAIT_BRIEF_MS),
    Event::new("post_cascade_response_with_transcript", Kind::Other),
    Event::new("post_setup_worktree", Kind::Other),
];

const fn before(name: &'static str, call: CallForm) -> Event {
    Event::new(name, Kind::Pre)
        .answered(Form::Exit, Powers::BLOCK)
        .calling(call)
        .waits(WAIT_MS)
}

const fn after(name: &'static str, call: CallForm) -> Event {
    Event::new(name, Kind::Post).calling(call).waits(WAIT_MS)
}

const INSTALL: Install = Install {
    files: &[
        At::project(".windsurf/hooks.json"),
        At::user(".codeium/windsurf/hooks.json"),
        At::managed("etc/windsurf/hooks.json"),
    ],
    sources: &[
        Source::file(At::project(".windsurf/hooks.json")),
        Source::file(At::user(".codeium/windsurf/hooks.json")),
        Source::file(At::managed("etc/windsurf/hooks.json")),
    ],
    through: None,
    layout: Layout::Handlers {
        handler: Handler {
            says_type: false,
            command: Command::Line("command"),
            timeout: None,
            closed: None,
        },
        version: false,
    },
    instructions: ".windsurf/rules/tagout.md",
    switches: &[],
    rules: &[],
    needs: &[],
    once: &[],
    open: &[
        "no question, no rewriting, no context: only code 2 before a tool",
        "tools beyond reading, writing, commands and MCP reach no hook",
    ],
    moved: &[],
    shows: Shows {
        programs: &["windsurf"],
        home: &[".codeium/windsurf"],
    },
    sandbox: None,
    held: None,
};
