//! A block of text between two marker lines in a file that belongs to someone else.

/// The two lines that a block stands between.
#[derive(Clone, Copy, Debug)]
pub struct Markers<'a> {
    /// The line before the block, without its line break.
    pub begin: &'a str,
    /// The line after it.
    pub end: &'a str,
}

/// Where the block and its markers stand, in bytes; the line break before an appended block is part
/// of it when the block brought it along.
fn find(text: &str, markers: Markers<'_>) -> Option<(usize, usize)> {
    let mut at = 0;
    let mut begin = None;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        match begin {
            None if bare == markers.begin => begin = Some(at),
            Some(start) if bare == markers.end => return Some((start, at + line.len())),
            None | Some(_) => {}
        }
        at += line.len();
    }
    None
}

/// The line break that a text uses: that of its first line.
fn line_break(text: &str) -> &'static str {
    let crlf = text
        .find('\n')
        .is_some_and(|at| at > 0 && text.as_bytes().get(at - 1) == Some(&b'\r'));
    if crlf { "\r\n" } else { "\n" }
}

fn render(body: &str, markers: Markers<'_>, end_of_line: &str) -> String {
    let mut block = String::new();
    let lines = std::iter::once(markers.begin)
        .chain(body.lines())
        .chain(std::iter::once(markers.end));
    for line in lines {
        block.push_str(line);
        block.push_str(end_of_line);
    }
    block
}

/// Whether a text has a last line without an end.
fn is_open(text: &str) -> bool {
    !text.is_empty() && !text.ends_with('\n')
}

/// The text with the block in it: in the place of an older one, else at the end.
///
/// Everything outside the markers stays byte for byte, and [`remove_block`] takes an appended block
/// out again without a trace: a text that did not end with a line break gets the marker line glued
/// to a break of its own, which goes with the block.
pub fn merge_block(text: &str, body: &str, markers: Markers<'_>) -> String {
    let end_of_line = line_break(text);
    let block = render(body, markers, end_of_line);
    match find(text, markers) {
        Some((start, end)) => {
            let (before, rest) = text.split_at(start);
            let (old, after) = rest.split_at_checked(end - start).unwrap_or((rest, ""));
            let open = block.strip_suffix(end_of_line).filter(|_| is_open(old));
            format!("{before}{}{after}", open.unwrap_or(&block))
        }
        // The text's last line is open: the block's own last line stays open too, which is how
        // removing it knows that the break before it came with it.
        None if is_open(text) => {
            let open = block.strip_suffix(end_of_line).unwrap_or(&block);
            format!("{text}{end_of_line}{open}")
        }
        None => format!("{text}{block}"),
    }
}

/// The text without the block; unchanged when there is none.
pub fn remove_block(text: &str, markers: Markers<'_>) -> String {
    let Some((start, end)) = find(text, markers) else {
        return text.to_owned();
    };
    let (before, rest) = text.split_at(start);
    let (block, after) = rest.split_at_checked(end - start).unwrap_or((rest, ""));
    if after.is_empty() && is_open(block) {
        let bare = before
            .strip_suffix("\r\n")
            .or_else(|| before.strip_suffix('\n'));
        return bare.unwrap_or(before).to_owned();
    }
    format!("{before}{after}")
}
