//! Keys in the text forms that other transparency logs use, and the files they live in.

use std::fmt;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use data_encoding::{BASE64, HEXLOWER};
use ed25519_dalek::{Signature, Signer as _, SigningKey, Verifier as _, VerifyingKey};
use sha2::{Digest as _, Sha256};

use crate::error::{At as _, LedgerError};
use crate::note::{NoteError, SignatureLine};
use crate::place;

const KEY_BYTES_MAX: u64 = 4096;

/// The first four bytes of a hash over a key and its name: which key a signature is by.
pub(crate) type KeyId = [u8; 4];

/// What a signature is over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Algorithm {
    /// The note's text.
    Note,
    /// The note's text and the time at which a witness saw it.
    Cosignature,
}

impl Algorithm {
    const fn byte(self) -> u8 {
        match self {
            Self::Note => 1,
            Self::Cosignature => 4,
        }
    }

    const fn parse(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Note),
            4 => Some(Self::Cosignature),
            _ => None,
        }
    }
}

fn key_id(name: &str, algorithm: Algorithm, public: &[u8; 32]) -> KeyId {
    let hash: [u8; 32] = Sha256::new()
        .chain_update(name.as_bytes())
        .chain_update([b'\n', algorithm.byte()])
        .chain_update(public)
        .finalize()
        .into();
    let [a, b, c, d, ..] = hash;
    [a, b, c, d]
}

/// Whether a text can name a key: visible ASCII without `+`.
pub(crate) fn is_key_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'+')
}

/// The key that signs seals.
#[derive(Clone)]
pub struct SealKey {
    name: String,
    key: SigningKey,
}

impl fmt::Debug for SealKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SealKey({})", self.name)
    }
}

impl SealKey {
    /// A key from its name and 32 random bytes.
    pub fn new(name: &str, seed: [u8; 32]) -> Result<Self, NoteError> {
        if !is_key_name(name) {
            return Err(NoteError::Key {
                detail: "the name must be visible ASCII without `+`",
            });
        }
        Ok(Self {
            name: name.to_owned(),
            key: SigningKey::from_bytes(&seed),
        })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What others need to check this key's seals.
    pub fn verifier(&self) -> VerifierKey {
        VerifierKey {
            name: self.name.clone(),
            algorithm: Algorithm::Note,
            key: self.key.verifying_key(),
        }
    }

    /// What others need to check this key's signatures as a witness.
    pub fn witness(&self) -> VerifierKey {
        VerifierKey {
            algorithm: Algorithm::Cosignature,
            ..self.verifier()
        }
    }

    pub(crate) fn sign(&self, algorithm: Algorithm, message: &[u8]) -> (KeyId, Signature) {
        let public = self.key.verifying_key().to_bytes();
        (
            key_id(&self.name, algorithm, &public),
            self.key.sign(message),
        )
    }

    /// Writes the key into a new file that only its owner can read.
    pub fn create_file(&self, path: &Path) -> Result<(), LedgerError> {
        let public = self.key.verifying_key().to_bytes();
        let id = HEXLOWER.encode(&key_id(&self.name, Algorithm::Note, &public));
        let mut data = vec![Algorithm::Note.byte()];
        data.extend(self.key.to_bytes());
        let text = format!("PRIVATE+KEY+{}+{id}+{}\n", self.name, BASE64.encode(&data));
        let mut file = place::owner_only()
            .write(true)
            .create_new(true)
            .open(path)
            .at("create", path)?;
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .at("write", path)?;
        path.parent().map_or(Ok(()), place::sync_folder)
    }

    /// Reads a key file; one that others can read is refused.
    pub fn load(path: &Path) -> Result<Self, LedgerError> {
        let refuse = |detail: &str| LedgerError::KeyFile {
            path: path.to_owned(),
            detail: detail.to_owned(),
        };
        let file = fs::File::open(path).at("open", path)?;
        let mode = file.metadata().at("read", path)?.mode();
        if mode & 0o077 != 0 {
            return Err(refuse("others can read it (run `chmod 600` on it)"));
        }
        let mut text = String::new();
        file.take(KEY_BYTES_MAX)
            .read_to_string(&mut text)
            .at("read", path)?;
        Self::parse(text.trim_end()).ok_or_else(|| refuse("it does not hold a private key"))
    }

    fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.strip_prefix("PRIVATE+KEY+")?.split_once('+')?;
        let (id, data) = rest.split_once('+')?;
        let data = BASE64.decode(data.as_bytes()).ok()?;
        let (algorithm, seed) = data.split_first()?;
        let key = Self::new(name, seed.try_into().ok()?).ok()?;
        let public = key.key.verifying_key().to_bytes();
        let expected = HEXLOWER.encode(&key_id(name, Algorithm::Note, &public));
        (*algorithm == Algorithm::Note.byte() && expected == id).then_some(key)
    }
}

