//! What each line is answered by.

use serde_json::json;
use tagout_gate::Outcome;
use tagout_ledger::{Event, Index, LifecycleState, Query, Reader, SealKey, Stats, VerifyOptions};
use tagout_policy::capability::Capability;
use tagout_tools::kit::Promise;
use tagout_vocab::{Call, Declaration};

use super::native::{self, Conformance};
use super::stage::{Stage, Tried, custom};
use crate::args::PlaceArgs;
use crate::failure::Failure;
use crate::state::State;
use crate::{clock, keys};

/// Yes or no, and what was seen.
pub(super) struct Answer {
    pub(super) met: bool,
    pub(super) evidence: String,
}

/// Everything that was tried and looked at.
pub(super) struct Seen {
    conformance: Conformance,
    declared: Vec<(String, Declaration)>,
    early: Tried,
    malformed: Tried,
    wrote: Tried,
    failed: Tried,
    panicked: Tried,
    bad_output: Tried,
    outside: Tried,
    heavy: Tried,
    large: Tried,
    late: Tried,
    barred: Tried,
    command: Result<Tried, String>,
    events: Vec<Event>,
    stats: Stats,
    /// The trials' own ledger verifies and agrees with their files.
    whole: Result<u64, String>,
    /// The same of this workspace, if there is one with a ledger.
    own: Option<Result<u64, String>>,
}

impl Seen {
    /// Runs the kit and the trials, and looks at this workspace's own ledger.
    pub(super) fn gather(place: &PlaceArgs) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("tagout-compliance-")
            .tempdir()
            .map_err(|error| Failure::failed(format!("no throw-away folder: {error}")))?;
        let conformance = native::run(&folder.path().join("kit"))?;
        let stage = Stage::set_up(&folder.path().join("trials"))?;
        let early = stage.act("trial", "write")?;
        let malformed = stage.call(custom("trial", json!({ "path": 7 })))?;
        stage.select()?;
        let act = |word: &str| stage.act("trial", word);
        let (wrote, failed, panicked) = (act("write")?, act("error")?, act("panic")?);
        let (bad_output, outside) = (act("bad_output")?, act("outside")?);
        let (heavy, large) = (act("heavy")?, act("large")?);
        let late = stage.act("trial_hasty", "late")?;
        let barred = stage.act("trial_barred", "write")?;
        let command = command(&stage, &conformance);
        let site = stage.engine.site();
        let events = events(&site.ledger())?;
        let stats = Index::open(&site.ledger())?.stats(&Query::default())?;
        stage.engine.ledger().seal(clock::now())?;
        let key = SealKey::load(&site.seal_key())?.verifier();
        let whole = verified(&site.ledger(), vec![key]).and_then(|events_seen| {
            if stage.agrees(&events) {
                return Ok(events_seen);
            }
            Err("a file does not hold what the ledger says".to_owned())
        });
        Ok(Self {
            declared: native::declared(stage.engine.registry()),
            conformance,
            early,
            malformed,
            wrote,
            failed,
            panicked,
            bad_output,
            outside,
            heavy,
            large,
            late,
            barred,
            command,
            events,
            stats,
            whole,
            own: own(place),
        })
    }

    fn states_of(&self, tried: &Tried) -> Vec<LifecycleState> {
        let id = tried.receipt.execution.as_ref().map(ToString::to_string);
        let ours = |event: &&Event| event.body.execution_id == id;
        let ours = self.events.iter().filter(ours);
        ours.filter_map(|event| event.body.state).collect()
    }

    fn backtrace_of(&self, tried: &Tried) -> bool {
        let id = tried.receipt.execution.as_ref().map(ToString::to_string);
        let mut ours = self.events.iter().filter(|one| one.body.execution_id == id);
        ours.any(|event| {
            let error = event.body.error.as_ref();
            error.is_some_and(|error| error.backtrace.is_some())
        })
    }

    fn rolled_back(&self) -> [(&'static str, &Tried); 7] {
        [
            ("error", &self.failed),
            ("panic", &self.panicked),
            ("bad output", &self.bad_output),
            ("outside the scope", &self.outside),
            ("too many bytes", &self.heavy),
            ("file too large", &self.large),
            ("too late", &self.late),
        ]
    }
}

/// A command through whatever tool runs commands.
fn command(stage: &Stage, conformance: &Conformance) -> Result<Tried, String> {
    let Some(tool) = conformance.commands.first() else {
        return Err("no tool of this build runs commands".to_owned());
    };
    let arguments = json!({ "command": "true" });
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let tried = stage.call(Call::new(tool, arguments));
    tried.map_err(|failure| failure.message)
}

fn events(ledger: &std::path::Path) -> Result<Vec<Event>, Failure> {
    let mut found = Vec::new();
    for event in Reader::open(ledger)?.events_from(0)? {
        found.push(event?);
    }
    Ok(found)
}

