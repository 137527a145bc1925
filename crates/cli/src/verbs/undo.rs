//! `tagout undo`: takes back what a call, a session or an intent changed.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tagout_gate::trace::merge::ConflictHunk;
use tagout_gate::trace::undo::{Clash, Conflict, Edit, EntryKind, Loss, difference};
use tagout_gate::{Engine, GateError, PlannedUndo, UndoTarget};
use tagout_vocab::{CallId, Code, IntentId, SessionId};
use tagout_workspace::RelPath;

use super::ids::{ALIKE, Sought};
use crate::args::{PlaceArgs, UndoArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{args, person, report, runtime};

/// Shows the difference, asks, and writes it.
pub(crate) fn run(place: &PlaceArgs, args: &UndoArgs) -> Result<Exit, Failure> {
    person::required(args.yes || args.dry_run, "undo")?;
    let engine = runtime::open(place)?;
    let planned = engine.plan_undo(&target(&engine, args)?)?;
    let plan = planned.plan();
    if !plan.is_clean() {
        return conflict(&planned, args.json);
    }
    for one in &plan.impossible {
        report::note(&format!(
            "{} of {} can't be taken back: {}",
            report::plain(&one.what),
            one.execution,
            loss(one.why)
        ));
    }
    for call in &plan.already {
        report::note(&format!("{call} is taken back already"));
    }
    let shown = shown(&plan.edits);
    if args.dry_run {
        if args.json {
            report::json(&told(&planned, "planned", &shown))?;
        } else {
            report::data(&shown)?;
        }
        return Ok(Exit::Done);
    }
    if plan.edits.is_empty() {
        return report::done(
            args.json,
            "there is nothing to take back",
            &told(&planned, "unchanged", &shown),
        );
    }
    if !args.json {
        report::data(&shown)?;
    }
    person::agrees(args.yes, "Write this?")?;
    let undone = engine
        .undo(&planned, &args::user())
        .map_err(|error| of(&error))?;
    for warning in &undone.warnings {
        report::note(warning);
    }
    let mut value = told(&planned, "undone", &shown);
    if let Some(object) = value.as_object_mut() {
        object.insert("execution".to_owned(), json!(undone.execution));
        let until = undone.undoable_until.to_string();
        object.insert("undoable_until".to_owned(), json!(until));
    }
    let count = undone.paths.len();
    let words = format!(
        "took back {} in {count} paths; `tagout undo {}` does it again",
        counted(planned.calls.len()),
        undone.execution
    );
    report::done(args.json, &words, &value)
}

fn counted(calls: usize) -> String {
    match calls {
        1 => "1 call".to_owned(),
        many => format!("{many} calls"),
    }
}

fn target(engine: &Engine, args: &UndoArgs) -> Result<UndoTarget, Failure> {
    let wrong =
        |text: &str, error: &dyn std::fmt::Display| Failure::invalid(format!("`{text}`: {error}"));
    if let Some(text) = &args.session {
        let id = SessionId::new(text).map_err(|error| wrong(text, &error))?;
        return Ok(UndoTarget::Session(id));
    }
    if let Some(text) = &args.intent {
        let id = IntentId::new(text).map_err(|error| wrong(text, &error))?;
        return Ok(UndoTarget::Intent(id));
    }
    let text = args.call.as_deref().unwrap_or_default();
    CallId::new(text).map_err(|error| wrong(text, &error))?;
    let sought = Sought {
        typed: text,
        what: "call with changes",
        hint: "`tagout log` and `tagout blame FILE` show the ids of calls",
    };
    let alike = engine.calls_like(text, ALIKE)?;
    Ok(UndoTarget::Call(sought.among(alike, CallId::as_str)?))
}

/// The difference as a person reads it; a folder that comes or goes says nothing of its own.
fn shown(edits: &[Edit<RelPath>]) -> String {
    let is_folder = |edit: &&Edit<RelPath>| {
        let sides = [&edit.now, &edit.result];
        let mut kinds = sides.into_iter().flatten().map(|entry| entry.kind);
        kinds.all(|kind| kind == EntryKind::Folder)
    };
    let mut out = String::new();
    for edit in edits.iter().filter(|edit| !is_folder(edit)) {
        let text = difference(edit);
        for line in String::from_utf8_lossy(&text).lines() {
            out.push_str(&tame(line));
            out.push('\n');
        }
    }
    out
}

/// Text that can't steer a terminal; a tab stays one.
fn tame(line: &str) -> String {
    let parts: Vec<String> = line.split('\t').map(report::plain).collect();
    parts.join("\t")
}

fn told(planned: &PlannedUndo, status: &str, shown: &str) -> Value {
    let plan = planned.plan();
    let impossible: Vec<Value> = plan
        .impossible
        .iter()
        .map(|one| json!({ "call": one.execution, "what": one.what, "why": loss(one.why) }))
        .collect();
    let paths: Vec<String> = plan
        .edits
        .iter()
        .map(|edit| edit.path.to_string())
        .collect();
    json!({
        "status": status, "calls": planned.calls, "paths": paths, "diff": shown,
        "impossible": impossible, "already": plan.already,
    })
}

const fn loss(why: Loss) -> &'static str {
    match why {
        Loss::PastHorizon => "its content is no longer kept",
        Loss::TooLarge => "it was too large to be kept",
        Loss::NotRecorded => "it was never recorded",
        Loss::Network => "it left this machine over the network",
        Loss::Pushed => "others may have it",
        Loss::Forbidden => "only a privileged user can give it back",
        Loss::Outside => "it lies outside of the workspace",
    }
}

