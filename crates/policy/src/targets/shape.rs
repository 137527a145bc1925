//! A quick check of the plain schemas that the catalogue and the native tools make.
//!
//! Compiling a schema costs more than a whole verdict may, and almost every call fits its schema.
//! So what this check accepts is accepted; everything else is put to the full validator. A test
//! compares the two on every schema of the catalogue.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::catalogue::Tool;

/// The names of a tool's arguments, from its schema.
pub(super) fn property_names(tool: &Tool) -> BTreeSet<String> {
    let text = tool.input_schema.as_deref().unwrap_or("{}");
    let schema: Value = serde_json::from_str(text).unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.map_or_else(BTreeSet::new, |map| map.keys().cloned().collect())
}

/// Whether the value certainly fits the schema. False when it does not, and when the schema says
/// anything beyond types, properties, items, enumerations and least whole numbers.
pub fn fits(schema: &Value, value: &Value) -> bool {
    let Some(schema) = schema.as_object() else {
        return false;
    };
    schema.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "description" | "title" => true,
        "type" => has_type(rule, value),
        "enum" => rule.as_array().is_some_and(|words| words.contains(value)),
        "minimum" => is_at_least(rule, value),
        "required" => has_required(rule, value),
        "properties" => fit_properties(rule, value),
        "additionalProperties" => fit_others(rule, schema, value),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| fits(rule, item))),
        _ => false,
    })
}

fn has_type(rule: &Value, value: &Value) -> bool {
    match rule {
        Value::String(name) => is_type(name, value),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .any(|name| is_type(name, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // A number such as `1.0` is whole too, which the full validator decides.
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// Whole numbers only; the others are for the full validator.
fn is_at_least(least: &Value, value: &Value) -> bool {
    match (least.as_i64(), value.as_i64(), value.as_u64()) {
        (Some(least), Some(value), _) => value >= least,
        // Too large for a signed number, so it is larger than any of those.
        (Some(_), None, Some(_)) => true,
        (Some(_), None, None) => !value.is_number(),
        (None, _, _) => false,
    }
}

fn has_required(rule: &Value, value: &Value) -> bool {
    let (Some(names), Some(object)) = (rule.as_array(), value.as_object()) else {
        return rule.is_array();
    };
    names
        .iter()
        .all(|name| name.as_str().is_some_and(|name| object.contains_key(name)))
}

fn fit_properties(rule: &Value, value: &Value) -> bool {
    let (Some(rules), Some(object)) = (rule.as_object(), value.as_object()) else {
        return rule.is_object();
    };
    object
        .iter()
        .all(|(key, value)| rules.get(key).is_none_or(|rule| fits(rule, value)))
}

fn fit_others(rule: &Value, schema: &Map<String, Value>, value: &Value) -> bool {
    let Some(object) = value.as_object() else {
        return rule.is_boolean();
    };
    match rule {
        Value::Bool(true) => true,
        Value::Bool(false) => {
            let known = schema.get("properties").and_then(Value::as_object);
            object
                .keys()
                .all(|key| known.is_some_and(|map| map.contains_key(key)))
        }
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            false
        }
    }
}
