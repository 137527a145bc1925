//! One field of one entry: replaced where it stands, or inserted where it belongs.

use super::EditError;
use super::ends::end_of;
use super::splice::{Splice, line_end, line_ending, line_start, next_line, tail};
use crate::intents::write::{flow_list, quoted, scalar};
use crate::yaml::{Node, Value};

/// A field, by every spelling that it has, and what it shall hold. Where an entry has none of the
/// spellings, the first one is written.
pub(super) struct Change<'a> {
    pub(super) keys: &'a [&'a str],
    pub(super) wanted: Wanted,
}

/// What a field shall hold.
pub(super) enum Wanted {
    /// A word that needs no quotes.
    Word(String),
    /// Texts.
    List(Vec<String>),
}

impl Wanted {
    fn flow(&self) -> String {
        match self {
            Self::Word(word) => word.clone(),
            Self::List(texts) => flow_list(texts.iter().map(String::as_str)),
        }
    }

    /// The field on lines of its own, each after a line ending.
    fn block(&self, key: &str, indent: &str, ending: &str) -> String {
        match self {
            Self::List(texts) if !texts.is_empty() => {
                let items = texts
                    .iter()
                    .map(|text| format!("{ending}{indent}  - {}", scalar(text)));
                format!("{ending}{indent}{key}:{}", items.collect::<String>())
            }
            Self::List(_) | Self::Word(_) => format!("{ending}{indent}{key}: {}", self.flow()),
        }
    }
}

/// The splices that give an entry's field its value.
pub(super) fn splices(
    text: &str,
    entry: &Node,
    change: &Change<'_>,
) -> Result<Vec<Splice>, EditError> {
    let Change { keys, wanted } = change;
    let found = keys.iter().find_map(|key| field(entry, key));
    let nested = || {
        let (_, scope) = keys
            .contains(&"owned_scope")
            .then(|| field(entry, "scope"))??;
        field(scope, "paths")
    };
    match found.or_else(nested) {
        Some((key, value)) => replaced(text, key, value, wanted),
        None => inserted(
            text,
            entry,
            keys.first().copied().unwrap_or_default(),
            wanted,
        ),
    }
}

fn field<'a>(map: &'a Node, key: &str) -> Option<(&'a Node, &'a Node)> {
    let mut entries = map.as_map()?.iter();
    let (key, value) = entries.find(|(name, _)| name.as_text() == Some(key))?;
    Some((key, value))
}

fn replaced(
    text: &str,
    key: &Node,
    value: &Node,
    wanted: &Wanted,
) -> Result<Vec<Splice>, EditError> {
    let written = text
        .get(value.span.start..value.span.end)
        .unwrap_or_default();
    if value.is_null() && written.is_empty() {
        let after_key = tail(text, key.span.end);
        let blanks = after_key.len() - after_key.trim_start_matches([' ', '\t']).len();
        let colon = key.span.end + blanks;
        if !tail(text, colon).starts_with(':') {
            return Err(unsupported(key, "a key that stands apart from its colon"));
        }
        let insert = Splice::insert(colon + 1, format!(" {}", wanted.flow()));
        return Ok(vec![insert]);
    }
    match (&value.value, wanted) {
        (Value::List(items), Wanted::List(texts)) if !written.starts_with('[') => {
            block_list(text, key, items, texts)
        }
        (Value::List(_), Wanted::List(_)) => {
            let list = Splice::replace(value.span.start, end_of(text, value)?, wanted.flow());
            Ok(vec![list])
        }
        (Value::Scalar { .. }, _) => {
            let word = in_style(value, written, wanted)?;
            let scalar = Splice::replace(value.span.start, value.span.end, word);
            Ok(vec![scalar])
        }
        (Value::List(_) | Value::Map(_), _) => Err(unsupported(value, "this value")),
    }
}

