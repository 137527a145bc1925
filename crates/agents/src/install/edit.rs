//! Putting an entry into a list of a JSON text and taking it out again, byte for byte.
//!
//! Taking out has to know which brackets were put in. What is created here starts on a new line
//! after its bracket; what is put into brackets that were there and empty follows the bracket at
//! once; and a text that was blank gets a bracket with one space. So the three can be told apart
//! without a note kept elsewhere, unless somebody formats the file anew, and then an empty list
//! more or less is all that can differ.

use serde_json::Value;

use super::jsonc::{self, Body, Node, TextError};

/// Puts an entry at the end of the list at `path`, creating what is missing on the way.
pub(crate) fn put(text: &str, path: &[&str], entry: &Value) -> Result<String, TextError> {
    let style = Style::of(text);
    let Some(root) = jsonc::read(text)? else {
        let inner = style.member(path, entry, 1);
        let end = style.end;
        // The mark of byte order, where there is one, stays in front.
        let (mark, space) = text.split_at(text.len() - text.trim_start_matches('\u{feff}').len());
        return Ok(format!("{mark}{{ {inner}{end}}}{space}"));
    };
    let (node, depth) = deepest(&root, path)?;
    let rest = path.get(depth..).unwrap_or_default();
    let item = style.member(rest, entry, depth + 1);
    Ok(style.append(text, node, &item, depth + 1))
}

/// What stands behind the entries of a file that is wholly ours, where a client wants it.
pub(crate) type Tail = (&'static str, Value);

/// A whole new text with such entries, and what has to stand behind them.
pub(crate) fn create(
    entries: &[(Vec<&str>, Value)],
    tail: Option<&Tail>,
) -> Result<String, TextError> {
    let style = Style {
        end: "\n",
        unit: "  ".to_owned(),
    };
    let mut text = String::new();
    for (path, entry) in entries {
        let path: &[&str] = path;
        text = if text.is_empty() {
            format!("{{\n  {}\n}}\n", style.member(path, entry, 1))
        } else {
            put(&text, path, entry)?
        };
    }
    if let (Some((key, value)), Some(end)) = (tail, text.rfind("\n}")) {
        text.insert_str(end, &format!(",\n  \"{key}\": {value}"));
    }
    Ok(text)
}

/// Takes every entry of ours out of the list at `path`. `None` where the whole text was ours.
pub(crate) fn take(
    text: &str,
    path: &[&str],
    is_ours: &dyn Fn(&Value) -> bool,
    tail: Option<&Tail>,
) -> Result<Option<String>, TextError> {
    let mut text = text.to_owned();
    loop {
        let Some(root) = jsonc::read(&text)? else {
            return Ok(Some(text));
        };
        let Some(chain) = chain(&root, path) else {
            return Ok(Some(text));
        };
        let Some((Body::Array(items), list)) = chain.last().map(|node| (&node.body, node)) else {
            return Ok(Some(text));
        };
        let Some(at) = items.iter().rposition(|item| is_ours(&item.to_value())) else {
            return Ok(Some(text));
        };
        match removed(&text, &chain, (list, at), tail) {
            Some(next) => text = next,
            None => return Ok(None),
        }
    }
}

/// The nodes from the root to the end of a path, if all are there.
fn chain<'a>(root: &'a Node, path: &[&str]) -> Option<Vec<&'a Node>> {
    let mut nodes = vec![root];
    for key in path {
        nodes.push(nodes.last()?.get(key)?);
    }
    Some(nodes)
}

fn deepest<'a>(root: &'a Node, path: &[&str]) -> Result<(&'a Node, usize), TextError> {
    let shape = |key: &str| TextError::Shape {
        key: key.to_owned(),
    };
    let mut node = root;
    let mut depth = 0usize;
    for key in path {
        if !matches!(node.body, Body::Object(_)) {
            let above = depth
                .checked_sub(1)
                .and_then(|above| path.get(above).copied());
            return Err(shape(above.unwrap_or("the file")));
        }
        let Some(next) = node.get(key) else {
            return Ok((node, depth));
        };
        node = next;
        depth += 1;
    }
    match node.body {
        Body::Array(_) => Ok((node, depth)),
        Body::Object(_) | Body::Plain(_) => Err(shape(path.last().copied().unwrap_or("the file"))),
    }
}

/// The text without one item, and without the brackets around it that were put in with it.
fn removed(
    text: &str,
    chain: &[&Node],
    (list, at): (&Node, usize),
    tail: Option<&Tail>,
) -> Option<String> {
    let mut node = list;
    let mut at = at;
    let mut above = chain.iter().rev().skip(1);
    loop {
        let only = node.children().len() == 1;
        if !(only && is_created(text, node)) {
            break;
        }
        let Some(parent) = above.next() else {
            // The root itself was created.
            return None;
        };
        let child = parent
            .children()
            .iter()
            .position(|(_, end)| *end == node.end)?;
        node = parent;
        at = child;
    }
    if is_root_of_ours(text, chain, (node, at), tail) {
        return None;
    }
    Some(without(text, node, at))
}

