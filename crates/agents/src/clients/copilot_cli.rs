//! GitHub Copilot CLI: two dialects, chosen by how an event is spelled in the configuration.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{
    At, Command, Does, Handler, Install, Layout, Moved, Off, Scope, Shows, Switch, Unit,
};
use crate::install::sources::Source;
use crate::profile::{
    Ask, Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers,
    Profile, Prompts, Rewrite, Subagents,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "copilot-cli",
    title: "GitHub Copilot CLI",
    evidence: Evidence::Run { version: "1.0.102" },
    dialects: &[
        Dialect {
            keys: PASCAL,
            tells_event: true,
            marks: PASCAL_MARKS,
            events: PASCAL_EVENTS,
        },
        Dialect {
            keys: CAMEL,
            tells_event: false,
            marks: CAMEL_MARKS,
            events: CAMEL_EVENTS,
        },
    ],
    raw_controls: false,
    // With a code other than 0 the client says that the hook ended with it, and not why.
    denial: Denial::OUTPUT,
    subagents: Subagents::Own,
    prompts: Prompts::SENT,
    failing: Failing::GUARDED,
    shares: &["vscode"],
    install: INSTALL,
};

const PASCAL: Keys = Keys {
    parent: &["parent_agent_id"],
    call: &[],
    output: &["tool_result"],
    ..Keys::COMMON
};

const CAMEL: Keys = Keys {
    event: &["hookName"],
    session: &["sessionId"],
    agent: &["agentId"],
    parent: &["parentAgentId"],
    mode: &[],
    tool: &["toolName"],
    server: &["serverName"],
    server_tool: &["toolName"],
    arguments: &["toolArgs", "toolInput", "arguments"],
    call: &["toolCallId"],
    output: &["toolResult"],
    ..Keys::COMMON
};

const PASCAL_MARKS: &[Mark] = &[
    Mark::has("session_id"),
    Mark::has("timestamp"),
    Mark::tools_lack("transcript_path"),
    Mark::tools_lack("tool_use_id"),
    Mark::tools_lack("permission_mode"),
];

const CAMEL_MARKS: &[Mark] = &[
    Mark::has("sessionId"),
    Mark::has("timestamp"),
    Mark::lacks("hook_event_name"),
    Mark::lacks("hookEventName"),
    Mark::lacks("clineVersion"),
];

const PRE: Powers = Powers {
    ask: Ask::Asks,
    rewrite: Rewrite::Takes,
    ..Powers::BLOCK_OR_TELL
};

const PASCAL_EVENTS: &[Event] = &[
    Event::new("PreToolUse", Kind::Pre)
        .answered(Form::Specific, PRE)
        .waits(WAIT_MS),
    // A command that ended with 3 is reported as a success.
    Event::new("PostToolUse", Kind::Post)
        .answered(Form::Block, Powers::CONTEXT)
        .ending(Ending::Untold)
        .waits(WAIT_MS),
    Event::new("PostToolUseFailure", Kind::PostFailure).waits(WAIT_MS),
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
    Event::new("PreCompact", Kind::Other),
    Event::new("Notification", Kind::Other),
];

const CAMEL_EVENTS: &[Event] = &[
    Event::new("preToolUse", Kind::Pre).answered(Form::Flat, PRE),
    Event::new("preMcpToolCall", Kind::Pre).answered(Form::Flat, Powers::BLOCK),
    Event::new("permissionRequest", Kind::Permission).answered(Form::FlatBehavior, Powers::BLOCK),
    Event::new("postToolUse", Kind::Post)
        .answered(Form::Flat, Powers::CONTEXT)
        .ending(Ending::Untold),
    Event::new("postToolUseFailure", Kind::PostFailure),
    Event::new("userPromptSubmitted", Kind::Prompt).answered(Form::Flat, Powers::CONTEXT),
    Event::new("userPromptTransformed", Kind::Other),
    Event::new("sessionStart", Kind::SessionStart).answered(Form::Flat, Powers::CONTEXT),
    Event::new("sessionEnd", Kind::SessionEnd),
    Event::new("subagentStart", Kind::SubagentStart),
    Event::new("subagentStop", Kind::SubagentStop),
    Event::new("agentStop", Kind::Completion),
    Event::new("preCompact", Kind::Other),
    Event::new("notification", Kind::Other),
    Event::new("errorOccurred", Kind::Other),
];

const INSTALL: Install = Install {
    files: &[
        At::project(".github/hooks/tagout.json"),
        At::user(".copilot/hooks/tagout.json"),
        At::managed("etc/github-copilot/policy.d/tagout.json"),
    ],
    sources: &[
        Source::folder(At::project(".github/hooks")),
        Source::file(At::project(".github/copilot/settings.json")),
        Source::file(At::project(".claude/settings.json")),
        Source::file(At::project(".claude/settings.local.json")),
        Source::folder(At::user(".copilot/hooks")),
        Source::file(At::user(".copilot/settings.json")),
        Source::file(At::user(".copilot/config.json")),
        Source::folder(At::managed("etc/github-copilot/policy.d")),
    ],
    through: None,
    layout: Layout::Handlers {
        handler: Handler {
            says_type: true,
            // The editor reads the same files, and knows this key alone. In the managed file the
            // client takes a hook without the other one for broken, and does nothing at all.
            command: Command::LineBut {
                key: "command",
                managed: "bash",
            },
            timeout: Some(("timeout", Unit::Seconds)),
            closed: None,
        },
        version: true,
    },
    instructions: ".github/copilot-instructions.md",
    switches: &[
        off(At::project(".github/hooks/tagout.json")),
        off(At::project(".github/copilot/settings.json")),
        off(At::user(".copilot/settings.json")),
        off(At::user(".copilot/config.json")),
    ],
    rules: &[],
    needs: &[
        "trust the folder, or its hooks are not read",
        "where commands are allowed beforehand, allow the folders of Tagout's program and state \
         too (`--add-dir`), or the client asks about each of them",
    ],
    once: &[(Scope::Project, "you trust this folder")],
    open: &[
        "a trusted repository's settings can switch hooks off; the managed scope withstands it",
        "the editor reads the same folder, so its calls reach this hook too",
    ],
    moved: &[Moved::folder("COPILOT_HOME", ".copilot")],
    shows: Shows {
        programs: &["copilot"],
        home: &[".copilot"],
    },
    sandbox: None,
    held: None,
};

const fn off(at: At) -> Switch {
    Switch {
        at,
        way: "disableAllHooks",
        off: Off::True,
        // The managed file's hooks run all the same.
        does: Does::StopsUnmanaged,
        means: "hooks are switched off",
    }
}
