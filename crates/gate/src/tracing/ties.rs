//! The last link of the chain: which calls' lines a commit holds.
//!
//! Commits are found wherever the trace is brought up to date, whoever made them and however; they
//! are tied by content. The ledger is told first, and the trace takes it from there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tagout_ledger::{Event, Kind, NewEvent, PathChange, Reader};
use tagout_trace::blame::{Authorship, CommitFile};
use tagout_trace::history::{Tie, add_ties, commits_of, ties_of};
use tagout_trace::record::{Link, Revision, VERSION};
use tagout_vocab::limits::{
    ATTRIBUTION_BYTES_MAX, GIT_TIE_BYTES_MAX, GIT_TIE_COMMITS_MAX, GIT_TIE_FILES_MAX,
    TIE_COMMIT_ENTRIES_MAX, TIE_COMMITS_SHOWN_MAX, TIE_EVENT_ENTRIES_MAX,
};
use tagout_vocab::{CallId, Digest, IntentId, WorkspacePath};

use super::book::Pages;
use super::git::{Blob, Brought, Oid, Repository};
use super::vcs;
use crate::engine::Inner;
use crate::error::GateError;
use crate::record;

/// The page that holds where the repository stood when it was looked through last.
const STANDING_PAGE: &str = "commits-seen-at";

/// Clocks of those who commit may be wrong by so much.
const CLOCK_MARGIN_S: i64 = 24 * 60 * 60;

/// What an event about a commit says.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    commit: Revision,
    ties: Vec<Tie>,
}

/// What one look came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looked {
    /// Whether the ledger was told something that is to be taken in.
    pub(super) has_told: bool,
    /// Whether there are commits left for another look.
    pub(super) has_more: bool,
}

/// How much one look does before it leaves the rest to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    commits: usize,
    files: usize,
    bytes: usize,
}

impl Patience {
    /// Somebody asked, and waits for the whole answer.
    pub(super) const ASKED: Self = Self {
        commits: GIT_TIE_COMMITS_MAX,
        files: GIT_TIE_FILES_MAX,
        bytes: GIT_TIE_BYTES_MAX,
    };

    /// A call is closed, and its client waits for that alone.
    pub(super) const CLOSING: Self = Self {
        commits: GIT_TIE_COMMITS_MAX / 10,
        files: GIT_TIE_FILES_MAX / 10,
        bytes: GIT_TIE_BYTES_MAX / 10,
    };
}

/// Ties the commits that are new since the last look. The ledger is read to its end before.
pub(super) fn look(
    inner: &Inner,
    pages: &Pages<'_>,
    patience: Patience,
) -> Result<Looked, GateError> {
    let Some(mut repository) = Repository::open(inner.workspace.root()) else {
        return Ok(Looked::default());
    };
    let standing = repository.standing();
    if pages.text(STANDING_PAGE)?.as_deref() == Some(standing.as_str()) {
        return Ok(Looked::default());
    }
    let since = beginning(inner)?;
    let known = |id: &Oid| ties_of(&pages, &id.to_string()).map(|ties| ties.is_some());
    let news = repository.news(since, known)?;
    let mut looking = Looking {
        inner,
        pages,
        repository,
        bytes: 0,
        events: Vec::new(),
    };
    let mut looked = Looked::default();
    // One more than there is patience for says enough.
    let files_max = patience.files.saturating_add(1).min(GIT_TIE_FILES_MAX);
    for (count, (id, commit)) in news.iter().enumerate() {
        let brought = looking.repository.brought(commit, files_max);
        let brought = brought.unwrap_or_default();
        let is_long = brought.files.len() > patience.files;
        // Parents come first, so that nothing is left behind what is known.
        if count >= patience.commits || looking.bytes >= patience.bytes || is_long {
            looked.has_more = true;
            break;
        }
        looking.tie(id, &brought)?;
    }
    if !looking.events.is_empty() {
        looked.has_told = true;
        drop(inner.ledger.append(&looking.events)?);
    }
    if !looked.has_more {
        pages.set_text(STANDING_PAGE, &standing)?;
    }
    Ok(looked)
}

/// When the workspace began, in seconds; no commit before holds a call's lines.
fn beginning(inner: &Inner) -> Result<i64, GateError> {
    let first = Reader::open(inner.ledger.dir())?.events_from(0)?.next();
    let first = first.transpose()?.map(|event| event.body.timestamp);
    let seconds = first.unwrap_or_default().as_millis() / 1_000;
    Ok(seconds.saturating_sub(CLOCK_MARGIN_S))
}

struct Looking<'a> {
    inner: &'a Inner,
    pages: &'a Pages<'a>,
    repository: Repository,
    /// Bytes read so far.
    bytes: usize,
    events: Vec<NewEvent>,
}

