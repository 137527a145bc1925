//! One alternative, without braces, walked against the segments of a path.
//!
//! Both walks remember only the last wildcard that can take more: giving an earlier one more never
//! helps, so the work is bounded by the product of the lengths, and by the step budget below that.

use tagout_vocab::limits::MATCH_STEPS_MAX;

use super::{CaseRule, braces, fold};

/// The budget of one match was used up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct TooHard;

/// What is left of the budget of one match.
#[derive(Debug)]
pub(super) struct Steps {
    left: usize,
}

impl Steps {
    pub(super) const fn new() -> Self {
        Self {
            left: MATCH_STEPS_MAX,
        }
    }

    pub(super) fn spend(&mut self, count: usize) -> Result<(), TooHard> {
        self.left = self.left.checked_sub(count).ok_or(TooHard)?;
        Ok(())
    }

    /// How many were spent; the tests measure time by it.
    #[cfg(test)]
    pub(super) const fn spent(&self) -> usize {
        MATCH_STEPS_MAX - self.left
    }
}

/// The segments of a pattern that say something.
pub(super) fn segments(pattern: &str) -> impl Iterator<Item = &str> + Clone {
    pattern
        .split('/')
        .filter(|segment| !segment.is_empty() && *segment != ".")
}

/// Whether a text holds a wildcard. An escaped one is none.
pub(super) fn has_wildcard(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|character| {
        let live = !escaped && matches!(character, '*' | '?' | '[');
        escaped = !escaped && character == '\\';
        live
    })
}

/// Whether one alternative matches a path.
pub(super) fn matches(
    alternative: &str,
    path: &[&str],
    case: CaseRule,
    steps: &mut Steps,
) -> Result<bool, TooHard> {
    // An empty alternative must not turn into the root, nor one that starts with a slash into an
    // anchored pattern: `{,src}/**` would own everything.
    let mut rest = segments(alternative);
    if alternative.starts_with('/') || rest.clone().next().is_none() {
        return Ok(false);
    }
    let subtree = alternative.ends_with('/') || !has_wildcard(alternative);
    let mut at = 0;
    let mut only_stars = true;
    let mut retry = None;
    loop {
        steps.spend(1)?;
        let mut ahead = rest.clone();
        match ahead.next() {
            Some("**") => match ahead.clone().next() {
                // At the end it stands for one segment or more; alone it is everything.
                None => return Ok(only_stars || at < path.len()),
                Some("**") => {
                    rest = ahead;
                    continue;
                }
                Some(_) => {
                    retry = Some((ahead.clone(), at));
                    rest = ahead;
                    continue;
                }
            },
            Some(segment) => {
                only_stars = false;
                if let Some(name) = path.get(at)
                    && segment_matches(segment, name, case, steps)?
                {
                    at += 1;
                    rest = ahead;
                    continue;
                }
            }
            None if subtree || at == path.len() => return Ok(true),
            None => {}
        }
        match &mut retry {
            Some((after, from)) if *from < path.len() => {
                *from += 1;
                at = *from;
                rest = after.clone();
            }
            Some(_) | None => return Ok(false),
        }
    }
}

fn segment_matches(
    pattern: &str,
    name: &str,
    case: CaseRule,
    steps: &mut Steps,
) -> Result<bool, TooHard> {
    if !pattern.contains(['*', '?', '[', '\\']) {
        steps.spend(1)?;
        return Ok(pattern == name);
    }
    let mut pattern = pattern;
    let mut name = name;
    let mut retry: Option<(&str, &str)> = None;
    loop {
        steps.spend(1)?;
        if let Some(rest) = pattern.strip_prefix('*') {
            if rest.is_empty() {
                return Ok(true);
            }
            retry = Some((rest, name));
            pattern = rest;
            continue;
        }
        if pattern.is_empty() && name.is_empty() {
            return Ok(true);
        }
        if let Some((pattern_rest, name_rest)) = one(pattern, name, case, steps)? {
            (pattern, name) = (pattern_rest, name_rest);
            continue;
        }
        let Some((after, from)) = retry else {
            return Ok(false);
        };
        let mut characters = from.chars();
        if characters.next().is_none() {
            return Ok(false);
        }
        retry = Some((after, characters.as_str()));
        (pattern, name) = (after, characters.as_str());
    }
}

/// What is left of pattern and name when the pattern's first atom takes the name's first character.
fn one<'p, 'n>(
    pattern: &'p str,
    name: &'n str,
    case: CaseRule,
    steps: &mut Steps,
) -> Result<Option<(&'p str, &'n str)>, TooHard> {
    let mut given = name.chars();
    let mut wanted = pattern.chars();
    let (Some(character), Some(atom)) = (given.next(), wanted.next()) else {
        return Ok(None);
    };
    let taken = match atom {
        '?' => true,
        '[' => {
            let Some(class) = braces::class(wanted.as_str()) else {
                return Ok(None);
            };
            steps.spend(class.members.len())?;
            let holds = holds(class.members, character, case) != class.negated;
            return Ok(holds.then_some((class.rest, given.as_str())));
        }
        '\\' => wanted.next() == Some(character),
        literal => literal == character,
    };
    Ok(taken.then_some((wanted.as_str(), given.as_str())))
}

/// Whether a class has a character among its members or ranges.
fn holds(members: &str, character: char, case: CaseRule) -> bool {
    let within = |low: char, high: char| match case {
        CaseRule::Sensitive => (low..=high).contains(&character),
        // The name was folded before; the class was not, because folding the ends of a range
        // changes what lies between them.
        CaseRule::Insensitive => {
            (low..=high).contains(&character)
                || (low..=high).contains(&fold::upper(character))
                || (low == high && fold::lower(low) == character)
        }
    };
    ranges(members).any(|(low, high)| within(low, high))
}

/// The members and ranges of a class, both ends included.
pub(super) fn ranges(members: &str) -> impl Iterator<Item = (char, char)> {
    let mut characters = members.chars().peekable();
    let mut low = None;
    std::iter::from_fn(move || {
        let character = characters.next()?;
        // A hyphen between two characters makes a range; at either end it is a member.
        match (character, low, characters.peek().copied()) {
            ('-', Some(start), Some(end)) => {
                characters.next();
                Some((start, end))
            }
            (member, ..) => {
                low = Some(member);
                Some((member, member))
            }
        }
    })
}
