//! Codex CLI: strict about every byte of an answer, and open whenever one is wrong.

use super::{WAIT_BRIEF_MS, WAIT_MS};
use crate::install::plan::{
    At, Command, Does, Handler, Held, Install, Layout, Moved, Off, OwnSandbox, RuleSource,
    RuleSyntax, Scope, Shows, Switch, Unit,
};
use crate::install::sources::Source;
use crate::profile::{
    Ask, Denial, Dialect, Ending, Event, Evidence, Failing, Form, Keys, Kind, Mark, Powers,
    Profile, Prompts, Rewrite, Subagents,
};

pub(crate) static PROFILE: Profile = Profile {
    id: "codex",
    title: "Codex CLI",
    evidence: Evidence::Run { version: "0.166.0" },
    dialects: &[Dialect {
        keys: Keys::COMMON,
        tells_event: true,
        marks: MARKS,
        events: EVENTS,
    }],
    raw_controls: false,
    denial: Denial::EXIT,
    subagents: Subagents::Within,
    prompts: Prompts::SENT,
    failing: Failing::GUARDED,
    shares: &[],
    install: INSTALL,
};

const MARKS: &[Mark] = &[
    Mark::has("session_id"),
    Mark::lacks("timestamp"),
    Mark::lacks("cursor_version"),
    Mark::tools_have("turn_id"),
    Mark::runs_have("tool_use_id"),
];

const PRE: Powers = Powers {
    ask: Ask::Runs,
    rewrite: Rewrite::NeedsAllow,
    ..Powers::BLOCK_OR_TELL
};

/// The longest that a session's end waits for its hooks.
const WAIT_END_MS: u64 = 3_000;

const EVENTS: &[Event] = &[
    Event::new("PreToolUse", Kind::Pre)
        .answered(Form::Specific, PRE)
        .waits(WAIT_MS),
    Event::new("PermissionRequest", Kind::Permission).answered(Form::Behavior, Powers::BLOCK),
    // A failed command has an empty result and no exit code.
    Event::new("PostToolUse", Kind::Post)
        .answered(Form::Block, Powers::TELL)
        .ending(Ending::Untold)
        .waits(WAIT_MS),
    Event::new("UserPromptSubmit", Kind::Prompt)
        .answered(Form::Block, Powers::BLOCK_OR_TELL)
        .waits(WAIT_BRIEF_MS),
    Event::new("SessionStart", Kind::SessionStart)
        .answered(Form::Block, Powers::CONTEXT)
        .waits(WAIT_BRIEF_MS),
    Event::new("SessionEnd", Kind::SessionEnd).waits(WAIT_END_MS),
    Event::new("SubagentStart", Kind::SubagentStart).waits(WAIT_BRIEF_MS),
    Event::new("SubagentStop", Kind::SubagentStop)
        .answered(
            Form::Block,
            Powers {
                context: false,
                ..Powers::TELL
            },
        )
        .waits(WAIT_BRIEF_MS),
    Event::new("Stop", Kind::Completion)
        .answered(
            Form::Block,
            Powers {
                context: false,
                ..Powers::TELL
            },
        )
        .waits(WAIT_BRIEF_MS),
    Event::new("PreCompact", Kind::Other),
    Event::new("PostCompact", Kind::Other),
    Event::new("Interrupt", Kind::Other),
];

const PROJECT: At = At::project(".codex/hooks.json");
const USER: At = At::user(".codex/hooks.json");
const MANAGED: At = At::managed("etc/codex/requirements.toml");

const INSTALL: Install = Install {
    files: &[PROJECT, USER, MANAGED],
    sources: &[
        Source::file(PROJECT),
        Source::file(At::project(".codex/config.toml")),
        Source::file(USER),
        Source::file(At::user(".codex/config.toml")),
        Source::file(At::managed("etc/codex/hooks.json")),
        Source::file(At::managed("etc/codex/config.toml")),
        Source::file(MANAGED),
    ],
    through: None,
    layout: Layout::Groups {
        under: Some("hooks"),
        handler: Handler {
            says_type: true,
            command: Command::Line("command"),
            timeout: Some(("timeout", Unit::Seconds)),
            closed: None,
        },
    },
    instructions: "AGENTS.md",
    switches: &[
        off(At::project(".codex/config.toml"), "features.hooks"),
        off(At::project(".codex/config.toml"), "features.codex_hooks"),
        off(At::user(".codex/config.toml"), "features.hooks"),
        off(At::user(".codex/config.toml"), "features.codex_hooks"),
        Switch {
            does: Does::StopsAll,
            ..off(MANAGED, "features.hooks")
        },
        Switch {
            at: MANAGED,
            way: "allow_managed_hooks_only",
            off: Off::True,
            does: Does::StopsUnmanaged,
            means: "only hooks of the managed scope run",
        },
    ],
    rules: &[
        RuleSource {
            at: At::project(".codex/rules/default.rules"),
            syntax: RuleSyntax::Prefixes,
        },
        RuleSource {
            at: At::user(".codex/rules/default.rules"),
            syntax: RuleSyntax::Prefixes,
        },
    ],
    needs: &[
        "open `/hooks` in the client and trust Tagout's hooks: until then they are skipped without \
         a word, and again after every change of their command; managed ones need no trust",
        "trust the project: hooks of an untrusted project are not read",
        "choose: in its own sandbox no command can be recorded and held, so each one is refused \
         and agents use edit tools; or start it with `--sandbox danger-full-access`, which gives \
         that sandbox up: Tagout's confines each command that reaches the hook, and what reaches \
         none runs without walls, so have the hooks trusted or managed first",
    ],
    once: &[
        (Scope::Project, "you trust this project and its hooks"),
        (Scope::User, "you trust its hooks"),
    ],
    open: &[
        "hooks that nobody has trusted are as if they were not there: Codex runs none of them; \
         closed by the managed scope, or by trusting them once",
        "a trusted repository's `config.toml` can switch hooks off, but not managed ones",
        "text typed into a running command reaches no hook",
    ],
    moved: &[Moved::folder("CODEX_HOME", ".codex")],
    shows: Shows {
        programs: &["codex"],
        home: &[".codex"],
    },
    sandbox: Some(SANDBOX),
    held: Some(Held {
        table: "features",
        key: "hooks",
    }),
};

/// Seen with the version that was run: inside, the state can't be written and no namespace can be
/// made, so that `exec` refuses. Nothing runs unconfined.
const SANDBOX: OwnSandbox = OwnSandbox {
    by_default: true,
    on: &[],
    off: &[
        full_access(At::project(".codex/config.toml")),
        full_access(At::user(".codex/config.toml")),
    ],
    trial: Some(&["sandbox", "--"]),
    remedy: "let agents use edit tools instead of commands; or, once the hooks are trusted or \
             managed, set `sandbox_mode = \"danger-full-access\"`: it takes the client's walls \
             from every command, Tagout puts its own around each one that reaches the hook, and \
             what reaches none runs without any",
};

const fn full_access(at: At) -> Switch {
    Switch {
        at,
        way: "sandbox_mode",
        off: Off::Word("danger-full-access"),
        does: Does::Loosens,
        means: "the client's own sandbox is off",
    }
}

const fn off(at: At, way: &'static str) -> Switch {
    Switch {
        at,
        way,
        off: Off::False,
        // The managed file holds the setting, so that nobody else's counts there.
        does: Does::StopsUnmanaged,
        means: "hooks are switched off",
    }
}
