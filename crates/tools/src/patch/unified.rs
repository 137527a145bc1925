//! Unified diffs, in git's form or the plain one.

use tagout_vocab::limits::{PATCH_FILES_MAX, PATCH_HUNKS_MAX};

use super::names::{Name, file_name, git_name, unquoted};
use super::{FileChange, FinalBreak, Hunk, Op, Spot, unclear};
use crate::fault::Fault;

/// Lines of git's headers that say nothing which has to be done.
const SILENT: [&str; 4] = [
    "index ",
    "similarity index ",
    "dissimilarity index ",
    "old mode ",
];

/// What one file's section has said so far.
#[derive(Debug, Default)]
struct Section {
    /// It was opened by git's header.
    by_git: bool,
    /// The name in git's header, where both are the same.
    git: Option<String>,
    old: Option<Name>,
    new: Option<Name>,
    rename: (Option<String>, Option<String>),
    copy: (Option<String>, Option<String>),
    is_new: bool,
    is_deleted: bool,
    executable: Option<bool>,
    hunks: Vec<Hunk>,
}

#[derive(Debug, Default)]
struct Reader {
    changes: Vec<FileChange>,
    section: Option<Section>,
    old_left: usize,
    new_left: usize,
    hunk_count: usize,
}

/// Reads a diff of any number of files.
pub(super) fn read(text: &str) -> Result<Vec<FileChange>, Fault> {
    let mut reader = Reader::default();
    let mut last = 0;
    for (number, line) in (1..).zip(lines(text)) {
        reader.take(number, line)?;
        last = number;
    }
    reader.close(last)?;
    Ok(reader.changes)
}

/// Reads the hunks for one file; names may stand before them and are not looked at.
pub(super) fn read_hunks(text: &str) -> Result<Vec<Hunk>, Fault> {
    let mut reader = Reader {
        section: Some(Section::default()),
        ..Reader::default()
    };
    let mut names = 0;
    for (number, line) in (1..).zip(lines(text)) {
        let in_hunk = reader.old_left > 0 || reader.new_left > 0;
        let is_name = line.starts_with("--- ") || line.starts_with("+++ ");
        if !in_hunk && is_name {
            names += 1;
            if names > 2 {
                return Err(unclear(number, "the diff is for more than one file"));
            }
            continue;
        }
        reader.take(number, line)?;
    }
    if reader.old_left > 0 || reader.new_left > 0 {
        return Err(Fault::invalid("the last hunk ends too early"));
    }
    let hunks = reader.section.map(|section| section.hunks);
    hunks.filter(|hunks| !hunks.is_empty()).ok_or_else(|| {
        Fault::invalid("there is neither a `<<<<<<< SEARCH` block nor a hunk (`@@ -1,2 +1,2 @@`)")
    })
}

/// The lines of a diff. The line ends of the patch itself say nothing about those of the file.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').map(|line| {
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    })
}

impl Reader {
    fn take(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        if line.starts_with('\\') {
            return self.no_final_break(number);
        }
        if self.old_left > 0 || self.new_left > 0 {
            return self.hunk_line(number, line);
        }
        if self.header(number, line)? || line.trim().is_empty() {
            return Ok(());
        }
        Err(unclear(number, "is no part of a diff"))
    }

    fn hunk_line(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        let (op, old, new) = match line.chars().next() {
            Some(' ') | None => (Op::Keep, 1, 1),
            Some('-') => (Op::Remove, 1, 0),
            Some('+') => (Op::Add, 0, 1),
            Some(_) => return Err(unclear(number, "has to start with a blank, `-` or `+`")),
        };
        let left = self.old_left.checked_sub(old);
        let left = left.zip(self.new_left.checked_sub(new));
        let Some((old_left, new_left)) = left else {
            return Err(unclear(
                number,
                "the hunk holds more lines than it announces",
            ));
        };
        (self.old_left, self.new_left) = (old_left, new_left);
        let hunk = self.section.as_mut().and_then(|open| open.hunks.last_mut());
        if let Some(hunk) = hunk {
            let rest = line.get(1..).unwrap_or_default();
            hunk.lines.push((op, rest.to_owned()));
        }
        Ok(())
    }