fn verified(
    ledger: &std::path::Path,
    keys: Vec<tagout_ledger::VerifierKey>,
) -> Result<u64, String> {
    let options = VerifyOptions {
        keys,
        ..VerifyOptions::default()
    };
    let report = tagout_ledger::verify(ledger, &options).map_err(|error| error.to_string())?;
    match report.problems.first() {
        None if report.ok => Ok(report.events),
        Some(problem) => Err(problem.detail.clone()),
        None => Err("it does not verify".to_owned()),
    }
}

fn own(place: &PlaceArgs) -> Option<Result<u64, String>> {
    let state = State::find(place).ok()?;
    let key = keys::own(&state).map_err(|failure| failure.message);
    Some(key.and_then(|key| verified(&state.ledger(), vec![key])))
}

fn of(result: Result<String, String>) -> Answer {
    match result {
        Ok(evidence) => Answer {
            met: true,
            evidence,
        },
        Err(evidence) => Answer {
            met: false,
            evidence,
        },
    }
}

fn when(met: bool, evidence: String) -> Answer {
    Answer { met, evidence }
}

/// The answer to one line.
pub(super) fn answer(trial: &str, seen: &Seen) -> Answer {
    let kit = |promises: &[Promise]| of(seen.conformance.holds(promises));
    let every = |what: &str, has: fn(&Declaration) -> bool| every(seen, what, has);
    match trial {
        "declared" => kit(&[Promise::Declaration]),
        "input_schemas" | "output_schemas" => kit(&[Promise::Schemas, Promise::Output]),
        "capabilities_named" => {
            let known = |one: &Declaration| {
                let mut names = one.required_capabilities.iter();
                names.all(|name| Capability::parse(name).is_ok())
            };
            both(
                every("known capabilities", known),
                kit(&[Promise::Capabilities]),
            )
        }
        "limits_named" => every("time, memory and file size", |one| {
            let limits = one.resource_limits;
            limits.max_execution_time_ms.is_some()
                && limits.max_memory_bytes.is_some()
                && limits.max_file_size_bytes.is_some()
        }),
        "determinism_said" => kit(&[Promise::Declaration, Promise::Deterministic]),
        "idempotence_said" => kit(&[Promise::Declaration, Promise::Idempotent]),
        "transaction_only" => kit(&[Promise::Transaction, Promise::Targets]),
        "errors_handled" | "handler_active" => errors(seen),
        "panics_caught" => both(panics(seen), kit(&[Promise::NoPanic])),
        "inputs_checked" => refused(&seen.malformed, Outcome::Failed, "SCHEMA_INVALID"),
        "authorised_first" | "capabilities_active" => both(
            refused(&seen.early, Outcome::Denied, "STATE_VIOLATION"),
            refused(&seen.barred, Outcome::Denied, "CAPABILITY_DENIED"),
        ),
        "limits_enforced" => limits(seen),
        "outputs_checked" => when(
            seen.bad_output.is_undone() && seen.bad_output.code() == "OUTPUT_INVALID",
            format!("an undeclared output ended as {}", seen.bad_output.code()),
        ),
        "events_whole" => transitions(seen),
        "figures_there" | "telemetry_active" => figures(seen),
        "rolled_back" => undone(seen),
        "state_whole" => whole(seen),
        "transaction_active" => both(committed(seen), undone(seen)),
        "sandbox_active" => sandbox(seen),
        _ => when(false, format!("nothing answers `{trial}`")),
    }
}

fn both(one: Answer, other: Answer) -> Answer {
    match (one.met, other.met) {
        (true, true) => when(true, format!("{}; {}", one.evidence, other.evidence)),
        (false, _) => one,
        (true, false) => other,
    }
}

fn every(seen: &Seen, what: &str, has: fn(&Declaration) -> bool) -> Answer {
    let lacking = seen.declared.iter().find(|(_, one)| !has(one));
    match lacking {
        Some((name, _)) => when(false, format!("`{name}` does not name {what}")),
        None => when(true, format!("{} tools name {what}", seen.declared.len())),
    }
}

fn refused(tried: &Tried, outcome: Outcome, code: &str) -> Answer {
    let met = tried.receipt.outcome == outcome && tried.code() == code;
    let ran = if tried.ran { "ran" } else { "did not run" };
    let met = met && !tried.ran && tried.untouched;
    when(met, format!("refused as {}; the tool {ran}", tried.code()))
}

fn errors(seen: &Seen) -> Answer {
    let met = seen.failed.is_undone() && seen.backtrace_of(&seen.failed);
    let kind = seen
        .failed
        .receipt
        .failure
        .map_or("nothing", |kind| kind.as_str());
    when(
        met,
        format!("an error became {kind}, with context and backtrace in the ledger"),
    )
}

