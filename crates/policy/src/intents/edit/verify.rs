//! Holds an edited file against the one before: only what was meant may differ.

use tagout_vocab::Intent;

use super::{Document, EditError};
use crate::intents::read::{IntentFile, list_node, read};
use crate::yaml::{self, Node, Span, Value};

/// After the edit of a field: all intents are as meant, and the trees differ in that field alone.
pub(super) fn field(
    before: &Document<'_>,
    edited: &str,
    keys: &[&str],
    (index, meant): (usize, &[Intent]),
) -> Result<(), EditError> {
    let after = again(before, edited)?;
    same_intents(&after, meant)?;
    let without = |root: Option<&Node>| {
        let mut root = root.map(placeless)?;
        let entry = list_mut(&mut root).and_then(|items| items.get_mut(index))?;
        if let Value::Map(fields) = &mut entry.value {
            let scope = keys.contains(&"owned_scope");
            fields.retain_mut(|(key, value)| {
                let name = key.as_text().unwrap_or_default();
                if scope && name == "scope" {
                    forget_paths(value);
                }
                !keys.contains(&name)
            });
        }
        Some(root)
    };
    let after_root = parsed(before, edited)?;
    if without(before.root.as_ref()) == without(after_root.as_ref()) {
        Ok(())
    } else {
        Err(diverged("another field would change"))
    }
}

/// After an append: the old intents, then the new one, and nothing else new in the tree.
pub(super) fn appended(
    before: &Document<'_>,
    edited: &str,
    intent: &Intent,
) -> Result<(), EditError> {
    let after = again(before, edited)?;
    let mut meant = before.read.intents.clone();
    meant.push(intent.clone());
    same_intents(&after, &meant)?;
    let Some(root) = &before.root else {
        return Ok(());
    };
    let mut old = placeless(root);
    // A key without a value is an empty list.
    if let Value::Map(fields) = &mut old.value {
        let nothing = fields.iter_mut().map(|(_, value)| value);
        if list_node(root).is_some_and(Node::is_null) {
            nothing
                .filter(|value| value.is_null())
                .for_each(|value| value.value = Value::List(Vec::new()));
        }
    }
    let mut new = parsed(before, edited)?.as_ref().map(placeless);
    if let Some(items) = new.as_mut().and_then(list_mut) {
        items.pop();
    }
    if new == Some(old) {
        Ok(())
    } else {
        Err(diverged("something else would change"))
    }
}

fn again(before: &Document<'_>, edited: &str) -> Result<IntentFile, EditError> {
    let unreadable = |problems: Vec<_>| {
        let first = problems.first().map(ToString::to_string);
        diverged(&first.unwrap_or_default())
    };
    read(before.file, edited).map_err(unreadable)
}

fn parsed(before: &Document<'_>, edited: &str) -> Result<Option<Node>, EditError> {
    yaml::parse(before.file, edited).map_err(|problem| diverged(&problem.to_string()))
}

fn same_intents(after: &IntentFile, meant: &[Intent]) -> Result<(), EditError> {
    if after.intents == meant {
        return Ok(());
    }
    let differs = after
        .intents
        .iter()
        .zip(meant)
        .find(|(after, meant)| after != meant)
        .map_or_else(String::new, |(_, meant)| format!(" at `{}`", meant.id));
    Err(diverged(&format!("the intents would differ{differs}")))
}

fn diverged(what: &str) -> EditError {
    EditError::Diverged {
        what: what.to_owned(),
    }
}

fn list_mut(root: &mut Node) -> Option<&mut Vec<Node>> {
    let list = match &mut root.value {
        Value::List(items) => return Some(items),
        Value::Scalar { .. } => return None,
        Value::Map(fields) => fields.iter_mut().find_map(|(key, value)| {
            let name = key.as_text().unwrap_or_default();
            matches!(name, "active_intents" | "intents").then_some(value)
        })?,
    };
    match &mut list.value {
        Value::List(items) => Some(items),
        Value::Scalar { .. } | Value::Map(_) => None,
    }
}

fn forget_paths(scope: &mut Node) {
    if let Value::Map(fields) = &mut scope.value {
        fields.retain(|(key, _)| key.as_text() != Some("paths"));
    }
}

/// The node with every place forgotten, so that equal means equal in content.
fn placeless(node: &Node) -> Node {
    let value = match &node.value {
        Value::Scalar { text, plain } => Value::Scalar {
            text: text.clone(),
            plain: *plain,
        },
        Value::List(items) => Value::List(items.iter().map(placeless).collect()),
        Value::Map(fields) => Value::Map(
            fields
                .iter()
                .map(|(key, value)| (placeless(key), placeless(value)))
                .collect(),
        ),
    };
    Node {
        span: Span::default(),
        value,
    }
}
