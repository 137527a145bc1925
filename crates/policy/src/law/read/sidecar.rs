//! `constraints.sidecar.yaml`: tools that are blocked and files that nobody may change.

use super::context::Context;
use crate::law::pattern::{self, NameGlob};
use crate::law::{Layer, ProtectedPath};
use crate::scope::Pattern;
use crate::yaml::{Fields, Node};

pub(super) fn read(root: &Node, layer: &mut Layer, context: &mut Context) {
    let Some(fields) = Fields::of(root, "the file", &["sidecar"], &mut context.problems) else {
        return;
    };
    let Some(node) = fields.get("sidecar") else {
        context.problems.add(root.at(), "`sidecar` has no value");
        return;
    };
    let known = [
        "version",
        "architectural_constraints",
        "architecturalConstraints",
        "blocked_tools",
        "blockedTools",
        "deny_mutations",
        "denyMutations",
    ];
    let Some(section) = Fields::of(node, "`sidecar`", &known, &mut context.problems) else {
        return;
    };
    match section.get("version") {
        Some(version) if version.as_u64() != Some(1) => {
            context.problems.add(version.at(), "`version` must be 1");
        }
        Some(_) | None => {}
    }
    for name in ["architectural_constraints", "architecturalConstraints"] {
        let items = context.list(&section, name);
        let texts: Vec<String> = context.patterns(items, name, |text| Ok(text.to_owned()));
        layer.constraints.extend(texts);
    }
    for name in ["blocked_tools", "blockedTools"] {
        let items = context.list(&section, name);
        let tools: Vec<NameGlob> = context.patterns(items, name, NameGlob::parse);
        layer.tools.deny.extend(tools);
    }
    for name in ["deny_mutations", "denyMutations"] {
        for item in context.list(&section, name) {
            deny(item, layer, context);
        }
    }
}

fn deny(item: &Node, layer: &mut Layer, context: &mut Context) {
    let known = ["path_glob", "pathGlob", "reason"];
    let Some(section) = Fields::of(item, "a denied mutation", &known, &mut context.problems) else {
        return;
    };
    let Some(node) = section.get("path_glob").or_else(|| section.get("pathGlob")) else {
        context.problems.add(item.at(), "`path_glob` is missing");
        return;
    };
    let Some(pattern) = context.pattern(node, "path_glob", pattern::path) else {
        return;
    };
    let reason = super::canonical::reason(&section, context);
    // Engines that match a bare name at any depth wrote such files too; both readings deny.
    let name = pattern.as_str();
    let deeper = [format!("**/{name}"), format!("**/{name}/**")];
    let deeper = deeper
        .iter()
        .filter(|_| !name.contains('/'))
        .filter_map(|text| pattern::path(text).ok());
    let patterns: Vec<Pattern> = deeper.chain([pattern.clone()]).collect();
    layer
        .protect
        .extend(patterns.into_iter().map(|pattern| ProtectedPath {
            pattern,
            reason: reason.clone(),
        }));
}