fn panics(seen: &Seen) -> Answer {
    let met = seen.panicked.is_undone() && seen.backtrace_of(&seen.panicked);
    let kind = seen
        .panicked
        .receipt
        .failure
        .map_or("nothing", |kind| kind.as_str());
    when(
        met,
        format!("a panic became {kind}, with its backtrace in the ledger"),
    )
}

fn committed(seen: &Seen) -> Answer {
    let done = seen.wrote.receipt.outcome == Outcome::Completed && !seen.wrote.untouched;
    when(done, "a write was committed".to_owned())
}

fn undone(seen: &Seen) -> Answer {
    let all = seen.rolled_back();
    let left = all.iter().find(|(_, tried)| !tried.is_undone());
    match left {
        Some((what, tried)) => when(false, format!("{what} ended as {}", tried.code())),
        None => when(
            true,
            format!("{} ways to fail left every byte as it was", all.len()),
        ),
    }
}

/// Every limit has to hold and to name an enforcer; what nothing enforces is a no.
fn limits(seen: &Seen) -> Answer {
    for (what, tried, code) in [
        ("time", &seen.late, "TIMEOUT"),
        ("memory", &seen.heavy, "LIMIT_EXCEEDED"),
        ("file size", &seen.large, "LIMIT_EXCEEDED"),
    ] {
        if !tried.is_undone() || tried.code() != code {
            return when(false, format!("{what}: ended as {}", tried.code()));
        }
    }
    let limits = &seen.wrote.receipt.limits;
    let told = |one: &tagout_gate::Enforced| format!("{} by {}", one.limit, one.enforcer);
    let told: Vec<String> = limits.iter().map(told).collect();
    let gaps: Vec<String> = limits
        .iter()
        .filter_map(|one| one.not_enforced.map(|gap| format!("{}: {gap}", one.limit)))
        .collect();
    let held = format!("held: {}", told.join(", "));
    if gaps.is_empty() {
        when(!limits.is_empty(), held)
    } else {
        when(false, format!("{held}; not enforced: {}", gaps.join(", ")))
    }
}

fn transitions(seen: &Seen) -> Answer {
    use LifecycleState as S;
    let begun = [S::Declared, S::Validated, S::Authorized, S::Executing];
    let completed = [&begun[..], &[S::Completed]].concat();
    let ended = [&begun[..], &[S::Aborted, S::RolledBack]].concat();
    if seen.states_of(&seen.wrote) != completed {
        return when(false, "a completed call lacks a transition".to_owned());
    }
    for (what, tried) in seen.rolled_back() {
        if seen.states_of(tried) != ended {
            return when(false, format!("{what}: a transition is missing"));
        }
    }
    let lifecycle = seen
        .events
        .iter()
        .filter(|event| event.body.state.is_some());
    let lacks = |event: &&Event| {
        let body = &event.body;
        body.tool_id.is_none()
            || body.tool_version.is_none()
            || body.execution_id.is_none()
            || body.input_hash.is_none()
    };
    match lifecycle.clone().find(lacks) {
        Some(event) => when(false, format!("event {} lacks a field", event.seq)),
        None => when(
            true,
            format!("{} transitions, each with its fields", lifecycle.count()),
        ),
    }
}

fn figures(seen: &Seen) -> Answer {
    let stats = &seen.stats;
    let undone = seen.rolled_back().len() as u64;
    let declared = |event: &&Event| event.body.state == Some(LifecycleState::Declared);
    let declared = seen.events.iter().filter(declared).count() as u64;
    let used = stats.resource_usage;
    let met = stats.execution_count == declared
        && stats.rollback_count == undone
        && stats.capability_denials >= 2
        && stats.success_rate.is_some()
        && stats.failure_rate.is_some()
        && stats.execution_duration.p99.is_some()
        && used.cpu_ms.is_some()
        && used.memory_bytes_max.is_some()
        && used.read_bytes.is_some()
        && used.written_bytes.is_some();
    let evidence = format!(
        "{} executions, {} denied, {} rolled back, as tried; durations, rates and use are there",
        stats.execution_count, stats.capability_denials, stats.rollback_count
    );
    when(met, evidence)
}

fn whole(seen: &Seen) -> Answer {
    let trials = match &seen.whole {
        Ok(events) => format!("{events} events of the trials verify and agree with the files"),
        Err(why) => return when(false, format!("the trials: {why}")),
    };
    match &seen.own {
        None => when(
            true,
            format!("{trials}; there is no ledger here to look at"),
        ),
        Some(Ok(events)) => when(
            true,
            format!("{trials}; {events} events of this workspace verify"),
        ),
        Some(Err(why)) => when(false, format!("this workspace: {why}")),
    }
}

fn sandbox(seen: &Seen) -> Answer {
    match &seen.command {
        Err(why) => when(false, why.clone()),
        Ok(tried) => when(
            tried.receipt.outcome == Outcome::Completed,
            format!("a command ended as {}", tried.code()),
        ),
    }
}
