//! Approval rules, with examples that are checked while they are read.

use std::collections::BTreeSet;

use tagout_vocab::limits::RULES_MAX;
use tagout_vocab::{Class, SideEffectLevel, ToolKind, WorkspacePath};

use super::canonical::reason;
use super::context::Context;
use crate::law::pattern::{self, CommandLine, CommandPattern, NameGlob, Regex};
use crate::law::rules::{Action, Fact, Match, PathFact, Rule, Subject};
use crate::problem::suggestion;
use crate::scope::CaseRule;
use crate::yaml::{Fields, Node};

const MATCH_KEYS: [&str; 9] = [
    "tool",
    "kind",
    "side_effect",
    "class",
    "path",
    "command",
    "server",
    "mcp_tool",
    "intent",
];

pub(super) fn read(fields: &Fields<'_>, context: &mut Context) -> Vec<Rule> {
    let items = fields
        .list("rules", &mut context.problems)
        .unwrap_or_default();
    if let Some(extra) = items.get(RULES_MAX) {
        let message = format!("more than {RULES_MAX} rules");
        context.problems.add(extra.at(), message);
        return Vec::new();
    }
    let mut ids = BTreeSet::new();
    let mut rules = Vec::with_capacity(items.len());
    for item in items {
        let Some(rule) = rule(item, context) else {
            continue;
        };
        if !ids.insert(rule.id.clone()) {
            let message = format!("the rule `{}` is there twice", rule.id);
            context.problems.add(item.at(), message);
        }
        rules.push(rule);
    }
    rules
}

fn rule(item: &Node, context: &mut Context) -> Option<Rule> {
    let known = ["id", "action", "match", "reason", "examples"];
    let section = context.section(item, "a rule", &known)?;
    context.required(&section, "id")?;
    let id = context.pattern(section.get("id")?, "id", NameGlob::parse_exact)?;
    context.required(&section, "action")?;
    let actions = [Action::Allow, Action::Ask, Action::Deny];
    let actions = actions.map(|action| (action.as_str(), action));
    let action = section.word("action", &actions, &mut context.problems)?;
    let Some(node) = section.get("match") else {
        context.problems.add(item.at(), "a rule needs `match`");
        return None;
    };
    let matches = matching(node, action, context)?;
    let rule = Rule {
        id: id.as_str().to_owned(),
        action,
        matches,
        reason: reason(&section, context),
    };
    if let Some(node) = section.get("examples") {
        examples(node, &rule, context);
    }
    Some(rule)
}

fn matching(node: &Node, action: Action, context: &mut Context) -> Option<Match> {
    let section = context.section(node, "`match`", &MATCH_KEYS)?;
    let mut names = |name: &str| {
        let items = context.one_or_many(&section, name);
        context.patterns(items, name, NameGlob::parse)
    };
    let (tool, server) = (names("tool"), names("server"));
    let (mcp_tool, intent) = (names("mcp_tool"), names("intent"));
    let paths = context.one_or_many(&section, "path");
    let path = context.patterns(paths, "path", pattern::path);
    let matches = Match {
        tool,
        kind: words(&section, "kind", &kinds(), context),
        side_effect: words(&section, "side_effect", &levels(), context),
        class: words(&section, "class", &CLASSES, context),
        path,
        command: commands(&section, action, context),
        server,
        mcp_tool,
        intent,
    };
    if matches.is_empty() {
        let message = "`match` is empty, which would match every call";
        context.problems.add(node.at(), message);
        return None;
    }
    Some(matches)
}

const CLASSES: [(&str, Class); 2] = [
    (Class::Safe.as_str(), Class::Safe),
    (Class::Destructive.as_str(), Class::Destructive),
];

