//! What the judge reads by: catalogue, law, intents and ignore list, as one value that is compiled.

use serde::{Deserialize, Serialize};

use tagout_vocab::{Role, WorkspacePath};

use crate::catalogue::{Catalogue, TargetForm};
use crate::intents::{IgnoreFile, IntentSet};
use crate::law::{DeclaredTool, Law};
use crate::problem::{Position, Problem};
use crate::scope::{CaseRule, Pattern, PatternError};

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
}

impl Books {
    /// Puts the books together, and names what of the law's own tools could not be taken over.
    pub fn new(
        mut catalogue: Catalogue,
        law: Law,
        intents: IntentSet,
        ignore: IgnoreFile,
    ) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
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
            },
            problems,
        )
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
