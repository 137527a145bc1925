//! The dialect of Gemini's generateContent.

use serde_json::{Value, json};

use super::http::Event;
use super::{Reply, Script, has_tools, is, list, said};

pub(super) fn reply(script: &Script, body: &Value, streamed: bool) -> Reply {
    let has = |message: &Value, key: &str| list(message, "parts").any(|p| p.get(key).is_some());
    let uses = |message: &&Value| is(message, "role", "model") && has(message, "functionCall");
    let number = list(body, "contents").filter(uses).count();
    let prompt = said(list(body, "contents"), |message| {
        is(message, "role", "user") && !has(message, "functionResponse")
    });
    let turn = script.turn(number, &prompt, has_tools(body));
    let mut parts: Vec<Value> = turn
        .calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let id = turn.id(index);
            json!({"functionCall": {"id": id, "name": call.name, "args": call.input}})
        })
        .collect();
    if parts.is_empty() {
        // Side questions ask for an object and are content with one that has the usual keys.
        let wants_object = body
            .pointer("/generationConfig/responseMimeType")
            .is_some_and(|kind| kind == "application/json");
        let object = json!({"reasoning": "stub", "next_speaker": "user", "model_choice": "flash"});
        let text = if wants_object {
            object.to_string()
        } else {
            turn.words()
        };
        parts.push(json!({"text": text}));
    }
    let content = json!({"role": "model", "parts": parts});
    let whole = json!({
        "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15,
        },
        "modelVersion": "stub",
    });
    if streamed {
        Reply::Events(vec![Event::plain(&whole)])
    } else {
        Reply::Object(whole)
    }
}
