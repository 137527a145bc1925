//! Reads a policy file, in its canonical form or in one of those found in the wild.

mod canonical;
mod commands;
mod context;
mod legacy;
mod mcp;
mod rules;
mod sidecar;

use super::{Layer, Source};
use crate::problem::{Position, Problem, Problems};
use crate::yaml::{self, Node};
use context::Context;

/// In which form a file was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// `version: 1`, as documented.
    Canonical,
    /// `command.readonly_allowlist`, `safe_read_commands` and what goes with them.
    Legacy,
    /// `constraints.sidecar.yaml`.
    Sidecar,
}

/// What a policy file says, and what in it is not followed.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What it says.
    pub layer: Layer,
    /// What is read but not followed, and why. Nothing here lets more through.
    pub warnings: Vec<Problem>,
    /// In which form it was written.
    pub form: Form,
}

/// Reads a policy file's text. Every problem names its line and column.
///
/// A file that holds nothing is refused: it may be one that lost its denials.
pub fn read(source: Source, text: &str) -> Result<Reading, Vec<Problem>> {
    let file = source.file.clone();
    let start = Position { line: 1, column: 1 };
    let Some(root) = yaml::parse(&file, text).map_err(|problem| vec![problem])? else {
        let mut problems = Problems::new(&file);
        let hint = Some("write `version: 1`, or remove the file".to_owned());
        problems.add_with(start, "the policy file is empty", hint);
        return problems.finish(()).map(|()| nothing(source));
    };
    let mut context = Context::new(source.kind, &file);
    let form = form_of(&root);
    let mut layer = Layer::silent(source);
    match form {
        Some(Form::Canonical) => canonical::read(&root, &mut layer, &mut context),
        Some(Form::Legacy) => legacy::read(&root, &mut layer, &mut context),
        Some(Form::Sidecar) => sidecar::read(&root, &mut layer, &mut context),
        None => {
            let message = "the policy must say which form it has";
            let hint = Some("write `version: 1` first".to_owned());
            context.problems.add_with(root.at(), message, hint);
        }
    }
    let warnings = context.warnings.finish(()).err().unwrap_or_default();
    context.problems.finish(Reading {
        layer,
        warnings,
        form: form.unwrap_or(Form::Canonical),
    })
}

fn form_of(root: &Node) -> Option<Form> {
    let has = |key: &&str| root.get(key).is_some();
    if has(&"version") {
        Some(Form::Canonical)
    } else if has(&"sidecar") {
        Some(Form::Sidecar)
    } else if legacy::KEYS.iter().any(has) {
        Some(Form::Legacy)
    } else {
        None
    }
}

fn nothing(source: Source) -> Reading {
    Reading {
        layer: Layer::silent(source),
        warnings: Vec::new(),
        form: Form::Canonical,
    }
}
