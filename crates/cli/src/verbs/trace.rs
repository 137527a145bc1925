//! `tagout trace`: records of changes, asked for, written in other forms, read from others.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;
use tagout_gate::trace::attribution::Author;
use tagout_gate::trace::git_ai::{self, Attested};
use tagout_gate::trace::ranges::LineRange;
use tagout_gate::trace::record::Record;
use tagout_gate::trace::{agent_trace, blame::Blame};
use tagout_gate::{Engine, TraceQuery};
use tagout_vocab::limits::SIDECAR_BYTES_MAX;
use tagout_vocab::{IntentId, SessionId, WorkspacePath};

use super::blame::named;
use crate::args::{PlaceArgs, TraceArgs, TraceFormat, TraceQueryArgs, TraceVerb};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{clock, moments, person, report, runtime, site};

/// Does one of them.
pub(crate) fn run(place: &PlaceArgs, args: &TraceArgs) -> Result<Exit, Failure> {
    match &args.verb {
        TraceVerb::Query(wanted) => query(place, wanted),
        TraceVerb::Export { format } => export(place, *format),
        TraceVerb::Import { file, yes, json } => import(place, file, (*yes, *json)),
    }
}

fn query(place: &PlaceArgs, args: &TraceQueryArgs) -> Result<Exit, Failure> {
    let engine = runtime::open(place)?;
    let intent = args.intent.as_deref().map(|text| {
        IntentId::new(text).map_err(|error| Failure::invalid(format!("`--intent {text}`: {error}")))
    });
    let since = args.since.as_deref();
    let since = since.map(|text| moments::since(text, clock::now()));
    let file = args.file.as_deref();
    let file = file.map(|file| named(engine.site().root(), file));
    let records = engine.trace_query(&TraceQuery {
        intent: intent.transpose()?,
        symbol: args.symbol.clone(),
        file: file.transpose()?.map(|path| path.to_string()),
        since: since.transpose()?,
        limit: args.limit,
    })?;
    if args.json {
        let lines: Vec<String> = records.iter().map(Record::to_line).collect();
        return report::data(&lines.concat()).map(|()| Exit::Done);
    }
    let rows: Vec<Vec<String>> = records.iter().map(cells).collect();
    report::data(&report::table(&rows))?;
    if records.is_empty() {
        report::note("no records");
    }
    Ok(Exit::Done)
}

fn cells(record: &Record) -> Vec<String> {
    let time = record
        .timestamp
        .map_or_else(|| "-".to_owned(), moments::local);
    let known = |text: Option<&str>| text.map_or_else(|| "-".to_owned(), report::plain);
    let class = match record.mutation_class {
        Some(class) if record.is_contradicted() => format!("{}!", class.as_str()),
        Some(class) => class.as_str().to_owned(),
        None => "-".to_owned(),
    };
    let files: Vec<String> = record.files().into_iter().map(report::plain).collect();
    vec![
        time,
        known(record.intent_id.as_deref()),
        class,
        known(record.tool_name.as_deref()),
        known(record.call_id.as_deref()),
        files.join(" "),
    ]
}

fn export(place: &PlaceArgs, format: TraceFormat) -> Result<Exit, Failure> {
    let engine = runtime::open(place)?;
    let mut records = engine.trace_query(&TraceQuery::default())?;
    records.reverse();
    match format {
        TraceFormat::Jsonl => {
            let lines: Vec<String> = records.iter().map(Record::to_line).collect();
            report::data(&lines.concat())?;
        }
        TraceFormat::AgentTrace => {
            for record in &records {
                report::json(&agent_trace::export(record, env!("CARGO_PKG_VERSION")))?;
            }
        }
        TraceFormat::GitAi => report::data(&note(&engine, &records))?,
    }
    Ok(Exit::Done)
}

/// A note about every file that the records name and that is still there.
fn note(engine: &Engine, records: &[Record]) -> String {
    let files: BTreeSet<&str> = records.iter().flat_map(Record::files).collect();
    let mut attested = Vec::new();
    for file in files {
        let Ok(path) = WorkspacePath::new(file) else {
            continue;
        };
        // A file that is gone has no lines.
        if let Ok(found) = engine.blame(&path) {
            attested.extend(lines_of(&path, &found.blame));
        }
    }
    let base = records.iter().rev().find_map(|record| record.vcs.as_ref());
    let base = base.map_or("", |revision| revision.revision.as_str());
    git_ai::note(base, &attested).to_text()
}

fn lines_of(path: &WorkspacePath, blame: &Blame) -> Vec<Attested> {
    let mut found = Vec::new();
    for (number, credit) in (1_u32..).zip(&blame.lines) {
        let Author::Agent(origin) = credit.author else {
            continue;
        };
        let Some(origin) = blame.origins.get(&origin) else {
            continue;
        };
        let known = |text: Option<&str>| text.unwrap_or("unknown").to_owned();
        found.push(Attested {
            path: path.to_string(),
            lines: LineRange {
                start_line: number,
                end_line: number,
            },
            author: git_ai::Author::Agent {
                tool: known(origin.agent.as_deref()),
                conversation: known(origin.session.as_ref().map(SessionId::as_str)),
                model: known(origin.model.as_deref()),
                call: origin.execution.to_string(),
                intent: origin.intent.as_ref().map(ToString::to_string),
            },
        });
    }
    found
}

fn import(place: &PlaceArgs, file: &Path, (yes, json): (bool, bool)) -> Result<Exit, Failure> {
    person::required(yes, "trace import")?;
    let engine = runtime::open(place)?;
    let failed = |why: String| Failure::invalid(format!("`{}`: {why}", file.display()));
    let text = site::read_bounded(file, SIDECAR_BYTES_MAX.saturating_mul(16))
        .map_err(|error| failed(error.to_string()))?
        .ok_or_else(|| failed("it is too large".to_owned()))?;
    let (reading, new) = engine.trace_import(&text)?;
    for damage in &reading.damage {
        let place = &damage.place;
        report::note(&format!(
            "{}:{}: {}",
            place.line, place.column, damage.problem
        ));
    }
    let read = reading.records().count();
    let value = json!({
        "status": "imported", "read": read, "new": new, "damaged": reading.damage_count,
    });
    report::done(json, &format!("{new} of {read} records are new"), &value)
}
