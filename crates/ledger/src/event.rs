//! Events: what the ledger says about one step, as plain data.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tagout_vocab::limits::ID_BYTES_MAX;
use tagout_vocab::{Digest, GrantId, IntentId, SessionId, Timestamp};

use crate::error::LedgerError;
use crate::redact::{Strength, redact, redact_json};

/// L1: where one execution stands, with the names of RFC-0001.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LifecycleState {
    /// Received, not yet validated.
    Declared,
    /// Its input conforms.
    Validated,
    /// Its capabilities are granted.
    Authorized,
    /// It runs.
    Executing,
    /// It finished well.
    Completed,
    /// It failed.
    Failed,
    /// It was refused.
    Denied,
    /// It was ended.
    Aborted,
    /// Its changes were reverted.
    RolledBack,
}

impl LifecycleState {
    /// All nine.
    pub const ALL: [Self; 9] = [
        Self::Declared,
        Self::Validated,
        Self::Authorized,
        Self::Executing,
        Self::Completed,
        Self::Failed,
        Self::Denied,
        Self::Aborted,
        Self::RolledBack,
    ];

    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "DECLARED",
            Self::Validated => "VALIDATED",
            Self::Authorized => "AUTHORIZED",
            Self::Executing => "EXECUTING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Denied => "DENIED",
            Self::Aborted => "ABORTED",
            Self::RolledBack => "ROLLED_BACK",
        }
    }

    /// The state of a wire name, if it is one.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)+) => {
        /// What an event is about. Readers keep words they don't know.
        #[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[$doc])* $variant,)+
            /// A word that this version does not know: lower-case letters, digits, `_` and `.`.
            Other(Word),
        }

        impl Kind {
            /// The wire name.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => &word.0,
                }
            }

            /// The kind of a wire name, if it can be one.
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => Word::new(word).map(Self::Other),
                }
            }
        }
    };
}

kinds! {
    /// One transition of an execution (RFC-0001 §8.1).
    Lifecycle = "lifecycle",
    /// A session's state, intent or view of a file changed.
    Session = "session",
    /// An intent was created, selected, completed, released or proposed.
    Intent = "intent",
    /// An approval was asked for, given, refused or used.
    Approval = "approval",
    /// A law was accepted.
    Law = "law",
    /// A capability grant was issued, delegated or revoked.
    Grant = "grant",
    /// A question was asked or answered.
    Question = "question",
    /// A change was taken back.
    Undo = "undo",
    /// A commit of version control holds lines of calls.
    Commit = "commit",
    /// A transaction was recovered or parked.
    Recovery = "recovery",
    /// The tree so far was signed. Written by the ledger alone.
    Seal = "seal",
    /// A torn tail was dropped. Written by the ledger alone.
    Repair = "repair",
    /// The ledger was started, or started again after a loss.
    Epoch = "epoch",
}

/// A word for a kind of event.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Word(String);

impl Word {
    fn new(text: &str) -> Option<Self> {
        let fits = (1..=64).contains(&text.len())
            && text
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.'));
        fits.then(|| Self(text.to_owned()))
    }
}

impl TryFrom<String> for Kind {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not a kind of event")
    }
}

impl From<Kind> for String {
    fn from(kind: Kind) -> Self {
        kind.as_str().to_owned()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What went wrong, in the failure types of RFC-0001 §7.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct ErrorDetails {
    /// The failure type.
    #[serde(rename = "type")]
    pub failure: String,
    /// What happened.
    pub message: String,
    /// What was being done.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<String>,
    /// Where in the code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub backtrace: Option<String>,
}

/// What an execution used.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Processor time in milliseconds.
    pub cpu_ms: u64,
    /// The most memory at once.
    pub memory_bytes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

/// A path before and after. No digest means that nothing was there.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct PathChange {
    /// The path, relative to the workspace.
    pub path: String,
    /// The content's digest before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<Digest>,
    /// The content's digest after.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<Digest>,
}

/// A salted hash: it binds to the bytes without letting anyone guess them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Commitment {
    /// The salt. Whoever has it and the bytes can open the commitment.
    pub salt: [u8; 32],
    /// What goes into the event.
    pub digest: Digest,
}

impl Commitment {
    /// The commitment to some bytes under a fresh random salt.
    pub fn new(salt: [u8; 32], bytes: &[u8]) -> Self {
        let digest = Digest::of_parts("tagout commitment v1", [salt.as_slice(), bytes]);
        Self { salt, digest }
    }

    /// Whether these bytes are the ones.
    pub fn opens(&self, bytes: &[u8]) -> bool {
        Self::new(self.salt, bytes).digest == self.digest
    }
}

/// The readable side of an event's commitments. It goes, redacted, into a store of its own.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Texts {
    /// The salt of both commitments.
    pub salt: [u8; 32],
    /// The arguments.
    pub input: Option<Value>,
    /// The result.
    pub output: Option<Value>,
}

/// An event's own id and time, which only the caller can know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stamp {
    /// A fresh id.
    pub event_id: String,
    /// Now.
    pub timestamp: Timestamp,
}

/// A tool and its version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolRef {
    /// The tool's id.
    pub id: String,
    /// Its version.
    pub version: String,
}

