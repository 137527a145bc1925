//! Constraints on single arguments, always matched as paths and never as raw text (A5).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tagout_vocab::Place;
use tagout_vocab::limits::TARGETS_MAX;
use thiserror::Error;

use super::{NamePattern, Use};
use crate::catalogue::{Access, TargetForm};
use crate::scope::Scope;

/// What an argument of some tools may be.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgConstraint {
    /// The tools that it holds for.
    pub tool: NamePattern,
    /// The argument; `None` means every path of the call.
    pub key: Option<String>,
    /// What the value must lie in. Empty lets nothing pass.
    pub patterns: Scope,
}

/// Why a constraint can't be resolved, which refuses.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum Unresolved {
    /// No such argument in the call.
    #[error("the argument `{0}` is not there")]
    Absent(String),
    /// Something else than text or a list of texts.
    #[error("the argument `{0}` is neither text nor a list of texts")]
    NotText(String),
    /// More values than are looked at.
    #[error("the argument `{0}` holds more than {TARGETS_MAX} values")]
    TooMany(String),
    /// A tool whose paths are not in its arguments.
    #[error("the call's paths can't be read from its arguments")]
    NoPaths,
}

/// The first value that a constraint refuses.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Broken {
    Unresolved(Unresolved),
    Value(Place),
}

impl From<Unresolved> for Broken {
    fn from(unresolved: Unresolved) -> Self {
        Self::Unresolved(unresolved)
    }
}

impl ArgConstraint {
    /// Checks a call of a tool that it holds for.
    pub(super) fn check(&self, using: &Use<'_>) -> Result<(), Broken> {
        let places = match &self.key {
            Some(key) => {
                let cwd = working_directory(using)?;
                let values = lookup(using.arguments, key)?;
                values
                    .iter()
                    .map(|value| using.roots.place(value, &cwd))
                    .collect()
            }
            None => every_path(using)?,
        };
        let is_outside = |place: &&Place| {
            place
                .inside()
                .is_none_or(|path| !self.patterns.owns(path, using.case).is_yes())
        };
        match places.iter().find(is_outside) {
            Some(place) => Err(Broken::Value(place.clone())),
            None => Ok(()),
        }
    }
}

/// Every path parameter that the call gives, and every target that was read from the call.
fn every_path(using: &Use<'_>) -> Result<Vec<Place>, Unresolved> {
    let are_readable = match &using.tool.targets {
        TargetForm::Params => true,
        TargetForm::Patch { .. } => !using.targets.is_empty(),
        TargetForm::Command { .. }
        | TargetForm::Argv { .. }
        | TargetForm::Remote { .. }
        | TargetForm::Nothing
        | TargetForm::Address { .. }
        | TargetForm::Unknown => false,
    };
    if !are_readable {
        return Err(Unresolved::NoPaths);
    }
    let cwd = working_directory(using)?;
    let mut places = using.targets.to_vec();
    for param in &using.tool.paths {
        let start = match param.access {
            Access::Cwd => using.cwd,
            Access::Read | Access::Write | Access::Delete | Access::MoveFrom | Access::MoveTo => {
                &cwd
            }
        };
        match lookup(using.arguments, &param.key) {
            Ok(values) => places.extend(values.iter().map(|v| using.roots.place(v, start))),
            Err(Unresolved::Absent(_)) if !is_required(using, &param.key) => {}
            Err(unresolved) => return Err(unresolved),
        }
    }
    if places.is_empty() {
        return Err(Unresolved::NoPaths);
    }
    Ok(places)
}

fn is_required(using: &Use<'_>, key: &str) -> bool {
    let head = key.split(['.', '[']).next().unwrap_or(key);
    using
        .tool
        .required
        .iter()
        .any(|required| required == key || required == head)
}

/// Where relative paths start: the call's own directory, moved by the argument that names one.
fn working_directory(using: &Use<'_>) -> Result<String, Unresolved> {
    let mut cwd = using.cwd.to_owned();
    let params = using.tool.paths.iter();
    for param in params.filter(|param| param.access == Access::Cwd) {
        let values = match lookup(using.arguments, &param.key) {
            Err(Unresolved::Absent(_)) => continue,
            other => other?,
        };
        for value in values {
            cwd = if value.starts_with('/') || cwd.is_empty() {
                value.to_owned()
            } else {
                format!("{cwd}/{value}")
            };
        }
    }
    Ok(cwd)
}

/// The texts under a key; `files[].path` reaches into a list of objects. Never an empty list.
pub(super) fn lookup<'a>(
    arguments: &'a Map<String, Value>,
    key: &str,
) -> Result<Vec<&'a str>, Unresolved> {
    let absent = || Unresolved::Absent(key.to_owned());
    let not_text = || Unresolved::NotText(key.to_owned());
    // A key that is there as written is meant literally, dots and all.
    let mut found: Vec<&Value> = match arguments.get(key) {
        Some(value) => vec![value],
        None => reach(arguments, key).ok_or_else(absent)?,
    };
    let mut texts = Vec::new();
    while let Some(value) = found.pop() {
        match value {
            Value::String(text) => texts.push(text.as_str()),
            Value::Array(items) if items.iter().all(Value::is_string) && !items.is_empty() => {
                found.extend(items);
            }
            Value::Null => return Err(absent()),
            Value::Array(items) if items.is_empty() => return Err(absent()),
            Value::Array(_) | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                return Err(not_text());
            }
        }
        if texts.len() > TARGETS_MAX {
            return Err(Unresolved::TooMany(key.to_owned()));
        }
    }
    if texts.is_empty() {
        return Err(absent());
    }
    Ok(texts)
}

/// Follows the parts of a key; `None` when any branch of the way is missing.
fn reach<'a>(arguments: &'a Map<String, Value>, key: &str) -> Option<Vec<&'a Value>> {
    let mut parts = key.split('.');
    let first = parts.next()?;
    let mut found = spread(arguments.get(name_of(first))?, first)?;
    for part in parts {
        let mut next = Vec::new();
        for value in found {
            next.extend(spread(value.as_object()?.get(name_of(part))?, part)?);
        }
        found = next;
    }
    Some(found)
}

fn name_of(part: &str) -> &str {
    part.strip_suffix("[]").unwrap_or(part)
}

fn spread<'a>(value: &'a Value, part: &str) -> Option<Vec<&'a Value>> {
    if part.ends_with("[]") {
        value.as_array().map(|items| items.iter().collect())
    } else {
        Some(vec![value])
    }
}
