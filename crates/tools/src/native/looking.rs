//! Looking through the workspace: listing, searching, ranking, outlines.

use ignore::overrides::{Override, OverrideBuilder};
use serde_json::{Value, json};
use tagout_gate::workspace::{RelPath, ResolvedKind};
use tagout_gate::{Context, ToolError};
use tagout_vocab::WorkspacePath;
use tagout_vocab::limits::{
    LIST_ENTRIES_MAX, MESSAGE_BYTES_MAX, OUTLINE_DEFINITIONS_MAX, OUTLINE_FILE_BYTES_MAX,
    OUTLINE_FILES_MAX, PATTERN_BYTES_MAX, RANK_BYTES_MAX, RANK_FILE_BYTES_MAX, SEARCH_BYTES_MAX,
    SEARCH_FILE_BYTES_MAX, SEARCH_HITS_MAX, SEARCH_LINE_BYTES_MAX,
};

use super::files::{kind, told};
use super::input::{Input, invalid};
use crate::near::cut;
use crate::outline;
use crate::rank::{Hit, Ranking};
use crate::search::{Found, Pattern, search};
use crate::text::Text;
use crate::walk::{Depth, walk};

/// The files that a call asks to look into.
struct Files {
    /// Their paths: as the file system has them, and as text.
    paths: Vec<(RelPath, String)>,
    /// There are more than one walk may look at.
    cut: bool,
}

/// The file itself, or the files beneath a folder.
fn files(
    context: &Context<'_, '_>,
    path: &WorkspacePath,
    depth: Depth,
) -> Result<Files, ToolError> {
    match kind(context, path)? {
        ResolvedKind::File => Ok(Files {
            paths: vec![(RelPath::from(path), path.to_string())],
            cut: false,
        }),
        ResolvedKind::Folder => {
            let walked = walk(context.workspace(), &RelPath::from(path), depth);
            let files = walked.entries.into_iter().filter(|entry| entry.is_file);
            Ok(Files {
                paths: files
                    .map(|entry| (entry.path.clone(), entry.path.to_string()))
                    .collect(),
                cut: walked.cut,
            })
        }
        ResolvedKind::Missing => Err(ToolError::NotFound {
            path: path.to_string(),
        }),
        ResolvedKind::Symlink | ResolvedKind::Special => {
            Err(invalid(format!("`{path}` is neither a file nor a folder")))
        }
    }
}

/// The text of a file; `None` when it is binary, too large, or gone since it was listed.
fn text_of(context: &Context<'_, '_>, path: &RelPath, bytes_max: u64) -> Option<Text> {
    let bytes = context.workspace().read(path, bytes_max).ok()?;
    Text::decode(&bytes).ok()
}

pub(super) fn list_files(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let path = context.resolve(input.text("path")?)?;
    let depth = if input.flag("recursive")? {
        Depth::All
    } else {
        Depth::One
    };
    match kind(context, &path)? {
        ResolvedKind::Folder => {}
        ResolvedKind::Missing => {
            return Err(ToolError::NotFound {
                path: path.to_string(),
            });
        }
        ResolvedKind::File | ResolvedKind::Symlink | ResolvedKind::Special => {
            return Err(invalid(format!("`{path}` is not a folder")));
        }
    }
    let walked = walk(context.workspace(), &RelPath::from(&path), depth);
    let truncated = walked.cut || walked.entries.len() > LIST_ENTRIES_MAX;
    let entries: Vec<Value> = walked
        .entries
        .iter()
        .take(LIST_ENTRIES_MAX)
        .map(|entry| {
            let kind = match (entry.is_folder, entry.is_file) {
                (true, _) => "folder",
                (false, true) => "file",
                (false, false) => "other",
            };
            json!({"path": entry.path.to_string(), "kind": kind})
        })
        .collect();
    Ok(json!({"path": path.to_string(), "entries": entries, "truncated": truncated}))
}

pub(super) fn search_files(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let path = context.resolve(input.text("path")?)?;
    let pattern = Pattern::new(input.text("regex")?).map_err(|fault| told("regex", fault))?;
    let names = input.text_opt("file_pattern")?;
    let names = names
        .map(|names| file_pattern(context, names))
        .transpose()?;
    let files = files(context, &path, Depth::All)?;
    let mut results = Vec::new();
    let (mut hits, mut searched, mut skipped) = (0, 0, 0);
    let mut bytes_left = SEARCH_BYTES_MAX;
    let mut truncated = files.cut;
    for (place, shown) in &files.paths {
        let wanted = |names: &Override| names.matched(shown, false).is_whitelist();
        if !names.as_ref().is_none_or(wanted) {
            continue;
        }
        let Some(text) = text_of(context, place, SEARCH_FILE_BYTES_MAX) else {
            skipped += 1;
            continue;
        };
        searched += 1;
        let (found, more) = search(&pattern, text.flat(), SEARCH_HITS_MAX - hits);
        hits += found.iter().filter(|line| line.matches).count();
        if !found.is_empty() {
            results.push(json!({"path": shown, "lines": lines(&found)}));
        }
        let left = bytes_left.checked_sub(text.flat().len() as u64);
        bytes_left = left.unwrap_or(0);
        if more || left.is_none() {
            truncated = true;
            break;
        }
    }
    Ok(json!({
        "results": results,
        "matched_lines": hits,
        "files_searched": searched,
        "files_skipped": skipped,
        "truncated": truncated,
    }))
}

