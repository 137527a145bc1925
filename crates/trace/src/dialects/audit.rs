//! The audit dialect: a log of everything, refusals included, with one range at most.

use serde_json::{Map, Value};

use super::fields::{self, Fields, Related};
use crate::record::{ChangeKind, ModifiedRange, Record};

pub(super) fn record(object: &Map<String, Value>) -> Record {
    let mut fields = Fields::new(object);
    let metadata = object.get("metadata");
    let of_metadata = |name: &str| metadata.and_then(|metadata| metadata.get(name));
    let mut contributor = fields::contributor(fields.any(&["contributor"]), None);
    let actor = fields.text(&["actor"]);
    if let Some(contributor) = &mut contributor {
        contributor.name = actor;
    }
    let mut record = Record {
        id: fields.text(&["trace_id", "id"]).unwrap_or_default(),
        timestamp: fields.time("timestamp"),
        vcs: fields::revision(of_metadata("vcs_ref"), None),
        intent_id: fields.text(&["intent_id"]),
        declared_class: fields.class(&["mutation_class"]),
        agent_action: fields.text(&["action_type"]),
        contributor,
        session_id: of_metadata("session_id").and_then(fields::text),
        ..Record::default()
    };
    let mut related = Related::default();
    related.read(fields.any(&["related"]));
    if record.intent_id.is_none() {
        // Here a related word is never the intent.
        record.related_requirements = std::mem::take(&mut related.requirements);
    }
    record
        .modified_ranges
        .extend(fields.any(&["ranges"]).and_then(range));
    record.extra = fields.rest();
    related.put(&mut record);
    fields::finish(record, object)
}

fn range(value: &Value) -> Option<ModifiedRange> {
    let file = value.get("file").and_then(fields::text)?;
    if matches!(file.as_str(), "n/a" | "N/A" | "none" | "unknown") {
        return None;
    }
    let is_deleted = value.get("content_hash").and_then(Value::as_str) == Some("DELETED");
    let (content_hash, other_hash) = fields::hash(value.get("content_hash"));
    Some(ModifiedRange {
        change: if is_deleted {
            ChangeKind::Deleted
        } else {
            ChangeKind::Modified
        },
        // An end of -1 is the file's end, wherever that was: no range is truer than a made-up one.
        new_range: fields::range(value),
        // This dialect hashes the whole new file.
        after_hash: content_hash,
        content_hash,
        other_hash: other_hash.filter(|_| !is_deleted),
        ..fields::about(file)
    })
}
