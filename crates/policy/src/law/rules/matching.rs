//! What a rule matches: fields are joined by «and», the values of a field by «or».

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tagout_vocab::{Class, SideEffectLevel, ToolKind};

use super::{Action, Fact, PathFact, Subject};
use crate::law::pattern::{CommandPattern, Hit, NameGlob};
use crate::scope::{self, Pattern};

/// What a rule matches. A field without values says nothing; at least one field says something.
#[derive(Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
pub struct Match {
    /// Canonical names of tools.
    pub tool: BTreeSet<NameGlob>,
    /// Kinds of tools.
    pub kind: BTreeSet<ToolKind>,
    /// How far the tool reaches.
    pub side_effect: BTreeSet<SideEffectLevel>,
    /// The class of the call.
    pub class: BTreeSet<Class>,
    /// Paths of the workspace.
    pub path: BTreeSet<Pattern>,
    /// Command lines, sorted.
    pub command: Vec<CommandPattern>,
    /// MCP servers.
    pub server: BTreeSet<NameGlob>,
    /// Tools of MCP servers.
    pub mcp_tool: BTreeSet<NameGlob>,
    /// Active intents.
    pub intent: BTreeSet<NameGlob>,
}

impl Match {
    /// Whether no field says anything, which would match every call.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What the rule says about a call. `action` chooses the careful reading of paths and commands.
    pub fn hit(&self, subject: &Subject<'_>, action: Action) -> Hit {
        let cheap = names(&self.tool, subject.tool)
            .and(one_of(&self.kind, subject.kind))
            .and(self.level_hit(subject.level))
            .and(one_of(&self.class, subject.class))
            .and(names(&self.server, subject.server))
            .and(names(&self.mcp_tool, subject.mcp_tool))
            .and(names(&self.intent, subject.intent));
        if cheap == Hit::No {
            return Hit::No;
        }
        let paths = cheap.and(self.path_hit(subject, action));
        if paths == Hit::No {
            return Hit::No;
        }
        paths.and(self.command_hit(subject, action))
    }

    /// A rule may name `none` itself: then «nothing declared» is what it means.
    fn level_hit(&self, level: Fact<SideEffectLevel>) -> Hit {
        if level == Fact::Unknown && self.side_effect.contains(&SideEffectLevel::None) {
            return Hit::Yes;
        }
        one_of(&self.side_effect, level)
    }

    fn path_hit(&self, subject: &Subject<'_>, action: Action) -> Hit {
        if self.path.is_empty() {
            return Hit::Yes;
        }
        let Some(paths) = subject.paths else {
            return Hit::Unclear;
        };
        let hits = paths.iter().map(|path| match path {
            PathFact::Inside(path) => {
                let path = scope::Subject::new(path, subject.case);
                Hit::of(match action {
                    Action::Allow => self.path.iter().any(|one| one.grants_subject(&path)),
                    Action::Ask | Action::Deny => {
                        self.path.iter().any(|one| one.denies_subject(&path))
                    }
                })
            }
            PathFact::Elsewhere => Hit::No,
            PathFact::Unknown => Hit::Unclear,
        });
        match action {
            // Allowing one of two paths would allow the other unseen.
            Action::Allow if paths.is_empty() => Hit::No,
            Action::Allow => hits.fold(Hit::Yes, Hit::and),
            Action::Ask | Action::Deny => hits.fold(Hit::No, Hit::or),
        }
    }

    fn command_hit(&self, subject: &Subject<'_>, action: Action) -> Hit {
        if self.command.is_empty() {
            return Hit::Yes;
        }
        let line = match subject.command {
            Fact::Absent => return Hit::No,
            Fact::Unknown => return Hit::Unclear,
            Fact::Is(line) => line,
        };
        match action {
            Action::Allow => Hit::of(self.command.iter().any(|pattern| pattern.permits(line))),
            Action::Ask | Action::Deny => {
                let hits = self.command.iter().map(|pattern| pattern.forbids(line));
                hits.fold(Hit::No, Hit::or)
            }
        }
    }
}

fn names(patterns: &BTreeSet<NameGlob>, name: Fact<&str>) -> Hit {
    if patterns.is_empty() {
        return Hit::Yes;
    }
    match name {
        Fact::Absent => Hit::No,
        Fact::Is(name) => Hit::of(patterns.iter().any(|pattern| pattern.matches(name))),
        Fact::Unknown => Hit::Unclear,
    }
}

fn one_of<T: Ord>(values: &BTreeSet<T>, value: Fact<T>) -> Hit {
    if values.is_empty() {
        return Hit::Yes;
    }
    match value {
        Fact::Absent => Hit::No,
        Fact::Is(value) => Hit::of(values.contains(&value)),
        Fact::Unknown => Hit::Unclear,
    }
}
