//! What `explain` is asked: one JSON object to one question.

use serde_json::{Map, Value};
use tagout_policy::problem::suggestion;
use tagout_vocab::{Agent, Call, IntentId, Origin, Session, SessionId, State};

/// One question: a call, or a bare command line, in the session it is asked for.
#[derive(Debug)]
pub(super) struct Question {
    /// The asker's own id, echoed in the answer.
    pub(super) id: Option<Value>,
    /// What is asked about.
    pub(super) asked: Asked,
    /// The conversation as the asker describes it.
    pub(super) session: Session,
}

/// What is asked about.
#[derive(Debug)]
pub(super) enum Asked {
    /// A tool call.
    Call(Box<Call>),
    /// A command line, to be judged as a call of the shell tool.
    Command(String),
}

/// The session that a question belongs to when it names none.
const ASKER: &str = "explain";

const KEYS: &[&str] = &[
    "id",
    "command",
    "tool",
    "arguments",
    "state",
    "intent",
    "origin",
    "server",
    "client",
    "cwd",
    "agent",
    "model",
    "session",
];

/// What is wrong with a question, in words.
#[derive(Debug)]
struct Wrong(String);

/// Why a text is not a question, with the id it carried where that could be read.
#[derive(Debug)]
pub(super) struct NotAQuestion {
    pub(super) id: Option<Value>,
    pub(super) message: String,
}

/// Reads one question.
pub(super) fn read(text: &str) -> Result<Question, NotAQuestion> {
    let lost = |message: String| NotAQuestion { id: None, message };
    let value: Value =
        serde_json::from_str(text).map_err(|error| lost(format!("not JSON: {error}")))?;
    let Value::Object(object) = value else {
        return Err(lost("not a JSON object".to_owned()));
    };
    let id = object.get("id").cloned();
    question(&object).map_err(|Wrong(message)| NotAQuestion { id, message })
}

/// A bare command line, asked in the first state.
pub(super) fn command(line: &str) -> Result<Question, NotAQuestion> {
    let mut object = Map::new();
    object.insert("command".to_owned(), Value::String(line.to_owned()));
    question(&object).map_err(|Wrong(message)| NotAQuestion { id: None, message })
}

fn question(object: &Map<String, Value>) -> Result<Question, Wrong> {
    if let Some(key) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let hint = suggestion(key, KEYS.iter().copied()).unwrap_or_default();
        return Err(Wrong(format!("there is no field `{key}` ({hint})")));
    }
    let state = text(object, "state")?.map_or(Ok(State::Request), |word| {
        State::parse(word).ok_or_else(|| {
            let words = State::ALL.map(State::as_str);
            let hint = suggestion(word, words).unwrap_or_default();
            Wrong(format!("`state` can't be `{word}` ({hint})"))
        })
    })?;
    let intent = text(object, "intent")?
        .map(|id| IntentId::new(id).map_err(|error| Wrong(format!("`intent`: {error}"))))
        .transpose()?;
    let id = SessionId::new(text(object, "session")?.unwrap_or(ASKER))
        .map_err(|error| Wrong(format!("`session`: {error}")))?;
    let session = Session {
        id,
        state,
        intent,
        parent: None,
    };
    let asked = match (text(object, "command")?, text(object, "tool")?) {
        (Some(line), None) => Asked::Command(line.to_owned()),
        (None, Some(tool)) => Asked::Call(Box::new(call(object, tool)?)),
        (Some(_), Some(_)) => return Err(Wrong("either `command` or `tool`, not both".to_owned())),
        (None, None) => return Err(Wrong("neither `command` nor `tool`".to_owned())),
    };
    Ok(Question {
        id: object.get("id").cloned(),
        asked,
        session,
    })
}

fn call(object: &Map<String, Value>, tool: &str) -> Result<Call, Wrong> {
    let arguments = match object.get("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(_) => return Err(Wrong("`arguments` must be an object".to_owned())),
    };
    let mut call = Call::new(tool, arguments);
    call.origin = origin(object)?;
    text(object, "cwd")?
        .unwrap_or_default()
        .clone_into(&mut call.cwd);
    call.agent = Agent {
        name: text(object, "agent")?.map(str::to_owned),
        model: text(object, "model")?.map(str::to_owned),
        parents: Vec::new(),
    };
    Ok(call)
}

fn origin(object: &Map<String, Value>) -> Result<Origin, Wrong> {
    let server = text(object, "server")?.map(str::to_owned);
    let client = text(object, "client")?.map(str::to_owned);
    let word = text(object, "origin")?;
    match (word, server, client) {
        (None | Some("native"), None, None) => Ok(Origin::Native),
        (None | Some("mcp"), Some(server), _) => Ok(Origin::Mcp { server }),
        (None | Some("client"), None, Some(client)) => Ok(Origin::Client { client }),
        (Some("custom"), None, _) => Ok(Origin::Custom),
        (Some("mcp"), None, _) => Err(Wrong("`origin: mcp` needs `server`".to_owned())),
        (Some("client"), _, None) => Err(Wrong("`origin: client` needs `client`".to_owned())),
        (Some(word), ..) => {
            let hint = suggestion(word, ["native", "mcp", "custom", "client"]).unwrap_or_default();
            Err(Wrong(format!(
                "`origin: {word}` does not fit `server` and `client` ({hint})"
            )))
        }
    }
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, Wrong> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Wrong(format!("`{key}` must be text"))),
    }
}
