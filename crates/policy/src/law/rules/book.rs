//! The rules of one layer, found by tool name without looking at all of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Fact, Rule};
use crate::law::pattern::NameGlob;

/// Rules in the order of their file, indexed by the tools that they name exactly.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Rule>", into = "Vec<Rule>")]
pub struct RuleBook {
    rules: Vec<Rule>,
    by_tool: BTreeMap<String, Vec<usize>>,
    // Rules that name no tool, or name one by a pattern.
    general: Vec<usize>,
}

impl RuleBook {
    /// All rules, in the order of their file.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rules that can match a call of this tool, in no particular order.
    pub fn candidates(&self, tool: Fact<&str>) -> impl Iterator<Item = &Rule> {
        let named = match tool {
            Fact::Is(name) => self.by_tool.get(name).map(Vec::as_slice),
            Fact::Absent | Fact::Unknown => None,
        };
        // A tool whose name is not known could be any of those that are named.
        let all = (tool == Fact::Unknown).then_some(self.by_tool.values());
        let unknown = all.into_iter().flatten().flatten();
        let indexes = named.unwrap_or_default().iter().chain(unknown);
        indexes
            .chain(&self.general)
            .filter_map(|index| self.rules.get(*index))
    }
}

impl From<Vec<Rule>> for RuleBook {
    fn from(rules: Vec<Rule>) -> Self {
        let mut by_tool: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut general = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let tools = &rule.matches.tool;
            if tools.is_empty() || !tools.iter().all(NameGlob::is_exact) {
                general.push(index);
                continue;
            }
            for tool in tools {
                by_tool
                    .entry(tool.as_str().to_owned())
                    .or_default()
                    .push(index);
            }
        }
        Self {
            rules,
            by_tool,
            general,
        }
    }
}

impl From<RuleBook> for Vec<Rule> {
    fn from(book: RuleBook) -> Self {
        book.rules
    }
}
