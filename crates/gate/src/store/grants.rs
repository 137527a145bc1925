//! Capability grants, the key that signs them, and how often each was used.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;
use serde::{Deserialize, Serialize};
use tagout_policy::capability::grants::{Grant, PublicKey, Revocation, TrustedKeys};
use tagout_policy::judge::Grants;
use tagout_vocab::limits::RECORD_BYTES_MAX;
use tagout_vocab::{Digest, GrantId, Timestamp};
use tagout_workspace::files;

use super::Store;
use crate::error::GateError;

/// Whose key the state folder holds.
pub(crate) const OWNER: &str = "owner";

/// What was given and taken back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct GrantBook {
    pub(crate) given: Vec<Grant>,
    pub(crate) revoked: Vec<Revocation>,
}

const FOLDER: &str = "grants";

impl Store {
    fn book_path(&self) -> PathBuf {
        self.path(FOLDER, "book.json")
    }

    fn key_path(&self) -> PathBuf {
        self.path(FOLDER, "key")
    }

    pub(super) fn uses_path(&self) -> PathBuf {
        self.path(FOLDER, "uses.jsonl")
    }

    /// Makes the key that signs grants, unless there is one.
    pub(crate) fn create_grant_key(&self, seed: [u8; 32]) -> Result<(), GateError> {
        let path = self.key_path();
        if files::read(&path, RECORD_BYTES_MAX)?.is_none() {
            let text = format!("{}\n", Digest::from_bytes(seed).hex());
            files::write_atomic(&path, text.as_bytes(), Some(0o600))?;
        }
        Ok(())
    }

    pub(crate) fn grant_key(&self) -> Result<SigningKey, GateError> {
        let path = self.key_path();
        let bytes = files::read(&path, RECORD_BYTES_MAX)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let seed = Digest::parse(&format!("sha256:{}", text.trim_end()));
        let seed = seed.map_err(|_| GateError::Key { path })?;
        Ok(SigningKey::from_bytes(seed.as_bytes()))
    }

    pub(crate) fn grant_book(&self) -> Result<GrantBook, GateError> {
        Ok(Self::read(&self.book_path())?.unwrap_or_default())
    }

    pub(crate) fn change_grants(
        &self,
        change: impl FnOnce(&mut GrantBook) -> Result<(), GateError>,
    ) -> Result<(), GateError> {
        let _locked = self.lock(Path::new(FOLDER))?;
        let mut book = self.grant_book()?;
        change(&mut book)?;
        Self::write(&self.book_path(), &book)
    }

    /// The keys whose word counts here.
    pub(crate) fn trusted_keys(&self) -> Result<TrustedKeys, GateError> {
        let public = PublicKey::new(self.grant_key()?.verifying_key());
        let public = public.map_err(|_| GateError::Key {
            path: self.key_path(),
        })?;
        Ok(TrustedKeys {
            authorities: [(OWNER.to_owned(), public)].into(),
            delegates: std::collections::BTreeMap::new(),
        })
    }

    /// What the judge is told. Without any grant the key is not even read.
    pub(crate) fn grants(&self) -> Result<Grants, GateError> {
        let book = self.grant_book()?;
        if book.given.is_empty() {
            return Ok(Grants::default());
        }
        let keys = self.trusted_keys()?;
        let uses = files::read(&self.uses_path(), RECORD_BYTES_MAX)?.unwrap_or_default();
        let uses = uses
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        Ok(Grants {
            given: book.given,
            revoked: book.revoked,
            keys,
            uses,
        })
    }

    /// Notes a use of every grant that let a call through.
    pub(crate) fn note_grant_uses(
        &self,
        grants: &BTreeSet<GrantId>,
        now: Timestamp,
    ) -> Result<(), GateError> {
        let mut lines = Vec::new();
        for grant in grants {
            let used: (&GrantId, Timestamp) = (grant, now);
            lines.extend(Self::bytes(&self.uses_path(), &used)?);
        }
        if lines.is_empty() {
            return Ok(());
        }
        Ok(files::append_lines(&self.uses_path(), &lines)?)
    }
}
