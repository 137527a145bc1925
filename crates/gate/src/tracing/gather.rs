//! From an event of the ledger and the bytes of both sides to a record.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;
use tagout_ledger::{Event, Kind, LifecycleState, PathChange};
use tagout_trace::attribution::Origin;
use tagout_trace::blame::FileChange;
use tagout_trace::record::{
    Change, ChangeKind, Contributor, Entity, Facts, ModifiedRange, Record, Side, record,
};
use tagout_vocab::limits::{TRACE_IMAGES_BYTES_MAX, UNDO_HORIZON_MS};
use tagout_vocab::{CallId, IntentId, MutationClass, SessionId, WorkspacePath};
use tagout_workspace::{Effect, RelPath, Stood, StoodKind};

use super::book::{Pages, Taken};
use super::{Fresh, effects, permission_of, vcs};
use crate::changes::git::{self, GitPath};
use crate::engine::Inner;
use crate::error::GateError;
use crate::record::NETWORK_OPEN;
use crate::settle::AS_PREDICTED;

/// One file that changed, with the bytes of both sides.
#[derive(Debug)]
struct File {
    path: WorkspacePath,
    moved_from: Option<WorkspacePath>,
    before: Option<Stood>,
    after: Option<Stood>,
}

/// All that is known of one execution.
#[derive(Debug)]
pub(super) struct Gathered<'e> {
    pub(super) event: &'e Event,
    pub(super) taken: Taken,
    is_fresh: bool,
    files: Vec<File>,
    /// Files of which only the digests are known.
    bare: Vec<&'e PathChange>,
}

/// Before the name of a call that could reach the network.
pub(crate) const NETWORK_PAGE: &str = "network/";

fn is_traced(path: &str) -> bool {
    git::what(path.as_bytes()) == GitPath::Worktree
}

impl<'e> Gathered<'e> {
    /// Gathers it; `None` for an execution without a name or without files of the tree.
    pub(super) fn of(
        inner: &Inner,
        pages: &Pages<'_>,
        (event, fresh): (&'e Event, Option<&Fresh<'_>>),
    ) -> Result<Option<Self>, GateError> {
        let body = &event.body;
        let name = body.execution_id.as_deref().unwrap_or_default();
        let Ok(execution) = CallId::new(name) else {
            return Ok(None);
        };
        let fresh = fresh.filter(|fresh| *fresh.execution == execution);
        let seen = fresh.and_then(|fresh| fresh.effects.as_ref());
        let kept = seen
            .map(|seen| {
                let kept = effects::keep(pages, seen, body.timestamp)?;
                let horizon = body.timestamp.plus_millis(-UNDO_HORIZON_MS);
                pages.drop_images(horizon, TRACE_IMAGES_BYTES_MAX)?;
                Ok::<_, GateError>(kept)
            })
            .transpose()?;
        let undoes = body.data.as_ref().and_then(|data| data.get("undoes"));
        let undoes = undoes.and_then(Value::as_array).into_iter().flatten();
        let taken = Taken {
            execution,
            undoes: undoes
                .filter_map(|one| CallId::new(one.as_str()?).ok())
                .collect(),
            effects: kept,
        };
        let known = match seen {
            Some(seen) => Some(seen.clone()),
            None => effects::effects_of(inner, pages, &taken)?,
        };
        let files = files(known.unwrap_or_default());
        let mut names: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        names.extend(
            files
                .iter()
                .filter_map(|file| Some(file.moved_from.as_ref()?.as_str())),
        );
        let has_digest = |change: &&PathChange| change.before.is_some() || change.after.is_some();
        let bare = body.paths.iter().filter(has_digest);
        let is_bare =
            |change: &&PathChange| is_traced(&change.path) && !names.contains(change.path.as_str());
        let bare = bare.filter(is_bare).collect();
        Ok(Some(Self {
            event,
            taken,
            is_fresh: fresh.is_some(),
            bare,
            files,
        }))
    }

    /// Whether a person did it, by hand or by taking something back.
    pub(super) fn is_persons(&self) -> bool {
        self.event.body.kind == Kind::Undo
    }

    fn has_failed(&self) -> bool {
        self.event.body.state == Some(LifecycleState::RolledBack)
    }

