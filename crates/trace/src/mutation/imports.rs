//! Imports as sorted lines: grouping and order are layout, the names are not.

use super::canon::Writer;
use crate::shape::{Shape, Word};

/// The lines of an import; `None` if the node is none, or if its order may mean something.
pub(super) fn lines(writer: &Writer<'_>, shape: &Shape<'_>) -> Option<Vec<String>> {
    if !writer.scheme.imports.contains(&shape.kind) {
        return None;
    }
    match shape.kind {
        "use_declaration" => {
            let visibility = shape.child_of_kind("visibility_modifier").map(flat);
            let mut found = Vec::new();
            uses("", shape.child("argument")?, &mut found);
            // A private import that nothing mentions imports nothing that matters here.
            if visibility.is_none() {
                found.retain(|line| is_mentioned(writer, line));
            }
            let visibility = visibility.unwrap_or_default();
            let line = |path: String| format!("use {visibility}{path}");
            Some(found.into_iter().map(line).collect())
        }
        "import_declaration" if writer.language == "go" => {
            let mut found = Vec::new();
            specs(shape, &mut found);
            Some(found)
        }
        "import_declaration" => {
            let line = flat(shape);
            let kept = is_mentioned(writer, line.trim_end_matches(';'));
            Some(if kept { vec![line] } else { Vec::new() })
        }
        // An import without names is there for what it does, and does it in its place.
        "import_statement" if writer.language != "python" => {
            shape.child_of_kind("import_clause")?;
            Some(vec![flat(shape)])
        }
        _ => Some(vec![flat(shape)]),
    }
}

/// A node's words, one after the other.
fn flat(shape: &Shape<'_>) -> String {
    let mut text = String::new();
    flatten(shape, &mut text);
    text
}

fn flatten(shape: &Shape<'_>, text: &mut String) {
    if let Some(word) = &shape.word {
        match word {
            Word::Text(word) | Word::Free(word) | Word::Member(word) => text.push_str(word),
            Word::Local(local) | Word::Binder(local, _) => text.push_str(&local.to_string()),
        }
        // Words that would run together are kept apart; the rest needs no blank.
        if text.ends_with(|c: char| c.is_alphanumeric()) && !is_path_word(shape) {
            text.push(' ');
        }
    }
    for child in &shape.children {
        flatten(child, text);
    }
}

fn is_path_word(shape: &Shape<'_>) -> bool {
    matches!(
        shape.kind,
        "identifier" | "type_identifier" | "crate" | "self" | "super"
    )
}

fn is_mentioned(writer: &Writer<'_>, line: &str) -> bool {
    let name = line
        .rsplit(|c: char| !(c.is_alphanumeric() || c == '_'))
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    line.ends_with('*') || name == "self" || name == "_" || writer.mentioned.has(name)
}

fn uses(prefix: &str, shape: &Shape<'_>, found: &mut Vec<String>) {
    match shape.kind {
        "scoped_use_list" => {
            let path = shape.child("path").map(flat).unwrap_or_default();
            if let Some(list) = shape.child("list") {
                uses(&format!("{prefix}{path}::"), list, found);
            }
        }
        "use_list" => {
            for child in &shape.children {
                if !matches!(child.kind, "{" | "}" | ",") {
                    uses(prefix, child, found);
                }
            }
        }
        "self" => found.push(prefix.trim_end_matches("::").to_owned()),
        "use_as_clause" => {
            let path = shape.child("path").map(flat).unwrap_or_default();
            let alias = shape.child("alias").map(flat).unwrap_or_default();
            found.push(format!("{prefix}{path} as {alias}"));
        }
        _ => found.push(format!("{prefix}{}", flat(shape))),
    }
}

fn specs(shape: &Shape<'_>, found: &mut Vec<String>) {
    for child in &shape.children {
        if child.kind == "import_spec" {
            found.push(flat(child));
        } else {
            specs(child, found);
        }
    }
}
