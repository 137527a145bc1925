//! Files that nothing compiles: a forgotten module is a test that never fails.

use super::Finding;
use super::source::is_word;
use super::tree::{File, Tree};

/// Every source file is declared by the module above it.
pub(super) fn every_file_is_compiled(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter(|file| is_module(&file.path))
        .filter(|file| !is_declared(tree, file))
        .map(|file| {
            let message = "no module above declares this file, so nothing compiles it";
            Finding::new(&file.path, 0, "listed", message)
        })
        .collect()
}

/// Files that cargo itself does not look for.
fn is_module(path: &str) -> bool {
    let Some((_, inner)) = split_source(path) else {
        return false;
    };
    !matches!(inner, "lib.rs" | "main.rs") && !inner.starts_with("bin/")
}

/// A path as the module tree's folder and what lies within.
fn split_source(path: &str) -> Option<(&str, &str)> {
    ["/src/", "/tests/it/"].iter().find_map(|root| {
        let at = path.find(root)?;
        path.split_at_checked(at + root.len())
    })
}

fn is_declared(tree: &Tree, file: &File) -> bool {
    let Some((root, inner)) = split_source(&file.path) else {
        return true;
    };
    let inner = inner
        .strip_suffix("/mod.rs")
        .or_else(|| inner.strip_suffix(".rs"))
        .unwrap_or(inner);
    let (parents, name) = match inner.rsplit_once('/') {
        Some((folder, name)) => (
            vec![
                format!("{root}{folder}/mod.rs"),
                format!("{root}{folder}.rs"),
            ],
            name,
        ),
        None => (
            vec![format!("{root}lib.rs"), format!("{root}main.rs")],
            inner,
        ),
    };
    parents
        .iter()
        .filter_map(|parent| tree.file(parent))
        .any(|parent| declares(parent, name))
}

fn declares(parent: &File, name: &str) -> bool {
    parent.lines.iter().any(|line| {
        let mut words = line
            .code
            .split(|letter: char| !is_word(letter))
            .filter(|word| !word.is_empty());
        words.any(|word| word == "mod") && words.next() == Some(name)
    })
}

/// Integration tests of a crate are one binary, `tests/it`, so that they link once.
pub(super) fn one_test_binary_a_crate(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter(|file| {
            let mut parts = file.path.split('/').rev().skip(1);
            parts.next() == Some("tests") && !file.path.contains("/src/")
        })
        .map(|file| {
            let message = "a test binary of its own; make it a module of `tests/it/main.rs`";
            Finding::new(&file.path, 0, "listed", message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Tree, every_file_is_compiled, one_test_binary_a_crate};

    #[test]
    fn forgotten_files_are_found_and_declared_ones_are_not() {
        let tree = Tree::of(&[
            ("crates/x/src/lib.rs", "pub mod a;\nmod b;\n"),
            ("crates/x/src/a.rs", "mod deep;\n"),
            ("crates/x/src/a/deep.rs", ""),
            ("crates/x/src/b/mod.rs", "#[cfg(test)]\nmod tests;\n"),
            ("crates/x/src/b/tests.rs", ""),
            ("crates/x/src/forgotten.rs", "// mod forgotten;\n"),
            ("crates/x/tests/it/main.rs", "mod one;\n"),
            ("crates/x/tests/it/one.rs", ""),
            ("crates/x/tests/it/two.rs", ""),
        ]);
        let found: Vec<String> = every_file_is_compiled(&tree)
            .into_iter()
            .map(|finding| finding.path)
            .collect();
        assert_eq!(
            found,
            ["crates/x/src/forgotten.rs", "crates/x/tests/it/two.rs"]
        );
    }

    #[test]
    fn a_second_test_binary_is_found() {
        let tree = Tree::of(&[
            ("crates/x/tests/it/main.rs", ""),
            ("crates/x/tests/other.rs", ""),
        ]);
        let found = one_test_binary_a_crate(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "crates/x/tests/other.rs");
    }
}
