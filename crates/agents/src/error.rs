//! Why a payload is not understood. Every one of these becomes a denial.

use tagout_vocab::ids::IdError;
use tagout_vocab::limits::{DOCUMENT_DEPTH_MAX, DOCUMENT_NODES_MAX, HOOK_PAYLOAD_BYTES_MAX};
use thiserror::Error;

use crate::client::Client;

/// Why a payload is not understood.
#[derive(Debug, Error)]
pub enum AgentError {
    /// A client that Tagout does not know.
    #[error("`{name}` is no client that tagout knows; see `tagout hook --help`")]
    UnknownClient {
        /// What was asked for.
        name: String,
    },
    /// An event that the client does not have.
    #[error("`{client}` has no event `{event}`; run `tagout install {client}` again")]
    UnknownEvent {
        /// The client.
        client: Client,
        /// What was asked for.
        event: String,
    },
    /// More bytes than any call has.
    #[error("the payload of {bytes} bytes is larger than {HOOK_PAYLOAD_BYTES_MAX}")]
    TooLarge {
        /// How many.
        bytes: usize,
    },
    /// Not JSON, cut off, with the same key twice, nested too deeply or with too many values.
    #[error(
        "the payload is not one JSON object without repeated keys, at most {DOCUMENT_DEPTH_MAX} \
         deep and {DOCUMENT_NODES_MAX} values large"
    )]
    Json {
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The payload is another client's, or another event's.
    #[error(
        "the payload is not a `{event}` of `{client}`: {what}; run `tagout install found --check` \
         to see which client reads whose hooks"
    )]
    Mismatch {
        /// The client on the command line.
        client: Client,
        /// The event on the command line.
        event: &'static str,
        /// What does not fit.
        what: String,
        /// The client whose payload it is without doubt.
        found: Option<Client>,
    },
    /// Something that no call can be judged without.
    #[error("the payload of `{client}` has no `{what}` that can be read")]
    Missing {
        /// The client.
        client: Client,
        /// What.
        what: &'static str,
    },
    /// An id that can't be one.
    #[error("the payload of `{client}` names a {what} that can't be one")]
    Id {
        /// The client.
        client: Client,
        /// Which.
        what: &'static str,
        /// What is wrong with it.
        source: IdError,
    },
    /// Two names for one tool in one payload.
    #[error("the payload of `{client}` names two tools, `{first}` and `{second}`")]
    TwoTools {
        /// The client.
        client: Client,
        /// One.
        first: String,
        /// The other.
        second: String,
    },
}
