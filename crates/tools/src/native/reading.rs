//! Reading: files, and what is not there to be read yet.

use serde_json::{Value, json};
use tagout_gate::{Context, ToolError};

use super::files::{look, not_root, told};
use super::input::{Input, invalid};
use crate::excerpt::{Indentation, block, slice};
use crate::text::Text;

pub(super) fn read_file(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let path = not_root(context.resolve(input.text("path")?)?)?;
    let bytes = look(context, &path)?;
    let text = Text::decode(&bytes).map_err(|fault| told(path.as_str(), fault))?;
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
    context.note_seen(&path);
    Ok(json!({
        "path": path.as_str(),
        "content": excerpt.content,
        "start_line": excerpt.start_line,
        "end_line": excerpt.end_line,
        "total_lines": text.flat().lines().count(),
        "truncated": excerpt.truncated,
        "encoding": text.encoding().as_str(),
        "line_endings": text.endings().unwrap_or("none"),
        "final_newline": text.flat().ends_with('\n'),
    }))
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