impl Looking<'_> {
    /// Finds what a commit holds. One without lines of calls is noted, and the ledger not told.
    fn tie(&mut self, id: &Oid, brought: &Brought) -> Result<(), GateError> {
        let mut found: Vec<(Tie, PathChange)> = Vec::new();
        let mut is_cut = brought.is_cut;
        for blob in &brought.files {
            if found.len() >= TIE_COMMIT_ENTRIES_MAX {
                is_cut = true;
                break;
            }
            found.extend(self.file(blob)?);
        }
        found.truncate(TIE_COMMIT_ENTRIES_MAX);
        if found.is_empty() {
            let mut store = self.pages;
            return Ok(add_ties(&mut store, &id.to_string(), &[])?);
        }
        let parts = found.chunks(TIE_EVENT_ENTRIES_MAX);
        let events: Vec<NewEvent> = parts.map(|part| self.event(id, part, is_cut)).collect();
        self.events.extend(events);
        Ok(())
    }

    /// The calls whose lines one file of a commit brings.
    fn file(&mut self, blob: &Blob) -> Result<Vec<(Tie, PathChange)>, GateError> {
        let name = std::str::from_utf8(&blob.path).ok();
        let Some(path) = name.and_then(|name| WorkspacePath::new(name).ok()) else {
            return Ok(Vec::new());
        };
        let Some(content) = self.repository.blob(&blob.id, ATTRIBUTION_BYTES_MAX) else {
            return Ok(Vec::new());
        };
        let parent = blob.parent.as_ref();
        let parent = parent.and_then(|id| self.repository.blob(id, ATTRIBUTION_BYTES_MAX));
        let read = content.len() + parent.as_ref().map_or(0, Vec::len);
        self.bytes = self.bytes.saturating_add(read);
        let ties = Authorship::new(self.pages).ties(&CommitFile {
            path: &path,
            content: &content,
            parent: parent.as_deref(),
        })?;
        let change = PathChange {
            path: path.to_string(),
            before: parent.as_deref().map(Digest::of),
            after: Some(Digest::of(&content)),
        };
        Ok(ties.into_iter().map(|tie| (tie, change.clone())).collect())
    }

    fn event(&self, id: &Oid, part: &[(Tie, PathChange)], is_cut: bool) -> NewEvent {
        let commit = vcs::git(id);
        let ties: Vec<&Tie> = part.iter().map(|(tie, _)| tie).collect();
        let mut data = json!({ "commit": commit, "ties": ties });
        if let Some(data) = data.as_object_mut().filter(|_| is_cut) {
            // Not all of the commit was looked into.
            data.insert("cut".to_owned(), true.into());
        }
        let at = self.inner.clockwork.now();
        let mut event = record::other((&self.inner.clockwork, at), Kind::Commit, None, data);
        event.paths = part.iter().map(|(_, change)| change.clone()).collect();
        event.paths.dedup();
        event.intent = self.intent(&ties);
        event
    }

    /// The intent, if all the calls served the same one.
    fn intent(&self, ties: &[&Tie]) -> Option<IntentId> {
        let calls: BTreeSet<&CallId> = ties.iter().map(|tie| &tie.execution).collect();
        let of = |call: &CallId| self.pages.intent_of(call).ok().flatten();
        let mut intents = calls.into_iter().map(of);
        let first = intents.next()??;
        let is_one = intents.all(|other| other.as_ref() == Some(&first));
        is_one.then(|| IntentId::new(&first).ok()).flatten()
    }
}

/// Takes in what the ledger says of a commit.
pub(super) fn take_in(pages: &Pages<'_>, event: &Event) -> Result<(), GateError> {
    let body = &event.body;
    let told = body.data.as_ref().map(Told::deserialize);
    // What another version says of a commit is not understood, and nothing is made of it.
    let (Kind::Commit, Some(Ok(told))) = (&body.kind, told) else {
        return Ok(());
    };
    let mut store = pages;
    add_ties(&mut store, &told.commit.revision, &told.ties)?;
    let calls: BTreeSet<&CallId> = told.ties.iter().map(|tie| &tie.execution).collect();
    let link = Link {
        version: VERSION,
        id: format!("l-{}", body.event_id),
        timestamp: Some(body.timestamp),
        commit: Some(told.commit),
        records: calls.iter().map(|call| format!("t-{call}")).collect(),
        ledger_event: Some(event.hash),
    };
    pages.keep_link((&link.id, body.timestamp), link.to_line().trim_end())
}

/// The commits that others are known to have, as far back as is looked.
pub(crate) fn pushed(inner: &Inner) -> BTreeSet<String> {
    let Some(mut repository) = Repository::open(inner.workspace.root()) else {
        return BTreeSet::new();
    };
    let pushed = repository.pushed();
    pushed.iter().map(ToString::to_string).collect()
}

/// The latest commits that hold lines of a call, oldest first.
pub(crate) fn commits(pages: &Pages<'_>, call: &CallId) -> Result<Vec<String>, GateError> {
    let mut commits = commits_of(&pages, call)?;
    let extra = commits.len().saturating_sub(TIE_COMMITS_SHOWN_MAX);
    commits.drain(..extra);
    Ok(commits)
}
