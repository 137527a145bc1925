//! `tagout blame`: who put each line there, and why.

use std::path::Path;

use serde_json::{Value, json};
use tagout_gate::trace::attribution::{Author, Certainty, Credit, SymbolCredit};
use tagout_gate::trace::blame::{self, Blame};
use tagout_gate::trace::nodes;
use tagout_gate::trace::syntax::Syntax;
use tagout_vocab::WorkspacePath;
use tagout_vocab::limits::TRACE_DEFINITIONS_MAX;

use super::log;
use crate::args::{BlameArgs, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{moments, report, runtime};

/// A file as the trace names it.
pub(super) fn named(root: &Path, file: &Path) -> Result<WorkspacePath, Failure> {
    let text = log::recorded(root, file).unwrap_or_default();
    WorkspacePath::new(&text)
        .map_err(|error| Failure::invalid(format!("`{}`: {error}", file.display())))
}

/// Shows the author of each line, or of each definition.
pub(crate) fn run(place: &PlaceArgs, args: &BlameArgs) -> Result<Exit, Failure> {
    let engine = runtime::open(place)?;
    let path = named(engine.site().root(), &args.file)?;
    if !engine.site().root().join(path.as_str()).is_file() {
        return Err(Failure::invalid(format!(
            "`{path}` is no file in this workspace as it is now"
        ))
        .hint(format!(
            "`tagout log --file '{path}'` shows what happened to it before"
        )));
    }
    let found = engine.blame(&path)?;
    let (blame, text, commits) = (&found.blame, found.bytes.as_slice(), &found.commits);
    if args.symbols {
        return symbols(blame, (&path, text), args.json);
    }
    if args.json {
        let mut value = blame::json(blame, commits);
        if let Some(object) = value.as_object_mut() {
            object.insert("file".to_owned(), json!(path));
        }
        report::json(&value)?;
    } else if args.porcelain {
        report::data(&blame::porcelain(blame, commits, text))?;
    } else {
        report::data(&blame::terminal(blame, (commits, &moments::local), text))?;
    }
    Ok(Exit::Done)
}

fn symbols(
    blame: &Blame,
    (path, text): (&WorkspacePath, &[u8]),
    json: bool,
) -> Result<Exit, Failure> {
    let syntax = Syntax::parse(path.as_str(), text).map_err(|_| {
        Failure::invalid(format!(
            "`{path}` is in no language whose definitions are known"
        ))
        .hint("without `--symbols`, every line is shown")
    })?;
    let definitions = nodes::definitions(&syntax, TRACE_DEFINITIONS_MAX);
    let credits = blame.symbols(&definitions);
    if json {
        let all: Vec<Value> = credits.iter().map(|one| to_json(blame, one)).collect();
        report::json(&json!({ "file": path, "symbols": all }))?;
        return Ok(Exit::Done);
    }
    for one in &credits {
        let lines = &one.definition.lines;
        let first = lines.start.saturating_add(1);
        let (kind, symbol) = (one.definition.kind, report::plain(&one.definition.symbol));
        let main = who(blame, &one.main);
        let made = who(blame, &one.introduced);
        let made = if made == main {
            String::new()
        } else {
            format!(", introduced by {made}")
        };
        report::line(&format!(
            "{first}-{}  {kind} {symbol}  {main}{made}",
            lines.end
        ))?;
    }
    Ok(Exit::Done)
}

/// An author in a few words.
fn who(blame: &Blame, credit: &Credit) -> String {
    let doubt = match credit.certainty {
        Certainty::Certain => "",
        Certainty::Likely => "?",
    };
    let origin = match credit.author {
        Author::Human => return format!("human{doubt}"),
        Author::Unknown => return format!("unknown{doubt}"),
        Author::Agent(number) => blame.origins.get(&number),
    };
    let Some(origin) = origin else {
        return format!("agent{doubt}");
    };
    let intent = origin.intent.as_ref().map_or("-", |id| id.as_str());
    let agent = report::plain(origin.agent.as_deref().unwrap_or("agent"));
    format!("{intent}{doubt} {agent} {}", origin.execution)
}

fn to_json(blame: &Blame, one: &SymbolCredit) -> Value {
    let author = |credit: &Credit| {
        let word = match credit.author {
            Author::Agent(_) => "agent",
            Author::Human => "human",
            Author::Unknown => "unknown",
        };
        let origin = match credit.author {
            Author::Agent(number) => blame.origins.get(&number),
            Author::Human | Author::Unknown => None,
        };
        json!({
            "author": word,
            "certain": credit.certainty == Certainty::Certain,
            "call": origin.map(|one| one.execution.as_str()),
            "intent_id": origin.and_then(|one| one.intent.as_ref()),
        })
    };
    json!({
        "symbol": one.definition.symbol, "type": one.definition.kind,
        "start_line": one.definition.lines.start.saturating_add(1),
        "end_line": one.definition.lines.end,
        "main": author(&one.main), "introduced": author(&one.introduced),
    })
}
