//! What the judge reads by: catalogue, law, intents and ignore list, as one value that is compiled.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tagout_vocab::{Intent, IntentId, Role, WorkspacePath};

use crate::catalogue::{Catalogue, TargetForm};
use crate::intents::{IgnoreFile, IntentSet};
use crate::law::compare::{effective_intents, withdrawn_intents};
use crate::law::{DeclaredTool, Law, Layer};
use crate::problem::{Position, Problem};
use crate::scope::{CaseRule, Pattern, PatternError};
use crate::shell::Knowledge;

/// Everything that a verdict depends on besides the call, the session and the facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Books {
    /// What tools mean, with what the law declares added.
    pub catalogue: Catalogue,
    /// The layers of rules.
    pub law: Law,
    /// The declared intents.
    pub intents: IntentSet,
    /// What the ignore files deny.
    pub ignore: IgnoreFile,
    /// What is known of programs, for command lines. It is stored apart: most calls need none.
    #[serde(skip)]
    pub knowledge: Knowledge,
    /// Second scopes, in which every path must lie too while the tree's files wait for a person.
    pub also_within: BTreeMap<IntentId, Vec<String>>,
    /// Accepted intents that the tree closes or removes. Until a person accepts that, they still
    /// stand in the way of others that own the same files.
    pub withdrawn: Vec<Intent>,
}

/// What one state of a repository's files says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Volume {
    /// The policy files.
    pub layers: Vec<Layer>,
    /// The intents.
    pub intents: Vec<Intent>,
    /// The ignore files.
    pub ignore: IgnoreFile,
}

impl Books {
    /// The books that hold now: what a person accepted, and what the tree proposes where that is
    /// something else. What the proposal narrows holds at once, and what it widens waits.
    ///
    /// Any problem means that the books can't be relied on for more than reading.
    pub fn standing(
        catalogue: Catalogue,
        user: Option<Layer>,
        accepted: Volume,
        proposed: Option<Volume>,
    ) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let assembled = Law::assemble(Layer::built_in(), user, accepted.layers);
        let mut law = assembled.unwrap_or_else(|found| {
            problems.extend(found);
            Law::built_in()
        });
        let (mut intents, mut ignore) = (accepted.intents, accepted.ignore);
        let (mut also_within, mut withdrawn) = (BTreeMap::new(), Vec::new());
        if let Some(proposed) = proposed {
            law = law.with_proposal(proposed.layers);
            withdrawn = withdrawn_intents(&intents, &proposed.intents);
            let standing = effective_intents(&intents, &proposed.intents);
            intents = Vec::with_capacity(standing.len());
            for one in standing {
                let second = one.also_within.map(|scope| (one.intent.id.clone(), scope));
                also_within.extend(second);
                intents.push(one.intent);
            }
            ignore = ignore.merge(proposed.ignore);
        }
        let intents = IntentSet::new(intents).unwrap_or_else(|error| {
            problems.push(whole_file("intents", error.to_string()));
            IntentSet::default()
        });
        let (books, refused) = Self::new(catalogue, law, intents, ignore);
        problems.extend(refused);
        let books = Self {
            also_within,
            withdrawn,
            ..books
        };
        (books, problems)
    }

    /// Puts the books together, and names what of the law's own tools could not be taken over.
    pub fn new(
        mut catalogue: Catalogue,
        law: Law,
        intents: IntentSet,
        ignore: IgnoreFile,
    ) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        // Whoever keeps it in a form that is read faster puts that in its place. Where it can't be
        // had, no command is let through.
        let knowledge = Knowledge::later(|| None);
        for DeclaredTool { source, tool, .. } in law.declared().iter().filter(|d| !d.withdrawn) {
            for refused in catalogue.extend(vec![(*tool).clone()]) {
                problems.push(whole_file(&source.file, refused.to_string()));
            }
        }
        for pattern in ignore.path_patterns() {
            if let Err(error) = Pattern::parse(pattern) {
                problems.push(whole_file("ignore file", format!("`{pattern}`: {error}")));
            }
        }
        (
            Self {
                catalogue,
                law,
                intents,
                ignore,
                knowledge,
                also_within: BTreeMap::new(),
                withdrawn: Vec::new(),
            },
            problems,
        )
    }

    /// Every intent that another one could overlap with: those that hold, and those that only the
    /// tree ended.
    pub(super) fn standing_in_the_way(&self, of: &IntentId) -> Cow<'_, IntentSet> {
        let withdrawn = || self.withdrawn.iter().filter(|intent| intent.id != *of);
        if withdrawn().next().is_none() {
            return Cow::Borrowed(&self.intents);
        }
        let mut by_id: BTreeMap<&IntentId, &Intent> =
            self.intents.iter().map(|one| (&one.id, one)).collect();
        by_id.extend(withdrawn().map(|one| (&one.id, one)));
        let all = by_id.into_values().cloned().collect();
        IntentSet::new(all).map_or(Cow::Borrowed(&self.intents), Cow::Owned)
    }

    /// The name of the tool that plays a part, for messages.
    pub fn name_of(&self, role: Role) -> &str {
        self.catalogue
            .by_role(role)
            .map_or("(no tool)", |tool| tool.name.as_str())
    }

    /// The shell tool and the key of its command line.
    pub fn shell(&self) -> Option<(&str, &str)> {
        let tool = self.catalogue.by_role(Role::Shell)?;
        match &tool.targets {
            TargetForm::Command { key } | TargetForm::Argv { key } => Some((&tool.name, key)),
            TargetForm::Params
            | TargetForm::Patch { .. }
            | TargetForm::Nothing
            | TargetForm::Address { .. }
            | TargetForm::Remote { .. }
            | TargetForm::Unknown => None,
        }
    }

    /// The line of an ignore file that protects a path, if one does. A pattern that can't be read
    /// protects everything, because nobody knows what it was meant to protect.
    pub fn ignored(&self, path: &WorkspacePath, case: CaseRule) -> Option<&str> {
        let denies = |text: &&String| {
            let parsed: Result<Pattern, PatternError> = Pattern::parse(text);
            parsed.map_or(true, |pattern| pattern.denies(path, case))
        };
        self.ignore
            .path_patterns()
            .iter()
            .find(denies)
            .map(String::as_str)
    }
}

fn whole_file(file: &str, message: String) -> Problem {
    Problem {
        file: file.to_owned(),
        at: Position { line: 1, column: 1 },
        message,
        hint: None,
    }
}
