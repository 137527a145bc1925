//! `tagout doctor`: what this host enforces, line by line, and what to change.

use serde_json::{Value, json};
use tagout_sandbox::{Host, Line, State};

use crate::args::{DoctorArgs, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{report, runtime, site};

/// Tries everything once and says what holds. In a workspace what was found is kept; outside of
/// one it is tried in a throw-away folder.
pub(crate) fn run(place: &PlaceArgs, args: &DoctorArgs) -> Result<Exit, Failure> {
    let lines = match site::find(place.workspace.as_deref())? {
        Some(_) if runtime::is_set_up(place) => {
            let engine = runtime::open(place)?;
            engine.examine().map_err(Failure::failed)?
        }
        Some(_) | None => {
            let folder = tempfile::Builder::new()
                .prefix("tagout-doctor-")
                .tempdir()
                .map_err(|error| Failure::failed(format!("no throw-away folder: {error}")))?;
            Host::probe(folder.path()).lines()
        }
    };
    let held = lines.iter().all(|line| line.state != State::Missing);
    if args.json {
        let lines: Vec<Value> = lines.iter().map(to_json).collect();
        report::json(&json!({ "ok": held, "lines": lines }))?;
        return Ok(exit(held));
    }
    let width = lines.iter().map(|line| line.what.chars().count()).max();
    for line in &lines {
        report::line(&shown(line, width.unwrap_or_default()))?;
        if !line.remedy.is_empty() {
            report::line(&format!("          what to change: {}", line.remedy))?;
        }
    }
    Ok(exit(held))
}

const fn exit(held: bool) -> Exit {
    if held { Exit::Done } else { Exit::Failed }
}

const fn word(state: State) -> &'static str {
    match state {
        State::Enforced => "enforced",
        State::Weaker => "weaker",
        State::Missing => "missing",
    }
}

fn to_json(line: &Line) -> Value {
    json!({
        "what": line.what, "enforcer": line.enforcer, "state": word(line.state),
        "remedy": line.remedy,
    })
}

fn shown(line: &Line, width: usize) -> String {
    let colour = match line.state {
        State::Enforced => "32",
        State::Weaker => "33",
        State::Missing => "31",
    };
    // The colour's own characters take no room.
    let gap = " ".repeat(10_usize.saturating_sub(word(line.state).len()));
    let state = report::painted(word(line.state), colour);
    format!("{state}{gap}{:width$}  {}", line.what, line.enforcer)
        .trim_end()
        .to_owned()
}
