//! The views in the tree: the list of records, and the map of intents.

use tagout_policy::law::Publish;
use tagout_trace::intent_map::IntentMap;
use tagout_trace::record::Record;
use tagout_vocab::IntentId;
use tagout_vocab::limits::TRACE_MAP_BYTES_MAX;
use tagout_workspace::files;

use super::book::Pages;
use super::vcs;
use crate::engine::Inner;
use crate::error::GateError;

const FOLDER: &str = ".orchestration";
const RECORDS: &str = "agent_trace.jsonl";
const MAP: &str = "intent_map.md";

/// The page that holds the map.
const MAP_PAGE: &str = "intent-map";
/// The page that holds the revision at which was published last.
const HEAD_PAGE: &str = "published-at";

fn damaged(source: serde_json::Error) -> GateError {
    GateError::Damaged {
        path: "the trace's map of intents".into(),
        source,
    }
}

fn known(pages: &Pages<'_>) -> Result<IntentMap, GateError> {
    let text = pages.text(MAP_PAGE)?;
    let read = text.map(|text| serde_json::from_str(&text).map_err(damaged));
    Ok(read.transpose()?.unwrap_or_default())
}

/// Takes more records into the map.
pub(super) fn map_all(pages: &Pages<'_>, records: &[Record]) -> Result<(), GateError> {
    let before = known(pages)?;
    let mut map = before.clone();
    for record in records {
        map.add(record);
    }
    if map == before {
        return Ok(());
    }
    let text = serde_json::to_string(&map).map_err(damaged)?;
    pages.set_text(MAP_PAGE, &text)
}

/// Writes what the views do not show yet, when the policy says so.
pub(super) fn publish(inner: &Inner, pages: &Pages<'_>) -> Result<(), GateError> {
    let head = vcs::revision(inner.workspace.root()).map(|found| found.revision);
    let is_due = match inner.shelf.books.law.publish() {
        Publish::AtOnce => true,
        Publish::OnCommit => head != pages.text(HEAD_PAGE)?,
    };
    let lines = pages.unpublished()?;
    if !is_due || lines.is_empty() {
        return Ok(());
    }
    let folder = inner.workspace.root().join(FOLDER);
    let mut text = lines.join("\n");
    text.push('\n');
    files::append_lines(&folder.join(RECORDS), text.as_bytes())?;
    let name = |id: &str| {
        let id = IntentId::new(id).ok()?;
        let intent = inner.shelf.books.intents.get(&id)?;
        Some(intent.name.clone())
    };
    let map = known(pages)?.to_markdown(name);
    let path = folder.join(MAP);
    let there = files::read(&path, TRACE_MAP_BYTES_MAX).unwrap_or_default();
    if there.as_deref() != Some(map.as_bytes()) {
        files::write_atomic(&path, map.as_bytes(), None)?;
    }
    if let Some(head) = head {
        pages.set_text(HEAD_PAGE, &head)?;
    }
    pages.note_published()
}
