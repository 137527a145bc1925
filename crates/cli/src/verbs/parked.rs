//! `tagout parked`: changes of commands that were not applied.

use serde_json::{Value, json};
use tagout_gate::{GateError, Parked, ParkedPath};
use tagout_vocab::Code;

use crate::args::{ParkedArgs, ParkedVerb, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{args, person, report, runtime};

/// Does one of them.
pub(crate) fn run(place: &PlaceArgs, args: &ParkedArgs) -> Result<Exit, Failure> {
    match &args.verb {
        ParkedVerb::List { json } => list(place, *json),
        ParkedVerb::Show { id, json } => show(place, id, *json),
        ParkedVerb::Apply {
            id,
            in_scope,
            yes,
            json,
        } => apply(place, (id, *in_scope), *yes, *json),
        ParkedVerb::Drop { id, yes, json } => discard(place, id, *yes, *json),
    }
}

fn list(place: &PlaceArgs, json: bool) -> Result<Exit, Failure> {
    let engine = runtime::open(place)?;
    let sets = engine.parked().map_err(|error| of(&error))?;
    if json {
        let sets: Vec<Value> = sets.iter().map(to_json).collect();
        report::json(&json!({ "parked": sets }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = sets.iter().map(cells).collect();
    report::data(&report::table(&rows))?;
    if sets.is_empty() {
        report::note("nothing is parked");
    }
    Ok(Exit::Done)
}

fn line(set: &Parked) -> String {
    cells(set).join("  ")
}

fn cells(set: &Parked) -> Vec<String> {
    let paths = match set.paths_total {
        1 => "1 path".to_owned(),
        count => format!("{count} paths"),
    };
    let command = report::plain(&set.command);
    vec![set.id.clone(), set.code.clone(), paths, command]
}

fn show(place: &PlaceArgs, id: &str, json: bool) -> Result<Exit, Failure> {
    let engine = runtime::open(place)?;
    let set = engine.parked_set(id).map_err(|error| of(&error))?;
    if json {
        report::json(&to_json(&set))?;
        return Ok(Exit::Done);
    }
    report::line(&line(&set))?;
    report::line(&format!("  {}", report::plain(&set.reason)))?;
    for path in &set.paths {
        report::line(&shown(path))?;
    }
    let more = set.paths_total.saturating_sub(set.paths.len());
    if more > 0 {
        report::line(&format!("  and {more} more"))?;
    }
    Ok(Exit::Done)
}

fn shown(path: &ParkedPath) -> String {
    let name = report::plain(&path.path);
    let why = path.why.as_deref().unwrap_or("in scope");
    format!("  {:<10}  {name}  ({why})", path.change)
}

fn to_json(set: &Parked) -> Value {
    json!({
        "id": set.id, "execution": set.execution.as_str(), "session": set.session.as_str(),
        "intent": set.intent, "command": set.command, "at": set.at.to_string(),
        "code": set.code, "reason": set.reason, "paths": set.paths,
        "paths_total": set.paths_total,
    })
}

fn apply(
    place: &PlaceArgs,
    (id, in_scope): (&str, bool),
    yes: bool,
    json: bool,
) -> Result<Exit, Failure> {
    person::required(yes, "parked apply")?;
    let engine = runtime::open(place)?;
    let set = engine.parked_set(id).map_err(|error| of(&error))?;
    report::note(&line(&set));
    for path in &set.paths {
        report::note(&shown(path));
    }
    let question = if in_scope {
        "Apply what is in scope? The rest stays parked."
    } else {
        "Apply all of it?"
    };
    person::agrees(yes, question)?;
    let applied = engine
        .apply_parked(id, &args::user(), in_scope)
        .map_err(|error| of(&error))?;
    if json {
        report::json(&json!({
            "applied": applied.applied, "left_out": applied.left_out,
            "execution": applied.execution.as_str(),
            "undoable_until": applied.undoable_until.to_string(),
        }))?;
        return Ok(Exit::Done);
    }
    for path in &applied.applied {
        report::line(&format!("applied {}", report::plain(path)))?;
    }
    for path in &applied.left_out {
        report::note(&format!("still parked {}", report::plain(&path.path)));
    }
    Ok(Exit::Done)
}

fn discard(place: &PlaceArgs, id: &str, yes: bool, json: bool) -> Result<Exit, Failure> {
    person::required(yes, "parked drop")?;
    let engine = runtime::open(place)?;
    person::agrees(yes, "Throw these changes away?")?;
    engine
        .drop_parked(id, &args::user())
        .map_err(|error| of(&error))?;
    if json {
        report::json(&json!({ "dropped": id }))?;
    } else {
        report::line(&format!("dropped {id}"))?;
    }
    Ok(Exit::Done)
}

/// A set that is not there is the reader's mistake; one that clashes is a conflict.
fn of(error: &GateError) -> Failure {
    use tagout_workspace::Error as W;
    if matches!(error, GateError::Unknown { .. }) {
        return Failure::invalid(error).hint("`tagout parked list` shows what there is");
    }
    let code = error.code();
    let clash = matches!(
        error,
        GateError::Workspace {
            source: W::Conflict { .. }
        }
    );
    let refused = if let GateError::NotApplied { code, .. } = error {
        Some(*code)
    } else {
        None
    };
    let mut failure = Failure::failed(error).code(code);
    if clash {
        failure = failure.code(Code::Conflict);
        failure.exit = Exit::Conflict;
    } else if let Some(code) = refused {
        failure.exit = Exit::Denied;
        if code == Code::Conflict {
            failure.exit = Exit::Conflict;
            failure = failure.hint(
                "make the two agree in the workspace and apply again, or `tagout parked drop` it",
            );
        } else if code == Code::AuthorityFile {
            failure = failure.hint("`--in-scope` applies the rest");
        }
    }
    failure
}
