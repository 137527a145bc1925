//! Whether two scopes can own the same path (H17).
//!
//! The answer may be «yes» without a path that proves it, never «no» where there is one: what is
//! not understood in full is widened, and what takes too long counts as overlapping. Case and
//! Unicode form are ignored, because some file systems ignore them.

mod glob;

use tagout_vocab::limits::OVERLAP_STEPS_MAX;
use tagout_vocab::{Intent, IntentId, Timestamp};

pub(super) use glob::segment_glob_matches;
use glob::{Glob, Steps};

use super::set::IntentSet;
use super::status::selectable;

/// Another open intent that can own the same files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Overlap {
    /// The other intent.
    pub with: IntentId,
    /// The pattern of the intent in question.
    pub own: String,
    /// The other's pattern.
    pub other: String,
}

/// The first two patterns that can own a common path, if any can. The first is from `left`.
///
/// A pattern takes part unless an exclude after it in its own list, or in the other list after its
/// partner, covers it in full.
pub fn overlaps(left: &[String], right: &[String]) -> Option<(String, String)> {
    let mut steps = Steps::new(OVERLAP_STEPS_MAX);
    let pair = Scope::new(left).meets(right, &mut steps)?;
    Some((pair.0.to_owned(), pair.1.to_owned()))
}

/// The other intents that could be worked on now and own a file that this one owns too.
///
/// Two intents share their files if a person wrote the one into the `shares_with` of the other;
/// once is enough, because the file that holds it is the person's either way. An unknown id
/// overlaps with nothing, and is refused as unknown elsewhere.
pub fn find_overlaps(intents: &IntentSet, id: &IntentId, now: Timestamp) -> Vec<Overlap> {
    let Some(intent) = intents.get(id) else {
        return Vec::new();
    };
    let mut steps = Steps::new(OVERLAP_STEPS_MAX);
    let scope = Scope::new(&intent.owned_scope);
    let others = intents.iter().filter(|other| {
        other.id != *id && selectable(other, now).is_ok() && !shared(intent, other)
    });
    others
        .filter_map(|other| {
            let (own, others) = scope.meets(&other.owned_scope, &mut steps)?;
            Some(Overlap {
                with: other.id.clone(),
                own: own.to_owned(),
                other: others.to_owned(),
            })
        })
        .collect()
}

fn shared(left: &Intent, right: &Intent) -> bool {
    left.shares_with.contains(&right.id) || right.shares_with.contains(&left.id)
}

/// A scope whose patterns are read once and then held against many others.
struct Scope<'a> {
    patterns: &'a [String],
    globs: Vec<Option<Glob>>,
}

impl<'a> Scope<'a> {
    fn new(patterns: &'a [String]) -> Self {
        let globs = patterns
            .iter()
            .map(|pattern| (!is_exclude(pattern)).then(|| Glob::widened(pattern)))
            .collect();
        Self { patterns, globs }
    }

    fn includes(&self) -> impl Iterator<Item = (usize, &'a String, &Glob)> {
        self.patterns
            .iter()
            .zip(&self.globs)
            .enumerate()
            .filter_map(|(index, (pattern, glob))| Some((index, pattern, glob.as_ref()?)))
    }

    fn meets<'b>(&self, right: &'b [String], steps: &mut Steps) -> Option<(&'a str, &'b str)> {
        for (right_index, theirs) in right.iter().enumerate() {
            if is_exclude(theirs) {
                continue;
            }
            let mut their_glob = None;
            for (left_index, ours, our_glob) in self.includes() {
                if glob::start_apart(ours, theirs, steps) {
                    continue;
                }
                let their_glob = their_glob.get_or_insert_with(|| Glob::widened(theirs));
                if our_glob.meets(their_glob, steps)
                    && !excluded(self.patterns, left_index, [ours, theirs], steps)
                    && !excluded(right, right_index, [ours, theirs], steps)
                {
                    return Some((ours, theirs));
                }
            }
        }
        None
    }
}

/// Whether an exclude that comes after a pattern takes either side of a pair away in full.
///
/// Only later excludes count, so that the answer holds whether an exclude always wins or the last
/// match does.
fn excluded(list: &[String], index: usize, pair: [&String; 2], steps: &mut Steps) -> bool {
    list.iter()
        .skip(index + 1)
        .filter_map(|pattern| pattern.strip_prefix('!'))
        .any(|exclude| {
            pair.iter()
                .any(|pattern| glob::covers(exclude, pattern, steps))
        })
}

fn is_exclude(pattern: &str) -> bool {
    pattern.starts_with('!')
}
