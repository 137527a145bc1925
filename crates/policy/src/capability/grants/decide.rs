//! Whether someone may use capabilities now, and by which grants.

use std::collections::BTreeSet;

use tagout_vocab::limits::REFUSAL_PATHS_MAX;
use tagout_vocab::{GrantId, Timestamp, WorkspacePath};
use thiserror::Error;

use super::chain::{Book, Invalid, valid_chain};
use super::{Constraint, Grant, GrantScope, Grantee, ResourcePattern};
use crate::capability::{Allowance, Capability, NamePattern};
use crate::scope::CaseRule;

/// One thing that a capability would be used on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Resource {
    /// A path of the workspace, for the file capabilities.
    Path(WorkspacePath),
    /// A host, a program, a variable: for all others.
    Name(String),
}

/// What is known about earlier uses and about this one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage<'a> {
    /// Earlier uses: of the deciding grant and of every grant it comes from.
    pub uses: &'a [(GrantId, Timestamp)],
    /// The size of the largest file concerned; unknown refuses where a grant bounds it.
    pub file_size_bytes: Option<u64>,
}

/// What someone wants to use.
#[derive(Clone, Copy, Debug)]
pub struct GrantRequest<'a> {
    /// Every capability that is needed; what they require is added.
    pub capabilities: &'a BTreeSet<Capability>,
    /// Everyone on whose grants the request may stand: the tool, the session, its user, roles.
    pub grantees: &'a [Grantee],
    /// What they would be used on.
    pub resources: &'a [Resource],
    /// What would be done, where grants tell actions apart.
    pub action: Option<&'a str>,
    /// What is known about uses.
    pub usage: Usage<'a>,
    /// How the file system compares names.
    pub case: CaseRule,
}

/// The grants of a decision: one for each capability, with what they require.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Granted<'a> {
    /// Which grant gives which capability.
    pub by: Vec<(Capability, &'a Grant)>,
    /// Every grant that this use counts against, those handed on from included.
    pub charged: BTreeSet<GrantId>,
}

/// The RFC's three ways of saying no, and the one for capabilities that exclude each other.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum GrantDenied {
    /// Nothing was asked for, so nothing can be granted.
    #[error("no capability was asked for")]
    NothingAsked,
    /// Two capabilities exclude each other.
    #[error("`{one}` and `{other}` may not be used together")]
    Conflict {
        /// The one.
        one: Capability,
        /// The other.
        other: Capability,
    },
    /// Nobody gave it to any of the grantees.
    #[error("no grant found for `{capability}`")]
    NoGrant {
        /// Which capability.
        capability: Capability,
    },
    /// Someone did, but none of it holds.
    #[error("no valid grant found for `{capability}`{}", listed(reasons))]
    NoValidGrant {
        /// Which capability.
        capability: Capability,
        /// Each grant with what is wrong with it.
        reasons: Vec<(GrantId, Invalid)>,
    },
    /// A grant holds, but not for this.
    #[error("scope or constraints not satisfied for `{capability}` by grant `{grant}`: {why}")]
    NotSatisfied {
        /// Which capability.
        capability: Capability,
        /// The last grant that was tried.
        grant: GrantId,
        /// What it lacks.
        why: Unsatisfied,
    },
}

fn listed(reasons: &[(GrantId, Invalid)]) -> String {
    let lines = reasons.iter().map(|(id, why)| format!("; `{id}`: {why}"));
    lines.take(REFUSAL_PATHS_MAX).collect()
}

/// What a valid grant lacks for one use.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Error)]
pub enum Unsatisfied {
    /// Something it does not reach.
    #[error("it does not reach the resource")]
    Resource,
    /// It reaches only some things, and the request does not say which it wants.
    #[error("it reaches only some resources, and the request names none")]
    ResourceUnknown,
    /// Something it does not let do.
    #[error("it does not allow the action")]
    Action,
    /// Used too often.
    #[error("its rate limit is reached")]
    RateLimit,
    /// A file too large.
    #[error("the file is larger than it allows")]
    FileSize,
    /// A bound on size, and no size known.
    #[error("it bounds the file's size, which is not known")]
    FileSizeUnknown,
}

/// C2: whether the request may go ahead now.
pub fn decide<'a>(
    book: &Book<'a>,
    request: &GrantRequest<'_>,
    now: Timestamp,
) -> Result<Granted<'a>, GrantDenied> {
    let needed = Capability::closure(request.capabilities);
    if needed.is_empty() {
        return Err(GrantDenied::NothingAsked);
    }
    if let Some((one, other)) = Capability::conflict(&needed) {
        return Err(GrantDenied::Conflict { one, other });
    }
    let mut granted = Granted {
        by: Vec::new(),
        charged: BTreeSet::new(),
    };
    for capability in needed {
        check_conflicts_held(book, capability, request, now)?;
        let chain = grant_for(book, capability, request, now)?;
        granted
            .charged
            .extend(chain.iter().map(|grant| grant.grant_id.clone()));
        granted
            .by
            .extend(chain.first().map(|grant| (capability, *grant)));
    }
    Ok(granted)
}

