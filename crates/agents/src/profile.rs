//! What is known of a client, as data: events, keys, answers, and where its configuration lies.

use crate::install::plan::Install;

/// One client.
#[derive(Debug)]
pub struct Profile {
    /// The name on the command line, in policies and in the ledger.
    pub id: &'static str,
    /// The name that people know.
    pub title: &'static str,
    /// How what is written here came to be known.
    pub evidence: Evidence,
    /// The spellings of its payloads. Most clients have one.
    pub dialects: &'static [Dialect],
    /// Whether its JSON has been seen with control characters that are not escaped.
    pub raw_controls: bool,
    /// How a denial is said.
    pub denial: Denial,
    /// How its subagents show in payloads.
    pub subagents: Subagents,
    /// How a prompt that nobody typed is told from one that a person did.
    pub prompts: Prompts,
    /// What it does when the hook itself fails.
    pub failing: Failing,
    /// Other clients that read the same configuration files.
    pub shares: &'static [&'static str],
    /// How its hooks are configured.
    pub install: Install,
}

/// How a client's behaviour is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Evidence {
    /// It was run, its payloads were captured and its reactions measured.
    Run {
        /// The version.
        version: &'static str,
    },
    /// It was never run here.
    Read {
        /// What was read instead.
        source: &'static str,
    },
}

/// One spelling of a client's payloads.
#[derive(Debug)]
pub struct Dialect {
    /// Where things stand in a payload.
    pub keys: Keys,
    /// Whether every payload tells its event.
    pub tells_event: bool,
    /// What tells this client's payload from another's.
    pub marks: &'static [Mark],
    /// The events.
    pub events: &'static [Event],
}

/// Ways to one value in a payload, the first that leads somewhere counts. A way is a key, or keys
/// and list positions with dots between them.
pub type Ways = &'static [&'static str];

/// Where things stand in a payload.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// The event's name; nothing where payloads do not tell it.
    pub event: Ways,
    /// The conversation.
    pub session: Ways,
    /// The agent within the conversation.
    pub agent: Ways,
    /// The agent or conversation that started this one.
    pub parent: Ways,
    /// The working directory.
    pub cwd: Ways,
    /// The model.
    pub model: Ways,
    /// The client's own permission mode.
    pub mode: Ways,
    /// The tool.
    pub tool: Ways,
    /// The MCP server, where the client names it apart from the tool.
    pub server: Ways,
    /// The tool's name on that server.
    pub server_tool: Ways,
    /// The arguments.
    pub arguments: Ways,
    /// The call's id.
    pub call: Ways,
    /// What the tool returned.
    pub output: Ways,
    /// Why it failed.
    pub error: Ways,
    /// Where a failure says that the call was refused before it ran, and the word for that.
    pub refused: Option<(&'static str, &'static str)>,
    /// Files that the client says were changed.
    pub changed: Ways,
    /// The id of what goes on in the background after the call.
    pub background: Ways,
    /// What was typed.
    pub prompt: Ways,
    /// Where a prompt, a session or a change of settings comes from.
    pub source: Ways,
    /// The settings file that changed.
    pub file: Ways,
}

impl Keys {
    /// The keys that most clients took over from one another.
    pub const COMMON: Self = Self {
        event: &["hook_event_name"],
        session: &["session_id"],
        agent: &["agent_id"],
        parent: &[],
        cwd: &["cwd"],
        model: &["model"],
        mode: &["permission_mode"],
        tool: &["tool_name"],
        server: &[],
        server_tool: &[],
        arguments: &["tool_input"],
        call: &["tool_use_id"],
        output: &["tool_response"],
        error: &["error"],
        refused: None,
        changed: &[],
        background: &[],
        prompt: &["prompt"],
        source: &["source"],
        file: &["file_path"],
    };
}

/// A key that tells clients apart.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// The way to it.
    pub way: &'static str,
    /// Where it is looked for.
    pub on: On,
    /// Whether it has to be there or must not be.
    pub is: Is,
}

/// The events on which a mark counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum On {
    /// All of them.
    Every,
    /// Those about a tool, the client's own question among them.
    Tools,
    /// Those before and after a tool.
    Runs,
}

/// What a mark asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Is {
    /// The key is there.
    There,
    /// It is not.
    Absent,
}

impl Mark {
    /// A key that every payload has.
    pub const fn has(way: &'static str) -> Self {
        Self {
            way,
            on: On::Every,
            is: Is::There,
        }
    }

    /// A key that every payload about a tool has.
    pub const fn tools_have(way: &'static str) -> Self {
        Self {
            way,
            on: On::Tools,
            is: Is::There,
        }
    }

    /// A key that no payload has.
    pub const fn lacks(way: &'static str) -> Self {
        Self {
            way,
            on: On::Every,
            is: Is::Absent,
        }
    }

