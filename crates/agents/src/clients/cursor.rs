//! Cursor: read from its published engine and documentation, never run here.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{
    At, Closed, Command, Handler, Install, Layout, Narrow, RuleSource, RuleSyntax, Scope, Shows,
    Unit,
};
use crate::install::sources::Source;
use crate::profile::{
    Ask, CallForm, Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark,
    Powers, Profile, Prompts, Rewrite, Subagents, Then,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "cursor",
    title: "Cursor",
    evidence: Evidence::Read {
        source: "the hook engine in `@cursor/sdk` 1.0.32",
    },
    dialects: &[Dialect {
        keys: KEYS,
        tells_event: true,
        marks: MARKS,
        events: EVENTS,
    }],
    raw_controls: false,
    denial: Denial::OUTPUT,
    subagents: Subagents::Own,
    prompts: Prompts::SENT,
    failing: Failing {
        crash: Then::Blocked,
        timeout: Then::Blocked,
        missing: Then::Blocked,
        garbled: Then::Blocked,
    },
    shares: &[],
    install: INSTALL,
};

const KEYS: Keys = Keys {
    session: &["conversation_id", "session_id"],
    agent: &["subagent_id"],
    parent: &["parent_conversation_id"],
    cwd: &["cwd", "workspace_roots.0"],
    mode: &[],
    server: &["mcp_server_name"],
    server_tool: &["tool_name"],
    output: &["tool_output", "result_json", "output"],
    error: &["error_message"],
    refused: Some(("failure_type", "permission_denied")),
    ..Keys::COMMON
};

const MARKS: &[Mark] = &[Mark::has("conversation_id"), Mark::has("cursor_version")];

/// A question has no effect here; only a denial is looked at.
const PRE: Powers = Powers {
    ask: Ask::Runs,
    rewrite: Rewrite::Takes,
    ..Powers::BLOCK_OR_TELL
};

const ASKING: Powers = Powers {
    ask: Ask::Asks,
    ..Powers::BLOCK
};

const EVENTS: &[Event] = &[
    Event::new("preToolUse", Kind::Pre)
        .answered(Form::Permission, PRE)
        .waits(WAIT_MS),
    Event::new("postToolUse", Kind::Post)
        .answered(Form::Remark, Powers::CONTEXT)
        .ending(Ending::Success)
        .waits(WAIT_MS),
    Event::new("postToolUseFailure", Kind::PostFailure)
        .answered(Form::Remark, Powers::NONE)
        .waits(WAIT_MS),
    Event::new("beforeSubmitPrompt", Kind::Prompt)
        .answered(Form::Continue, Powers::BLOCK_OR_TELL)
        .waits(WAIT_BRIEF_MS),
    Event::new("sessionStart", Kind::SessionStart)
        .answered(Form::Remark, Powers::CONTEXT)
        .waits(WAIT_BRIEF_MS),
    Event::new("sessionEnd", Kind::SessionEnd)
        .answered(Form::Remark, Powers::NONE)
        .waits(WAIT_BRIEF_MS),
    Event::new("subagentStart", Kind::SubagentStart)
        .answered(Form::Permission, Powers::BLOCK)
        .waits(WAIT_BRIEF_MS),
    Event::new("subagentStop", Kind::SubagentStop)
        .answered(Form::Remark, Powers::NONE)
        .waits(WAIT_BRIEF_MS),
    Event::new("stop", Kind::Completion)
        .answered(Form::Remark, Powers::NONE)
        .waits(WAIT_BRIEF_MS),
    // The event above sees these calls too, and can rewrite them; so they are understood and not
    // registered.
    Event::new("beforeShellExecution", Kind::Pre)
        .answered(Form::Permission, ASKING)
        .calling(CallForm::Inline {
            tool: "beforeShellExecution",
            keys: &["command", "cwd", "sandbox"],
        }),
    Event::new("afterShellExecution", Kind::Post)
        .answered(Form::Remark, Powers::NONE)
        .calling(CallForm::Inline {
            tool: "beforeShellExecution",
            keys: &["command", "cwd", "sandbox"],
        }),
    Event::new("beforeMCPExecution", Kind::Pre).answered(Form::Permission, Powers::BLOCK),
    Event::new("afterMCPExecution", Kind::Post).answered(Form::Remark, Powers::NONE),
    Event::new("beforeReadFile", Kind::Pre)
        .answered(Form::Permission, Powers::BLOCK)
        .calling(CallForm::Inline {
            tool: "beforeReadFile",
            keys: &["file_path"],
        }),
    Event::new("afterFileEdit", Kind::Other).answered(Form::Remark, Powers::NONE),
    Event::new("beforeTabFileRead", Kind::Other).answered(Form::Remark, Powers::NONE),
    Event::new("afterTabFileEdit", Kind::Other).answered(Form::Remark, Powers::NONE),
    Event::new("afterAgentResponse", Kind::Other).answered(Form::Remark, Powers::NONE),
    Event::new("afterAgentThought", Kind::Other).answered(Form::Remark, Powers::NONE),
    Event::new("preCompact", Kind::Other).answered(Form::Remark, Powers::NONE),
    Event::new("workspaceOpen", Kind::Other).answered(Form::Remark, Powers::NONE),
];

const USER_RULES: At = At::user(".cursor/cli-config.json");
const PROJECT_RULES: At = At::project(".cursor/cli.json");

const INSTALL: Install = Install {
    files: &[
        At::project(".cursor/hooks.json"),
        At::user(".cursor/hooks.json"),
        At::managed("etc/cursor/hooks.json"),
    ],
    sources: &[
        Source::file(At::project(".cursor/hooks.json")),
        Source::file(At::project(".claude/settings.json")),
        Source::file(At::project(".claude/settings.local.json")),
        Source::file(At::user(".cursor/hooks.json")),
        Source::file(At::user(".claude/settings.json")),
        Source::file(At::managed("etc/cursor/hooks.json")),
    ],
    through: None,
    layout: Layout::Handlers {
        handler: Handler {
            says_type: false,
            command: Command::Line("command"),
            timeout: Some(("timeout", Unit::Seconds)),
            closed: Some(Closed::True("failClosed")),
        },
        version: true,
    },
    instructions: "AGENTS.md",
    switches: &[],
    rules: &[
        rules(PROJECT_RULES, "permissions.deny"),
        rules(USER_RULES, "permissions.deny"),
    ],
    needs: &["trust the workspace, or its hooks are not read"],
    once: &[(Scope::Project, "you trust this workspace")],
    open: &[
        "a question works only before shell commands, when the call is already judged",
        "text typed into a running command is hidden from hooks",
        "files of another client's hooks are read too, and those do not fail closed",
    ],
    moved: &[],
    shows: Shows {
        programs: &["cursor", "cursor-agent"],
        home: &[".cursor"],
    },
    sandbox: None,
    held: None,
};

const fn rules(at: At, way: &'static str) -> RuleSource {
    RuleSource {
        at,
        syntax: RuleSyntax::Calls {
            way,
            means: Narrow::Deny,
        },
    }
}
