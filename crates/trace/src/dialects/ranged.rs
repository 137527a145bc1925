//! The ranged dialect: a list of ranges with hashes before and after, and the nodes they touch.

use serde_json::{Map, Value};

use super::fields::{self, Fields, Related};
use crate::nodes::AstNode;
use crate::record::{AstStatus, ChangeKind, ModifiedRange, Record};

pub(super) fn record(object: &Map<String, Value>) -> Record {
    let mut fields = Fields::new(object);
    let mut record = Record {
        id: fields.text(&["id"]).unwrap_or_default(),
        timestamp: fields.time("timestamp"),
        vcs: fields::revision(fields.any(&["revision_id"]), None),
        intent_id: fields.text(&["intent_id"]),
        declared_class: fields.class(&["mutation_class"]),
        tool_name: fields.text(&["tool_name"]),
        tool_origin: fields.text(&["tool_origin"]),
        agent_action: fields.text(&["agent_action"]),
        session_id: fields.text(&["session_id"]),
        ..Record::default()
    };
    let mut related = Related::default();
    related.read(fields.any(&["related_requirements"]));
    // Here the intent has its own field, and requirements are only that.
    record.related_requirements = std::mem::take(&mut related.requirements);
    let ranges = fields.any(&["modified_ranges"]).and_then(Value::as_array);
    let ranges = ranges.into_iter().flatten();
    record.modified_ranges = ranges.map(one_range).collect();
    record.extra = fields.rest();
    related.put(&mut record);
    fields::finish(record, object)
}

fn one_range(value: &Value) -> ModifiedRange {
    let (content_hash, other_hash) = fields::hash(value.get("content_hash"));
    let before = fields::hash(value.get("before_hash")).0;
    let after = fields::hash(value.get("after_hash")).0;
    let is_null = |name: &str| value.get(name).is_some_and(Value::is_null);
    let change = match (is_null("before_hash"), is_null("after_hash")) {
        (true, false) if after.is_some() => ChangeKind::Created,
        (false, true) if before.is_some() => ChangeKind::Deleted,
        _ => ChangeKind::Modified,
    };
    let nodes = value.get("ast_nodes").and_then(Value::as_array);
    let is_ok = value.get("ast_status").and_then(Value::as_str) == Some("ok");
    let file = value.get("file").and_then(fields::text);
    ModifiedRange {
        change,
        old_range: value.get("old_range").and_then(fields::range),
        new_range: value.get("new_range").and_then(fields::range),
        content_hash,
        other_hash,
        before_hash: before,
        after_hash: after,
        ast_status: if is_ok {
            AstStatus::Ok
        } else {
            AstStatus::Fallback
        },
        ast_nodes: nodes.into_iter().flatten().filter_map(one_node).collect(),
        ..fields::about(file.unwrap_or_default())
    }
}

fn one_node(value: &Value) -> Option<AstNode> {
    let symbol = value.get("symbol").or_else(|| value.get("identifier"))?;
    let hash = value.get("node_hash").or_else(|| value.get("segment_hash"));
    let lines = fields::range(value)?;
    Some(AstNode {
        symbol: fields::text(symbol)?,
        kind: value.get("type").and_then(fields::text).unwrap_or_default(),
        start_line: lines.start_line,
        end_line: lines.end_line,
        node_hash: fields::hash(hash).0?,
        removed: false,
    })
}
