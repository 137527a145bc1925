//! Whether a grant holds now: it, and every grant that it was handed on from.

use tagout_vocab::limits::DELEGATION_DEPTH_MAX;
use tagout_vocab::{GrantId, Timestamp};
use thiserror::Error;

use super::{Grant, Revocation, TrustedKeys, bytes};

/// Everything that a decision looks at.
#[derive(Clone, Copy, Debug)]
pub struct Book<'a> {
    /// The grants, from wherever they come.
    pub grants: &'a [Grant],
    /// The revocations.
    pub revocations: &'a [Revocation],
    /// Whose word counts.
    pub keys: &'a TrustedKeys,
}

/// Why a grant does not hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Error)]
pub enum Invalid {
    /// No grant of this id.
    #[error("there is no such grant")]
    Missing,
    /// Two grants of one id: nobody can say which is meant.
    #[error("two grants have this id")]
    Duplicate,
    /// No trusted key of this name may give it.
    #[error("its grantor is not trusted to give it")]
    GrantorNotTrusted,
    /// Signed by another key, or changed since.
    #[error("its signature does not fit")]
    BadSignature,
    /// Its time has not come.
    #[error("it is not valid yet")]
    NotYet,
    /// Its time is over.
    #[error("it has expired")]
    Expired,
    /// Taken back.
    #[error("it was revoked")]
    Revoked,
    /// Handed on too often, or its depth is not one more than its parent's.
    #[error("it was handed on more often than {DELEGATION_DEPTH_MAX} times")]
    TooDeep,
    /// Depth and parent contradict each other.
    #[error("its depth does not fit its parent")]
    DepthMismatch,
    /// Some capability must not be handed on.
    #[error("it hands on a capability that can't be handed on")]
    NotDelegatable,
    /// It gives capabilities that its parent does not.
    #[error("it gives more capabilities than its parent")]
    MoreCapabilities,
    /// It reaches further than its parent.
    #[error("it reaches further than its parent")]
    WiderScope,
    /// It lives longer than its parent.
    #[error("it outlives its parent")]
    OutlivesParent,
    /// Given by someone who did not hold the parent.
    #[error("its grantor does not hold its parent")]
    NotTheHolder,
    /// The parent itself does not hold.
    #[error("a grant that it comes from does not hold")]
    Parent,
}

impl<'a> Book<'a> {
    /// The first grant of an id.
    pub(super) fn find(&self, id: &GrantId) -> Option<&'a Grant> {
        self.grants.iter().find(|grant| grant.grant_id == *id)
    }

    fn only(&self, id: &GrantId) -> Result<&'a Grant, Invalid> {
        let mut found = self.grants.iter().filter(|grant| grant.grant_id == *id);
        match (found.next(), found.next()) {
            (Some(grant), None) => Ok(grant),
            (Some(_), Some(_)) => Err(Invalid::Duplicate),
            (None, _) => Err(Invalid::Missing),
        }
    }
}

/// C3: whether the grant of an earlier decision still holds.
pub fn still_valid(book: &Book<'_>, id: &GrantId, now: Timestamp) -> Result<(), Invalid> {
    valid_chain(book, book.only(id)?, now).map(|_| ())
}

/// The grant and those it comes from, nearest first, if all of them hold now.
pub(super) fn valid_chain<'a>(
    book: &Book<'a>,
    grant: &'a Grant,
    now: Timestamp,
) -> Result<Vec<&'a Grant>, Invalid> {
    book.only(&grant.grant_id)?;
    check_alone(book, grant, now)?;
    let mut chain = vec![grant];
    let mut child = grant;
    while let Some(id) = &child.parent {
        let parent = book.only(id).map_err(|_| Invalid::Parent)?;
        check_link(child, parent)?;
        check_alone(book, parent, now).map_err(|why| {
            // These two are what people wait for; naming them beats «a parent does not hold».
            if matches!(why, Invalid::Expired | Invalid::Revoked) {
                why
            } else {
                Invalid::Parent
            }
        })?;
        chain.push(parent);
        if chain.len() > DELEGATION_DEPTH_MAX + 1 {
            return Err(Invalid::TooDeep);
        }
        child = parent;
    }
    Ok(chain)
}

/// The grant and those it claims to come from, nothing checked but the length.
pub(super) fn ancestry<'a>(book: &Book<'a>, grant: &'a Grant) -> impl Iterator<Item = &'a Grant> {
    let book = *book;
    std::iter::successors(Some(grant), move |grant| {
        grant.parent.as_ref().and_then(|id| book.find(id))
    })
    .take(DELEGATION_DEPTH_MAX + 1)
}

fn check_alone(book: &Book<'_>, grant: &Grant, now: Timestamp) -> Result<(), Invalid> {
    let is_root = grant.parent.is_none();
    if is_root != (grant.depth == 0) {
        return Err(Invalid::DepthMismatch);
    }
    if usize::try_from(grant.depth).map_or(true, |depth| depth > DELEGATION_DEPTH_MAX) {
        return Err(Invalid::TooDeep);
    }
    let handed_on = (!is_root).then(|| book.keys.delegates.get(&grant.grantor));
    let candidates = [
        book.keys.authorities.get(&grant.grantor),
        handed_on.flatten(),
    ];
    let mut keys = candidates.into_iter().flatten().peekable();
    if keys.peek().is_none() {
        return Err(Invalid::GrantorNotTrusted);
    }
    let message = bytes::of_grant(grant);
    if !keys.any(|key| key.accepts(&message, &grant.signature)) {
        return Err(Invalid::BadSignature);
    }
    if book
        .revocations
        .iter()
        .any(|one| one.grant_id == grant.grant_id)
    {
        return Err(Invalid::Revoked);
    }
    if now < grant.issued_at {
        return Err(Invalid::NotYet);
    }
    if grant.expires_at.is_some_and(|end| now >= end) {
        return Err(Invalid::Expired);
    }
    Ok(())
}

/// Whether a grant may come from another: never wider, never longer, given by who held it.
pub(super) fn check_link(child: &Grant, parent: &Grant) -> Result<(), Invalid> {
    let is_holder = child.grantor == parent.grantee.to_string() || child.grantor == parent.grantor;
    let checks = [
        (
            child.depth.checked_sub(1) == Some(parent.depth),
            Invalid::DepthMismatch,
        ),
        (is_holder, Invalid::NotTheHolder),
        (
            child.capabilities.iter().all(|one| one.entry().delegatable),
            Invalid::NotDelegatable,
        ),
        (
            child.capabilities.is_subset(&parent.capabilities),
            Invalid::MoreCapabilities,
        ),
        (child.scope.is_within(&parent.scope), Invalid::WiderScope),
        (outlasts(parent, child), Invalid::OutlivesParent),
    ];
    checks
        .into_iter()
        .find(|(holds, _)| !holds)
        .map_or(Ok(()), |(_, why)| Err(why))
}

fn outlasts(parent: &Grant, child: &Grant) -> bool {
    let ends_first = match (child.expires_at, parent.expires_at) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(child), Some(parent)) => child <= parent,
    };
    ends_first && child.issued_at >= parent.issued_at
}
