//! Reading: files, and what is not there to be read yet.

use serde_json::{Value, json};
use tagout_gate::workspace::RelPath;
use tagout_gate::{Context, ToolError};
use tagout_vocab::WorkspacePath;

use super::files::{look, not_root, refused, told};
use super::input::{Input, invalid};
use crate::excerpt::{Indentation, Scanned, block, scan, slice};
use crate::fault::Fault;
use crate::text::Text;

/// The word for a file that is not text, beside those for encodings.
pub(super) const BINARY: &str = "binary";

pub(super) fn read_file(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let path = not_root(context.resolve(input.text("path")?)?)?;
    let shown = match look(context, &path) {
        Ok(bytes) => small(input, &path, &bytes)?,
        Err(ToolError::TooLarge { .. }) => large(input, context, &path)?,
        Err(error) => return Err(error),
    };
    let mut answer = json!({
        "path": path.as_str(),
        "content": shown.excerpt.content,
        "start_line": shown.excerpt.start_line,
        "end_line": shown.excerpt.end_line,
        "total_lines": shown.lines,
        "bytes": shown.bytes,
        "binary": shown.encoding == BINARY,
        "truncated": shown.excerpt.truncated,
        "encoding": shown.encoding,
        "line_endings": shown.endings.unwrap_or("none"),
        "final_newline": shown.final_newline,
    });
    if shown.encoding == BINARY {
        let digest = context.workspace().digest(&RelPath::from(&path));
        let digest = digest.map_err(refused)?.map(|digest| digest.hex());
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("digest".to_owned(), json!(digest.unwrap_or_default()));
        }
    }
    context.note_seen(&path);
    Ok(answer)
}

/// A file of a size that is decoded as a whole.
fn small(input: Input<'_>, path: &WorkspacePath, bytes: &[u8]) -> Result<Scanned, ToolError> {
    let size = bytes.len() as u64;
    let text = match Text::decode(bytes) {
        Ok(text) => text,
        Err(Fault::Binary) => return Ok(Scanned::binary(size)),
        Err(fault) => return Err(told(path.as_str(), fault)),
    };
    let excerpt = match input.text_opt("mode")? {
        None | Some("slice") => {
            let offset = input.number("offset")?.unwrap_or(1);
            slice(text.flat(), offset, input.number("limit")?)
        }
        Some("indentation") => block(text.flat(), indentation(input)?),
        Some(other) => {
            return Err(invalid(format!(
                "`{other}` is no mode; use `slice` or `indentation`"
            )));
        }
    };
    let excerpt = excerpt.map_err(|fault| told(path.as_str(), fault))?;
    Ok(Scanned {
        excerpt,
        lines: text.flat().lines().count(),
        bytes: size,
        encoding: text.encoding().as_str(),
        endings: text.endings(),
        final_newline: text.flat().ends_with('\n'),
    })
}

/// A file that is read piece by piece, and never held as a whole.
fn large(
    input: Input<'_>,
    context: &Context<'_, '_>,
    path: &WorkspacePath,
) -> Result<Scanned, ToolError> {
    if !matches!(input.text_opt("mode")?, None | Some("slice")) {
        return Err(invalid(format!(
            "`{path}` is too large for a block by indentation; name the lines with `offset` and \
             `limit`"
        )));
    }
    let offset = input.number("offset")?.unwrap_or(1);
    let limit = input.number("limit")?;
    let (file, _) = context
        .workspace()
        .open_file(&RelPath::from(path))
        .map_err(refused)?;
    scan(file, offset, limit)
        .map_err(|error| ToolError::failed(format!("`{path}` can't be read: {error}")))?
        .map_err(|fault| told(path.as_str(), fault))
}

fn indentation(input: Input<'_>) -> Result<Indentation, ToolError> {
    let offset = input.number("offset")?;
    let Some(options) = input.object("indentation")? else {
        return Ok(Indentation {
            anchor_line: offset.unwrap_or(1),
            max_lines: input.number("limit")?,
            ..Indentation::default()
        });
    };
    let anchor = options.number("anchor_line")?.or(offset);
    Ok(Indentation {
        anchor_line: anchor.unwrap_or(1),
        max_levels: options.number("max_levels")?,
        include_siblings: options.flag("include_siblings")?,
        include_header: options.flag("include_header")?,
        max_lines: options.number("max_lines")?.or(input.number("limit")?),
    })
}

pub(super) fn access_mcp_resource(
    input: Input<'_>,
    _: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let (server, uri) = (input.text("server_name")?, input.text("uri")?);
    Err(invalid(format!(
        "no MCP server is connected, so `{uri}` of `{server}` can't be read; read files of the \
         workspace instead"
    )))
}
