//! What every part of the reader needs: who speaks, what is wrong, and the common field forms.

use tagout_vocab::limits::POLICY_LIST_MAX;

use crate::law::SourceKind;
use crate::law::pattern::PatternError;
use crate::problem::{Position, Problems};
use crate::yaml::{Fields, Node};

/// The state of reading one file.
pub(super) struct Context {
    pub(super) kind: SourceKind,
    pub(super) problems: Problems,
    pub(super) warnings: Problems,
}

impl Context {
    pub(super) fn new(kind: SourceKind, file: &str) -> Self {
        Self {
            kind,
            problems: Problems::new(file),
            warnings: Problems::new(file),
        }
    }

    /// A mapping whose keys are known and whose values are there.
    ///
    /// A key without a value is refused: between «nothing» and «no restriction» nobody should
    /// guess.
    pub(super) fn section<'a>(
        &mut self,
        node: &'a Node,
        what: &str,
        known: &[&str],
    ) -> Option<Fields<'a>> {
        let fields = Fields::of(node, what, known, &mut self.problems)?;
        for (key, value) in node.as_map().unwrap_or_default() {
            let name = key.as_text().unwrap_or_default();
            if value.is_null() && known.contains(&name) {
                let message = format!("`{name}` has no value");
                let hint = "give it one (`[]` for none), or remove the key".to_owned();
                self.problems.add_with(key.at(), message, Some(hint));
            }
        }
        Some(fields)
    }

    /// A list of bounded length; empty when the field is absent.
    pub(super) fn list<'a>(&mut self, fields: &Fields<'a>, name: &str) -> &'a [Node] {
        let items = fields.list(name, &mut self.problems).unwrap_or_default();
        self.bounded(items, name)
    }

    /// One value or a list of them; empty when the field is absent.
    pub(super) fn one_or_many<'a>(&mut self, fields: &Fields<'a>, name: &str) -> &'a [Node] {
        let Some(node) = fields.get(name) else {
            return &[];
        };
        let Some(items) = node.as_list() else {
            return std::slice::from_ref(node);
        };
        if items.is_empty() {
            let message = format!("`{name}` is empty, so nothing could match");
            self.problems.add(node.at(), message);
        }
        self.bounded(items, name)
    }

    fn bounded<'a>(&mut self, items: &'a [Node], name: &str) -> &'a [Node] {
        if let Some(extra) = items.get(POLICY_LIST_MAX) {
            let message = format!("`{name}` has more than {POLICY_LIST_MAX} entries");
            self.problems.add(extra.at(), message);
            return &[];
        }
        items
    }

    /// The patterns of a list, each with its own problem if it is none.
    pub(super) fn patterns<T, C: FromIterator<T>>(
        &mut self,
        items: &[Node],
        name: &str,
        parse: impl Fn(&str) -> Result<T, PatternError>,
    ) -> C {
        items
            .iter()
            .filter_map(|item| self.pattern(item, name, &parse))
            .collect()
    }

    /// One pattern.
    pub(super) fn pattern<T>(
        &mut self,
        node: &Node,
        name: &str,
        parse: impl Fn(&str) -> Result<T, PatternError>,
    ) -> Option<T> {
        let Some(text) = node.as_text() else {
            let message = format!("`{name}` must hold text, not {}", node.described());
            self.problems.add(node.at(), message);
            return None;
        };
        match parse(text) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let message = format!("`{name}` can't hold `{}`: {error}", shortened(text));
                self.problems.add(node.at(), message);
                None
            }
        }
    }

    /// Says that a key is not this file's to set.
    pub(super) fn user_only(&mut self, at: Position, key: &str, why: &str) {
        if matches!(self.kind, SourceKind::User | SourceKind::BuiltIn) {
            return;
        }
        let message = format!("`{key}` can be set only in the user's own policy: {why}");
        let hint = "remove it here; a repository must not decide this for its users".to_owned();
        self.problems.add_with(at, message, Some(hint));
    }

    /// A text that must be there.
    pub(super) fn required<'a>(&mut self, fields: &Fields<'a>, name: &str) -> Option<&'a str> {
        if fields.get(name).is_none() {
            let message = format!("`{name}` is missing");
            self.problems.add(fields.node().at(), message);
            return None;
        }
        fields.text(name, &mut self.problems)
    }
}

/// A text as a message can show it.
pub(super) fn shortened(text: &str) -> String {
    const SHOWN_CHARACTERS: usize = 60;
    let mut shown: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(SHOWN_CHARACTERS)
        .collect();
    if text.chars().nth(SHOWN_CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}