/// An event that is not in the ledger yet. The order of the fields is the order in the line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewEvent {
    /// What it is about.
    pub kind: Kind,
    /// When, as the clock said. The order of events is their number, not their time.
    pub timestamp: Timestamp,
    /// Its id.
    pub event_id: String,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_id: Option<String>,
    /// The tool's version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_version: Option<String>,
    /// The execution.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_id: Option<String>,
    /// Where the execution stands now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub state: Option<LifecycleState>,
    /// The person.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user_id: Option<String>,
    /// The granted capabilities.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration: Option<u64>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ErrorDetails>,
    /// Salted commitment to the arguments.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input_hash: Option<Digest>,
    /// Salted commitment to the result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output_hash: Option<Digest>,
    /// The intent it served.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub intent: Option<IntentId>,
    /// The agent's client.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<SessionId>,
    /// The code of the verdict.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict_code: Option<String>,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rule: Option<String>,
    /// Who agreed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub approver: Option<String>,
    /// The grants that the decision rests on, where capabilities had to be granted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub grants: Vec<GrantId>,
    /// What changed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub paths: Vec<PathChange>,
    /// Until when it can be taken back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undoable_until: Option<Timestamp>,
    /// What it used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<Usage>,
    /// How far the clock had gone back since the event before. Set by the ledger.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clock_back_ms: Option<u64>,
    /// What only this kind of event has to say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data: Option<Value>,
    /// The readable side of the commitments; never in the line.
    #[serde(skip)]
    pub texts: Option<Texts>,
}

impl NewEvent {
    /// An event with nothing but its kind.
    pub fn new(stamp: Stamp, kind: Kind) -> Self {
        Self {
            kind,
            timestamp: stamp.timestamp,
            event_id: stamp.event_id,
            tool_id: None,
            tool_version: None,
            execution_id: None,
            state: None,
            user_id: None,
            capabilities: Vec::new(),
            duration: None,
            error: None,
            input_hash: None,
            output_hash: None,
            intent: None,
            agent: None,
            model: None,
            session: None,
            verdict_code: None,
            rule: None,
            approver: None,
            grants: Vec::new(),
            paths: Vec::new(),
            undoable_until: None,
            usage: None,
            clock_back_ms: None,
            data: None,
            texts: None,
        }
    }

    /// L10: a transition of an execution, with everything that RFC-0001 requires of one.
    pub fn lifecycle(
        stamp: Stamp,
        tool: ToolRef,
        execution_id: String,
        state: LifecycleState,
        input_hash: Digest,
    ) -> Self {
        Self {
            tool_id: Some(tool.id),
            tool_version: Some(tool.version),
            execution_id: Some(execution_id),
            state: Some(state),
            input_hash: Some(input_hash),
            ..Self::new(stamp, Kind::Lifecycle)
        }
    }

    /// Refuses what must not get into the ledger.
    pub(crate) fn check(&self) -> Result<(), LedgerError> {
        let missing = |field| {
            let kind = self.kind.to_string();
            Err(LedgerError::EventInvalid { kind, field })
        };
        let fits = |text: &str| (1..=ID_BYTES_MAX).contains(&text.len());
        if matches!(self.kind, Kind::Seal | Kind::Repair) {
            return missing("kind");
        }
        if !fits(&self.event_id) {
            return missing("eventId");
        }
        if self.kind != Kind::Lifecycle {
            return Ok(());
        }
        let required = [
            ("toolId", self.tool_id.as_deref().is_some_and(fits)),
            (
                "toolVersion",
                self.tool_version.as_deref().is_some_and(fits),
            ),
            (
                "executionId",
                self.execution_id.as_deref().is_some_and(fits),
            ),
            ("state", self.state.is_some()),
            ("inputHash", self.input_hash.is_some()),
        ];
        let first = required.iter().find(|(_, there)| !there);
        first.map_or(Ok(()), |(field, _)| missing(field))
    }

    /// The event without secrets: free text loses whatever looks like one, the rest known shapes.
    pub(crate) fn redacted(&self) -> Self {
        let mut event = self.clone();
        event.texts = None;
        event.clock_back_ms = None;
        let full = |text: &mut String| *text = redact(text, Strength::Full);
        if let Some(error) = &mut event.error {
            full(&mut error.message);
            error.context.iter_mut().for_each(full);
            error.backtrace.iter_mut().for_each(full);
        }
        let shapes = |text: &mut String| *text = redact(text, Strength::Shapes);
        event.rule.iter_mut().for_each(shapes);
        event.approver.iter_mut().for_each(shapes);
        event.agent.iter_mut().for_each(shapes);
        event.model.iter_mut().for_each(shapes);
        for change in &mut event.paths {
            shapes(&mut change.path);
        }
        if let Some(data) = &mut event.data {
            *data = redact_json(data, Strength::Shapes);
        }
        event
    }
}

/// An event as it stands in the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its number, from zero; also its leaf in the tree.
    pub seq: u64,
    /// The hash of the event before.
    pub prev: Digest,
    /// The hash of its own exact line.
    pub hash: Digest,
    /// The format it was written in.
    pub version: u32,
    /// What it says.
    pub body: NewEvent,
    /// The exact line, without its line feed.
    pub line: Vec<u8>,
}

#[cfg(test)]
mod tests;
