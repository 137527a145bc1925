//! Where in a file the old lines of a hunk stand.

use std::collections::HashMap;

use tagout_vocab::limits::{CANDIDATES_MAX, PATCH_STEPS_MAX};

use super::{Hunk, Spot};
use crate::fault::Fault;
use crate::near::{nearest, place};

/// The place of one hunk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Located {
    /// Its first line, counted from zero.
    pub(super) start: usize,
    /// The lines differ from the hunk's in blanks at their ends.
    pub(super) tolerant: bool,
}

/// The lines of a file, numbered so that comparing two of them is comparing two numbers.
pub(super) struct Finder<'f> {
    lines: Vec<&'f str>,
    exact: Numbered<'f>,
    trimmed: Numbered<'f>,
    steps_left: usize,
}

struct Numbered<'f> {
    ids: HashMap<&'f str, u32>,
    lines: Vec<u32>,
}

impl<'f> Numbered<'f> {
    fn new(lines: impl Iterator<Item = &'f str>) -> Self {
        let mut ids = HashMap::new();
        let lines = lines
            .map(|line| {
                let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
                *ids.entry(line).or_insert(next)
            })
            .collect();
        Self { ids, lines }
    }

    /// The numbers of other lines; `None` when one of them is not in the file at all.
    fn of<'o>(&self, lines: impl Iterator<Item = &'o str>) -> Option<Vec<u32>> {
        lines.map(|line| self.ids.get(line).copied()).collect()
    }
}

impl<'f> Finder<'f> {
    pub(super) fn new(lines: Vec<&'f str>) -> Self {
        let exact = Numbered::new(lines.iter().copied());
        let trimmed = Numbered::new(lines.iter().map(|line| line.trim_end()));
        Self {
            lines,
            exact,
            trimmed,
            steps_left: PATCH_STEPS_MAX,
        }
    }

    /// The place of a hunk at or after the line `from`.
    pub(super) fn locate(&mut self, hunk: &Hunk, from: usize) -> Result<Located, Fault> {
        let old = hunk.old();
        let (from, anchored) = self.after_anchors(hunk, from)?;
        if old.is_empty() {
            return self.insertion(hunk, from, anchored);
        }
        let mut found = self.places(&old, from, false)?;
        if hunk.at_end {
            found.retain(|start| start + old.len() == self.lines.len());
        }
        let exact = |start| Located {
            start,
            tolerant: false,
        };
        match (&hunk.spot, found.as_slice()) {
            (_, []) => self.tolerantly(hunk, &old, from),
            (_, [only]) => Ok(exact(*only)),
            (Spot::Near(line) | Spot::OneOf(line), several) if several.contains(line) => {
                Ok(exact(*line))
            }
            (Spot::After(anchors), [first, ..]) if !anchors.is_empty() => Ok(exact(*first)),
            (_, several) => Err(self.ambiguous(&old, several)),
        }
    }

    /// Only blanks at the ends of lines may differ, and only where there is one such place.
    fn tolerantly(&mut self, hunk: &Hunk, old: &[&str], from: usize) -> Result<Located, Fault> {
        let mut found = self.places(old, from, true)?;
        if hunk.at_end {
            found.retain(|start| start + old.len() == self.lines.len());
        }
        match found.as_slice() {
            [] => Err(self.not_found(old)),
            [only] => Ok(Located {
                start: *only,
                tolerant: true,
            }),
            several => Err(self.ambiguous(old, several)),
        }
    }

    fn insertion(&self, hunk: &Hunk, from: usize, anchored: bool) -> Result<Located, Fault> {
        let count = self.lines.len();
        let start = match &hunk.spot {
            Spot::Near(line) | Spot::OneOf(line) => *line,
            Spot::After(_) if anchored && !hunk.at_end => from,
            Spot::After(_) | Spot::Anywhere => count,
        };
        if start > count || start < from {
            return Err(Fault::NoMatch {
                message: format!(
                    "the file has {count} lines; nothing can be put after line {start}"
                ),
                candidates: Vec::new(),
            });
        }
        Ok(Located {
            start,
            tolerant: false,
        })
    }

