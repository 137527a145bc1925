//! The keys that a check believes: given ones, or the workspace's own.

use std::path::Path;

use tagout_ledger::{SealKey, VerifierKey};
use tagout_vocab::limits::SIDECAR_BYTES_MAX;

use crate::failure::Failure;
use crate::site;
use crate::state::State;

/// Reads keys that were given as text or as the name of a file.
pub(crate) fn given(words: &[String]) -> Result<Vec<VerifierKey>, Failure> {
    words.iter().map(|word| one(word)).collect()
}

fn one(word: &str) -> Result<VerifierKey, Failure> {
    if let Ok(key) = VerifierKey::parse(word) {
        return Ok(key);
    }
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::invalid(format!(
            "`{word}` is neither a key nor a file with one: {why}"
        ))
        .hint("a key is written `name+id+base64`; `tagout seal` prints the workspace's own")
    };
    let bytes = site::read_bounded(Path::new(word), SIDECAR_BYTES_MAX).map_err(|e| wrong(&e))?;
    let bytes = bytes.ok_or_else(|| wrong(&"the file is too large"))?;
    VerifierKey::parse(&String::from_utf8_lossy(&bytes)).map_err(|error| wrong(&error))
}

/// The key that checks the seals of this workspace.
pub(crate) fn own(state: &State) -> Result<VerifierKey, Failure> {
    SealKey::load(&state.seal_key())
        .map(|key| key.verifier())
        .map_err(|error| {
            Failure::failed(error).hint("give the key that checks the seals with `--key`")
        })
}
