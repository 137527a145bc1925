//! A proof that one event is in the ledger: a text file that stands alone.

use data_encoding::BASE64;
use tagout_vocab::limits::LEDGER_PROOF_BYTES_MAX;
use thiserror::Error;

use crate::keys::VerifierKey;
use crate::line;
use crate::merkle::{Hash, leaf_hash, verify_inclusion};
use crate::note::{Checkpoint, NoteError, SignedCheckpoint};

const HEADER: &str = "tagout-proof/1";

/// Why a proof does not hold.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum ProofError {
    /// It has another form.
    #[error("not a proof: {detail}")]
    Form {
        /// What is wrong.
        detail: &'static str,
    },
    /// Its checkpoint can't be believed.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The event's own number is not the place it claims.
    #[error("the event calls itself another number than {index}")]
    Index {
        /// The claimed place.
        index: u64,
    },
    /// The hashes do not lead from the event to the root.
    #[error("the hashes do not lead from the event to the signed root")]
    Path,
}

/// A proof as read, not yet believed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proof {
    /// The exact line of the event, without its line feed.
    pub line: String,
    /// Its place.
    pub index: u64,
    /// The hashes from the event to the root.
    pub path: Vec<Hash>,
    /// What signs the root.
    pub checkpoint: SignedCheckpoint,
}

impl Proof {
    /// The text form.
    pub fn text(&self) -> String {
        let mut text = format!("{HEADER}\n{}\n{}\n", self.line, self.index);
        for hash in &self.path {
            text.push_str(&BASE64.encode(hash));
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&self.checkpoint.text());
        text
    }

    /// Reads the text form.
    pub fn parse(bytes: &[u8]) -> Result<Self, ProofError> {
        let wrong = |detail| ProofError::Form { detail };
        if bytes.len() > LEDGER_PROOF_BYTES_MAX {
            return Err(wrong("it is too long"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8"))?;
        let (top, note) = text.split_once("\n\n").ok_or(wrong("no blank line"))?;
        let mut lines = top.split('\n');
        if lines.next() != Some(HEADER) {
            return Err(wrong("the first line is not `tagout-proof/1`"));
        }
        let line = lines.next().ok_or(wrong("no event"))?;
        let index_text = lines.next().ok_or(wrong("no index"))?;
        let index: u64 = index_text
            .parse()
            .map_err(|_| wrong("the index is not a number"))?;
        if index.to_string() != index_text {
            return Err(wrong("the index is not written plainly"));
        }
        let path = lines
            .map(|hash| BASE64.decode(hash.as_bytes()).ok()?.try_into().ok())
            .collect::<Option<Vec<Hash>>>()
            .ok_or(wrong("a hash is not 32 bytes in base64"))?;
        Ok(Self {
            line: line.to_owned(),
            index,
            path,
            checkpoint: SignedCheckpoint::parse(note)?,
        })
    }

    /// The checkpoint that vouches for the event, if the proof holds.
    pub fn verified(&self, origin: &str, keys: &[VerifierKey]) -> Result<&Checkpoint, ProofError> {
        let checkpoint = self.checkpoint.verified(origin, keys)?;
        let head = line::head(self.line.as_bytes());
        if head.is_none_or(|head| head.seq != self.index) {
            return Err(ProofError::Index { index: self.index });
        }
        let leaf = leaf_hash(self.line.as_bytes());
        if verify_inclusion(
            &leaf,
            self.index,
            checkpoint.size,
            &self.path,
            &checkpoint.root,
        ) {
            Ok(checkpoint)
        } else {
            Err(ProofError::Path)
        }
    }
}

/// B6: checks a proof file: the proof, if a given key signed a root that holds this event.
pub fn verify_proof(bytes: &[u8], origin: &str, keys: &[VerifierKey]) -> Result<Proof, ProofError> {
    let proof = Proof::parse(bytes)?;
    proof.verified(origin, keys)?;
    Ok(proof)
}
