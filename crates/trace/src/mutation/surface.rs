//! Which names of a text nobody else can know, and which names it mentions at all.

use std::collections::HashSet;

use super::resolve::is_private_word;
use crate::shape::{Shape, Word};

/// Names by how they are reached: by themselves, or through a value or a type.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) free: HashSet<String>,
    pub(super) members: HashSet<String>,
}

impl Names {
    /// Whether it is among them, however it is reached.
    pub(super) fn has(&self, name: &str) -> bool {
        self.free.contains(name) || self.members.contains(name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.free.is_empty() && self.members.is_empty()
    }

    /// Those of these that the others do not mention. A name that is reached both ways must be
    /// gone both ways.
    pub(super) fn without(&self, mentioned: &Self) -> Self {
        let is_gone = |name: &&String| {
            !(self.free.contains(*name) && mentioned.free.contains(*name)
                || self.members.contains(*name) && mentioned.members.contains(*name))
        };
        Self {
            free: self.free.iter().filter(is_gone).cloned().collect(),
            members: self.members.iter().filter(is_gone).cloned().collect(),
        }
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Self {
            free: &self.free | &other.free,
            members: &self.members | &other.members,
        }
    }

    fn add(&mut self, name: Option<&Shape<'_>>, reach: Reach) {
        let Some(text) = name.and_then(Shape::text) else {
            return;
        };
        if reach != Reach::Member {
            self.free.insert(text.to_owned());
        }
        if reach != Reach::Free {
            self.members.insert(text.to_owned());
        }
    }
}

/// How a definition's name is reached.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Reach {
    Free,
    Member,
    Both,
}

/// Every name that is no local's.
pub(super) fn mentioned(shape: &Shape<'_>, found: &mut Names) {
    let (kind, text) = match &shape.word {
        Some(Word::Free(text)) => (&mut found.free, text),
        Some(Word::Member(text)) => (&mut found.members, text),
        Some(Word::Text(_) | Word::Local(_) | Word::Binder(..)) | None => {
            for child in &shape.children {
                mentioned(child, found);
            }
            return;
        }
    };
    if !kind.contains(text) {
        kind.insert(text.clone());
    }
}

/// The names that a text defines for itself alone.
pub(super) fn private(language: &str, root: &Shape<'_>) -> Names {
    let mut found = Names::default();
    match language {
        "rust" => rust(root, &mut found),
        "python" => python(root, &mut found),
        "typescript" | "tsx" | "javascript" => script(root, &mut found),
        "go" => go(root, &mut found),
        "java" => java(root, &mut found),
        "c" | "cpp" => c(root, &mut found),
        _ => {}
    }
    found
}

fn rust(shape: &Shape<'_>, found: &mut Names) {
    // A name that the linker or the compiler looks for is not the file's own.
    let mut is_known_outside = false;
    for child in &shape.children {
        match child.kind {
            "attribute_item" => is_known_outside |= holds(child, &["no_mangle", "export_name"]),
            "trait_item" => {}
            "impl_item" if child.child("trait").is_some() => {}
            "impl_item" => child
                .child("body")
                .into_iter()
                .for_each(|body| rust(body, found)),
            "function_item" | "struct_item" | "enum_item" | "union_item" | "type_item"
            | "const_item" | "static_item" | "mod_item" | "field_declaration" => {
                let name = child.child("name");
                let is_main = name.and_then(Shape::text) == Some("main");
                let is_private = child.child_of_kind("visibility_modifier").is_none();
                let reach = match child.kind {
                    "field_declaration" => Reach::Member,
                    // A method is declared by its name alone and called through a value.
                    "function_item" if shape.kind == "declaration_list" => Reach::Both,
                    _ => Reach::Free,
                };
                if is_private && !is_known_outside && !is_main {
                    found.add(name, reach);
                }
                if matches!(child.kind, "struct_item" | "mod_item") {
                    child
                        .child("body")
                        .into_iter()
                        .for_each(|body| rust(body, found));
                }
                is_known_outside = false;
            }
            _ => is_known_outside = false,
        }
    }
}

fn holds(shape: &Shape<'_>, words: &[&str]) -> bool {
    shape.text().is_some_and(|text| words.contains(&text))
        || shape.children.iter().any(|child| holds(child, words))
}

