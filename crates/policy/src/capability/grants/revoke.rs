//! Taking a grant back.

use ed25519_dalek::{Signer as _, SigningKey};
use serde::{Deserialize, Serialize};
use tagout_vocab::{GrantId, Timestamp};
use thiserror::Error;

use super::{Book, SignatureBytes, bytes, chain};

/// A grant that is taken back, with everything that was handed on from it.
///
/// A revocation in the book holds, whoever wrote it: a broken signature under one must not bring a
/// grant back to life. [`Self::verify`] is for the moment before it is put into the book.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revocation {
    /// Which grant.
    pub grant_id: GrantId,
    /// Who took it back: the name of a trusted key.
    pub revoked_by: String,
    /// When. For the record: it holds from the moment it is in the book.
    pub revoked_at: Timestamp,
    /// Why.
    pub reason: String,
    /// The signature over everything above.
    pub signature: SignatureBytes,
}

/// Why a revocation is not taken into a book.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Error)]
pub enum RevocationError {
    /// No such grant.
    #[error("there is no such grant")]
    NoGrant,
    /// The key is none of those who gave the grant, nor of those it comes from.
    #[error("only who gave a grant, or a grant it comes from, may take it back")]
    NotEntitled,
    /// The signature is not right.
    #[error("the signature does not fit")]
    BadSignature,
}

/// Signs that a grant is taken back.
pub fn revoke(
    grant_id: GrantId,
    revoked_by: &str,
    revoked_at: Timestamp,
    reason: &str,
    key: &SigningKey,
) -> Revocation {
    let mut revocation = Revocation {
        grant_id,
        revoked_by: revoked_by.to_owned(),
        revoked_at,
        reason: reason.to_owned(),
        signature: SignatureBytes::from_bytes([0; 64]),
    };
    let signature = key.sign(&bytes::of_revocation(&revocation));
    revocation.signature = SignatureBytes::new(&signature);
    revocation
}

impl Revocation {
    /// Whether someone entitled signed it. Any authority may take back anything.
    pub fn verify(&self, book: &Book<'_>) -> Result<(), RevocationError> {
        let grant = book.find(&self.grant_id).ok_or(RevocationError::NoGrant)?;
        let message = bytes::of_revocation(self);
        let fits = |key: &super::PublicKey| key.accepts(&message, &self.signature);
        let keys = book.keys;
        if let Some(key) = keys.authorities.get(&self.revoked_by)
            && fits(key)
        {
            return Ok(());
        }
        let Some(key) = keys.delegates.get(&self.revoked_by) else {
            let is_known = keys.authorities.contains_key(&self.revoked_by);
            return Err(if is_known {
                RevocationError::BadSignature
            } else {
                RevocationError::NotEntitled
            });
        };
        let is_giver = chain::ancestry(book, grant).any(|one| one.grantor == self.revoked_by);
        match (is_giver, fits(key)) {
            (true, true) => Ok(()),
            (true, false) => Err(RevocationError::BadSignature),
            (false, _) => Err(RevocationError::NotEntitled),
        }
    }
}
