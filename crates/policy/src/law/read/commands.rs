//! What a policy says about command lines, with examples that are checked while it is read.

use super::canonical::reason;
use super::context::{Context, shortened};
use crate::law::pattern::{CommandLine, CommandPattern, Hit, Regex};
use crate::law::{CommandEntry, Commands};
use crate::yaml::{Fields, Node};

/// What a list of command patterns is for.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Purpose {
    /// To permit: matched narrowly, and never by a regular expression.
    Permit,
    /// To forbid: matched widely.
    Forbid,
}

pub(super) fn read(fields: &Fields<'_>, context: &mut Context) -> Commands {
    let Some(node) = fields.get("commands") else {
        return Commands::default();
    };
    let known = ["readonly", "destructive", "deny"];
    let Some(section) = context.section(node, "`commands`", &known) else {
        return Commands::default();
    };
    Commands {
        readonly: entries(&section, "readonly", Purpose::Permit, context),
        destructive: entries(&section, "destructive", Purpose::Forbid, context),
        deny: entries(&section, "deny", Purpose::Forbid, context),
    }
}

fn entries(
    section: &Fields<'_>,
    name: &str,
    purpose: Purpose,
    context: &mut Context,
) -> Vec<CommandEntry> {
    let items = context.list(section, name);
    let read = |item: &Node| entry(item, purpose, context);
    items.iter().filter_map(read).collect()
}

fn entry(item: &Node, purpose: Purpose, context: &mut Context) -> Option<CommandEntry> {
    let known: &[&str] = match purpose {
        Purpose::Permit => &["words", "reason", "examples"],
        Purpose::Forbid => &["words", "regex", "reason", "examples"],
    };
    let section = context.section(item, "a command pattern", known)?;
    let words = section.get("words");
    let regex = section.get("regex").filter(|_| purpose == Purpose::Forbid);
    let pattern = match (words, regex) {
        (Some(node), None) => words_of(node, purpose, context)?,
        (None, Some(node)) => context.pattern(node, "regex", |text| {
            Regex::anywhere(text).map(CommandPattern::Regex)
        })?,
        (Some(_), Some(_)) | (None, None) => {
            let message = match purpose {
                Purpose::Permit => "a command pattern needs `words`",
                Purpose::Forbid => "a command pattern needs `words` or `regex`, and not both",
            };
            context.problems.add(item.at(), message);
            return None;
        }
    };
    examples(&section, &pattern, purpose, context);
    let reason = reason(&section, context);
    Some(CommandEntry { pattern, reason })
}

/// Words as one text or as a list.
fn words_of(node: &Node, purpose: Purpose, context: &mut Context) -> Option<CommandPattern> {
    let text = match node.as_list() {
        None => node.as_text().map(str::to_owned),
        Some(items) => {
            let words: Option<Vec<&str>> = items.iter().map(Node::as_text).collect();
            words.map(|words| words.join(" "))
        }
    };
    let Some(text) = text else {
        let message = "`words` must be text or a list of texts";
        context.problems.add(node.at(), message);
        return None;
    };
    let pattern = match CommandPattern::words(&text) {
        Ok(pattern) => pattern,
        Err(error) => {
            let message = format!("`words` can't hold `{}`: {error}", shortened(&text));
            context.problems.add(node.at(), message);
            return None;
        }
    };
    if purpose == Purpose::Permit && !CommandLine::raw(&text).is_plain() {
        let message = "a reading command must be plain words, without operators or wildcards";
        context.problems.add(node.at(), message);
        return None;
    }
    Some(pattern)
}

fn examples(
    section: &Fields<'_>,
    pattern: &CommandPattern,
    purpose: Purpose,
    context: &mut Context,
) {
    let node = section.get("examples");
    let given = node.and_then(|node| context.section(node, "`examples`", &["match", "no_match"]));
    let mut shown = 0;
    for (list, wanted) in [("match", true), ("no_match", false)] {
        let items = given
            .as_ref()
            .map_or(&[][..], |given| context.list(given, list));
        for item in items {
            let Some(line) = context.pattern(item, list, |text| Ok(text.to_owned())) else {
                continue;
            };
            let line = CommandLine::raw(&line);
            let matches = match purpose {
                Purpose::Permit => pattern.permits(&line),
                Purpose::Forbid => pattern.forbids(&line) != Hit::No,
            };
            if matches != wanted {
                let verb = if wanted {
                    "should match but does not"
                } else {
                    "should not match but does"
                };
                let message = format!("the example `{}` {verb}", shortened(line.line()));
                context.problems.add(item.at(), message);
            }
            shown += usize::from(wanted);
        }
    }
    if purpose == Purpose::Permit && shown == 0 {
        let message = "a reading command needs an example that matches";
        let hint = "add `examples: { match: [...] }`".to_owned();
        context
            .problems
            .add_with(section.node().at(), message, Some(hint));
    }
}
