//! Errors are types: a caller can't branch on text.

use super::Finding;
use super::tree::Tree;

/// No production function fails with a bare text.
pub(super) fn errors_are_types(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let (code, numbers) = joined(
            file.production()
                .map(|(number, line)| (number, line.code.as_str())),
        );
        for (at, _) in code.match_indices("Result<") {
            let arguments = code.get(at + "Result<".len()..).unwrap_or_default();
            let Some(error) = second_argument(arguments) else {
                continue;
            };
            if matches!(error, "String" | "&'staticstr" | "&str") {
                let line = numbers.get(at).copied().unwrap_or_default();
                let message = format!("`Result<_, {error}>`: give the error a type");
                findings.push(Finding::new(&file.path, line, "errors", message));
            }
        }
    }
    findings
}

/// The code without white space, and the line that each of its bytes came from.
fn joined<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> (String, Vec<usize>) {
    let mut code = String::new();
    let mut numbers = Vec::new();
    for (number, line) in lines {
        for letter in line.chars().filter(|letter| !letter.is_whitespace()) {
            code.push(letter);
            numbers.resize(code.len(), number);
        }
    }
    (code, numbers)
}

/// The second of two generic arguments, up to the bracket that closes them.
fn second_argument(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    let mut comma = None;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' if depth == 0 => return text.get(comma? + 1..at),
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => comma = Some(at),
            ';' | '{' => return None,
            _ => {}
        }
        before = letter;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Tree, errors_are_types};

    fn lines(text: &str) -> Vec<usize> {
        errors_are_types(&Tree::of(&[("crates/x/src/a.rs", text)]))
            .iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn text_as_an_error_is_found_however_it_is_spelt() {
        assert_eq!(lines("\nfn f() -> Result<u8, String> {}\n"), [2]);
        assert_eq!(
            lines("fn f() -> Result<Vec<(u8, u8)>, &'static str> {}\n"),
            [1]
        );
        assert_eq!(
            lines("fn f() -> Result<\n    Vec<u8>,\n    String\n> {}\n"),
            [1]
        );
        assert_eq!(
            lines("type F = fn(Box<dyn Fn(u8) -> u8>) -> Result<u8, String>;\n"),
            [1]
        );
    }

    #[test]
    fn types_as_errors_are_fine() {
        for text in [
            "fn f() -> Result<String, Error> {}\n",
            "fn f() -> Result<Map<u8, String>, Error> {}\n",
            "fn f() -> io::Result<String> {}\n",
            "fn f() -> Result<Box<dyn Fn(u8) -> String>, Error> {}\n",
            "#[cfg(test)]\nfn f() -> Result<u8, String> {}\n",
            "/// Not `Result<u8, String>`.\n",
        ] {
            assert!(lines(text).is_empty(), "{text}");
        }
    }
}
