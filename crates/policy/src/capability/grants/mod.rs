//! Grants of capabilities: signed, expiring, revocable, handed on at most a few times (C2, C3).
//!
//! A grant is believed because of its signature, never because of where it was found. Whoever uses
//! a capability asks [`decide`] first and [`still_valid`] at every use after that.

mod bytes;
mod chain;
mod decide;
mod issue;
mod key;
mod model;
mod revoke;

pub use chain::{Book, Invalid, still_valid};
pub use decide::{GrantDenied, GrantRequest, Granted, Resource, Unsatisfied, Usage, decide};
pub use issue::{Draft, IssueError, delegate, issue};
pub use key::{KeyError, PublicKey, SignatureBytes, TrustedKeys};
pub use model::{
    Constraint, Grant, GrantScope, Grantee, GranteeKind, ResourceError, ResourcePattern,
};
pub use revoke::{Revocation, RevocationError, revoke};

#[cfg(test)]
mod tests;
