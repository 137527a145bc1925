//! Identifiers that were renamed: the same name replaced by the same new one, everywhere.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::OnceLock;

use super::Sheet;
use super::sheet::{is_identifier, token};
use crate::align::{By, Hunk, hunks, kept};

/// Old names and the new ones that took their places.
pub(super) type Renames = BTreeMap<u64, u64>;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The names.
    pub(super) renames: Renames,
    /// New lines that differ from an old one in identifiers only, renamed or not.
    pub(super) alike: Vec<usize>,
}

/// The identifiers that were renamed between two texts.
///
/// A name counts as renamed when no place of the old one is left, the new one was not there before,
/// the two always stand for each other, and a word before it introduces it, or another sign does
/// and it has more than one place. Anything less is an edit that happens to change a word.
pub(super) fn find(old: &Sheet, new: &Sheet, changed: &[Hunk]) -> Found {
    if changed.is_empty() {
        return Found::default();
    }
    let mut pairs: HashMap<u64, BTreeSet<u64>> = HashMap::new();
    let mut back: HashMap<u64, BTreeSet<u64>> = HashMap::new();
    let mut places: HashMap<u64, [usize; 2]> = HashMap::new();
    let mut lines = Vec::new();
    for (old_line, new_line) in changed.iter().flat_map(|hunk| alike(old, new, hunk)) {
        let (before, after) = (old.tokens_of(old_line), new.tokens_of(new_line));
        lines.push(new_line);
        for (at, (one, other)) in before.iter().zip(after).enumerate() {
            if one == other {
                continue;
            }
            pairs.entry(*one).or_default().insert(*other);
            back.entry(*other).or_default().insert(*one);
            let [all, introducing] = places.entry(*one).or_default();
            *all = all.saturating_add(1);
            *introducing = introducing.saturating_add(introduces(before, at));
        }
    }
    let words: [HashSet<u64>; 2] = [old, new].map(Sheet::words);
    let [words_before, words_after] = words;
    let renames = pairs
        .into_iter()
        .filter_map(|(one, others)| {
            let mut others = others.into_iter();
            let (Some(other), None) = (others.next(), others.next()) else {
                return None;
            };
            let is_mutual = back.get(&other).is_some_and(|ones| ones.len() == 1);
            let [all, introducing] = places.get(&one).copied().unwrap_or_default();
            let is_whole = !words_after.contains(&one) && !words_before.contains(&other);
            let is_introduced = introducing > 0 && all > 1 || introducing > 1;
            (is_mutual && is_whole && is_introduced).then_some((one, other))
        })
        .collect();
    Found {
        renames,
        alike: lines,
    }
}

/// Lines of a hunk that differ in identifiers only.
fn alike(old: &Sheet, new: &Sheet, hunk: &Hunk) -> Vec<(usize, usize)> {
    if hunk.old.is_empty() || hunk.new.is_empty() {
        return Vec::new();
    }
    let shapes = |sheet: &Sheet, lines: std::ops::Range<usize>| -> Vec<Vec<u64>> {
        lines.map(|line| shape(sheet.tokens_of(line))).collect()
    };
    let (before, after) = (shapes(old, hunk.old.clone()), shapes(new, hunk.new.clone()));
    let mut numbers: HashMap<Vec<u64>, u32> = HashMap::new();
    let [before, after] = [before, after].map(|shapes| -> Vec<u32> {
        shapes
            .into_iter()
            .map(|shape| {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                *numbers.entry(shape).or_insert(next)
            })
            .collect()
    });
    let gaps = hunks(&before, &after, By::Lines);
    let runs = kept(&gaps, before.len());
    runs.iter()
        .flat_map(|run| {
            let first = [
                run.old.saturating_add(hunk.old.start),
                run.new.saturating_add(hunk.new.start),
            ];
            (0..run.len)
                .map(move |step| (first[0].saturating_add(step), first[1].saturating_add(step)))
        })
        .filter(|(one, _)| !old.tokens_of(*one).is_empty())
        .collect()
}

fn shape(tokens: &[u64]) -> Vec<u64> {
    let blank = |token: &u64| if is_identifier(*token) { 1 } else { *token };
    tokens.iter().map(blank).collect()
}

/// Words that come before a name when it is introduced, in any of the languages.
const INTRODUCERS: &[&str] = &[
    "fn",
    "let",
    "mut",
    "const",
    "static",
    "struct",
    "enum",
    "trait",
    "type",
    "mod",
    "macro_rules",
    "def",
    "class",
    "lambda",
    "for",
    "as",
    "with",
    "import",
    "function",
    "var",
    "interface",
    "namespace",
    "func",
    "package",
    "record",
    "union",
    "typedef",
    "impl",
];

/// Words after which a name is used, though a word before a name usually is its type.
const USERS: &[&str] = &[
    "return", "new", "await", "else", "in", "throw", "yield", "case", "and", "or", "not", "if",
    "while", "match", "raise", "assert", "delete", "typeof", "is", "move", "ref", "print", "goto",
];

struct Words {
    introducers: HashSet<u64>,
    users: HashSet<u64>,
    assigns: [u64; 2],
    opens: u64,
}

fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| Words {
        introducers: INTRODUCERS.iter().map(|word| token(word)).collect(),
        users: USERS.iter().map(|word| token(word)).collect(),
        assigns: [token("="), token(":")],
        opens: token("("),
    })
}

/// How strongly a place of a line says that its identifier is introduced there: two by a word
/// before it, one by a sign.
fn introduces(line: &[u64], at: usize) -> usize {
    let words = words();
    let after = |step: usize| line.get(at.saturating_add(step)).copied();
    let before = at.checked_sub(1).and_then(|at| line.get(at)).copied();
    let [equals, colon] = words.assigns;
    let is_given = after(1) == Some(equals) && after(2) != Some(equals)
        || after(1) == Some(colon) && after(2) != Some(colon) && before != Some(colon);
    let is_typed = after(1) == Some(words.opens)
        && before.is_some_and(|word| is_identifier(word) && !words.users.contains(&word));
    if before.is_some_and(|word| words.introducers.contains(&word)) {
        2
    } else {
        usize::from(is_given || is_typed)
    }
}
