//! The definitions of a source file, read from its syntax tree.

mod languages;

use std::ops::ControlFlow;

use tagout_vocab::limits::{
    OUTLINE_DEFINITIONS_MAX, OUTLINE_PARSE_STEPS_MAX, SEARCH_LINE_BYTES_MAX,
};
use tree_sitter::{Node, ParseOptions, Parser};

use crate::near::cut;
use languages::Grammar;

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
    let grammar = languages::of(path)?;
    let mut parser = Parser::new();
    parser.set_language(&grammar.language()).ok()?;
    // Steps are counted, not seconds, so that the same file always gives the same answer.
    let mut steps = 0_usize;
    let mut progress = |_: &tree_sitter::ParseState| {
        steps += 1;
        if steps > OUTLINE_PARSE_STEPS_MAX {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options))?;
    Some(Outline {
        language: grammar.name,
        definitions: definitions(grammar, tree.root_node(), text),
        clean: !tree.root_node().has_error(),
    })
}

/// Goes through the tree without recursion: how deep it is, is up to whoever wrote the file.
fn definitions(grammar: &Grammar, root: Node<'_>, text: &str) -> Vec<Definition> {
    let mut found = Vec::new();
    let mut cursor = root.walk();
    let mut depths: Vec<bool> = Vec::new();
    let mut depth = 0;
    loop {
        let node = cursor.node();
        let definition = defined(grammar, node, text, depth);
        let is_definition = definition.is_some();
        found.extend(definition);
        if found.len() >= OUTLINE_DEFINITIONS_MAX {
            return found;
        }
        if cursor.goto_first_child() {
            depths.push(is_definition);
            depth += usize::from(is_definition);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
            depth -= usize::from(depths.pop().unwrap_or_default());
        }
    }
}

fn defined(grammar: &Grammar, node: Node<'_>, text: &str, depth: usize) -> Option<Definition> {
    if !node.is_named() {
        return None;
    }
    let kind = node.kind();
    let (word, name) = match grammar.word(kind) {
        Some(word) => (word, name_of(node, text)?),
        None => ("function", assigned_function(node, text)?),
    };
    Some(Definition {
        kind: word,
        name: cut(&name, SEARCH_LINE_BYTES_MAX),
        start_line: node.start_position().row + 1,
        end_line: node.end_position().row + 1,
        depth,
    })
}

fn text_of(node: Node<'_>, text: &str) -> Option<String> {
    let raw = text.get(node.byte_range())?;
    let folded: Vec<&str> = raw.split_whitespace().collect();
    Some(folded.join(" "))
}

fn name_of(node: Node<'_>, text: &str) -> Option<String> {
    // A mere mention of a type is no definition.
    let needs_body = node.kind().ends_with("_specifier");
    if needs_body && node.child_by_field_name("body").is_none() {
        return None;
    }
    if let Some(name) = node.child_by_field_name("name") {
        return text_of(name, text);
    }
    if let Some(of) = node.child_by_field_name("type")
        && node.kind() == "impl_item"
    {
        let of = text_of(of, text)?;
        let what = node.child_by_field_name("trait");
        return match what.and_then(|what| text_of(what, text)) {
            Some(what) => Some(format!("{what} for {of}")),
            None => Some(of),
        };
    }
    let mut declarator = node.child_by_field_name("declarator")?;
    // `int *f(void)` wraps the name in a pointer, a function and so on.
    while let Some(inner) = declarator.child_by_field_name("declarator") {
        declarator = inner;
    }
    text_of(declarator, text)
}

/// `const name = (…) => …` and the like: a variable that is given a function.
fn assigned_function(node: Node<'_>, text: &str) -> Option<String> {
    if node.kind() != "variable_declarator" {
        return None;
    }
    let value = node.child_by_field_name("value")?;
    if !matches!(
        value.kind(),
        "arrow_function" | "function_expression" | "generator_function"
    ) {
        return None;
    }
    text_of(node.child_by_field_name("name")?, text)
}

#[cfg(test)]
mod tests;
