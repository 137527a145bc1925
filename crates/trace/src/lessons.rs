//! Lessons from failed verifications, in a block between markers.
//!
//! A command failed if its exit code says so, whatever words it printed. What it printed is
//! untrusted text on its way into an agent's instructions: it is cut, put on one line and can't
//! close the block.

mod verification;

pub use verification::{Verification, verification};

use tagout_vocab::limits::{
    LESSON_COMMAND_BYTES_MAX, LESSON_SUMMARY_BYTES_MAX, LESSON_SUMMARY_LINES_MAX, LESSONS_MAX,
};
use tagout_vocab::{Digest, Timestamp};

/// The heading under which lessons stand.
pub const HEADING: &str = "## Lessons Learned";

/// The block's first line.
pub const BEGIN: &str = "<!-- tagout:lessons begin -->";

/// The block's last line.
pub const END: &str = "<!-- tagout:lessons end -->";

/// What was learnt from one failure.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lesson {
    /// When it failed.
    pub time: Timestamp,
    /// What was verified.
    pub verification: Verification,
    /// The command.
    pub command: String,
    /// Its exit code.
    pub exit_code: i32,
    /// What it said, in short.
    pub summary: String,
    /// The same for the same failure, whenever and wherever in the file it happens.
    pub signature: Digest,
}

/// H14: the lesson of a command that ended, if it was a verification and failed.
pub fn lesson(command: &str, exit_code: i32, output: &str, time: Timestamp) -> Option<Lesson> {
    let verification = verification(command)?;
    if exit_code == 0 {
        return None;
    }
    let command = tame(command, LESSON_COMMAND_BYTES_MAX);
    let summary = tame(&telling_lines(output), LESSON_SUMMARY_BYTES_MAX);
    let signature = Digest::of_parts(
        "tagout lesson v1",
        [
            verification.as_str().as_bytes(),
            command.as_bytes(),
            blurred(&summary).as_bytes(),
        ],
    );
    Some(Lesson {
        time,
        verification,
        command,
        exit_code,
        summary,
        signature,
    })
}

/// The lines that say what went wrong: those that speak of an error, else the last ones.
fn telling_lines(output: &str) -> String {
    let lines = || {
        output
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let speaks = |line: &&str| {
        let line = line.to_ascii_lowercase();
        let words = ["error", "fail", "panic", "assert", "expected"];
        words.iter().any(|word| line.contains(word)) && !line.contains("0 errors")
    };
    let mut told: Vec<&str> = lines()
        .filter(speaks)
        .take(LESSON_SUMMARY_LINES_MAX)
        .collect();
    if told.is_empty() {
        told = lines().rev().take(LESSON_SUMMARY_LINES_MAX).collect();
        told.reverse();
    }
    told.join(" / ")
}

/// One line of plain text that cannot leave its place.
fn tame(text: &str, bytes_max: usize) -> String {
    let visible: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .map(|c| match c {
            '<' => '‹',
            '>' => '›',
            '`' => '\'',
            other => other,
        })
        .collect();
    let words: Vec<&str> = visible.split_whitespace().collect();
    let line = words.join(" ");
    let end = line.floor_char_boundary(bytes_max);
    match line.get(..end) {
        Some(cut) if cut.len() < line.len() => format!("{cut}…"),
        _ => line,
    }
}

/// The text without what differs from run to run: numbers, times, addresses.
fn blurred(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(' ') {
        let is_hex = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut was_digit = false;
        for c in word.chars().take(if is_hex { 0 } else { usize::MAX }) {
            if !(c.is_ascii_digit() && was_digit) {
                out.push(if c.is_ascii_digit() { '#' } else { c });
            }
            was_digit = c.is_ascii_digit();
        }
        out.push(' ');
    }
    out
}

impl Lesson {
    /// The lesson as one line of the block: it says all of what it says.
    pub fn to_line(&self) -> String {
        let told = if self.summary.is_empty() {
            "it printed nothing".to_owned()
        } else {
            self.summary.clone()
        };
        format!(
            "- {}: {} failed, `{}` (exit {}): {told} <!-- sig: {} -->",
            self.time,
            self.verification.as_str(),
            self.command,
            self.exit_code,
            self.signature.hex()
        )
    }
}

/// An instruction file's text with one more lesson; `None` if it has that lesson already.
///
/// Only what stands between the markers changes. Without a block one is put under the heading, or
/// both are put at the end.
pub fn add(text: &str, lesson: &Lesson) -> Option<String> {
    if text.contains(&lesson.signature.hex()) {
        return None;
    }
    let line = lesson.to_line();
    let Some((before, inner, after)) = block(text) else {
        return Some(with_block(text, &line));
    };
    let mut lines: Vec<&str> = inner
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines.push(&line);
    let surplus = lines.len().saturating_sub(LESSONS_MAX);
    let kept = lines.get(surplus..).unwrap_or_default().join("\n");
    Some(format!("{before}{BEGIN}\n{kept}\n{END}{after}"))
}

/// The text around and in the block.
fn block(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (inner, after) = rest.split_once(END)?;
    Some((before, inner, after))
}

fn with_block(text: &str, line: &str) -> String {
    let fresh = format!("{BEGIN}\n{line}\n{END}\n");
    let mut at = 0;
    for one in text.split_inclusive('\n') {
        at += one.len();
        if one.trim_end() == HEADING
            && let Some((before, after)) = text.split_at_checked(at)
        {
            let gap = if before.ends_with('\n') { "" } else { "\n" };
            return format!("{before}{gap}\n{fresh}{after}");
        }
    }
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}{HEADING}\n\n{fresh}")
}

/// The lessons of an instruction file for the intent's context: the latest first, at most so many
/// bytes. What others wrote under the heading counts too.
pub fn recall(text: &str, bytes_max: usize) -> Vec<String> {
    let inner = block(text).map(|(_, inner, _)| inner);
    let headed = || {
        let (_, rest) = text.split_once(HEADING)?;
        Some(rest.split("\n## ").next().unwrap_or(rest))
    };
    let lines = inner.or_else(headed).unwrap_or_default().lines();
    let items = lines.filter_map(|line| line.trim().strip_prefix("- "));
    let mut found: Vec<String> = Vec::new();
    let mut bytes = 0_usize;
    let mut items: Vec<&str> = items.collect();
    items.reverse();
    for item in items {
        let told = tame(
            item.split("<!--").next().unwrap_or(item),
            LESSON_SUMMARY_BYTES_MAX,
        );
        bytes = bytes.saturating_add(told.len());
        if bytes > bytes_max {
            break;
        }
        found.push(told);
    }
    found
}

#[cfg(test)]
mod tests;
