//! What a grant says.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use tagout_vocab::{GrantId, Timestamp};
use thiserror::Error;

use super::SignatureBytes;
use crate::capability::{Allowance, Capability, NamePattern, Region};
use crate::scope::{Pattern, PatternError};

/// What kind of thing holds a grant.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GranteeKind {
    /// A tool, by canonical name.
    Tool,
    /// A person.
    User,
    /// A role that people or agents have.
    Role,
    /// One agent conversation.
    Session,
}

impl GranteeKind {
    /// The word in a grantor's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::User => "user",
            Self::Role => "role",
            Self::Session => "session",
        }
    }
}

/// Who holds a grant.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grantee {
    /// What it is.
    pub kind: GranteeKind,
    /// Which one.
    pub id: String,
}

impl fmt::Display for Grantee {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.kind.as_str(), self.id)
    }
}

/// What a grant reaches: paths of the workspace, or names such as hosts and programs.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    try_from = "ResourceText",
    into = "ResourceText"
)]
pub enum ResourcePattern {
    /// Paths.
    Path(Pattern),
    /// Names.
    Name(NamePattern),
}

/// The form in which a resource is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResourceText {
    Path(Pattern),
    Name(NamePattern),
}

/// Why a text is not a resource.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum ResourceError {
    /// A `!` has no meaning in a list of what is given.
    #[error("`{0}` excludes; a grant lists what it gives, and nothing else is given")]
    Excludes(String),
    /// Not a pattern.
    #[error("`{text}` is no resource: {source}")]
    Pattern {
        /// The text.
        text: String,
        /// What is wrong with it.
        source: PatternError,
    },
}

impl ResourcePattern {
    /// Reads a pattern of paths.
    pub fn path(text: &str) -> Result<Self, ResourceError> {
        let pattern = Pattern::parse(text).map_err(|source| ResourceError::Pattern {
            text: text.to_owned(),
            source,
        })?;
        Self::try_from(ResourceText::Path(pattern))
    }

    /// Everything of either kind that `other` gives is given by this one, provably.
    fn includes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(ours), Self::Path(theirs)) => ours.covers(theirs),
            (Self::Name(ours), Self::Name(theirs)) => ours.covers(theirs),
            (Self::Path(_), Self::Name(_)) | (Self::Name(_), Self::Path(_)) => false,
        }
    }
}

impl TryFrom<ResourceText> for ResourcePattern {
    type Error = ResourceError;
    fn try_from(text: ResourceText) -> Result<Self, ResourceError> {
        match text {
            ResourceText::Path(pattern) if pattern.excludes() => {
                Err(ResourceError::Excludes(pattern.to_string()))
            }
            ResourceText::Path(pattern) => Ok(Self::Path(pattern)),
            ResourceText::Name(name) => Ok(Self::Name(name)),
        }
    }
}

impl From<ResourcePattern> for ResourceText {
    fn from(pattern: ResourcePattern) -> Self {
        match pattern {
            ResourcePattern::Path(pattern) => Self::Path(pattern),
            ResourcePattern::Name(name) => Self::Name(name),
        }
    }
}

/// On what, and doing what.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantScope {
    /// What it reaches. An empty list reaches nothing, unlike in the RFC.
    pub resources: Allowance<ResourcePattern>,
    /// What may be done with it. An empty list is nothing.
    pub actions: Allowance<NamePattern>,
}

impl GrantScope {
    /// Whether every part of this scope provably lies in another.
    pub fn is_within(&self, parent: &Self) -> bool {
        let resources = match (&self.resources, &parent.resources) {
            (_, Allowance::Unrestricted) => true,
            (Allowance::Unrestricted, Allowance::Only(_)) => false,
            (Allowance::Only(ours), Allowance::Only(theirs)) => ours
                .iter()
                .all(|one| theirs.iter().any(|other| other.includes(one))),
        };
        resources && self.actions.beyond(&parent.actions).is_none()
    }
}

/// A condition on every use of a grant.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Constraint {
    /// At most so many uses in any window of this length.
    RateLimit {
        /// Uses.
        max: u64,
        /// Milliseconds.
        window_ms: u64,
    },
    /// No file larger than this.
    MaxFileSize {
        /// Bytes.
        bytes: u64,
    },
}

/// C2: who may use which capabilities on what, until when, and who says so.
///
/// The fields are plain data: nothing is believed before [`super::decide`] has checked the
/// signature over all of them.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Its id, unique in a book.
    pub grant_id: GrantId,
    /// What it gives, as leaves of the tree.
    pub capabilities: BTreeSet<Capability>,
    /// Who may use it.
    pub grantee: Grantee,
    /// Who gave it: the name of a trusted key.
    pub grantor: String,
    /// On what, doing what.
    pub scope: GrantScope,
    /// Conditions on every use. All must hold, and the parent's too.
    pub constraints: Vec<Constraint>,
    /// When it was given; not valid before.
    pub issued_at: Timestamp,
    /// From when on it is not valid any more; `None` for no end of its own.
    pub expires_at: Option<Timestamp>,
    /// The grant that it was handed on from.
    pub parent: Option<GrantId>,
    /// How many times it was handed on.
    pub depth: u32,
    /// The grantor's signature over everything above.
    pub signature: SignatureBytes,
}
