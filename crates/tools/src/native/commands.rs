//! Running a command line, and reading what one printed.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tagout_gate::sandbox::{Enforcer, Exit, Limits};
use tagout_gate::{Command, CommandEnded, Context, ToolError};
use tagout_vocab::limits::{
    ARTIFACT_READ_BYTES_MAX, COMMAND_TIME_MS_MAX, LIST_ENTRIES_MAX, SEARCH_HITS_MAX,
};

use super::input::{Input, invalid};

pub(super) fn execute_command(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let ended = context.command(&wanted(input)?)?;
    Ok(answer(&ended))
}

/// The command that the input asks for.
pub(super) fn wanted(input: Input<'_>) -> Result<Command, ToolError> {
    let line = input.text("command")?;
    if line.trim().is_empty() {
        return Err(invalid("`command` is empty"));
    }
    input.text_opt("description")?;
    Ok(Command {
        line: line.to_owned(),
        cwd: input.text_opt("cwd")?.map(str::to_owned),
        timeout_ms: timeout_ms(input)?,
        long_running: input.flag("long_running")?,
    })
}

/// The time that the call gives the command; milliseconds count before seconds.
fn timeout_ms(input: Input<'_>) -> Result<Option<u64>, ToolError> {
    let wrong = |key: &str| {
        invalid(format!(
            "`{key}` has to be above zero and at most {COMMAND_TIME_MS_MAX} ms"
        ))
    };
    let fits = |ms: &u64| (1..=COMMAND_TIME_MS_MAX).contains(ms);
    if let Some(ms) = input.number("timeout_ms")? {
        let ms = u64::try_from(ms).ok().filter(fits);
        return ms.map(Some).ok_or_else(|| wrong("timeout_ms"));
    }
    let Some(seconds) = input.raw("timeout") else {
        return Ok(None);
    };
    let seconds = seconds.as_f64().filter(|seconds| *seconds > 0.0);
    let duration = seconds.and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok());
    let ms = duration.and_then(|duration| u64::try_from(duration.as_millis()).ok());
    let ms = ms.map(|ms| ms.max(1)).filter(fits);
    ms.map(Some).ok_or_else(|| wrong("timeout"))
}

fn answer(ended: &CommandEnded) -> Value {
    let mut answer = Map::new();
    let mut say = |key: &str, value: Value| {
        if !value.is_null() {
            answer.insert(key.to_owned(), value);
        }
    };
    let (code, signal) = match ended.exit {
        Some(Exit::Code(code)) => (json!(code), Value::Null),
        Some(Exit::Signal(signal)) => (Value::Null, json!(signal)),
        None => (Value::Null, Value::Null),
    };
    say("exit_code", code);
    say("signal", signal);
    say("output", json!(ended.printed.shown));
    say("output_bytes", json!(ended.printed.bytes));
    say("truncated", json!(ended.printed.truncated));
    say("artifact_id", json!(ended.printed.artifact));
    say("lane", json!(ended.lane.as_str()));
    let enforcers: Vec<Value> = ended.enforcers.iter().map(enforcer).collect();
    say("enforcers", json!(enforcers));
    let hit = ended.limit_hit.as_ref();
    say(
        "limit_hit",
        json!(hit.map(|hit| json!({"limit": hit.limit, "by": hit.by, "detail": hit.detail}))),
    );
    say("limits", limits(&ended.limits));
    say("wall_ms", json!(ended.wall_ms));
    say("cpu_ms", json!(ended.cpu_ms));
    say("peak_memory_bytes", json!(ended.peak_memory_bytes));
    let changed: Vec<&String> = ended.changed.iter().take(LIST_ENTRIES_MAX).collect();
    say("changed", json!(changed));
    say("changed_total", json!(ended.changed.len()));
    let word = ended.given_up.then_some(true);
    say("given_up", json!(word));
    say("long_running", json!(ended.long_running));
    say("hint", json!(ended.hint));
    Value::Object(answer)
}

/// The bounds that were asked for; one that nobody asked for is left out.
fn limits(limits: &Limits) -> Value {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let known = [
        ("wall_ms", limits.wall.map(millis)),
        ("cpu_ms", limits.cpu.map(millis)),
        ("memory_bytes", limits.memory_bytes),
        ("processes", limits.processes),
        ("file_bytes", limits.file_bytes),
        ("total_bytes", limits.total_bytes),
        ("descriptors", limits.descriptors),
        ("output_bytes", limits.output_bytes),
    ];
    let asked = known
        .into_iter()
        .filter_map(|(name, bound)| Some((name.to_owned(), json!(bound?))));
    Value::Object(asked.collect())
}

fn enforcer(one: &Enforcer) -> Value {
    json!({"what": one.what, "by": one.by, "weaker": one.weaker})
}

pub(super) fn read_command_output(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let artifact = input.text("artifact_id")?;
    let offset = input.number("offset")?.unwrap_or_default() as u64;
    let limit = input.number("limit")?.unwrap_or(ARTIFACT_READ_BYTES_MAX);
    let limit = limit.clamp(1, ARTIFACT_READ_BYTES_MAX) as u64;
    if let Some(wanted) = input.text_opt("search")? {
        return search(context, (artifact, wanted), offset, limit);
    }
    let part = context.stored_output(artifact, offset..offset.saturating_add(limit))?;
    let end = part.offset + part.bytes.len() as u64;
    Ok(json!({
        "artifact_id": artifact,
        "content": String::from_utf8_lossy(&part.bytes),
        "offset": part.offset,
        "total_bytes": part.total,
        "truncated": part.offset > 0 || end < part.total,
    }))
}

/// The lines that hold a text, from an offset on, as many as fit an answer.
fn search(
    context: &Context<'_, '_>,
    (artifact, wanted): (&str, &str),
    offset: u64,
    limit: u64,
) -> Result<Value, ToolError> {
    if wanted.is_empty() {
        return Err(invalid("`search` is empty"));
    }
    let mut found = String::new();
    let (mut hits, mut cut) = (0, false);
    let mut at = offset;
    let mut rest: Vec<u8> = Vec::new();
    let total = loop {
        let part = context.stored_output(artifact, at..at + ARTIFACT_READ_BYTES_MAX as u64)?;
        at = part.offset + part.bytes.len() as u64;
        rest.extend_from_slice(&part.bytes);
        let last = at >= part.total;
        let whole = if last {
            rest.len()
        } else {
            rest.iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(rest.len(), |end| end + 1)
        };
        let lines: Vec<u8> = rest.drain(..whole).collect();
        for line in String::from_utf8_lossy(&lines).lines() {
            if !line.contains(wanted) {
                continue;
            }
            cut |= hits >= SEARCH_HITS_MAX || (found.len() + line.len()) as u64 > limit;
            if !cut {
                hits += 1;
                found.push_str(line);
                found.push('\n');
            }
        }
        if last || cut {
            break part.total;
        }
    };
    Ok(json!({
        "artifact_id": artifact,
        "content": found,
        "offset": offset.min(total),
        "total_bytes": total,
        "truncated": cut,
    }))
}
