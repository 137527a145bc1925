//! The client's own deny and ask rules, read as a layer that only narrows.
//!
//! Where a rewrite needs an explicit allow, the client asks its own rules no more; so Tagout asks
//! them first. A rule that may apply counts as one that does, and a file that can't be read asks.

use serde_json::Value;
use tagout_vocab::Call;

use super::Texts;
use super::plan::{Narrow, Place, RuleSource, RuleSyntax};
use super::settings::setting;
use crate::client::Client;
use crate::shell::{ShellCall, shell_call};

/// One rule of a client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OwnRule {
    /// What it says.
    pub means: Narrow,
    /// The tool, as the client spells it; `None` for every tool that runs commands.
    pub tool: Option<String>,
    /// What has to be in the call.
    pub pattern: Option<String>,
    /// The file it stands in.
    pub place: Place,
}

/// The rules of a client.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OwnRules {
    /// Those that were understood.
    pub rules: Vec<OwnRule>,
    /// Files in which something was not.
    pub unreadable: Vec<Place>,
}

/// The rules of a client in the files as they are.
pub fn own_rules(client: Client, texts: &Texts) -> OwnRules {
    let mut found = OwnRules::default();
    for source in client.profile().install.rules {
        let place = source.at.place();
        let Some(text) = texts.get(&place) else {
            continue;
        };
        match read(*source, &place, text) {
            Some(rules) => found.rules.extend(rules),
            None => found.unreadable.push(place),
        }
    }
    found
}

impl OwnRules {
    /// What the client's own rules say about a call, at the strictest.
    pub fn narrows(&self, call: &Call) -> Option<Narrow> {
        let unread = (!self.unreadable.is_empty()).then_some(Narrow::Ask);
        let rules = self
            .rules
            .iter()
            .filter(|rule| rule.may_match(call))
            .map(|rule| rule.means);
        rules.chain(unread).max()
    }
}

impl OwnRule {
    /// Whether the rule may mean this call. In doubt it does.
    pub fn may_match(&self, call: &Call) -> bool {
        let shell = shell_call(&call.arguments);
        let tool = match &self.tool {
            Some(tool) => glob(tool, &call.tool),
            None => shell.is_some(),
        };
        let Some(pattern) = &self.pattern else {
            return tool;
        };
        let texts = match shell {
            Some(ShellCall::Line { line, .. }) => vec![line],
            Some(ShellCall::Lines { lines, .. }) => lines,
            Some(ShellCall::Program { words, .. }) => vec![words.join(" ")],
            Some(ShellCall::Typed) => return tool,
            None => leaves(&Value::Object(call.arguments.clone())),
        };
        tool && texts.iter().any(|text| mentions(text, pattern))
    }
}

/// Whether a text may be meant by a pattern: every piece between its wild cards is in it.
fn mentions(text: &str, pattern: &str) -> bool {
    let pattern = pattern.strip_prefix("domain:").unwrap_or(pattern);
    let mut pieces = pattern.split(['*', ':', '?']);
    pieces.all(|piece| {
        let piece = piece
            .trim()
            .trim_start_matches(['~', '/', '.'])
            .trim_end_matches('/');
        text.contains(piece)
    })
}

fn glob(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => {
            name.starts_with(head) && name.ends_with(tail.trim_start_matches('*'))
        }
    }
}

fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::Object(map) => map.values().flat_map(leaves).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The rules of one source; `None` where something in it was not understood.
fn read(source: RuleSource, place: &Place, text: &str) -> Option<Vec<OwnRule>> {
    let rule = |means, tool: Option<&str>, pattern: Option<&str>| OwnRule {
        means,
        tool: tool.map(str::to_owned),
        pattern: pattern.map(str::to_owned),
        place: place.clone(),
    };
    match source.syntax {
        RuleSyntax::Calls { way, means } => texts(place, text, way)?
            .iter()
            .map(|entry| match entry.split_once('(') {
                None => Some(rule(means, Some(entry), None)),
                Some((tool, rest)) => Some(rule(means, Some(tool), Some(rest.strip_suffix(')')?))),
            })
            .collect(),
        RuleSyntax::Lines { way, means } => {
            let lines = texts(place, text, way)?;
            Some(
                lines
                    .iter()
                    .map(|line| rule(means, None, Some(line)))
                    .collect(),
            )
        }
        RuleSyntax::Table { way } => table(setting(place, text, way).ok()?.as_ref(), &rule),
        RuleSyntax::Prefixes => {
            let prefixes = prefixes(text)?.into_iter();
            Some(
                prefixes
                    .map(|(means, words)| rule(means, None, Some(&words)))
                    .collect(),
            )
        }
    }
}

fn texts(place: &Place, text: &str, way: &str) -> Option<Vec<String>> {
    match setting(place, text, way).ok()? {
        None => Some(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect(),
        Some(_) => None,
    }
}

type Make<'a> = &'a dyn Fn(Narrow, Option<&str>, Option<&str>) -> OwnRule;

/// `{tool: word}` or `{tool: {pattern: word}}`, or one word for all tools.
fn table(value: Option<&Value>, rule: Make<'_>) -> Option<Vec<OwnRule>> {
    let means = |word: &str| match word {
        "allow" => Some(None),
        "ask" => Some(Some(Narrow::Ask)),
        "deny" => Some(Some(Narrow::Deny)),
        _ => None,
    };
    let mut rules = Vec::new();
    match value {
        None => {}
        Some(Value::String(word)) => {
            rules.extend(means(word)?.map(|means| rule(means, Some("*"), None)));
        }
        Some(Value::Object(tools)) => {
            for (tool, inner) in tools {
                match inner {
                    Value::String(word) => {
                        rules.extend(means(word)?.map(|means| rule(means, Some(tool), None)));
                    }
                    Value::Object(patterns) => {
                        for (pattern, word) in patterns {
                            let means = means(word.as_str()?)?;
                            rules.extend(means.map(|means| rule(means, Some(tool), Some(pattern))));
                        }
                    }
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                        return None;
                    }
                }
            }
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => return None,
    }
    Some(rules)
}

/// Every `prefix_rule(pattern = […], decision = "…")` that narrows. A pattern with alternatives is
/// cut off before them, which makes it match more. Anything else in the file is not understood.
fn prefixes(text: &str) -> Option<Vec<(Narrow, String)>> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let text: String = lines.collect::<Vec<_>>().join("\n");
    let mut rules = Vec::new();
    let mut pieces = text.split("prefix_rule(");
    if !pieces.next()?.trim().is_empty() {
        return None;
    }
    for piece in pieces {
        let body = piece.trim_end().strip_suffix(')')?;
        let means = match quoted_after(body, "decision") {
            None | Some("allow") => continue,
            Some("prompt") => Narrow::Ask,
            Some("forbidden") => Narrow::Deny,
            Some(_) => return None,
        };
        let list = body
            .split_once("pattern")?
            .1
            .trim_start()
            .strip_prefix('=')?;
        let list = list.trim_start().strip_prefix('[')?;
        let plain = list.split(['[', ']']).next()?;
        let words: Vec<&str> = plain
            .split(',')
            .map(|word| word.trim().trim_matches(['"', '\'']))
            .collect();
        rules.push((means, words.join("*").trim_end_matches('*').to_owned()));
    }
    Some(rules)
}

fn quoted_after<'a>(body: &'a str, key: &str) -> Option<&'a str> {
    let rest = body
        .split_once(key)?
        .1
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    rest.strip_prefix('"')?.split('"').next()
}
