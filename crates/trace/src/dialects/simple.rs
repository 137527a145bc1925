//! The simple dialects: a flat line about one file.

use serde_json::{Map, Value};

use super::fields::{self, Fields, Related};
use crate::record::{ModifiedRange, Record};

const FILES: [&str; 6] = [
    "file_path",
    "filePath",
    "file",
    "target",
    "path",
    "relative_path",
];

/// Whether an object is one of them: it names a file, or a hash or an intent with a time.
pub(super) fn is_record(object: &Map<String, Value>) -> bool {
    let has = |name: &str| object.get(name).is_some_and(|value| !value.is_null());
    let is_timed = has("timestamp");
    FILES.iter().any(|name| has(name)) && (is_timed || has("content_hash") || has("intent_id"))
        || is_timed && (has("content_hash") || has("intent_id") || has("tool"))
}

pub(super) fn record(object: &Map<String, Value>) -> Record {
    let mut fields = Fields::new(object);
    let model = fields.text(&["model_identifier", "model_id", "model"]);
    let mut record = Record {
        id: fields.text(&["id"]).unwrap_or_default(),
        timestamp: fields.time("timestamp"),
        intent_id: fields.text(&["intent_id", "intentId"]),
        declared_class: fields.class(&["mutation_class", "mutationClass", "classification"]),
        tool_name: fields.text(&["tool", "tool_name", "toolName"]),
        agent_action: fields.text(&["operation"]),
        contributor: fields::contributor(fields.any(&["contributor"]), model),
        session_id: fields.text(&["session_id"]),
        ..Record::default()
    };
    let mut related = Related::default();
    related.read(fields.any(&["related"]));
    related.read(fields.any(&["related_reqs"]));
    if let Some(requirement) = fields.text(&["req_id"])
        && Some(&requirement) != record.intent_id.as_ref()
    {
        related.requirements.push(requirement);
    }
    let ranges = fields.any(&["ranges"]);
    let own = fields.any(&["content_hash"]);
    let hash = own.or_else(|| ranges.and_then(|ranges| ranges.get("content_hash")));
    if let Some(file) = fields.text(&FILES) {
        let (content_hash, other_hash) = fields::hash(hash);
        record.modified_ranges.push(ModifiedRange {
            new_range: ranges.and_then(fields::range),
            content_hash,
            other_hash,
            ..fields::about(file)
        });
    }
    record.extra = fields.rest();
    related.put(&mut record);
    fields::finish(record, object)
}
