//! `tagout lint`: everything that is wrong, and everything that should be looked at.

use serde_json::{Value, json};
use tagout_policy::intents;
use tagout_policy::problem::Problem;

use crate::args::{LintArgs, PlaceArgs};
use crate::books::{self, Shelf};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{clock, report, site};

/// Checks every file that a verdict depends on.
pub(crate) fn run(place: &PlaceArgs, args: &LintArgs) -> Result<Exit, Failure> {
    let root = site::require(place.workspace.as_deref())?;
    let mut shelf = books::open(Some(&root))?;
    let overlapping = overlaps(&shelf);
    shelf.warnings.extend(overlapping);
    let exit = if shelf.problems.is_empty() {
        Exit::Done
    } else {
        Exit::Invalid
    };
    if args.json {
        report::json(&json!({
            "ok": shelf.problems.is_empty(),
            "files": shelf.read,
            "problems": listed(&shelf.problems),
            "warnings": listed(&shelf.warnings),
        }))?;
        return Ok(exit);
    }
    for problem in &shelf.problems {
        report::line(&format!("problem: {problem}"))?;
    }
    for warning in &shelf.warnings {
        report::line(&format!("warning: {warning}"))?;
    }
    let (problems, warnings) = (shelf.problems.len(), shelf.warnings.len());
    let files = shelf.read.len();
    report::note(&format!(
        "{files} files read, {problems} problems, {warnings} warnings"
    ));
    Ok(exit)
}

/// Open intents that own the same files: nobody can select either until a person decides.
fn overlaps(shelf: &Shelf) -> Vec<Problem> {
    let now = clock::now();
    let set = &shelf.books.intents;
    let pairs = set.iter().flat_map(|intent| {
        let found = intents::find_overlaps(set, &intent.id, now);
        found.into_iter().map(move |other| (intent, other))
    });
    pairs
        .filter(|(intent, other)| intent.id < other.with)
        .map(|(intent, other)| {
            let message = format!(
                "intents {} and {} own the same files",
                intent.id, other.with
            );
            books::whole_file(books::INTENTS, message)
        })
        .collect()
}

fn listed(problems: &[Problem]) -> Vec<Value> {
    let one = |problem: &Problem| {
        json!({
            "file": problem.file,
            "line": problem.at.line,
            "column": problem.at.column,
            "message": problem.message,
            "hint": problem.hint,
        })
    };
    problems.iter().map(one).collect()
}
