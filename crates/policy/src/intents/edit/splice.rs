//! Replacing stretches of a text, and finding the lines around them.

/// A stretch of bytes and what comes in its place.
#[derive(Debug)]
pub(super) struct Splice {
    start: usize,
    end: usize,
    text: String,
}

impl Splice {
    pub(super) const fn replace(start: usize, end: usize, text: String) -> Self {
        Self { start, end, text }
    }

    pub(super) const fn insert(at: usize, text: String) -> Self {
        Self::replace(at, at, text)
    }

    pub(super) const fn delete(start: usize, end: usize) -> Self {
        Self::replace(start, end, String::new())
    }
}

/// The text with all splices made. They must not overlap; a stretch that is not there stays away,
/// which the check after the edit notices.
pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| (splice.start, splice.end));
    let mut edited = String::with_capacity(text.len());
    let mut cursor = 0;
    for splice in splices {
        edited.push_str(text.get(cursor..splice.start).unwrap_or_default());
        edited.push_str(&splice.text);
        cursor = splice.end.max(cursor);
    }
    edited.push_str(text.get(cursor..).unwrap_or_default());
    edited
}

/// The line ending that the text uses.
pub(super) fn line_ending(text: &str) -> &'static str {
    match text.find(['\r', '\n']) {
        Some(at) if tail(text, at).starts_with("\r\n") => "\r\n",
        Some(at) if tail(text, at).starts_with('\r') => "\r",
        Some(_) | None => "\n",
    }
}

/// Where the line that holds an offset begins.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or_default();
    before.rfind(['\r', '\n']).map_or(0, |at| at + 1)
}

/// Where the line that holds an offset ends, its line ending not included.
pub(super) fn line_end(text: &str, offset: usize) -> usize {
    let rest = tail(text, offset);
    offset + rest.find(['\r', '\n']).unwrap_or(rest.len())
}

/// Where the next line begins; the text's end for the last line.
pub(super) fn next_line(text: &str, offset: usize) -> usize {
    let end = line_end(text, offset);
    let rest = tail(text, end);
    end + if rest.starts_with("\r\n") {
        2
    } else {
        usize::from(!rest.is_empty())
    }
}

/// The text from an offset on.
pub(super) fn tail(text: &str, offset: usize) -> &str {
    text.get(offset..).unwrap_or_default()
}
