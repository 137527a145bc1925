//! opencode: hooks are functions of a plugin, which Tagout writes and which calls the hook.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{At, Install, Layout, Moved, RuleSource, RuleSyntax, Shows};
use crate::install::sources::{Form as HookForm, Source};
use crate::profile::{
    Ask, Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers,
    Profile, Prompts, Rewrite, Subagents, Then,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "opencode",
    title: "opencode",
    evidence: Evidence::Run { version: "1.18.33" },
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
    // The plugin refuses whenever the hook does not answer in full.
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
    event: &["hook"],
    session: &["input.sessionID", "input.properties.sessionID"],
    agent: &[],
    parent: &["input.properties.info.parentID"],
    cwd: &[
        "directory",
        "input.properties.info.directory",
        "input.directory",
    ],
    model: &["output.message.model.modelID"],
    mode: &[],
    tool: &["input.tool"],
    arguments: &["output.args", "input.args"],
    call: &["input.callID"],
    output: &["output.output", "output.content"],
    error: &[],
    background: &[],
    prompt: &["output.parts.0.text"],
    source: &[],
    ..Keys::COMMON
};

const MARKS: &[Mark] = &[
    Mark::has("hook"),
    Mark::has("input"),
    Mark::lacks("hook_event_name"),
];

const PRE: Powers = Powers {
    ask: Ask::Runs,
    rewrite: Rewrite::Takes,
    ..Powers::BLOCK
};

const EVENTS: &[Event] = &[
    Event::new("tool.execute.before", Kind::Pre)
        .answered(Form::Bridge, PRE)
        .waits(WAIT_MS),
    Event::new("tool.execute.after", Kind::Post)
        .answered(Form::Bridge, Powers::CONTEXT)
        .ending(Ending::Exit("output.metadata.exit"))
        .waits(WAIT_MS),
    Event::new("chat.message", Kind::Prompt)
        .answered(Form::Bridge, Powers::NONE)
        .waits(WAIT_BRIEF_MS),
    Event::new("session.created", Kind::SessionStart)
        .on_wire("event~session.created")
        .answered(Form::Bridge, Powers::NONE)
        .waits(WAIT_BRIEF_MS),
    Event::new("session.idle", Kind::Completion)
        .on_wire("event~session.idle")
        .answered(Form::Bridge, Powers::NONE)
        .waits(WAIT_BRIEF_MS),
    Event::new("session.deleted", Kind::SessionEnd)
        .on_wire("event~session.deleted")
        .answered(Form::Bridge, Powers::NONE)
        .waits(WAIT_BRIEF_MS),
    // The plugin sends no others; these are understood all the same.
    other("plugin.init", "plugin.init"),
    other("chat.params", "chat.params"),
    other("shell.env", "shell.env"),
    other("catalog.updated", "event~catalog.updated"),
    other("file.edited", "event~file.edited"),
    other("integration.updated", "event~integration.updated"),
    other("plugin.added", "event~plugin.added"),
    other("reference.updated", "event~reference.updated"),
    other("session.diff", "event~session.diff"),
    other("session.status", "event~session.status"),
    other("session.updated", "event~session.updated"),
];

const fn other(name: &'static str, wire: &'static str) -> Event {
    Event::new(name, Kind::Other)
        .on_wire(wire)
        .answered(Form::Bridge, Powers::NONE)
}

const CONFIGURATION: [At; 2] = [
    At::project("opencode.json"),
    At::user(".config/opencode/opencode.json"),
];

const SCRIPTS: &[&str] = &["js", "ts"];

/// A configuration that names further plugins.
const fn listed(at: At) -> Source {
    Source::file(at).formed(HookForm::Listed("plugin"))
}

const INSTALL: Install = Install {
    files: &[
        At::project(".opencode/plugin/tagout.js"),
        At::user(".config/opencode/plugin/tagout.js"),
    ],
    sources: &[
        Source::scripts(At::project(".opencode/plugin"), SCRIPTS),
        Source::scripts(At::project(".opencode/plugins"), SCRIPTS),
        listed(CONFIGURATION[0]),
        listed(At::project("opencode.jsonc")),
        listed(At::project(".opencode/opencode.json")),
        listed(At::project(".opencode/opencode.jsonc")),
        Source::scripts(At::user(".config/opencode/plugin"), SCRIPTS),
        Source::scripts(At::user(".config/opencode/plugins"), SCRIPTS),
        listed(CONFIGURATION[1]),
        listed(At::user(".config/opencode/opencode.jsonc")),
    ],
    through: None,
    layout: Layout::PluginFile,
    instructions: "AGENTS.md",
    switches: &[],
    rules: &[table(CONFIGURATION[0]), table(CONFIGURATION[1])],
    needs: &[],
    once: &[],
    open: &[
        "a plugin that does not load is passed over without a word",
        "nobody can be asked in the middle of a call; a person agrees in a terminal",
        "a subagent's link to its parent comes only when its session begins",
    ],
    moved: &[Moved::folder("XDG_CONFIG_HOME", ".config")],
    shows: Shows {
        programs: &["opencode"],
        home: &[".config/opencode"],
    },
    sandbox: None,
    held: None,
};

const fn table(at: At) -> RuleSource {
    RuleSource {
        at,
        syntax: RuleSyntax::Table { way: "permission" },
    }
}
