//! Rust text taken apart line by line: code, comments, literals, and which lines are tests.
//!
//! A lexer by hand, because the rules need no more than this and a parser would be the heaviest
//! dependency of the whole project.

/// One line of a Rust file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Line {
    /// The line as written.
    pub(crate) text: String,
    /// Its code, with every literal emptied.
    pub(crate) code: String,
    /// The text of its comments, without the slashes.
    pub(crate) comment: String,
    /// The contents of its string literals; of one that spans lines, the part on this line.
    pub(crate) literals: Vec<String>,
    /// Whether the line begins inside a string literal.
    pub(crate) starts_in_literal: bool,
    /// Whether it is test code.
    pub(crate) is_test: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Inside {
    Code,
    LineComment,
    BlockComment { depth: usize },
    Text,
    RawText { hashes: usize },
}

/// Whether a whole file is test code by its place. Examples measure and try out; nothing ships
/// them.
pub(crate) fn is_test_path(path: &str) -> bool {
    let folder = path
        .split('/')
        .any(|part| matches!(part, "tests" | "benches" | "examples" | "testdata"));
    folder || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

/// Takes a Rust file apart.
pub(crate) fn scan(path: &str, text: &str) -> Vec<Line> {
    let mut scanner = Scanner::new(text);
    while let Some(next) = scanner.peek(0) {
        scanner.step(next);
    }
    let mut lines = scanner.finish();
    for (line, text) in lines.iter_mut().zip(text.lines()) {
        text.clone_into(&mut line.text);
    }
    if is_test_path(path) {
        for line in &mut lines {
            line.is_test = true;
        }
    } else {
        mark_test_items(&mut lines);
    }
    lines
}

struct Scanner {
    characters: Vec<char>,
    at: usize,
    inside: Inside,
    line: Line,
    literal: String,
    lines: Vec<Line>,
}

impl Scanner {
    fn new(text: &str) -> Self {
        Self {
            characters: text.chars().collect(),
            at: 0,
            inside: Inside::Code,
            line: Line::default(),
            literal: String::new(),
            lines: Vec::new(),
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn step(&mut self, next: char) {
        if next == '\n' {
            self.end_line();
            return;
        }
        match self.inside {
            Inside::Code => self.step_code(next),
            Inside::LineComment => self.take_comment(next),
            Inside::BlockComment { depth } => self.step_block(next, depth),
            Inside::Text => self.step_text(next),
            Inside::RawText { hashes } => self.step_raw(next, hashes),
        }
    }

    fn step_code(&mut self, next: char) {
        match (next, self.peek(1)) {
            ('/', Some('/')) => {
                self.inside = Inside::LineComment;
                self.at += 2;
            }
            ('/', Some('*')) => {
                self.inside = Inside::BlockComment { depth: 1 };
                self.at += 2;
            }
            ('"', _) => {
                self.inside = Inside::Text;
                self.take_code(next);
            }
            ('r', Some('"' | '#')) if self.starts_raw() => self.open_raw(),
            ('\'', _) => self.step_quote(),
            _ => self.take_code(next),
        }
    }

    /// `r` starts a raw literal only where it is not the end of a longer word, `br` and `cr` apart.
    fn starts_raw(&self) -> bool {
        let mut before = self.line.code.chars().rev();
        let word = match before.next() {
            Some('b' | 'c') => before.next(),
            other => other,
        };
        let mut ahead = 1;
        while self.peek(ahead) == Some('#') {
            ahead += 1;
        }
        self.peek(ahead) == Some('"') && !word.is_some_and(is_word)
    }

    fn open_raw(&mut self) {
        let mut hashes = 0;
        while self.peek(1 + hashes) == Some('#') {
            hashes += 1;
        }
        self.line.code.push('"');
        self.at += hashes + 2;
        self.inside = Inside::RawText { hashes };
    }

    /// A character literal or a lifetime; a character is dropped, a lifetime stays code.
    fn step_quote(&mut self) {
        let closing = match (self.peek(1), self.peek(2)) {
            (Some('\\'), _) => (3..12).find(|ahead| self.peek(*ahead) == Some('\'')),
            (Some(_), Some('\'')) => Some(2),
            _ => None,
        };
        if let Some(ahead) = closing {
            self.line.code.push_str("''");
            self.at += ahead + 1;
        } else {
            self.take_code('\'');
        }
    }

    fn step_block(&mut self, next: char, depth: usize) {
        match (next, self.peek(1)) {
            ('/', Some('*')) => {
                self.inside = Inside::BlockComment { depth: depth + 1 };
                self.at += 2;
            }
            ('*', Some('/')) => {
                self.inside = match depth {
                    0 | 1 => Inside::Code,
                    deeper => Inside::BlockComment { depth: deeper - 1 },
                };
                self.at += 2;
            }
            _ => self.take_comment(next),
        }
    }

    fn step_text(&mut self, next: char) {
        match (next, self.peek(1)) {
            ('\\', Some('\n')) => self.at += 1,
            ('\\', Some(escaped)) => {
                self.literal.push(escaped);
                self.at += 2;
            }
            ('"', _) => self.close_literal(1),
            _ => {
                self.literal.push(next);
                self.at += 1;
            }
        }
    }

    fn step_raw(&mut self, next: char, hashes: usize) {
        let closes = next == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
        if closes {
            self.close_literal(hashes + 1);
        } else {
            self.literal.push(next);
            self.at += 1;
        }
    }

    fn close_literal(&mut self, width: usize) {
        self.line.literals.push(std::mem::take(&mut self.literal));
        self.line.code.push('"');
        self.inside = Inside::Code;
        self.at += width;
    }

    fn take_code(&mut self, next: char) {
        self.line.code.push(next);
        self.at += 1;
    }

    fn take_comment(&mut self, next: char) {
        self.line.comment.push(next);
        self.at += 1;
    }

    fn end_line(&mut self) {
        self.at += 1;
        let in_literal = matches!(self.inside, Inside::Text | Inside::RawText { .. });
        if in_literal && !self.literal.is_empty() {
            self.line.literals.push(std::mem::take(&mut self.literal));
        }
        if self.inside == Inside::LineComment {
            self.inside = Inside::Code;
        }
        let next = Line {
            starts_in_literal: in_literal,
            ..Line::default()
        };
        self.lines.push(std::mem::replace(&mut self.line, next));
    }

    fn finish(mut self) -> Vec<Line> {
        if !self.line.code.is_empty() || !self.line.comment.is_empty() {
            self.end_line();
        }
        self.lines
    }
}

/// Whether a character can be part of a name.
pub(crate) fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Marks every item under `#[cfg(test)]`.
fn mark_test_items(lines: &mut [Line]) {
    let mut depth: Option<usize> = None;
    for line in lines {
        let code = line.code.trim();
        if depth.is_none()
            && (code.starts_with("#[cfg(test)") || code.starts_with("#[cfg(all(test"))
        {
            depth = Some(0);
        }
        let Some(open) = depth else { continue };
        line.is_test = true;
        depth = after_line(code, open);
    }
}

/// How deep in braces an item is after one more line of it; nothing once the item has ended.
fn after_line(code: &str, mut open: usize) -> Option<usize> {
    for letter in code.chars() {
        match letter {
            '{' => open += 1,
            '}' if open <= 1 => return None,
            '}' => open -= 1,
            ';' if open == 0 => return None,
            _ => {}
        }
    }
    Some(open)
}

#[cfg(test)]
mod tests {
    use super::{is_test_path, scan};

    #[test]
    fn code_comments_and_literals_are_told_apart() {
        let text = r##"let a = "x // y"; // why "so"
let b = r#"raw "quoted" std::fs"#; /* block */ let c = 'x'; let d: &'static str = "";
let e = '"'; let f = "two
lines"; let g = b"bytes";
"##;
        let lines = scan("crates/x/src/a.rs", text);
        assert_eq!(lines[0].code, "let a = \"\"; ");
        assert_eq!(lines[0].comment, " why \"so\"");
        assert_eq!(lines[0].literals, ["x // y"]);
        assert_eq!(lines[1].literals, ["raw \"quoted\" std::fs", ""]);
        assert!(
            lines[1].code.contains("let d: &'static str"),
            "{}",
            lines[1].code
        );
        assert_eq!(lines[1].comment, " block ");
        assert_eq!(lines[2].literals, ["two"]);
        assert!(lines[3].starts_in_literal);
        assert_eq!(lines[3].literals, ["lines", "bytes"]);
        assert_eq!(lines[3].code, "\"; let g = b\"\";");
    }

    #[test]
    fn test_items_end_where_their_braces_end() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n\
                    #[cfg(test)]\nmod more;\nfn d() {}\n";
        let tests: Vec<bool> = scan("crates/x/src/a.rs", text)
            .iter()
            .map(|line| line.is_test)
            .collect();
        assert_eq!(
            tests,
            [false, true, true, true, true, false, true, true, false]
        );
    }

    #[test]
    fn test_files_are_known_by_their_place() {
        assert!(is_test_path("crates/x/tests/it/main.rs"));
        assert!(is_test_path("crates/x/src/law/tests.rs"));
        assert!(is_test_path("crates/x/examples/bench.rs"));
        assert!(is_test_path("crates/x/src/law/tests/deep.rs"));
        assert!(!is_test_path("crates/x/src/law/attests.rs"));
    }
}