    /// `\ No newline at end of file`: about the line before it.
    fn no_final_break(&mut self, number: usize) -> Result<(), Fault> {
        let hunk = self.section.as_mut().and_then(|open| open.hunks.last_mut());
        let Some((hunk, op)) = hunk.and_then(|hunk| {
            let op = hunk.lines.last().map(|(op, _)| *op)?;
            Some((hunk, op))
        }) else {
            return Err(unclear(number, "follows no line"));
        };
        if matches!(op, Op::Keep | Op::Remove) {
            hunk.final_break.old_lacks = true;
        }
        if matches!(op, Op::Keep | Op::Add) {
            hunk.final_break.new_lacks = true;
        }
        Ok(())
    }

    fn header(&mut self, number: usize, line: &str) -> Result<bool, Fault> {
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.open(number)?;
            self.section = Some(Section {
                by_git: true,
                git: git_name(names),
                ..Section::default()
            });
            return Ok(true);
        }
        if let Some(name) = line.strip_prefix("--- ") {
            let name = file_name(name).ok_or_else(|| unclear(number, "the name is unclear"))?;
            let fits = |open: &Section| open.by_git && open.old.is_none();
            // In a plain diff each pair of names opens a section of its own.
            if !self.section.as_ref().is_some_and(fits) {
                self.open(number)?;
            }
            self.section.get_or_insert_default().old = Some(name);
            return Ok(true);
        }
        if let Some(name) = line.strip_prefix("+++ ") {
            let name = file_name(name).ok_or_else(|| unclear(number, "the name is unclear"))?;
            let open = self.section.as_mut().filter(|open| open.old.is_some());
            let open = open.ok_or_else(|| unclear(number, "the old name is missing"))?;
            open.new = Some(name);
            return Ok(true);
        }
        if let Some(range) = line.strip_prefix("@@ ") {
            self.open_hunk(number, range)?;
            return Ok(true);
        }
        self.extended(number, line)
    }

    fn open_hunk(&mut self, number: usize, range: &str) -> Result<(), Fault> {
        let (start, old, new) =
            ranges(range).ok_or_else(|| unclear(number, "the line numbers are unclear"))?;
        let Some(section) = &mut self.section else {
            return Err(unclear(number, "the hunk belongs to no file"));
        };
        self.hunk_count += 1;
        if self.hunk_count > PATCH_HUNKS_MAX {
            return Err(unclear(number, "the diff holds too many hunks"));
        }
        // Without old lines the number names the line after which the new ones come.
        let line = if old == 0 {
            start
        } else {
            start.saturating_sub(1)
        };
        section.hunks.push(Hunk {
            spot: Spot::Near(line),
            lines: Vec::new(),
            at_end: false,
            final_break: FinalBreak::default(),
        });
        (self.old_left, self.new_left) = (old, new);
        Ok(())
    }

    /// Git's further lines between the names of a section and its hunks.
    fn extended(&mut self, number: usize, line: &str) -> Result<bool, Fault> {
        let Some(section) = &mut self.section else {
            return Ok(false);
        };
        if SILENT.iter().any(|silent| line.starts_with(silent)) {
            return Ok(true);
        }
        if let Some(mode) = line.strip_prefix("deleted file mode ") {
            section.is_deleted = true;
            return regular(number, mode).map(|_| true);
        }
        if let Some(mode) = line.strip_prefix("new file mode ") {
            section.is_new = true;
            section.executable = Some(regular(number, mode)?);
            return Ok(true);
        }
        if let Some(mode) = line.strip_prefix("new mode ") {
            section.executable = Some(regular(number, mode)?);
            return Ok(true);
        }
        let slots = [
            ("rename from ", &mut section.rename.0),
            ("rename to ", &mut section.rename.1),
            ("copy from ", &mut section.copy.0),
            ("copy to ", &mut section.copy.1),
        ];
        for (prefix, slot) in slots {
            if let Some(name) = line.strip_prefix(prefix) {
                *slot = unquoted(name);
                return Ok(slot.is_some());
            }
        }
        Ok(false)
    }

    fn open(&mut self, number: usize) -> Result<(), Fault> {
        self.close(number)?;
        if self.changes.len() >= PATCH_FILES_MAX {
            return Err(unclear(number, "the diff names too many files"));
        }
        Ok(())
    }

    fn close(&mut self, number: usize) -> Result<(), Fault> {
        let Some(section) = self.section.take() else {
            return Ok(());
        };
        if self.old_left > 0 || self.new_left > 0 {
            return Err(unclear(number, "the hunk before it ends too early"));
        }
        let change = section.into_change().ok_or_else(|| {
            unclear(
                number,
                "the part before it does not say clearly which file it is about",
            )
        })?;
        self.changes.push(change);
        Ok(())
    }
}

