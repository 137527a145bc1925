//! Builds the bounded tree from the parser's events, without recursion.

use std::collections::{BTreeMap, HashSet};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span as Mark, Tag};
use tagout_vocab::limits::{DOCUMENT_DEPTH_MAX, DOCUMENT_NODES_MAX, SIDECAR_BYTES_MAX};

use super::{Node, Span, Value};
use crate::problem::{Position, Problem};

/// Reads one document. `None` when the text holds nothing but blanks and comments.
///
/// Refused with line and column: text that is not YAML, control characters, tags that no field has
/// a use for, more than one document, duplicate keys, nesting, size or aliases beyond their bounds.
pub fn parse(file: &str, text: &str) -> Result<Option<Node>, Problem> {
    if text.len() > SIDECAR_BYTES_MAX {
        let message = format!("the file is larger than {SIDECAR_BYTES_MAX} bytes");
        return Err(problem(file, Position { line: 1, column: 1 }, message));
    }
    if let Some(at) = first_control(text) {
        return Err(problem(file, at, "a control character"));
    }
    Builder::new(file, text).run()
}

/// Where the first anchor or alias stands, if there is one. Text that others refer to can't be
/// edited in place, because the change would show up elsewhere too.
pub fn first_anchor(text: &str) -> Option<Position> {
    let mut parser = Parser::new_from_str(text);
    while let Some(Ok((event, mark))) = parser.next_event() {
        let shared = match event {
            Event::Alias(_) => true,
            Event::Scalar(_, _, anchor, _)
            | Event::SequenceStart(anchor, _)
            | Event::MappingStart(anchor, _) => anchor != 0,
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => false,
        };
        if shared {
            return Some(position(mark.start));
        }
    }
    None
}

/// Where the first character stands that YAML does not let a text hold.
fn first_control(text: &str) -> Option<Position> {
    let refused = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let (before, _) = text.split_once(refused)?;
    let line = before.split('\n').count();
    let column = before
        .rsplit('\n')
        .next()
        .map_or(0, |last| last.chars().count());
    Some(Position {
        line,
        column: column + 1,
    })
}

/// A collection whose end has not come yet.
struct Open {
    node: Node,
    anchor: usize,
    key: Option<Node>,
    // The keys so far: looking through the entries for each new key would be quadratic.
    keys: HashSet<String>,
}

struct Builder<'a> {
    file: &'a str,
    text: &'a str,
    // Byte offset of each character; the parser counts characters, edits need bytes.
    offsets: Option<Vec<usize>>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, (Node, usize)>,
    nodes: usize,
    root: Option<Node>,
    documents: usize,
}

impl<'a> Builder<'a> {
    fn new(file: &'a str, text: &'a str) -> Self {
        let offsets = (!text.is_ascii()).then(|| {
            text.char_indices()
                .map(|(offset, _)| offset)
                .chain([text.len()])
                .collect()
        });
        Self {
            file,
            text,
            offsets,
            open: Vec::new(),
            anchors: BTreeMap::new(),
            nodes: 0,
            root: None,
            documents: 0,
        }
    }

    fn run(mut self) -> Result<Option<Node>, Problem> {
        let mut parser = Parser::new_from_str(self.text);
        while let Some(event) = parser.next_event() {
            let (event, mark) = event.map_err(|error| {
                let message = format!("not YAML: {}", error.info());
                let mut problem = problem(self.file, position(*error.marker()), message);
                if error.info().contains("unknown anchor") {
                    problem.hint = Some("a text that starts with `*` needs quotes".to_owned());
                }
                problem
            })?;
            self.take(event, mark)?;
        }
        Ok(self.root)
    }

