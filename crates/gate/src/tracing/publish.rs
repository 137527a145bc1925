//! The views in the tree: the list of records, and the map of intents.
//!
//! With each change what is new is added. When somebody else changed a view (a branch was switched
//! or merged, a file was deleted, formatted or edited), it is made again from the state and from
//! what others put there. Looking alone never writes while the tree stands on another commit than
//! before: a switch would have to be undone by hand before the next one.

use std::path::Path;

use tagout_policy::law::Publish;
use tagout_trace::intent_map::IntentMap;
use tagout_trace::record::Record;
use tagout_vocab::limits::TRACE_MAP_BYTES_MAX;
use tagout_vocab::{IntentId, WorkspacePath};
use tagout_workspace::files;

use super::book::Pages;
use super::git::Repository;
use super::views;
use crate::engine::Inner;
use crate::error::GateError;

const FOLDER: &str = ".orchestration";
const RECORDS: &str = "agent_trace.jsonl";
const MAP: &str = "intent_map.md";

/// The page that holds the map.
const MAP_PAGE: &str = "intent-map";
/// The page that holds what others' records add to the map.
const OTHERS_PAGE: &str = "intent-map-of-others";
/// The page that holds the revision at which was published last.
const HEAD_PAGE: &str = "published-at";
/// The pages that hold what the views looked like when they were last right, and upon what.
const RECORDS_PAGE: &str = "view-of-records";
const MAP_VIEW_PAGE: &str = "view-of-map";
const STANDING_PAGE: &str = "views-stand-upon";

fn damaged(source: serde_json::Error) -> GateError {
    GateError::Damaged {
        path: "the trace's map of intents".into(),
        source,
    }
}

fn known(pages: &Pages<'_>, page: &str) -> Result<IntentMap, GateError> {
    let text = pages.text(page)?;
    let read = text.map(|text| serde_json::from_str(&text).map_err(damaged));
    Ok(read.transpose()?.unwrap_or_default())
}

fn set(pages: &Pages<'_>, page: &str, map: &IntentMap) -> Result<(), GateError> {
    let text = serde_json::to_string(map).map_err(damaged)?;
    put(pages, page, &text)
}

/// Sets a page that says something else now.
fn put(pages: &Pages<'_>, page: &str, text: &str) -> Result<(), GateError> {
    if pages.text(page)?.as_deref() == Some(text) {
        return Ok(());
    }
    pages.set_text(page, text)
}

/// Takes more records into the map.
pub(super) fn map_all(pages: &Pages<'_>, records: &[Record]) -> Result<(), GateError> {
    let before = known(pages, MAP_PAGE)?;
    let mut map = before.clone();
    for record in records {
        map.add(record);
    }
    if map == before {
        return Ok(());
    }
    set(pages, MAP_PAGE, &map)
}

/// Brings the views up to date, when the policy says so. Gives what should be looked at.
pub(super) fn publish(inner: &Inner, pages: &Pages<'_>) -> Result<Option<String>, GateError> {
    let repository = Repository::open(inner.workspace.root());
    let head = repository.as_ref().and_then(Repository::head);
    let head = head.map_or_else(|| "-".to_owned(), |id| id.to_string());
    if inner.shelf.books.law.publish() == Publish::OnCommit {
        let last = pages.text(HEAD_PAGE)?;
        put(pages, HEAD_PAGE, &head)?;
        // The first look is before the first commit that counts.
        if last.is_none_or(|last| last == head) {
            return Ok(None);
        }
    }
    let views = Views {
        inner,
        pages,
        folder: inner.workspace.root().join(FOLDER),
        standing: repository.map_or_else(String::new, |found| found.standing()),
    };
    views.bring_up()
}

/// Whether a path is that of a view, and the view is as it was left.
pub(super) fn is_as_left(
    inner: &Inner,
    pages: &Pages<'_>,
    path: &WorkspacePath,
) -> Result<bool, GateError> {
    let folder = path.as_str().strip_prefix(FOLDER);
    let page = match folder.and_then(|name| name.strip_prefix('/')) {
        Some(RECORDS) => RECORDS_PAGE,
        Some(MAP) => MAP_VIEW_PAGE,
        Some(_) | None => return Ok(false),
    };
    let left = pages.text(page)?;
    let now = views::look(&inner.workspace.root().join(path.as_str()));
    Ok(left.is_some() && left == now)
}

struct Views<'a> {
    inner: &'a Inner,
    pages: &'a Pages<'a>,
    folder: std::path::PathBuf,
    /// Where the tree stands, and on which branch.
    standing: String,
}

impl Views<'_> {
    fn bring_up(&self) -> Result<Option<String>, GateError> {
        let pages = self.pages;
        let new = pages.unpublished()?;
        let records = self.folder.join(RECORDS);
        let map = self.folder.join(MAP);
        let is_as_left = |path: &Path, page| -> Result<bool, GateError> {
            Ok(pages.text(page)? == views::look(path))
        };
        let is_whole = is_as_left(&records, RECORDS_PAGE)?;
        if new.is_empty() {
            if is_whole && is_as_left(&map, MAP_VIEW_PAGE)? {
                // Both are right on this commit too.
                put(pages, STANDING_PAGE, &self.standing)?;
                return Ok(None);
            }
            let stood = pages.text(STANDING_PAGE)?;
            if stood.is_none_or(|stood| stood != self.standing) {
                return Ok(None);
            }
        }
        let links = pages.unpublished_links()?;
        // Links alone are not worth a change of the tree; they come with the next record.
        if !new.is_empty() {
            pages.note_published()?;
        }
        let mut told = None;
        if !is_whole {
            told = self.mend(&records)?;
        } else if !new.is_empty() {
            let mut text = [new, links].concat().join("\n");
            text.push('\n');
            files::append_lines(&records, text.as_bytes())?;
        }
        self.write_map(&map)?;
        for (path, page) in [(&records, RECORDS_PAGE), (&map, MAP_VIEW_PAGE)] {
            put(pages, page, &views::look(path).unwrap_or_default())?;
        }
        put(pages, STANDING_PAGE, &self.standing)?;
        Ok(told)
    }

    /// Makes the list of records again, with what others put there.
    fn mend(&self, path: &Path) -> Result<Option<String>, GateError> {
        let mended = views::mended(path, self.pages.published()?)?;
        if let Some(text) = &mended.text {
            files::ensure_dir(&self.folder)?;
            files::write_atomic(path, text, None)?;
        }
        set(self.pages, OTHERS_PAGE, &mended.others)?;
        Ok((mended.lost > 0).then(|| {
            format!(
                "{FOLDER}/{RECORDS} was made again; {} places in it could not be read",
                mended.lost
            )
        }))
    }

    fn write_map(&self, path: &Path) -> Result<(), GateError> {
        let name = |id: &str| {
            let id = IntentId::new(id).ok()?;
            let intent = self.inner.shelf.books.intents.get(&id)?;
            Some(intent.name.clone())
        };
        let mut map = known(self.pages, MAP_PAGE)?;
        map.extend(&known(self.pages, OTHERS_PAGE)?);
        let text = map.to_markdown(name);
        let there = files::read(path, TRACE_MAP_BYTES_MAX).unwrap_or_default();
        if there.as_deref() != Some(text.as_bytes()) {
            files::write_atomic(path, text.as_bytes(), None)?;
        }
        Ok(())
    }
}
