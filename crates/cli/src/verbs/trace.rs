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
use tagout_vocab::limits::{SHORT_ID_CHARS, TRACE_IMPORT_BYTES_MAX, TRACE_QUERY_RECORDS_MAX};
use tagout_vocab::{CallId, IntentId, SessionId, WorkspacePath};

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
    if args.limit.is_none() && records.len() == TRACE_QUERY_RECORDS_MAX {
        report::note(&format!(
            "only the newest {TRACE_QUERY_RECORDS_MAX} records are shown; `--limit N` shows more, \
             `tagout trace export` writes all"
        ));
    }
    let call = |record: &Record| CallId::new(record.call_id.as_deref()?).ok();
    let calls: Vec<CallId> = records.iter().filter_map(call).collect();
    let commits = engine.commits_of(&calls)?;
    let of = |record: &Record| call(record).and_then(|call| commits.get(&call));
    if args.json {
        let lines: Vec<String> = records.iter().map(|one| whole(one, of(one))).collect();
        return report::data(&lines.concat()).map(|()| Exit::Done);
    }
    let row = |record: &Record| cells(record, of(record).and_then(|all| all.last()));
    let rows: Vec<Vec<String>> = records.iter().map(row).collect();
    report::data(&report::table(&rows))?;
    if records.is_empty() {
        report::note("no records");
    }
    Ok(Exit::Done)
}

/// A record with the commits that hold lines of its call, the latest last.
fn whole(record: &Record, commits: Option<&Vec<String>>) -> String {
    let mut value = json!(record);
    if let (Some(object), Some(commits)) = (value.as_object_mut(), commits)
        && !commits.is_empty()
    {
        object.insert("commits".to_owned(), json!(commits));
    }
    format!("{value}\n")
}

fn cells(record: &Record, commit: Option<&String>) -> Vec<String> {
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
    let commit: Option<String> = commit.map(|commit| commit.chars().take(SHORT_ID_CHARS).collect());
    vec![
        time,
        known(record.intent_id.as_deref()),
        class,
        known(record.tool_name.as_deref()),
        known(record.call_id.as_deref()),
        known(commit.as_deref()),
        files.join(" "),
    ]
}

fn export(place: &PlaceArgs, format: TraceFormat) -> Result<Exit, Failure> {
    let engine = runtime::open(place)?;
    if format == TraceFormat::GitAi {
        report::data(&note(&engine)?)?;
        return Ok(Exit::Done);
    }
    for record in engine.trace_records()? {
        let record = record?;
        let line = match format {
            TraceFormat::AgentTrace => {
                let value = agent_trace::export(&record, env!("CARGO_PKG_VERSION"));
                format!("{value}\n")
            }
            TraceFormat::Jsonl | TraceFormat::GitAi => record.to_line(),
        };
        // A reader that went away wants no more.
        if !report::stream(&line)? {
            break;
        }
    }
    Ok(Exit::Done)
}

/// A note about every file that the records name and that is still there.
fn note(engine: &Engine) -> Result<String, Failure> {
    let mut files: BTreeSet<String> = BTreeSet::new();
    let mut base = None;
    for record in engine.trace_records()? {
        let record = record?;
        files.extend(record.files().into_iter().map(str::to_owned));
        base = record.vcs.map(|vcs| vcs.revision).or(base);
    }
    let mut attested = Vec::new();
    for file in files {
        let Ok(path) = WorkspacePath::new(&file) else {
            continue;
        };
        // A file that is gone has no lines.
        if let Ok(found) = engine.blame(&path) {
            attested.extend(lines_of(&path, &found.blame));
        }
    }
    Ok(git_ai::note(base.as_deref().unwrap_or_default(), &attested).to_text())
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
    let text = site::read_bounded(file, TRACE_IMPORT_BYTES_MAX)
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
