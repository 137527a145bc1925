//! Comments that are sentences, and no code that is left for later.

use super::Finding;
use super::source::is_word;
use super::tree::Tree;

/// Words that shout or leave work behind; a reason in plain words says more.
const SHOUTS: &[&str] = &[
    "ALWAYS",
    "ATTENTION",
    "CAUTION",
    "CRITICAL",
    "FIXME",
    "HACK",
    "IMPORTANT",
    "MUST",
    "NEVER",
    "NOTE",
    "TODO",
    "WARNING",
    "XXX",
];

/// Words that tie a comment to a plan, followed by a number.
const PLANS: &[&str] = &["phase", "milestone", "sprint", "issue", "ticket", "pr"];

/// A comment does not shout, and names no plan and no day.
pub(super) fn calm(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        for (number, line) in file.numbered() {
            let mut breach = |message: String| {
                findings.push(Finding::new(&file.path, number, "comments", message));
            };
            if let Some(word) = words(&line.comment).find(|word| SHOUTS.contains(word)) {
                breach(format!("`{word}` shouts; say why in a sentence"));
            }
            if let Some(plan) = plan(&line.comment) {
                breach(format!("`{plan}` names a plan; a comment outlives it"));
            }
            if let Some(day) = day(&line.comment) {
                breach(format!("`{day}` is a date; history is in the log"));
            }
        }
    }
    findings
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !is_word(letter))
        .filter(|word| !word.is_empty())
}

fn plan(comment: &str) -> Option<String> {
    let all: Vec<&str> = words(comment).collect();
    all.windows(2).find_map(|pair| match pair {
        [word, number]
            if PLANS.contains(&word.to_lowercase().as_str())
                && number.chars().all(|letter| letter.is_ascii_digit()) =>
        {
            Some(format!("{word} {number}"))
        }
        _ => None,
    })
}

/// A calendar day. A protocol's revision may look like one and is said to be a revision.
fn day(comment: &str) -> Option<&str> {
    if comment.contains("revision") || comment.contains("MCP") {
        return None;
    }
    comment
        .split(|letter: char| !letter.is_ascii_digit() && letter != '-')
        .find(|word| {
            let parts: Vec<usize> = word.split('-').map(str::len).collect();
            parts == [4, 2, 2] && word.starts_with("20")
        })
}

/// Nothing is left to be done in code, and no test is switched off.
pub(super) fn no_unfinished_code(tree: &Tree) -> Vec<Finding> {
    const LEFT: &[&str] = &["todo!", "unimplemented!", "#[ignore]", "#[ignore ="];
    let mut findings = Vec::new();
    for file in tree.rust() {
        for (number, line) in file.numbered() {
            for left in LEFT.iter().filter(|left| line.code.contains(**left)) {
                let message = format!("`{left}` is unfinished work; finish it or leave it out");
                findings.push(Finding::new(&file.path, number, "unfinished", message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{Tree, calm, no_unfinished_code};

    fn count(rule: fn(&Tree) -> Vec<super::Finding>, text: &str) -> usize {
        rule(&Tree::of(&[("crates/x/src/a.rs", text)])).len()
    }

    #[test]
    fn shouting_plans_and_dates_are_found() {
        for text in [
            "// IMPORTANT: do not touch\n",
            "// TODO later\n",
            "/// Added in phase 2.\n",
            "// See issue #12.\n",
            "// Changed on 2026-03-04.\n",
        ] {
            assert_eq!(count(calm, text), 1, "{text}");
        }
    }

    #[test]
    fn plain_sentences_are_fine() {
        for text in [
            "// SAFE calls are allowed in REQUEST.\n",
            "// SAFETY: the pointer is owned.\n",
            "/// JSON Schema 2020-12.\n",
            "/// MCP 2025-11-25 has no such field.\n",
            "let a = \"IMPORTANT\";\n",
        ] {
            assert_eq!(count(calm, text), 0, "{text}");
        }
    }

    #[test]
    fn unfinished_code_is_found_even_in_tests() {
        assert_eq!(count(no_unfinished_code, "fn f() { todo!() }\n"), 1);
        assert_eq!(count(no_unfinished_code, "#[ignore]\n"), 1);
        assert_eq!(count(no_unfinished_code, "#[ignore = \"slow\"]\n"), 1);
        assert_eq!(count(no_unfinished_code, "/// No `todo!` here.\n"), 0);
    }
}
