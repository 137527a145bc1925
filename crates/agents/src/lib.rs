//! Both directions of every client's hook dialect, as pure functions.
//!
//! [`parse`] turns a client's bytes into a call or another event, [`reply`] turns an answer into
//! what that client reads, [`install`] says what belongs into its configuration files. What clients
//! have in common is code; where they differ is data, one table for each in `clients`. Nothing here
//! reads a file, a clock or the environment.

mod client;
mod clients;
mod error;
mod incoming;
pub mod install;
mod json;
mod pairing;
mod parse;
pub mod profile;
mod reply;
mod shell;

pub use client::Client;
pub use clients::CREDENTIALS;
pub use error::AgentError;
pub use incoming::{Context, Ended, Incoming, Post, Pre, PromptFrom, What};
pub use pairing::{PairingKey, pair};
pub use parse::{parse, parse_shared, recognise};
pub use profile::{Event, Kind, Profile};
pub use reply::{Answer, Reply, denial_for_anyone, reply, strongest_denial};
pub use shell::{ShellCall, only_starts, quoted, rewrite, shell_call};
