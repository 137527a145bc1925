//! What a client did beside what it was let do: a call that was executed otherwise than it was let
//! through, and files that no call accounts for.

use std::collections::BTreeMap;
use std::error::Error as _;

use serde_json::{Map, Value, json};
use tagout_ledger::{Commitment, Event, Index, Kind, NewEvent, Query, Texts};
use tagout_vocab::limits::{
    CHANGED_EVENTS_MAX, CHANGED_PATHS_MAX, PATH_BYTES_MAX, REFUSAL_PATHS_MAX,
};
use tagout_vocab::{Call, Digest, IntentId, WorkspacePath};
use tagout_workspace::RelPath;

use crate::engine::{Engine, Inner};
use crate::error::GateError;
use crate::observed;
use crate::record;
use crate::settle::ARGUMENTS_CHANGED;
use crate::tracing::OwnViews;

/// How a client executed a call otherwise than it was let through.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Strayed {
    /// With arguments that are neither those that it asked with nor those that it was given.
    Altered,
    /// A command that was to be confined is over, and nobody came to confine it.
    Unconfined,
    /// Nobody came to confine such a command, and nobody reported its end.
    Unreported {
        /// A commitment to what was asked for, because nobody says what was executed.
        asked: Option<Commitment>,
    },
}

impl Strayed {
    /// The words for it in its event.
    const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Altered => &[ARGUMENTS_CHANGED],
            Self::Unconfined => &["unconfined"],
            Self::Unreported { .. } => &["unconfined", "unreported"],
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
            Self::Unreported { .. } => format!(
                "nobody reported the end of a command of `{tool}`, and it did not come to where \
                 it is confined: it ran unconfined, or not at all, because a person or the client \
                 refused it"
            ),
        }
    }
}

/// A changed file that no call accounts for.
struct Unexpected {
    path: String,
    why: String,
}

impl Unexpected {
    fn new(path: &str, why: &str) -> Self {
        Self {
            path: cut(path).to_owned(),
            why: cut(why).to_owned(),
        }
    }
}

impl Engine {
    /// Records how a client executed a call otherwise than it was let through, and which of the
    /// files that it says were changed no call accounts for. What keeps the files from being looked
    /// at keeps nothing from being recorded. Gives what should be told; nothing where there is
    /// nothing to record.
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
        let session = call.session.as_ref();
        let session = session.map(|id| inner.site.store.session(id)).transpose();
        let (intent, damaged) = match session {
            Ok(Some(record)) => (record.session.active_intent().cloned(), None),
            Ok(None) => (None, None),
            Err(error) => (None, Some(error)),
        };
        let looking = Looking {
            inner,
            call,
            intent: intent.as_ref(),
        };
        let looked = damaged.map_or_else(|| looking.unexpected(changed), Err);
        if how.is_none() && matches!(&looked, Ok(found) if found.is_empty()) {
            return Ok(Vec::new());
        }
        let mut event = self.stray_event(call, how);
        if let Some(data) = event.data.as_mut().and_then(Value::as_object_mut) {
            data.extend(of_files(&looked, changed.len()));
        }
        event.intent = intent;
        drop(inner.ledger.append(&[event])?);
        let told = how.map(|how| how.told(&call.tool));
        let listed = list(&looked, changed.len());
        Ok(told.into_iter().chain(listed).collect())
    }

    fn stray_event(&self, call: &Call, how: Option<Strayed>) -> NewEvent {
        let clockwork = &self.inner.clockwork;
        let mut data = Map::new();
        let mut say = |what: &str, value| drop(data.insert(what.to_owned(), value));
        if let Some(id) = &call.id {
            say("call", json!(id));
        }
        for word in how.map_or(&[][..], Strayed::words) {
            say(word, true.into());
        }
        let at = (clockwork, clockwork.now());
        let session = call.session.as_ref();
        let mut event = record::other(at, Kind::Session, session, Value::Object(data));
        event.tool_id = Some(call.tool.clone());
        event.agent.clone_from(&call.agent.name);
        event.model.clone_from(&call.agent.model);
        if let Some(Strayed::Unreported { asked }) = how {
            event.input_hash = asked.map(|asked| asked.digest);
            event.texts = asked.map(|asked| Texts {
                salt: asked.salt,
                input: None,
                output: None,
            });
            return event;
        }
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

/// What looking at the changed files gave.
type Looked = Result<Vec<Unexpected>, GateError>;

/// What an event says of the changed files. Nothing found is other than nothing looked at, and that
/// is other than nothing to look at.
fn of_files(looked: &Looked, reported_count: usize) -> Map<String, Value> {
    let mut data = Map::new();
    let mut say = |what: &str, value| drop(data.insert(what.to_owned(), value));
    match looked {
        Ok(found) if found.is_empty() => {}
        Ok(found) => {
            let one = |one: &Unexpected| json!({ "path": one.path, "why": one.why });
            let named = found.iter().take(REFUSAL_PATHS_MAX).map(one);
            say("unexpected", named.collect());
            say("unexpectedCount", found.len().into());
        }
        Err(error) => {
            if reported_count > 0 {
                say("changesUnknown", true.into());
            }
            say("unread", cut(&with_causes(error)).into());
        }
    }
    if reported_count > CHANGED_PATHS_MAX {
        say("changedCount", reported_count.into());
    }
    data
}

/// An error with what lies beneath it, each said once.
fn with_causes(error: &GateError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = cause.source();
    }
    text
}