fn kinds() -> [(&'static str, ToolKind); 10] {
    ToolKind::ALL.map(|kind| (kind.as_str(), kind))
}

fn levels() -> [(&'static str, SideEffectLevel); 6] {
    SideEffectLevel::ALL.map(|level| (level.as_str(), level))
}

/// One or many of some words.
fn words<T: Copy + Ord>(
    section: &Fields<'_>,
    name: &str,
    valid: &[(&str, T)],
    context: &mut Context,
) -> BTreeSet<T> {
    let mut found = BTreeSet::new();
    for item in context.one_or_many(section, name) {
        let text = item.as_text().unwrap_or_default();
        if let Some((_, value)) = valid.iter().find(|(word, _)| *word == text) {
            found.insert(*value);
        } else {
            let hint = suggestion(text, valid.iter().map(|(word, _)| *word));
            let message = format!("`{name}` can't be `{text}`");
            context.problems.add_with(item.at(), message, hint);
        }
    }
    found
}

/// Command patterns: a text is the words it starts with, `{regex: …}` an expression.
fn commands(section: &Fields<'_>, action: Action, context: &mut Context) -> Vec<CommandPattern> {
    let mut found = Vec::new();
    for item in context.one_or_many(section, "command") {
        let pattern = if item.as_map().is_some() {
            let regex = context
                .section(item, "a command pattern", &["regex"])
                .and_then(|fields| fields.get("regex"));
            let Some(node) = regex else {
                context
                    .problems
                    .add(item.at(), "a command pattern needs `regex`");
                continue;
            };
            // What allows must mean the whole line; what refuses may mean any part of it.
            let parse = match action {
                Action::Allow => Regex::whole,
                Action::Ask | Action::Deny => Regex::anywhere,
            };
            context.pattern(node, "regex", |text| parse(text).map(CommandPattern::Regex))
        } else {
            context.pattern(item, "command", CommandPattern::words)
        };
        found.extend(pattern);
    }
    // Sorted, so that the order of alternatives makes no two rules of one.
    found.sort();
    found.dedup();
    found
}

fn examples(node: &Node, rule: &Rule, context: &mut Context) {
    let Some(section) = context.section(node, "`examples`", &["match", "no_match"]) else {
        return;
    };
    for (list, wanted) in [("match", true), ("no_match", false)] {
        for item in context.list(&section, list) {
            let Some(applies) = applies(item, rule, context) else {
                continue;
            };
            if applies != wanted {
                let id = &rule.id;
                let verb = if wanted {
                    "should match but does not"
                } else {
                    "should not match but does"
                };
                let message = format!("this example of the rule `{id}` {verb}");
                context.problems.add(item.at(), message);
            }
        }
    }
}

/// Whether a rule applies to an example. A field that the example leaves out is not there.
fn applies(item: &Node, rule: &Rule, context: &mut Context) -> Option<bool> {
    let section = context.section(item, "an example", &MATCH_KEYS)?;
    let kind = section.word("kind", &kinds(), &mut context.problems);
    let level = section.word("side_effect", &levels(), &mut context.problems);
    let class = section.word("class", &CLASSES, &mut context.problems);
    let mut text = |name: &str| fact(section.text(name, &mut context.problems));
    let (tool, server) = (text("tool"), text("server"));
    let (mcp_tool, intent, command) = (text("mcp_tool"), text("intent"), text("command"));
    let paths = paths(&section, context)?;
    let facts: Vec<PathFact<'_>> = paths.iter().map(PathFact::Inside).collect();
    let line = match command {
        Fact::Is(line) => Fact::Is(CommandLine::raw(line)),
        Fact::Absent => Fact::Absent,
        Fact::Unknown => Fact::Unknown,
    };
    let subject = Subject {
        tool,
        kind: fact(kind),
        level: fact(level),
        class: fact(class),
        paths: Some(&facts),
        command: line.as_ref(),
        server,
        mcp_tool,
        intent,
        case: CaseRule::Sensitive,
    };
    Some(rule.applies(&subject))
}

fn fact<T>(value: Option<T>) -> Fact<T> {
    value.map_or(Fact::Absent, Fact::Is)
}

fn paths(section: &Fields<'_>, context: &mut Context) -> Option<Vec<WorkspacePath>> {
    let items = context.one_or_many(section, "path");
    let mut paths = Vec::with_capacity(items.len());
    for item in items {
        match item.as_text().map(WorkspacePath::new) {
            Some(Ok(path)) => paths.push(path),
            Some(Err(error)) => {
                context
                    .problems
                    .add(item.at(), format!("not a path of the workspace: {error}"));
                return None;
            }
            None => {
                context.problems.add(item.at(), "`path` must hold text");
                return None;
            }
        }
    }
    Some(paths)
}
