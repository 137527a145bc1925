//! One call against a capability policy.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use tagout_vocab::limits::REFUSAL_PATHS_MAX;
use tagout_vocab::path::Roots;
use tagout_vocab::{Code, Gate, Place, SideEffectLevel};

use super::constraint::Broken;
use super::{Allowance, Axis, Capability, CapabilityPolicy, NamePattern, RootRegion};
use crate::catalogue::Tool;
use crate::scope::CaseRule;

/// What a call would use.
#[derive(Clone, Copy, Debug)]
pub struct Use<'a> {
    /// The tool, as the catalogue knows it.
    pub tool: &'a Tool,
    /// The arguments, aliases already canonical.
    pub arguments: &'a Map<String, Value>,
    /// Every path that the call would touch, as far as it is known.
    pub targets: &'a [Place],
    /// What paths are placed against.
    pub roots: &'a Roots,
    /// The call's working directory.
    pub cwd: &'a str,
    /// How the file system compares names.
    pub case: CaseRule,
}

/// A call that the policy does not let through.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Denied {
    /// Which axis refused.
    pub axis: Axis,
    /// Why.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
    /// The paths concerned.
    pub paths: Vec<String>,
}

impl Denied {
    fn new(axis: Axis, message: String, remedy: &str) -> Self {
        Self {
            axis,
            message,
            remedy: remedy.to_owned(),
            paths: Vec::new(),
        }
    }

    /// The word that programs branch on.
    pub const fn code(&self) -> Code {
        match self.axis {
            Axis::Tool | Axis::Capability | Axis::Root => Code::CapabilityDenied,
            Axis::Ceiling | Axis::Undeclared | Axis::Annotation => Code::CeilingExceeded,
            Axis::Argument => Code::ArgConstraint,
        }
    }

    /// The check that refused.
    pub const fn gate(&self) -> Gate {
        match self.axis {
            Axis::Tool | Axis::Capability | Axis::Root => Gate::Capability,
            Axis::Ceiling | Axis::Undeclared | Axis::Annotation => Gate::Ceiling,
            Axis::Argument => Gate::Arguments,
        }
    }

    /// Whether the same tool can pass with other arguments, without anyone widening anything.
    pub const fn retryable(&self) -> bool {
        match self.axis {
            Axis::Argument | Axis::Root => true,
            Axis::Tool | Axis::Capability | Axis::Ceiling | Axis::Undeclared | Axis::Annotation => {
                false
            }
        }
    }
}

/// Whether the policy lets a call through; the first axis that does not is named.
pub fn check(policy: &CapabilityPolicy, using: &Use<'_>) -> Result<(), Denied> {
    check_tool(policy, using.tool)?;
    check_capabilities(policy, using.tool)?;
    check_ceiling(policy, using.tool)?;
    check_roots(policy, using.targets)?;
    check_arguments(policy, using)
}

fn check_tool(policy: &CapabilityPolicy, tool: &Tool) -> Result<(), Denied> {
    if policy.tools.permits(&NamePattern::exact(&tool.name)) {
        return Ok(());
    }
    Err(Denied::new(
        Axis::Tool,
        format!("the policy does not offer the tool `{}`", tool.name),
        "use another tool, or ask a person to add it to the policy's tools",
    ))
}

fn check_capabilities(policy: &CapabilityPolicy, tool: &Tool) -> Result<(), Denied> {
    let refuse = |message: String| {
        let remedy = "ask a person to grant the capability, or use a tool that needs less";
        Denied::new(Axis::Capability, message, remedy)
    };
    let mut needed = BTreeSet::new();
    for name in &tool.capabilities {
        let capability = Capability::parse(name)
            .map_err(|unknown| refuse(format!("the tool `{}` asks for {unknown}", tool.name)))?;
        needed.insert(capability);
    }
    if let Some(stricter) = policy.annotations.get(&tool.name) {
        needed.extend(&stricter.capabilities);
    }
    // A tool that changes things and names no capability has not said what it needs.
    let is_silent = needed.is_empty() && tool.level > SideEffectLevel::ReadOnly;
    if is_silent && matches!(policy.capabilities, Allowance::Only(_)) {
        let message = format!("the tool `{}` does not declare its capabilities", tool.name);
        return Err(refuse(message));
    }
    let needed = Capability::closure(&needed);
    if let Some((one, other)) = Capability::conflict(&needed) {
        let message = format!("`{one}` and `{other}` may not be used together");
        return Err(refuse(message));
    }
    match needed.iter().find(|one| !policy.capabilities.permits(one)) {
        None => Ok(()),
        Some(missing) => Err(refuse(format!(
            "the tool `{}` needs the capability `{missing}`, which the policy does not give",
            tool.name
        ))),
    }
}

fn check_ceiling(policy: &CapabilityPolicy, tool: &Tool) -> Result<(), Denied> {
    // What the policy adds raises a level, but does not stand in for a tool's own declaration.
    let is_undeclared = tool.level == SideEffectLevel::None;
    if is_undeclared && !policy.undeclared.permits(&NamePattern::exact(&tool.name)) {
        return Err(Denied::new(
            Axis::Undeclared,
            format!(
                "the tool `{}` does not declare how far it reaches",
                tool.name
            ),
            "ask a person to declare the tool's side-effect level in the policy",
        ));
    }
    let raised = policy
        .annotations
        .get(&tool.name)
        .map_or(tool.level, |stricter| stricter.level.max(tool.level));
    if raised <= policy.ceiling {
        return Ok(());
    }
    Err(Denied::new(
        Axis::Ceiling,
        format!(
            "the tool `{}` reaches `{}`, above the ceiling `{}`",
            tool.name,
            raised.as_str(),
            policy.ceiling.as_str()
        ),
        "use a tool that reaches less far, or ask a person to raise the ceiling",
    ))
}

fn check_roots(policy: &CapabilityPolicy, targets: &[Place]) -> Result<(), Denied> {
    let is_refused = |place: &&Place| match RootRegion::of(place) {
        Some(region) => !policy.roots.permits(&region),
        // What lies nowhere is within no list of roots, however long.
        None => matches!(policy.roots, Allowance::Only(_)),
    };
    let refused = targets.iter().filter(is_refused).map(Place::shown);
    let paths: Vec<String> = refused.take(REFUSAL_PATHS_MAX).collect();
    let Some(first) = paths.first() else {
        return Ok(());
    };
    let message = format!("`{first}` lies in no folder that the policy opens");
    Err(Denied {
        paths,
        ..Denied::new(
            Axis::Root,
            message,
            "stay within the policy's roots, or ask a person to add one",
        )
    })
}

fn check_arguments(policy: &CapabilityPolicy, using: &Use<'_>) -> Result<(), Denied> {
    let constraints = policy.constraints.iter();
    for constraint in constraints.filter(|one| one.tool.matches(&using.tool.name)) {
        let Err(broken) = constraint.check(using) else {
            continue;
        };
        let (why, paths) = match broken {
            Broken::Unresolved(unresolved) => (unresolved.to_string(), Vec::new()),
            Broken::Value(place) => {
                let shown = place.shown();
                (format!("`{shown}` is not in what it allows"), vec![shown])
            }
        };
        let message = format!("a constraint on `{}` refuses: {why}", constraint.tool);
        return Err(Denied {
            paths,
            ..Denied::new(
                Axis::Argument,
                message,
                "give arguments that the constraint allows, or ask a person to change it",
            )
        });
    }
    Ok(())
}
