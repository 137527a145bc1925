//! From a client's bytes to what happened.

use serde_json::{Map, Value};
use tagout_vocab::limits::HOOK_PAYLOAD_BYTES_MAX;
use tagout_vocab::{Agent, Call, CallId, Digest, Origin, SessionId};

use crate::client::Client;
use crate::error::AgentError;
use crate::incoming::{Context, Ended, Incoming, Post, Pre, PromptFrom, What};
use crate::json;
use crate::pairing::PairingKey;
use crate::profile::{CallForm, Dialect, Ending, Event, Is, Keys, Kind, On, Subagents};
use crate::shell::shell_call;

type Payload = Map<String, Value>;

/// What a payload says, if it is what the command line claims.
///
/// The client and the event are claims that the payload has to bear out: several clients read
/// another's configuration, and a call that is read in the wrong dialect is judged wrongly. Every
/// error is to be answered with [`strongest_denial`](crate::strongest_denial).
pub fn parse(client: Client, event: &str, bytes: &[u8]) -> Result<Incoming, AgentError> {
    let (dialect, event) = client
        .dialect(event)
        .ok_or_else(|| AgentError::UnknownEvent {
            client,
            event: event.to_owned(),
        })?;
    if bytes.len() > HOOK_PAYLOAD_BYTES_MAX {
        return Err(AgentError::TooLarge { bytes: bytes.len() });
    }
    let mut payload = read(client, bytes)?;
    check(client, dialect, event, &payload)?;
    let reader = Reader {
        client,
        keys: &dialect.keys,
        event,
    };
    let (context, child) = reader.context(&payload)?;
    let what = reader.what(&mut payload, &context, child)?;
    Ok(Incoming {
        client,
        event,
        context,
        what,
        rest: payload,
    })
}

/// The same, but a payload that is without doubt that of another client which reads the same
/// configuration is read as that client's: its call is governed, not refused.
///
/// [`Incoming::client`] and [`Incoming::event`] then say whose answer has to be written.
pub fn parse_shared(client: Client, event: &str, bytes: &[u8]) -> Result<Incoming, AgentError> {
    let first = parse(client, event, bytes);
    let Err(AgentError::Mismatch {
        found: Some(other), ..
    }) = &first
    else {
        return first;
    };
    let kind = client.event(event).map(|event| event.kind);
    let same = other.events().filter(|event| Some(event.kind) == kind);
    let mut same = same.filter_map(|event| parse(*other, event.name, bytes).ok());
    match same.next() {
        Some(incoming) if other.reads_hooks_of(client) => Ok(incoming),
        Some(_) | None => first,
    }
}

/// The client whose payload this is without doubt.
pub fn recognise(bytes: &[u8]) -> Option<Client> {
    (bytes.len() <= HOOK_PAYLOAD_BYTES_MAX)
        .then(|| json::object(bytes).ok())
        .flatten()
        .and_then(|payload| owner(&payload))
}

fn read(client: Client, bytes: &[u8]) -> Result<Payload, AgentError> {
    let first = json::object(bytes);
    let read = match first {
        Err(_) if client.profile().raw_controls => json::object(&json::repaired(bytes)),
        Ok(_) | Err(_) => first,
    };
    read.map_err(|source| AgentError::Json { source })
}

fn check(
    client: Client,
    dialect: &Dialect,
    event: &'static Event,
    payload: &Payload,
) -> Result<(), AgentError> {
    let Some(what) = misfit(dialect, event, payload) else {
        return Ok(());
    };
    let found = owner(payload).filter(|other| *other != client);
    Err(AgentError::Mismatch {
        client,
        event: event.name,
        what,
        found,
    })
}

/// What does not fit between an event and a payload.
fn misfit(dialect: &Dialect, event: &Event, payload: &Payload) -> Option<String> {
    let named = json::text(payload, dialect.keys.event);
    let is_named = match named {
        Some(name) => name == event.wire || name == event.name,
        None => !dialect.tells_event,
    };
    if !is_named {
        return Some(named.map_or_else(
            || "it does not name its event".to_owned(),
            |name| format!("it is a `{name}`"),
        ));
    }
    for mark in dialect.marks {
        let counts = match mark.on {
            On::Every => true,
            On::Tools => event.kind.is_tool(),
            On::Runs => event.kind.is_tool() && event.kind != Kind::Permission,
        };
        let is = if json::at(payload, mark.way).is_some() {
            Is::There
        } else {
            Is::Absent
        };
        if counts && is != mark.is {
            let way = mark.way;
            return Some(match mark.is {
                Is::There => format!("it has no `{way}`"),
                Is::Absent => format!("it has a `{way}`"),
            });
        }
    }
    let early = matches!(event.kind, Kind::Pre | Kind::Permission);
    let has_result = json::first(payload, dialect.keys.output).is_some();
    (early && has_result).then(|| "it already has a result".to_owned())
}

/// The one client to which a payload fits.
fn owner(payload: &Payload) -> Option<Client> {
    let fits = |client: &&Client| {
        client.profile().dialects.iter().any(|dialect| {
            let mut events = dialect.events.iter();
            events.any(|event| misfit(dialect, event, payload).is_none())
        })
    };
    let mut all = Client::ALL.iter().filter(fits);
    let first = all.next().copied();
    first.filter(|_| all.next().is_none())
}

