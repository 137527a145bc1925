//! Whether an edit's old text is in a file exactly once, and what the file will hold afterwards.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tagout_policy::judge::Case;
use tagout_vocab::limits::OLD_TEXT_FILE_BYTES_MAX;
use tagout_vocab::{Digest, Effect, WorkspacePath};
use tagout_workspace::RelPath;

use crate::engine::Inner;
use crate::patched;

/// The canonical keys under which the catalogue's tools carry texts.
const OLD: &str = "old_string";
const NEW: &str = "new_string";
const WHOLE: &str = "content";
const BLOCKS: [&str; 2] = ["diff", "patch"];

fn text<'a>(arguments: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    arguments.get(key).and_then(Value::as_str)
}

fn content(inner: &Inner, path: &WorkspacePath) -> Option<String> {
    let bytes = inner
        .workspace
        .read(&RelPath::from(path), OLD_TEXT_FILE_BYTES_MAX);
    String::from_utf8(bytes.ok()?).ok()
}

fn once(haystack: &str, needle: &str) -> bool {
    !needle.is_empty() && haystack.matches(needle).count() == 1
}

/// Design §13.9: an edit of a file that the session never saw is safe if its old text, all of it,
/// is there exactly once. A file that can't be read as text has no old text.
pub(crate) fn matches_once(inner: &Inner, case: &Case<'_>, path: &WorkspacePath) -> bool {
    let arguments = case.arguments();
    let blocks: Vec<String> = if let Some(old) = text(arguments, OLD) {
        vec![old.to_owned()]
    } else {
        let diff = BLOCKS.iter().find_map(|key| text(arguments, key));
        diff.map(|diff| old_blocks(diff, path)).unwrap_or_default()
    };
    if blocks.is_empty() {
        return false;
    }
    let Some(content) = content(inner, path) else {
        return false;
    };
    let unified = content.replace("\r\n", "\n");
    let fits = |block: &String| once(&unified, &block.replace("\r\n", "\n"));
    blocks.iter().all(fits)
}

/// The old lines of every block of a patch that concerns a path.
fn old_blocks(diff: &str, path: &WorkspacePath) -> Vec<String> {
    let mut blocks = vec![String::new()];
    let mut searching = false;
    // A diff that names no file is about the only one.
    let mut ours = true;
    for line in diff.lines() {
        let named = [
            "*** Update File: ",
            "*** Add File: ",
            "*** Delete File: ",
            "+++ ",
        ]
        .iter()
        .find_map(|head| line.strip_prefix(head));
        if let Some(name) = named {
            let name = name.trim().trim_start_matches("b/");
            ours = WorkspacePath::new(name).is_ok_and(|named| named == *path)
                || name.ends_with(path.as_str());
            blocks.push(String::new());
        } else if line.starts_with("<<<<<<< SEARCH") {
            searching = true;
            blocks.push(String::new());
        } else if searching && line.starts_with("=======") {
            searching = false;
        } else if line.starts_with("@@") || line.starts_with("***") || line.starts_with("--- ") {
            blocks.push(String::new());
        } else if let Some(block) = blocks.last_mut().filter(|_| ours) {
            let old = if searching {
                Some(line)
            } else {
                line.strip_prefix(' ').or_else(|| line.strip_prefix('-'))
            };
            if let Some(old) = old.filter(|_| !is_hint(line, searching)) {
                block.push_str(old);
                block.push('\n');
            }
        }
    }
    let mut kept: Vec<String> = blocks
        .into_iter()
        .filter(|block| !block.is_empty())
        .collect();
    for block in &mut kept {
        // The file may lack the final line feed.
        block.pop();
    }
    kept
}

/// Lines of a search block that say where to look instead of what.
fn is_hint(line: &str, searching: bool) -> bool {
    searching && (line.starts_with(":start_line:") || line.starts_with("-------"))
}

/// What the arguments say that files will hold. What they don't say is left out, never guessed.
pub(crate) fn predicted(
    inner: &Inner,
    case: &Case<'_>,
    mutated: &[WorkspacePath],
) -> BTreeMap<WorkspacePath, Option<Digest>> {
    let block = BLOCKS.iter().find_map(|key| text(case.arguments(), key));
    if let Some(block) = block {
        return from_patch(inner, block, mutated).unwrap_or_default();
    }
    let [effect] = case.effects.as_slice() else {
        return BTreeMap::new();
    };
    let [path] = mutated else {
        return BTreeMap::new();
    };
    let after = match effect {
        Effect::Delete(_) => Some(None),
        Effect::Write(_) => written(inner, case.arguments(), path).map(Some),
        Effect::Read(_)
        | Effect::MakeFolder(_)
        | Effect::Move { .. }
        | Effect::Run { .. }
        | Effect::Reach { .. }
        | Effect::Remote { .. }
        | Effect::Delegate
        | Effect::Desktop
        | Effect::Unknown { .. } => None,
    };
    after
        .map(|after| (path.clone(), after))
        .into_iter()
        .collect()
}

/// What a patch leaves behind, if every file that it names is one that the call was judged by.
fn from_patch(
    inner: &Inner,
    block: &str,
    mutated: &[WorkspacePath],
) -> Option<BTreeMap<WorkspacePath, Option<Digest>>> {
    let files = patched::after(block, |name| content(inner, named(name, mutated)?))?;
    let mut predicted = BTreeMap::new();
    for file in files {
        let path = named(&file.name, mutated)?.clone();
        let digest = file.text.map(|text| Digest::of(text.as_bytes()));
        if predicted.insert(path, digest).is_some() {
            return None;
        }
    }
    Some(predicted)
}

/// The only path that a name in a patch can mean: it may be written from the root of all files or
/// from a folder of the workspace.
fn named<'m>(name: &str, mutated: &'m [WorkspacePath]) -> Option<&'m WorkspacePath> {
    let name = name.strip_prefix("./").unwrap_or(name);
    let ends = |long: &str, short: &str| {
        let before = long.strip_suffix(short);
        before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    let means = |path: &&WorkspacePath| ends(name, path.as_str()) || ends(path.as_str(), name);
    let mut found = mutated.iter().filter(means);
    let path = found.next()?;
    found.next().is_none().then_some(path)
}

fn written(inner: &Inner, arguments: &Map<String, Value>, path: &WorkspacePath) -> Option<Digest> {
    if let (Some(old), Some(new)) = (text(arguments, OLD), text(arguments, NEW)) {
        let before = content(inner, path)?;
        return once(&before, old).then(|| Digest::of(before.replacen(old, new, 1).as_bytes()));
    }
    text(arguments, WHOLE).map(|whole| Digest::of(whole.as_bytes()))
}

#[cfg(test)]
mod tests;
