//! The two older forms of a policy file, which know no version.
//!
//! They called a line SAFE by its first words or by a regular expression, which a pipe, a
//! redirection or an option defeats. What they list becomes a candidate (see
//! [`crate::law::Law::claims_read_only`]) and nothing more.

use super::context::Context;
use super::mcp::server_tool;
use crate::law::pattern::{CommandPattern, PatternError, Regex};
use crate::law::{CommandEntry, Layer};
use crate::yaml::{Fields, Node};

/// The keys by which the older forms are known.
pub(super) const KEYS: [&str; 4] = [
    "command",
    "mcp",
    "safe_read_commands",
    "destructive_command_patterns",
];

pub(super) fn read(root: &Node, layer: &mut Layer, context: &mut Context) {
    let Some(fields) = Fields::of(root, "the policy", &KEYS, &mut context.problems) else {
        return;
    };
    if let Some(node) = fields.get("command") {
        let known = ["readonly_allowlist"];
        if let Some(section) = Fields::of(node, "`command`", &known, &mut context.problems) {
            let items = context.list(&section, "readonly_allowlist");
            layer.commands.readonly = context.patterns(items, "readonly_allowlist", |text| {
                Regex::whole(text).map(CommandPattern::Regex).map(entry)
            });
        }
    }
    if let Some(node) = fields.get("mcp") {
        mcp(node, layer, context);
    }
    let items = context.list(&fields, "safe_read_commands");
    let prefixes: Vec<CommandEntry> = context.patterns(items, "safe_read_commands", |text| {
        CommandPattern::words(text).map(entry)
    });
    layer.commands.readonly.extend(prefixes);
    let items = context.list(&fields, "destructive_command_patterns");
    layer.commands.destructive = context.patterns(items, "destructive_command_patterns", |text| {
        Regex::anywhere(text).map(CommandPattern::Regex).map(entry)
    });
}

const fn entry(pattern: CommandPattern) -> CommandEntry {
    CommandEntry {
        pattern,
        reason: None,
    }
}

fn mcp(node: &Node, layer: &mut Layer, context: &mut Context) {
    let known = ["default_classification", "readonly_tools"];
    let Some(section) = Fields::of(node, "`mcp`", &known, &mut context.problems) else {
        return;
    };
    let words = [("SAFE", true), ("DESTRUCTIVE", false)];
    let safe = section.word("default_classification", &words, &mut context.problems);
    if let (Some(true), Some(node)) = (safe, section.get("default_classification")) {
        // One word must not declare every tool of every server harmless, those of tomorrow
        // included. Refusing the file instead would take its denials with it.
        let message = "`default_classification: SAFE` is not followed: unlisted tools stay \
                       DESTRUCTIVE";
        let hint = "list the reading tools under `mcp.readonly_tools`".to_owned();
        context.warnings.add_with(node.at(), message, Some(hint));
    }
    let items = context.list(&section, "readonly_tools");
    layer.mcp.readonly_tools = context.patterns(items, "readonly_tools", legacy_tool);
}

/// The older form took `\` for `/`.
fn legacy_tool(text: &str) -> Result<String, PatternError> {
    server_tool(&text.replace('\\', "/"))
}
