//! Where a node's own text ends. The parser's end of a collection or a block text runs on to
//! whatever follows, comments included.

use super::EditError;
use super::splice::{line_end, tail};
use crate::yaml::{Node, Value};

/// One past the last byte that belongs to a node.
pub(super) fn end_of(text: &str, node: &Node) -> Result<usize, EditError> {
    // Depth is bounded where the tree is built, and so is this recursion.
    let last = match &node.value {
        Value::Scalar { .. } => {
            let written = text.get(node.span.start..node.span.end).unwrap_or_default();
            let end = node.span.start + written.trim_end().len();
            // A value that is not there stands before its colon.
            let after = tail(text, end).trim_start_matches([' ', '\t']);
            let missing = written.is_empty() && after.starts_with(':');
            return Ok(if missing {
                text.len() - after.len() + 1
            } else {
                end
            });
        }
        Value::List(items) => items.last(),
        Value::Map(entries) => entries.last().map(|(_, value)| value),
    };
    let inner = last.map(|last| end_of(text, last)).transpose()?;
    if tail(text, node.span.start).starts_with(['[', '{']) {
        return after_bracket(text, node, inner.unwrap_or(node.span.start + 1));
    }
    Ok(inner.unwrap_or(node.span.start))
}

/// One past the closing bracket that follows an offset.
fn after_bracket(text: &str, node: &Node, mut offset: usize) -> Result<usize, EditError> {
    loop {
        let rest = tail(text, offset);
        let between = rest.trim_start_matches([' ', '\t', '\r', '\n', ',']);
        offset += rest.len() - between.len();
        if between.starts_with([']', '}']) {
            return Ok(offset + 1);
        }
        if !between.starts_with('#') {
            return Err(EditError::Unsupported {
                at: node.at(),
                what: "this value",
            });
        }
        offset = line_end(text, offset);
    }
}