fn lines(found: &[Found]) -> Vec<Value> {
    found
        .iter()
        .map(|one| json!({"line": one.line, "text": one.text, "matches": one.matches}))
        .collect()
}

/// Names of files, in the language of ignore files.
fn file_pattern(context: &Context<'_, '_>, pattern: &str) -> Result<Override, ToolError> {
    if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX || pattern.starts_with('!') {
        return Err(invalid(format!(
            "`file_pattern` has to be a pattern such as `*.rs`, of at most {PATTERN_BYTES_MAX} \
             bytes"
        )));
    }
    let mut builder = OverrideBuilder::new(context.workspace().root());
    let wrong = |error| invalid(format!("`file_pattern` is wrong: {error}"));
    builder.add(pattern).map_err(wrong)?;
    builder.build().map_err(wrong)
}

pub(super) fn codebase_search(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let query = input.text("query")?;
    if query.len() > MESSAGE_BYTES_MAX {
        return Err(invalid(format!(
            "the question has more than {MESSAGE_BYTES_MAX} bytes"
        )));
    }
    let path = context.resolve(input.text_opt("path")?.unwrap_or("."))?;
    let mut ranking = Ranking::new(query)
        .ok_or_else(|| invalid("the question holds no word to look for; name what you need"))?;
    let files = files(context, &path, Depth::All)?;
    let mut indexed: Vec<(&RelPath, &str)> = Vec::new();
    let mut bytes_left = RANK_BYTES_MAX;
    let mut truncated = files.cut;
    for (place, shown) in &files.paths {
        let Some(text) = text_of(context, place, RANK_FILE_BYTES_MAX) else {
            continue;
        };
        let Some(left) = bytes_left.checked_sub(text.flat().len() as u64) else {
            truncated = true;
            break;
        };
        bytes_left = left;
        ranking.add(shown, text.flat());
        indexed.push((place, shown));
    }
    let results: Vec<Value> = ranking
        .best()
        .iter()
        .filter_map(|hit| {
            let (place, shown) = indexed.get(hit.file)?;
            excerpt(context, place, shown, hit)
        })
        .collect();
    Ok(json!({
        "results": results,
        "files_indexed": indexed.len(),
        "truncated": truncated,
    }))
}

fn excerpt(context: &Context<'_, '_>, place: &RelPath, shown: &str, hit: &Hit) -> Option<Value> {
    let text = text_of(context, place, RANK_FILE_BYTES_MAX)?;
    let lines: Vec<String> = text
        .flat()
        .lines()
        .skip(hit.start_line - 1)
        .take(hit.end_line + 1 - hit.start_line)
        .map(|line| cut(line, SEARCH_LINE_BYTES_MAX))
        .collect();
    // Three decimals order well enough, and read the same everywhere.
    let score = (hit.score * 1000.0).round() / 1000.0;
    Some(json!({
        "path": shown,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "score": score,
        "text": lines.join("\n"),
    }))
}

pub(super) fn list_code_definition_names(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let path = context.resolve(input.text("path")?)?;
    let is_file = kind(context, &path)? == ResolvedKind::File;
    if is_file && !outline::is_known(path.as_str()) {
        return Err(invalid(format!(
            "`{path}` is in no language whose definitions can be listed; read it instead"
        )));
    }
    let files = files(context, &path, Depth::One)?;
    let known = files.paths.iter();
    let known = known.filter(|(_, shown)| outline::is_known(shown));
    let mut listed = Vec::new();
    let (mut count, mut skipped) = (0, 0);
    let mut truncated = files.cut;
    for (place, shown) in known {
        if listed.len() >= OUTLINE_FILES_MAX || count >= OUTLINE_DEFINITIONS_MAX {
            truncated = true;
            break;
        }
        let text = text_of(context, place, OUTLINE_FILE_BYTES_MAX);
        let Some(found) = text.and_then(|text| outline::outline(shown, text.flat())) else {
            skipped += 1;
            continue;
        };
        let left = OUTLINE_DEFINITIONS_MAX - count;
        truncated |= found.definitions.len() > left;
        let definitions: Vec<Value> = found.definitions.iter().take(left).map(defined).collect();
        count += definitions.len();
        listed.push(json!({
            "path": shown,
            "language": found.language,
            "clean": found.clean,
            "definitions": definitions,
        }));
    }
    Ok(json!({"files": listed, "files_skipped": skipped, "truncated": truncated}))
}

fn defined(definition: &outline::Definition) -> Value {
    json!({
        "kind": definition.kind,
        "name": definition.name,
        "start_line": definition.start_line,
        "end_line": definition.end_line,
        "depth": definition.depth,
    })
}