    /// A key that no payload about a tool has.
    pub const fn tools_lack(way: &'static str) -> Self {
        Self {
            way,
            on: On::Tools,
            is: Is::Absent,
        }
    }

    /// A key that every payload before and after a tool has.
    pub const fn runs_have(way: &'static str) -> Self {
        Self {
            way,
            on: On::Runs,
            is: Is::There,
        }
    }
}

/// One event of a client.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The name, as the client's configuration spells it.
    pub name: &'static str,
    /// The name in the payload, where it differs.
    pub wire: &'static str,
    /// What happened.
    pub kind: Kind,
    /// How a call is written.
    pub call: CallForm,
    /// How the payload tells the call's end.
    pub ended: Ending,
    /// The words of a session's source by which it goes on where it was.
    pub goes_on: &'static [&'static str],
    /// How an answer is written.
    pub form: Form,
    /// What the client does with an answer.
    pub powers: Powers,
    /// Whether `install` registers it, and how long the client then waits.
    pub wait_ms: Option<u64>,
}

/// What an event is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A tool is about to run.
    Pre,
    /// The client is about to ask a person whether a tool may run.
    Permission,
    /// A tool has run.
    Post,
    /// A tool has run and failed.
    PostFailure,
    /// Someone or something typed.
    Prompt,
    /// A conversation begins.
    SessionStart,
    /// A conversation ends.
    SessionEnd,
    /// A subagent begins.
    SubagentStart,
    /// A subagent ends.
    SubagentStop,
    /// The agent considers its work done.
    Completion,
    /// A settings file changed.
    ConfigChange,
    /// Something that changes nothing for Tagout.
    Other,
}

impl Kind {
    /// Whether the event is about a tool call.
    pub const fn is_tool(self) -> bool {
        matches!(
            self,
            Self::Pre | Self::Permission | Self::Post | Self::PostFailure
        )
    }
}

/// How a call is written in a payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CallForm {
    /// Tool and arguments have keys of their own.
    Named,
    /// The event itself is the tool; the arguments have a key of their own.
    Event {
        /// The tool's name, the same before and after.
        tool: &'static str,
        /// The arguments that it is sent with.
        keys: &'static [&'static str],
    },
    /// The event itself is the tool; the arguments stand among the other keys.
    Inline {
        /// The tool's name, the same before and after.
        tool: &'static str,
        /// The keys that are arguments.
        keys: &'static [&'static str],
    },
}

/// How a payload tells whether a call went well.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// The event comes only after success.
    Success,
    /// It does not tell.
    Untold,
    /// A truth value.
    Flag(&'static str),
    /// An exit code; where there is none, all went well.
    Exit(&'static str),
    /// An error where it failed; without one nothing is told.
    Error(&'static str),
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// `hookSpecificOutput` with a `permissionDecision`.
    Specific,
    /// `permissionDecision` and its like at the top.
    Flat,
    /// `decision` at the top, the rest in `hookSpecificOutput`.
    Decision,
    /// `decision: block` at the top, context in `hookSpecificOutput`.
    Block,
    /// `hookSpecificOutput.decision.behavior`.
    Behavior,
    /// `behavior` at the top.
    FlatBehavior,
    /// `cancel`, `overrideInput`, `contextModification`.
    Cancel,
    /// `permission` with messages for person and agent.
    Permission,
    /// `continue` with a message.
    Continue,
    /// `additional_context` and nothing else.
    Remark,
    /// The exit code and standard error alone.
    Exit,
    /// The exit code and standard error; what is printed becomes context.
    ExitAndPrint,
    /// What Tagout's own plugin file reads.
    Bridge,
    /// Nothing is read.
    Silent,
}

/// What a client does with an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Powers {
    /// A denial.
    pub deny: Deny,
    /// A question to the person.
    pub ask: Ask,
    /// Other arguments.
    pub rewrite: Rewrite,
    /// Text for the model.
    pub context: bool,
}

/// What a denial does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Deny {
    /// It stops what was about to happen.
    Blocks,
    /// The model reads it; what happened has happened.
    Tells,
    /// Nothing.
    Nothing,
}

/// What a question does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ask {
    /// A person is asked, and where nobody is there it is a denial.
    Asks,
    /// Nobody is asked and the tool runs, or all stands still: a denial is sent instead.
    Runs,
}

/// What other arguments do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rewrite {
    /// They replace the model's, and the client's own rules are asked about the new ones.
    Takes,
    /// They count only together with an allow, which the client's own rules no longer narrow.
    NeedsAllow,
    /// They are dropped and the tool runs with the old ones: a denial is sent instead.
    Never,
}

