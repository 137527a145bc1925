//! Holds the knowledge to the examples that its entries carry.

use tagout_vocab::Class;
use tagout_vocab::path::Roots;

use super::Knowledge;
use crate::problem::{Position, Problem};
use crate::shell::{ShellContext, analyse};

/// A line that an entry says is safe or is not.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) file: String,
    pub(super) at: Position,
    pub(super) line: String,
    pub(super) safe: bool,
}

/// The examples that the knowledge judges otherwise.
pub(super) fn check(knowledge: &Knowledge, examples: &[Example]) -> Vec<Problem> {
    let roots = Roots::default();
    let context = ShellContext::bare(knowledge, &roots);
    let wrong = |example: &&Example| {
        let class = analyse(&example.line, &context).class;
        (class == Class::Safe) != example.safe
    };
    let told = |example: &Example| {
        let analysis = analyse(&example.line, &context);
        let (said, found) = if example.safe {
            ("safe", "DESTRUCTIVE")
        } else {
            ("unsafe", "SAFE")
        };
        let why = analysis.why().unwrap_or("every part is read-only");
        Problem {
            file: example.file.clone(),
            at: example.at,
            message: format!(
                "the example `{}` is given as {said}, but is judged {found}: {why}",
                example.line
            ),
            hint: None,
        }
    };
    examples.iter().filter(wrong).map(told).collect()
}
