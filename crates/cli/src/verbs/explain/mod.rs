//! `tagout explain`: the verdict and the whole chain of checks, nothing run, nothing recorded.

mod answer;
mod input;

use std::io::{self, BufRead as _, Read as _};
use std::path::Path;

use serde_json::{Map, Value};
use tagout_policy::judge::{Facts, judge};
use tagout_vocab::limits::ARGUMENTS_BYTES_MAX;
use tagout_vocab::path::Roots;
use tagout_vocab::{Call, Judgement};

use crate::args::{ExplainArgs, PlaceArgs};
use crate::books::{self, Shelf};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{clock, report, site};
use input::{Asked, NotAQuestion, Question};

/// Answers one question or a batch of them.
pub(crate) fn run(place: &PlaceArgs, args: &ExplainArgs) -> Result<Exit, Failure> {
    let root = site::find(place.workspace.as_deref())?;
    let desk = Desk::open(root.as_deref())?;
    if args.batch {
        return desk.batch(args.json);
    }
    let question = match (&args.command, &args.call) {
        (Some(line), _) => input::command(line),
        (None, Some(file)) => input::read(&read_call(file)?),
        (None, None) => return Err(Failure::invalid("name `--call`, `--command` or `--batch`")),
    };
    let question = question.map_err(|wrong| Failure::invalid(wrong.message))?;
    desk.say(&Ok(question), args.json)?;
    Ok(Exit::Done)
}

/// Everything that is the same for every question of one run.
#[derive(Debug)]
pub(crate) struct Desk {
    shelf: Shelf,
    facts: Facts,
}

impl Desk {
    /// Opens the books of a workspace.
    pub(crate) fn open(root: Option<&Path>) -> Result<Self, Failure> {
        let shelf = books::open(root)?;
        let workspace = root
            .map(|root| root.display().to_string())
            .unwrap_or_default();
        let extra = shelf.books.law.roots();
        let extra = extra
            .into_iter()
            .map(|root| (root.name, root.path))
            .collect();
        let mut facts = Facts::for_explanation(clock::now(), Roots { workspace, extra });
        facts.broken.clone_from(&shelf.problems);
        Ok(Self { shelf, facts })
    }

    /// One answer a line, in the order of the questions; exit 0 whatever the verdicts.
    fn batch(&self, json: bool) -> Result<Exit, Failure> {
        let mut lines = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let limit = u64::try_from(ARGUMENTS_BYTES_MAX).unwrap_or(u64::MAX);
            let read = (&mut lines)
                .take(limit)
                .read_until(b'\n', &mut line)
                .map_err(|error| {
                    Failure::failed(format!("standard input can't be read: {error}"))
                })?;
            if read == 0 {
                return Ok(Exit::Done);
            }
            if !line.ends_with(b"\n") && line.len() >= ARGUMENTS_BYTES_MAX {
                let message = format!("a line is longer than {ARGUMENTS_BYTES_MAX} bytes");
                return Err(Failure::invalid(message));
            }
            let text = String::from_utf8_lossy(&line);
            if !text.trim().is_empty() {
                self.say(&input::read(text.trim()), json)?;
            }
        }
    }

    fn say(&self, question: &Result<Question, NotAQuestion>, json: bool) -> Result<(), Failure> {
        match question {
            Ok(question) => {
                let judgement = self.judge(question);
                if json {
                    report::json(&answer::to_json(question.id.as_ref(), &judgement))
                } else {
                    report::data(&answer::to_text(&judgement))
                }
            }
            Err(wrong) if json => report::json(&answer::refused(wrong)),
            Err(wrong) => report::line(&format!("deny  {}", wrong.message)),
        }
    }

    /// Fails with every problem of the workspace's files, if there is any.
    pub(crate) fn problems(&self) -> Result<(), Failure> {
        if self.shelf.problems.is_empty() {
            return Ok(());
        }
        Err(Failure::problems(&self.shelf.problems))
    }

    /// The judgement on one question as `--call` takes it.
    pub(crate) fn judge_value(&self, question: &Value) -> Result<Judgement, Failure> {
        let question = input::read(&question.to_string());
        question
            .map(|question| self.judge(&question))
            .map_err(|wrong| Failure::invalid(wrong.message))
    }

    fn judge(&self, question: &Question) -> Judgement {
        let books = &self.shelf.books;
        let call = match &question.asked {
            Asked::Call(call) => (**call).clone(),
            Asked::Command(line) => {
                // The catalogue always has a shell; without one the call is an unknown tool,
                // refused.
                let (tool, key) = books.shell().unwrap_or_default();
                let arguments = Map::from_iter([(key.to_owned(), Value::String(line.clone()))]);
                Call::new(tool, arguments)
            }
        };
        judge(&call, &question.session, books, &self.facts)
    }
}

fn read_call(file: &Path) -> Result<String, Failure> {
    let what = |error| Failure::invalid(format!("`{}` can't be read: {error}", file.display()));
    let bytes = if file == Path::new("-") {
        let mut bytes = Vec::new();
        let limit = u64::try_from(ARGUMENTS_BYTES_MAX).unwrap_or(u64::MAX);
        io::stdin()
            .lock()
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(what)?;
        bytes
    } else {
        site::read_bounded(file, ARGUMENTS_BYTES_MAX)
            .map_err(what)?
            .ok_or_else(|| {
                Failure::invalid(format!(
                    "`{}` is larger than {ARGUMENTS_BYTES_MAX} bytes",
                    file.display()
                ))
            })?
    };
    String::from_utf8(bytes)
        .map_err(|_| Failure::invalid(format!("`{}` is not UTF-8 text", file.display())))
}
