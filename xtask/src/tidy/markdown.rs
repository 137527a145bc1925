//! Pages that are true about the repository: one title, paths that exist, decisions in their index.

use super::Finding;
use super::tree::{File, Tree};

/// The index of decisions.
const DECISIONS: &str = "docs/decisions/README.md";

/// Endings that make a word in backticks a path.
const ENDINGS: &[&str] = &[
    "json", "jsonl", "lock", "md", "py", "rs", "sh", "toml", "txt", "yaml", "yml",
];

/// The lines of a page outside of its fenced blocks, with their numbers.
fn prose(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(file.text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// A page has one title, and it comes first.
pub(super) fn one_title(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.markdown() {
        let titles: Vec<usize> = prose(file)
            .filter(|(_, line)| line.starts_with("# "))
            .map(|(number, _)| number)
            .collect();
        if titles.len() != 1 {
            let message = format!("{} titles; a page has one", titles.len());
            findings.push(Finding::new(&file.path, 0, "markdown", message));
        } else if !file.text.trim_start().starts_with("# ") {
            let message = "the title comes first";
            findings.push(Finding::new(&file.path, 1, "markdown", message));
        }
    }
    findings
}

/// What a page or a comment points to exists.
pub(super) fn cited_paths_exist(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let lines: Vec<(usize, &str)> = if file.is_markdown() {
            prose(file).collect()
        } else {
            file.numbered()
                .map(|(number, line)| (number, line.comment.as_str()))
                .collect()
        };
        for (number, line) in lines {
            let mut cited = quoted_paths(tree, line);
            if file.is_markdown() {
                cited.extend(links(line));
            }
            for path in cited.iter().filter(|path| !exists(tree, file, path)) {
                let message = format!("`{path}` does not exist");
                findings.push(Finding::new(&file.path, number, "paths", message));
            }
        }
    }
    findings
}

/// Words in backticks that are paths of this repository: with a slash, a known ending and a first
/// folder that stands at the root. Other paths are of somebody's workspace, in an example.
fn quoted_paths(tree: &Tree, line: &str) -> Vec<String> {
    line.split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| {
            let plain = !word.contains([' ', '*', '<', '{', '$', '…']);
            let first = word.split('/').next().unwrap_or_default();
            plain && word.contains('/') && has_ending(word) && tree.has(first)
        })
        .map(str::to_owned)
        .collect()
}

fn has_ending(word: &str) -> bool {
    word.rsplit_once('.')
        .is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// The targets of Markdown links that stay within the repository.
fn links(line: &str) -> Vec<String> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .filter(|target| !target.starts_with("mailto:"))
        .map(str::to_owned)
        .collect()
}

fn exists(tree: &Tree, file: &File, path: &str) -> bool {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    tree.has(path) || resolve(folder, path).is_some_and(|path| tree.has(&path))
}

/// A relative path from a folder, or nothing where it leaves the repository.
fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A decision that is not in the index is lost.
pub(super) fn decisions_are_indexed(tree: &Tree) -> Vec<Finding> {
    let index = tree.file(DECISIONS).map_or("", |file| file.text.as_str());
    tree.markdown()
        .filter(|file| file.path.starts_with("docs/decisions/") && file.path != DECISIONS)
        .filter(|file| !index.contains(&format!("]({})", file.name())))
        .map(|file| {
            let message = format!("not listed in `{DECISIONS}`");
            Finding::new(&file.path, 0, "decisions", message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Tree, cited_paths_exist, decisions_are_indexed, one_title};

    #[test]
    fn pages_without_one_leading_title_are_found() {
        let count = |text: &str| one_title(&Tree::of(&[("docs/a.md", text)])).len();
        assert_eq!(count("# A\n\ntext\n```console\n# not a title\n```\n"), 0);
        assert_eq!(count("text\n"), 1);
        assert_eq!(count("# A\n# B\n"), 1);
        assert_eq!(count("text\n\n# A\n"), 1);
    }

    #[test]
    fn cited_paths_that_do_not_exist_are_found() {
        let count = |text: &str| {
            let tree = Tree::of(&[
                ("docs/guides/a.md", text),
                ("docs/b.md", "# B\n"),
                ("crates/x/src/lib.rs", "/// See `docs/gone.md`.\n"),
            ]);
            cited_paths_exist(&tree).len() - 1
        };
        assert_eq!(count("`crates/x/src/lib.rs` and [b](../b.md#part)\n"), 0);
        assert_eq!(count("`src/login.rs` of the reader, `crates/*/x.rs`\n"), 0);
        assert_eq!(count("[web](https://example.org/x.md)\n"), 0);
        assert_eq!(count("`crates/x/src/gone.rs`\n"), 1);
        assert_eq!(count("[gone](../gone.md)\n"), 1);
        assert_eq!(count("[far](../../../b.md)\n"), 1);
    }

    #[test]
    fn a_decision_missing_from_the_index_is_found() {
        let tree = Tree::of(&[
            ("docs/decisions/README.md", "# D\n[one](0001-one.md)\n"),
            ("docs/decisions/0001-one.md", "# One\n"),
            ("docs/decisions/0002-two.md", "# Two\n"),
        ]);
        let found = decisions_are_indexed(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "docs/decisions/0002-two.md");
    }
}
