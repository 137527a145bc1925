//! Patches: what they say, and what a file becomes by them.
//!
//! Three spellings lead to the same [`Hunk`]s: blocks of old and new text, unified diffs, and the
//! `*** Begin Patch` form. A hunk is put only where its old lines stand exactly, and only if that
//! place is beyond doubt.

mod apply;
mod blocks;
mod envelope;
mod locate;
mod names;
mod unified;

pub use apply::{Applied, apply};
pub use blocks::{is_blocks, read_blocks};

use crate::fault::Fault;

/// What one line of a hunk does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Op {
    /// It stands there and stays.
    Keep,
    /// It stands there and goes.
    Remove,
    /// It comes.
    Add,
}

/// Where the old lines of a hunk are looked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Spot {
    /// At this line, counted from zero; elsewhere only if there is exactly one such place.
    Near(usize),
    /// At this line and nowhere else, if the old lines stand at several places.
    OneOf(usize),
    /// After these lines, one after the other; the first place after them is meant.
    After(Vec<String>),
    /// Where there is exactly one such place.
    Anywhere,
}

/// What a hunk says about the end of the file, for the old or the new version.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FinalBreak {
    /// The last old line has no line end.
    pub old_lacks: bool,
    /// The last new line has no line end.
    pub new_lacks: bool,
}

/// One change at one place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hunk {
    /// Where it is looked for.
    pub spot: Spot,
    /// Its lines in order.
    pub lines: Vec<(Op, String)>,
    /// Its old lines have to be the last ones of the file.
    pub at_end: bool,
    /// What it says about the end of the file.
    pub final_break: FinalBreak,
}

impl Hunk {
    /// The lines that have to stand in the file.
    pub fn old(&self) -> Vec<&str> {
        self.lines
            .iter()
            .filter(|(op, _)| *op != Op::Add)
            .map(|(_, line)| line.as_str())
            .collect()
    }
}

/// What a patch does with one file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FileChange {
    /// Makes a file that must not exist yet.
    Add {
        /// Its path as the patch spells it.
        path: String,
        /// Its content.
        content: String,
        /// Whether people may run it, where the patch says so.
        executable: bool,
    },
    /// Changes a file, and moves it where `to` is another path.
    Update {
        /// Its path as the patch spells it.
        path: String,
        /// Where it goes.
        to: Option<String>,
        /// The changes; none for a mere move.
        hunks: Vec<Hunk>,
        /// Whether people may run it, where the patch says so.
        executable: Option<bool>,
    },
    /// Makes a file out of another one, which stays.
    Copy {
        /// The other one.
        from: String,
        /// The new one.
        to: String,
        /// The changes on the way.
        hunks: Vec<Hunk>,
    },
    /// Deletes a file.
    Delete {
        /// Its path as the patch spells it.
        path: String,
        /// Its whole content as one hunk, where the patch shows it; it has to be true.
        hunks: Vec<Hunk>,
    },
}

impl FileChange {
    /// Every path that the change names.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Self::Add { path, .. } | Self::Delete { path, .. } => vec![path],
            Self::Update { path, to, .. } => std::iter::once(path.as_str())
                .chain(to.as_deref())
                .collect(),
            Self::Copy { from, to, .. } => vec![from, to],
        }
    }
}

/// Reads a patch in the `*** Begin Patch` form or as a unified diff.
pub fn read(text: &str) -> Result<Vec<FileChange>, Fault> {
    let changes = if envelope::is_envelope(text) {
        envelope::read(text)?
    } else {
        unified::read(text)?
    };
    if changes.is_empty() {
        return Err(Fault::invalid(
            "the patch names no file; use the `*** Begin Patch` form or a unified diff",
        ));
    }
    Ok(changes)
}

/// Reads hunks of a unified diff that may stand without names, for a file that is known already.
pub fn read_hunks(text: &str) -> Result<Vec<Hunk>, Fault> {
    unified::read_hunks(text)
}

/// A fault in the patch's own text.
fn unclear(number: usize, what: &str) -> Fault {
    Fault::invalid(format!("line {number} of the patch: {what}"))
}

#[cfg(test)]
mod tests;