/// A new file of ours has our entries first and nothing but a version behind them.
fn is_root_of_ours(
    text: &str,
    chain: &[&Node],
    (node, at): (&Node, usize),
    tail: Option<&Tail>,
) -> bool {
    let is_root = chain.first().is_some_and(|root| root.start == node.start);
    let is_tail = |key: &str, value: &Node| {
        tail.is_some_and(|(wanted, said)| *wanted == key && *said == value.to_value())
    };
    let tailed = match &node.body {
        Body::Object(members) => {
            let last = members.get(1).filter(|_| at == 0 && members.len() == 2);
            last.is_some_and(|m| is_tail(&m.key, &m.value))
        }
        Body::Array(_) | Body::Plain(_) => false,
    };
    is_root && tailed && is_created(text, node)
}

/// Whether the first child stands on a line of its own.
fn is_created(text: &str, node: &Node) -> bool {
    let inner = text.get(node.start + 1..).unwrap_or_default();
    inner.starts_with('\n') || inner.starts_with("\r\n")
}

/// The text without one child of a node.
fn without(text: &str, node: &Node, at: usize) -> String {
    let children = node.children();
    let Some((start, end)) = children.get(at).copied() else {
        return text.to_owned();
    };
    let comma = jsonc::after_space(text, end);
    let comma = text
        .get(comma..)
        .is_some_and(|rest| rest.starts_with(','))
        .then_some(comma + 1);
    let before = at.checked_sub(1).and_then(|at| children.get(at));
    let (from, to) = match (before, comma, children.get(at + 1)) {
        // Somebody else's child follows: ours goes with the comma behind it.
        (_, Some(comma), Some(_)) => (start, spaces_from(text, comma)),
        // Ours is the last: it goes with the comma before it, or behind it where that is the style.
        (Some((_, last)), None, _) => (jsonc::after_space(text, *last), end),
        (Some((_, last)), Some(comma), None) => (jsonc::after_space(text, *last) + 1, comma),
        (None, comma, None) if is_blank(text, node, start) => {
            let whole = comma.unwrap_or(end);
            let close = jsonc::after_space(text, whole) + 1;
            return cut(text, node.start, close);
        }
        (None, comma, _) => (start, comma.unwrap_or(end)),
    };
    cut(text, from, to)
}

/// Whether the text was blank before: the bracket has one space behind it and then the child.
fn is_blank(text: &str, node: &Node, start: usize) -> bool {
    let before = text.get(..node.start).unwrap_or_default();
    let between = text.get(node.start + 1..start).unwrap_or_default();
    before.trim_start_matches('\u{feff}').is_empty() && between == " "
}

fn spaces_from(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + (rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len())
}

fn cut(text: &str, from: usize, to: usize) -> String {
    let head = text.get(..from).unwrap_or_default();
    let tail = text.get(to..).unwrap_or_default();
    format!("{head}{tail}")
}

/// How the owner of a text writes.
struct Style {
    /// The end of a line.
    end: &'static str,
    /// One step of indentation.
    unit: String,
}

impl Style {
    fn of(text: &str) -> Self {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indented = text.lines().find_map(|line| {
            let inner = line.trim_start_matches([' ', '\t']);
            let indent = line.len() - inner.len();
            (indent > 0 && inner.starts_with('"'))
                .then(|| line.get(..indent))
                .flatten()
        });
        Self {
            end,
            unit: indented.unwrap_or("  ").to_owned(),
        }
    }

    /// An entry with the keys and brackets that are still missing around it.
    fn member(&self, path: &[&str], entry: &Value, depth: usize) -> String {
        let Some((key, rest)) = path.split_first() else {
            return self.pretty(entry, depth);
        };
        let inner = self.member(rest, entry, depth + 1);
        let (open, close) = if rest.is_empty() {
            ('[', ']')
        } else {
            ('{', '}')
        };
        let key = Value::from(*key);
        let (end, unit) = (self.end, &self.unit);
        let (wide, narrow) = (unit.repeat(depth + 1), unit.repeat(depth));
        format!("{key}: {open}{end}{wide}{inner}{end}{narrow}{close}")
    }

    fn pretty(&self, value: &Value, depth: usize) -> String {
        let (end, unit) = (self.end, &self.unit);
        let (wide, narrow) = (unit.repeat(depth + 1), unit.repeat(depth));
        let list = |open: char, items: Vec<String>, close: char| {
            let items = items.join(&format!(",{end}{wide}"));
            format!("{open}{end}{wide}{items}{end}{narrow}{close}")
        };
        match value {
            Value::Object(map) if !map.is_empty() => {
                let item = |(key, value): (&String, &Value)| {
                    format!(
                        "{}: {}",
                        Value::from(key.as_str()),
                        self.pretty(value, depth + 1)
                    )
                };
                list('{', map.iter().map(item).collect(), '}')
            }
            Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
                let item = |value: &Value| self.pretty(value, depth + 1);
                list('[', items.iter().map(item).collect(), ']')
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => value.to_string(),
        }
    }

    /// The text with one more child at the end of a node.
    fn append(&self, text: &str, node: &Node, item: &str, depth: usize) -> String {
        let end = self.end;
        let insert = |at: usize, piece: String| {
            let head = text.get(..at).unwrap_or_default();
            let tail = text.get(at..).unwrap_or_default();
            format!("{head}{piece}{tail}")
        };
        let Some((_, last)) = node.children().last().copied() else {
            return insert(node.start + 1, item.to_owned());
        };
        let indent = self.unit.repeat(depth);
        let after = jsonc::after_space(text, last);
        if text.get(after..).is_some_and(|rest| rest.starts_with(',')) {
            insert(after + 1, format!("{end}{indent}{item},"))
        } else {
            insert(last, format!(",{end}{indent}{item}"))
        }
    }
}
