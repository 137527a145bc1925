//! A block of ours between two marks in a text of somebody else, in and out byte for byte.

/// How the first and the last line of a block look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    /// The first line.
    pub(crate) begin: &'static str,
    /// The last line.
    pub(crate) end: &'static str,
}

/// In Markdown.
pub(crate) const MARKDOWN: Marks = Marks {
    begin: "<!-- tagout:begin -->",
    end: "<!-- tagout:end -->",
};

/// In TOML.
pub(crate) const TOML: Marks = Marks {
    begin: "# tagout:begin",
    end: "# tagout:end",
};

/// The text with the block at its end, in place of an older one.
pub(crate) fn put(text: Option<&str>, marks: Marks, body: &str) -> String {
    let text = text.and_then(|text| take(text, marks));
    let lines = format!("{}\n{}\n{}\n", marks.begin, body.trim_end(), marks.end);
    match text {
        None => lines,
        Some(text) => {
            let crlf = text.contains("\r\n");
            let block = format!("\n{lines}");
            let block = if crlf {
                block.replace('\n', "\r\n")
            } else {
                block
            };
            format!("{text}{block}")
        }
    }
}

/// The text without the block. `None` where nothing but the block was there.
pub(crate) fn take(text: &str, marks: Marks) -> Option<String> {
    let Some((from, to)) = find(text, marks) else {
        return Some(text.to_owned());
    };
    let block = text.get(from..to).unwrap_or_default();
    let (head, tail) = (
        text.get(..from).unwrap_or_default(),
        text.get(to..).unwrap_or_default(),
    );
    if head.is_empty() && tail.is_empty() {
        return None;
    }
    // The line's end before the block was put in with it.
    let head = if block.contains("\r\n") {
        head.strip_suffix("\r\n")
    } else {
        head.strip_suffix('\n')
    }
    .unwrap_or(head);
    Some(format!("{head}{tail}"))
}

/// Whether there is a block, and whether it says this.
pub(crate) fn holds(text: &str, marks: Marks, body: &str) -> bool {
    find(text, marks)
        .and_then(|(from, to)| text.get(from..to))
        .is_some_and(|block| {
            let plain = block.replace("\r\n", "\n");
            plain == format!("{}\n{}\n{}\n", marks.begin, body.trim_end(), marks.end)
        })
}

/// From the first mark to the line's end after the last one. A mark without its counterpart is no
/// block: what follows it is not ours to take.
fn find(text: &str, marks: Marks) -> Option<(usize, usize)> {
    let end = text.rfind(marks.end)?;
    let from = text.get(..end)?.rfind(marks.begin)?;
    let last = end + marks.end.len();
    let tail = text.get(last..)?;
    let newline = if tail.starts_with("\r\n") {
        2
    } else {
        usize::from(tail.starts_with('\n'))
    };
    Some((from, last + newline))
}
