//! JSON from outside: bounded in size, depth and count, without repeated keys; and ways into it.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use tagout_vocab::limits::{DOCUMENT_DEPTH_MAX, DOCUMENT_NODES_MAX};

/// Reads one object and nothing after it.
pub(crate) fn object(bytes: &[u8]) -> Result<Map<String, Value>, serde_json::Error> {
    match value(bytes)? {
        Value::Object(map) => Ok(map),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(serde_json::Error::custom("not an object"))
        }
    }
}

/// Reads one value and nothing after it.
pub(crate) fn value(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let left = Cell::new(DOCUMENT_NODES_MAX);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict {
        left: &left,
        depth: DOCUMENT_DEPTH_MAX,
    }
    .deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// The same text with control characters in strings escaped, for clients that forget to.
pub(crate) fn repaired(bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(bytes.len());
    let mut inside = false;
    let mut escaped = false;
    for &byte in bytes {
        if inside && byte < 0x20 {
            whole.extend(format!("\\u{byte:04x}").into_bytes());
            escaped = false;
            continue;
        }
        inside ^= byte == b'"' && !escaped;
        escaped = inside && byte == b'\\' && !escaped;
        whole.push(byte);
    }
    whole
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    left: &'a Cell<usize>,
    depth: usize,
}

impl Strict<'_> {
    fn count<E: serde::de::Error>(&self) -> Result<(), E> {
        let left = self.left.get().checked_sub(1);
        self.left
            .set(left.ok_or_else(|| E::custom("too many values"))?);
        Ok(())
    }

    fn below<E: serde::de::Error>(self) -> Result<Self, E> {
        let depth = self
            .depth
            .checked_sub(1)
            .ok_or_else(|| E::custom("nested too deeply"))?;
        Ok(Self { depth, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        self.count()?;
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("not a number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.below()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.below()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` is there twice")));
            }
            map.insert(key, entries.next_value_seed(inner)?);
        }
        Ok(Value::Object(map))
    }
}

/// The value at the end of a way, if it is there and not null.
pub(crate) fn at<'a>(map: &'a Map<String, Value>, way: &str) -> Option<&'a Value> {
    let mut steps = way.split('.');
    let mut value = map.get(steps.next()?)?;
    for step in steps {
        value = match value {
            Value::Object(inner) => inner.get(step)?,
            Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
    }
    (!value.is_null()).then_some(value)
}

/// The same for several ways: the first that leads somewhere.
pub(crate) fn first<'a>(map: &'a Map<String, Value>, ways: &[&str]) -> Option<&'a Value> {
    ways.iter().find_map(|way| at(map, way))
}

/// A text at the end of one of the ways.
pub(crate) fn text<'a>(map: &'a Map<String, Value>, ways: &[&str]) -> Option<&'a str> {
    first(map, ways).and_then(Value::as_str)
}

/// Takes the value at the end of the first way that leads somewhere out of the payload.
pub(crate) fn take(map: &mut Map<String, Value>, ways: &[&str]) -> Option<Value> {
    let way = ways.iter().find(|way| at(map, way).is_some())?;
    let mut steps = way.split('.').peekable();
    let key = steps.next()?;
    if steps.peek().is_none() {
        return map.shift_remove(key);
    }
    let mut value = map.get_mut(key)?;
    while let Some(step) = steps.next() {
        let last = steps.peek().is_none();
        value = match value {
            Value::Object(inner) if last => return inner.shift_remove(step),
            Value::Object(inner) => inner.get_mut(step)?,
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
    }
    Some(value.take())
}

/// A value with the keys of every object in order, so that equal values have equal bytes.
pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(b.0));
            let sorted = entries
                .into_iter()
                .map(|(key, inner)| (key.clone(), canonical(inner)));
            Value::Object(sorted.collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
