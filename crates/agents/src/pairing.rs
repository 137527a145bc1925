//! What ties a result to the call that was admitted, also where a client gives calls no id.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tagout_vocab::{Digest, SessionId};

use crate::json::canonical;

/// What is known of a call before and after it ran.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct PairingKey {
    /// The conversation.
    pub session: SessionId,
    /// The client's own id of the call, where it has one.
    pub call: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Digest,
}

impl PairingKey {
    /// The key of a call.
    pub fn new(
        session: SessionId,
        call: Option<String>,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Self {
        Self {
            session,
            call,
            tool: tool.to_owned(),
            arguments: digest(arguments),
        }
    }

    /// The same call with other arguments: what is kept after they were rewritten.
    pub fn with_arguments(&self, arguments: &Map<String, Value>) -> Self {
        Self {
            arguments: digest(arguments),
            ..self.clone()
        }
    }
}

fn digest(arguments: &Map<String, Value>) -> Digest {
    let text = canonical(&Value::Object(arguments.clone())).to_string();
    Digest::of_parts("hook arguments", [text.as_bytes()])
}

/// Which of the open calls, oldest first, a result belongs to.
///
/// Ids decide where both sides have them. Else equal arguments do, the oldest first; and where a
/// client or another hook changed the arguments in between, the only open call of that tool. Two
/// that could be meant are none: a wrong result is worse than a missing one.
pub fn pair(result: &PairingKey, open: &[PairingKey]) -> Option<usize> {
    let same = |key: &PairingKey| key.session == result.session && key.tool == result.tool;
    if result.call.is_some() {
        return open
            .iter()
            .position(|key| same(key) && key.call == result.call);
    }
    let candidates = || {
        let all = open.iter().enumerate();
        all.filter(|(_, key)| same(key) && key.call.is_none())
    };
    let exact = candidates().find(|(_, key)| key.arguments == result.arguments);
    let only = || {
        let mut all = candidates();
        let first = all.next();
        first.filter(|_| all.next().is_none())
    };
    exact.or_else(only).map(|(at, _)| at)
}
