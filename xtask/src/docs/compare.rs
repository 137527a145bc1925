//! Whether a command did what the page says.

use super::page::Command;
use super::session::Answer;

/// What is different, told for a person; nothing if it is as the page says.
pub(super) fn difference(command: &Command, answer: &Answer) -> Option<String> {
    let lines: Vec<&str> = answer
        .output
        .trim_end()
        .lines()
        .map(str::trim_end)
        .collect();
    let wanted: Vec<&str> = command.output.iter().map(String::as_str).collect();
    let same_code = answer.code == Some(command.code);
    if same_code && lines_match(&wanted, &lines) {
        return None;
    }
    let code = match answer.code {
        _ if same_code => String::new(),
        Some(code) => format!("\n  exit code {code}, the page says {}", command.code),
        None => "\n  was stopped: it took too long or was killed".to_owned(),
    };
    Some(format!(
        "`{}` did something else than the page says{code}\n  the page says:\n{}\n  it said:\n{}",
        command.line,
        indented(&wanted),
        indented(&lines)
    ))
}

fn indented(lines: &[&str]) -> String {
    lines
        .iter()
        .map(|line| format!("    {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Lines against lines with `...` for any number of them.
pub(super) fn lines_match(wanted: &[&str], lines: &[&str]) -> bool {
    match (wanted, lines) {
        ([], []) => true,
        (["...", rest @ ..], _) => {
            (0..=lines.len()).any(|skip| lines_match(rest, lines.get(skip..).unwrap_or_default()))
        }
        ([wanted, more @ ..], [line, rest @ ..]) => {
            line_matches(wanted, line) && lines_match(more, rest)
        }
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}

/// A line against a line with `[..]` for anything. The first fit of each piece is enough, because
/// nothing but the last piece is tied to an end.
fn line_matches(wanted: &str, line: &str) -> bool {
    let Some((first, rest)) = wanted.split_once("[..]") else {
        return wanted == line;
    };
    let Some(mut left) = line.strip_prefix(first) else {
        return false;
    };
    let pieces: Vec<&str> = rest.split("[..]").collect();
    let Some((last, inner)) = pieces.split_last() else {
        return true;
    };
    for piece in inner {
        match left.split_once(piece) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(last)
}
