//! Sizes: of files, of `main`, of lines, of crates; and the sentence at the head of each module.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::{File, Tree};

const FILE_LINES_MAX: usize = 800;
const MAIN_LINES_MAX: usize = 30;
pub(crate) const LINE_COLUMNS_MAX: usize = 100;
const CRATE_SHARE_PERCENT_MAX: usize = 45;

/// With fewer crates than this a single one is large of necessity, and its share says nothing.
const CRATES_FOR_SHARE_MIN: usize = 6;

/// On the first line of a table, with the reason after it, the file may be long.
const TABLE: &str = "// tidy: table, ";

/// No file is longer than a person reads, unless it is a table and says so.
pub(super) fn files_are_short(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter(|file| !file.text.starts_with(TABLE))
        .filter_map(|file| {
            let count = file.production().count();
            let message = format!("{count} production lines, {FILE_LINES_MAX} at most");
            (count > FILE_LINES_MAX).then(|| Finding::new(&file.path, 0, "size", message))
        })
        .collect()
}

/// `main` hands over to something that can be tested.
pub(super) fn main_is_tiny(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter(|file| file.path.ends_with("src/main.rs"))
        .filter(|file| file.lines.len() > MAIN_LINES_MAX)
        .map(|file| {
            let count = file.lines.len();
            let message = format!("{count} lines, {MAIN_LINES_MAX} at most");
            Finding::new(&file.path, 0, "size", message)
        })
        .collect()
}

/// No line is wider than the formatter's. What the formatter can't break may be wider: text that
/// spans lines, and in tests a line that holds a literal.
pub(super) fn lines_are_short(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        for (number, line) in file.numbered() {
            let columns = line.text.chars().count();
            let data = line.starts_in_literal || (line.is_test && !line.literals.is_empty());
            if columns > LINE_COLUMNS_MAX && !data {
                let message = format!("{columns} columns, {LINE_COLUMNS_MAX} at most");
                findings.push(Finding::new(&file.path, number, "size", message));
            }
        }
    }
    findings
}

/// Every module says its duty first. Samples that must not compile are no modules: what the
/// compiler says about each of their lines is the expectation.
pub(super) fn modules_say_their_duty(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter(|file| !file.path.contains("/tests/ui/"))
        .filter(|file| {
            let mut lines = file.text.lines().map(str::trim);
            !lines
                .find(|line| !line.is_empty() && !line.starts_with(TABLE))
                .is_some_and(|line| line.starts_with("//! ") && line.len() > 10)
        })
        .map(|file| {
            let message = "a module starts with `//!` and one sentence on its duty";
            Finding::new(&file.path, 1, "duty", message)
        })
        .collect()
}

/// No crate holds most of the product.
pub(super) fn no_crate_takes_over(tree: &Tree) -> Vec<Finding> {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for file in tree.rust() {
        if let Some(room) = file.room() {
            *lines.entry(room).or_default() += production_size(file);
        }
    }
    let all: usize = lines.values().sum();
    if lines.len() < CRATES_FOR_SHARE_MIN {
        return Vec::new();
    }
    lines
        .iter()
        .map(|(room, count)| (room, count * 100 / all.max(1)))
        .filter(|(_, share)| *share > CRATE_SHARE_PERCENT_MAX)
        .map(|(room, share)| {
            let message =
                format!("{share} % of all production lines, {CRATE_SHARE_PERCENT_MAX} at most");
            Finding::new(&format!("crates/{room}"), 0, "share", message)
        })
        .collect()
}

fn production_size(file: &File) -> usize {
    file.production().count()
}

#[cfg(test)]
mod tests {
    use super::{
        Tree, files_are_short, lines_are_short, main_is_tiny, modules_say_their_duty,
        no_crate_takes_over,
    };

    #[test]
    fn long_files_are_found_but_tables_and_tests_may_be_long() {
        let count = |text: &str| files_are_short(&Tree::of(&[("crates/x/src/a.rs", text)])).len();
        let long = "fn f();\n".repeat(801);
        assert_eq!(count(&"fn f();\n".repeat(800)), 0);
        assert_eq!(count(&long), 1);
        assert_eq!(
            count(&format!("// tidy: table, one line a flag\n{long}")),
            0
        );
        assert_eq!(count(&format!("#[cfg(test)]\nmod tests {{\n{long}}}\n")), 0);
    }

    #[test]
    fn a_long_main_is_found() {
        let count = |path: &str, lines: usize| {
            main_is_tiny(&Tree::of(&[(path, &"fn f();\n".repeat(lines))])).len()
        };
        assert_eq!(count("crates/cli/src/main.rs", 30), 0);
        assert_eq!(count("crates/cli/src/main.rs", 31), 1);
        assert_eq!(count("crates/cli/tests/it/main.rs", 31), 0);
    }

    #[test]
    fn wide_lines_are_found_where_they_can_be_broken() {
        let count = |path: &str, text: &str| lines_are_short(&Tree::of(&[(path, text)])).len();
        let wide = "é".repeat(101);
        assert_eq!(
            count("crates/x/src/a.rs", &format!("// {}\n", "é".repeat(97))),
            0
        );
        assert_eq!(count("crates/x/src/a.rs", &format!("// {wide}\n")), 1);
        assert_eq!(
            count("crates/x/src/a.rs", &format!("let a = \"{wide}\";\n")),
            1
        );
        assert_eq!(
            count("crates/x/src/a.rs", &format!("let a = \"\n{wide}\";\n")),
            0
        );
        assert_eq!(
            count("crates/x/src/tests.rs", &format!("let a = \"{wide}\";\n")),
            0
        );
    }

    #[test]
    fn a_module_without_its_duty_is_found() {
        let count =
            |text: &str| modules_say_their_duty(&Tree::of(&[("crates/x/src/a.rs", text)])).len();
        assert_eq!(count("//! What it does.\n"), 0);
        assert_eq!(count("// tidy: table, flags\n//! What it does.\n"), 0);
        assert_eq!(count("use std::fmt;\n"), 1);
        assert_eq!(count("//!\n"), 1);
        assert_eq!(count(""), 1);
    }

    #[test]
    fn a_crate_that_takes_over_is_found_once_there_are_enough() {
        let small = "fn f();\n".repeat(10);
        let large = "fn f();\n".repeat(60);
        let mut files: Vec<(&str, &str)> = ["a", "b", "c", "d"]
            .map(|name| match name {
                "a" => "crates/a/src/lib.rs",
                "b" => "crates/b/src/lib.rs",
                "c" => "crates/c/src/lib.rs",
                _ => "crates/d/src/lib.rs",
            })
            .map(|path| (path, small.as_str()))
            .to_vec();
        files.push(("crates/e/src/lib.rs", &large));
        assert!(no_crate_takes_over(&Tree::of(&files)).is_empty());
        files.push(("crates/f/src/lib.rs", &small));
        let found = no_crate_takes_over(&Tree::of(&files));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "crates/e");
    }
}
