//! Fields that go by many names and come in many shapes.

use std::collections::HashSet;

use serde_json::{Map, Value};
use tagout_vocab::{Digest, MutationClass, Timestamp};

use crate::ranges::LineRange;
use crate::record::{Contributor, Entity, ModifiedRange, Record, Revision};

/// An object of another dialect, and which of its fields have found their place.
pub(super) struct Fields<'v> {
    object: &'v Map<String, Value>,
    used: HashSet<&'static str>,
}

impl<'v> Fields<'v> {
    pub(super) fn new(object: &'v Map<String, Value>) -> Self {
        Self {
            object,
            used: HashSet::new(),
        }
    }

    /// The first of some fields that is there and not null.
    pub(super) fn any(&mut self, names: &[&'static str]) -> Option<&'v Value> {
        let found = names
            .iter()
            .find_map(|name| Some((*name, self.object.get(*name).filter(|v| !v.is_null())?)));
        let (name, value) = found?;
        self.used.insert(name);
        Some(value)
    }

    /// The first of some fields, as a text.
    pub(super) fn text(&mut self, names: &[&'static str]) -> Option<String> {
        let name = names.iter().find(|name| {
            let value = self.object.get(**name);
            value.is_some_and(|value| text(value).is_some())
        })?;
        self.used.insert(*name);
        self.object.get(*name).and_then(text)
    }

    /// A time; one that can't be read stays among the extras.
    pub(super) fn time(&mut self, name: &'static str) -> Option<Timestamp> {
        let time = match self.object.get(name)? {
            Value::String(text) => Timestamp::parse(text).ok()?,
            Value::Number(millis) => Timestamp::from_millis(millis.as_i64()?),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        self.used.insert(name);
        Some(time)
    }

    /// A class; a word that is neither of the two stays among the extras.
    pub(super) fn class(&mut self, names: &[&'static str]) -> Option<MutationClass> {
        let name = names.iter().find(|name| {
            let word = self.object.get(**name).and_then(Value::as_str);
            word.and_then(MutationClass::parse).is_some()
        })?;
        self.used.insert(*name);
        let word = self.object.get(*name).and_then(Value::as_str)?;
        MutationClass::parse(word)
    }

    /// What has found no place.
    pub(super) fn rest(&self) -> Map<String, Value> {
        self.object
            .iter()
            .filter(|(name, value)| !self.used.contains(name.as_str()) && !value.is_null())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

/// A text, also of a number.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

/// A line number, also as a text.
pub(super) fn line(value: Option<&Value>) -> Option<u32> {
    let number = match value? {
        Value::Number(number) => number.as_u64()?,
        Value::String(text) => text.trim().parse().ok()?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    u32::try_from(number).ok()
}

/// A range of lines, if both ends are there.
pub(super) fn range(value: &Value) -> Option<LineRange> {
    Some(LineRange {
        start_line: line(value.get("start_line"))?,
        end_line: line(value.get("end_line"))?,
    })
}

/// A hash: the digest, or the text if it is none that can be compared.
pub(super) fn hash(value: Option<&Value>) -> (Option<Digest>, Option<String>) {
    let Some(text) = value.and_then(Value::as_str) else {
        return (None, None);
    };
    let lower = text.to_ascii_lowercase();
    let whole = if lower.len() == 64 {
        format!("sha256:{lower}")
    } else {
        lower
    };
    match Digest::parse(&whole) {
        Ok(digest) => (Some(digest), None),
        Err(_) if matches!(text, "" | "n/a" | "N/A" | "unknown" | "none") => (None, None),
        Err(_) => (None, Some(text.to_owned())),
    }
}

/// A record's revision.
pub(super) fn revision(value: Option<&Value>, kind: Option<&str>) -> Option<Revision> {
    let revision = value.and_then(Value::as_str)?;
    if matches!(revision, "" | "unknown" | "n/a") {
        return None;
    }
    Some(Revision {
        kind: kind.unwrap_or("git").to_owned(),
        revision: revision.to_owned(),
    })
}

/// A contributor, written out or as one word.
pub(super) fn contributor(value: Option<&Value>, model: Option<String>) -> Option<Contributor> {
    let (word, inner) = match value {
        Some(Value::String(word)) => (Some(word.as_str()), None),
        Some(Value::Object(object)) => {
            let word = object.get("entity_type").or_else(|| object.get("type"));
            let model = ["model_identifier", "model_id", "model"];
            let model = model.iter().find_map(|name| object.get(*name));
            (word.and_then(Value::as_str), model.and_then(text))
        }
        _ => (None, None),
    };
    let model = inner.or(model);
    if word.is_none() && model.is_none() {
        return None;
    }
    // A model without a word about who it was is an agent's.
    let kind = word.map_or(Entity::Ai, |word| Entity::parse(word).unwrap_or_default());
    Some(Contributor {
        kind,
        name: None,
        model,
    })
}

/// What a list of related things says: an intent, requirements, a class, and the rest.
#[derive(Default)]
pub(super) struct Related {
    pub(super) intent: Option<String>,
    pub(super) requirements: Vec<String>,
    pub(super) class: Option<MutationClass>,
    pub(super) rest: Vec<Value>,
}

impl Related {
    pub(super) fn read(&mut self, value: Option<&Value>) {
        for item in value.and_then(Value::as_array).into_iter().flatten() {
            if let Some(word) = item.as_str() {
                self.requirements.push(word.to_owned());
                continue;
            }
            let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
            let named = item.get("value").or_else(|| item.get("url"));
            let Some(named) = named.and_then(text) else {
                self.rest.push(item.clone());
                continue;
            };
            match kind {
                "intent" | "intent_id" if self.intent.is_none() => self.intent = Some(named),
                "specification" | "requirement" | "intent" => self.requirements.push(named),
                "mutation_class" if MutationClass::parse(&named).is_some() => {
                    self.class = MutationClass::parse(&named);
                }
                _ => self.rest.push(item.clone()),
            }
        }
    }

    /// Puts what was found where the record has no better. The exercise's own form names the
    /// intent as the first specification.
    pub(super) fn put(mut self, record: &mut Record) {
        if record.intent_id.is_none() {
            record.intent_id = self
                .intent
                .take()
                .or_else(|| (!self.requirements.is_empty()).then(|| self.requirements.remove(0)));
        }
        let intent = record.intent_id.clone();
        self.requirements.retain(|one| Some(one) != intent.as_ref());
        for one in self.requirements {
            if !record.related_requirements.contains(&one) {
                record.related_requirements.push(one);
            }
        }
        record.declared_class = record.declared_class.or(self.class);
        if !self.rest.is_empty() {
            record
                .extra
                .insert("related".to_owned(), Value::Array(self.rest));
        }
    }
}

/// Sets the fields that every reader sets in the end.
pub(super) fn finish(mut record: Record, object: &Map<String, Value>) -> Record {
    record.version = crate::record::VERSION;
    record.mutation_class = record.mutation_class.or(record.declared_class);
    if record.id.is_empty() {
        // The same line always gets the same id, so that reading twice adds nothing.
        let bytes = serde_json::to_vec(object).unwrap_or_default();
        let hex: String = Digest::of(&bytes).hex().chars().take(32).collect();
        record.id = format!("line-{hex}");
    }
    record
}

/// A range without lines about one file.
pub(super) fn about(file: String) -> ModifiedRange {
    ModifiedRange {
        file,
        ..ModifiedRange::default()
    }
}
