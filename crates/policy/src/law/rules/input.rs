//! What a rule is told about a call.

use tagout_vocab::{Class, SideEffectLevel, ToolKind, WorkspacePath};

use crate::law::pattern::CommandLine;
use crate::scope::CaseRule;

/// Something about a call: there, not there, or not to be told.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Fact<T> {
    /// The call has no such thing.
    #[default]
    Absent,
    /// This.
    Is(T),
    /// The call has it, but what it is can't be read.
    Unknown,
}

impl<T> Fact<T> {
    /// The same fact, borrowed.
    pub const fn as_ref(&self) -> Fact<&T> {
        match self {
            Self::Absent => Fact::Absent,
            Self::Is(value) => Fact::Is(value),
            Self::Unknown => Fact::Unknown,
        }
    }
}

/// A path that a call names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PathFact<'a> {
    /// A path of the workspace.
    Inside(&'a WorkspacePath),
    /// A path that certainly lies elsewhere.
    Elsewhere,
    /// A path that can't be placed.
    Unknown,
}

impl<'a> From<&'a tagout_vocab::Place> for PathFact<'a> {
    fn from(place: &'a tagout_vocab::Place) -> Self {
        match place {
            tagout_vocab::Place::Inside { path } => Self::Inside(path),
            tagout_vocab::Place::Root { .. } => Self::Elsewhere,
            // Only an absolute path without odd characters is certain to lie where it says.
            tagout_vocab::Place::Outside { path } => {
                let odd = path.split('/').any(|segment| segment == "..")
                    || path.contains(char::is_control);
                if path.starts_with('/') && !odd {
                    Self::Elsewhere
                } else {
                    Self::Unknown
                }
            }
        }
    }
}

/// What of a call a profile looks at.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent fact about the call, named where it is set"
)]
pub struct Traits {
    /// Whether all of it can be taken back.
    pub undoable: bool,
    /// Whether it reaches other machines.
    pub network: bool,
    /// Whether it hands work to another agent.
    pub delegation: bool,
    /// Whether it does something that can't be taken back by anyone, such as a push.
    pub irreversible: bool,
    /// Whether it could destroy far more than the workspace.
    pub catastrophic: bool,
}

/// A call as the rules and profiles see it.
#[derive(Clone, Copy, Debug)]
pub struct RuleInput<'a> {
    /// The canonical name of the tool.
    pub tool: &'a str,
    /// Its kind.
    pub kind: ToolKind,
    /// How far it reaches.
    pub level: SideEffectLevel,
    /// The class of this call.
    pub class: Class,
    /// Every path that it names; `None` when they can't all be read.
    pub paths: Option<&'a [PathFact<'a>]>,
    /// Its command line.
    pub command: Fact<&'a CommandLine<'a>>,
    /// The MCP server that it goes to.
    pub server: Fact<&'a str>,
    /// The tool there.
    pub mcp_tool: Fact<&'a str>,
    /// The active intent.
    pub intent: Fact<&'a str>,
    /// How the file system compares names.
    pub case: CaseRule,
    /// What a profile looks at.
    pub traits: Traits,
}

impl<'a> RuleInput<'a> {
    /// A call of which nothing is known but its tool, kind, level and class.
    pub fn new(tool: &'a str, kind: ToolKind, level: SideEffectLevel, class: Class) -> Self {
        Self {
            tool,
            kind,
            level,
            class,
            paths: Some(&[]),
            command: Fact::Absent,
            server: Fact::Absent,
            mcp_tool: Fact::Absent,
            intent: Fact::Absent,
            case: CaseRule::Sensitive,
            traits: Traits::default(),
        }
    }

    /// The call as facts, which is what rules match.
    pub const fn subject(&self) -> Subject<'a> {
        Subject {
            tool: Fact::Is(self.tool),
            kind: Fact::Is(self.kind),
            // Nothing declared is nothing known.
            level: match self.level {
                SideEffectLevel::None => Fact::Unknown,
                SideEffectLevel::ReadOnly
                | SideEffectLevel::WorkspaceWrite
                | SideEffectLevel::ProcessExec
                | SideEffectLevel::Network
                | SideEffectLevel::DesktopControl => Fact::Is(self.level),
            },
            class: Fact::Is(self.class),
            paths: self.paths,
            command: self.command,
            server: self.server,
            mcp_tool: self.mcp_tool,
            intent: self.intent,
            case: self.case,
        }
    }
}

/// A call, or a rule's example of one, as facts.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The canonical name of the tool.
    pub tool: Fact<&'a str>,
    /// Its kind.
    pub kind: Fact<ToolKind>,
    /// How far it reaches.
    pub level: Fact<SideEffectLevel>,
    /// The class of the call.
    pub class: Fact<Class>,
    /// Every path that it names; `None` when they can't all be read.
    pub paths: Option<&'a [PathFact<'a>]>,
    /// Its command line.
    pub command: Fact<&'a CommandLine<'a>>,
    /// The MCP server that it goes to.
    pub server: Fact<&'a str>,
    /// The tool there.
    pub mcp_tool: Fact<&'a str>,
    /// The active intent.
    pub intent: Fact<&'a str>,
    /// How the file system compares names.
    pub case: CaseRule,
}
