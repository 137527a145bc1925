//! What of a tree is layout: blanks, comments, optional punctuation, quotes.

use std::ops::Range;

use tagout_vocab::limits::{SYNTAX_DEPTH_MAX, SYNTAX_NODES_MAX};
use tree_sitter::Node;

use super::{Shape, Word};
use crate::syntax::Syntax;

/// Builds shapes, and counts what it built.
pub(super) struct Builder<'s, 't> {
    syntax: &'s Syntax<'t>,
    left: usize,
}

impl<'s, 't> Builder<'s, 't> {
    pub(super) fn new(syntax: &'s Syntax<'t>) -> Self {
        Self {
            syntax,
            left: SYNTAX_NODES_MAX,
        }
    }

    pub(super) fn shape(
        &mut self,
        node: Node<'s>,
        field: Option<&'s str>,
        parent: &str,
        depth: usize,
    ) -> Shape<'s> {
        self.left = self.left.saturating_sub(1);
        let kind = node.kind();
        let is_bottom = node.child_count() == 0 || depth >= SYNTAX_DEPTH_MAX || self.left == 0;
        if is_bottom || is_plain_string(node) {
            return self.word(node, field, parent);
        }
        let mut children = self.children(node, depth);
        if kind == "parenthesized_expression" && is_layout_parentheses(parent) {
            let inner = children.iter().position(|one| !is_bracket(one));
            if let Some(inner) = inner.filter(|_| children.len() == 3) {
                let mut inner = children.swap_remove(inner);
                inner.field = field;
                return inner;
            }
        }
        if let Some(longhand) = longhand(kind, field, &children) {
            return longhand;
        }
        Shape::branch(kind, field, children)
    }

    fn word(&self, node: Node<'s>, field: Option<&'s str>, parent: &str) -> Shape<'s> {
        let text = String::from_utf8_lossy(self.syntax.bytes(node));
        let kind = node.kind();
        if let Some(longhand) = shorthand_word(kind, field, &text) {
            return longhand;
        }
        let text = match kind {
            "jsx_text" => text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .collect::<Vec<_>>()
                .join(" "),
            kind if is_string(kind) => unquoted(&text),
            // Whether a name is assigned twice shows in its assignments.
            "let" if is_script(self.syntax.grammar.name) => "const".to_owned(),
            _ => text.into_owned(),
        };
        if kind == "string_literal" && parent == "token_tree" {
            return format_string(field, &text);
        }
        Shape::leaf(kind, field, Word::Text(text))
    }

    fn children(&mut self, node: Node<'s>, depth: usize) -> Vec<Shape<'s>> {
        let mut shapes: Vec<Shape<'s>> = Vec::new();
        let mut cursor = node.walk();
        let keeps_gaps = is_string(node.kind());
        let mut end = node.start_byte();
        let mut comma = None;
        let mut has_docstring = false;
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            let field = cursor.field_name();
            more = cursor.goto_next_sibling();
            if keeps_gaps {
                self.gap(&mut shapes, node, end..child.start_byte());
                end = child.end_byte();
            }
            if self.is_layout(child, node.kind()) {
                continue;
            }
            has_docstring |= shapes.is_empty() && is_docstring(self.syntax.grammar.name, child);
            let shape = self.shape(child, field, node.kind(), depth + 1);
            // A comma before a closing bracket, after something, is a formatter's.
            if let Some(held) = comma.take()
                && !matches!(shape.kind, ")" | "]" | "}" | ">" | "|")
            {
                shapes.push(held);
            }
            let follows = shapes.last().is_some_and(|last| !opens(last.kind));
            if shape.kind == "," && follows {
                comma = Some(shape);
            } else {
                push(&mut shapes, shape);
            }
        }
        shapes.extend(comma);
        if keeps_gaps {
            self.gap(&mut shapes, node, end..node.end_byte());
        }
        // A body that would be empty without its documentation is not empty in the text.
        if has_docstring && shapes.len() > 1 {
            shapes.remove(0);
        }
        shapes
    }

    /// Text of a string that belongs to no child.
    fn gap(&self, shapes: &mut Vec<Shape<'s>>, node: Node<'_>, gap: Range<usize>) {
        let start = node.start_byte();
        let bytes = self.syntax.bytes(node);
        let text = bytes.get(gap.start.saturating_sub(start)..gap.end.saturating_sub(start));
        let text = String::from_utf8_lossy(text.unwrap_or_default());
        if !text.is_empty() {
            shapes.push(Shape::leaf("gap", None, Word::Text(text.into_owned())));
        }
    }

    fn is_layout(&self, child: Node<'_>, parent: &str) -> bool {
        let kind = child.kind();
        if child.byte_range().is_empty() && !child.is_missing() {
            return true;
        }
        let language = self.syntax.grammar.name;
        if kind.ends_with("comment") {
            return !is_directive(self.syntax.bytes(child), language);
        }
        match kind {
            "\n" | "line_continuation" => true,
            // A loop's head needs its semicolons; elsewhere the line's end would do.
            ";" => {
                (is_script(language) || matches!(language, "python" | "go"))
                    && !matches!(parent, "for_statement" | "for_clause")
            }
            _ => false,
        }
    }
}

