//! The capability policy, whose layers only narrow (A5).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use tagout_vocab::SideEffectLevel;
use thiserror::Error;

use super::allowance::Beyond;
use super::{Allowance, ArgConstraint, Capability, NamePattern, Region, RootRegion};

/// One axis of a policy.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Which tools.
    Tool,
    /// Which capabilities.
    Capability,
    /// Where.
    Root,
    /// How far.
    Ceiling,
    /// Which tools that declare no level.
    Undeclared,
    /// With which arguments.
    Argument,
    /// What tools mean.
    Annotation,
}

impl Axis {
    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Capability => "capability",
            Self::Root => "root",
            Self::Ceiling => "ceiling",
            Self::Undeclared => "undeclared",
            Self::Argument => "argument",
            Self::Annotation => "annotation",
        }
    }
}

/// A tool judged more strictly than the catalogue does. It raises, and never lowers.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stricter {
    /// The tool reaches at least this far.
    pub level: SideEffectLevel,
    /// Capabilities that it needs besides the catalogue's.
    pub capabilities: BTreeSet<Capability>,
}

/// What may be used. Each layer only narrows the one before.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityPolicy {
    /// Tools by canonical name.
    pub tools: Allowance<NamePattern>,
    /// Capabilities of the tree.
    pub capabilities: Allowance<Capability>,
    /// Folders that calls may touch.
    pub roots: Allowance<RootRegion>,
    /// How far a tool may reach.
    pub ceiling: SideEffectLevel,
    /// Tools that may be used although they declare no level (A2).
    pub undeclared: Allowance<NamePattern>,
    /// Every one of these must hold.
    pub constraints: Vec<ArgConstraint>,
    /// Tools that are judged more strictly, by canonical name.
    pub annotations: BTreeMap<String, Stricter>,
}

/// What a layer asks for. `None` asks for nothing of its own: the ceiling's value stays.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityRequest {
    /// Tools.
    pub tools: Option<Allowance<NamePattern>>,
    /// Capabilities.
    pub capabilities: Option<Allowance<Capability>>,
    /// Folders.
    pub roots: Option<Allowance<RootRegion>>,
    /// How far.
    pub ceiling: Option<SideEffectLevel>,
    /// Tools without a level.
    pub undeclared: Option<Allowance<NamePattern>>,
    /// Constraints in addition.
    pub constraints: Vec<ArgConstraint>,
    /// Stricter readings of tools.
    pub annotations: BTreeMap<String, Stricter>,
}

/// A layer asked for more than the one above it has.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
#[error("asks for more than is allowed ({}): {what}", axis.as_str())]
pub struct Widening {
    /// On which axis.
    pub axis: Axis,
    /// What goes beyond.
    pub what: String,
}

impl CapabilityPolicy {
    /// No restriction on any axis: what intersecting changes nothing with.
    pub const fn everything() -> Self {
        Self {
            tools: Allowance::Unrestricted,
            capabilities: Allowance::Unrestricted,
            roots: Allowance::Unrestricted,
            ceiling: SideEffectLevel::MAX,
            undeclared: Allowance::Unrestricted,
            constraints: Vec::new(),
            annotations: BTreeMap::new(),
        }
    }

    /// The outermost layer: everything but tools that declare no level.
    pub fn built_in() -> Self {
        Self {
            undeclared: Allowance::nothing(),
            ..Self::everything()
        }
    }

    /// What both allow. Never wider than either.
    pub fn intersect(&self, other: &Self) -> Self {
        let mut constraints = self.constraints.clone();
        for constraint in &other.constraints {
            if !constraints.contains(constraint) {
                constraints.push(constraint.clone());
            }
        }
        constraints.sort();
        constraints.dedup();
        Self {
            tools: self.tools.intersect(&other.tools),
            capabilities: self.capabilities.intersect(&other.capabilities),
            roots: self.roots.intersect(&other.roots),
            ceiling: self.ceiling.min(other.ceiling),
            undeclared: self.undeclared.intersect(&other.undeclared),
            constraints,
            annotations: stricter_of_both(&self.annotations, &other.annotations),
        }
    }

    /// The policy of a layer beneath this one. Asking for more is an error, never a silent drop.
    pub fn narrow(&self, request: &CapabilityRequest) -> Result<Self, Widening> {
        within(Axis::Tool, request.tools.as_ref(), &self.tools)?;
        within(
            Axis::Capability,
            request.capabilities.as_ref(),
            &self.capabilities,
        )?;
        within(Axis::Root, request.roots.as_ref(), &self.roots)?;
        within(
            Axis::Undeclared,
            request.undeclared.as_ref(),
            &self.undeclared,
        )?;
        if let Some(level) = request.ceiling.filter(|level| *level > self.ceiling) {
            return Err(Widening {
                axis: Axis::Ceiling,
                what: format!("`{}` above `{}`", level.as_str(), self.ceiling.as_str()),
            });
        }
        self.annotations_within(&request.annotations)?;
        let asked = Self {
            tools: request.tools.clone().unwrap_or(Allowance::Unrestricted),
            capabilities: request
                .capabilities
                .clone()
                .unwrap_or(Allowance::Unrestricted),
            roots: request.roots.clone().unwrap_or(Allowance::Unrestricted),
            ceiling: request.ceiling.unwrap_or(SideEffectLevel::MAX),
            undeclared: request
                .undeclared
                .clone()
                .unwrap_or(Allowance::Unrestricted),
            constraints: request.constraints.clone(),
            annotations: request.annotations.clone(),
        };
        Ok(self.intersect(&asked))
    }

    /// A reading below the one above would have no effect; saying so beats dropping it.
    fn annotations_within(&self, asked: &BTreeMap<String, Stricter>) -> Result<(), Widening> {
        for (tool, reading) in asked {
            if let Some(above) = self
                .annotations
                .get(tool)
                .filter(|a| a.level > reading.level)
            {
                return Err(Widening {
                    axis: Axis::Annotation,
                    what: format!(
                        "`{tool}` as `{}`, where `{}` is set above",
                        reading.level.as_str(),
                        above.level.as_str()
                    ),
                });
            }
        }
        Ok(())
    }
}

fn within<T: Region + fmt::Display>(
    axis: Axis,
    asked: Option<&Allowance<T>>,
    ceiling: &Allowance<T>,
) -> Result<(), Widening> {
    let what = match asked.and_then(|asked| asked.beyond(ceiling)) {
        None => return Ok(()),
        Some(Beyond::Everything) => "everything".to_owned(),
        Some(Beyond::Region(region)) => format!("`{region}`"),
    };
    Err(Widening { axis, what })
}

fn stricter_of_both(
    ours: &BTreeMap<String, Stricter>,
    theirs: &BTreeMap<String, Stricter>,
) -> BTreeMap<String, Stricter> {
    let mut both = ours.clone();
    for (tool, reading) in theirs {
        let merged = both.entry(tool.clone()).or_default();
        merged.level = merged.level.max(reading.level);
        merged.capabilities.extend(&reading.capabilities);
    }
    both
}
