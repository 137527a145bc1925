//! Replacing a text in a file: where it stands, how often, and what comes out.

use tagout_vocab::limits::{CANDIDATES_MAX, REPLACEMENTS_MAX, TOOL_FILE_BYTES_MAX};

use crate::fault::{Candidate, Fault};
use crate::near::{nearest, place};
use crate::text::{Splice, Text};

/// How often the old text may and must occur.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Occurrences {
    /// Exactly so many times.
    Exactly(usize),
    /// At least once; all are replaced.
    All,
}

/// What came out of a replacement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Replaced {
    /// The new text.
    pub text: Text,
    /// How many places were replaced.
    pub count: usize,
    /// Their lines, counted from one in the old text.
    pub lines: Vec<usize>,
}

/// Replaces a text, which has to stand in the file letter by letter; only `\r\n` and `\n` count as
/// the same. Nothing is guessed.
pub fn replace(text: &Text, old: &str, new: &str, wanted: Occurrences) -> Result<Replaced, Fault> {
    let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    if old.is_empty() {
        return Err(Fault::invalid(
            "the old text is empty; only an empty or new file can be filled that way",
        ));
    }
    if old == new {
        return Err(Fault::invalid(
            "the old and the new text are the same; nothing would change",
        ));
    }
    let starts: Vec<usize> = text
        .flat()
        .match_indices(&old)
        .map(|(start, _)| start)
        .collect();
    check_count(text, &old, &starts, wanted)?;
    check_size(text, starts.len(), &new)?;
    let lines = lines_of(text, &starts);
    let splices: Vec<Splice> = starts
        .iter()
        .map(|start| Splice {
            range: *start..start + old.len(),
            text: new.clone(),
        })
        .collect();
    Ok(Replaced {
        text: text.spliced(&splices)?,
        count: splices.len(),
        lines,
    })
}

fn check_count(text: &Text, old: &str, starts: &[usize], wanted: Occurrences) -> Result<(), Fault> {
    let Some(first) = starts.first() else {
        return Err(not_found(text, old));
    };
    match wanted {
        Occurrences::All => Ok(()),
        Occurrences::Exactly(1) => {
            // Two overlapping places are two places, although only one could be replaced.
            let after = first + old.chars().next().map_or(1, char::len_utf8);
            let rest = text.flat().get(after..).unwrap_or_default();
            let overlapping = rest.find(old).map(|found| after + found);
            match overlapping {
                None => Ok(()),
                Some(second) => {
                    let mut places = starts.to_vec();
                    if places.len() == 1 {
                        places.push(second);
                    }
                    Err(ambiguous(text, old, &places))
                }
            }
        }
        Occurrences::Exactly(count) if count == starts.len() => Ok(()),
        Occurrences::Exactly(count) => Err(Fault::Ambiguous {
            message: format!(
                "the old text occurs {} times, not {count} times; correct the number or the text",
                starts.len()
            ),
            candidates: shown(text, old, starts),
        }),
    }
}

/// Looked at before anything is built: many places times a long text is more than memory holds.
fn check_size(text: &Text, count: usize, new: &str) -> Result<(), Fault> {
    let added = count.checked_mul(new.len());
    let total = added.and_then(|added| added.checked_add(text.flat().len()));
    let fits = total.is_some_and(|total| total as u64 <= 2 * TOOL_FILE_BYTES_MAX);
    if count > REPLACEMENTS_MAX || !fits {
        return Err(Fault::TooLarge {
            message: format!(
                "the old text occurs {count} times, which makes the change too large for one edit; \
                 make the old text longer"
            ),
        });
    }
    Ok(())
}

fn not_found(text: &Text, old: &str) -> Fault {
    let lines: Vec<&str> = text.flat().lines().collect();
    let sought: Vec<&str> = old.lines().collect();
    let candidates = nearest(&lines, &sought);
    let hint = if candidates.is_empty() {
        "nothing in the file is like it; read the file again"
    } else {
        "the nearest places are shown; copy the text from there exactly"
    };
    Fault::NoMatch {
        message: format!("the old text does not occur in the file; {hint}"),
        candidates,
    }
}

fn ambiguous(text: &Text, old: &str, starts: &[usize]) -> Fault {
    Fault::Ambiguous {
        message: format!(
            "the old text occurs {} times; add lines around it until it occurs once, or ask for \
             every occurrence",
            starts.len()
        ),
        candidates: shown(text, old, starts),
    }
}

fn shown(text: &Text, old: &str, starts: &[usize]) -> Vec<Candidate> {
    let lines: Vec<&str> = text.flat().lines().collect();
    let height = old.lines().count();
    starts
        .iter()
        .take(CANDIDATES_MAX)
        .map(|start| place(&lines, line_of(text, *start).saturating_sub(1), height))
        .collect()
}

/// The lines of places that are in order, counted from one.
fn lines_of(text: &Text, starts: &[usize]) -> Vec<usize> {
    let mut breaks = text.flat().match_indices('\n').map(|(at, _)| at).peekable();
    let mut line = 1;
    starts
        .iter()
        .map(|start| {
            while breaks.next_if(|at| at < start).is_some() {
                line += 1;
            }
            line
        })
        .collect()
}

/// The line of a place, counted from one.
fn line_of(text: &Text, start: usize) -> usize {
    let before = text.flat().as_bytes().iter().take(start);
    before.filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests;
