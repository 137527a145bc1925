//! Verbs for people: refused to agents, and to anything without a person in front of it.

use std::io::{self, BufRead as _, IsTerminal as _};

use tagout_vocab::Code;
use tagout_vocab::limits::ASKED_COUNT_MAX;

use crate::failure::Failure;
use crate::{args, report};

/// Refuses a verb unless a person runs it: at a terminal, or in a script that says `--yes`. Inside
/// a governed call it was refused before it began.
pub(crate) fn required(yes: bool, verb: &str) -> Result<(), Failure> {
    if yes || io::stdin().is_terminal() {
        return Ok(());
    }
    let code = Code::PersonOnly;
    let message = format!(
        "{}: `tagout {verb}` is for people: standard input is not a terminal",
        code.as_str()
    );
    Err(Failure::denied(code, message)
        .hint("run it at a terminal; in a script of a person's own: add `--yes`"))
}

/// Whether a person looks at what is printed: at a terminal, on which no governed call runs.
pub(crate) fn reads() -> bool {
    let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    at_terminal && io::stderr().is_terminal() && !args::is_governed()
}

/// Asks for a yes, unless it was given on the command line.
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

/// Asks for a yes or a no; nothing is a no.
pub(crate) fn wants(question: &str) -> Result<bool, Failure> {
    understood(&format!("{question} [y/N]"), |answer| {
        match answer.to_lowercase().as_str() {
            "y" | "yes" => Ok(true),
            "" | "n" | "no" => Ok(false),
            _ => Err(Failure::invalid(format!(
                "`{answer}` is neither yes nor no"
            ))),
        }
    })
}

/// Asks for a line until it is understood, and says why it was not; not for ever.
pub(crate) fn understood<T>(
    question: &str,
    read: impl Fn(&str) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut tries = ASKED_COUNT_MAX;
    loop {
        tries = tries.saturating_sub(1);
        match read(&answers(question)?) {
            Err(failure) if tries > 0 => {
                let hint = failure.hint.as_ref();
                let hint = hint.map_or_else(String::new, |hint| format!(" ({hint})"));
                report::note(&format!("{}{hint}", failure.message));
            }
            end => return end,
        }
    }
}

/// Asks for a line. The end of all input is no answer, not an empty one.
pub(crate) fn answers(question: &str) -> Result<String, Failure> {
    report::note(question);
    let mut answer = String::new();
    let read = io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::failed(format!("the answer can't be read: {error}")))?;
    if read == 0 {
        let code = Code::ApprovalRejected;
        return Err(Failure::denied(
            code,
            "nothing was done: there was no answer",
        ));
    }
    Ok(answer.trim().to_owned())
}
