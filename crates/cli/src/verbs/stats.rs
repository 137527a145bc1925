//! `tagout stats`: the figures of RFC-0001 §8.2.

use serde::Serialize;
use serde_json::{Map, Value};
use tagout_ledger::{Index, Query, Stats};

use crate::args::{PlaceArgs, StatsArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::state::State;
use crate::{clock, moments, report};

/// The figures, and those of each tool if they were asked for.
#[derive(Debug, Serialize)]
struct Figures {
    #[serde(flatten)]
    all: Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_tool: Option<Map<String, Value>>,
}

/// L11: counts what the ledger says.
pub(crate) fn run(place: &PlaceArgs, args: &StatsArgs) -> Result<Exit, Failure> {
    let state = State::find(place)?;
    let since = args.since.as_deref();
    let since = since.map(|text| moments::since(text, clock::now()));
    let query = Query {
        since: since.transpose()?,
        ..Query::default()
    };
    let index = Index::open(&state.ledger())?;
    let all = index.stats(&query)?;
    let by_tool = if args.by_tool {
        index.stats_by_tool(&query)?
    } else {
        Vec::new()
    };
    if args.json {
        report::json(&figures(args, all, &by_tool)?)?;
        return Ok(Exit::Done);
    }
    report::data(&table(&all))?;
    for (tool, stats) in &by_tool {
        report::data(&format!("\n{}\n{}", report::plain(tool), table(stats)))?;
    }
    Ok(Exit::Done)
}

fn figures(args: &StatsArgs, all: Stats, by_tool: &[(String, Stats)]) -> Result<Figures, Failure> {
    let mut tools = Map::new();
    for (tool, stats) in by_tool {
        let value = serde_json::to_value(stats).map_err(Failure::failed)?;
        tools.insert(tool.clone(), value);
    }
    Ok(Figures {
        all,
        by_tool: args.by_tool.then_some(tools),
    })
}

fn table(stats: &Stats) -> String {
    let known = |figure: Option<u64>, unit: &str| {
        figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure}{unit}"))
    };
    let percent =
        |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1} %"));
    let (took, used) = (stats.execution_duration, stats.resource_usage);
    let lines = [
        ("executions", stats.execution_count.to_string()),
        ("success rate", percent(stats.success_rate)),
        ("failure rate", percent(stats.failure_rate)),
        ("denied", stats.capability_denials.to_string()),
        ("rolled back", stats.rollback_count.to_string()),
        ("duration p50", known(took.p50, " ms")),
        ("duration p95", known(took.p95, " ms")),
        ("duration p99", known(took.p99, " ms")),
        ("processor time", known(used.cpu_ms, " ms")),
        ("most memory", known(used.memory_bytes_max, " bytes")),
        ("read", known(used.read_bytes, " bytes")),
        ("written", known(used.written_bytes, " bytes")),
    ];
    let line = |(name, figure): (&str, String)| format!("{name:<14}  {figure}\n");
    lines.into_iter().map(line).collect()
}
