//! What a client did beside what it was let do: a call that was executed otherwise than it was let
//! through, and files that no call accounts for.

use serde_json::{Map, Value, json};
use tagout_ledger::{Commitment, Event, Index, Kind, NewEvent, Query, Texts};
use tagout_vocab::limits::{CHANGED_EVENTS_MAX, CHANGED_PATHS_MAX, REFUSAL_PATHS_MAX};
use tagout_vocab::{Call, IntentId, Place, WorkspacePath};
use tagout_workspace::RelPath;

use crate::engine::{Engine, Inner};
use crate::error::GateError;
use crate::observed;
use crate::record;
use crate::settle::ARGUMENTS_CHANGED;
use crate::tracing;

/// How a client executed a call otherwise than it was let through.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Strayed {
    /// With arguments that are neither those that it asked with nor those that it was given.
    Altered,
    /// A command that was to be confined is over, and nobody came to confine it.
    Unconfined,
}

impl Strayed {
    /// The word for it in its event.
    const fn word(self) -> &'static str {
        match self {
            Self::Altered => ARGUMENTS_CHANGED,
            Self::Unconfined => "unconfined",
        }
    }

    fn told(self, tool: &str) -> String {
        match self {
            Self::Altered => format!(
                "a call of `{tool}` was executed with other arguments than it was let through \
                 with: another hook changed them"
            ),
            Self::Unconfined => format!(
                "a command of `{tool}` is over, and it did not come to where it is \
                 confined: it ran unconfined, or not at all; another hook may have taken its \
                 rewriting back"
            ),
        }
    }
}

/// A changed file that no call accounts for.
struct Unexpected {
    path: String,
    why: String,
}

impl Engine {
    /// Records how a client executed a call otherwise than it was let through, and which of the
    /// files that it says were changed no call accounts for. Gives what should be told; nothing
    /// where there is nothing to record.
    pub fn strayed(
        &self,
        call: &Call,
        how: Option<Strayed>,
        changed: &[String],
    ) -> Result<Vec<String>, GateError> {
        if how.is_none() && changed.is_empty() {
            return Ok(Vec::new());
        }
        let inner = &self.inner;
        let intent = match &call.session {
            Some(id) => inner
                .site
                .store
                .session(id)?
                .session
                .active_intent()
                .cloned(),
            None => None,
        };
        let unexpected = unexpected(inner, (call, intent.as_ref()), changed)?;
        if how.is_none() && unexpected.is_empty() {
            return Ok(Vec::new());
        }
        let mut event = self.stray_event(call, how, &unexpected);
        event.intent = intent;
        drop(inner.ledger.append(&[event])?);
        let told = how.map(|how| how.told(&call.tool));
        Ok(told.into_iter().chain(list(&unexpected)).collect())
    }

    fn stray_event(
        &self,
        call: &Call,
        how: Option<Strayed>,
        unexpected: &[Unexpected],
    ) -> NewEvent {
        let clockwork = &self.inner.clockwork;
        let mut data = Map::new();
        let mut say = |what: &str, value| drop(data.insert(what.to_owned(), value));
        if let Some(id) = &call.id {
            say("call", json!(id));
        }
        if let Some(how) = how {
            say(how.word(), true.into());
        }
        if !unexpected.is_empty() {
            let one = |one: &Unexpected| json!({ "path": one.path, "why": one.why });
            let named = unexpected.iter().take(REFUSAL_PATHS_MAX).map(one);
            say("unexpected", named.collect());
            say("unexpectedCount", unexpected.len().into());
        }
        let at = (clockwork, clockwork.now());
        let session = call.session.as_ref();
        let mut event = record::other(at, Kind::Session, session, Value::Object(data));
        event.tool_id = Some(call.tool.clone());
        event.agent.clone_from(&call.agent.name);
        event.model.clone_from(&call.agent.model);
        // What the client says that it executed, as it says it.
        let (salt, input) = (clockwork.random(), Value::Object(call.arguments.clone()));
        event.input_hash = Some(Commitment::new(salt, input.to_string().as_bytes()).digest);
        event.texts = Some(Texts {
            salt,
            input: Some(input),
            output: None,
        });
        event
    }
}

fn list(unexpected: &[Unexpected]) -> Option<String> {
    if unexpected.is_empty() {
        return None;
    }
    let named = unexpected.iter().take(REFUSAL_PATHS_MAX);
    let named: Vec<String> = named
        .map(|one| format!("`{}` ({})", one.path, one.why))
        .collect();
    let more = match unexpected.len().saturating_sub(REFUSAL_PATHS_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "files changed that no call accounts for: {}{more}",
        named.join(", ")
    ))
}

/// Which of the files that a client says were changed no call accounts for, each with what speaks
/// against it.
fn unexpected(
    inner: &Inner,
    (call, intent): (&Call, Option<&IntentId>),
    changed: &[String],
) -> Result<Vec<Unexpected>, GateError> {
    if changed.is_empty() {
        // Nothing of the ledger has to be opened to look for nothing.
        return Ok(Vec::new());
    }
    let open = inner.site.store.open_tickets()?;
    let is_held = |path: &WorkspacePath| open.iter().any(|ticket| ticket.mutated.contains(path));
    let against = observed::against(inner, intent);
    let index = Index::open(inner.ledger.dir())?;
    let mut found = Vec::new();
    for raw in changed.iter().take(CHANGED_PATHS_MAX) {
        let place = inner.roots.place(raw, &call.cwd);
        let Place::Inside { path } = &place else {
            found.push(Unexpected {
                path: place.shown(),
                why: "outside of the workspace".to_owned(),
            });
            continue;
        };
        if is_held(path) || is_known(inner, &index, path)? {
            continue;
        }
        let why = against(path).unwrap_or_else(|| "in scope, by nobody's call".to_owned());
        found.push(Unexpected {
            path: path.to_string(),
            why,
        });
    }
    Ok(found)
}

/// Whether a file holds what a call, or Tagout itself, left there.
fn is_known(inner: &Inner, index: &Index, path: &WorkspacePath) -> Result<bool, GateError> {
    // What can't be looked at is not what someone left there.
    let Ok(now) = inner.workspace.digest(&RelPath::from(path)) else {
        return Ok(false);
    };
    let query = Query {
        path: Some(path.to_string()),
        limit: Some(CHANGED_EVENTS_MAX),
        ..Query::default()
    };
    let left = |event: &Event| {
        let body = &event.body;
        let mut paths = body.paths.iter();
        body.execution_id.is_some()
            && paths.any(|one| one.path == path.as_str() && one.after == now)
    };
    Ok(index.query(&query)?.iter().any(left)
        || inner
            .site
            .store
            .taught(path)?
            .is_some_and(|left| Some(left) == now)
        || tracing::is_own_view(inner, path)?)
}
