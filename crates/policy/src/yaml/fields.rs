//! Reading a mapping field by field, so that nothing in it is overlooked.

use super::Node;
use crate::problem::{Problems, suggestion};

/// A mapping whose every key must be known. Create it, then ask for the fields.
#[derive(Debug)]
pub struct Fields<'a> {
    node: &'a Node,
}

impl<'a> Fields<'a> {
    /// Checks that the node is a mapping and that it holds no key but `known`.
    ///
    /// `what` names the thing in messages: «an intent», «the policy».
    pub fn of(node: &'a Node, what: &str, known: &[&str], problems: &mut Problems) -> Option<Self> {
        let Some(entries) = node.as_map() else {
            let message = format!("{what} must be a mapping, not {}", node.described());
            problems.add(node.at(), message);
            return None;
        };
        for (key, _) in entries {
            let name = key.as_text().unwrap_or_default();
            if problems.is_full() {
                break;
            }
            if !known.contains(&name) {
                let hint = suggestion(name, known.iter().copied());
                problems.add_with(key.at(), format!("{what} has no field `{name}`"), hint);
            }
        }
        Some(Self { node })
    }

    /// The mapping itself.
    pub const fn node(&self) -> &'a Node {
        self.node
    }

    /// A field that is present and not null.
    pub fn get(&self, name: &str) -> Option<&'a Node> {
        self.node.get(name).filter(|node| !node.is_null())
    }

    /// A field as text.
    pub fn text(&self, name: &str, problems: &mut Problems) -> Option<&'a str> {
        let node = self.get(name)?;
        expect(node, node.as_text(), name, "text", problems)
    }

    /// A field as a truth value.
    pub fn bool(&self, name: &str, problems: &mut Problems) -> Option<bool> {
        let node = self.get(name)?;
        expect(node, node.as_bool(), name, "`true` or `false`", problems)
    }

    /// A field as a whole number.
    pub fn u64(&self, name: &str, problems: &mut Problems) -> Option<u64> {
        let node = self.get(name)?;
        expect(node, node.as_u64(), name, "a whole number", problems)
    }

    /// A field as a list.
    pub fn list(&self, name: &str, problems: &mut Problems) -> Option<&'a [Node]> {
        let node = self.get(name)?;
        expect(node, node.as_list(), name, "a list", problems)
    }

    /// A field as a list of texts. `None` when the field is absent; an empty list is an empty list.
    pub fn texts(&self, name: &str, problems: &mut Problems) -> Option<Vec<String>> {
        let items = self.list(name, problems)?;
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            if let Some(text) = expect(item, item.as_text(), name, "a list of texts", problems) {
                texts.push(text.to_owned());
            }
        }
        Some(texts)
    }

    /// A field as one of some words.
    pub fn word<T: Copy>(
        &self,
        name: &str,
        words: &[(&str, T)],
        problems: &mut Problems,
    ) -> Option<T> {
        let node = self.get(name)?;
        let text = expect(node, node.as_text(), name, "a word", problems)?;
        let found = words
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, value)| *value);
        if found.is_none() {
            let hint = suggestion(text, words.iter().map(|(word, _)| *word));
            problems.add_with(node.at(), format!("`{name}` can't be `{text}`"), hint);
        }
        found
    }
}

fn expect<T>(
    node: &Node,
    value: Option<T>,
    name: &str,
    wanted: &str,
    problems: &mut Problems,
) -> Option<T> {
    if value.is_none() {
        let message = format!("`{name}` must be {wanted}, not {}", node.described());
        problems.add(node.at(), message);
    }
    value
}
