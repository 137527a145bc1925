//! Runs the commands that the documentation shows, and compares what they print.
//!
//! A `console` block holds lines that start with `$ ` and what they print; `...` stands for any
//! lines, `[..]` for anything within a line, and `? 2` after the output for an exit code. All
//! blocks of one page share a folder, so that a guide can tell a story; a block with `file="NAME"`
//! is written there first. A block that can't be run says why: `ignore="needs the network"`;
//! one that a suite runs by itself names it: `elsewhere="demo"`.

mod compare;
mod page;
mod session;

use std::path::Path;
use std::process::ExitCode;

use crate::error::XtaskError;
use crate::process::{self, root};
use crate::suites::Tally;
use crate::tidy::tree::Tree;
use page::Step;
use session::Session;

/// Runs the named pages, or all of them, and tells.
pub(crate) fn run(pages: &[&str]) -> Result<ExitCode, XtaskError> {
    let tally = check(pages)?;
    println!(
        "docs: {} passed, {} failed, {} not run",
        tally.passed, tally.failed, tally.skipped
    );
    Ok(ExitCode::from(u8::from(tally.failed > 0)))
}

/// Runs the named pages, or all of them.
pub(crate) fn check(pages: &[&str]) -> Result<Tally, XtaskError> {
    let binary = binary()?;
    let mut tally = Tally::default();
    for file in Tree::load(&root())?.markdown() {
        let shown = file.path == "README.md" || file.path.starts_with("docs/");
        if shown && (pages.is_empty() || pages.contains(&file.path.as_str())) {
            check_page(&file.path, &file.text, Path::new(&binary), &mut tally)?;
        }
    }
    Ok(tally)
}

/// Builds the binary and says where it is.
fn binary() -> Result<String, XtaskError> {
    let mut command = process::cargo_command(&[
        "build",
        "--package",
        "tagout",
        "--message-format",
        "json-render-diagnostics",
    ]);
    let messages = process::answer(&mut command)?;
    executable(&messages).ok_or_else(|| XtaskError::Command {
        command: "cargo build".to_owned(),
        stderr: "named no executable".to_owned(),
    })
}

/// The executable that cargo's messages name.
pub(crate) fn executable(messages: &str) -> Option<String> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| Some(message.get("executable")?.as_str()?.to_owned()))
        .next_back()
}

fn check_page(path: &str, text: &str, binary: &Path, tally: &mut Tally) -> Result<(), XtaskError> {
    let steps = page::steps(path, text)?;
    if steps.is_empty() {
        return Ok(());
    }
    let session = Session::start(binary)?;
    for step in steps {
        match step {
            Step::File { name, text } => session.write(&name, &text)?,
            Step::Elsewhere { line, suite } => {
                println!("{path}:{line}: run by the suite `{suite}`");
            }
            Step::NotRun { line, reason } => {
                println!("{path}:{line}: not run: {reason}");
                tally.skipped += 1;
            }
            Step::Command(command) => {
                let answer = session.run(&command.line)?;
                match compare::difference(&command, &answer) {
                    None => tally.passed += 1,
                    Some(told) => {
                        eprintln!("{path}:{}: {told}", command.number);
                        tally.failed += 1;
                    }
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
