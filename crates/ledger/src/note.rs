//! Checkpoints: the tree's size and root as a signed note, in the form of C2SP tlog-checkpoint.

use data_encoding::BASE64;
use tagout_vocab::limits::LEDGER_PROOF_BYTES_MAX;
use thiserror::Error;

use crate::keys::{Algorithm, KeyId, SealKey, VerifierKey, cosigned_message, is_key_name};
use crate::merkle::Hash;

/// Why a text is not a checkpoint, or not one to believe.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum NoteError {
    /// It has another form.
    #[error("not a checkpoint: {detail}")]
    Form {
        /// What is wrong.
        detail: &'static str,
    },
    /// It is about another ledger.
    #[error("the checkpoint is about `{found}`, not about `{expected}`")]
    Origin {
        /// Its first line.
        found: String,
        /// The ledger's name.
        expected: String,
    },
    /// None of the given keys signed it.
    #[error("none of the given keys signed the checkpoint")]
    Unsigned,
    /// A signature claims a given key and is false.
    #[error("the signature of `{name}` is false")]
    BadSignature {
        /// The key's name.
        name: String,
    },
    /// A key can't be used.
    #[error("not a key: {detail}")]
    Key {
        /// What is wrong.
        detail: &'static str,
    },
}

/// A tree at one moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Checkpoint {
    /// The ledger's name.
    pub origin: String,
    /// How many events.
    pub size: u64,
    /// The root over them.
    pub root: Hash,
}

impl Checkpoint {
    fn body(&self) -> String {
        let Self { origin, size, root } = self;
        format!("{origin}\n{size}\n{}\n", BASE64.encode(root))
    }

    /// Signs it.
    pub fn sign(self, key: &SealKey) -> SignedCheckpoint {
        let body = self.body();
        let (id, signature) = key.sign(Algorithm::Note, body.as_bytes());
        let line = SignatureLine {
            name: key.name().to_owned(),
            id,
            payload: signature.to_bytes().to_vec(),
        };
        SignedCheckpoint {
            checkpoint: self,
            signatures: vec![line],
        }
    }
}

/// One signature as it stands under a note.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SignatureLine {
    pub(crate) name: String,
    pub(crate) id: KeyId,
    pub(crate) payload: Vec<u8>,
}

/// A checkpoint with its signatures, not yet believed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SignedCheckpoint {
    checkpoint: Checkpoint,
    signatures: Vec<SignatureLine>,
}

const SIGNATURES_MAX: usize = 64;

impl SignedCheckpoint {
    /// Reads the text form; a form that differs in one byte from what would be written is refused.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let wrong = |detail| NoteError::Form { detail };
        if text.len() > LEDGER_PROOF_BYTES_MAX {
            return Err(wrong("it is too long"));
        }
        let (body, signatures) = text.split_once("\n\n").ok_or(wrong("no blank line"))?;
        let mut lines = body.split('\n');
        let (Some(origin), Some(size), Some(root), None) =
            (lines.next(), lines.next(), lines.next(), lines.next())
        else {
            return Err(wrong("the text has not three lines"));
        };
        if !is_key_name(origin) {
            return Err(wrong("the origin is not visible ASCII without `+`"));
        }
        let number: u64 = size
            .parse()
            .map_err(|_| wrong("the size is not a number"))?;
        if number.to_string() != size {
            return Err(wrong("the size is not written plainly"));
        }
        let root = BASE64
            .decode(root.as_bytes())
            .ok()
            .and_then(|root| root.try_into().ok())
            .ok_or(wrong("the root is not 32 bytes in base64"))?;
        let signatures =
            parse_signatures(signatures).ok_or(wrong("a signature line is malformed"))?;
        Ok(Self {
            checkpoint: Checkpoint {
                origin: origin.to_owned(),
                size: number,
                root,
            },
            signatures,
        })
    }

    /// The text form.
    pub fn text(&self) -> String {
        let mut text = self.checkpoint.body();
        text.push('\n');
        for line in &self.signatures {
            let mut data = line.id.to_vec();
            data.extend(&line.payload);
            text.push_str("\u{2014} ");
            text.push_str(&line.name);
            text.push(' ');
            text.push_str(&BASE64.encode(&data));
            text.push('\n');
        }
        text
    }

    /// What it claims. Believe it only after [`Self::verified`].
    pub const fn claimed(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// The checkpoint, if it is about this ledger and one of the keys signed it.
    pub fn verified(&self, origin: &str, keys: &[VerifierKey]) -> Result<&Checkpoint, NoteError> {
        if self.checkpoint.origin != origin {
            return Err(NoteError::Origin {
                found: self.checkpoint.origin.clone(),
                expected: origin.to_owned(),
            });
        }
        let body = self.checkpoint.body();
        let mut signed = false;
        for line in &self.signatures {
            for key in keys.iter().filter(|key| key.claims(line)) {
                if !key.confirms(line, &body) {
                    return Err(NoteError::BadSignature {
                        name: line.name.clone(),
                    });
                }
                signed |= !key.is_witness();
            }
        }
        if signed {
            Ok(&self.checkpoint)
        } else {
            Err(NoteError::Unsigned)
        }
    }

    /// Whether a witness's key signed it.
    pub fn witnessed(&self, witnesses: &[VerifierKey]) -> bool {
        let body = self.checkpoint.body();
        self.signatures.iter().any(|line| {
            witnesses
                .iter()
                .any(|key| key.is_witness() && key.claims(line) && key.confirms(line, &body))
        })
    }

    /// Adds a witness's signature: it saw this checkpoint at this time.
    pub fn cosign(mut self, witness: &SealKey, time_s: u64) -> Self {
        let message = cosigned_message(time_s, &self.checkpoint.body());
        let (id, signature) = witness.sign(Algorithm::Cosignature, &message);
        let mut payload = time_s.to_be_bytes().to_vec();
        payload.extend(signature.to_bytes());
        self.signatures.push(SignatureLine {
            name: witness.name().to_owned(),
            id,
            payload,
        });
        self
    }
}

fn parse_signatures(text: &str) -> Option<Vec<SignatureLine>> {
    let lines = text.strip_suffix('\n')?.split('\n');
    let parsed = lines.map(|line| {
        let (name, data) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
        let data = BASE64.decode(data.as_bytes()).ok()?;
        let (id, payload) = data.split_first_chunk()?;
        is_key_name(name).then(|| SignatureLine {
            name: name.to_owned(),
            id: *id,
            payload: payload.to_vec(),
        })
    });
    let signatures: Vec<_> = parsed.collect::<Option<_>>()?;
    (signatures.len() <= SIGNATURES_MAX).then_some(signatures)
}

#[cfg(test)]
mod tests;