    /// Whether nobody can tell who did it: the call failed, and left something else than it said.
    pub(super) fn is_anyones(&self) -> bool {
        let said = self.said(AS_PREDICTED);
        self.has_failed() && said != Some(&Value::Bool(true))
    }

    fn said(&self, name: &str) -> Option<&Value> {
        self.event.body.data.as_ref()?.get(name)
    }

    pub(super) fn keep_step(&self, pages: &Pages<'_>) -> Result<(), GateError> {
        let body = &self.event.body;
        if self.said(NETWORK_OPEN) == Some(&Value::Bool(true)) {
            let name = format!("{NETWORK_PAGE}{}", self.taken.execution);
            pages.set_text(&name, "open")?;
        }
        let session = body.session.as_ref().map(SessionId::as_str);
        let intent = body.intent.as_ref().map(IntentId::as_str);
        pages.add_step((self.event.seq, &self.taken), (session, intent))
    }

    /// The files whose lines have authors.
    pub(super) fn files(&self) -> Vec<FileChange<'_>> {
        let is_text = |side: &Option<Stood>| {
            let known = side.as_ref();
            known.is_none_or(|one| one.kind == StoodKind::File && one.bytes.is_some())
        };
        let whole = self
            .files
            .iter()
            .filter(|file| is_text(&file.before) && is_text(&file.after));
        whole
            .map(|file| FileChange {
                path: &file.path,
                moved_from: file.moved_from.as_ref(),
                before: bytes(file.before.as_ref()),
                after: bytes(file.after.as_ref()),
            })
            .collect()
    }

    pub(super) fn origin(&self, pages: &Pages<'_>) -> Result<Origin, GateError> {
        let body = &self.event.body;
        let permission = pages.text(&permission_of(self.taken.execution.as_str()))?;
        Ok(Origin {
            execution: self.taken.execution.clone(),
            intent: body.intent.clone(),
            session: body.session.clone(),
            agent: body.agent.clone(),
            model: body.model.clone(),
            approval: permission.or_else(|| body.user_id.clone()),
            at: body.timestamp,
        })
    }

    fn facts(&self, inner: &Inner, id: String) -> Facts {
        let body = &self.event.body;
        let intent = body.intent.as_ref();
        let known = intent.and_then(|id| inner.shelf.books.intents.get(id));
        let class = body
            .data
            .as_ref()
            .and_then(|data| data.get("mutationClass"));
        Facts {
            id,
            timestamp: Some(body.timestamp),
            // Later than that, the tree may stand on another revision.
            vcs: self
                .is_fresh
                .then(|| vcs::revision(inner.workspace.root()))
                .flatten(),
            intent_id: intent.map(ToString::to_string),
            related_requirements: known
                .map(|intent| intent.related_requirements.clone())
                .unwrap_or_default(),
            declared_class: class.and_then(Value::as_str).and_then(MutationClass::parse),
            tool_name: body.tool_id.clone(),
            tool_origin: None,
            agent_action: match (self.is_persons(), self.has_failed()) {
                (true, _) => Some("UNDO".to_owned()),
                (false, true) => Some("FAILED".to_owned()),
                (false, false) => None,
            },
            agent: body.agent.clone(),
            model: body.model.clone(),
            session_id: body.session.as_ref().map(ToString::to_string),
            call_id: Some(self.taken.execution.to_string()),
            ledger_event: Some(self.event.hash),
        }
    }

    pub(super) fn record(&self, inner: &Inner, id: String) -> Record {
        let has_bytes = |side: &Option<Stood>| side.as_ref().is_none_or(|one| one.bytes.is_some());
        let is_whole = |file: &&File| has_bytes(&file.before) && has_bytes(&file.after);
        let changes: Vec<Change<'_>> = self.files.iter().filter(is_whole).map(change).collect();
        let mut record = record(self.facts(inner, id), &changes);
        let cut = self.files.iter().filter(|file| !is_whole(file));
        record.modified_ranges.extend(cut.map(|file| ModifiedRange {
            old_file: file.moved_from.as_ref().map(ToString::to_string),
            ..bare(
                file.path.as_str(),
                file.before.as_ref().map(|one| one.digest),
                file.after.as_ref().map(|one| one.digest),
            )
        }));
        let known = self.bare.iter();
        record
            .modified_ranges
            .extend(known.map(|one| bare(&one.path, one.before, one.after)));
        if self.is_anyones()
            && let Some(contributor) = &mut record.contributor
        {
            contributor.kind = Entity::Unknown;
        }
        if self.is_persons() {
            record.contributor = Some(Contributor {
                kind: Entity::Human,
                name: self.event.body.user_id.clone(),
                model: None,
            });
        }
        record
    }
}