impl Section {
    /// What the section does; `None` when its lines contradict each other.
    fn into_change(self) -> Option<FileChange> {
        let Self {
            git,
            hunks,
            executable,
            ..
        } = self;
        // What the pair of names says, and git's header where there is no pair.
        let (old, new) = match (self.old, self.new) {
            (Some(old), Some(new)) => (old.file(), new.file()),
            (None, None) => (git.clone(), git),
            _ => return None,
        };
        match (self.rename, self.copy) {
            ((None, None), (None, None)) => {}
            ((Some(from), Some(to)), (None, None)) => {
                let same = |name: &Option<String>, other: &String| {
                    name.as_ref().is_none_or(|name| name == other)
                };
                let fits = same(&old, &from) && same(&new, &to);
                return fits.then_some(FileChange::Update {
                    path: from,
                    to: Some(to),
                    hunks,
                    executable,
                });
            }
            ((None, None), (Some(from), Some(to))) => {
                return Some(FileChange::Copy { from, to, hunks });
            }
            _ => return None,
        }
        match (old, new) {
            (None, Some(path)) => Some(FileChange::Add {
                content: added(&hunks)?,
                path,
                executable: executable.unwrap_or(false),
            }),
            (Some(path), None) => Some(FileChange::Delete { path, hunks }),
            (Some(old), Some(new)) if old != new => None,
            (Some(path), Some(_)) if self.is_new => Some(FileChange::Add {
                content: added(&hunks)?,
                path,
                executable: executable.unwrap_or(false),
            }),
            (Some(path), Some(_)) if self.is_deleted => Some(FileChange::Delete { path, hunks }),
            (Some(path), Some(_)) if !hunks.is_empty() || executable.is_some() => {
                Some(FileChange::Update {
                    path,
                    to: None,
                    hunks,
                    executable,
                })
            }
            (Some(_), Some(_)) | (None, None) => None,
        }
    }
}

/// The content of a new file: only added lines may be there.
fn added(hunks: &[Hunk]) -> Option<String> {
    let mut content = String::new();
    for (op, line) in hunks.iter().flat_map(|hunk| &hunk.lines) {
        if *op != Op::Add {
            return None;
        }
        content.push_str(line);
        content.push('\n');
    }
    if hunks.last().is_some_and(|hunk| hunk.final_break.new_lacks) {
        content.pop();
    }
    Some(content)
}

/// Whether a mode of git's is that of a file that can be run; links and modules are not changed.
fn regular(number: usize, mode: &str) -> Result<bool, Fault> {
    match mode.trim() {
        "100644" | "100664" => Ok(false),
        "100755" => Ok(true),
        _ => Err(unclear(
            number,
            "only regular files can be changed by a patch",
        )),
    }
}

/// Start of the old lines, their number and the number of new lines in `-a,b +c,d @@ …`.
fn ranges(range: &str) -> Option<(usize, usize, usize)> {
    let (ranges, _) = range.split_once(" @@")?;
    let (old, new) = ranges.split_once(' ')?;
    let pair = |part: &str| match part.split_once(',') {
        Some((start, length)) => Some((start.parse().ok()?, length.parse().ok()?)),
        None => Some((part.parse().ok()?, 1)),
    };
    let (start, old): (usize, usize) = pair(old.strip_prefix('-')?)?;
    let (_, new): (usize, usize) = pair(new.strip_prefix('+')?)?;
    Some((start, old, new))
}
