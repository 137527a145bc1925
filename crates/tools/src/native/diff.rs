//! Changing one file: by replacing a text, or by a diff.

use serde_json::{Value, json};
use tagout_gate::{Context, ToolError};
use tagout_vocab::WorkspacePath;

use super::files::{load, load_text, not_root, store, told};
use super::input::Input;
use crate::edit::{Occurrences, replace};
use crate::fault::Fault;
use crate::patch;
use crate::text::Text;

pub(super) fn edit(input: Input<'_>, context: &mut Context<'_, '_>) -> Result<Value, ToolError> {
    let wanted = if input.flag("replace_all")? {
        Occurrences::All
    } else {
        Occurrences::Exactly(1)
    };
    replace_in(input, context, wanted)
}

pub(super) fn edit_file(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let count = input.number("expected_replacements")?.unwrap_or(1);
    if count == 0 {
        return Err(super::input::invalid(
            "`expected_replacements` is 0, so nothing would change; use 1 or more",
        ));
    }
    replace_in(input, context, Occurrences::Exactly(count))
}

fn replace_in(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
    wanted: Occurrences,
) -> Result<Value, ToolError> {
    let path = not_root(context.resolve(input.text("file_path")?)?)?;
    let (old, new) = (input.text("old_string")?, input.text("new_string")?);
    if old.is_empty() {
        return fill(context, &path, new);
    }
    let text = load_text(context, &path)?;
    let replaced = replace(&text, old, new, wanted).map_err(|fault| told(path.as_str(), fault))?;
    let bytes = store(context, &path, &replaced.text)?;
    Ok(json!({
        "path": path.as_str(),
        "created": false,
        "replacements": replaced.count,
        "lines": listed(&replaced.lines),
        "bytes": bytes,
    }))
}

/// An empty old text means a file that holds nothing yet.
fn fill(
    context: &mut Context<'_, '_>,
    path: &WorkspacePath,
    new: &str,
) -> Result<Value, ToolError> {
    let old = load(context, path)?;
    if old.as_ref().is_some_and(|bytes| !bytes.is_empty()) {
        let fault = Fault::invalid(
            "the old text is empty, but the file is not; give the text to replace, or write the \
             whole file",
        );
        return Err(told(path.as_str(), fault));
    }
    let bytes = store(context, path, &Text::default().rewritten(new))?;
    Ok(json!({
        "path": path.as_str(),
        "created": old.is_none(),
        "replacements": 1,
        "lines": [1],
        "bytes": bytes,
    }))
}

/// The first of the changed lines; nobody reads thousands.
fn listed(lines: &[usize]) -> Vec<usize> {
    const SHOWN_MAX: usize = 100;
    lines.iter().copied().take(SHOWN_MAX).collect()
}

pub(super) fn apply_diff(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let path = not_root(context.resolve(input.text("path")?)?)?;
    let diff = input.text("diff")?;
    let near = input.number("start_line")?.filter(|line| *line > 0);
    let hunks = if patch::is_blocks(diff) {
        patch::read_blocks(diff, near)
    } else {
        patch::read_hunks(diff)
    };
    let hunks = hunks.map_err(|fault| told(path.as_str(), fault))?;
    let text = load_text(context, &path)?;
    let applied = patch::apply(&text, &hunks).map_err(|fault| told(path.as_str(), fault))?;
    let bytes = store(context, &path, &applied.text)?;
    Ok(json!({
        "path": path.as_str(),
        "changes": applied.lines.len(),
        "lines": listed(&applied.lines),
        "tolerated_whitespace": applied.tolerated,
        "bytes": bytes,
    }))
}
