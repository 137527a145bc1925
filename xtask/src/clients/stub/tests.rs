//! The stub plays its script in every dialect, and ends.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{Script, Scripted, Stub};

fn script() -> Script {
    let call = |name: &str| Scripted {
        name: name.to_owned(),
        input: json!({"path": "a"}),
        namespace: None,
    };
    Script {
        main: vec![vec![call("first")], vec![call("second")]],
        sub: vec![vec![call("below")]],
        ..Script::default()
    }
}

fn ask(stub: &Stub, path: &str, body: &Value) -> String {
    let mut stream = TcpStream::connect(stub.address).unwrap();
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The name of the tool that an answer calls, if any of the script's.
fn called(answer: &str) -> Option<&'static str> {
    ["first", "second", "below"]
        .into_iter()
        .find(|name| answer.contains(&format!("\"{name}\"")))
}

#[test]
fn every_dialect_counts_the_turns_from_the_conversation() {
    let stub = Stub::start(script()).unwrap();
    let tools = json!([{"name": "first"}]);
    let user = json!({"role": "user", "content": "go"});
    let with_tools = json!({"role": "assistant", "content": [{"type": "tool_use"}]});
    let chat_used = json!({"role": "assistant", "tool_calls": [{"id": "x"}]});
    let output = json!({"type": "function_call_output", "call_id": "call_stub_0_0"});
    let model = json!({"role": "model", "parts": [{"functionCall": {}}]});
    let cases = [
        ("/v1/messages", "messages", vec![user.clone(), with_tools]),
        (
            "/v1/chat/completions",
            "messages",
            vec![user.clone(), chat_used],
        ),
        ("/v1/responses", "input", vec![user.clone(), output]),
        (
            "/v1/models/m:streamGenerateContent",
            "contents",
            vec![user, model],
        ),
    ];
    for (path, key, conversation) in cases {
        for streamed in [true, false] {
            let body =
                |messages: &[Value]| json!({key: messages, "tools": tools, "stream": streamed});
            let first = ask(&stub, path, &body(&conversation[..1]));
            assert_eq!(called(&first), Some("first"), "{path}: {first}");
            let second = ask(&stub, path, &body(&conversation));
            assert_eq!(called(&second), Some("second"), "{path}: {second}");
        }
    }
    assert_eq!(stub.heard().len(), 16);
}

#[test]
fn a_request_without_tools_or_past_the_end_gets_words() {
    let stub = Stub::start(script()).unwrap();
    let body = json!({"messages": [{"role": "user", "content": "title?"}]});
    assert_eq!(called(&ask(&stub, "/v1/messages", &body)), None);
}

#[test]
fn a_subagent_plays_its_own_script() {
    let stub = Stub::start(script()).unwrap();
    let user = json!({"role": "user", "content": "SUBAGENT-TASK: look"});
    let body = json!({"messages": [user], "tools": [{"name": "below"}]});
    assert_eq!(
        called(&ask(&stub, "/v1/chat/completions", &body)),
        Some("below")
    );
}
