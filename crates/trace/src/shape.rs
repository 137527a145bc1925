//! A syntax tree without its layout: what two texts have in common that a formatter could tell
//! apart.

mod layout;

use sha2::{Digest as _, Sha256};
use tagout_vocab::Digest;
use tagout_vocab::limits::SYNTAX_DEPTH_MAX;
use tree_sitter::Node;

use crate::syntax::Syntax;

/// What a leaf's text is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Word {
    /// A keyword, an operator, a literal: itself.
    Text(String),
    /// A name that nothing in the text binds, or that others may know.
    Free(String),
    /// A name after a dot, or another name whose meaning lies in a type.
    Member(String),
    /// A use of the local of this number.
    Local(u32),
    /// The place where the local of this number gets its name; the name, where others know it.
    Binder(u32, Option<String>),
}

/// A node of the tree: either a word or a list of nodes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Shape<'k> {
    pub(crate) kind: &'k str,
    pub(crate) field: Option<&'k str>,
    pub(crate) word: Option<Word>,
    pub(crate) children: Vec<Shape<'k>>,
}

impl<'k> Shape<'k> {
    /// The shape of a node, with every name as it is written.
    pub(crate) fn of(syntax: &'k Syntax<'_>, node: Node<'k>) -> Self {
        let mut builder = layout::Builder::new(syntax);
        builder.shape(node, None, "", 0)
    }

    pub(crate) fn leaf(kind: &'k str, field: Option<&'k str>, word: Word) -> Self {
        Self {
            kind,
            field,
            word: Some(word),
            children: Vec::new(),
        }
    }

    pub(crate) fn branch(kind: &'k str, field: Option<&'k str>, children: Vec<Self>) -> Self {
        Self {
            kind,
            field,
            word: None,
            children,
        }
    }

    /// The child in a field.
    pub(crate) fn child(&self, field: &str) -> Option<&Self> {
        self.children.iter().find(|one| one.field == Some(field))
    }

    /// The first child of a kind.
    pub(crate) fn child_of_kind(&self, kind: &str) -> Option<&Self> {
        self.children.iter().find(|one| one.kind == kind)
    }

    /// The text of a leaf that has one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.word.as_ref()? {
            Word::Text(text) | Word::Free(text) | Word::Member(text) => Some(text),
            Word::Binder(_, name) => name.as_deref(),
            Word::Local(_) => None,
        }
    }

    /// Hash of the shape: the same for any layout, another for any other word.
    pub(crate) fn hash(&self) -> Digest {
        let mut hasher = Sha256::new();
        hasher.update(b"tagout node v1\n");
        self.feed(&mut hasher, 0);
        Digest::from_bytes(hasher.finalize().into())
    }

    fn feed(&self, hasher: &mut Sha256, depth: usize) {
        match &self.word {
            Some(_) => {
                let text = self.text().unwrap_or_default();
                hasher.update(text.len().to_string());
                hasher.update(b":");
                hasher.update(text);
            }
            None => {
                hasher.update(b"(");
                hasher.update(self.kind);
                for child in &self.children {
                    hasher.update(b" ");
                    if depth < SYNTAX_DEPTH_MAX {
                        child.feed(hasher, depth + 1);
                    }
                }
                hasher.update(b")");
            }
        }
    }
}

#[cfg(test)]
mod tests;
