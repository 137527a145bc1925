//! What a run of `exec` tells: the receipt in JSON, or what a person needs beside the output.

use serde_json::{Map, Value, json};
use tagout_gate::{Outcome, Receipt};

use crate::failure::Failure;
use crate::report;

/// The command's own exit code, as a shell reports it.
pub(super) fn exit_code(output: &Value) -> Option<u8> {
    let code = output.get("exit_code").and_then(Value::as_i64);
    let signal = output.get("signal").and_then(Value::as_i64);
    let code = code.or_else(|| signal.map(|signal| 128 + signal))?;
    u8::try_from(code & 0xff).ok()
}

/// Tells what came of it. The command's output itself is not repeated.
pub(super) fn tell(receipt: &Receipt, json: bool) -> Result<(), Failure> {
    if json {
        return report::json(&to_json(receipt));
    }
    for warning in &receipt.warnings {
        report::note(&format!("tagout: warning: {warning}"));
    }
    if let Some(refusal) = &receipt.refusal {
        let (code, reason) = (refusal.code.as_str(), report::lines(&refusal.reason));
        report::note(&format!("tagout: {code}: {reason}"));
        report::note(&format!(
            "tagout: what to do: {}",
            report::lines(&refusal.remedy)
        ));
    }
    if let Some(approval) = &receipt.approval {
        report::note(&format!("tagout: it waits for a person as {approval}"));
    }
    let text = |key: &str| receipt.output.as_ref()?.get(key)?.as_str();
    if let Some(id) = text("long_running") {
        report::line(id)?;
    }
    if let Some(hint) = text("hint") {
        report::note(&format!("tagout: hint: {}", report::plain(hint)));
    }
    Ok(())
}

/// What became of a command that was to go on, where that is not what was asked for.
pub(super) fn of_long_running(receipt: &Receipt, signal: Option<u8>, session: Option<&str>) {
    let Some(output) = &receipt.output else {
        return;
    };
    let goes_on = output.get("long_running").is_some_and(Value::is_string);
    match (exit_code(output), signal) {
        // The signal came too late to end it, and the exit code says only that it came.
        (_, Some(_)) if goes_on => {
            let session = session.map_or_else(String::new, |name| format!(" --session {name}"));
            report::note(&format!(
                "tagout: it goes on; `tagout exec{session} --end` ends it"
            ));
        }
        (Some(_), Some(_)) => report::note("tagout: it was ended before it was left running"),
        (Some(code), None) => {
            // Nobody was handed it while it came.
            let printed = output.get("output").and_then(Value::as_str);
            report::note(&report::plain(printed.unwrap_or_default()));
            report::note(&format!(
                "tagout: it did not go on: it ended at once with {code}"
            ));
        }
        (None, Some(_) | None) => {}
    }
}

const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::RolledBack => "rolled_back",
        Outcome::Failed => "failed",
        Outcome::Denied => "denied",
        Outcome::Pending => "pending",
    }
}

/// Stable names; what the command itself came to stands beside what Tagout made of it.
fn to_json(receipt: &Receipt) -> Value {
    let mut told = Map::new();
    told.insert("outcome".to_owned(), json!(word(receipt.outcome)));
    let execution = receipt.execution.as_ref().map(tagout_vocab::CallId::as_str);
    told.insert("execution".to_owned(), json!(execution));
    if let Some(Value::Object(output)) = &receipt.output {
        for (key, value) in output {
            told.insert(key.clone(), value.clone());
        }
    }
    let error = receipt.refusal.as_ref().map(|refusal| refusal.to_json());
    let more = [
        ("changes", json!(receipt.changes)),
        ("error", json!(error)),
        ("parked", json!(receipt.parked)),
        ("approval", json!(receipt.approval)),
        ("events", json!(receipt.events())),
        (
            "undoable_until",
            json!(receipt.undoable_until.map(|time| time.to_string())),
        ),
        ("warnings", json!(receipt.warnings)),
    ];
    for (key, value) in more {
        told.insert(key.to_owned(), value);
    }
    Value::Object(told)
}
