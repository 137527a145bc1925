//! The record of everything: append-only, hash-chained, sealed, verifiable by outsiders.
//!
//! The segments (`NNNNNNNN.jsonl`) are the truth. An event is one line, written once; its hash
//! is over the exact bytes, links the next line to it and is its leaf in the Merkle tree that
//! seals sign. Everything else in the folder can be rebuilt or is a convenience: the frontier of
//! the tree, the query index, the redacted texts. `docs/reference/ledger.md` specifies the bytes.

mod append;
mod bytes;
mod error;
mod event;
mod format;
mod hint;
mod index;
mod keys;
mod line;
mod merkle;
mod note;
mod place;
mod position;
mod proof;
mod query;
mod reader;
mod redact;
mod seal;
mod segment;
mod stats;
mod texts;
mod verify;

pub use append::{Appended, Durable, Ledger, Options, Repair, SealPolicy, Sealing, SyncPoint};
pub use error::LedgerError;
pub use event::{
    Commitment, ErrorDetails, Event, Kind, LifecycleState, NewEvent, PathChange, Stamp, Texts,
    ToolRef, Usage,
};
pub use format::FORMAT_VERSION;
pub use index::Index;
pub use keys::{KeySource, SealKey, VerifierKey};
pub use merkle::{
    Hash, Range, consistency_proof, inclusion_proof, leaf_hash, node_hash, verify_consistency,
    verify_inclusion,
};
pub use note::{Checkpoint, NoteError, SignedCheckpoint};
pub use place::{NetworkFileSystem, network_file_system};
pub use proof::{Proof, ProofError, verify_proof};
pub use query::Query;
pub use reader::Reader;
pub use redact::{Strength, redact, redact_json};
pub use stats::{Durations, ResourceUsage, Stats};
pub use texts::TextRecord;
pub use verify::{
    Attestation, AttestationFacts, Completeness, Integrity, Problem, ProblemKind, Report,
    VerifyOptions, verify,
};