struct Reader<'a> {
    client: Client,
    keys: &'a Keys,
    event: &'static Event,
}

impl Reader<'_> {
    fn missing(&self, what: &'static str) -> AgentError {
        AgentError::Missing {
            client: self.client,
            what,
        }
    }

    fn session(&self, parts: &[&str]) -> Result<SessionId, AgentError> {
        let text = format!("{}:{}", self.client, parts.join("/"));
        SessionId::new(&text).map_err(|source| AgentError::Id {
            client: self.client,
            what: "session",
            source,
        })
    }

    /// The context, and the subagent's conversation where the event is about one.
    fn context(&self, payload: &Payload) -> Result<(Context, Option<SessionId>), AgentError> {
        let text = |ways| json::text(payload, ways).filter(|text| !text.is_empty());
        // What changes nothing need not belong to a conversation.
        let nobody = (self.event.kind == Kind::Other).then_some("unknown");
        let id = text(self.keys.session).or(nobody);
        let id = id.ok_or_else(|| self.missing("session"))?;
        let agent = text(self.keys.agent);
        let parent = text(self.keys.parent);
        let about = matches!(self.event.kind, Kind::SubagentStart | Kind::SubagentStop);
        let own = self.session(&[id])?;
        let optional = |parts: Option<&[&str]>| parts.map(|parts| self.session(parts)).transpose();
        let (session, parent, child) = match (self.client.profile().subagents, agent) {
            (Subagents::Within, Some(agent)) if about => {
                (own, None, Some(self.session(&[id, agent])?))
            }
            (Subagents::Within, Some(agent)) => (self.session(&[id, agent])?, Some(own), None),
            (Subagents::Own, agent) => {
                let child = agent.filter(|agent| about && *agent != id);
                let parent = parent.filter(|parent| *parent != id && !about);
                (
                    own,
                    optional(parent.as_ref().map(std::slice::from_ref))?,
                    optional(child.as_ref().map(std::slice::from_ref))?,
                )
            }
            (Subagents::Numbered, Some(agent)) => {
                let parent = parent
                    .map(|parent| self.session(&[id, parent]))
                    .transpose()?;
                (self.session(&[id, agent])?, parent, None)
            }
            (Subagents::Within | Subagents::Numbered, None)
            | (Subagents::Unmarked | Subagents::Bypass, _) => (own, None, None),
        };
        let owned = |ways| text(ways).map(str::to_owned);
        let context = Context {
            session,
            parent,
            cwd: owned(self.keys.cwd).unwrap_or_default(),
            model: owned(self.keys.model),
            mode: owned(self.keys.mode),
        };
        Ok((context, child))
    }

    fn what(
        &self,
        payload: &mut Payload,
        context: &Context,
        child: Option<SessionId>,
    ) -> Result<What, AgentError> {
        let text = |ways| json::text(payload, ways).map(str::to_owned);
        Ok(match self.event.kind {
            Kind::Pre | Kind::Permission => What::Pre(Box::new(self.pre(payload, context)?)),
            Kind::Post | Kind::PostFailure => What::Post(Box::new(self.post(payload, context)?)),
            Kind::Prompt => {
                let text = text(self.keys.prompt).unwrap_or_default();
                let from = self.prompt_from(payload, context, &text);
                What::Prompt { text, from }
            }
            Kind::SessionStart => What::SessionStart {
                source: text(self.keys.source),
            },
            Kind::SessionEnd => What::SessionEnd,
            Kind::SubagentStart => What::SubagentStart { child },
            Kind::SubagentStop => What::SubagentStop { child },
            Kind::Completion => What::Completion,
            Kind::ConfigChange => What::ConfigChange {
                path: text(self.keys.file),
                source: text(self.keys.source),
            },
            Kind::Other => What::Other,
        })
    }

    fn prompt_from(&self, payload: &Payload, context: &Context, text: &str) -> PromptFrom {
        let prompts = self.client.profile().prompts;
        let source = json::text(payload, self.keys.source);
        let stranger = source
            .is_some_and(|source| !prompts.people.is_empty() && !prompts.people.contains(&source));
        let own = prompts
            .own
            .iter()
            .any(|start| text.trim_start().starts_with(start));
        if context.parent.is_some() {
            PromptFrom::Parent
        } else if text.trim().is_empty() || stranger || own {
            PromptFrom::Client
        } else {
            PromptFrom::Person
        }
    }

    fn pre(&self, payload: &mut Payload, context: &Context) -> Result<Pre, AgentError> {
        let (call, key) = self.call(payload, context)?;
        let shell = shell_call(&call.arguments);
        Ok(Pre { call, key, shell })
    }

    fn post(&self, payload: &mut Payload, context: &Context) -> Result<Post, AgentError> {
        let ended = self.ended(payload);
        let changed = json::first(payload, self.keys.changed).and_then(Value::as_array);
        let changed = changed.into_iter().flatten();
        let changed = changed
            .filter_map(|path| path.as_str().map(str::to_owned))
            .collect();
        let background = json::text(payload, self.keys.background).map(str::to_owned);
        let (call, key) = self.call(payload, context)?;
        let output = json::take(payload, self.keys.output);
        Ok(Post {
            call,
            key,
            ended,
            output,
            changed,
            background,
        })
    }

    fn ended(&self, payload: &Payload) -> Ended {
        let failed = |way: &[&str]| {
            let value = json::first(payload, way);
            let text = value.and_then(|value| {
                value
                    .as_str()
                    .or_else(|| value.get("message").and_then(Value::as_str))
            });
            let message = text.unwrap_or_default().to_owned();
            let is_word = |(way, word): (&str, &str)| {
                json::text(payload, &[way]).is_some_and(|is| is == word)
            };
            if self.keys.refused.is_some_and(is_word) {
                return Ended::Refused { message };
            }
            Ended::Failed { message }
        };
        if self.event.kind == Kind::PostFailure {
            return failed(self.keys.error);
        }
        match self.event.ended {
            Ending::Success => Ended::Succeeded,
            Ending::Untold => Ended::Unknown,
            Ending::Flag(way) => match json::at(payload, way).and_then(Value::as_bool) {
                Some(true) => Ended::Succeeded,
                Some(false) => failed(self.keys.error),
                None => Ended::Unknown,
            },
            Ending::Exit(way) => match json::at(payload, way).map(Value::as_i64) {
                None | Some(Some(0)) => Ended::Succeeded,
                Some(Some(code)) => Ended::Failed {
                    message: format!("exit code {code}"),
                },
                Some(None) => Ended::Unknown,
            },
            Ending::Error(way) => match json::at(payload, way) {
                Some(_) => failed(&[way]),
                None => Ended::Unknown,
            },
        }
    }

    fn call(
        &self,
        payload: &mut Payload,
        context: &Context,
    ) -> Result<(Call, PairingKey), AgentError> {
        let (origin, tool) = self.tool(payload)?;
        let own_id = json::text(payload, self.keys.call).map(str::to_owned);
        let arguments = self.arguments(payload)?;
        let key = PairingKey::new(context.session.clone(), own_id, &tool, &arguments);
        let call = Call {
            id: self.call_id(&key)?,
            tool,
            origin,
            arguments,
            agent: Agent {
                name: Some(self.client.to_string()),
                model: context.model.clone(),
                parents: context.parent.iter().map(SessionId::to_string).collect(),
            },
            session: Some(context.session.clone()),
            cwd: context.cwd.clone(),
        };
        Ok((call, key))
    }

    /// An id that is the same before and after, and that no other conversation's call has: clients
    /// number their calls anew in each conversation.
    fn call_id(&self, key: &PairingKey) -> Result<Option<CallId>, AgentError> {
        let Some(own) = &key.call else {
            return Ok(None);
        };
        let parts = [key.session.as_str().as_bytes(), own.as_bytes()];
        let hex = Digest::of_parts("hook call", parts).hex();
        let id = CallId::new(&format!(
            "{}:{}",
            self.client,
            hex.get(..32).unwrap_or(&hex)
        ));
        id.map(Some).map_err(|source| AgentError::Id {
            client: self.client,
            what: "call",
            source,
        })
    }

    fn tool(&self, payload: &Payload) -> Result<(Origin, String), AgentError> {
        let client = Origin::Client {
            client: self.client.to_string(),
        };
        match self.event.call {
            CallForm::Event { tool, .. } | CallForm::Inline { tool, .. } => {
                return Ok((client, tool.to_owned()));
            }
            CallForm::Named => {}
        }
        let mut names = self
            .keys
            .tool
            .iter()
            .filter_map(|way| json::text(payload, &[way]));
        let tool = names.next().filter(|name| !name.is_empty());
        let tool = tool.ok_or_else(|| self.missing("tool"))?;
        if let Some(second) = names.find(|name| *name != tool) {
            return Err(AgentError::TwoTools {
                client: self.client,
                first: tool.to_owned(),
                second: second.to_owned(),
            });
        }
        let server = json::text(payload, self.keys.server);
        let there = json::text(payload, self.keys.server_tool);
        Ok(match (server, there) {
            (Some(server), Some(there)) => (
                Origin::Mcp {
                    server: server.to_owned(),
                },
                there.to_owned(),
            ),
            (None, _) | (_, None) => (client, tool.to_owned()),
        })
    }

    fn arguments(&self, payload: &mut Payload) -> Result<Payload, AgentError> {
        if let CallForm::Inline { keys, .. } = self.event.call {
            let entry = |key: &&str| Some(((*key).to_owned(), payload.shift_remove(*key)?));
            return Ok(keys.iter().filter_map(entry).collect());
        }
        match json::take(payload, self.keys.arguments) {
            None => Ok(Payload::new()),
            Some(Value::Object(map)) => Ok(map),
            Some(Value::String(text)) => {
                json::object(text.as_bytes()).map_err(|_| self.missing("arguments"))
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
                Err(self.missing("arguments"))
            }
        }
    }
}