fn bytes(side: Option<&Stood>) -> Option<&[u8]> {
    side.and_then(|one| one.bytes.as_deref())
}

fn change(file: &File) -> Change<'_> {
    Change {
        path: file.path.as_str(),
        moved_from: file.moved_from.as_ref().map(WorkspacePath::as_str),
        before: whole(file.before.as_ref()),
        after: whole(file.after.as_ref()),
    }
}

fn whole(stood: Option<&Stood>) -> Option<Side<'_>> {
    let stood = stood?;
    Some(Side {
        bytes: stood.bytes.as_deref().unwrap_or_default(),
        mode: stood.mode,
    })
}

/// What can be said of a file without its bytes.
fn bare(
    path: &str,
    before: Option<tagout_vocab::Digest>,
    after: Option<tagout_vocab::Digest>,
) -> ModifiedRange {
    ModifiedRange {
        file: path.to_owned(),
        change: match (before, after) {
            (None, _) => ChangeKind::Created,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(before), Some(after)) if before == after => ChangeKind::Mode,
            (Some(_), Some(_)) => ChangeKind::Modified,
        },
        before_hash: before,
        after_hash: after,
        ..ModifiedRange::default()
    }
}

/// The files of the tree among some effects; one that went from here to there is one file.
fn files(effects: Vec<Effect>) -> Vec<File> {
    let is_file = |side: &Option<Stood>| {
        let kind = side.as_ref().map(|one| one.kind);
        matches!(kind, None | Some(StoodKind::File | StoodKind::Symlink))
    };
    let moved = moves(&effects);
    let whole = effects
        .into_iter()
        .filter(|effect| is_file(&effect.before) && is_file(&effect.after));
    let mut found: BTreeMap<WorkspacePath, File> = BTreeMap::new();
    for effect in whole {
        let Ok(path) = effect.path.to_workspace() else {
            continue;
        };
        if is_traced(path.as_str()) {
            let file = File {
                path: path.clone(),
                moved_from: None,
                before: effect.before,
                after: effect.after,
            };
            found.insert(path, file);
        }
    }
    for (to, from) in moved {
        let (Ok(to), Ok(from)) = (to.to_workspace(), from.to_workspace()) else {
            continue;
        };
        let before = found.remove(&from).and_then(|gone| gone.before);
        if let Some(file) = found.get_mut(&to) {
            file.before = before;
            file.moved_from = Some(from);
        }
    }
    found.into_values().collect()
}

/// Files that went from one place to another with their content: where to, and where from.
pub(crate) fn moves(effects: &[Effect]) -> BTreeMap<RelPath, RelPath> {
    let mut gone: BTreeMap<[u8; 32], Vec<&RelPath>> = BTreeMap::new();
    let inside = |effect: &&Effect| git::what(effect.path.as_bytes()) == GitPath::Worktree;
    for effect in effects.iter().filter(inside) {
        let before = effect.before.as_ref().filter(|one| is_telling(one));
        if let (Some(before), None) = (before, &effect.after) {
            let same = gone.entry(*before.digest.as_bytes()).or_default();
            same.push(&effect.path);
        }
    }
    let mut moved = BTreeMap::new();
    for effect in effects.iter().filter(inside) {
        let after = effect.after.as_ref().filter(|one| is_telling(one));
        if let (None, Some(after)) = (&effect.before, after)
            && let Some(from) = gone.get_mut(after.digest.as_bytes()).and_then(Vec::pop)
        {
            moved.insert(effect.path.clone(), from.clone());
        }
    }
    moved
}

/// An empty file is the same as every other one.
fn is_telling(stood: &Stood) -> bool {
    stood.kind == StoodKind::File && stood.bytes.as_ref().is_none_or(|bytes| !bytes.is_empty())
}
