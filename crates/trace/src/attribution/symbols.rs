//! Who made each definition, from the authors of its lines.

use std::collections::BTreeMap;

use super::{Author, Credit};
use crate::nodes::Definition;

/// Who made a definition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SymbolCredit {
    /// The definition.
    pub definition: Definition,
    /// The author of its first line, where its name stands.
    pub introduced: Credit,
    /// The one who wrote most of its lines.
    pub main: Credit,
    /// Everybody with a line in it, and how many.
    pub shares: Vec<(Author, usize)>,
}

/// Who made each definition. `is_telling` says for each line whether it counts: blank lines and
/// lone brackets do not.
pub fn symbols(
    definitions: &[Definition],
    credits: &[Credit],
    is_telling: impl Fn(usize) -> bool,
) -> Vec<SymbolCredit> {
    definitions
        .iter()
        .filter_map(|definition| {
            let first = definition.lines.start as usize;
            let introduced = *credits.get(first)?;
            let lines = first..definition.lines.end as usize;
            let mut shares: BTreeMap<Author, (usize, Credit)> = BTreeMap::new();
            for line in lines.filter(|line| *line == first || is_telling(*line)) {
                let Some(credit) = credits.get(line) else {
                    break;
                };
                let (count, weakest) = shares.entry(credit.author).or_insert((0, *credit));
                *count = count.saturating_add(1);
                if credit.certainty < weakest.certainty {
                    *weakest = *credit;
                }
            }
            // Of equal shares the one who introduced it has made it.
            let (_, (_, main)) = shares
                .iter()
                .max_by_key(|(author, (count, _))| (*count, **author == introduced.author))?;
            Some(SymbolCredit {
                definition: definition.clone(),
                introduced,
                main: *main,
                shares: shares
                    .iter()
                    .map(|(author, (count, _))| (*author, *count))
                    .collect(),
            })
        })
        .collect()
}
