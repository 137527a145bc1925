//! The dialect of `OpenAI`'s Responses.

use serde_json::{Value, json};

use super::http::Event;
use super::{Reply, Script, Turn, has_tools, is, list, said, set, streams, turn_of};

pub(super) fn reply(script: &Script, body: &Value) -> Reply {
    // Calls and their results both name the turn in their id; the highest one is the last.
    let number = list(body, "input")
        .filter_map(|item| turn_of(item.get("call_id")?))
        .max()
        .map_or(0, |last| last + 1);
    let prompt = match body.get("input") {
        Some(Value::String(text)) => text.clone(),
        _ => said(list(body, "input"), |item| is(item, "role", "user")),
    };
    let turn = script.turn(number, &prompt, has_tools(body));
    let items = items(&turn);
    let response = |status: &str, output: &[Value]| {
        json!({
            "id": format!("resp_stub_{number}"), "object": "response", "created_at": 0,
            "model": body.get("model"), "status": status, "output": output,
            "usage": {
                "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 15,
            },
            "parallel_tool_calls": true, "tools": [], "tool_choice": "auto", "error": null,
            "incomplete_details": null, "instructions": null, "metadata": {},
        })
    };
    if !streams(body) {
        return Reply::Object(response("completed", &items));
    }
    let mut events = vec![json!({
        "type": "response.created", "response": response("in_progress", &[]),
    })];
    for (index, item) in items.iter().enumerate() {
        for kind in ["response.output_item.added", "response.output_item.done"] {
            events.push(json!({"type": kind, "output_index": index, "item": item}));
        }
    }
    events.push(json!({
        "type": "response.completed", "response": response("completed", &items),
    }));
    for (number, event) in events.iter_mut().enumerate() {
        set(event, "sequence_number", json!(number));
    }
    Reply::Events(
        events
            .into_iter()
            .map(|event| Event::typed(&event))
            .collect(),
    )
}

fn items(turn: &Turn<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    for (index, call) in turn.calls.iter().enumerate() {
        let id = turn.id(index);
        // A tool that takes free text gets text; every other one gets an object.
        let mut item = if let Value::String(text) = &call.input {
            json!({
                "type": "custom_tool_call", "id": format!("ctc_{id}"), "call_id": id,
                "name": call.name, "input": text, "status": "completed",
            })
        } else {
            json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
                "name": call.name, "arguments": call.input.to_string(), "status": "completed",
            })
        };
        if let Some(group) = &call.namespace {
            set(&mut item, "namespace", json!(group));
        }
        items.push(item);
    }
    if items.is_empty() {
        let text = json!({"type": "output_text", "text": turn.words(), "annotations": []});
        items.push(json!({
            "type": "message", "id": "msg_stub", "role": "assistant", "status": "completed",
            "content": [text],
        }));
    }
    items
}
