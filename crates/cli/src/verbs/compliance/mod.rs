//! `tagout compliance`: the list of RFC-0001 §9, each line answered by trying it.
//!
//! The lines are data; what each of them is answered by is a trial in a throw-away workspace, a run
//! of the conformance kit, or a look at this workspace's own ledger. Nothing is answered by heart.

mod answers;
mod native;
mod stage;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::{ComplianceArgs, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use answers::{Answer, Seen};

const LINES: &str = include_str!("../../../data/compliance/lines.json");

/// One line of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    line: String,
    asks: String,
    trial: String,
}

/// A line with its answer.
#[derive(Debug, Serialize)]
struct Answered {
    line: String,
    asks: String,
    met: bool,
    evidence: String,
}

/// L12: answers every line, with the evidence.
pub(crate) fn run(place: &PlaceArgs, args: &ComplianceArgs) -> Result<Exit, Failure> {
    let lines: Vec<Line> = serde_json::from_str(LINES)
        .map_err(|error| Failure::failed(format!("the list can't be read: {error}")))?;
    if !args.json {
        report::note("trying it out in a throw-away workspace");
    }
    let seen = Seen::gather(place)?;
    let mut answered = Vec::new();
    for Line { line, asks, trial } in lines {
        let Answer { met, evidence } = answers::answer(&trial, &seen);
        answered.push(Answered {
            line,
            asks,
            met,
            evidence,
        });
    }
    let open = answered.iter().filter(|one| !one.met).count();
    if args.json {
        report::json(&json!({ "ok": open == 0, "open": open, "lines": answered }))?;
    } else {
        tell(&answered, open)?;
    }
    Ok(if open == 0 { Exit::Done } else { Exit::Failed })
}

fn tell(answered: &[Answered], open: usize) -> Result<(), Failure> {
    for one in answered {
        let word = if one.met {
            report::painted("yes", "32")
        } else {
            report::painted("no ", "31")
        };
        report::line(&format!("{:<7} {word}  {}", one.line, one.asks))?;
        report::line(&format!("             {}", report::plain(&one.evidence)))?;
    }
    report::note(&format!("{} lines, {open} not met", answered.len()));
    Ok(())
}
