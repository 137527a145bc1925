//! A call that nobody made: what a client would send before a tool, so that the hook that is really
//! registered can be started and its answer looked at.

use serde_json::{Map, Value, json};

use super::plan::{Layout, Place, Scope};
use super::{Texts, command, files, host, jsonc, path, scripts};
use crate::client::Client;
use crate::profile::{CallForm, Event, Is, Kind};

/// The tool, the conversation and everything else that needs a name in a canary.
const NAME: &str = "tagout_canary";

/// A payload for a hook.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Canary {
    /// The event, as the client's configuration spells it.
    pub event: &'static str,
    /// What the client would send.
    pub payload: Vec<u8>,
}

/// How a hook is really started, as the client's own configuration says it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Registered {
    /// Program and arguments.
    Words(Vec<String>),
    /// One line for a shell.
    Line(String),
    /// The file itself.
    File(Place),
}

/// A call of a tool that nobody declared, which is refused as long as no intent is selected.
pub fn canary(client: Client, cwd: &str) -> Option<Canary> {
    let event = tried(host(client))?;
    let (dialect, event) = host(client).dialect(event.name)?;
    let keys = &dialect.keys;
    let mut payload = Value::Object(Map::new());
    for mark in dialect.marks.iter().filter(|mark| mark.is == Is::There) {
        set(&mut payload, mark.way, Value::from(NAME));
    }
    let arguments = match event.call {
        CallForm::Named => json!({}),
        CallForm::Event { keys, .. } | CallForm::Inline { keys, .. } => {
            let named = keys.iter().map(|key| ((*key).to_owned(), NAME.into()));
            Value::Object(named.collect())
        }
    };
    // A folder that stands among the arguments is sent with some tools and not with this one: the
    // hook has to find its workspace without it.
    let apart = |way: &&&str| {
        let arguments = keys.arguments.iter();
        !arguments.clone().any(|key| {
            way.strip_prefix(key)
                .is_some_and(|rest| rest.starts_with('.'))
        })
    };
    let folder: Vec<&str> = keys.cwd.iter().filter(apart).copied().collect();
    let texts = [
        (keys.event, Value::from(event.wire)),
        (keys.session, Value::from(NAME)),
        (keys.tool, Value::from(NAME)),
        (keys.arguments, arguments),
        (folder.as_slice(), Value::from(cwd)),
    ];
    for (ways, value) in texts {
        if let Some(way) = ways.first() {
            set(&mut payload, way, value);
        }
    }
    let mut payload = payload.to_string().into_bytes();
    payload.push(b'\n');
    Some(Canary {
        event: event.name,
        payload,
    })
}

/// The event that is tried: the one for every tool, else the last of those for single ones.
fn tried(client: Client) -> Option<&'static Event> {
    let pre = || client.registered().filter(|event| event.kind == Kind::Pre);
    let named = pre().find(|event| event.call == CallForm::Named);
    named.or_else(|| pre().last())
}

/// Puts a value at the end of a way, with the objects and lists that it leads through.
fn set(value: &mut Value, way: &str, new: Value) {
    let (key, rest) = match way.split_once('.') {
        Some((key, rest)) => (key, Some(rest)),
        None => (way, None),
    };
    let inner = if key == "0" {
        if !value.is_array() {
            *value = json!([null]);
        }
        value.get_mut(0)
    } else {
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        let map = value.as_object_mut();
        map.map(|map| map.entry(key).or_insert(Value::Null))
    };
    match (inner, rest) {
        (Some(inner), Some(rest)) => set(inner, rest, new),
        (Some(inner), None) => *inner = new,
        (None, _) => {}
    }
}

/// How the hook of a canary's event is started, if it is there.
pub fn registered(client: Client, scope: Scope, texts: &Texts) -> Option<Registered> {
    let client = host(client);
    let event = tried(client)?;
    let places = files(client, scope).ok()?;
    let at = |end: &str| {
        places
            .iter()
            .find(|place| place.path.ends_with(end))
            .cloned()
    };
    match client.profile().install.layout {
        Layout::Executables => {
            let place = at(&format!("/{}", event.name))?;
            let text = texts.get(&place)?;
            scripts::is_ours(client, &place, text).then_some(Registered::File(place))
        }
        Layout::PluginFile => plugin(client, event, texts.get(places.first()?)?),
        Layout::Groups { .. }
        | Layout::Handlers { .. }
        | Layout::Triggers
        | Layout::PluginFolder { .. } => {
            let place = places.last()?;
            let text = texts.get(place)?;
            if place.is_toml() {
                return toml_line(event, text);
            }
            let root = jsonc::read(text).ok().flatten()?.to_value();
            let list = path(client, event)
                .iter()
                .try_fold(&root, |node, key| node.get(key));
            let own = format!("--event {}", event.name);
            let ours = |value: &&Value| {
                let shown = value.to_string().replace("\",\"", " ");
                command::is_ours(client, value) && shown.contains(&own)
            };
            list?.as_array()?.iter().find(ours).and_then(handler)
        }
    }
}

/// The command inside an entry.
fn handler(value: &Value) -> Option<Registered> {
    match value {
        Value::Object(map) => {
            if let (Some(Value::String(program)), Some(Value::Array(args))) =
                (map.get("command"), map.get("args"))
            {
                let args = args.iter().filter_map(Value::as_str).map(str::to_owned);
                return Some(Registered::Words(
                    std::iter::once(program.clone()).chain(args).collect(),
                ));
            }
            map.values().find_map(handler)
        }
        Value::Array(items) => items.iter().find_map(handler),
        Value::String(text) if text.contains(" hook --client ") => {
            Some(Registered::Line(text.clone()))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The line of an event in a block of TOML tables.
fn toml_line(event: &Event, text: &str) -> Option<Registered> {
    let own = format!("--event {} ", event.name);
    let line = text.lines().find(|line| line.contains(&own))?;
    let (_, value) = line.split_once('=')?;
    let line: String = serde_json::from_str(value.trim()).ok()?;
    Some(Registered::Line(line))
}

/// What the plugin starts.
fn plugin(client: Client, event: &Event, text: &str) -> Option<Registered> {
    let constant = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        serde_json::from_str::<Value>(line).ok()
    };
    let program = constant("const program = ")?;
    let words = constant("const words = ")?;
    let call = ["hook", "--client", client.as_str(), "--event", event.name];
    let words = words.as_array()?.iter().filter_map(Value::as_str);
    let all = std::iter::once(program.as_str()?).chain(call).chain(words);
    Some(Registered::Words(all.map(str::to_owned).collect()))
}

/// Whether the client takes an answer for a denial.
pub fn is_denial(client: Client, code: Option<i32>, stdout: &[u8], stderr: &[u8]) -> bool {
    let denial = host(client).profile().denial;
    let by_code = denial.strongest_exit == 2 && code == Some(2) && !stderr.is_empty();
    let said: Value = serde_json::from_slice(stdout).unwrap_or_default();
    let word = |way: &str, words: &[&str]| {
        let found = said.pointer(way).and_then(Value::as_str);
        found.is_some_and(|found| words.contains(&found))
    };
    let by_output = denial.reads_stdout
        && (word("/hookSpecificOutput/permissionDecision", &["deny"])
            || word("/permissionDecision", &["deny"])
            || word("/decision", &["deny", "block"])
            || word("/permission", &["deny"])
            || said.get("cancel") == Some(&Value::Bool(true)));
    by_code || by_output
}