fn python(shape: &Shape<'_>, found: &mut Names) {
    // Whatever carries the underscore, wherever it stands, is meant for this file alone.
    match &shape.word {
        Some(Word::Free(text) | Word::Member(text)) if is_private_word(text) => {
            found.add(Some(shape), Reach::Both);
        }
        _ => {}
    }
    for child in &shape.children {
        // An imported name is another file's.
        if !matches!(child.kind, "import_from_statement" | "import_statement") {
            python(child, found);
        }
    }
}

fn script(root: &Shape<'_>, found: &mut Names) {
    let is_module = root
        .children
        .iter()
        .any(|one| matches!(one.kind, "import_statement" | "export_statement"))
        || holds(root, &["require", "exports"]);
    let mut exported = Names::default();
    for child in &root.children {
        if child.kind == "export_statement" {
            gather_specifiers(child, &mut exported);
        }
    }
    for child in &root.children {
        let inner = child.child("declaration").unwrap_or(child);
        if let Some(body) = inner.child("body").filter(|body| body.kind == "class_body") {
            script_class(body, found);
        }
        if !is_module || child.kind == "export_statement" {
            continue;
        }
        match child.kind {
            "lexical_declaration" | "variable_declaration" => {
                for one in &child.children {
                    found.add(one.child("name"), Reach::Free);
                }
            }
            kind if kind.ends_with("_declaration") => {
                found.add(child.child("name"), Reach::Free);
            }
            _ => {}
        }
    }
    found.free.retain(|name| !exported.has(name));
}

fn script_class(body: &Shape<'_>, found: &mut Names) {
    for member in &body.children {
        let name = member.child("name").or_else(|| member.child("property"));
        let is_hash = name.is_some_and(|name| name.kind == "private_property_identifier");
        let is_marked = member
            .child_of_kind("accessibility_modifier")
            .is_some_and(|modifier| holds(modifier, &["private"]));
        if is_hash || is_marked {
            found.add(name, Reach::Member);
        }
    }
}

fn gather_specifiers(shape: &Shape<'_>, found: &mut Names) {
    if shape.kind == "export_specifier" {
        mentioned(shape, found);
    }
    for child in &shape.children {
        gather_specifiers(child, found);
    }
}

fn go(root: &Shape<'_>, found: &mut Names) {
    for child in &root.children {
        match child.kind {
            "function_declaration" | "method_declaration" => go_name(child, found),
            "type_declaration" | "var_declaration" | "const_declaration" => {
                go_specs(child, found);
            }
            _ => {}
        }
    }
}

fn go_specs(shape: &Shape<'_>, found: &mut Names) {
    for child in &shape.children {
        match child.kind {
            "type_spec" | "type_alias" | "var_spec" | "const_spec" | "field_declaration" => {
                go_name(child, found);
                go_specs(child, found);
            }
            "var_spec_list" | "struct_type" | "field_declaration_list" => go_specs(child, found),
            _ => {}
        }
    }
}

fn go_name(shape: &Shape<'_>, found: &mut Names) {
    for name in shape
        .children
        .iter()
        .filter(|one| one.field == Some("name"))
    {
        let text = name.text().unwrap_or_default();
        let is_lower = text.starts_with(|c: char| c.is_lowercase());
        if is_lower && !matches!(text, "main" | "init") {
            let is_member = name.kind == "field_identifier";
            let reach = if is_member {
                Reach::Member
            } else {
                Reach::Free
            };
            found.add(Some(name), reach);
        }
    }
}

fn java(shape: &Shape<'_>, found: &mut Names) {
    for child in &shape.children {
        let is_private = child
            .child_of_kind("modifiers")
            .is_some_and(|modifiers| holds(modifiers, &["private"]));
        if is_private {
            found.add(child.child("name"), Reach::Both);
            for one in &child.children {
                if one.kind == "variable_declarator" {
                    found.add(one.child("name"), Reach::Both);
                }
            }
        }
        if let Some(body) = child.child("body")
            && child.kind.ends_with("_declaration")
            && body.kind.ends_with("_body")
        {
            java(body, found);
        }
    }
}

fn c(root: &Shape<'_>, found: &mut Names) {
    for child in &root.children {
        let is_static = child
            .children
            .iter()
            .any(|one| one.kind == "storage_class_specifier" && holds(one, &["static"]));
        if is_static {
            let mut inner = child.child("declarator");
            while let Some(deeper) = inner.and_then(|one| one.child("declarator")) {
                inner = Some(deeper);
            }
            found.add(inner, Reach::Free);
        }
    }
}
