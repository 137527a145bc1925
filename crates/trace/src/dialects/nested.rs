//! The nested dialect: files, conversations and ranges within each other.

use serde_json::{Map, Value};

use super::fields::{self, Fields, Related};
use crate::record::Record;

pub(super) fn record(object: &Map<String, Value>) -> Record {
    let mut fields = Fields::new(object);
    let vcs = fields.any(&["vcs"]);
    let kind = vcs.and_then(|vcs| vcs.get("type")).and_then(Value::as_str);
    let revision = vcs.and_then(|vcs| vcs.get("revision_id").or_else(|| vcs.get("revision")));
    let mut record = Record {
        id: fields.text(&["id", "trace_id"]).unwrap_or_default(),
        timestamp: fields.time("timestamp"),
        vcs: fields::revision(revision, kind),
        intent_id: fields.text(&["intent_id", "intentId"]),
        declared_class: fields.class(&["mutation_class", "mutationClass"]),
        tool_name: fields.text(&["tool_name", "toolName"]),
        session_id: fields.text(&["session_id", "sessionId"]),
        ..Record::default()
    };
    let mut related = Related::default();
    related.read(fields.any(&["related"]));
    let files = fields.any(&["files"]).and_then(Value::as_array);
    for file in files.into_iter().flatten() {
        one_file(&mut record, &mut related, file);
    }
    record.extra = fields.rest();
    // What the ranges themselves say beyond their lines has no other place.
    if files.is_some_and(|files| files.iter().any(says_more)) {
        let files = object.get("files").cloned().unwrap_or_default();
        record.extra.insert("files".to_owned(), files);
    }
    if vcs
        .and_then(Value::as_object)
        .is_some_and(|vcs| vcs.len() > 2)
    {
        let vcs = object.get("vcs").cloned().unwrap_or_default();
        record.extra.insert("vcs".to_owned(), vcs);
    }
    related.put(&mut record);
    fields::finish(record, object)
}

fn one_file(record: &mut Record, related: &mut Related, file: &Value) {
    let names = ["relative_path", "path", "file_path"];
    let name = names.iter().find_map(|name| file.get(*name));
    let path = name.and_then(fields::text).unwrap_or_default();
    let before = record.modified_ranges.len();
    let conversations = file.get("conversations").and_then(Value::as_array);
    for conversation in conversations.into_iter().flatten() {
        one_conversation(record, related, &path, conversation);
    }
    if record.modified_ranges.len() == before && !path.is_empty() {
        record.modified_ranges.push(fields::about(path));
    }
}

fn one_conversation(record: &mut Record, related: &mut Related, path: &str, value: &Value) {
    let inner = value.get("conversation").unwrap_or(value);
    if record.session_id.is_none() {
        let url = value.get("url").or_else(|| inner.get("url"));
        record.session_id = url.and_then(fields::text);
    }
    if record.contributor.is_none() {
        record.contributor = fields::contributor(value.get("contributor"), None);
    }
    if record.declared_class.is_none() {
        let meta = value.get("meta").unwrap_or(value);
        let names = ["mutation_class", "mutationClass"];
        let found = [value, meta]
            .into_iter()
            .flat_map(|place| names.iter().filter_map(|name| place.get(*name)))
            .find_map(Value::as_str);
        record.declared_class = found.and_then(tagout_vocab::MutationClass::parse);
    }
    related.read(value.get("related"));
    let ranges = value.get("ranges").and_then(Value::as_array);
    for range in ranges.into_iter().flatten() {
        let (content_hash, other_hash) = fields::hash(range.get("content_hash"));
        record.modified_ranges.push(crate::record::ModifiedRange {
            new_range: fields::range(range),
            content_hash,
            other_hash,
            ..fields::about(path.to_owned())
        });
    }
}

/// Whether anything within says more than the record can hold.
fn says_more(file: &Value) -> bool {
    const KNOWN: [&str; 15] = [
        "relative_path",
        "path",
        "file_path",
        "conversations",
        "url",
        "contributor",
        "entity_type",
        "model_identifier",
        "ranges",
        "start_line",
        "end_line",
        "content_hash",
        "related",
        "type",
        "value",
    ];
    match file {
        Value::Object(object) => object
            .iter()
            .any(|(name, value)| !KNOWN.contains(&name.as_str()) || says_more(value)),
        Value::Array(values) => values.iter().any(says_more),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
