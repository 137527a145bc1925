//! From a page's text to the steps that it shows.

use crate::error::XtaskError;
use crate::suites;

/// One command with what the page says it does.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Command {
    /// The line of the page.
    pub(super) number: usize,
    /// What is typed.
    pub(super) line: String,
    /// What is printed, with wildcards.
    pub(super) output: Vec<String>,
    /// The exit code.
    pub(super) code: i32,
}

/// One thing to do for a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// Write a file.
    File {
        /// Its name in the page's folder.
        name: String,
        /// What it holds.
        text: String,
    },
    /// Run a command.
    Command(Command),
    /// Tell that a block is run by a suite of its own.
    Elsewhere {
        /// The line of the page.
        line: usize,
        /// The suite.
        suite: String,
    },
    /// Tell that a block is not run.
    NotRun {
        /// The line of the page.
        line: usize,
        /// Why.
        reason: String,
    },
}

/// A fenced block.
struct Block<'a> {
    number: usize,
    info: &'a str,
    lines: Vec<&'a str>,
}

/// Everything that a page shows to be done, in order.
pub(super) fn steps(path: &str, text: &str) -> Result<Vec<Step>, XtaskError> {
    let mut steps = Vec::new();
    for block in blocks(text) {
        let wrong = |message: &str| XtaskError::Page {
            page: path.to_owned(),
            line: block.number,
            message: message.to_owned(),
        };
        let language = block.info.split([' ', ',']).next().unwrap_or_default();
        if let Some(name) = attribute(block.info, "file") {
            let text = block.lines.join("\n") + "\n";
            steps.push(Step::File { name, text });
        } else if let Some(suite) = attribute(block.info, "elsewhere") {
            if !suites::has(&suite) {
                return Err(wrong("`elsewhere` names a suite of `cargo xtask test`"));
            }
            let line = block.number;
            steps.push(Step::Elsewhere { line, suite });
        } else if language == "console" && block.info.contains("ignore") {
            let reason = attribute(block.info, "ignore")
                .filter(|reason| !reason.trim().is_empty())
                .ok_or_else(|| wrong("an ignored block says why: `ignore=\"…\"`"))?;
            steps.push(Step::NotRun {
                line: block.number,
                reason,
            });
        } else if language == "console" {
            let commands = commands(&block).ok_or_else(|| {
                wrong("a `console` block starts with a line that starts with `$ `")
            })?;
            steps.extend(commands.into_iter().map(Step::Command));
        } else if matches!(language, "sh" | "bash" | "shell" | "zsh") {
            return Err(wrong(
                "commands stand in `console` blocks, so that they are run",
            ));
        }
    }
    Ok(steps)
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match (open.take(), line.trim_start().strip_prefix("```")) {
            (None, Some(info)) => {
                open = Some(Block {
                    number,
                    info: info.trim(),
                    lines: Vec::new(),
                });
            }
            (Some(block), Some(_)) => blocks.push(block),
            (Some(mut block), None) => {
                block.lines.push(line);
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    blocks
}

/// The value of `key="value"` in a block's info string.
fn attribute(info: &str, key: &str) -> Option<String> {
    let (_, rest) = info.split_once(&format!("{key}=\""))?;
    let (value, _) = rest.split_once('"')?;
    Some(value.to_owned())
}

fn commands(block: &Block<'_>) -> Option<Vec<Command>> {
    let mut commands: Vec<Command> = Vec::new();
    for (number, line) in (block.number + 1..).zip(&block.lines) {
        if let Some(typed) = line.strip_prefix("$ ") {
            commands.push(Command {
                number,
                line: typed.to_owned(),
                output: Vec::new(),
                code: 0,
            });
            continue;
        }
        let command = commands.last_mut()?;
        if let Some(more) = line
            .strip_prefix("> ")
            .filter(|_| command.output.is_empty())
        {
            command.line.push('\n');
            command.line.push_str(more);
        } else if let Some(code) = exit_code(line) {
            command.code = code;
        } else {
            command.output.push(line.trim_end().to_owned());
        }
    }
    for command in &mut commands {
        while command.output.last().is_some_and(String::is_empty) {
            command.output.pop();
        }
    }
    Some(commands)
}

fn exit_code(line: &str) -> Option<i32> {
    line.strip_prefix("? ")?.trim().parse().ok()
}
