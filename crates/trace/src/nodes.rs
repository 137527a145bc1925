//! The definitions of a source text, and which of them a change touched.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use tagout_vocab::Digest;
use tagout_vocab::limits::{
    SYMBOL_PARTS_MAX, TRACE_DEFINITIONS_MAX, TRACE_NODES_MAX, TRACE_SYMBOL_BYTES_MAX,
};
use tree_sitter::Node;

use crate::shape::Shape;
use crate::syntax::Syntax;

/// One definition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Definition {
    /// What it is: `function`, `class`, …
    pub kind: &'static str,
    /// Its own name.
    pub name: String,
    /// Its name with those of the definitions that it lies in, outermost first.
    pub symbol: String,
    /// Its lines: indices counted from zero, half open.
    pub lines: Range<u32>,
    /// Its bytes.
    pub bytes: Range<usize>,
    /// How many definitions it lies in.
    pub depth: usize,
}

/// H11: a syntax node that a change touched, as it stands in a record.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct AstNode {
    /// The path of names that leads to it.
    pub symbol: String,
    /// What it is: `function`, `class`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Its first line, counted from one; of the old text if it was removed.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// Hash of its text without layout and comments.
    pub node_hash: Digest,
    /// Whether the change removed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

/// The definitions of a text in order, outer ones before those in them; at most `count`.
pub fn definitions(syntax: &Syntax<'_>, count: usize) -> Vec<Definition> {
    Walk::new(syntax, count)
        .map(|(definition, _)| definition)
        .collect()
}

/// Goes through the tree without recursion: how deep it is, is up to whoever wrote the file.
struct Walk<'s, 't> {
    syntax: &'s Syntax<'t>,
    cursor: tree_sitter::TreeCursor<'s>,
    /// The definitions around the current node, each with the nodes' depth at which it stands.
    around: Vec<(usize, String)>,
    depth: usize,
    left: usize,
    ended: bool,
}

impl<'s, 't> Walk<'s, 't> {
    fn new(syntax: &'s Syntax<'t>, count: usize) -> Self {
        Self {
            syntax,
            cursor: syntax.root().walk(),
            around: Vec::new(),
            depth: 0,
            left: count,
            ended: count == 0,
        }
    }

    fn advance(&mut self) {
        if self.cursor.goto_first_child() {
            self.depth += 1;
            return;
        }
        while !self.cursor.goto_next_sibling() {
            if !self.cursor.goto_parent() {
                self.ended = true;
                return;
            }
            self.depth -= 1;
        }
        while self
            .around
            .last()
            .is_some_and(|(depth, _)| *depth >= self.depth)
        {
            self.around.pop();
        }
    }
}

impl<'s> Iterator for Walk<'s, '_> {
    type Item = (Definition, Node<'s>);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let node = self.cursor.node();
            let is_deep = self.around.len() >= SYMBOL_PARTS_MAX;
            let found = named(self.syntax, node).filter(|_| !is_deep);
            let found = found.map(|(kind, name)| {
                let depth = self.around.len();
                let outer = self.around.last().map(|(_, symbol)| symbol.as_str());
                let symbol = join(self.syntax.grammar.separator, outer, &name);
                self.around.push((self.depth, symbol.clone()));
                let end = node.end_position();
                // A node that ends with its line's break does not reach into the next line.
                let last = end.row + usize::from(end.column > 0);
                let definition = Definition {
                    kind,
                    name,
                    symbol,
                    lines: line(node.start_position().row)..line(last),
                    bytes: node.byte_range(),
                    depth,
                };
                (definition, node)
            });
            self.advance();
            if let Some(found) = found {
                self.left -= 1;
                self.ended |= self.left == 0;
                return Some(found);
            }
        }
        None
    }
}

fn line(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}

fn join(separator: &str, outer: Option<&str>, name: &str) -> String {
    let Some(outer) = outer else {
        return cut(name, TRACE_SYMBOL_BYTES_MAX).to_owned();
    };
    let symbol = format!("{outer}{separator}{name}");
    cut(&symbol, TRACE_SYMBOL_BYTES_MAX).to_owned()
}

/// The start of a text, at most so many bytes of whole characters.
pub(crate) fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// What a node defines, and its name.
fn named(syntax: &Syntax<'_>, node: Node<'_>) -> Option<(&'static str, String)> {
    if !node.is_named() {
        return None;
    }
    match syntax.grammar.word(node.kind()) {
        Some(word) => Some((word, name_of(syntax, node)?)),
        None => Some(("function", assigned_function(syntax, node)?)),
    }
}

