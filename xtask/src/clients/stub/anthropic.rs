//! The dialect of Anthropic's Messages.

use serde_json::{Value, json};

use super::http::Event;
use super::{Reply, Script, Turn, has_tools, is, list, said, streams};

pub(super) fn reply(script: &Script, body: &Value) -> Reply {
    let uses = |message: &&Value| {
        is(message, "role", "assistant")
            && list(message, "content").any(|block| is(block, "type", "tool_use"))
    };
    let number = list(body, "messages").filter(uses).count();
    let prompt = said(list(body, "messages").take(1), |_| true);
    let turn = script.turn(number, &prompt, has_tools(body));
    let blocks = blocks(&turn);
    let stop = if turn.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    let message = |content: &[Value], stop: Option<&str>| {
        json!({
            "id": format!("msg_stub_{number}"), "type": "message", "role": "assistant",
            "model": body.get("model"), "content": content, "stop_reason": stop,
            "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 5},
        })
    };
    if !streams(body) {
        return Reply::Object(message(&blocks, Some(stop)));
    }
    let mut events = vec![Event::typed(
        &json!({"type": "message_start", "message": message(&[], None)}),
    )];
    for (index, block) in blocks.iter().enumerate() {
        events.extend(streamed(index, block));
    }
    events.push(Event::typed(&json!({
        "type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
        "usage": {"output_tokens": 5},
    })));
    events.push(Event::typed(&json!({"type": "message_stop"})));
    Reply::Events(events)
}

fn blocks(turn: &Turn<'_>) -> Vec<Value> {
    let mut blocks = vec![json!({"type": "text", "text": turn.words()})];
    for (index, call) in turn.calls.iter().enumerate() {
        blocks.push(json!({
            "type": "tool_use", "id": format!("toolu_{}", turn.id(index)),
            "name": call.name, "input": call.input,
        }));
    }
    blocks
}

/// A block as a stream tells it: opened empty, filled, closed.
fn streamed(index: usize, block: &Value) -> [Event; 3] {
    let (empty, delta) = if is(block, "type", "text") {
        (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": block["text"]}),
        )
    } else {
        (
            json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
            json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}),
        )
    };
    let event = |kind: &str, key: &str, value: &Value| {
        Event::typed(&json!({"type": kind, "index": index, key: value}))
    };
    [
        event("content_block_start", "content_block", &empty),
        event("content_block_delta", "delta", &delta),
        Event::typed(&json!({"type": "content_block_stop", "index": index})),
    ]
}
