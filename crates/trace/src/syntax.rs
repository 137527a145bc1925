//! Source text to syntax tree, bounded in size and steps.

use std::ops::ControlFlow;

use tagout_vocab::limits::{SYNTAX_BYTES_MAX, SYNTAX_PARSE_STEPS_MAX};
use tree_sitter::{Node, ParseOptions, Parser, Tree};

use crate::languages::{self, Grammar};

/// A source text with its tree.
#[derive(Debug)]
pub struct Syntax<'t> {
    /// The language.
    pub grammar: &'static Grammar,
    text: &'t [u8],
    tree: Tree,
}

/// Why a text has no tree.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoSyntax {
    /// No grammar for files of this name.
    NoGrammar,
    /// Larger than is parsed.
    TooLarge,
    /// The parser needed too many steps.
    TooSlow,
}

impl<'t> Syntax<'t> {
    /// Parses a file's text by the grammar that its name asks for.
    pub fn parse(path: &str, text: &'t [u8]) -> Result<Self, NoSyntax> {
        let grammar = languages::of(path).ok_or(NoSyntax::NoGrammar)?;
        if text.len() > SYNTAX_BYTES_MAX {
            return Err(NoSyntax::TooLarge);
        }
        let mut parser = Parser::new();
        parser
            .set_language(&grammar.language())
            .map_err(|_| NoSyntax::NoGrammar)?;
        // Steps are counted, not seconds, so that the same file always gives the same answer.
        let mut steps = 0_usize;
        let mut progress = |_: &tree_sitter::ParseState| {
            steps += 1;
            if steps > SYNTAX_PARSE_STEPS_MAX {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let mut read = |at: usize, _| text.get(at..).unwrap_or_default();
        let tree = parser
            .parse_with_options(&mut read, None, Some(options))
            .ok_or(NoSyntax::TooSlow)?;
        Ok(Self {
            grammar,
            text,
            tree,
        })
    }

    /// The text.
    pub const fn text(&self) -> &'t [u8] {
        self.text
    }

    /// The tree's root.
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// Whether the grammar could read the whole text.
    pub fn is_clean(&self) -> bool {
        !self.root().has_error()
    }

    /// A node's bytes.
    pub fn bytes(&self, node: Node<'_>) -> &'t [u8] {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// A node's text on one line, with single blanks.
    pub fn folded(&self, node: Node<'_>) -> String {
        let text = String::from_utf8_lossy(self.bytes(node));
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ")
    }
}
