//! The command line: which chore, with which options.

use std::path::Path;
use std::process::ExitCode;

use crate::error::XtaskError;
use crate::suites::Depth;
use crate::{bench, clients, docs, order, process, requirements, suites, tidy, wrap};

const HELP: &str = "\
The project's own chores

Usage: cargo xtask <CHORE>

  test [--quick | --all]   every suite: format, lints, tidy, licences, tests, the docs' commands
  tidy [FOLDER]            the rules of STYLE.md that a machine can check
  wrap                     break comment lines that are too wide
  docs [PAGE...]           run the commands in README.md and docs/
  requirements             write the proofs into docs/reference/requirements.md
  bench [NAME...] [--json] [--rounds N]   measure against the budgets
  order                    write which functions the program begins with, for its start
  play CLIENT MODE SCRIPT  a real client, offline, against a model that plays the script
  story CLIENT MODE        a real client, governed, through the whole story
  attack CLIENT MODE [ID]  a real client, governed, whose model attacks in every known way
  attacks                  write the table of attacks into docs/reference/attacks.md
  help                     this text
";

/// Runs the chore that the words name.
pub(crate) fn run(words: &[String]) -> Result<ExitCode, XtaskError> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["test"] => Ok(suites::run(Depth::Default)),
        ["test", "--quick"] => Ok(suites::run(Depth::Quick)),
        ["test", "--all"] => Ok(suites::run(Depth::All)),
        ["tidy"] => tidy::run(&process::root()),
        ["tidy", folder] => tidy::run(Path::new(folder)),
        ["wrap"] => wrap::run(&process::root()),
        ["docs", pages @ ..] => docs::run(pages),
        ["requirements"] => requirements::write(&process::root()),
        ["order"] => order::write(),
        ["bench", options @ ..] => bench::run(options),
        ["play", client, mode, script] => clients::play(client, mode, Path::new(script)),
        ["story", client, mode] => clients::story::one(client, mode),
        ["attacks"] => clients::page::write(),
        ["attack", client, mode] => clients::attack::one(client, mode, None),
        ["attack", client, mode, id] => clients::attack::one(client, mode, Some(id)),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        [chore, ..] => Err(XtaskError::Usage {
            message: format!("`{chore}` is no chore, or its options are wrong"),
        }),
    }
}