fn is_script(language: &str) -> bool {
    matches!(language, "javascript" | "typescript" | "tsx")
}

fn is_bracket(shape: &Shape<'_>) -> bool {
    matches!(shape.kind, "(" | ")")
}

fn opens(kind: &str) -> bool {
    matches!(kind, "," | "(" | "[" | "{" | "<")
}

/// A comment that a compiler or a system reads.
fn is_directive(comment: &[u8], language: &str) -> bool {
    let starts = |words: &[&str]| {
        words
            .iter()
            .any(|word| comment.starts_with(word.as_bytes()))
    };
    let holds = |word: &str| {
        comment
            .windows(word.len())
            .any(|part| part == word.as_bytes())
    };
    match language {
        "go" => {
            starts(&["//go:", "// +build", "//export ", "//line "])
                || holds("#cgo")
                || holds("#include")
        }
        "typescript" | "tsx" => starts(&["/// <", "// @ts-nocheck"]),
        "python" => starts(&["#!"]) || (holds("coding:") || holds("coding=")),
        "bash" => starts(&["#!"]),
        _ => false,
    }
}

/// A statement that is nothing but a string.
fn is_docstring(language: &str, node: Node<'_>) -> bool {
    language == "python"
        && node.kind() == "expression_statement"
        && node.named_child_count() == 1
        && node
            .named_child(0)
            .is_some_and(|only| only.kind() == "string" && is_plain_string(only))
}

fn is_string(kind: &str) -> bool {
    kind.contains("string") || kind.contains("char_literal") || kind.contains("heredoc")
}

/// A string in which nothing is computed.
fn is_plain_string(node: Node<'_>) -> bool {
    if !is_string(node.kind()) {
        return false;
    }
    let mut cursor = node.walk();
    node.children(&mut cursor).all(|child| {
        let kind = child.kind();
        let is_part = is_string(kind) || kind.contains("escape") || !child.is_named();
        is_part && child.named_child_count() == 0
    })
}

/// The same string with the other quotes is the same string, unless it holds quotes or escapes.
fn unquoted(text: &str) -> String {
    let prefix_end = text.find(['\'', '"']).unwrap_or(0);
    let (prefix, quoted) = text.split_at_checked(prefix_end).unwrap_or(("", text));
    let inner = quoted
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''));
    match inner {
        Some(inner) if !inner.contains(['\'', '"', '\\', '\n']) => format!("{prefix}\"{inner}\""),
        _ => text.to_owned(),
    }
}

