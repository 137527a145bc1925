//! What a client says, in words that no client owns.

use serde_json::{Map, Value};
use tagout_vocab::{Call, SessionId};

use crate::client::Client;
use crate::pairing::PairingKey;
use crate::profile::Event;
use crate::shell::ShellCall;

/// One event, understood.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Whose.
    pub client: Client,
    /// Which.
    pub event: &'static Event,
    /// In which conversation and where.
    pub context: Context,
    /// What happened.
    pub what: What,
    /// The rest of the payload: what nobody asked for is kept.
    pub rest: Map<String, Value>,
}

/// In which conversation and where something happened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Context {
    /// The conversation; a subagent has one of its own.
    pub session: SessionId,
    /// The conversation that started this one, where the payload tells it.
    pub parent: Option<SessionId>,
    /// The working directory as given; empty where the payload has none.
    pub cwd: String,
    /// The model, where the payload tells it.
    pub model: Option<String>,
    /// The client's own permission mode, in its own words.
    pub mode: Option<String>,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum What {
    /// A tool is about to run.
    Pre(Box<Pre>),
    /// A tool has run.
    Post(Box<Post>),
    /// Someone or something typed.
    Prompt {
        /// What.
        text: String,
        /// Who.
        from: PromptFrom,
    },
    /// A conversation begins.
    SessionStart {
        /// Why, in the client's words: `startup`, `resume`, `clear` …
        source: Option<String>,
    },
    /// A conversation ends.
    SessionEnd,
    /// A subagent begins.
    SubagentStart {
        /// Its conversation, where the payload tells it.
        child: Option<SessionId>,
    },
    /// A subagent ends.
    SubagentStop {
        /// Its conversation, where the payload tells it.
        child: Option<SessionId>,
    },
    /// The agent considers its work done.
    Completion,
    /// A settings file changed.
    ConfigChange {
        /// The file.
        path: Option<String>,
        /// Whose settings, in the client's words.
        source: Option<String>,
    },
    /// Something that changes nothing for Tagout.
    Other,
}

impl What {
    /// The call that it is about.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Self::Pre(pre) => Some(&pre.call),
            Self::Post(post) => Some(&post.call),
            Self::Prompt { .. }
            | Self::SessionStart { .. }
            | Self::SessionEnd
            | Self::SubagentStart { .. }
            | Self::SubagentStop { .. }
            | Self::Completion
            | Self::ConfigChange { .. }
            | Self::Other => None,
        }
    }

    /// The same, to be changed.
    pub fn call_mut(&mut self) -> Option<&mut Call> {
        // What has a call at all is looked at above.
        if let Self::Pre(pre) = self {
            return Some(&mut pre.call);
        }
        if let Self::Post(post) = self {
            return Some(&mut post.call);
        }
        None
    }
}

/// A tool is about to run.
#[derive(Clone, Debug)]
pub struct Pre {
    /// The call.
    pub call: Call,
    /// What ties it to its result.
    pub key: PairingKey,
    /// How it runs a command, by the shape of its arguments.
    pub shell: Option<ShellCall>,
}

/// A tool has run.
#[derive(Clone, Debug)]
pub struct Post {
    /// The call, with the arguments that the client says it used.
    pub call: Call,
    /// What ties it to what was admitted.
    pub key: PairingKey,
    /// How it ended.
    pub ended: Ended,
    /// What it returned, as far as the client tells.
    pub output: Option<Value>,
    /// The files that the client says were changed.
    pub changed: Vec<String>,
    /// What still runs in the background: the call is not over.
    pub background: Option<String>,
}

/// How a call ended, as the client says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ended {
    /// Well.
    Succeeded,
    /// Not well.
    Failed {
        /// What it said.
        message: String,
    },
    /// Not at all: a person or the client refused it before it ran.
    Refused {
        /// What was said.
        message: String,
    },
    /// It does not say.
    Unknown,
}

/// Who is behind a prompt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PromptFrom {
    /// A person, or a program that speaks for one, to the root agent.
    Person,
    /// A parent agent.
    Parent,
    /// The client itself: a notification, an empty prompt after a tool.
    Client,
}