fn list(looked: &Looked, reported_count: usize) -> Option<String> {
    let Ok(unexpected) = looked else {
        let told = "nobody could look whose the files are that the client says were changed";
        return (reported_count > 0).then(|| told.to_owned());
    };
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

/// Looks whose files are that a client says were changed.
struct Looking<'a> {
    inner: &'a Inner,
    call: &'a Call,
    intent: Option<&'a IntentId>,
}

impl Looking<'_> {
    /// Which of them no call accounts for, each with what speaks against it.
    fn unexpected(&self, changed: &[String]) -> Result<Vec<Unexpected>, GateError> {
        if changed.is_empty() {
            // Nothing of the ledger has to be opened to look for nothing.
            return Ok(Vec::new());
        }
        let inner = self.inner;
        let open = inner.site.store.open_tickets()?;
        let is_held =
            |path: &WorkspacePath| open.iter().any(|ticket| ticket.mutated.contains(path));
        let index = Index::open(inner.ledger.dir())?;
        // What can't be read tells of nothing that Tagout left.
        let taught = inner.site.store.taught().unwrap_or_default();
        let mut found = Vec::new();
        for raw in changed.iter().take(CHANGED_PATHS_MAX) {
            let Some(path) = self.inside(raw) else {
                found.push(Found::Outside(raw));
                continue;
            };
            if !is_held(&path) && !is_left(inner, (&index, &taught), &path)? {
                found.push(Found::Inside(path));
            }
        }
        self.without_views(&mut found);
        let against = observed::against(inner, self.intent);
        let shown = |one: Found<'_>| match one {
            Found::Outside(raw) => Unexpected::new(
                &self.inner.roots.place(cut(raw), &self.call.cwd).shown(),
                "outside of the workspace",
            ),
            Found::Inside(path) => {
                let why = against(&path);
                let why = why.as_deref().unwrap_or("in scope, by nobody's call");
                Unexpected::new(path.as_str(), why)
            }
        };
        Ok(found.into_iter().map(shown).collect())
    }

    /// The place of a file in the workspace. What is longer than a path can be is nowhere.
    fn inside(&self, raw: &str) -> Option<WorkspacePath> {
        if raw.len() > PATH_BYTES_MAX {
            return None;
        }
        let place = self.inner.roots.place(raw, &self.call.cwd);
        place.inside().cloned()
    }

    /// Leaves the views away that are as Tagout left them. The book is opened once, and one that
    /// can't be read tells of none.
    fn without_views(&self, found: &mut Vec<Found<'_>>) {
        if found.iter().all(|one| matches!(one, Found::Outside(_))) {
            return;
        }
        let Ok(mut views) = OwnViews::open(self.inner) else {
            return;
        };
        found.retain(|one| match one {
            Found::Outside(_) => true,
            Found::Inside(path) => !views.has(path).unwrap_or(false),
        });
    }
}

/// A changed file that no call is known to have left.
enum Found<'a> {
    Outside(&'a str),
    Inside(WorkspacePath),
}

/// Whether a file holds what a call, or a lesson, left there.
fn is_left(
    inner: &Inner,
    (index, taught): (&Index, &BTreeMap<String, Digest>),
    path: &WorkspacePath,
) -> Result<bool, GateError> {
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
    let lesson = taught.get(path.as_str());
    Ok(lesson.is_some_and(|left| Some(*left) == now) || index.query(&query)?.iter().any(left))
}

/// The beginning of a text, at most as long as a path, of whole characters.
fn cut(text: &str) -> &str {
    let mut end = PATH_BYTES_MAX.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}
