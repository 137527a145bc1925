//! Parking: what a command changed is kept when it can't be applied, never lost and never forced.

use serde_json::{Value, json};
use tagout_ledger::{Strength, redact};
use tagout_vocab::limits::PARKED_PATHS_MAX;

use super::again;
use super::parked::{self, Parked};
use super::run::Layer;
use crate::engine::Inner;
use crate::error::GateError;
use crate::failure::Failure;
use crate::permit::Ticket;

/// Keeps a layer that is not applied, and says so in the failure. A layer that can't be kept is
/// said to be lost.
pub(crate) fn park(inner: &Inner, ticket: &Ticket, layer: &Layer, mut failure: Failure) -> Failure {
    let id = inner.clockwork.id("parked");
    let paths = layer.paths.iter().take(PARKED_PATHS_MAX).cloned();
    let parked = Parked {
        id: id.clone(),
        execution: ticket.execution.clone(),
        session: ticket.session.clone(),
        intent: ticket.intent.clone(),
        command: redact(&layer.line, Strength::Full),
        at: inner.clockwork.now(),
        code: failure.code.as_str().to_owned(),
        reason: failure.message.clone(),
        paths: paths.collect(),
        paths_total: layer.paths.len(),
        mark: layer.mark,
        remaining: None,
    };
    // What the record speaks of is durable before the record is.
    let secured = inner.workspace.secure().map_err(GateError::from);
    match secured.and_then(|()| inner.site.store.keep_parked(&parked)) {
        Ok(()) => {
            again::keep_bases(inner, ticket, &parked, &layer.own);
            failure.remedy = format!("{}; {}", failure.remedy, parked::told(&id, failure.code));
            let told = failure.more.told.get_or_insert_with(|| json!({}));
            if let Value::Object(told) = told {
                told.insert("parked".to_owned(), json!(id));
                told.insert("paths".to_owned(), json!(parked.paths_total));
            }
            if let Some(Value::Object(output)) = &mut failure.more.output {
                output.insert("parked".to_owned(), json!(id));
            }
            failure.more.parked = Some(id);
        }
        Err(error) => {
            let lost = format!("what it changed could not be kept: {error}");
            failure.more.context = Some(lost.clone());
            failure.remedy = format!("{}; {lost}", failure.remedy);
            drop(tagout_sandbox::layer::remove(&layer.own));
        }
    }
    failure
}
