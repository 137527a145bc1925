//! Whole files: reading them for the other tools, writing, deleting.

use serde_json::{Value, json};
use tagout_gate::workspace::{Error, Follow, RelPath, ResolvedKind};
use tagout_gate::{Context, ToolError};
use tagout_vocab::WorkspacePath;
use tagout_vocab::limits::TOOL_FILE_BYTES_MAX;

use super::input::{Input, invalid};
use crate::fault::{Candidate, Fault};
use crate::text::Text;

/// The tool boundary's error for a fault in one file.
pub(super) fn told(path: &str, fault: Fault) -> ToolError {
    let listed = |candidates: Vec<Candidate>| {
        candidates
            .into_iter()
            .map(|place| format!("line {}:\n{}", place.line, place.text))
            .collect()
    };
    let named = |message: String| format!("`{path}`: {message}");
    match fault {
        Fault::Binary => ToolError::Binary {
            path: path.to_owned(),
        },
        Fault::Invalid { message } | Fault::TooLarge { message } => invalid(named(message)),
        Fault::NoMatch {
            message,
            candidates,
        } => ToolError::NoMatch {
            message: named(message),
            candidates: listed(candidates),
        },
        Fault::Ambiguous {
            message,
            candidates,
        } => ToolError::Ambiguous {
            message: named(message),
            candidates: listed(candidates),
        },
    }
}

/// The workspace's error, in the words of the tool boundary where it has some.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "every other error keeps its own words"
)]
pub(super) fn refused(error: Error) -> ToolError {
    match error {
        Error::Missing { path } => ToolError::NotFound { path },
        Error::Outside { path } => ToolError::Outside { path },
        Error::TooLarge { path, size, max } => ToolError::TooLarge { path, size, max },
        other => ToolError::Workspace(other),
    }
}

/// What stands under a resolved path.
pub(super) fn kind(
    context: &Context<'_, '_>,
    path: &WorkspacePath,
) -> Result<ResolvedKind, ToolError> {
    let resolved = context.workspace().resolve(path, Follow::Whole);
    Ok(resolved.map_err(refused)?.kind)
}

/// The bytes of a file that is only looked at.
pub(super) fn look(context: &Context<'_, '_>, path: &WorkspacePath) -> Result<Vec<u8>, ToolError> {
    context
        .workspace()
        .read(&RelPath::from(path), TOOL_FILE_BYTES_MAX)
        .map_err(refused)
}

/// The bytes of a file that is to be changed, as the transaction sees it; `None` where there is no
/// file. The size is looked at before anything large is kept.
pub(super) fn load(
    context: &mut Context<'_, '_>,
    path: &WorkspacePath,
) -> Result<Option<Vec<u8>>, ToolError> {
    let place = RelPath::from(path);
    match context.workspace().read(&place, TOOL_FILE_BYTES_MAX) {
        Ok(_) | Err(Error::Missing { .. }) => {}
        Err(error) => return Err(refused(error)),
    }
    match context.transaction().read(&place) {
        Ok(bytes) => {
            check_size(path.as_str(), &bytes)?;
            Ok(Some(bytes))
        }
        Err(Error::Missing { .. }) => Ok(None),
        Err(error) => Err(refused(error)),
    }
}

/// The text of a file that is to be changed, which has to be there.
pub(super) fn load_text(
    context: &mut Context<'_, '_>,
    path: &WorkspacePath,
) -> Result<Text, ToolError> {
    let bytes = load(context, path)?.ok_or_else(|| ToolError::NotFound {
        path: path.to_string(),
    })?;
    Text::decode(&bytes).map_err(|fault| told(path.as_str(), fault))
}

/// Stages a text. Tells how many bytes it has.
pub(super) fn store(
    context: &mut Context<'_, '_>,
    path: &WorkspacePath,
    text: &Text,
) -> Result<usize, ToolError> {
    let bytes = text.encode().map_err(|fault| told(path.as_str(), fault))?;
    check_size(path.as_str(), &bytes)?;
    let place = RelPath::from(path);
    context
        .transaction()
        .write(&place, &bytes)
        .map_err(refused)?;
    Ok(bytes.len())
}

fn check_size(path: &str, bytes: &[u8]) -> Result<(), ToolError> {
    let size = bytes.len() as u64;
    if size > TOOL_FILE_BYTES_MAX {
        return Err(ToolError::TooLarge {
            path: path.to_owned(),
            size,
            max: TOOL_FILE_BYTES_MAX,
        });
    }
    Ok(())
}

/// A path that names something in the workspace, not the workspace itself.
pub(super) fn not_root(path: WorkspacePath) -> Result<WorkspacePath, ToolError> {
    if path.is_root() {
        return Err(invalid(
            "the workspace's root is a folder, but a file is needed",
        ));
    }
    Ok(path)
}

pub(super) fn write_to_file(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let path = not_root(context.resolve(input.text("path")?)?)?;
    let written = input.text("content")?;
    // How many lines the caller counted says nothing that the content does not say.
    input.number("line_count")?;
    let (created, old) = match load(context, &path) {
        Ok(old) => (old.is_none(), old),
        // What it held is kept with the transaction, and nothing here has to look at it.
        Err(ToolError::TooLarge { .. }) => (false, None),
        Err(error) => return Err(error),
    };
    let text = match old.as_deref().map(Text::decode) {
        Some(Ok(old)) => old.rewritten(written),
        // A file that was no text, or too large for one, has no manner to keep.
        Some(Err(_)) | None => Text::default().rewritten(written),
    };
    let bytes = store(context, &path, &text)?;
    Ok(json!({
        "path": path.as_str(),
        "created": created,
        "bytes": bytes,
        "lines": text.flat().lines().count(),
        "encoding": text.encoding().as_str(),
    }))
}

pub(super) fn delete_file(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let path = not_root(context.resolve_name(input.text("path")?)?)?;
    let place = RelPath::from(&path);
    context.transaction().delete(&place).map_err(refused)?;
    Ok(json!({"path": path.as_str(), "deleted": true}))
}
