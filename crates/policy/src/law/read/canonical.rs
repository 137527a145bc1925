//! The canonical form, `version: 1`.

use std::collections::BTreeSet;

use tagout_vocab::SideEffectLevel;

use super::context::Context;
use super::{commands, mcp, rules};
use crate::capability::{Allowance, Capability};
use crate::catalogue::{Tool, read_tool};
use crate::law::arguments::{ArgumentConstraint, ValuePattern};
use crate::law::pattern::{self, NameGlob, PatternError};
use crate::law::{
    ExtraRoot, Isolation, Layer, Limits, Network, OnFailure, Overlap, Profile, ProtectedPath,
    Publish, Restriction, RootAccess,
};
use crate::yaml::{Fields, Node};

const KEYS: [&str; 19] = [
    "version",
    "profile",
    "tools",
    "capabilities",
    "ceiling",
    "roots",
    "arguments",
    "rules",
    "mcp",
    "commands",
    "paths",
    "declare",
    "limits",
    "intents",
    "network",
    "isolation",
    "pass_through",
    "trace",
    "on_command_failure",
];
const SHELL_KEY: &str = "offer_shell_before_handshake";

pub(super) fn read(root: &Node, layer: &mut Layer, context: &mut Context) {
    let known: Vec<&str> = KEYS.into_iter().chain([SHELL_KEY]).collect();
    let Some(fields) = context.section(root, "the policy", &known) else {
        return;
    };
    version(&fields, context);
    layer.profile = profile(&fields, context);
    layer.tools = restriction(&fields, "tools", context, NameGlob::parse);
    layer.capabilities = restriction(&fields, "capabilities", context, capability);
    let levels = SideEffectLevel::ALL.map(|level| (level.as_str(), level));
    layer.ceiling = fields.word("ceiling", &levels, &mut context.problems);
    layer.roots = roots(&fields, context);
    layer.arguments = arguments(&fields, context);
    layer.rules = rules::read(&fields, context).into();
    layer.mcp = mcp::read(&fields, context);
    layer.commands = commands::read(&fields, context);
    layer.protect = protect(&fields, context);
    layer.declare = declared(&fields, context);
    layer.limits = limits(&fields, context);
    layer.overlap = overlap(&fields, context);
    user_only(&fields, layer, context);
    layer.publish = publish(&fields, context);
    let failures = [
        ("keep", OnFailure::Keep),
        ("roll_back", OnFailure::RollBack),
    ];
    layer.on_command_failure = fields.word("on_command_failure", &failures, &mut context.problems);
    layer.offer_shell_before_handshake = fields.bool(SHELL_KEY, &mut context.problems);
}

fn version(fields: &Fields<'_>, context: &mut Context) {
    let Some(node) = fields.get("version") else {
        return;
    };
    if node.as_u64() != Some(1) {
        let message = "`version` must be 1";
        let hint = "a newer form needs a newer tagout".to_owned();
        context.problems.add_with(node.at(), message, Some(hint));
    }
}

fn profile(fields: &Fields<'_>, context: &mut Context) -> Option<Profile> {
    let words = [Profile::Balanced, Profile::Strict, Profile::Observe];
    let words = words.map(|profile| (profile.as_str(), profile));
    let profile = fields.word("profile", &words, &mut context.problems)?;
    if let (Profile::Observe, Some(node)) = (profile, fields.get("profile")) {
        context.user_only(node.at(), "profile: observe", "it refuses nothing");
    }
    Some(profile)
}

/// A key that is there restricts, even to nothing; only an absent one does not.
fn restriction(
    fields: &Fields<'_>,
    name: &str,
    context: &mut Context,
    parse: impl Fn(&str) -> Result<NameGlob, PatternError>,
) -> Restriction {
    let mut restriction = Restriction::default();
    let Some(node) = fields.get(name) else {
        return restriction;
    };
    let Some(section) = context.section(node, &format!("`{name}`"), &["allow", "deny"]) else {
        return restriction;
    };
    if section.node().get("allow").is_some() {
        let items = context.list(&section, "allow");
        restriction.allow = Allowance::Only(context.patterns(items, "allow", &parse));
    }
    let items = context.list(&section, "deny");
    restriction.deny = context.patterns(items, "deny", &parse);
    restriction
}