fn name_of(syntax: &Syntax<'_>, node: Node<'_>) -> Option<String> {
    // A mere mention of a type is no definition.
    let needs_body = node.kind().ends_with("_specifier");
    if needs_body && node.child_by_field_name("body").is_none() {
        return None;
    }
    if let Some(name) = node.child_by_field_name("name") {
        return Some(syntax.folded(name));
    }
    if let Some(of) = node.child_by_field_name("type")
        && node.kind() == "impl_item"
    {
        let of = syntax.folded(of);
        return match node.child_by_field_name("trait") {
            Some(what) => Some(format!("{} for {of}", syntax.folded(what))),
            None => Some(of),
        };
    }
    let mut declarator = node.child_by_field_name("declarator")?;
    // `int *f(void)` wraps the name in a pointer, a function and so on.
    while let Some(inner) = declarator.child_by_field_name("declarator") {
        declarator = inner;
    }
    Some(syntax.folded(declarator))
}

/// `const name = (…) => …` and the like: a variable that is given a function.
fn assigned_function(syntax: &Syntax<'_>, node: Node<'_>) -> Option<String> {
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
    Some(syntax.folded(node.child_by_field_name("name")?))
}

/// The definitions of a text, made ready for many questions.
#[derive(Debug)]
pub struct Definitions<'s, 't> {
    syntax: &'s Syntax<'t>,
    all: Vec<Entry<'s>>,
    names: HashMap<String, Vec<&'static str>>,
}

#[derive(Debug)]
struct Entry<'s> {
    definition: Definition,
    node: Node<'s>,
    hash: OnceCell<Digest>,
}

impl<'s, 't> Definitions<'s, 't> {
    /// The definitions of a text.
    pub fn of(syntax: &'s Syntax<'t>) -> Self {
        let entry = |(definition, node)| Entry {
            definition,
            node,
            hash: OnceCell::new(),
        };
        let all: Vec<Entry<'s>> = Walk::new(syntax, TRACE_DEFINITIONS_MAX)
            .map(entry)
            .collect();
        let mut names: HashMap<String, Vec<&'static str>> = HashMap::new();
        for Entry { definition, .. } in &all {
            let kinds = names.entry(definition.symbol.clone()).or_default();
            kinds.push(definition.kind);
        }
        Self { syntax, all, names }
    }

    /// The definitions themselves.
    pub fn iter(&self) -> impl Iterator<Item = &Definition> {
        self.all.iter().map(|entry| &entry.definition)
    }

    /// Whether the text has a definition of this path and kind.
    pub fn has(&self, symbol: &str, kind: &str) -> bool {
        self.names
            .get(symbol)
            .is_some_and(|kinds| kinds.contains(&kind))
    }

    /// The hash of the first definition of this path.
    pub fn hash(&self, symbol: &str) -> Option<Digest> {
        let found = self.all.iter().find(|one| one.definition.symbol == symbol);
        found.map(|entry| self.node(entry).node_hash)
    }

    /// Every definition with its hash.
    pub fn nodes(&self) -> Vec<AstNode> {
        self.all.iter().map(|entry| self.node(entry)).collect()
    }

    /// The definitions that some changed lines touch: those that lie in them, and the innermost
    /// ones around them. An empty range touches what it lies strictly within.
    pub fn touched(&self, lines: &Range<u32>) -> Vec<AstNode> {
        let mut found = Vec::new();
        for (at, entry) in self.all.iter().enumerate() {
            let own = &entry.definition;
            if own.lines.start > lines.end || found.len() >= TRACE_NODES_MAX {
                break;
            }
            if own.lines.end < lines.start {
                continue;
            }
            let inner = self
                .all
                .get(at + 1..)
                .unwrap_or_default()
                .iter()
                .map(|entry| &entry.definition)
                .take_while(|other| other.depth > own.depth)
                .filter(|other| other.depth == own.depth + 1);
            if is_touched(&own.lines, lines, inner.map(|one| &one.lines)) {
                found.push(self.node(entry));
            }
        }
        found
    }

    fn node(&self, entry: &Entry<'s>) -> AstNode {
        let definition = &entry.definition;
        let hash = || Shape::of(self.syntax, entry.node).hash();
        AstNode {
            symbol: definition.symbol.clone(),
            kind: definition.kind.to_owned(),
            start_line: definition.lines.start.saturating_add(1),
            end_line: definition.lines.end.max(definition.lines.start + 1),
            node_hash: *entry.hash.get_or_init(hash),
            removed: false,
        }
    }
}

/// Whether the changed lines reach lines of a definition that no definition in it covers.
fn is_touched<'a>(
    own: &Range<u32>,
    changed: &Range<u32>,
    inner: impl Iterator<Item = &'a Range<u32>>,
) -> bool {
    if changed.is_empty() {
        let within = |range: &Range<u32>| range.start < changed.start && changed.start < range.end;
        return within(own) && !inner.into_iter().any(within);
    }
    let mut at = own.start.max(changed.start);
    let end = own.end.min(changed.end);
    if at >= end {
        return false;
    }
    // Those in it come in order; what they leave uncovered is the definition's own.
    for range in inner {
        if range.start > at {
            return true;
        }
        at = at.max(range.end);
        if at >= end {
            return false;
        }
    }
    at < end
}

#[cfg(test)]
mod tests;
