//! `cargo xtask wrap`: breaks comment lines that are too wide, which the formatter leaves alone.

use std::path::Path;
use std::process::ExitCode;

use crate::error::XtaskError;
use crate::tidy::LINE_COLUMNS_MAX;
use crate::tidy::source::{Line, scan};
use crate::tidy::tree::Tree;

/// Wraps every Rust file below a folder.
pub(crate) fn run(root: &Path) -> Result<ExitCode, XtaskError> {
    for file in Tree::load(root)?.rust() {
        let text = wrapped(&file.text);
        if text != file.text {
            let path = root.join(&file.path);
            std::fs::write(&path, text).map_err(XtaskError::file("write", &path))?;
            println!("{}", file.path);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn wrapped(text: &str) -> String {
    let lines = scan("", text);
    let mut out: Vec<String> = Vec::new();
    // Words that did not fit on the line before, with that line's prefix.
    let mut carried: Option<(String, String)> = None;
    for line in &lines {
        let mut current = line.text.clone();
        if let Some((prefix, words)) = carried.take() {
            match continues(line, &prefix) {
                Some(rest) => current = format!("{prefix}{words} {rest}"),
                None => out.push(format!("{prefix}{words}")),
            }
        }
        let own = prefix(line).filter(|_| current.chars().count() > LINE_COLUMNS_MAX);
        match own.and_then(|own| Some((own, split(&current, own)?))) {
            Some((own, (kept, left))) => {
                out.push(kept);
                carried = Some((own.to_owned(), left));
            }
            None => out.push(current),
        }
    }
    out.extend(carried.map(|(prefix, words)| format!("{prefix}{words}")));
    out.join("\n") + "\n"
}

/// Indent and slashes of a line that is nothing but a comment.
fn prefix(line: &Line) -> Option<&str> {
    if !line.code.trim().is_empty() || line.comment.is_empty() || line.starts_in_literal {
        return None;
    }
    let slashes = line.text.find("//")?;
    let marks = line.text.get(slashes..)?;
    let width = marks.find(|letter| letter != '/' && letter != '!')?;
    line.text.get(..=slashes + width)
}

/// The rest of a line that goes on with the paragraph before it.
fn continues<'a>(line: &'a Line, before: &str) -> Option<&'a str> {
    let rest = line.text.strip_prefix(prefix(line)?)?;
    let same = prefix(line) == Some(before);
    let starts_anew = rest.trim().is_empty()
        || rest.starts_with([' ', '|', '#', '`', '-', '*'])
        || rest.starts_with(char::is_numeric);
    (same && !starts_anew).then_some(rest)
}

/// What fits, and what does not; nothing where there is no blank to break at.
fn split(text: &str, prefix: &str) -> Option<(String, String)> {
    let limit = text
        .char_indices()
        .nth(LINE_COLUMNS_MAX + 1)
        .map_or(text.len(), |(at, _)| at);
    let at = text.get(..limit)?.rfind(' ')?;
    let (kept, left) = text.split_at_checked(at)?;
    (kept.len() > prefix.len()).then(|| (kept.to_owned(), left.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn wide_comments_flow_into_the_line_after() {
        let wide = format!(
            "    /// {} end\n    /// next.\nfn f();\n",
            "word ".repeat(18).trim()
        );
        let text = wrapped(&wide);
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
        assert!(text.ends_with("    /// end next.\nfn f();\n"), "{text}");
    }

    #[test]
    fn a_new_line_comes_where_the_next_one_starts_anew() {
        let words = "word ".repeat(21);
        for next in ["// - item\n", "//\n", "//! other\n", "fn f();\n"] {
            let text = wrapped(&format!("// {}\n{next}", words.trim()));
            assert!(text.ends_with(&format!("\n// word word\n{next}")), "{text}");
        }
    }

    #[test]
    fn code_literals_and_unbreakable_words_stay() {
        for text in [
            format!("let a = \"{}\"; // b\n", "word ".repeat(30)),
            format!("let a = \"\n// {}\n\";\n", "word ".repeat(30)),
            format!("// {}\n", "w".repeat(120)),
            "// short\n".to_owned(),
        ] {
            assert_eq!(wrapped(&text), text);
        }
    }
}
