//! Differences of `.intentignore`.

use super::{Change, ChangeKind, Changes};

/// Compares two texts of `.intentignore`: a line more narrows, a line less widens.
///
/// A line that starts with `!` takes protection away, and where one is, order matters too.
pub fn compare_ignore(old: &str, new: &str) -> Vec<Change> {
    let (old, new) = (lines(old), lines(new));
    let mut changes = Changes::default();
    for (line, kind) in added(&old, &new) {
        changes.add(kind, format!("`.intentignore` adds `{line}`"));
    }
    for (line, kind) in added(&new, &old) {
        let kind = match kind {
            ChangeKind::Narrows => ChangeKind::Widens,
            ChangeKind::Widens => ChangeKind::Narrows,
            ChangeKind::Neutral => ChangeKind::Neutral,
        };
        changes.add(kind, format!("`.intentignore` removes `{line}`"));
    }
    let negated = new.iter().any(|line| line.starts_with('!'));
    let kept: Vec<&&str> = old.iter().filter(|line| new.contains(line)).collect();
    let order: Vec<&&str> = new.iter().filter(|line| old.contains(line)).collect();
    if negated && kept != order {
        changes.add(
            ChangeKind::Widens,
            "`.intentignore` changes the order of its lines",
        );
    }
    changes.0
}

fn lines(text: &str) -> Vec<&str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

fn added<'a>(old: &[&str], new: &[&'a str]) -> Vec<(&'a str, ChangeKind)> {
    // Whether a new line cancels an older `!` depends on the order; only a plain file is easy.
    let kind = |line: &str| {
        if line.starts_with('!') {
            ChangeKind::Widens
        } else {
            ChangeKind::Narrows
        }
    };
    new.iter()
        .filter(|line| !old.contains(line))
        .map(|line| (*line, kind(line)))
        .collect()
}
