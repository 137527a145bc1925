//! What a file becomes by hunks.

use tagout_vocab::limits::PATCH_LINES_MAX;

use super::locate::{Finder, Located};
use super::{Hunk, Op, Spot};
use crate::fault::Fault;
use crate::text::{Line, Text};

/// A changed text, and how it came about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Applied {
    /// The new text.
    pub text: Text,
    /// Where each hunk was put, as lines of the old file counted from one.
    pub lines: Vec<usize>,
    /// Hunks whose old lines differed from the file's in blanks at line ends.
    pub tolerated: usize,
}

/// Applies hunks. Every one is looked for in the file as it was; all fit, or none is applied.
pub fn apply(text: &Text, hunks: &[Hunk]) -> Result<Applied, Fault> {
    let count = text.flat().lines().count();
    if count > PATCH_LINES_MAX {
        return Err(Fault::TooLarge {
            message: format!(
                "the file has {count} lines; a patch is applied to at most {PATCH_LINES_MAX}"
            ),
        });
    }
    let lines = text.lines();
    let mut finder = Finder::new(lines.iter().map(|line| line.text.as_str()).collect());
    let ordered = !hunks
        .iter()
        .any(|hunk| matches!(hunk.spot, Spot::OneOf(_) | Spot::Anywhere));
    let mut placed: Vec<(Located, &Hunk)> = Vec::with_capacity(hunks.len());
    let mut from = 0;
    for hunk in hunks {
        let located = finder.locate(hunk, from)?;
        if ordered {
            from = located.start + hunk.old().len();
        }
        placed.push((located, hunk));
    }
    let numbers = placed.iter().map(|(at, _)| at.start + 1).collect();
    placed.sort_by_key(|(at, _)| at.start);
    let changed = Builder::new(text, &lines).build(&placed)?;
    Ok(Applied {
        text: text.with_lines(&changed),
        lines: numbers,
        tolerated: placed.iter().filter(|(at, _)| at.tolerant).count(),
    })
}

struct Builder<'a> {
    text: &'a Text,
    old: &'a [Line],
    new: Vec<Line>,
    at: usize,
    /// Whether the last line of the new file ends, where a hunk says so.
    ends: Option<bool>,
}

impl<'a> Builder<'a> {
    const fn new(text: &'a Text, old: &'a [Line]) -> Self {
        Self {
            text,
            old,
            new: Vec::new(),
            at: 0,
            ends: None,
        }
    }

    fn build(mut self, placed: &[(Located, &Hunk)]) -> Result<Vec<Line>, Fault> {
        for (located, hunk) in placed {
            if located.start < self.at {
                return Err(Fault::invalid(format!(
                    "two changes meet at line {}; make them one",
                    located.start + 1
                )));
            }
            self.keep_until(located.start);
            self.hunk(hunk)?;
        }
        self.keep_until(self.old.len());
        self.finish();
        Ok(self.new)
    }

    fn keep_until(&mut self, end: usize) {
        let kept = self.old.iter().take(end).skip(self.at).cloned();
        self.new.extend(kept);
        self.at = self.at.max(end);
    }

    fn hunk(&mut self, hunk: &Hunk) -> Result<(), Fault> {
        // Ends of removed lines, for the lines that come in their place.
        let mut freed = std::collections::VecDeque::new();
        for (op, text) in &hunk.lines {
            match op {
                Op::Keep => {
                    self.keep_until(self.at + 1);
                    freed.clear();
                }
                Op::Remove => {
                    freed.extend(self.old.get(self.at).and_then(|line| line.ending));
                    self.at += 1;
                }
                Op::Add => {
                    let ending = freed.pop_front().unwrap_or_else(|| self.text.usual_break());
                    self.new.push(Line {
                        text: text.clone(),
                        ending: Some(ending),
                    });
                }
            }
        }
        self.final_break(hunk)
    }

    fn final_break(&mut self, hunk: &Hunk) -> Result<(), Fault> {
        let old_ends = self.old.last().is_none_or(|line| line.ending.is_some());
        if hunk.final_break.old_lacks && (old_ends || self.at != self.old.len()) {
            return Err(Fault::NoMatch {
                message: "the patch says that the file ends without a line end, but it does not"
                    .to_owned(),
                candidates: Vec::new(),
            });
        }
        if hunk.final_break.new_lacks {
            if self.at != self.old.len() {
                return Err(Fault::invalid(
                    "the patch puts a line without an end into the middle of the file",
                ));
            }
            self.ends = Some(false);
        } else if hunk.final_break.old_lacks {
            self.ends = Some(true);
        }
        Ok(())
    }

    /// A missing line end at the end of the file is kept, unless a hunk says otherwise.
    fn finish(&mut self) {
        let old_ends = self.old.last().is_none_or(|line| line.ending.is_some());
        let ends = self.ends.unwrap_or(old_ends);
        let usual = self.text.usual_break();
        let count = self.new.len();
        for (index, line) in self.new.iter_mut().enumerate() {
            let is_last = index + 1 == count;
            if is_last && !ends {
                line.ending = None;
            } else {
                line.ending.get_or_insert(usual);
            }
        }
    }
}