/// Shows both sides of everything that stands in the way. Nothing is written.
fn conflict(planned: &PlannedUndo, json: bool) -> Result<Exit, Failure> {
    let conflicts = &planned.plan().conflicts;
    // What stands behind another conflict of the same file goes with it.
    let is_behind = |one: &Conflict<RelPath>| {
        let others = || conflicts.iter().filter(|other| other.path == one.path);
        one.clash == Clash::Behind && others().any(|other| other.clash != Clash::Behind)
    };
    let conflicts: Vec<&Conflict<RelPath>> =
        conflicts.iter().filter(|one| !is_behind(one)).collect();
    if !json {
        for one in &conflicts {
            report::data(&sides(one))?;
        }
    }
    let paths: BTreeSet<String> = conflicts.iter().map(|one| one.path.to_string()).collect();
    let paths: Vec<String> = paths.into_iter().collect();
    let message = format!(
        "nothing was written: later work stands in the way in {}",
        report::plain(&paths.join(", "))
    );
    let mut failure = Failure::failed(message).code(Code::Conflict);
    failure.exit = Exit::Conflict;
    Err(failure.hint("take back the later calls too, or change the files by hand"))
}

fn sides(conflict: &Conflict<RelPath>) -> String {
    let why = match &conflict.clash {
        Clash::Lines(hunks) => return hunks.iter().map(|hunk| both(conflict, hunk)).collect(),
        Clash::Content => "its content was changed since and can't be merged",
        Clash::Attributes => "its owner or its attributes were changed since",
        Clash::Mode => "its permissions were changed since",
        Clash::Kind => "it has become something else since",
        Clash::ChangedSinceMade => {
            "it was made by the call that is named here, and changed since by hand or by another; \
             nothing in it is taken away: delete it, or what is not wanted in it"
        }
        Clash::PlaceTaken => "something else stands where it was",
        Clash::Behind => "a later change of it stands in the way",
    };
    let path = report::plain(&conflict.path.to_string());
    format!("{path}: {why} ({})\n", conflict.execution)
}

fn both(conflict: &Conflict<RelPath>, hunk: &ConflictHunk) -> String {
    let path = report::plain(&conflict.path.to_string());
    let mut out = String::new();
    // Writing into a `String` cannot fail.
    writeln!(out, "{path}:{}", hunk.ours.start_line).unwrap_or_default();
    let parts = [("<<<<<<< as it is", &hunk.ours), ("=======", &hunk.theirs)];
    for (mark, side) in parts {
        writeln!(out, "{mark}").unwrap_or_default();
        for line in String::from_utf8_lossy(&side.text).lines() {
            writeln!(out, "{}", tame(line)).unwrap_or_default();
        }
    }
    writeln!(out, ">>>>>>> before {}", conflict.execution).unwrap_or_default();
    out
}

fn of(error: &GateError) -> Failure {
    let mut failure = Failure::failed(error).code(error.code());
    let clash = matches!(
        error,
        GateError::NotApplied { .. }
            | GateError::Workspace {
                source: tagout_workspace::Error::Conflict { .. }
            }
    );
    if clash {
        failure.exit = Exit::Conflict;
    }
    failure
}