    fn take(&mut self, event: Event<'_>, mark: Mark) -> Result<(), Problem> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), mark)?;
                let value = Value::Scalar {
                    text: text.into_owned(),
                    plain: style == ScalarStyle::Plain,
                };
                let mut node = Node {
                    span: self.span(mark),
                    value,
                };
                node.span.end = self.scalar_end(&node, style);
                self.count(&node, 1)?;
                self.place(node, anchor, 1)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), mark)?;
                self.begin(Value::List(Vec::new()), anchor, mark)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), mark)?;
                self.begin(Value::Map(Vec::new()), anchor, mark)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(mark),
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor).cloned() else {
                    let message = "an alias to an anchor that is not complete";
                    return Err(problem(self.file, position(mark.start), message));
                };
                self.count(&node, size)?;
                self.place(node, 0, size)
            }
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    let message = "a second document; the file holds one";
                    return Err(problem(self.file, position(mark.start), message));
                }
                Ok(())
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn begin(&mut self, value: Value, anchor: usize, mark: Mark) -> Result<(), Problem> {
        let node = Node {
            span: self.span(mark),
            value,
        };
        if self.open.len() >= DOCUMENT_DEPTH_MAX {
            let message = format!("nested deeper than {DOCUMENT_DEPTH_MAX} levels");
            return Err(problem(self.file, node.at(), message));
        }
        self.count(&node, 1)?;
        self.open.push(Open {
            node,
            anchor,
            key: None,
            keys: HashSet::new(),
        });
        Ok(())
    }

    fn end(&mut self, mark: Mark) -> Result<(), Problem> {
        let Some(mut open) = self.open.pop() else {
            return Ok(());
        };
        open.node.span.end = self.byte(mark.end).max(open.node.span.start);
        let size = if open.anchor == 0 {
            0
        } else {
            size(&open.node)
        };
        self.place(open.node, open.anchor, size)
    }

    /// Puts a finished node where it belongs: into the innermost open collection, or at the root.
    fn place(&mut self, node: Node, anchor: usize, size: usize) -> Result<(), Problem> {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let Some(open) = self.open.last_mut() else {
            // An empty document is one null scalar that stands nowhere.
            if !(node.is_null() && node.span.start == node.span.end) {
                self.root = Some(node);
            }
            return Ok(());
        };
        match &mut open.node.value {
            Value::List(items) => items.push(node),
            Value::Map(entries) => match open.key.take() {
                None => open.key = Some(node),
                Some(key) => {
                    let Value::Scalar { text, .. } = &key.value else {
                        return Err(problem(self.file, key.at(), "a key that is not text"));
                    };
                    if !open.keys.insert(text.clone()) {
                        let message = format!("the key `{text}` appears twice");
                        return Err(problem(self.file, key.at(), message));
                    }
                    entries.push((key, node));
                }
            },
            Value::Scalar { .. } => {}
        }
        Ok(())
    }

    /// An unquoted `!src/gen/**` is a tag on an empty text: the pattern would vanish without a
    /// word.
    fn refuse_tag(&self, tag: Option<&Tag>, mark: Mark) -> Result<(), Problem> {
        let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) else {
            return Ok(());
        };
        let mut problem = problem(
            self.file,
            position(mark.start),
            format!("the tag `{tag}` means nothing here"),
        );
        problem.hint = Some("a text that starts with `!` needs quotes".to_owned());
        Err(problem)
    }

    fn count(&mut self, node: &Node, size: usize) -> Result<(), Problem> {
        self.nodes = self.nodes.saturating_add(size);
        if self.nodes > DOCUMENT_NODES_MAX {
            let message = format!("more than {DOCUMENT_NODES_MAX} nodes once aliases are followed");
            return Err(problem(self.file, node.at(), message));
        }
        Ok(())
    }

    fn span(&self, mark: Mark) -> Span {
        let start = self.byte(mark.start);
        Span {
            start,
            end: self.byte(mark.end).max(start),
            at: position(mark.start),
        }
    }

    /// The parser's end of a quoted scalar lies after the blanks and comment that follow it; an
    /// edit of that span would eat the comment.
    fn scalar_end(&self, node: &Node, style: ScalarStyle) -> usize {
        let Span { start, end, .. } = node.span;
        let written = self.text.get(start..end).unwrap_or_default();
        let length = match style {
            ScalarStyle::DoubleQuoted => closing_quote(written, '"', Some('\\')),
            ScalarStyle::SingleQuoted => closing_quote(written, '\'', None),
            ScalarStyle::Plain => Some(written.trim_end().len()),
            ScalarStyle::Literal | ScalarStyle::Folded => None,
        };
        length.map_or(end, |length| start + length)
    }

    fn byte(&self, marker: Marker) -> usize {
        let index = marker.index();
        let byte = match &self.offsets {
            Some(offsets) => offsets.get(index).copied().unwrap_or(self.text.len()),
            None => index,
        };
        byte.min(self.text.len())
    }
}

/// The length of a quoted scalar, quotes included. A doubled single quote does not close.
fn closing_quote(written: &str, quote: char, escape: Option<char>) -> Option<usize> {
    let mut characters = written.char_indices().skip(1).peekable();
    while let Some((offset, character)) = characters.next() {
        if Some(character) == escape {
            characters.next();
        } else if character == quote {
            let doubled = characters.peek().is_some_and(|(_, next)| *next == quote);
            if escape.is_none() && doubled {
                characters.next();
            } else {
                return Some(offset + quote.len_utf8());
            }
        }
    }
    None
}

fn size(node: &Node) -> usize {
    // Depth is bounded by `DOCUMENT_DEPTH_MAX`, so this recursion is too.
    1 + match &node.value {
        Value::Scalar { .. } => 0,
        Value::List(items) => items.iter().map(size).sum(),
        Value::Map(entries) => entries
            .iter()
            .map(|(key, value)| size(key) + size(value))
            .sum(),
    }
}

fn position(marker: Marker) -> Position {
    Position {
        line: marker.line(),
        column: marker.col() + 1,
    }
}

fn problem(file: &str, at: Position, message: impl Into<String>) -> Problem {
    Problem::new(file, at, message, None)
}
