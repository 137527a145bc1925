//! Which tests cite which ids.

use super::is_id;
use crate::tidy::source::{Line, is_word};
use crate::tidy::tree::{File, Tree};

/// One test that cites ids.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub(crate) struct Citation {
    /// The crate and the function, such as `policy::names_are_known`.
    pub(crate) test: String,
    /// What it cites.
    pub(crate) ids: Vec<String>,
}

/// Every test of the repository that cites an id, sorted.
pub(super) fn all(tree: &Tree) -> Vec<Citation> {
    let mut citations: Vec<Citation> = tree.rust().flat_map(of_file).collect();
    citations.sort();
    citations.dedup();
    citations
}

fn of_file(file: &File) -> Vec<Citation> {
    let package = match file.room() {
        Some(room) => room,
        None => file.path.split('/').next().unwrap_or_default(),
    };
    let mut citations = Vec::new();
    let mut doc: Vec<&str> = Vec::new();
    let mut is_test = false;
    for line in &file.lines {
        let code = line.code.trim();
        if let Some(text) = doc_text(line) {
            doc.push(text);
        } else if code.starts_with("#[") {
            is_test |= is_test_attribute(code);
        } else if let Some(name) = function_name(code) {
            if is_test {
                let ids = ids_of(name, &doc);
                let test = format!("{package}::{name}");
                citations.extend((!ids.is_empty()).then_some(Citation { test, ids }));
            }
            (doc, is_test) = (Vec::new(), false);
        } else if !code.is_empty() && !code.starts_with(')') && !code.starts_with(']') {
            (doc, is_test) = (Vec::new(), false);
        }
    }
    citations
}

/// The text of an outer doc comment.
fn doc_text(line: &Line) -> Option<&str> {
    line.code
        .trim()
        .is_empty()
        .then(|| line.comment.strip_prefix('/'))
        .flatten()
}

fn is_test_attribute(code: &str) -> bool {
    code.starts_with("#[test]") || code.contains("::test]") || code.contains("::test(")
}

fn function_name(code: &str) -> Option<&str> {
    let mut words = code
        .split(|letter: char| !is_word(letter))
        .filter(|word| !word.is_empty());
    words.find(|word| *word == "fn")?;
    words.next()
}

/// The ids that a test cites: in its doc comment, ranges included, and at the head of its name.
fn ids_of(name: &str, doc: &[&str]) -> Vec<String> {
    let mut ids: Vec<String> = name
        .split('_')
        .map(str::to_uppercase)
        .take_while(|word| is_id(word))
        .collect();
    for line in doc {
        let words: Vec<&str> = line
            .split(|letter: char| !letter.is_alphanumeric() && letter != '–' && letter != '-')
            .collect();
        for word in words {
            match word.split_once(['–', '-']) {
                Some((from, to)) => ids.extend(range(from, to)),
                None if is_id(word) => ids.push(word.to_owned()),
                None => {}
            }
        }
    }
    ids.sort();
    ids.dedup();
    ids
}

/// The ids from one to another of the same group.
fn range(from: &str, to: &str) -> Vec<String> {
    let number = |word: &str| {
        let digits: String = word.chars().skip(1).collect();
        digits.parse::<usize>().ok()
    };
    match (number(from), number(to), from.chars().next()) {
        (Some(first), Some(last), Some(group)) if is_id(from) && is_id(to) => {
            let letter = to.chars().next();
            (first..=last)
                .filter(|_| letter == Some(group))
                .map(|number| format!("{group}{number}"))
                .collect()
        }
        _ => Vec::new(),
    }
}