/// A leaf of the tree, or a branch that stands for all beneath it.
fn capability(text: &str) -> Result<NameGlob, PatternError> {
    Capability::expand(text)?;
    NameGlob::parse(text)
}

/// Tools in the catalogue's own form. A role is the catalogue's alone to give.
fn declared(fields: &Fields<'_>, context: &mut Context) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    for item in context.list(fields, "declare") {
        let Some(tool) = read_tool(item, &mut context.problems) else {
            continue;
        };
        if let Some(role) = item.get("role") {
            let message = "a policy can't give a tool a role";
            context.problems.add(role.at(), message);
        }
        if tools.iter().any(|known| known.name == tool.name) {
            let message = format!("the tool `{}` is declared twice", tool.name);
            context.problems.add(item.at(), message);
        }
        tools.push(tool);
    }
    tools
}

fn roots(fields: &Fields<'_>, context: &mut Context) -> Vec<ExtraRoot> {
    let mut roots: Vec<ExtraRoot> = Vec::new();
    for item in context.list(fields, "roots") {
        let Some(root) = root(item, context) else {
            continue;
        };
        if roots.iter().any(|known| known.name == root.name) {
            let message = format!("the root `{}` is named twice", root.name);
            context.problems.add(item.at(), message);
            continue;
        }
        roots.push(root);
    }
    roots
}

fn root(item: &Node, context: &mut Context) -> Option<ExtraRoot> {
    let section = context.section(item, "a root", &["name", "path", "access"])?;
    let name = context.required(&section, "name")?;
    let path = context.required(&section, "path")?;
    let at = section.get("path").map_or(item.at(), Node::at);
    if name.is_empty()
        || !name
            .chars()
            .all(|c| c.is_alphanumeric() || "-_.".contains(c))
    {
        let message = "a root's name holds letters, digits and `-_.` only";
        context.problems.add(item.at(), message);
    }
    if !is_folder(path) || path.trim_matches('/').is_empty() {
        let message = "a root's path must be absolute, without `..`, and not the whole file system";
        context.problems.add(at, message);
    }
    let words = [("read", RootAccess::Read), ("write", RootAccess::Write)];
    let access = section.word("access", &words, &mut context.problems);
    Some(ExtraRoot {
        name: name.to_owned(),
        path: path.to_owned(),
        access: access.unwrap_or(RootAccess::Read),
    })
}

fn is_folder(path: &str) -> bool {
    path.starts_with('/')
        && !path.split('/').any(|segment| segment == "..")
        && !path.contains(char::is_control)
        && path.len() <= tagout_vocab::limits::PATH_BYTES_MAX
}

fn arguments(fields: &Fields<'_>, context: &mut Context) -> Vec<ArgumentConstraint> {
    let items = context.list(fields, "arguments");
    items
        .iter()
        .filter_map(|item| argument(item, context))
        .collect()
}

fn argument(item: &Node, context: &mut Context) -> Option<ArgumentConstraint> {
    let known = [
        "tool", "key", "path", "exact", "prefix", "optional", "reason",
    ];
    let section = context.section(item, "an argument constraint", &known)?;
    let tool = context.required(&section, "tool")?;
    let key = context.required(&section, "key")?;
    let tool_node = section.get("tool")?;
    let tool = context.pattern(tool_node, "tool", |_| NameGlob::parse(tool))?;
    let mut any_of: Vec<ValuePattern> = Vec::new();
    let paths = context.one_or_many(&section, "path");
    let path = |text: &str| pattern::path(text).map(ValuePattern::Path);
    any_of.extend(context.patterns::<_, Vec<_>>(paths, "path", path));
    let exact = context.one_or_many(&section, "exact");
    let exact_text = |text: &str| Ok(ValuePattern::Exact(text.to_owned()));
    any_of.extend(context.patterns::<_, Vec<_>>(exact, "exact", exact_text));
    let prefix = context.one_or_many(&section, "prefix");
    let prefix_text = |text: &str| match text {
        "" => Err(PatternError::Empty),
        text => Ok(ValuePattern::Prefix(text.to_owned())),
    };
    any_of.extend(context.patterns::<_, Vec<_>>(prefix, "prefix", prefix_text));
    if any_of.is_empty() {
        let message = "an argument constraint needs `path`, `exact` or `prefix`";
        let hint = "to forbid the tool, list it under `tools.deny`".to_owned();
        context.problems.add_with(item.at(), message, Some(hint));
    }
    Some(ArgumentConstraint {
        tool,
        key: key.to_owned(),
        any_of,
        optional: section
            .bool("optional", &mut context.problems)
            .unwrap_or(false),
        reason: reason(&section, context),
    })
}

