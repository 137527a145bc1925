//! Globs as languages: whether two have a word in common, and whether one holds all of another.

use unicode_normalization::UnicodeNormalization as _;

/// A bound on work that is shared by a whole search.
pub(super) struct Steps {
    left: usize,
}

impl Steps {
    pub(super) const fn new(max: usize) -> Self {
        Self { left: max }
    }

    /// Takes some steps; false when there are not enough left, now and for ever.
    fn take(&mut self, count: usize) -> bool {
        self.left = self.left.saturating_sub(count);
        self.left > 0
    }
}

/// One part of a pattern between slashes.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Part {
    /// `**`: any number of segments, also none.
    Any,
    /// One segment with `*` and `?`.
    Segment(Vec<char>),
}

/// How a pattern says that all beneath a folder is meant. A later one may say more than an earlier
/// one about the folder itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
enum Beneath {
    /// `folder/**`
    Stars,
    /// `folder/`
    Slash,
    /// `folder`
    Name,
}

/// A pattern read for comparison.
#[derive(Clone, Debug)]
pub(super) struct Glob {
    parts: Vec<Part>,
    beneath: Option<Beneath>,
    // Whether it was widened beyond what is written.
    vague: bool,
}

impl Glob {
    /// The pattern without regard to case and Unicode form, to be compared for a meeting.
    ///
    /// Folding can make one character two, so `?` counts as `*` here.
    pub(super) fn widened(pattern: &str) -> Self {
        let mut glob = Self::parse(&folded(pattern));
        for part in &mut glob.parts {
            match part {
                Part::Any => {}
                Part::Segment(characters) => {
                    let any = |c: &mut char| *c = if *c == '?' { '*' } else { *c };
                    characters.iter_mut().for_each(any);
                }
            }
        }
        glob
    }

    fn parse(pattern: &str) -> Self {
        let mut parts = Vec::new();
        let mut vague = false;
        for segment in pattern.split('/') {
            if segment.is_empty() || segment == "." {
                continue;
            }
            if segment == "**" {
                // Two in a row say no more than one.
                if parts.last() != Some(&Part::Any) {
                    parts.push(Part::Any);
                }
            } else if reaches_across(segment) {
                parts.push(Part::Any);
                vague = true;
                break;
            } else if segment.contains('[') {
                parts.push(Part::Segment(vec!['*']));
                vague = true;
            } else {
                parts.push(Part::Segment(segment.chars().collect()));
            }
        }
        let beneath = if parts.last() == Some(&Part::Any) {
            parts.pop();
            Some(Beneath::Stars)
        } else if pattern.ends_with('/') || parts.is_empty() {
            Some(Beneath::Slash)
        } else {
            parts.last().is_some_and(is_plain).then_some(Beneath::Name)
        };
        Self {
            parts,
            beneath,
            vague,
        }
    }

    /// Whether a path can match both.
    pub(super) fn meets(&self, other: &Self, steps: &mut Steps) -> bool {
        meet(&self.whole(0), &other.whole(0), steps)
    }

    /// All parts, with «and everything beneath» where the pattern says it: at least so many levels.
    fn whole(&self, levels_min: usize) -> Vec<Part> {
        let mut whole = self.parts.clone();
        if self.beneath.is_some() {
            whole.extend(std::iter::repeat_n(Part::Segment(vec!['*']), levels_min));
            whole.push(Part::Any);
        }
        whole
    }
}

/// Whether a segment holds what some dialect lets reach beyond the next slash.
fn reaches_across(segment: &str) -> bool {
    let unbalanced = segment.matches('[').count() != segment.matches(']').count();
    segment.contains("**") || segment.contains(['{', '}', '\\']) || unbalanced
}

fn is_plain(part: &Part) -> bool {
    match part {
        Part::Any => false,
        Part::Segment(characters) => !is_wild(characters),
    }
}

fn is_wild(segment: &[char]) -> bool {
    segment.iter().any(|c| matches!(c, '*' | '?'))
}

/// Whether everything that `pattern` can match is certainly matched by `exclude`.
///
/// Whether a folder's pattern also matches the folder itself is left open: either the exclude
/// covers without its own folder, or it says at least as much about it as the pattern does.
pub(super) fn covers(exclude: &str, pattern: &str, steps: &mut Steps) -> bool {
    if !steps.take(exclude.len() + pattern.len()) {
        return false;
    }
    let (exclude, pattern) = (Glob::parse(exclude), Glob::parse(pattern));
    if exclude.vague || pattern.vague {
        return false;
    }
    let narrow = hold(&exclude.whole(1), &pattern.whole(0), steps);
    narrow
        || (exclude.beneath >= pattern.beneath
            && pattern.beneath.is_some()
            && hold(&exclude.whole(0), &pattern.whole(0), steps))
}