/// Capabilities that exclude each other do so too when they come from different grants.
fn check_conflicts_held(
    book: &Book<'_>,
    capability: Capability,
    request: &GrantRequest<'_>,
    now: Timestamp,
) -> Result<(), GrantDenied> {
    let conflicts = capability.entry().conflicts;
    for grant in book.grants.iter().filter(|_| !conflicts.is_empty()) {
        let held = &grant.capabilities;
        let other = held.iter().find(|held| conflicts.contains(&held.as_str()));
        if let Some(other) = other
            && request.grantees.contains(&grant.grantee)
            && valid_chain(book, grant, now).is_ok()
        {
            return Err(GrantDenied::Conflict {
                one: capability,
                other: *other,
            });
        }
    }
    Ok(())
}

fn grant_for<'a>(
    book: &Book<'a>,
    capability: Capability,
    request: &GrantRequest<'_>,
    now: Timestamp,
) -> Result<Vec<&'a Grant>, GrantDenied> {
    let is_for = |grant: &&Grant| {
        grant.capabilities.contains(&capability) && request.grantees.contains(&grant.grantee)
    };
    let mut reasons = Vec::new();
    let mut unsatisfied = None;
    for grant in book.grants.iter().filter(is_for) {
        let chain = match valid_chain(book, grant, now) {
            Ok(chain) => chain,
            Err(why) => {
                reasons.push((grant.grant_id.clone(), why));
                continue;
            }
        };
        // Each grant on the way gives only what it gives itself.
        match chain
            .iter()
            .try_for_each(|one| satisfies(one, capability, request, now))
        {
            Ok(()) => return Ok(chain),
            Err(why) => unsatisfied = Some((grant.grant_id.clone(), why)),
        }
    }
    Err(match unsatisfied {
        Some((grant, why)) => GrantDenied::NotSatisfied {
            capability,
            grant,
            why,
        },
        None if reasons.is_empty() => GrantDenied::NoGrant { capability },
        None => GrantDenied::NoValidGrant {
            capability,
            reasons,
        },
    })
}

fn satisfies(
    grant: &Grant,
    capability: Capability,
    request: &GrantRequest<'_>,
    now: Timestamp,
) -> Result<(), Unsatisfied> {
    reaches(&grant.scope, capability, request)?;
    match (&grant.scope.actions, request.action) {
        (Allowance::Unrestricted, _) => {}
        (actions, Some(action)) if actions.permits(&NamePattern::exact(action)) => {}
        (Allowance::Only(_), _) => return Err(Unsatisfied::Action),
    }
    for constraint in &grant.constraints {
        holds(*constraint, grant, request.usage, now)?;
    }
    Ok(())
}

fn reaches(
    scope: &GrantScope,
    capability: Capability,
    request: &GrantRequest<'_>,
) -> Result<(), Unsatisfied> {
    let Allowance::Only(patterns) = &scope.resources else {
        return Ok(());
    };
    let concerns = |resource: &&Resource| match resource {
        Resource::Path(_) => capability.acts_on_paths(),
        Resource::Name(_) => !capability.acts_on_paths(),
    };
    let mut concerned = request.resources.iter().filter(concerns).peekable();
    if patterns.is_empty() {
        return Err(Unsatisfied::Resource);
    }
    if concerned.peek().is_none() {
        return Err(Unsatisfied::ResourceUnknown);
    }
    let is_reached = |resource: &Resource| {
        patterns.iter().any(|pattern| match (pattern, resource) {
            (ResourcePattern::Path(pattern), Resource::Path(path)) => {
                pattern.grants(path, request.case)
            }
            (ResourcePattern::Name(pattern), Resource::Name(name)) => pattern.matches(name),
            (ResourcePattern::Path(_), Resource::Name(_))
            | (ResourcePattern::Name(_), Resource::Path(_)) => false,
        })
    };
    if concerned.all(is_reached) {
        Ok(())
    } else {
        Err(Unsatisfied::Resource)
    }
}

fn holds(
    constraint: Constraint,
    grant: &Grant,
    usage: Usage<'_>,
    now: Timestamp,
) -> Result<(), Unsatisfied> {
    match constraint {
        Constraint::RateLimit { max, window_ms } => {
            let window = i64::try_from(window_ms).unwrap_or(i64::MAX);
            let since = now.plus_millis(window.saturating_neg());
            // A use with a time in the future counts: a clock that ran back must not refill.
            let recent = usage
                .uses
                .iter()
                .filter(|(id, at)| *id == grant.grant_id && *at > since)
                .count();
            if u64::try_from(recent).is_ok_and(|recent| recent < max) {
                Ok(())
            } else {
                Err(Unsatisfied::RateLimit)
            }
        }
        Constraint::MaxFileSize { bytes } => match usage.file_size_bytes {
            Some(size) if size <= bytes => Ok(()),
            Some(_) => Err(Unsatisfied::FileSize),
            None => Err(Unsatisfied::FileSizeUnknown),
        },
    }
}
