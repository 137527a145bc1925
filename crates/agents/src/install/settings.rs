//! Single settings, read from JSON with comments or from TOML.

use serde_json::Value;

use super::jsonc::{self, TextError};
use super::plan::Place;

/// The value at the end of a way in a settings file.
pub(crate) fn setting(place: &Place, text: &str, way: &str) -> Result<Option<Value>, TextError> {
    if place.is_toml() {
        return Ok(toml_setting(text, way));
    }
    let Some(root) = jsonc::read(text)? else {
        return Ok(None);
    };
    // Editors write a setting's whole way as one key.
    if let Some(whole) = root.get(way) {
        return Ok(Some(whole.to_value()));
    }
    let mut node = &root;
    for key in way.split('.') {
        match node.get(key) {
            Some(next) => node = next,
            None => return Ok(None),
        }
    }
    Ok(Some(node.to_value()))
}

/// A truth value or text of a TOML file. Tables, dotted keys and tables in one line are known; a
/// value that spans lines is not, and counts as not there.
fn toml_setting(text: &str, way: &str) -> Option<Value> {
    let mut table = String::new();
    let mut found = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[') {
            name.trim_matches(['[', ']']).trim().clone_into(&mut table);
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let key: String = key
            .chars()
            .filter(|letter| !" \t\"'".contains(*letter))
            .collect();
        let whole = if table.is_empty() {
            key
        } else {
            format!("{table}.{key}")
        };
        if whole == way {
            found = Some(plain(value));
        } else if let Some(rest) = way.strip_prefix(&format!("{whole}.")) {
            found = inline(value, rest).or(found);
        }
    }
    found
}

/// A value inside `{ key = value, … }`.
fn inline(value: &str, key: &str) -> Option<Value> {
    let inner = value.trim().strip_prefix('{')?;
    inner.split([',', '}']).find_map(|entry| {
        let (name, value) = entry.split_once('=')?;
        (name.trim().trim_matches(['"', '\'']) == key).then(|| plain(value))
    })
}

fn plain(value: &str) -> Value {
    let word = value.split('#').next().unwrap_or_default().trim();
    match word {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => Value::from(word.trim_matches(['"', '\''])),
    }
}
