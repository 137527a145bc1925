//! One layer of the law: what one file says, or what is built in.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tagout_vocab::{SideEffectLevel, limits::REPEAT_LIMIT_DEFAULT};

use super::arguments::ArgumentConstraint;
use super::pattern::{CommandPattern, NameGlob};
use super::rules::RuleBook;
use crate::capability::Allowance;
use crate::catalogue::Tool;
use crate::scope::Pattern;

/// Where a layer comes from, which decides what it may say.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// Part of the program.
    BuiltIn,
    /// The user's own configuration folder.
    User,
    /// A file of the repository that a person accepted.
    Repository,
    /// A file of the repository as it stands now, not accepted yet: it can only narrow.
    Proposed,
}

/// Where a layer comes from.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Who speaks.
    pub kind: SourceKind,
    /// The file as the caller names it.
    pub file: String,
}

impl Source {
    /// The user's own policy.
    pub fn user(file: impl Into<String>) -> Self {
        Self {
            kind: SourceKind::User,
            file: file.into(),
        }
    }

    /// A file of the repository.
    pub fn repository(file: impl Into<String>) -> Self {
        Self {
            kind: SourceKind::Repository,
            file: file.into(),
        }
    }
}

/// How much a person is asked. Ordered by strictness.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Nothing is refused, everything is recorded. Only the user's own layer can say so.
    Observe,
    /// A person is asked for what can't be undone.
    Balanced,
    /// A person is asked for every destructive call.
    Strict,
}

impl Profile {
    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Balanced => "balanced",
            Self::Strict => "strict",
        }
    }
}

/// Names that are allowed and names that are not. Both must agree.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Restriction {
    /// These and no others, or no restriction.
    pub allow: Allowance<NameGlob>,
    /// Never these.
    pub deny: BTreeSet<NameGlob>,
}

impl Default for Restriction {
    fn default() -> Self {
        Self {
            allow: Allowance::Unrestricted,
            deny: BTreeSet::new(),
        }
    }
}

/// What may be done beneath an extra root.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RootAccess {
    /// Only read.
    Read,
    /// Read and changed.
    Write,
}

/// A folder outside the workspace that calls may name.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct ExtraRoot {
    /// Its name in messages and rules.
    pub name: String,
    /// The folder, absolute.
    pub path: String,
    /// What may be done there.
    pub access: RootAccess,
}

/// What is said about MCP servers and their tools (A6, H5).
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct McpTrust {
    /// Whether a server's `readOnlyHint` is believed, by server.
    pub trust_hints: BTreeMap<String, bool>,
    /// Tools that are known to only read, as `server/tool`.
    pub readonly_tools: BTreeSet<String>,
    /// Tools that may not be called, as patterns of `server/tool`.
    pub deny: BTreeSet<NameGlob>,
}

/// A pattern of command lines, and why it is there.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
pub struct CommandEntry {
    /// What the line looks like.
    pub pattern: CommandPattern,
    /// Why.
    pub reason: Option<String>,
}

/// What is said about command lines (H4).
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Commands {
    /// Candidates for reading commands: see [`super::Law::claims_read_only`].
    pub readonly: Vec<CommandEntry>,
    /// Lines that are destructive whatever else is known of them.
    pub destructive: Vec<CommandEntry>,
    /// Lines that may not run.
    pub deny: Vec<CommandEntry>,
}

/// Files that nobody may change.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct ProtectedPath {
    /// Which files.
    pub pattern: Pattern,
    /// Why.
    pub reason: Option<String>,
}

/// H17: how much may be done. `None` says nothing; zero is nothing at all.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// How often the same call may come in a row.
    pub repeat_max: Option<u32>,
    /// Calls per intent.
    pub calls_max: Option<u64>,
    /// Minutes of execution per intent.
    pub minutes_max: Option<u64>,
}

/// What happens when two open intents own the same file. Ordered by strictness.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// A person is asked.
    Ask,
    /// The later one is refused.
    Deny,
}

/// Whether calls may reach other machines.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// They may not.
    None,
    /// They may reach any.
    Any,
}

