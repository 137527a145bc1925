//! Verbs for people: refused to agents, and to anything without a person in front of it.

use std::io::{self, BufRead as _, IsTerminal as _};

use tagout_vocab::Code;

use crate::args;
use crate::failure::Failure;
use crate::report;

/// Refuses a verb unless a person runs it: at a terminal, or in a script that says `--yes`.
///
/// Inside a governed call nothing helps, also not `--yes`. Such a call is known by its environment,
/// which a process can clear, and by a mark of the sandbox, which it can't. The refusal names no
/// way around, because agents read it too.
pub(crate) fn required(yes: bool, verb: &str) -> Result<(), Failure> {
    let refused = |why: &str, hint: &str| {
        let code = Code::PersonOnly;
        let message = format!("{}: `tagout {verb}` is for people: {why}", code.as_str());
        Failure::denied(code, message).hint(hint)
    };
    if args::is_governed() {
        return Err(refused(
            "this is a governed call",
            "ask the person whom you work for to run it",
        ));
    }
    if !yes && !io::stdin().is_terminal() {
        return Err(refused(
            "standard input is not a terminal",
            "run it at a terminal; its `--help` says what scripts of people do",
        ));
    }
    Ok(())
}

/// Asks for a yes, unless it was given on the command line. Anything else is a no.
pub(crate) fn agrees(yes: bool, question: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if wants(question)? {
        return Ok(());
    }
    let code = Code::ApprovalRejected;
    Err(Failure::denied(code, "nothing was done: the answer was no"))
}

/// Asks for a yes. Anything else is a no.
pub(crate) fn wants(question: &str) -> Result<bool, Failure> {
    let answer = answers(&format!("{question} [y/N]"))?;
    Ok(matches!(answer.as_str(), "y" | "Y" | "yes"))
}

/// Asks for a line.
pub(crate) fn answers(question: &str) -> Result<String, Failure> {
    report::note(question);
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::failed(format!("the answer can't be read: {error}")))?;
    Ok(answer.trim().to_owned())
}