/// A quick «no»: both patterns begin with plain names, and these differ somewhere.
pub(super) fn start_apart(left: &str, right: &str, steps: &mut Steps) -> bool {
    let plain = |segment: &str| {
        let ordinary = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        !segment.is_empty() && segment != "." && segment.bytes().all(ordinary)
    };
    for (left, right) in left.split('/').zip(right.split('/')) {
        let cost = 1 + (left.len() + right.len()) / 16;
        if !(plain(left) && plain(right) && steps.take(cost)) {
            return false;
        }
        if !left.eq_ignore_ascii_case(right) {
            return true;
        }
    }
    false
}

/// Whether two lists of parts can match a common path. Out of steps counts as yes.
fn meet(left: &[Part], right: &[Part], steps: &mut Steps) -> bool {
    table(left, right, steps, |left, right, next, steps| {
        match (left, right) {
            (None, None) => true,
            (None, Some(Part::Any)) => next.right,
            (Some(Part::Any), None) => next.left,
            (None, Some(Part::Segment(_))) | (Some(Part::Segment(_)), None) => false,
            (Some(Part::Any), Some(_)) | (Some(_), Some(Part::Any)) => next.left || next.right,
            (Some(Part::Segment(left)), Some(Part::Segment(right))) => {
                next.both && segments_meet(left, right, steps)
            }
        }
    })
    .unwrap_or(true)
}

/// Whether `outer` certainly matches whatever `inner` does. Out of steps counts as no.
fn hold(outer: &[Part], inner: &[Part], steps: &mut Steps) -> bool {
    table(outer, inner, steps, |outer, inner, next, steps| {
        match (outer, inner) {
            (None, None) => true,
            (None, Some(_)) | (Some(Part::Segment(_)), None | Some(Part::Any)) => false,
            (Some(Part::Any), None) => next.left,
            (Some(Part::Any), Some(_)) => next.left || next.right,
            (Some(Part::Segment(outer)), Some(Part::Segment(inner))) => {
                next.both && segment_holds(outer, inner, steps)
            }
        }
    })
    .unwrap_or(false)
}

/// The answers for the rests of both lists: the left one shorter, the right one, both.
#[derive(Clone, Copy)]
struct Next {
    left: bool,
    right: bool,
    both: bool,
}

/// Fills the table of answers for all rests of two lists, from their ends. `None` when out of
/// steps.
fn table<T>(
    left: &[T],
    right: &[T],
    steps: &mut Steps,
    answer: impl Fn(Option<&T>, Option<&T>, Next, &mut Steps) -> bool,
) -> Option<bool> {
    if !steps.take((left.len() + 1).saturating_mul(right.len() + 1)) {
        return None;
    }
    // Two rows, indexed by the right rest's start: for this left rest, and for the one shorter.
    let mut row = vec![false; right.len() + 1];
    let mut below = row.clone();
    let at = |row: &[bool], index: usize| row.get(index).copied().unwrap_or_default();
    for start in (0..=left.len()).rev() {
        let mut beside = false;
        for column in (0..=right.len()).rev() {
            let next = Next {
                left: at(&below, column),
                right: beside,
                both: at(&below, column + 1),
            };
            beside = answer(left.get(start), right.get(column), next, steps);
            if let Some(cell) = row.get_mut(column) {
                *cell = beside;
            }
        }
        std::mem::swap(&mut row, &mut below);
    }
    below.first().copied()
}

/// Whether two segments with `*` and `?` can match the same name.
fn segments_meet(left: &[char], right: &[char], steps: &mut Steps) -> bool {
    if left == ['*'] || right == ['*'] {
        return true;
    }
    if !is_wild(left) && !is_wild(right) {
        return left == right;
    }
    table(left, right, steps, |left, right, next, _| {
        match (left, right) {
            (None, None) => true,
            (None, Some('*')) => next.right,
            (Some('*'), None) => next.left,
            (None, Some(_)) | (Some(_), None) => false,
            (Some('*'), Some(_)) | (Some(_), Some('*')) => next.left || next.right,
            (Some('?'), Some(_)) | (Some(_), Some('?')) => next.both,
            (Some(left), Some(right)) => left == right && next.both,
        }
    })
    .unwrap_or(true)
}

/// Whether one segment certainly matches whatever another does: it is `*`, it is the same, or the
/// other is a plain name that it matches.
fn segment_holds(outer: &[char], inner: &[char], steps: &mut Steps) -> bool {
    if outer == ['*'] || outer == inner {
        return true;
    }
    // Out of steps is «no» here, where `segments_meet` says yes.
    !is_wild(inner) && steps.take(1) && segments_meet(outer, inner, steps) && steps.take(1)
}

/// Whether a glob with `*` and `?` matches a text, slashes being like any other character.
pub(in crate::intents) fn segment_glob_matches(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let mut steps = Steps::new(usize::MAX);
    segments_meet(&glob, &text, &mut steps)
}

/// A pattern in one case and one Unicode form.
fn folded(pattern: &str) -> String {
    if pattern.is_ascii() {
        return pattern.to_ascii_lowercase();
    }
    pattern
        .nfd()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfc()
        .collect::<String>()
}
