//! «Only these» or «everything», with nothing and everything kept apart.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A part of some axis: a name, a family of names, a folder.
///
/// Two regions of a type are nested or disjoint, never half overlapping. That is what makes the
/// common part of two lists a list again, without losing or inventing anything.
pub trait Region: Ord + Clone {
    /// Whether everything in `other` lies in this one. A region covers itself.
    fn covers(&self, other: &Self) -> bool;
}

/// «Only these» or «everything». An empty «only» is nothing, never everything (invariant 11).
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Allowance<T: Ord> {
    /// These and no others; empty means nothing.
    Only(BTreeSet<T>),
    /// No restriction on this axis.
    Unrestricted,
}

impl<T: Ord> Allowance<T> {
    /// Nothing at all.
    pub const fn nothing() -> Self {
        Self::Only(BTreeSet::new())
    }

    /// Whether nothing is allowed.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Only(regions) if regions.is_empty())
    }
}

impl<T: Ord> Default for Allowance<T> {
    /// Nothing: what nobody allowed is not allowed.
    fn default() -> Self {
        Self::nothing()
    }
}

impl<T: Region> Allowance<T> {
    /// These and no others, without the ones that another one already covers.
    pub fn only(regions: impl IntoIterator<Item = T>) -> Self {
        let all: BTreeSet<T> = regions.into_iter().collect();
        let is_widest = |region: &&T| {
            !all.iter()
                .any(|other| other != *region && other.covers(region))
        };
        Self::Only(all.iter().filter(is_widest).cloned().collect())
    }

    /// Whether a region is allowed as a whole.
    pub fn permits(&self, region: &T) -> bool {
        match self {
            Self::Unrestricted => true,
            Self::Only(regions) => regions.iter().any(|allowed| allowed.covers(region)),
        }
    }

    /// What both allow. Never wider than either; of two that share nothing it is nothing.
    pub fn intersect(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Unrestricted, Self::Unrestricted) => Self::Unrestricted,
            (Self::Unrestricted, Self::Only(regions))
            | (Self::Only(regions), Self::Unrestricted) => Self::only(regions.iter().cloned()),
            (Self::Only(ours), Self::Only(theirs)) => {
                let shared_ours = ours.iter().filter(|region| other.permits(region));
                let shared_theirs = theirs.iter().filter(|region| self.permits(region));
                Self::only(shared_ours.chain(shared_theirs).cloned())
            }
        }
    }

    /// The first thing that this one allows and `ceiling` does not; `None` when it stays within.
    pub fn beyond(&self, ceiling: &Self) -> Option<Beyond<T>> {
        match (self, ceiling) {
            (_, Self::Unrestricted) => None,
            (Self::Unrestricted, Self::Only(_)) => Some(Beyond::Everything),
            (Self::Only(regions), Self::Only(_)) => regions
                .iter()
                .find(|region| !ceiling.permits(region))
                .cloned()
                .map(Beyond::Region),
        }
    }
}

/// What goes beyond a ceiling.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Beyond<T> {
    /// The absence of any restriction.
    Everything,
    /// This region.
    Region(T),
}
