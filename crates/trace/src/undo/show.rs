//! What an edit of a plan would change, as a difference that people can read.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::{Content, Edit, Entry, EntryKind};
use crate::align::{By, Hunk, hunks};

/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// The difference between what is there and what would be, in the unified form.
pub fn difference<P: Display>(edit: &Edit<P>) -> Vec<u8> {
    let mut out = Vec::new();
    let name = |side: &str, entry: Option<&Entry>| match entry {
        Some(_) => format!("{side}/{}", edit.path),
        None => "/dev/null".to_owned(),
    };
    let (now, result) = (edit.now.as_ref(), edit.result.as_ref());
    out.extend_from_slice(format!("--- {}\n", name("a", now)).as_bytes());
    out.extend_from_slice(format!("+++ {}\n", name("b", result)).as_bytes());
    if let (Some(now), Some(result)) = (now, result)
        && now.mode != result.mode
    {
        out.extend_from_slice(format!("mode {:o} to {:o}\n", now.mode, result.mode).as_bytes());
    }
    for line in facts(now, result) {
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    let (Some(old), Some(new)) = (text(now), text(result)) else {
        out.extend_from_slice(b"content differs and is not shown\n");
        return out;
    };
    let lines = |text: &[u8]| -> Vec<Vec<u8>> {
        text.split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect()
    };
    let (old, new) = (lines(&old), lines(&new));
    let refs =
        |lines: &'_ [Vec<u8>]| -> Vec<u64> { lines.iter().map(|line| number(line)).collect() };
    let changes = hunks(&refs(&old), &refs(&new), By::Lines);
    for group in groups(&changes) {
        write_group(&mut out, group, &old, &new);
    }
    out
}

/// What becomes of everything but the content and the permissions, a line each.
fn facts(now: Option<&Entry>, result: Option<&Entry>) -> Vec<String> {
    let words = |entry: &Entry| match entry.kind {
        EntryKind::File => "a file",
        EntryKind::Symlink => "a symbolic link",
        EntryKind::Folder => "a folder",
        EntryKind::Pipe => "a named pipe",
        EntryKind::Socket => "a socket",
    };
    let is_plain = |entry: &Entry| entry.kind == EntryKind::File;
    let mut lines = Vec::new();
    match (now, result) {
        (Some(now), Some(result)) if now.kind != result.kind => {
            lines.push(format!("{} to {}", words(now), words(result)));
        }
        (Some(one), None) | (None, Some(one)) if !is_plain(one) => {
            lines.push(words(one).to_owned());
        }
        (Some(_) | None, _) => {}
    }
    let (Some(now), Some(result)) = (now, result) else {
        return lines;
    };
    if let (Some(one), Some(other)) = (now.held.owner, result.held.owner)
        && one != other
    {
        lines.push(format!(
            "owner {}:{} to {}:{}",
            one.0, one.1, other.0, other.1
        ));
    }
    if let (Some(one), Some(other)) = (&now.held.attributes, &result.held.attributes) {
        let names: BTreeSet<&Vec<u8>> = one.keys().chain(other.keys()).collect();
        let differ = names
            .into_iter()
            .filter(|name| one.get(*name) != other.get(*name));
        lines.extend(differ.map(|name| format!("attribute {}", String::from_utf8_lossy(name))));
    }
    let is_alike = now.digest == result.digest && now.kind == result.kind;
    if is_alike
        && result
            .held
            .time
            .is_some_and(|time| now.held.time != Some(time))
    {
        lines.push("time of its last change".to_owned());
    }
    lines
}

fn number(line: &[u8]) -> u64 {
    let digest = tagout_vocab::Digest::of(line);
    digest
        .as_bytes()
        .first_chunk()
        .copied()
        .map_or(0, u64::from_be_bytes)
}

/// The bytes to be shown; `None` for what is not text or not there to be read.
fn text(entry: Option<&Entry>) -> Option<Vec<u8>> {
    let Some(entry) = entry else {
        return Some(Vec::new());
    };
    match (&entry.content, entry.kind) {
        (Content::Kept(bytes), EntryKind::File | EntryKind::Symlink) if !bytes.contains(&0) => {
            Some(bytes.to_vec())
        }
        (
            Content::Kept(_) | Content::Lost(_),
            EntryKind::Folder | EntryKind::Pipe | EntryKind::Socket,
        ) => Some(Vec::new()),
        (Content::Kept(_) | Content::Lost(_), EntryKind::File | EntryKind::Symlink) => None,
    }
}

/// Changes whose surroundings meet are shown together.
fn groups(changes: &[Hunk]) -> impl Iterator<Item = &[Hunk]> {
    changes.chunk_by(|one, next| {
        next.old.start.saturating_sub(one.old.end) <= CONTEXT_LINES.saturating_mul(2)
    })
}

fn write_group(out: &mut Vec<u8>, group: &[Hunk], old: &[Vec<u8>], new: &[Vec<u8>]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return;
    };
    let lead = first.old.start.min(CONTEXT_LINES);
    let trail = old.len().saturating_sub(last.old.end).min(CONTEXT_LINES);
    let start = [first.old.start, first.new.start].map(|at| at.saturating_sub(lead));
    let end = [last.old.end, last.new.end].map(|at| at.saturating_add(trail));
    let side = |at: usize| {
        let (from, to) = (start.get(at), end.get(at));
        let (from, to) = (from.copied().unwrap_or(0), to.copied().unwrap_or(0));
        let len = to.saturating_sub(from);
        // An empty range is named by the line before it.
        (from.saturating_add(usize::from(len > 0)), len)
    };
    let ((old_from, old_len), (new_from, new_len)) = (side(0), side(1));
    let header = format!("@@ -{old_from},{old_len} +{new_from},{new_len} @@\n");
    out.extend_from_slice(header.as_bytes());
    let mut at = start[0];
    for hunk in group {
        write_lines(out, b' ', old.get(at..hunk.old.start));
        write_lines(out, b'-', old.get(hunk.old.clone()));
        write_lines(out, b'+', new.get(hunk.new.clone()));
        at = hunk.old.end;
    }
    write_lines(out, b' ', old.get(at..end[0]));
}

fn write_lines(out: &mut Vec<u8>, mark: u8, lines: Option<&[Vec<u8>]>) {
    for line in lines.unwrap_or_default() {
        out.push(mark);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}
