//! Public keys and signatures, with one way to write them.

use std::collections::BTreeMap;
use std::fmt;

use ed25519_dalek::{Signature, VerifyingKey};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a text is not a key or a signature.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Error)]
pub enum KeyError {
    /// Not the hexadecimal characters that it should be.
    #[error("expected {bytes} bytes as lower-case hexadecimal characters")]
    NotHex {
        /// How many bytes.
        bytes: usize,
    },
    /// No point on the curve, or one for which anyone can sign.
    #[error("not a usable Ed25519 public key")]
    Unusable,
}

/// An Ed25519 public key that signatures can be checked with.
#[derive(Clone, Copy, Eq, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(VerifyingKey);

/// An Ed25519 signature, not checked yet.
#[derive(Clone, Copy, Eq, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SignatureBytes([u8; 64]);

impl PublicKey {
    /// Reads 64 hexadecimal characters.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let key = VerifyingKey::from_bytes(&from_hex(text)?).map_err(|_| KeyError::Unusable)?;
        Self::new(key)
    }

    /// A key that was read elsewhere. A weak one, for which anyone can sign, is refused.
    pub fn new(key: VerifyingKey) -> Result<Self, KeyError> {
        if key.is_weak() {
            return Err(KeyError::Unusable);
        }
        Ok(Self(key))
    }

    pub(super) fn accepts(&self, message: &[u8], signature: &SignatureBytes) -> bool {
        let signature = Signature::from_bytes(&signature.0);
        self.0.verify_strict(message, &signature).is_ok()
    }
}

impl SignatureBytes {
    pub(super) fn new(signature: &Signature) -> Self {
        Self(signature.to_bytes())
    }

    /// The raw bytes.
    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    /// A signature from its raw bytes.
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }
}

/// The keys that a person trusts, by the name of their owner.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedKeys {
    /// Keys that may give what they never got from anyone.
    pub authorities: BTreeMap<String, PublicKey>,
    /// Keys that may hand on what their owner holds, and nothing else. The owner is a grantee,
    /// written as `session:ID`.
    pub delegates: BTreeMap<String, PublicKey>,
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a `String` cannot fail.
        write!(text, "{byte:02x}").unwrap_or_default();
        text
    })
}

fn from_hex<const N: usize>(text: &str) -> Result<[u8; N], KeyError> {
    let refused = KeyError::NotHex { bytes: N };
    if text.len() != N * 2 {
        return Err(refused);
    }
    let nibble = |character: u8| match character {
        b'0'..=b'9' => Ok(character - b'0'),
        b'a'..=b'f' => Ok(character - b'a' + 10),
        _ => Err(refused),
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else {
            return Err(refused);
        };
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Ok(bytes)
}

impl TryFrom<String> for PublicKey {
    type Error = KeyError;
    fn try_from(text: String) -> Result<Self, KeyError> {
        Self::parse(&text)
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        to_hex(key.0.as_bytes())
    }
}

impl TryFrom<String> for SignatureBytes {
    type Error = KeyError;
    fn try_from(text: String) -> Result<Self, KeyError> {
        from_hex(&text).map(Self)
    }
}

impl From<SignatureBytes> for String {
    fn from(signature: SignatureBytes) -> Self {
        to_hex(&signature.0)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&String::from(*self))
    }
}

impl fmt::Debug for SignatureBytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&String::from(*self))
    }
}
