//! The definitions of a source file, read from its syntax tree.

use tagout_gate::trace::languages;
use tagout_gate::trace::nodes;
use tagout_gate::trace::syntax::Syntax;
use tagout_vocab::limits::{OUTLINE_DEFINITIONS_MAX, SEARCH_LINE_BYTES_MAX};

use crate::near::cut;

/// One definition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Definition {
    /// What it is: `function`, `class`, …
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// First line, counted from one.
    pub start_line: usize,
    /// Last line.
    pub end_line: usize,
    /// How many definitions it lies in.
    pub depth: usize,
}

/// What a file defines.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outline {
    /// The language.
    pub language: &'static str,
    /// The definitions in order.
    pub definitions: Vec<Definition>,
    /// Whether the file could be read by the grammar without an error.
    pub clean: bool,
}

/// Whether files of this name have definitions that can be listed.
pub fn is_known(path: &str) -> bool {
    languages::of(path).is_some()
}

/// The definitions of a file; `None` for a language without a grammar here, and for a text that
/// takes its parser too long.
pub fn outline(path: &str, text: &str) -> Option<Outline> {
    let syntax = Syntax::parse(path, text.as_bytes()).ok()?;
    let definitions = nodes::definitions(&syntax, OUTLINE_DEFINITIONS_MAX);
    Some(Outline {
        language: syntax.grammar.name,
        definitions: definitions.into_iter().map(Definition::from).collect(),
        clean: syntax.is_clean(),
    })
}

impl From<nodes::Definition> for Definition {
    fn from(found: nodes::Definition) -> Self {
        let start_line = found.lines.start as usize + 1;
        Self {
            kind: found.kind,
            name: cut(&found.name, SEARCH_LINE_BYTES_MAX),
            start_line,
            end_line: start_line.max(found.lines.end as usize),
            depth: found.depth,
        }
    }
}

#[cfg(test)]
mod tests;
