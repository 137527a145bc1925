//! Builds the bounded tree from the parser's events, without recursion.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span as Mark};
use tagout_vocab::limits::{DOCUMENT_DEPTH_MAX, DOCUMENT_NODES_MAX, SIDECAR_BYTES_MAX};

use super::{Node, Span, Value};
use crate::problem::{Position, Problem};

/// Reads one document. `None` when the text holds nothing but blanks and comments.
///
/// Refused with line and column: text that is not YAML, more than one document, duplicate keys,
/// nesting, size or aliases beyond their bounds.
pub fn parse(file: &str, text: &str) -> Result<Option<Node>, Problem> {
    if text.len() > SIDECAR_BYTES_MAX {
        let message = format!("the file is larger than {SIDECAR_BYTES_MAX} bytes");
        return Err(problem(file, Position { line: 1, column: 1 }, message));
    }
    Builder::new(file, text).run()
}

/// A collection whose end has not come yet.
struct Open {
    node: Node,
    anchor: usize,
    key: Option<Node>,
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
                problem(
                    self.file,
                    position(*error.marker()),
                    format!("not YAML: {}", error.info()),
                )
            })?;
            self.take(event, mark)?;
        }
        Ok(self.root)
    }

    fn take(&mut self, event: Event<'_>, mark: Mark) -> Result<(), Problem> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
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
            Event::SequenceStart(anchor, _) => self.begin(Value::List(Vec::new()), anchor, mark),
            Event::MappingStart(anchor, _) => self.begin(Value::Map(Vec::new()), anchor, mark),
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
                    let repeated = |(other, _): &(Node, Node)| matches!(&other.value, Value::Scalar { text: known, .. } if known == text);
                    if entries.iter().any(repeated) {
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

    /// The parser's end of a quoted scalar lies after the blanks and comment that follow it; an edit
    /// of that span would eat the comment.
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
    Problem {
        file: file.to_owned(),
        at,
        message: message.into(),
        hint: None,
    }
}
