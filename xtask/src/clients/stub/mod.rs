//! A model on loopback that plays a script: one turn of tool calls after another, then it is done.
//!
//! Which turn it is, is read from the conversation that the client sends along, so the stub keeps
//! no state and a client may ask twice.

mod anthropic;
mod chat;
mod gemini;
mod http;
mod responses;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::speech::{Words, filled};

/// What the model does: turns of tool calls, for the main agent and for subagents.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Script {
    /// The main agent's turns.
    #[serde(default)]
    pub(crate) main: Vec<Vec<Scripted>>,
    /// The turns of an agent whose prompt holds [`SUBAGENT_MARK`].
    #[serde(default)]
    pub(crate) sub: Vec<Vec<Scripted>>,
    /// What a person does in between.
    #[serde(default)]
    pub(crate) meanwhile: Option<Meanwhile>,
    /// Who looks on before each turn of the main agent.
    #[serde(skip)]
    pub(crate) witness: Option<Witness>,
    /// Who knows what waits for a person.
    #[serde(skip)]
    pub(crate) request: Option<Request>,
}

/// Finds the name of a request that waits for a person.
#[derive(Clone)]
pub(crate) struct Request(pub(crate) Arc<dyn Fn() -> Option<String> + Send + Sync>);

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Request")
    }
}

/// Something that looks on: it is told the number of each turn of the main agent, before it.
#[derive(Clone)]
pub(crate) struct Witness(pub(crate) Arc<dyn Fn(usize) + Send + Sync>);

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Witness")
    }
}

/// A file that a person writes just before a turn.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Meanwhile {
    /// Before which turn.
    pub(crate) before: usize,
    pub(crate) path: std::path::PathBuf,
    pub(crate) text: String,
    /// Whether the file keeps its time, as it does when it is copied or restored: a client that
    /// looks at times alone does not notice.
    #[serde(default)]
    pub(crate) keeps_time: bool,
}

impl Meanwhile {
    fn write(&self) -> io::Result<()> {
        let time = std::fs::metadata(&self.path)?.modified()?;
        std::fs::write(&self.path, &self.text)?;
        if self.keeps_time {
            let file = std::fs::File::options().write(true).open(&self.path)?;
            file.set_modified(time)?;
        }
        Ok(())
    }
}

/// One scripted tool call.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Scripted {
    pub(crate) name: String,
    pub(crate) input: Value,
    /// The group of tools that it belongs to, in the dialect that has such.
    #[serde(default)]
    pub(crate) namespace: Option<String>,
}

/// A prompt that holds this is a subagent's.
pub(crate) const SUBAGENT_MARK: &str = "SUBAGENT-TASK";

/// The turn of a conversation.
struct Turn<'s> {
    number: usize,
    calls: &'s [Scripted],
}

impl Script {
    /// What comes after `number` turns with tool calls. A request without tools is a side
    /// question, such as one for a title, and gets words.
    fn turn(&self, number: usize, prompt: &str, has_tools: bool) -> Turn<'_> {
        let sub = prompt.contains(SUBAGENT_MARK) && !self.sub.is_empty();
        let turns = if sub { &self.sub } else { &self.main };
        let calls = turns
            .get(number)
            .filter(|_| has_tools)
            .map_or(&[][..], Vec::as_slice);
        if let Some(Witness(look)) = self.witness.as_ref().filter(|_| has_tools && !sub) {
            look(number);
        }
        if let Some(person) = &self.meanwhile
            && person.before == number
            && has_tools
            // A person changes what is there; what an agent failed to write stays missing.
            && person.path.exists()
            && let Err(error) = person.write()
        {
            eprintln!("stub model: {error}");
        }
        Turn { number, calls }
    }
}

/// A text in a scripted call that begins so stands for the number that the client told last after
/// the rest of the text.
const NUMBER_AFTER: &str = "number after ";

/// Stands for a request that waits for a person.
const REQUEST: &str = "{request}";

