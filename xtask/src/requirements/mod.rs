//! `docs/reference/requirements.md`: every id, its room, and the tests that prove it.
//!
//! A test proves an id by citing it, in its doc comment or at the head of its name. The page's last
//! column is written from those citations, so that it can't drift; a row for work to come says
//! `later:` and which part, and no test may cite it.

mod cited;
mod page;

use std::path::Path;
use std::process::ExitCode;

use crate::error::XtaskError;
use crate::tidy::Finding;
use crate::tidy::tree::Tree;

pub(crate) use cited::Citation;

/// The page.
const PAGE: &str = "docs/reference/requirements.md";

/// Each group's letter and how many ids it has.
const GROUPS: &[(char, usize)] = &[
    ('G', 5),
    ('H', 18),
    ('A', 8),
    ('L', 14),
    ('S', 3),
    ('C', 3),
    ('B', 7),
];

/// Every id.
fn ids() -> impl Iterator<Item = String> {
    GROUPS
        .iter()
        .flat_map(|(letter, count)| (1..=*count).map(move |number| format!("{letter}{number}")))
}

/// Whether a word is an id.
fn is_id(word: &str) -> bool {
    let mut letters = word.chars();
    let group = letters.next();
    let number = letters.as_str();
    !number.starts_with('0')
        && GROUPS.iter().any(|(letter, count)| {
            Some(*letter) == group
                && number
                    .parse::<usize>()
                    .is_ok_and(|number| (1..=*count).contains(&number))
        })
}

/// The page holds every id once, and says exactly what the tests cite.
pub(crate) fn map_is_true(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.file(PAGE) else {
        return vec![Finding::new(PAGE, 0, "requirements", "the page is missing")];
    };
    let citations = cited::all(tree);
    let rows = page::rows(&file.text);
    let mut findings = Vec::new();
    for id in ids() {
        let count = rows.iter().filter(|row| row.id == id).count();
        if count != 1 {
            let message = format!("`{id}` has {count} rows, and needs one");
            findings.push(Finding::new(PAGE, 0, "requirements", message));
        }
    }
    for row in &rows {
        for message in page::problems(row, &citations) {
            findings.push(Finding::new(PAGE, row.line, "requirements", message));
        }
    }
    findings
}

/// Writes the citations into the page.
pub(crate) fn write(root: &Path) -> Result<ExitCode, XtaskError> {
    let tree = Tree::load(root)?;
    let text = tree.file(PAGE).map_or("", |file| file.text.as_str());
    let citations = cited::all(&tree);
    let path = root.join(PAGE);
    std::fs::write(&path, page::rewritten(text, &citations))
        .map_err(XtaskError::file("write", &path))?;
    for finding in map_is_true(&Tree::load(root)?) {
        println!("{finding}");
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests;
