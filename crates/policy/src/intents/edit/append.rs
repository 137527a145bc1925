//! A new intent at the end of a file of any dialect, everything else left byte for byte.

use tagout_vocab::Intent;

use super::ends::end_of;
use super::splice::{Splice, apply, line_end, line_ending, line_start, tail};
use super::{Document, EditError, verify};
use crate::intents::write::{entry_lines, flow_entry, write};
use crate::yaml::{Node, Value};

/// The text with one more intent, written in the canonical way inside the dialect of the file.
pub fn append(file: &str, text: &str, intent: &Intent) -> Result<String, EditError> {
    let document = Document::open(file, text)?;
    let mut known = document.read.intents.iter();
    if known.any(|other| other.id == intent.id) {
        return Err(EditError::Exists {
            id: intent.id.clone(),
        });
    }
    let edited = match (&document.root, document.list()) {
        (Some(root), Some(list)) => apply(text, splices(text, root, list, intent)?),
        (_, None) | (None, _) => fresh(text, intent),
    };
    verify::appended(&document, &edited, intent)?;
    Ok(edited)
}

/// A whole document after the comments of a file that holds nothing else.
fn fresh(text: &str, intent: &Intent) -> String {
    let ending = line_ending(text);
    let body = write(std::slice::from_ref(intent)).replace('\n', ending);
    let gap = if text.is_empty() || text.ends_with(['\r', '\n']) {
        ""
    } else {
        ending
    };
    format!("{text}{gap}{body}")
}

fn splices(
    text: &str,
    root: &Node,
    list: &Node,
    intent: &Intent,
) -> Result<Vec<Splice>, EditError> {
    let items = list.as_list().unwrap_or_default();
    let flow = tail(text, list.span.start).starts_with('[');
    match items.last() {
        Some(end) if flow => {
            let entry = format!(", {}", flow_entry(intent));
            Ok(vec![Splice::insert(end_of(text, end)?, entry)])
        }
        Some(end) => {
            let margin = dash_indent(text, list, items)?;
            let at = if is_last(root, list) {
                text.len()
            } else {
                line_end(text, end_of(text, end)?)
            };
            Ok(vec![Splice::insert(at, lines(text, at, &margin, intent))])
        }
        None => Ok(into_empty(text, root, list, intent)),
    }
}

/// An empty list, or none at all, gives way to a block list on the lines after it.
fn into_empty(text: &str, root: &Node, list: &Node, intent: &Intent) -> Vec<Splice> {
    let written = text.get(list.span.start..list.span.end).unwrap_or_default();
    let close = written.find(']').map_or(written.len(), |at| at + 1);
    let end = list.span.start + close;
    let before = text.get(..list.span.start).unwrap_or_default();
    let start = before.trim_end_matches([' ', '\t']).len();
    let at = line_end(text, end);
    let margin = if root.as_list().is_some() { "" } else { "  " };
    vec![
        Splice::delete(if close == 0 { end } else { start }, end),
        Splice::insert(at, lines(text, at, margin, intent)),
    ]
}

/// The entry's lines, to be put at an offset that is the end of a line or the start of an empty
/// one.
fn lines(text: &str, at: usize, margin: &str, intent: &Intent) -> String {
    let ending = line_ending(text);
    let lines: Vec<String> = entry_lines(intent)
        .into_iter()
        .map(|line| format!("{margin}{line}"))
        .collect();
    let body = lines.join(ending);
    if at == line_start(text, at) {
        format!("{body}{ending}")
    } else if at == text.len() {
        format!("{ending}{body}{ending}")
    } else {
        format!("{ending}{body}")
    }
}

/// Whether the list ends where the document does.
fn is_last(root: &Node, list: &Node) -> bool {
    match &root.value {
        Value::Map(entries) => entries
            .iter()
            .all(|(key, _)| key.span.start <= list.span.start),
        Value::List(_) | Value::Scalar { .. } => true,
    }
}

/// How far the dashes of a block list are indented, taken from the first entry that shows it.
fn dash_indent(text: &str, list: &Node, items: &[Node]) -> Result<String, EditError> {
    items
        .iter()
        .find_map(|item| {
            let start = line_start(text, item.span.start);
            let before = text.get(start..item.span.start)?;
            let margin = before.strip_suffix(before.trim_start())?;
            (before.trim() == "-").then(|| margin.to_owned())
        })
        .or_else(|| {
            // The parser's list starts at the first dash when the entries stand on lines of their
            // own.
            let dash = tail(text, list.span.start).starts_with('-');
            dash.then(|| " ".repeat(list.at().column.saturating_sub(1)))
        })
        .ok_or(EditError::Unsupported {
            at: list.at(),
            what: "this list",
        })
}
