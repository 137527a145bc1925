//! A note's text, read.

use super::{Key, Metadata, Note, NoteError, NoteFile, SCHEMA_VERSION};
use crate::ranges::LineRange;

/// Reads a note.
pub fn parse(text: &str) -> Result<Note, NoteError> {
    let (attestations, json) = divided(text)?;
    let metadata: Metadata =
        serde_json::from_str(json).map_err(|source| NoteError::Metadata { source })?;
    if metadata.schema_version != SCHEMA_VERSION {
        let version = metadata.schema_version;
        return Err(NoteError::Version { version });
    }
    let mut files: Vec<NoteFile> = Vec::new();
    for (at, line) in attestations.lines().enumerate() {
        let problem = |problem| NoteError::Line {
            line: at + 1,
            problem,
        };
        if line.trim().is_empty() {
            continue;
        }
        if let Some(entry) = line.strip_prefix("  ") {
            let file = files.last_mut();
            let file = file.ok_or_else(|| problem("lines stand before any file"))?;
            file.entries.push(entry_of(entry, at + 1)?);
        } else {
            files.push(NoteFile {
                path: unquoted(line).to_owned(),
                entries: Vec::new(),
            });
        }
    }
    Ok(Note { files, metadata })
}

fn divided(text: &str) -> Result<(&str, &str), NoteError> {
    if let Some(json) = text.strip_prefix("---\n") {
        return Ok(("", json));
    }
    let (attestations, json) = text.split_once("\n---\n").ok_or(NoteError::NoDivider)?;
    Ok((attestations, json))
}

fn unquoted(line: &str) -> &str {
    line.strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(line)
}

fn entry_of(entry: &str, line: usize) -> Result<(Key, Vec<LineRange>), NoteError> {
    let problem = |problem| NoteError::Line { line, problem };
    let (key, ranges) = entry
        .split_once(' ')
        .ok_or_else(|| problem("a key and its lines belong together"))?;
    let key = Key::parse(key).ok_or_else(|| problem("the key is none of this form"))?;
    let ranges: Option<Vec<LineRange>> = ranges.trim().split(',').map(range).collect();
    let ranges = ranges.ok_or_else(|| problem("the lines are not like `1-4,9`"))?;
    let mut pairs = ranges.iter().zip(ranges.iter().skip(1));
    if !pairs.all(|(one, next)| one.end_line < next.start_line) {
        return Err(problem("the lines do not ascend"));
    }
    Ok((key, ranges))
}

fn range(text: &str) -> Option<LineRange> {
    let (start, end) = text.split_once('-').unwrap_or((text, text));
    let number = |digits: &str| -> Option<u32> {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| is_number)
    };
    let (start_line, end_line) = (number(start)?, number(end)?);
    (start_line >= 1 && end_line >= start_line).then_some(LineRange {
        start_line,
        end_line,
    })
}
