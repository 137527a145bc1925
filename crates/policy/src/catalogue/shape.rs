//! A quick check of the plain schemas that the catalogue and the native tools make.
//!
//! To compile a schema costs more than a whole verdict may, to read its JSON a tenth of one, and
//! almost every call fits. So what a schema plainly says is kept beside its text, and what this
//! check accepts is accepted; everything else is put to the full validator. A test compares the two
//! on every schema of the catalogue.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool's input schema: its text, and what can be checked without reading it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct InputSchema {
    text: String,
    shape: Shape,
}

impl InputSchema {
    /// The schema with this text. One that is not JSON accepts nothing.
    pub fn of(text: String) -> Self {
        let schema: Option<Value> = serde_json::from_str(&text).ok();
        let shape = schema.as_ref().map_or_else(Shape::unclear, Shape::of);
        Self { text, shape }
    }

    /// The schema as JSON.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it plainly says.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }
}

/// The types that a value may have, one bit each.
const TYPES: [(&str, u8); 7] = [
    ("string", 1),
    ("boolean", 2),
    ("array", 4),
    ("object", OBJECT),
    ("number", 16),
    ("integer", 32),
    ("null", 64),
];
const OBJECT: u8 = 8;

/// What a schema says with types, properties, items, words and least whole numbers.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Whether the schema says more than that, or something else: then nothing certainly fits.
    is_unclear: bool,
    /// Whether no other properties may be there.
    is_closed: bool,
    types: Option<u8>,
    words: Option<Vec<String>>,
    least: Option<i64>,
    required: Vec<String>,
    properties: Vec<(String, Self)>,
    items: Option<Box<Self>>,
}

impl Shape {
    /// The shape of a schema.
    pub fn of(schema: &Value) -> Self {
        let Some(schema) = schema.as_object() else {
            return Self::unclear();
        };
        let mut shape = Self::default();
        for (keyword, rule) in schema {
            let is_read = shape.read(keyword, rule);
            shape.is_unclear |= is_read.is_none();
        }
        shape
    }

    fn unclear() -> Self {
        Self {
            is_unclear: true,
            ..Self::default()
        }
    }

    fn read(&mut self, keyword: &str, rule: &Value) -> Option<()> {
        match keyword {
            "$schema" | "description" | "title" => {}
            "type" => self.types = Some(types(rule)?),
            "enum" => self.words = Some(texts(rule)?),
            "minimum" => self.least = Some(rule.as_i64()?),
            "required" => self.required = texts(rule)?,
            "properties" => {
                let one = |(key, rule): (&String, &Value)| (key.clone(), Self::of(rule));
                self.properties = rule.as_object()?.iter().map(one).collect();
                // What does not compile somewhere does not compile at all.
                self.is_unclear |= self.properties.iter().any(|(_, rule)| rule.is_unclear);
            }
            "additionalProperties" => self.is_closed = !rule.as_bool()?,
            "items" => {
                let items = Self::of(rule);
                self.is_unclear |= items.is_unclear;
                self.items = Some(Box::new(items));
            }
            _ => return None,
        }
        Some(())
    }

    /// The names of the properties.
    pub fn property_names(&self) -> impl Iterator<Item = &str> {
        self.properties.iter().map(|(name, _)| name.as_str())
    }

    /// Whether the value certainly fits the schema. False when it does not, and when the schema
    /// says more than a shape does.
    pub fn fits(&self, value: &Value) -> bool {
        let is_plain = !self.is_unclear && self.allows(type_of(value));
        let is_word = || match (&self.words, value) {
            (None, _) => true,
            (Some(words), Value::String(text)) => words.contains(text),
            (Some(_), _) => false,
        };
        is_plain
            && is_word()
            && match value {
                Value::Object(map) => self.holds(map, &|_| true),
                Value::Array(items) => {
                    let fits = |rule: &Self| items.iter().all(|item| rule.fits(item));
                    self.items.as_deref().is_none_or(fits)
                }
                Value::Number(_) => self.least.is_none_or(|least| is_at_least(least, value)),
                Value::Null | Value::Bool(_) | Value::String(_) => true,
            }
    }

    /// The same for an object of which only some keys count.
    pub fn fits_without(&self, map: &Map<String, Value>, counts: impl Fn(&str) -> bool) -> bool {
        let is_plain = !self.is_unclear && self.words.is_none();
        is_plain && self.allows(OBJECT) && self.holds(map, &counts)
    }

    fn allows(&self, kind: u8) -> bool {
        self.types.is_none_or(|types| types & kind != 0)
    }

    fn holds(&self, map: &Map<String, Value>, counts: &dyn Fn(&str) -> bool) -> bool {
        let is_there = |name: &String| counts(name) && map.contains_key(name);
        let fits = |(key, value): (&String, &Value)| {
            let rule = self.properties.iter().find(|(name, _)| name == key);
            rule.map_or(!self.is_closed, |(_, rule)| rule.fits(value))
        };
        let mut counted = map.iter().filter(|(key, _)| counts(key));
        self.required.iter().all(is_there) && counted.all(fits)
    }
}

fn types(rule: &Value) -> Option<u8> {
    let bit = |name: &Value| {
        let known = TYPES.iter().find(|(known, _)| name.as_str() == Some(known));
        known.map(|(_, bit)| *bit)
    };
    match rule {
        Value::String(_) => bit(rule),
        Value::Array(names) => names.iter().try_fold(0, |all, name| Some(all | bit(name)?)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

fn texts(rule: &Value) -> Option<Vec<String>> {
    let items = rule.as_array()?.iter();
    items
        .map(|item| item.as_str().map(str::to_owned))
        .collect::<Option<Vec<String>>>()
}

fn type_of(value: &Value) -> u8 {
    match value {
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 4,
        Value::Object(_) => OBJECT,
        // A number such as `1.0` is whole too, which the full validator decides.
        Value::Number(number) if number.is_f64() => 16,
        Value::Number(_) => 16 | 32,
        Value::Null => 64,
    }
}

/// Whole numbers only; the others are for the full validator.
fn is_at_least(least: i64, value: &Value) -> bool {
    match (value.as_i64(), value.as_u64()) {
        (Some(value), _) => value >= least,
        // Too large for a signed number, so it is larger than any of those.
        (None, Some(_)) => true,
        (None, None) => false,
    }
}