impl Script {
    /// The script with the numbers that the client told, and with the request that waits.
    fn filled(&self, body: &Value) -> Self {
        let mut script = self.clone();
        let mut calls = script.main.iter_mut().chain(&mut script.sub).flatten();
        if calls.any(|call| call.input.to_string().contains(REQUEST))
            && let Some(request) = self.request.as_ref().and_then(|Request(find)| find())
        {
            let words = Words::from([(REQUEST, request.as_str())]);
            for call in script.main.iter_mut().flatten() {
                call.input = filled(&call.input, &words);
            }
        }
        let calls = script.main.iter_mut().chain(&mut script.sub).flatten();
        for value in calls
            .filter_map(|call| call.input.as_object_mut())
            .flat_map(Map::values_mut)
        {
            let number = value
                .as_str()
                .and_then(|text| text.strip_prefix(NUMBER_AFTER));
            if let Some(number) = number.and_then(|mark| number_after(&body.to_string(), mark)) {
                *value = json!(number);
            }
        }
        script
    }
}

fn number_after(text: &str, mark: &str) -> Option<u64> {
    // Descriptions of tools may hold the same words without a number.
    let mut rests = text.rmatch_indices(mark);
    rests.find_map(|(at, found)| {
        let rest = text.get(at + found.len()..)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

impl Turn<'_> {
    fn id(&self, index: usize) -> String {
        format!("call_stub_{}_{index}", self.number)
    }

    fn words(&self) -> String {
        if self.calls.is_empty() {
            "The work is done.".to_owned()
        } else {
            format!("Step {}.", self.number)
        }
    }
}

/// A running stub. It ends with the process.
#[derive(Debug)]
pub(crate) struct Stub {
    address: SocketAddr,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Stub {
    /// Listens on a free port of loopback.
    pub(crate) fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let (script, heard) = (Arc::new(script), Arc::clone(&bodies));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, heard) = (Arc::clone(&script), Arc::clone(&heard));
                thread::spawn(move || {
                    if let Err(error) = serve(stream, &script, &heard) {
                        eprintln!("stub model: {error}");
                    }
                });
            }
        });
        Ok(Self { address, bodies })
    }

    /// Where it listens, as a base address without a path.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that clients told it, in order: the tools' results stand in there.
    pub(crate) fn heard(&self) -> Vec<Value> {
        self.bodies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn serve(mut stream: TcpStream, script: &Script, heard: &Mutex<Vec<Value>>) -> io::Result<()> {
    let Some(asked) = http::read(&stream)? else {
        return Ok(());
    };
    if asked.method != "POST" {
        let model = json!({"id": "stub", "object": "model", "created": 0, "owned_by": "stub"});
        let models = json!({"object": "list", "data": [model], "models": []});
        return http::object(&mut stream, &models);
    }
    heard
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(asked.body.clone());
    let reply = reply(&script.filled(&asked.body), &asked);
    match reply {
        Reply::Object(value) => http::object(&mut stream, &value),
        Reply::Events(events) => http::events(&mut stream, &events),
    }
}

enum Reply {
    Object(Value),
    Events(Vec<http::Event>),
}

fn reply(script: &Script, asked: &http::Asked) -> Reply {
    let path = asked.path.as_str();
    let body = &asked.body;
    if path.ends_with("/count_tokens") || path.ends_with(":countTokens") {
        return Reply::Object(json!({"input_tokens": 10, "totalTokens": 10}));
    }
    if path.ends_with("/messages") {
        return anthropic::reply(script, body);
    }
    if path.ends_with("/responses") {
        return responses::reply(script, body);
    }
    if path.ends_with("/chat/completions") {
        return chat::reply(script, body);
    }
    if path.contains("enerateContent") {
        return gemini::reply(script, body, path.contains("stream"));
    }
    Reply::Object(json!({}))
}

/// The turn that the id of a call names, if it is one of the script's.
fn turn_of(id: &Value) -> Option<usize> {
    let rest = id.as_str()?.strip_prefix("call_stub_")?;
    rest.split('_').next()?.parse().ok()
}

/// Whether a request offers tools.
fn has_tools(body: &Value) -> bool {
    list(body, "tools").next().is_some()
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn streams(body: &Value) -> bool {
    body.get("stream").and_then(Value::as_bool) == Some(true)
}

fn is(value: &Value, key: &str, text: &str) -> bool {
    value.get(key).and_then(Value::as_str) == Some(text)
}

/// Puts a field into an object.
fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
}

/// The text of all messages for which a test holds.
fn said<'v>(messages: impl Iterator<Item = &'v Value>, by: impl Fn(&Value) -> bool) -> String {
    messages
        .filter(|message| by(message))
        .map(Value::to_string)
        .collect()
}

#[cfg(test)]
mod tests;
