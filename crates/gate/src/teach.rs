//! H14: what a failed verification teaches, in the files that tell agents what to do.

use std::path::Path;

use tagout_trace::lessons;
use tagout_vocab::Digest;
use tagout_vocab::limits::SIDECAR_BYTES_MAX;
use tagout_workspace::files;

use crate::engine::Inner;
use crate::error::GateError;
use crate::tool::Lesson;

/// Adds a lesson to the instruction files of the tree, once for each distinct failure. Only what
/// stands between the markers changes.
pub(crate) fn note(inner: &Inner, lesson: &Lesson) -> Result<(), GateError> {
    let (code, output) = (lesson.exit_code, &lesson.output);
    let Some(told) = lessons::lesson(&lesson.command, code, output, lesson.at) else {
        return Ok(());
    };
    let root = inner.workspace.root();
    let max = u64::try_from(SIDECAR_BYTES_MAX).unwrap_or(u64::MAX);
    let _locked = inner.site.store.lock_lessons()?;
    for name in chosen(inner, root) {
        let path = root.join(name);
        let bytes = files::read(&path, max)?.unwrap_or_default();
        // A text that is no text stays as it is.
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        if let Some(text) = lessons::add(&text, &told) {
            files::write_atomic(&path, text.as_bytes(), None)?;
            inner
                .site
                .store
                .note_taught(name, Digest::of(text.as_bytes()))?;
        }
    }
    Ok(())
}

/// A file of the tree itself: what a link leads to was not asked for.
fn is_there(root: &Path, name: &str) -> bool {
    std::fs::symlink_metadata(root.join(name)).is_ok_and(|found| found.is_file())
}

fn chosen<'i>(inner: &'i Inner, root: &Path) -> Vec<&'i String> {
    let Some(authority) = inner.shelf.books.catalogue.authority() else {
        return Vec::new();
    };
    let there = |name: &&String| is_there(root, name);
    let mut chosen: Vec<&String> = authority.lessons.iter().find(there).into_iter().collect();
    chosen.extend(authority.lessons_also.iter().filter(there));
    if chosen.is_empty() {
        // Something else may stand under the name.
        let free = |name: &&String| std::fs::symlink_metadata(root.join(name)).is_err();
        chosen.extend(authority.lessons.last().filter(free));
    }
    chosen
}