pub(super) fn reason(section: &Fields<'_>, context: &mut Context) -> Option<String> {
    section
        .text("reason", &mut context.problems)
        .map(str::to_owned)
}

fn protect(fields: &Fields<'_>, context: &mut Context) -> Vec<ProtectedPath> {
    let Some(node) = fields.get("paths") else {
        return Vec::new();
    };
    let Some(section) = context.section(node, "`paths`", &["protect"]) else {
        return Vec::new();
    };
    let items = context.list(&section, "protect");
    let read = |item: &Node| protected(item, context);
    items.iter().filter_map(read).collect()
}

fn protected(item: &Node, context: &mut Context) -> Option<ProtectedPath> {
    if item.as_map().is_none() {
        let pattern = context.pattern(item, "protect", pattern::path)?;
        return Some(ProtectedPath {
            pattern,
            reason: None,
        });
    }
    let section = context.section(item, "a protected path", &["path", "reason"])?;
    context.required(&section, "path")?;
    let pattern = context.pattern(section.get("path")?, "path", pattern::path)?;
    let reason = reason(&section, context);
    Some(ProtectedPath { pattern, reason })
}

fn limits(fields: &Fields<'_>, context: &mut Context) -> Limits {
    let Some(node) = fields.get("limits") else {
        return Limits::default();
    };
    let known = ["repeat_limit", "calls", "minutes"];
    let Some(section) = context.section(node, "`limits`", &known) else {
        return Limits::default();
    };
    let repeat = section.u64("repeat_limit", &mut context.problems);
    let repeat_max = repeat.and_then(|times| u32::try_from(times).ok());
    if let (Some(node), Some(0) | None) = (section.get("repeat_limit"), repeat_max)
        && repeat.is_some()
    {
        let message = format!("`repeat_limit` must lie between 1 and {}", u32::MAX);
        context.problems.add(node.at(), message);
    }
    Limits {
        repeat_max,
        calls_max: section.u64("calls", &mut context.problems),
        minutes_max: section.u64("minutes", &mut context.problems),
    }
}

fn overlap(fields: &Fields<'_>, context: &mut Context) -> Option<Overlap> {
    let section = context.section(fields.get("intents")?, "`intents`", &["overlap"])?;
    let words = [("deny", Overlap::Deny), ("ask", Overlap::Ask)];
    section.word("overlap", &words, &mut context.problems)
}

fn publish(fields: &Fields<'_>, context: &mut Context) -> Option<Publish> {
    let section = context.section(fields.get("trace")?, "`trace`", &["publish"])?;
    let words = [
        ("at_once", Publish::AtOnce),
        ("on_commit", Publish::OnCommit),
    ];
    section.word("publish", &words, &mut context.problems)
}

fn user_only(fields: &Fields<'_>, layer: &mut Layer, context: &mut Context) {
    let why = [
        ("network", "it opens the network to every call"),
        ("isolation", "it accepts weaker walls"),
        ("pass_through", "changes there can't be undone"),
    ];
    for (key, why) in why {
        if let Some(node) = fields.get(key) {
            context.user_only(node.at(), key, why);
        }
    }
    let words = [("none", Network::None), ("any", Network::Any)];
    layer.network = fields.word("network", &words, &mut context.problems);
    let levels = [
        ("none", Isolation::None),
        ("process", Isolation::Process),
        ("full", Isolation::Full),
    ];
    layer.isolation = fields.get("isolation").and_then(|node| {
        let section = context.section(node, "`isolation`", &["accept"])?;
        section.word("accept", &levels, &mut context.problems)
    });
    let folders = context.list(fields, "pass_through");
    let mut seen = BTreeSet::new();
    for item in folders {
        let text = item.as_text().unwrap_or_default();
        let inside = tagout_vocab::WorkspacePath::new(text).is_ok_and(|path| !path.is_root());
        if !(inside || (is_folder(text) && !text.trim_matches('/').is_empty())) {
            let message = "a pass-through folder is absolute or relative to the workspace, \
                           without `..`";
            context.problems.add(item.at(), message);
        } else if seen.insert(text) {
            layer.pass_through.push(text.to_owned());
        }
    }
}
