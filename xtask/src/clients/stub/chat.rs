//! The dialect of `OpenAI`'s Chat Completions.

use serde_json::{Value, json};

use super::http::Event;
use super::{Reply, Script, has_tools, is, list, said, set, streams, turn_of};

pub(super) fn reply(script: &Script, body: &Value) -> Reply {
    let uses = |message: &&Value| list(message, "tool_calls").next().is_some();
    // A client may put calls of its own among the model's, so ids count where it keeps them.
    let calls = list(body, "messages").flat_map(|message| list(message, "tool_calls"));
    let number = match calls.filter_map(|call| turn_of(call.get("id")?)).max() {
        Some(last) => last + 1,
        None => list(body, "messages").filter(uses).count(),
    };
    let prompt = said(list(body, "messages"), |message| {
        is(message, "role", "user")
    });
    let turn = script.turn(number, &prompt, has_tools(body));
    let calls: Vec<Value> = turn
        .calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            json!({
                "index": index, "id": turn.id(index), "type": "function",
                "function": {"name": call.name, "arguments": call.input.to_string()},
            })
        })
        .collect();
    let finish = if calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    let mut message = json!({"role": "assistant", "content": turn.words()});
    if !calls.is_empty() {
        set(&mut message, "tool_calls", json!(calls));
    }
    let base = |object: &str, choice: Value| {
        json!({
            "id": format!("chatcmpl-stub-{number}"), "object": object, "created": 0,
            "model": body.get("model"), "choices": [choice],
        })
    };
    if !streams(body) {
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        let mut whole = base("chat.completion", choice);
        set(&mut whole, "usage", usage);
        return Reply::Object(whole);
    }
    let chunk = |delta: &Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        base("chat.completion.chunk", choice)
    };
    let mut last = chunk(&json!({}), Some(finish));
    set(&mut last, "usage", usage);
    Reply::Events(vec![
        Event::plain(&chunk(&message, None)),
        Event::plain(&last),
        Event::plain(&"[DONE]"),
    ])
}