impl Powers {
    /// An event whose answer nobody reads.
    pub const NONE: Self = Self {
        deny: Deny::Nothing,
        ask: Ask::Runs,
        rewrite: Rewrite::Never,
        context: false,
    };
    /// Blocks, and nothing more.
    pub const BLOCK: Self = Self {
        deny: Deny::Blocks,
        ..Self::NONE
    };
    /// Blocks, and carries text to the model.
    pub const BLOCK_OR_TELL: Self = Self {
        context: true,
        ..Self::BLOCK
    };
    /// What happened has happened; the model reads what is said.
    pub const TELL: Self = Self {
        deny: Deny::Tells,
        context: true,
        ..Self::NONE
    };
    /// Carries text to the model.
    pub const CONTEXT: Self = Self {
        context: true,
        ..Self::NONE
    };
}

impl Event {
    /// Whether its answer can put other arguments in place of the model's.
    pub fn rewrites(&self) -> bool {
        self.powers.rewrite != Rewrite::Never
    }

    /// An event that is not registered and whose answer nobody reads.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            wire: name,
            kind,
            call: CallForm::Named,
            ended: Ending::Untold,
            goes_on: &[],
            form: Form::Silent,
            powers: Powers::NONE,
            wait_ms: None,
        }
    }

    /// Whether an answer can keep something from happening.
    pub const fn can_block(&self) -> bool {
        matches!(self.powers.deny, Deny::Blocks)
    }

    /// How it is answered.
    pub const fn answered(mut self, form: Form, powers: Powers) -> Self {
        self.form = form;
        self.powers = powers;
        self
    }

    /// The name in the payload.
    pub const fn on_wire(mut self, wire: &'static str) -> Self {
        self.wire = wire;
        self
    }

    /// How the call is written.
    pub const fn calling(mut self, call: CallForm) -> Self {
        self.call = call;
        self
    }

    /// The words by which a conversation says that it goes on where it was.
    pub const fn going_on(mut self, words: &'static [&'static str]) -> Self {
        self.goes_on = words;
        self
    }

    /// How the call's end is told.
    pub const fn ending(mut self, ended: Ending) -> Self {
        self.ended = ended;
        self
    }

    /// Registered by `install`, with this wait.
    pub const fn waits(mut self, wait_ms: u64) -> Self {
        self.wait_ms = Some(wait_ms);
        self
    }
}

/// How a client is told «no», in the order of strength.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Denial {
    /// Whether standard output is read besides the exit code.
    pub reads_stdout: bool,
    /// The exit code of an ordinary denial.
    pub exit: u8,
    /// The exit code of the strongest one.
    pub strongest_exit: u8,
}

impl Denial {
    /// Standard output, standard error and exit code 2, each of which alone would do.
    pub const EVERY_CHANNEL: Self = Self {
        reads_stdout: true,
        exit: 2,
        strongest_exit: 2,
    };
    /// Standard error and exit code 2; with that code standard output is not read.
    pub const EXIT: Self = Self {
        reads_stdout: false,
        exit: 2,
        strongest_exit: 2,
    };
    /// The answer on standard output, because the exit code would hide its reason; the strongest
    /// one uses both.
    pub const OUTPUT: Self = Self {
        reads_stdout: true,
        exit: 0,
        strongest_exit: 2,
    };
    /// The answer on standard output; the exit code is not looked at.
    pub const OUTPUT_ONLY: Self = Self {
        reads_stdout: true,
        exit: 0,
        strongest_exit: 0,
    };
}

/// How subagents show in payloads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Subagents {
    /// The parent's conversation, with an agent's id that root calls do not have.
    Within,
    /// A conversation of their own, which names its parent where the payload tells it.
    Own,
    /// Every agent has an id; a subagent also names its parent.
    Numbered,
    /// They look like their parent.
    Unmarked,
    /// Their calls reach no hook, so delegating is denied.
    Bypass,
}

/// Prompts that nobody typed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Prompts {
    /// Whether the client sends an event when a person types.
    pub sent: bool,
    /// The sources, where the payload names one, behind which a person or a program of theirs is.
    pub people: &'static [&'static str],
    /// How texts begin that the client itself writes.
    pub own: &'static [&'static str],
}

impl Prompts {
    /// A client that sends prompts and does not tell where they come from.
    pub const SENT: Self = Self {
        sent: true,
        people: &[],
        own: &[],
    };
}

/// What happens to the call when the hook fails, in the form in which `install` registers it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Failing {
    /// The hook ends with a code that means nothing.
    pub crash: Then,
    /// It takes too long.
    pub timeout: Then,
    /// Its program is gone.
    pub missing: Then,
    /// What it prints is cut off.
    pub garbled: Then,
}

/// What the client does then.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Then {
    /// The tool runs.
    Runs,
    /// It does not.
    Blocked,
    /// Not known.
    Unknown,
}

impl Failing {
    /// A client that takes every failure for consent. The line that `install` writes turns a
    /// crash and a missing program into a denial; the rest is the client's.
    pub const GUARDED: Self = Self {
        crash: Then::Blocked,
        timeout: Then::Runs,
        missing: Then::Blocked,
        garbled: Then::Runs,
    };
}
