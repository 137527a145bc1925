//! The `*** Begin Patch` form.

use tagout_vocab::limits::{PATCH_FILES_MAX, PATCH_HUNKS_MAX};

use super::{FileChange, FinalBreak, Hunk, Op, Spot, unclear};
use crate::fault::Fault;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Whether a text is meant to be in this form.
pub(super) fn is_envelope(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next().is_some_and(|line| line == BEGIN)
}

#[derive(Debug)]
enum Part {
    Before,
    Between,
    Add,
    Update,
    After,
}

#[derive(Debug)]
struct Reader {
    part: Part,
    changes: Vec<FileChange>,
    /// The open hunk: its anchors and lines.
    anchors: Vec<String>,
    lines: Vec<(Op, String)>,
    at_end: bool,
    hunk_count: usize,
}

pub(super) fn read(text: &str) -> Result<Vec<FileChange>, Fault> {
    let mut reader = Reader {
        part: Part::Before,
        changes: Vec::new(),
        anchors: Vec::new(),
        lines: Vec::new(),
        at_end: false,
        hunk_count: 0,
    };
    for (number, line) in (1..).zip(text.lines()) {
        reader.take(number, line)?;
    }
    match reader.part {
        Part::After => Ok(reader.changes),
        Part::Before | Part::Between | Part::Add | Part::Update => Err(Fault::invalid(format!(
            "the patch has no end; close it with `{END}`"
        ))),
    }
}

impl Reader {
    fn take(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        let text = line.trim();
        match self.part {
            Part::Before if text == BEGIN => self.part = Part::Between,
            Part::Before | Part::After if text.is_empty() => {}
            Part::Before => return Err(unclear(number, "stands before the patch")),
            Part::After => return Err(unclear(number, "stands after the patch")),
            Part::Between | Part::Add | Part::Update => self.within(number, line)?,
        }
        Ok(())
    }

    fn within(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        if line.trim_end() == END {
            self.close_section(number)?;
            self.part = Part::After;
            return Ok(());
        }
        if line.starts_with("*** ") && self.head(number, line)? {
            return Ok(());
        }
        match self.part {
            Part::Add => self.added(number, line),
            Part::Update => self.updated(number, line),
            Part::Between if line.trim().is_empty() => Ok(()),
            Part::Between | Part::Before | Part::After => {
                Err(unclear(number, "belongs to no file"))
            }
        }
    }

    /// A line that opens a section or says something about one.
    fn head(&mut self, number: usize, line: &str) -> Result<bool, Fault> {
        let line = line.trim_end();
        if let Some(path) = line.strip_prefix(MOVE) {
            let path = named(number, path)?;
            let untouched = self.lines.is_empty() && self.anchors.is_empty();
            return match (self.changes.last_mut(), &self.part) {
                (Some(FileChange::Update { to, hunks, .. }), Part::Update)
                    if to.is_none() && hunks.is_empty() && untouched =>
                {
                    *to = Some(path);
                    Ok(true)
                }
                _ => Err(unclear(
                    number,
                    "a move has to follow its `*** Update File:`",
                )),
            };
        }
        if line == END_OF_FILE && matches!(self.part, Part::Update) {
            self.at_end = true;
            self.close_hunk(number)?;
            return Ok(true);
        }
        let (change, part) = if let Some(path) = line.strip_prefix(ADD) {
            let path = named(number, path)?;
            let content = String::new();
            let executable = false;
            let add = FileChange::Add {
                path,
                content,
                executable,
            };
            (add, Part::Add)
        } else if let Some(path) = line.strip_prefix(DELETE) {
            let path = named(number, path)?;
            let hunks = Vec::new();
            (FileChange::Delete { path, hunks }, Part::Between)
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            let update = FileChange::Update {
                path: named(number, path)?,
                to: None,
                hunks: Vec::new(),
                executable: None,
            };
            (update, Part::Update)
        } else {
            return Ok(false);
        };
        self.close_section(number)?;
        if self.changes.len() >= PATCH_FILES_MAX {
            return Err(unclear(number, "the patch names too many files"));
        }
        self.changes.push(change);
        self.part = part;
        Ok(true)
    }

    fn added(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        let Some(FileChange::Add { content, .. }) = self.changes.last_mut() else {
            return Err(unclear(number, "belongs to no file"));
        };
        let added = line.strip_prefix('+');
        // A blank line before the next section is no content.
        let Some(added) = added else {
            return if line.trim().is_empty() {
                Ok(())
            } else {
                Err(unclear(
                    number,
                    "a line of a new file has to start with `+`",
                ))
            };
        };
        content.push_str(added);
        content.push('\n');
        Ok(())
    }

    fn updated(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        if let Some(anchor) = line.strip_prefix("@@") {
            if !self.lines.is_empty() {
                self.close_hunk(number)?;
            }
            self.anchors.extend(anchor_of(anchor));
            return Ok(());
        }
        let op = match line.chars().next() {
            Some(' ') | None => Op::Keep,
            Some('-') => Op::Remove,
            Some('+') => Op::Add,
            Some(_) => {
                return Err(unclear(
                    number,
                    "a line of a change has to start with a blank, `-` or `+`",
                ));
            }
        };
        let rest = line.get(1..).unwrap_or_default();
        self.lines.push((op, rest.to_owned()));
        Ok(())
    }

    fn close_hunk(&mut self, number: usize) -> Result<(), Fault> {
        let anchors = std::mem::take(&mut self.anchors);
        let lines = std::mem::take(&mut self.lines);
        let at_end = std::mem::take(&mut self.at_end);
        if lines.is_empty() {
            return if anchors.is_empty() {
                Ok(())
            } else {
                Err(unclear(number, "a change has a place but no lines"))
            };
        }
        self.hunk_count += 1;
        if self.hunk_count > PATCH_HUNKS_MAX {
            return Err(unclear(number, "the patch holds too many changes"));
        }
        if let Some(FileChange::Update { hunks, .. }) = self.changes.last_mut() {
            hunks.push(Hunk {
                spot: Spot::After(anchors),
                lines,
                at_end,
                final_break: FinalBreak::default(),
            });
        }
        Ok(())
    }

    fn close_section(&mut self, number: usize) -> Result<(), Fault> {
        if !matches!(self.part, Part::Update) {
            return Ok(());
        }
        // A blank line between two sections is no context.
        if let Some((Op::Keep, last)) = self.lines.last()
            && last.is_empty()
            && self.lines.len() == 1
        {
            self.lines.pop();
        }
        self.close_hunk(number)?;
        match self.changes.last() {
            Some(FileChange::Update {
                to: None, hunks, ..
            }) if hunks.is_empty() => {
                Err(unclear(number, "the file before it is updated by nothing"))
            }
            _ => Ok(()),
        }
    }
}

fn named(number: usize, path: &str) -> Result<String, Fault> {
    if path.is_empty() || path.trim() != path {
        return Err(unclear(
            number,
            "a file's name is empty or has blanks around it",
        ));
    }
    Ok(path.to_owned())
}

/// The line named after `@@`. Line numbers, as unified diffs have them, say nothing here.
fn anchor_of(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with('-') && !text.starts_with('+') {
        let text = text.strip_suffix("@@").map_or(text, str::trim);
        return (!text.is_empty()).then(|| text.to_owned());
    }
    None
}