/// Where the sealing key comes from. A file is read only when a seal is due.
#[derive(Clone, Debug)]
pub enum KeySource {
    /// The key itself.
    Key(Box<SealKey>),
    /// Its file.
    File(PathBuf),
}

impl From<SealKey> for KeySource {
    fn from(key: SealKey) -> Self {
        Self::Key(Box::new(key))
    }
}

impl KeySource {
    pub(crate) fn load(&self) -> Result<SealKey, LedgerError> {
        match self {
            Self::Key(key) => Ok(key.as_ref().clone()),
            Self::File(path) => SealKey::load(path),
        }
    }
}

/// A key that checks signatures, written `name+id+base64`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifierKey {
    name: String,
    algorithm: Algorithm,
    key: VerifyingKey,
}

impl VerifierKey {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let wrong = |detail| NoteError::Key { detail };
        let mut parts = text.trim_end().splitn(3, '+');
        let (Some(name), Some(id), Some(data)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong("expected `name+id+base64`"));
        };
        let data = BASE64
            .decode(data.as_bytes())
            .map_err(|_| wrong("the third part is not base64"))?;
        let (algorithm, public) = data.split_first().ok_or(wrong("the key is empty"))?;
        let algorithm = Algorithm::parse(*algorithm).ok_or(wrong("the algorithm is not known"))?;
        let public: [u8; 32] = public
            .try_into()
            .map_err(|_| wrong("the key has not 32 bytes"))?;
        let key = VerifyingKey::from_bytes(&public)
            .map_err(|_| wrong("the bytes are not an Ed25519 key"))?;
        if !is_key_name(name) || HEXLOWER.encode(&key_id(name, algorithm, &public)) != id {
            return Err(wrong("name, id and key do not belong together"));
        }
        Ok(Self {
            name: name.to_owned(),
            algorithm,
            key,
        })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this is a witness's key.
    pub fn is_witness(&self) -> bool {
        self.algorithm == Algorithm::Cosignature
    }

    fn id(&self) -> KeyId {
        key_id(&self.name, self.algorithm, self.key.as_bytes())
    }

    /// Whether a signature line claims to be by this key.
    pub(crate) fn claims(&self, line: &SignatureLine) -> bool {
        line.name == self.name && line.id == self.id()
    }

    /// Whether a signature line that claims to be by this key is.
    pub(crate) fn confirms(&self, line: &SignatureLine, body: &str) -> bool {
        let (message, signature) = match self.algorithm {
            Algorithm::Note => (body.as_bytes().to_vec(), line.payload.as_slice()),
            Algorithm::Cosignature => {
                let Some((time, signature)) = line.payload.split_at_checked(8) else {
                    return false;
                };
                let time = time.try_into().map_or(0, u64::from_be_bytes);
                (cosigned_message(time, body), signature)
            }
        };
        Signature::from_slice(signature)
            .is_ok_and(|signature| self.key.verify(&message, &signature).is_ok())
    }
}

/// What a witness signs: that it saw this checkpoint at this time (seconds since the epoch).
pub(crate) fn cosigned_message(time_s: u64, body: &str) -> Vec<u8> {
    format!("cosignature/v1\ntime {time_s}\n{body}").into_bytes()
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut data = vec![self.algorithm.byte()];
        data.extend(self.key.to_bytes());
        let id = HEXLOWER.encode(&self.id());
        write!(formatter, "{}+{id}+{}", self.name, BASE64.encode(&data))
    }
}
