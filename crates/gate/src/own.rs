//! The engine's own checks beside the judge's: registered tools, waiting scopes, child sessions.

use serde_json::{Map, Value};
use tagout_policy::scope::{Owned, Scope};
use tagout_vocab::{Code, Gate, IntentId, Refusal, Session, WorkspacePath};

use crate::command;
use crate::engine::Inner;
use crate::error::GateError;
use crate::registry::Entry;

/// What is checked.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a Map<String, Value>,
    pub(crate) mutated: &'a [WorkspacePath],
    pub(crate) selects: Option<&'a IntentId>,
    /// The engine itself is to run it.
    pub(crate) runs: bool,
}

fn refusal(gate: Gate, code: Code, reason: String, remedy: &str) -> Refusal {
    Refusal::built_in((gate, code), gate.as_str(), reason, remedy)
}

/// What stands against a call that the judge let through.
pub(crate) fn check(
    inner: &Inner,
    session: &Session,
    asked: &Asked<'_>,
) -> Result<Option<Refusal>, GateError> {
    if asked.runs {
        let Some(entry) = inner.registry.get(asked.name) else {
            let reason = format!("no tool `{}` can be run here", asked.name);
            let remedy = "use a tool that is offered";
            return Ok(Some(refusal(
                Gate::Normalise,
                Code::ToolUnknown,
                reason,
                remedy,
            )));
        };
        let found = entry.input_violations(&Value::Object(asked.arguments.clone()));
        if !found.is_empty() {
            let reason = format!("the arguments are not as declared: {}", found.join("; "));
            let remedy = "send the call again with arguments that fit the tool's schema";
            let refused = refusal(Gate::Schema, Code::SchemaInvalid, reason, remedy);
            return Ok(Some(Refusal {
                retryable: true,
                ..refused
            }));
        }
    }
    if let Some(wanted) = asked.selects
        && let Some(refused) = child_selects(inner, session, wanted)?
    {
        return Ok(Some(refused));
    }
    if let Some(refused) = repository(inner, asked.mutated) {
        return Ok(Some(refused));
    }
    Ok(waiting_scope(inner, session, asked.mutated))
}

/// What makes git obey a folder, or changes what it obeys there, is a person's to write.
fn repository(inner: &Inner, mutated: &[WorkspacePath]) -> Option<Refusal> {
    let paths = mutated.iter().map(|path| path.as_str().as_bytes());
    let found = command::beyond_written(inner, paths);
    let first = found.first()?;
    let reason = format!("{}: {}", first.path, first.why);
    let remedy = "leave it to a person, or make the repository below `/tmp`";
    let refused = refusal(Gate::Authority, Code::AuthorityFile, reason, remedy);
    Some(Refusal {
        paths: found.iter().map(|one| one.path.to_string()).collect(),
        ..refused
    })
}

/// A child session can only take up what its parent works on.
fn child_selects(
    inner: &Inner,
    session: &Session,
    wanted: &IntentId,
) -> Result<Option<Refusal>, GateError> {
    let ancestors = inner.site.store.ancestors(session)?;
    let wider = ancestors
        .iter()
        .any(|one| one.active_intent() != Some(wanted));
    Ok(wider.then(|| {
        let reason = format!("a child session works on its parent's intent, which is not {wanted}");
        let remedy = "select the parent's active intent";
        let refused = refusal(Gate::Intent, Code::IntentMismatch, reason, remedy);
        Refusal {
            intent_id: Some(wanted.clone()),
            ..refused
        }
    }))
}

/// A scope that the tree has narrowed holds at once, although nobody accepted it yet.
fn waiting_scope(inner: &Inner, session: &Session, paths: &[WorkspacePath]) -> Option<Refusal> {
    let intent = session.active_intent()?;
    let scope = inner.shelf.also_within.get(intent)?;
    let scope = Scope::parse(scope).ok();
    let outside = paths.iter().find(|path| {
        scope
            .as_ref()
            .is_none_or(|scope| !matches!(scope.owns(path, inner.case), Owned::Yes(_)))
    })?;
    let reason = format!("{outside} is outside the scope that the tree now gives {intent}");
    let remedy = "stay inside both scopes until a person has accepted the new one";
    let refused = refusal(Gate::Scope, Code::ScopeViolation, reason, remedy);
    Some(Refusal {
        intent_id: Some(intent.clone()),
        paths: vec![outside.to_string()],
        ..refused
    })
}

/// L13: what a caller should know about the tool's version.
pub(crate) fn warnings(entry: Option<&Entry>) -> Vec<String> {
    let Some(entry) = entry else {
        return Vec::new();
    };
    let declaration = entry.tool.declaration();
    let deprecation = entry.tool.deprecation().map(|found| {
        format!(
            "`{}` {} is deprecated since {}; use `{}`. {}",
            declaration.id, declaration.version, found.since, found.successor, found.guidance
        )
    });
    deprecation.into_iter().collect()
}
