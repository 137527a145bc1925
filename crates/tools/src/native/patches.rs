//! Changing several files by one patch.

use serde_json::{Map, Value, json};
use tagout_gate::workspace::RelPath;
use tagout_gate::{Context, ToolError};
use tagout_vocab::WorkspacePath;

use super::files::{load_text, not_root, refused, store, told};
use super::input::{Input, invalid};
use crate::patch::{self, FileChange, Hunk};
use crate::text::Text;

pub(super) fn apply_patch(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    input.text_opt("explanation")?;
    let changes = patch::read(input.text("patch")?).map_err(|fault| told("patch", fault))?;
    let files: Vec<Value> = changes
        .iter()
        .map(|change| make(context, change))
        .collect::<Result<_, _>>()?;
    Ok(json!({ "files": files }))
}

fn make(context: &mut Context<'_, '_>, change: &FileChange) -> Result<Value, ToolError> {
    match change {
        FileChange::Add {
            path,
            content,
            executable,
        } => add(context, path, content, *executable),
        FileChange::Delete { path, hunks } => delete(context, path, hunks),
        FileChange::Copy { from, to, hunks } => copy(context, from, to, hunks),
        FileChange::Update {
            path,
            to,
            hunks,
            executable,
        } => {
            let (at, shown) = update(context, path, hunks, *executable)?;
            match to {
                Some(to) => moved(context, path, &at, to, shown),
                None => Ok(Value::Object(shown)),
            }
        }
    }
}

/// A name under which nothing stands yet.
fn vacant(context: &mut Context<'_, '_>, raw: &str) -> Result<WorkspacePath, ToolError> {
    let path = not_root(context.resolve_name(raw)?)?;
    let place = RelPath::from(&path);
    if context.transaction().exists(&place).map_err(refused)? {
        return Err(invalid(format!(
            "`{path}` exists already; update it, or delete it first"
        )));
    }
    Ok(path)
}

fn report(
    change: &str,
    path: &WorkspacePath,
    hunks: usize,
    tolerated: usize,
) -> Map<String, Value> {
    let mut shown = Map::new();
    shown.insert("path".to_owned(), json!(path.as_str()));
    shown.insert("change".to_owned(), json!(change));
    shown.insert("hunks".to_owned(), json!(hunks));
    shown.insert("tolerated_whitespace".to_owned(), json!(tolerated));
    shown
}

fn add(
    context: &mut Context<'_, '_>,
    raw: &str,
    text: &str,
    executable: bool,
) -> Result<Value, ToolError> {
    let path = vacant(context, raw)?;
    store(context, &path, &Text::default().rewritten(text))?;
    if executable {
        set_executable(context, &path, true)?;
    }
    Ok(Value::Object(report("add", &path, 0, 0)))
}

fn delete(context: &mut Context<'_, '_>, raw: &str, hunks: &[Hunk]) -> Result<Value, ToolError> {
    let path = not_root(context.resolve_name(raw)?)?;
    if !hunks.is_empty() {
        let text = load_text(context, &path)?;
        let left = patch::apply(&text, hunks).map_err(|fault| told(path.as_str(), fault))?;
        if !left.text.flat().is_empty() {
            return Err(invalid(format!(
                "`{path}` holds more than the patch removes; read it again"
            )));
        }
    }
    let place = RelPath::from(&path);
    context.transaction().delete(&place).map_err(refused)?;
    Ok(Value::Object(report("delete", &path, hunks.len(), 0)))
}

fn update(
    context: &mut Context<'_, '_>,
    raw: &str,
    hunks: &[Hunk],
    executable: Option<bool>,
) -> Result<(WorkspacePath, Map<String, Value>), ToolError> {
    let path = not_root(context.resolve(raw)?)?;
    let mut tolerated = 0;
    if hunks.is_empty() {
        let place = RelPath::from(&path);
        if !context.transaction().exists(&place).map_err(refused)? {
            return Err(ToolError::NotFound {
                path: path.to_string(),
            });
        }
    } else {
        let text = load_text(context, &path)?;
        let applied = patch::apply(&text, hunks).map_err(|fault| told(path.as_str(), fault))?;
        store(context, &path, &applied.text)?;
        tolerated = applied.tolerated;
    }
    if let Some(executable) = executable {
        set_executable(context, &path, executable)?;
    }
    let shown = report("update", &path, hunks.len(), tolerated);
    Ok((path, shown))
}

fn moved(
    context: &mut Context<'_, '_>,
    raw: &str,
    from: &WorkspacePath,
    to: &str,
    mut shown: Map<String, Value>,
) -> Result<Value, ToolError> {
    if context.resolve_name(raw)? != *from {
        return Err(invalid(format!(
            "`{raw}` is a link; name the file itself to move it"
        )));
    }
    let to = vacant(context, to)?;
    let (old, new) = (RelPath::from(from), RelPath::from(&to));
    context.transaction().rename(&old, &new).map_err(refused)?;
    shown.insert("change".to_owned(), json!("move"));
    shown.insert("to".to_owned(), json!(to.as_str()));
    Ok(Value::Object(shown))
}

fn copy(
    context: &mut Context<'_, '_>,
    from: &str,
    to: &str,
    hunks: &[Hunk],
) -> Result<Value, ToolError> {
    let from = not_root(context.resolve(from)?)?;
    let text = load_text(context, &from)?;
    let to = vacant(context, to)?;
    let applied = patch::apply(&text, hunks).map_err(|fault| told(from.as_str(), fault))?;
    store(context, &to, &applied.text)?;
    let mut shown = report("copy", &from, hunks.len(), applied.tolerated);
    shown.insert("to".to_owned(), json!(to.as_str()));
    Ok(Value::Object(shown))
}

/// Git knows two modes: those of files that can be run and those of files that can't.
fn set_executable(
    context: &mut Context<'_, '_>,
    path: &WorkspacePath,
    executable: bool,
) -> Result<(), ToolError> {
    let mode = if executable { 0o755 } else { 0o644 };
    let place = RelPath::from(path);
    context
        .transaction()
        .set_mode(&place, mode)
        .map_err(refused)
}