    /// The line after the hunk's anchors. The first anchor has to be beyond doubt; each further one
    /// is the first such line after the one before.
    fn after_anchors(&mut self, hunk: &Hunk, from: usize) -> Result<(usize, bool), Fault> {
        let Spot::After(anchors) = &hunk.spot else {
            return Ok((from, false));
        };
        let mut at = from;
        for (index, anchor) in anchors.iter().enumerate() {
            self.spend(self.lines.len())?;
            let wanted = anchor.trim();
            let rest = self.lines.iter().enumerate().skip(at);
            let mut found = rest.filter(|(_, line)| line.trim() == wanted);
            let Some((first, _)) = found.next() else {
                return Err(self.not_found(&[anchor]));
            };
            let others: Vec<usize> = found.map(|(line, _)| line).take(CANDIDATES_MAX).collect();
            if index == 0 && !others.is_empty() {
                let mut several = vec![first];
                several.extend(others);
                return Err(self.ambiguous(&[anchor], &several));
            }
            at = first + 1;
        }
        Ok((at, !anchors.is_empty()))
    }

    fn spend(&mut self, steps: usize) -> Result<(), Fault> {
        let left = self.steps_left.checked_sub(steps);
        self.steps_left = left.ok_or_else(|| Fault::TooLarge {
            message: "the patch and the file are too large together; split the patch".to_owned(),
        })?;
        Ok(())
    }

    /// Every place of the lines at or after `from`, by the algorithm of Knuth, Morris and Pratt:
    /// the cost does not depend on how alike the lines are.
    fn places(&mut self, old: &[&str], from: usize, tolerant: bool) -> Result<Vec<usize>, Fault> {
        self.spend(self.lines.len().saturating_sub(from) + old.len())?;
        let numbered = if tolerant { &self.trimmed } else { &self.exact };
        let needle = if tolerant {
            numbered.of(old.iter().map(|line| line.trim_end()))
        } else {
            numbered.of(old.iter().copied())
        };
        let Some(needle) = needle else {
            return Ok(Vec::new());
        };
        let borders = borders(&needle);
        let mut found = Vec::new();
        let mut matched = 0;
        for (index, line) in numbered.lines.iter().enumerate().skip(from) {
            matched = extended(&needle, &borders, matched, *line);
            if matched == needle.len() {
                found.push(index + 1 - matched);
                matched = borders.get(matched - 1).copied().unwrap_or(0);
            }
        }
        Ok(found)
    }

    fn not_found(&self, old: &[&str]) -> Fault {
        let candidates = nearest(&self.lines, old);
        let hint = if candidates.is_empty() {
            "nothing in the file is like them; read the file again"
        } else {
            "the nearest places are shown; copy the lines from there exactly"
        };
        let first = old.iter().find(|line| !line.trim().is_empty());
        let first = crate::near::cut(first.unwrap_or(&""), 80);
        Fault::NoMatch {
            message: format!(
                "the old lines that start with `{first}` do not stand in the file; {hint}"
            ),
            candidates,
        }
    }

    fn ambiguous(&self, old: &[&str], starts: &[usize]) -> Fault {
        Fault::Ambiguous {
            message: format!(
                "the old lines stand at {} places; add lines around them until there is one",
                starts.len()
            ),
            candidates: starts
                .iter()
                .take(CANDIDATES_MAX)
                .map(|start| place(&self.lines, *start, old.len()))
                .collect(),
        }
    }
}

/// For each prefix of the needle, how much of its start is also its end.
fn borders(needle: &[u32]) -> Vec<usize> {
    let mut borders: Vec<usize> = Vec::with_capacity(needle.len());
    let mut matched = 0;
    for (index, line) in needle.iter().enumerate() {
        if index > 0 {
            matched = extended(needle, &borders, matched, *line);
        }
        borders.push(matched);
    }
    borders
}

/// How much of the needle is matched after one more line.
fn extended(needle: &[u32], borders: &[usize], mut matched: usize, line: u32) -> usize {
    loop {
        if needle.get(matched) == Some(&line) {
            return matched + 1;
        }
        if matched == 0 {
            return 0;
        }
        matched = borders.get(matched - 1).copied().unwrap_or(0);
    }
}
