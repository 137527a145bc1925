//! The canonical text of a resolved tree: the same for all layouts, all names of locals and all
//! orders that mean nothing.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::imports;
use super::scheme::{Binding, Scheme};
use super::surface::Names;
use crate::shape::{Shape, Word};

/// A canonical text, and the names that were left open in it, in the order of their places.
#[derive(Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd)]
pub(super) struct Canon {
    pub(super) text: String,
    pub(super) open: Vec<String>,
}

/// Writes canonical texts.
pub(super) struct Writer<'w> {
    pub(super) scheme: &'static Scheme,
    pub(super) language: &'w str,
    /// Names that are left open.
    pub(super) open: &'w Names,
    /// Names that are mentioned anywhere, for the imports.
    pub(super) mentioned: &'w Names,
}

impl Writer<'_> {
    /// The canonical text of a whole file.
    pub(super) fn file(&self, root: &Shape<'_>) -> Canon {
        let mut canon = Canon::default();
        self.write(root, "", &mut HashMap::new(), &mut canon);
        canon
    }

    /// The canonical texts of a file's own definitions, sorted, and the text of the rest.
    pub(super) fn parts(&self, root: &Shape<'_>) -> (Vec<Canon>, Canon) {
        let parts = self.partition(root);
        let mut rest = Canon::default();
        let mut numbers = HashMap::new();
        for shapes in parts.ordered {
            for shape in shapes {
                self.write(shape, root.kind, &mut numbers, &mut rest);
            }
        }
        (parts.unordered, rest)
    }

    fn write(
        &self,
        shape: &Shape<'_>,
        parent: &str,
        numbers: &mut HashMap<u32, usize>,
        canon: &mut Canon,
    ) {
        if let Some(word) = &shape.word {
            self.word(word, numbers, canon);
            return;
        }
        let is_container = self.scheme.containers.contains(&shape.kind)
            || self
                .scheme
                .containers
                .iter()
                .any(|both| both.split_once(' ') == Some((parent, shape.kind)));
        canon.text.push('(');
        canon.text.push_str(shape.kind);
        // In a function the numbers of locals reach into whatever is defined there.
        if is_container && numbers.is_empty() {
            let parts = self.partition(shape);
            for line in parts.imports {
                canon.text.push_str(&line);
                canon.text.push('\n');
            }
            for part in parts.unordered {
                canon.text.push_str(&part.text);
                canon.open.extend(part.open);
            }
            for child in parts.ordered.into_iter().flatten() {
                self.write(child, shape.kind, &mut HashMap::new(), canon);
            }
        } else {
            for child in &shape.children {
                self.write(child, shape.kind, numbers, canon);
            }
        }
        canon.text.push(')');
    }

    fn word(&self, word: &Word, numbers: &mut HashMap<u32, usize>, canon: &mut Canon) {
        let mut number = |local: u32| {
            let next = numbers.len();
            *numbers.entry(local).or_insert(next)
        };
        let written = match word {
            Word::Text(text) => write!(canon.text, "t{}:{text} ", text.len()),
            Word::Free(text) if self.open.free.contains(text) => {
                canon.open.push(text.clone());
                write!(canon.text, "f? ")
            }
            Word::Member(text) if self.open.members.contains(text) => {
                canon.open.push(text.clone());
                write!(canon.text, "m? ")
            }
            Word::Free(text) => write!(canon.text, "f{}:{text} ", text.len()),
            Word::Member(text) => write!(canon.text, "m{}:{text} ", text.len()),
            Word::Local(local) => write!(canon.text, "l{} ", number(*local)),
            Word::Binder(local, None) => write!(canon.text, "b{} ", number(*local)),
            Word::Binder(local, Some(name)) => write!(canon.text, "b{}={name} ", number(*local)),
        };
        // Writing into a `String` cannot fail.
        written.unwrap_or_default();
    }

    fn partition<'a, 'k>(&self, container: &'a Shape<'k>) -> Parts<'a, 'k> {
        let mut parts = Parts::default();
        let twice = self.defined_twice(container);
        let mut group: Vec<&Shape<'_>> = Vec::new();
        for child in &container.children {
            group.push(child);
            // An attribute belongs to what follows it.
            if child.kind == "attribute_item" {
                continue;
            }
            let group = std::mem::take(&mut group);
            if let Some(lines) = imports::lines(self, child) {
                parts.imports.extend(lines);
            } else if self.is_unordered(child, &twice) {
                let mut canon = Canon::default();
                let mut numbers = HashMap::new();
                for shape in group {
                    self.write(shape, container.kind, &mut numbers, &mut canon);
                }
                parts.unordered.push(canon);
            } else {
                parts.ordered.push(group);
            }
        }
        parts.ordered.push(group);
        parts.imports.sort();
        parts.imports.dedup();
        parts.unordered.sort();
        parts
    }

    fn is_unordered(&self, shape: &Shape<'_>, twice: &HashSet<&str>) -> bool {
        let inner = match shape.kind {
            "export_statement" => shape.child("declaration").unwrap_or(shape),
            _ => shape,
        };
        let name = defined_name(inner).unwrap_or_default();
        self.scheme.unordered.contains(&inner.kind) && !twice.contains(name)
    }

    /// Names that are defined again: there the last one counts, so the order does.
    fn defined_twice<'a>(&self, container: &'a Shape<'_>) -> HashSet<&'a str> {
        let mut seen = HashSet::new();
        let mut twice = HashSet::new();
        if self.language == "go" {
            // Each of them runs, in the order of the file.
            twice.insert("init");
        }
        if self.scheme.binding == Binding::InOrder {
            return twice;
        }
        for child in &container.children {
            if let Some(name) = defined_name(child)
                && !seen.insert(name)
            {
                twice.insert(name);
            }
        }
        twice
    }
}

fn defined_name<'a>(shape: &'a Shape<'_>) -> Option<&'a str> {
    shape.child("name").and_then(Shape::text)
}

#[derive(Default)]
struct Parts<'a, 'k> {
    imports: Vec<String>,
    unordered: Vec<Canon>,
    ordered: Vec<Vec<&'a Shape<'k>>>,
}