/// Whether parentheses only group what is grouped anyway.
fn is_layout_parentheses(parent: &str) -> bool {
    // `(a.b)()` calls what lies in a field; `(a?.b).c` ends the optional chain.
    !matches!(
        parent,
        "call_expression" | "member_expression" | "field_expression" | "subscript_expression"
    )
}

/// `S { a }` and `{ a }` are short for `S { a: a }` and `{ a: a }`.
fn shorthand_word<'k>(kind: &str, field: Option<&'k str>, text: &str) -> Option<Shape<'k>> {
    let (outer, key_kind, key, value) = match kind {
        "shorthand_property_identifier" => ("pair", "property_identifier", "key", "value"),
        "shorthand_property_identifier_pattern" => {
            ("pair_pattern", "property_identifier", "key", "value")
        }
        _ => return None,
    };
    Some(spelled_out(outer, field, (key_kind, key, value), text))
}

fn spelled_out<'k>(
    outer: &'k str,
    field: Option<&'k str>,
    (key_kind, key, value): (&'k str, &'k str, &'k str),
    text: &str,
) -> Shape<'k> {
    let word = || Word::Text(text.to_owned());
    let children = vec![
        Shape::leaf(key_kind, Some(key), word()),
        Shape::leaf(":", None, Word::Text(":".to_owned())),
        Shape::leaf("identifier", Some(value), word()),
    ];
    Shape::branch(outer, field, children)
}

fn longhand<'k>(kind: &str, field: Option<&'k str>, children: &[Shape<'k>]) -> Option<Shape<'k>> {
    match (kind, children) {
        ("shorthand_field_initializer", [only]) => {
            let text = only.text()?.to_owned();
            let keys = ("field_identifier", "field", "value");
            Some(spelled_out("field_initializer", field, keys, &text))
        }
        ("field_pattern", [only]) if only.kind == "shorthand_field_identifier" => {
            let text = only.text()?.to_owned();
            let keys = ("field_identifier", "name", "pattern");
            Some(spelled_out("field_pattern", field, keys, &text))
        }
        _ => None,
    }
}

/// Adds a child; one declaration of several parameters becomes several declarations.
fn push<'k>(shapes: &mut Vec<Shape<'k>>, shape: Shape<'k>) {
    let is_name = |one: &&Shape<'_>| one.field == Some("name");
    let names = shape.children.iter().filter(is_name).count();
    if shape.kind != "parameter_declaration" || names < 2 {
        shapes.push(shape);
        return;
    }
    let rest: Vec<Shape<'k>> = shape
        .children
        .iter()
        .filter(|one| !is_name(one) && one.kind != ",")
        .cloned()
        .collect();
    for (at, name) in shape.children.iter().filter(is_name).enumerate() {
        if at > 0 {
            shapes.push(Shape::leaf(",", None, Word::Text(",".to_owned())));
        }
        let mut children = vec![name.clone()];
        children.extend(rest.iter().cloned());
        shapes.push(Shape::branch(shape.kind, shape.field, children));
    }
}

/// The names that a format string captures are names, not text.
fn format_string<'k>(field: Option<&'k str>, text: &str) -> Shape<'k> {
    let mut children = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('{') {
        plain.push_str(head);
        plain.push('{');
        if let Some(after) = tail.strip_prefix('{') {
            plain.push('{');
            rest = after;
            continue;
        }
        let length = tail
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(tail.len());
        let (name, after) = tail.split_at_checked(length).unwrap_or(("", tail));
        let is_name = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
        if is_name && after.starts_with(['}', ':']) {
            let fragment = std::mem::take(&mut plain);
            children.push(Shape::leaf("fragment", None, Word::Text(fragment)));
            children.push(Shape::leaf("identifier", None, Word::Text(name.to_owned())));
        } else {
            plain.push_str(name);
        }
        rest = after;
    }
    plain.push_str(rest);
    children.push(Shape::leaf("fragment", None, Word::Text(plain)));
    Shape::branch("string_literal", field, children)
}