/// The word in the quotes that were there.
fn in_style(value: &Node, written: &str, wanted: &Wanted) -> Result<String, EditError> {
    let plain = matches!(value.value, Value::Scalar { plain: true, .. });
    match written.chars().next() {
        Some('"') => Ok(quoted(&wanted.flow())),
        Some('\'') => Ok(format!("'{}'", wanted.flow().replace('\'', "''"))),
        Some('!') => Err(unsupported(value, "a tagged value")),
        Some(_) if plain => Ok(wanted.flow()),
        Some(_) | None => Err(unsupported(value, "a block text")),
    }
}

/// Lines of items that stay are not touched, so that their comments stay too.
fn block_list(
    text: &str,
    key: &Node,
    items: &[Node],
    texts: &[String],
) -> Result<Vec<Splice>, EditError> {
    let Some((first, last)) = items.first().zip(items.last()) else {
        return Err(unsupported(key, "this list"));
    };
    let mut splices = Vec::new();
    let mut wanted = texts.iter().peekable();
    let mut last_stays = true;
    for item in items {
        let start = item_line(text, item)?;
        last_stays = wanted
            .next_if(|text| item.as_text() == Some(text))
            .is_some();
        if !last_stays {
            splices.push(Splice::delete(start, next_line(text, item.span.end)));
        }
    }
    if texts.is_empty() {
        let colon = tail(text, key.span.end).find(':');
        let after = key.span.end + colon.map_or(0, |colon| colon + 1);
        splices.push(Splice::insert(after, " []".to_owned()));
        return Ok(splices);
    }
    let dash = text
        .get(item_line(text, first)?..first.span.start)
        .unwrap_or_default();
    let ending = line_ending(text);
    let added: Vec<String> = wanted
        .map(|text| format!("{dash}{}", scalar(text)))
        .collect();
    if !added.is_empty() {
        let at = next_line(text, last.span.end);
        let on_open_line = last_stays && at == line_end(text, last.span.end);
        splices.push(Splice::insert(
            at,
            if on_open_line {
                format!("{ending}{}", added.join(ending))
            } else {
                format!("{}{ending}", added.join(ending))
            },
        ));
    }
    Ok(splices)
}

/// Where the line of a list item begins, if it holds nothing before the item but its dash.
fn item_line(text: &str, item: &Node) -> Result<usize, EditError> {
    let start = line_start(text, item.span.start);
    let before = text.get(start..item.span.start).unwrap_or_default();
    let written = text.get(item.span.start..item.span.end).unwrap_or_default();
    let quoted = written.starts_with(['"', '\'']);
    let plain = matches!(item.value, Value::Scalar { plain: true, .. });
    if before.trim() == "-" && (quoted || plain) {
        Ok(start)
    } else {
        Err(unsupported(item, "this list item"))
    }
}

/// Fields after which a new one may stand, in their usual order.
const BEFORE: [&str; 5] = ["status", "name", "title", "id", "intent_id"];

fn inserted(
    text: &str,
    entry: &Node,
    key: &str,
    wanted: &Wanted,
) -> Result<Vec<Splice>, EditError> {
    let on_one_line = |value: &Node| {
        let written = text.get(value.span.start..value.span.end);
        written.is_some_and(|written| {
            let plain = matches!(value.value, Value::Scalar { plain: true, .. });
            let quoted = written.starts_with(['"', '\'']);
            !written.is_empty() && !written.contains(['\r', '\n']) && (plain || quoted)
        })
    };
    let mut before = BEFORE.iter().filter_map(|name| field(entry, name));
    let Some((name, value)) = before.find(|(_, value)| on_one_line(value)) else {
        return Err(unsupported(entry, "this entry"));
    };
    if tail(text, entry.span.start).starts_with('{') {
        let field = format!(", {key}: {}", wanted.flow());
        return Ok(vec![Splice::insert(value.span.end, field)]);
    }
    let indent = " ".repeat(name.at().column.saturating_sub(1));
    let field = wanted.block(key, &indent, line_ending(text));
    Ok(vec![Splice::insert(line_end(text, value.span.end), field)])
}

fn unsupported(node: &Node, what: &'static str) -> EditError {
    EditError::Unsupported {
        at: node.at(),
        what,
    }
}
