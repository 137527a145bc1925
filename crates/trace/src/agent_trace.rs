//! Agent Trace 0.1.0: export and import.
//!
//! That format knows neither intents nor deletions nor hashes before; the whole canonical record
//! travels in its metadata, so that what comes back is what went out.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tagout_vocab::{Digest, Timestamp};
use thiserror::Error;

use crate::ranges::LineRange;
use crate::record::{Contributor, Entity, ModifiedRange, Record, Revision, VERSION};

/// The version that is written.
pub const FORMAT_VERSION: &str = "0.1.0";

/// The media type of one record.
pub const MEDIA_TYPE: &str = "application/vnd.agent-trace.record+json";

/// Where the canonical record travels.
const METADATA_KEY: &str = "dev.tagout.record";

/// What an id looks like when it is one of ours in a place that wants an address.
const URN: &str = "urn:tagout:";

/// Longest model id that the schema allows, in characters.
const MODEL_CHARS_MAX: usize = 250;

/// Why a value is no Agent Trace record.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A required field is missing or of another type.
    #[error("`{field}` is missing or not {expected}")]
    Field {
        /// The field.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// The record in the metadata is none.
    #[error("the record in its metadata can't be read")]
    Metadata {
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

/// A record as an Agent Trace record. `program_version` is the writer's.
pub fn export(record: &Record, program_version: &str) -> Value {
    let mut out = Map::new();
    let time = record.timestamp.unwrap_or(Timestamp::from_millis(0));
    out.insert("version".to_owned(), json!(FORMAT_VERSION));
    out.insert("id".to_owned(), json!(uuid(&record.id)));
    out.insert("timestamp".to_owned(), json!(time.to_string()));
    if let Some(vcs) = record.vcs.as_ref().filter(|vcs| is_revision(vcs)) {
        let vcs = json!({"type": vcs.kind, "revision": vcs.revision});
        out.insert("vcs".to_owned(), vcs);
    }
    let tool = json!({"name": "tagout", "version": program_version});
    out.insert("tool".to_owned(), tool);
    let files: Vec<Value> = record
        .files()
        .into_iter()
        .map(|file| export_file(record, file))
        .collect();
    out.insert("files".to_owned(), Value::Array(files));
    let whole = serde_json::to_value(record).unwrap_or_default();
    out.insert("metadata".to_owned(), json!({ METADATA_KEY: whole }));
    Value::Object(out)
}

fn export_file(record: &Record, file: &str) -> Value {
    let ranges: Vec<Value> = record
        .modified_ranges
        .iter()
        .filter(|range| range.file == file)
        .filter_map(export_range)
        .collect();
    let mut conversation = Map::new();
    if let Some(session) = &record.session_id {
        let url = if is_address(session) {
            session.clone()
        } else {
            format!("{URN}session:{}", escaped(session))
        };
        conversation.insert("url".to_owned(), json!(url));
    }
    if let Some(contributor) = &record.contributor {
        let mut out = Map::new();
        out.insert("type".to_owned(), json!(contributor.kind.as_str()));
        if let Some(model) = &contributor.model {
            let model: String = model.chars().take(MODEL_CHARS_MAX).collect();
            out.insert("model_id".to_owned(), json!(model));
        }
        conversation.insert("contributor".to_owned(), Value::Object(out));
    }
    conversation.insert("ranges".to_owned(), Value::Array(ranges));
    let intent = record.intent_id.iter().map(|id| ("intent", id));
    let requirements = record
        .related_requirements
        .iter()
        .map(|id| ("requirement", id));
    let related: Vec<Value> = intent
        .chain(requirements)
        .map(|(kind, id)| json!({"type": kind, "url": format!("{URN}{kind}:{}", escaped(id))}))
        .collect();
    if !related.is_empty() {
        conversation.insert("related".to_owned(), Value::Array(related));
    }
    json!({"path": file, "conversations": [conversation]})
}

/// Lines that are there; what was taken away has no lines at the recorded revision.
fn export_range(range: &ModifiedRange) -> Option<Value> {
    let lines = range.new_range.filter(|lines| !lines.is_empty())?;
    let mut out = Map::new();
    out.insert("start_line".to_owned(), json!(lines.start_line.max(1)));
    out.insert("end_line".to_owned(), json!(lines.end_line));
    if let Some(hash) = &range.content_hash {
        out.insert("content_hash".to_owned(), json!(hash));
    }
    Some(Value::Object(out))
}

/// An Agent Trace record as a record; ours come back as they went out.
pub fn import(value: &Value) -> Result<Record, ImportError> {
    let own = value.get("metadata").and_then(|all| all.get(METADATA_KEY));
    if let Some(own) = own {
        return Record::deserialize(own).map_err(|source| ImportError::Metadata { source });
    }
    let text = |field: &'static str| {
        value
            .get(field)
            .and_then(Value::as_str)
            .ok_or(ImportError::Field {
                field,
                expected: "a text",
            })
    };
    text("version")?;
    let time = text("timestamp")?;
    let files = value.get("files").and_then(Value::as_array);
    let files = files.ok_or(ImportError::Field {
        field: "files",
        expected: "a list",
    })?;
    let mut record = Record {
        version: VERSION,
        id: text("id")?.to_owned(),
        timestamp: Timestamp::parse(time).ok(),
        vcs: value.get("vcs").and_then(revision),
        ..Record::default()
    };
    for file in files {
        import_file(&mut record, file)?;
    }
    for name in ["tool", "metadata"] {
        if let Some(kept) = value.get(name) {
            record.extra.insert(name.to_owned(), kept.clone());
        }
    }
    Ok(record)
}

fn revision(vcs: &Value) -> Option<Revision> {
    Revision::deserialize(vcs).ok()
}

fn import_file(record: &mut Record, file: &Value) -> Result<(), ImportError> {
    let path = file.get("path").and_then(Value::as_str);
    let path = path.ok_or(ImportError::Field {
        field: "files[].path",
        expected: "a text",
    })?;
    let conversations = file.get("conversations").and_then(Value::as_array);
    let before = record.modified_ranges.len();
    for conversation in conversations.into_iter().flatten() {
        let contributor = conversation.get("contributor").map(contributor);
        record.contributor = record.contributor.take().or(contributor);
        let url = conversation.get("url").and_then(Value::as_str);
        record.session_id = record.session_id.take().or(url.map(str::to_owned));
        import_related(record, conversation);
        let ranges = conversation.get("ranges").and_then(Value::as_array);
        for range in ranges.into_iter().flatten() {
            record.modified_ranges.push(import_range(path, range));
        }
    }
    if record.modified_ranges.len() == before {
        record.modified_ranges.push(ModifiedRange {
            file: path.to_owned(),
            ..ModifiedRange::default()
        });
    }
    Ok(())
}

fn import_related(record: &mut Record, conversation: &Value) {
    let related = conversation.get("related").and_then(Value::as_array);
    for one in related.into_iter().flatten() {
        let kind = one.get("type").and_then(Value::as_str).unwrap_or_default();
        let url = one.get("url").and_then(Value::as_str).unwrap_or_default();
        if url.is_empty() {
            continue;
        }
        if kind == "intent" && record.intent_id.is_none() {
            record.intent_id = Some(url.to_owned());
        } else if !record.related_requirements.iter().any(|known| known == url) {
            record.related_requirements.push(url.to_owned());
        }
    }
}

fn import_range(path: &str, range: &Value) -> ModifiedRange {
    let line = |name: &str| {
        let number = range.get(name).and_then(Value::as_u64)?;
        u32::try_from(number).ok()
    };
    let lines = line("start_line").zip(line("end_line"));
    let hash = range.get("content_hash").and_then(Value::as_str);
    let digest = hash.and_then(|hash| Digest::parse(hash).ok());
    ModifiedRange {
        file: path.to_owned(),
        new_range: lines.map(|(start_line, end_line)| LineRange {
            start_line,
            end_line,
        }),
        content_hash: digest,
        other_hash: hash.filter(|_| digest.is_none()).map(str::to_owned),
        ..ModifiedRange::default()
    }
}

fn contributor(value: &Value) -> Contributor {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    Contributor {
        kind: text("type").and_then(Entity::parse).unwrap_or_default(),
        name: None,
        model: text("model_id").map(str::to_owned),
    }
}

/// An id in the form that the schema asks for: itself, or one made from it.
fn uuid(id: &str) -> String {
    let groups: Vec<usize> = id.split('-').map(str::len).collect();
    let is_one = groups == [8, 4, 4, 4, 12]
        && id
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    if is_one {
        return id.to_ascii_lowercase();
    }
    let mut hex: Vec<char> = Digest::of(id.as_bytes()).hex().chars().take(32).collect();
    // Version 8 of RFC 9562: the bits are the writer's own.
    if let Some(version) = hex.get_mut(12) {
        *version = '8';
    }
    if let Some(variant) = hex.get_mut(16) {
        *variant = 'a';
    }
    let mut text = String::with_capacity(36);
    for (at, digit) in hex.into_iter().enumerate() {
        if matches!(at, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

fn is_revision(vcs: &Revision) -> bool {
    match vcs.kind.as_str() {
        "git" => {
            vcs.revision.len() == 40 && vcs.revision.bytes().all(|byte| byte.is_ascii_hexdigit())
        }
        "jj" | "hg" | "svn" => !vcs.revision.is_empty(),
        _ => false,
    }
}

fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| {
        !rest.is_empty()
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_graphic())
    })
}

/// A text as part of an address.
fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing into a `String` cannot fail.
            write!(out, "%{byte:02X}").unwrap_or_default();
        }
    }
    out
}

#[cfg(test)]
mod tests;