/// How strongly a command is walled in. Ordered by strength.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Not at all.
    None,
    /// As a process with limits.
    Process,
    /// By the kernel, in a lane of its own.
    Full,
}

/// When the views of the trace are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Publish {
    /// With each change.
    AtOnce,
    /// With each commit.
    OnCommit,
}

/// What becomes of the changes of a command that failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// They stay, if they are in scope.
    Keep,
    /// They are taken back.
    RollBack,
}

/// What one source says. Everything is optional, and an absent field says nothing.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// Whose layer it is.
    pub source: Source,
    /// How much a person is asked.
    pub profile: Option<Profile>,
    /// Tools.
    pub tools: Restriction,
    /// Capabilities of RFC-0003's tree; a name stands for all beneath it.
    pub capabilities: Restriction,
    /// How far calls may reach.
    pub ceiling: Option<SideEffectLevel>,
    /// Folders outside the workspace.
    pub roots: Vec<ExtraRoot>,
    /// What single arguments may hold.
    pub arguments: Vec<ArgumentConstraint>,
    /// Rules that allow, ask or deny.
    pub rules: RuleBook,
    /// MCP servers and tools.
    pub mcp: McpTrust,
    /// Command lines.
    pub commands: Commands,
    /// Files that nobody may change.
    pub protect: Vec<ProtectedPath>,
    /// Tools that the catalogue does not know, or that this layer narrows.
    pub declare: Vec<Tool>,
    /// How much may be done.
    pub limits: Limits,
    /// Two intents that own the same file.
    pub overlap: Option<Overlap>,
    /// Whether calls may reach other machines. Only the user's own layer can say so.
    pub network: Option<Network>,
    /// The weakest isolation that is accepted. Only the user's own layer can say so.
    pub isolation: Option<Isolation>,
    /// Folders whose changes are not transactional. Only the user's own layer can name them.
    pub pass_through: Vec<String>,
    /// When the views of the trace are written.
    pub publish: Option<Publish>,
    /// What becomes of the changes of a command that failed.
    pub on_command_failure: Option<OnFailure>,
    /// Whether the shell tool is offered before an intent is selected.
    pub offer_shell_before_handshake: Option<bool>,
    /// Constraints for the agent to read; nothing enforces them.
    pub constraints: Vec<String>,
}

impl Layer {
    /// A layer that says nothing: it restricts nothing and grants nothing.
    pub fn silent(source: Source) -> Self {
        Self {
            source,
            profile: None,
            tools: Restriction::default(),
            capabilities: Restriction::default(),
            ceiling: None,
            roots: Vec::new(),
            arguments: Vec::new(),
            rules: RuleBook::default(),
            mcp: McpTrust::default(),
            commands: Commands::default(),
            protect: Vec::new(),
            declare: Vec::new(),
            limits: Limits::default(),
            overlap: None,
            network: None,
            isolation: None,
            pass_through: Vec::new(),
            publish: None,
            on_command_failure: None,
            offer_shell_before_handshake: None,
            constraints: Vec::new(),
        }
    }

    /// What holds without any file. How far calls may reach is part of [`super::Law::ceiling`].
    pub fn built_in() -> Self {
        let source = Source {
            kind: SourceKind::BuiltIn,
            file: "built-in".to_owned(),
        };
        Self {
            profile: Some(Profile::Balanced),
            limits: Limits {
                repeat_max: Some(REPEAT_LIMIT_DEFAULT),
                ..Limits::default()
            },
            ..Self::silent(source)
        }
    }

    /// The keys of this layer that only the user's own layer may set.
    pub fn user_only_keys(&self) -> Vec<&'static str> {
        let set = [
            ("profile: observe", self.profile == Some(Profile::Observe)),
            ("network", self.network.is_some()),
            ("isolation", self.isolation.is_some()),
            ("pass_through", !self.pass_through.is_empty()),
        ];
        set.into_iter()
            .filter_map(|(key, is_set)| is_set.then_some(key))
            .collect()
    }
}
