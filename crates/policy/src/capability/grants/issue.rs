//! Giving a grant, and handing one on. The key is passed in; nothing here makes one.

use std::collections::BTreeSet;

use ed25519_dalek::{Signer as _, SigningKey};
use tagout_vocab::limits::DELEGATION_DEPTH_MAX;
use tagout_vocab::{GrantId, Timestamp};
use thiserror::Error;

use super::chain::{self, Invalid};
use super::{Constraint, Grant, GrantScope, Grantee, SignatureBytes, bytes};
use crate::capability::Capability;

/// What someone wants to give.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Draft {
    /// The id of the new grant.
    pub grant_id: GrantId,
    /// What to give.
    pub capabilities: BTreeSet<Capability>,
    /// To whom.
    pub grantee: Grantee,
    /// By whom.
    pub grantor: String,
    /// On what, doing what.
    pub scope: GrantScope,
    /// Under which conditions.
    pub constraints: Vec<Constraint>,
    /// From when.
    pub issued_at: Timestamp,
    /// Until when.
    pub expires_at: Option<Timestamp>,
}

/// Why a grant can't be given.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum IssueError {
    /// It would give nothing.
    #[error("the grant names no capability")]
    Empty,
    /// Two of its capabilities exclude each other.
    #[error("`{one}` and `{other}` may not be held together")]
    Conflict {
        /// The one.
        one: Capability,
        /// The other.
        other: Capability,
    },
    /// It would end before it begins.
    #[error("the grant expires before it is issued")]
    Backwards,
    /// It may not be handed on like this.
    #[error("the grant can't be handed on: {source}")]
    Delegation {
        /// Why not.
        source: Invalid,
    },
}

/// Gives and signs a grant that stands on its own.
pub fn issue(draft: Draft, key: &SigningKey) -> Result<Grant, IssueError> {
    signed(draft, None, key)
}

/// Hands a grant on and signs that: never wider, never longer, never too often.
///
/// What makes the parent itself valid is not looked at here; every use of the new grant does.
pub fn delegate(parent: &Grant, draft: Draft, key: &SigningKey) -> Result<Grant, IssueError> {
    let grant = signed(draft, Some(parent), key)?;
    let refused = |source| IssueError::Delegation { source };
    if usize::try_from(grant.depth).is_ok_and(|depth| depth <= DELEGATION_DEPTH_MAX) {
        chain::check_link(&grant, parent).map_err(refused)?;
        Ok(grant)
    } else {
        Err(refused(Invalid::TooDeep))
    }
}

fn signed(draft: Draft, parent: Option<&Grant>, key: &SigningKey) -> Result<Grant, IssueError> {
    if draft.capabilities.is_empty() {
        return Err(IssueError::Empty);
    }
    if let Some((one, other)) = Capability::conflict(&draft.capabilities) {
        return Err(IssueError::Conflict { one, other });
    }
    if draft.expires_at.is_some_and(|end| end <= draft.issued_at) {
        return Err(IssueError::Backwards);
    }
    let mut grant = Grant {
        grant_id: draft.grant_id,
        capabilities: draft.capabilities,
        grantee: draft.grantee,
        grantor: draft.grantor,
        scope: draft.scope,
        constraints: draft.constraints,
        issued_at: draft.issued_at,
        expires_at: draft.expires_at,
        parent: parent.map(|parent| parent.grant_id.clone()),
        depth: parent.map_or(0, |parent| parent.depth.saturating_add(1)),
        signature: SignatureBytes::from_bytes([0; 64]),
    };
    grant.signature = SignatureBytes::new(&key.sign(&bytes::of_grant(&grant)));
    Ok(grant)
}
