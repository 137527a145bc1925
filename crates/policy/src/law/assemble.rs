//! Puts layers together, and refuses those that say what is not theirs to say.

use super::{Law, Layer, Source, SourceKind};
use crate::problem::{Position, Problem};

impl Law {
    /// What holds without any file.
    pub fn built_in() -> Self {
        Self {
            built_in: Layer::built_in(),
            others: Vec::new(),
        }
    }

    /// The built-in layer, the user's own, and the repository's accepted files.
    ///
    /// The kind of each source is set by its place here. Refused: keys that only the user's layer
    /// may set, and two extra roots of one name.
    pub fn assemble(
        built_in: Layer,
        user: Option<Layer>,
        repository: Vec<Layer>,
    ) -> Result<Self, Vec<Problem>> {
        let user = user.map(|layer| placed(layer, SourceKind::User));
        let repository = repository
            .into_iter()
            .map(|layer| placed(layer, SourceKind::Repository));
        let law = Self {
            built_in: placed(built_in, SourceKind::BuiltIn),
            others: user.into_iter().chain(repository).collect(),
        };
        let problems = law.problems();
        if problems.is_empty() {
            Ok(law)
        } else {
            Err(problems)
        }
    }

    /// This law while other files of the repository wait for a person.
    ///
    /// Each proposed file is one more layer, so what it forbids holds at once; what the accepted
    /// files grant holds only while the proposed ones grant it too. A repository whose files are
    /// gone proposes to grant nothing.
    pub fn with_proposal(&self, proposed: Vec<Layer>) -> Self {
        let mut law = self.clone();
        law.others
            .retain(|layer| layer.source.kind != SourceKind::Proposed);
        let silent = proposed.is_empty().then(|| {
            Layer::silent(Source {
                kind: SourceKind::Proposed,
                file: "no policy file".to_owned(),
            })
        });
        law.others.extend(
            proposed
                .into_iter()
                .chain(silent)
                .map(|layer| placed(layer, SourceKind::Proposed)),
        );
        law
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for layer in &self.others {
            if layer.source.kind == SourceKind::User {
                continue;
            }
            for key in layer.user_only_keys() {
                let message = format!("`{key}` can be set only in the user's own policy");
                problems.push(problem(layer, message));
            }
        }
        let mut roots: Vec<(&str, &str)> = Vec::new();
        for layer in self.layers() {
            for root in &layer.roots {
                let known = roots.iter().find(|(name, _)| *name == root.name);
                if known.is_some_and(|(_, path)| *path != root.path) {
                    let name = &root.name;
                    let message = format!("the root `{name}` names another folder elsewhere");
                    problems.push(problem(layer, message));
                }
                roots.push((&root.name, &root.path));
            }
        }
        problems
    }
}

fn placed(mut layer: Layer, kind: SourceKind) -> Layer {
    layer.source.kind = kind;
    layer
}

fn problem(layer: &Layer, message: String) -> Problem {
    Problem {
        file: layer.source.file.clone(),
        at: Position { line: 1, column: 1 },
        message,
        hint: None,
    }
}
