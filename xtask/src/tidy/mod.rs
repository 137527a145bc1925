//! `cargo xtask tidy`: the rules of `STYLE.md` that a machine can check, each able to fail.

mod calls;
mod comments;
mod edges;
mod features;
mod listed;
mod markdown;
mod names;
mod places;
pub(crate) mod rooms;
mod shape;
pub(crate) mod source;
pub(crate) mod tree;
mod types;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use crate::error::XtaskError;
use crate::requirements;
pub(crate) use shape::LINE_COLUMNS_MAX;
use tree::Tree;

/// One breach of one rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Finding {
    /// The file, or the crate for rules about crates.
    pub(crate) path: String,
    /// The line, from 1; 0 for the file as a whole.
    pub(crate) line: usize,
    /// The rule's name.
    pub(crate) rule: &'static str,
    /// What is wrong and what to do.
    pub(crate) message: String,
}

impl Finding {
    /// A breach at a line.
    pub(crate) fn new(
        path: &str,
        line: usize,
        rule: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            line,
            rule,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            rule,
            message,
        } = self;
        match line {
            0 => write!(formatter, "{path}: {message} [{rule}]"),
            line => write!(formatter, "{path}:{line}: {message} [{rule}]"),
        }
    }
}

/// The rules that need nothing but the files' text.
const RULES: &[fn(&Tree) -> Vec<Finding>] = &[
    calls::pure_rooms_do_no_io,
    calls::dangerous_calls_stay_in_their_room,
    comments::calm,
    comments::no_unfinished_code,
    listed::every_file_is_compiled,
    listed::one_test_binary_a_crate,
    markdown::one_title,
    markdown::cited_paths_exist,
    markdown::decisions_are_indexed,
    names::clients,
    names::tools,
    places::no_machine_paths,
    places::no_registry_hosts,
    requirements::map_is_true,
    shape::files_are_short,
    shape::main_is_tiny,
    shape::lines_are_short,
    shape::modules_say_their_duty,
    shape::no_crate_takes_over,
    types::errors_are_types,
];

/// Every breach of every rule in the repository at this root.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, XtaskError> {
    let tree = Tree::load(root)?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    let metadata = edges::metadata(root)?;
    findings.extend(edges::check(&metadata));
    findings.extend(features::check(root)?);
    Ok(findings)
}

/// Checks and tells.
pub(crate) fn run(root: &Path) -> Result<ExitCode, XtaskError> {
    let findings = check(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    eprintln!("tidy: {} findings", findings.len());
    Ok(ExitCode::from(u8::from(!findings.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::process;

    /// The repository keeps its own rules.
    #[test]
    fn the_repository_is_tidy() {
        let findings = check(&process::root()).unwrap();
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(told.is_empty(), "\n{}\n", told.join("\n"));
    }
}
