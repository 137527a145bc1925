//! Pieces of code as names, texts and marks, without their comments.
//!
//! Where it can't be told how a language would read something, it says so: what was taken for a
//! text or a comment may be code then.

use super::rules::Rules;

/// Patterns that are longer are not followed.
const PATTERN_CHARS_MAX: usize = 256;

const BLANKS: [char; 3] = [' ', '\t', '\r'];

/// Words behind which a slash begins a pattern.
const BEFORE_PATTERNS: [&str; 25] = [
    "return",
    "typeof",
    "case",
    "in",
    "of",
    "delete",
    "void",
    "new",
    "do",
    "else",
    "if",
    "unless",
    "while",
    "until",
    "and",
    "or",
    "not",
    "when",
    "split",
    "grep",
    "await",
    "yield",
    "throw",
    "instanceof",
    "extends",
];

/// What ends a line in some language, beside the usual mark.
const OTHER_LINE_ENDS: [&str; 4] = ["\r", "\u{2028}", "\u{2029}", "?>"];

/// What a call or a text has.
const OF_CALLS: [char; 4] = ['(', '\'', '"', '`'];

#[derive(Debug)]
pub(super) enum Token<'a> {
    Name(&'a str),
    Text(Text),
    Mark(char),
    /// Text that may be code, for all that is known.
    Code(String),
    Blank,
    Line,
}

#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) said: String,
    /// A shell runs it.
    pub(super) runs: bool,
    /// There is code in it.
    pub(super) holes: bool,
}

#[derive(Debug)]
pub(super) struct Lexed<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    /// Whether a language would surely read it so.
    pub(super) sure: bool,
}

pub(super) fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(super) fn lex<'a>(code: &'a str, rules: &'static Rules) -> Lexed<'a> {
    let mut lexer = Lexer {
        rest: code,
        rules,
        tokens: Vec::new(),
        open: 0,
        sure: true,
    };
    if code.starts_with("#!") {
        lexer.cut(code.find('\n'));
    }
    lexer.sure &= !(rules.documents && code.starts_with('='));
    while let Some(first) = lexer.rest.chars().next() {
        lexer.one(first);
    }
    Lexed {
        sure: lexer.sure && lexer.open == 0,
        tokens: lexer.tokens,
    }
}

struct Lexer<'a> {
    rest: &'a str,
    rules: &'static Rules,
    tokens: Vec<Token<'a>>,
    /// Brackets that are open.
    open: usize,
    sure: bool,
}

impl<'a> Lexer<'a> {
    fn one(&mut self, first: char) {
        if in_name(first) {
            return self.name();
        }
        if self.comment() {
            return;
        }
        match first {
            '\n' => {
                self.mark(first, Token::Line);
                if self.rules.documents && self.rest.starts_with('=') {
                    self.sure = false;
                }
            }
            _ if BLANKS.contains(&first) => self.mark(first, Token::Blank),
            '\'' | '"' | '`' => self.quoted(first),
            '/' if self.rules.patterns => self.slash(),
            '$' | '?' if self.is_named_by_mark(first) => {
                self.sure = false;
                self.cut(Some(2));
                self.tokens.push(Token::Mark(first));
            }
            '%' if self.rules.percent => self.percent(),
            '[' if self.rules.long_brackets && self.rest.starts_with("[[") => self.long(),
            '?' if self.rest.starts_with("?.") => {
                self.cut(Some(1));
            }
            '<' => {
                self.sure &= !self.begins_document();
                self.mark(first, Token::Mark(first));
            }
            '(' | '[' | '{' => {
                self.open += 1;
                self.mark(first, Token::Mark(first));
            }
            ')' | ']' | '}' => {
                self.sure &= self.open > 0;
                self.open = self.open.saturating_sub(1);
                self.mark(first, Token::Mark(first));
            }
            _ => self.mark(first, Token::Mark(first)),
        }
    }

    /// Takes the start of what is left.
    fn cut(&mut self, at: Option<usize>) -> &'a str {
        let at = at.unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(at).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn mark(&mut self, mark: char, token: Token<'a>) {
        self.cut(Some(mark.len_utf8()));
        self.tokens.push(token);
    }

    fn next(&mut self) -> Option<char> {
        let first = self.rest.chars().next()?;
        self.cut(Some(first.len_utf8()));
        Some(first)
    }

    fn comment(&mut self) -> bool {
        for (start, end) in self.rules.blocks {
            if let Some(behind) = self.rest.strip_prefix(start) {
                let end = behind.find(end).map(|at| start.len() + at + end.len());
                self.sure &= end.is_some();
                let begins_line = self.begins_line();
                let said = self.cut(end);
                self.sure &= begins_line || !said.contains(OF_CALLS);
                self.tokens.push(Token::Blank);
                return true;
            }
        }
        let mut starts = self.rules.comments.iter();
        if !starts.any(|start| self.rest.starts_with(start)) {
            return false;
        }
        // In some versions of a language that is code, or a comment of another form.
        self.sure &= !(self.rest.starts_with("#[") || self.rest.starts_with("--["));
        let begins_line = self.begins_line();
        let said = self.cut(self.rest.find('\n'));
        let said = said.strip_suffix('\r').unwrap_or(said);
        self.sure &= !OTHER_LINE_ENDS.iter().any(|end| said.contains(end));
        self.sure &= begins_line || !said.contains(OF_CALLS);
        true
    }

    /// Whether nothing stands before it in its line: behind code, what looks like a comment may be
    /// part of a pattern or of a text.
    fn begins_line(&self) -> bool {
        let mut before = self.tokens.iter().rev();
        let before = before.find(|token| !matches!(token, Token::Blank));
        matches!(before, Some(Token::Line) | None)
    }

    fn name(&mut self) {
        let name = self.cut(self.rest.find(|c| !in_name(c)));
        if self.rules.quote_words && self.quote_word(name) {
            return;
        }
        // A quote may be part of a name.
        self.sure &= !(self.rules.quote_words && self.rest.starts_with('\''));
        self.tokens.push(Token::Name(name));
    }

    /// `q(…)` and its like.
    fn quote_word(&mut self, word: &str) -> bool {
        let is_word = matches!(
            word,
            "q" | "qq" | "qx" | "qw" | "qr" | "m" | "s" | "y" | "tr"
        );
        let before = self.tokens.last();
        let named = matches!(before, Some(Token::Mark('$' | '@' | '%' | '&' | '>' | '.')));
        let quote = self.rest.trim_start();
        let ends = quote.starts_with([',', ';', ')', '}', ']'])
            || quote.starts_with("=>")
            || quote.starts_with(in_name)
            || quote.is_empty();
        let is_comment = quote.starts_with('#') && quote.len() < self.rest.len();
        // Each of them can be something else, and something else can be one of them.
        self.sure &= !is_word;
        if !is_word || named || ends || is_comment {
            return false;
        }
        self.rest = quote;
        let mark = quote.chars().next().unwrap_or(' ');
        let text = self.delimited();
        match word {
            "q" | "qq" | "qx" => self.pushed(text, word == "qx"),
            "qw" => self.words(&text),
            "qr" | "m" => self.pattern(text),
            _ => {
                self.pattern(text);
                let replacement = self.replacement(mark);
                self.tokens.push(Token::Code(replacement));
            }
        }
        true
    }

    fn pushed(&mut self, text: String, runs: bool) {
        let holes = self.has_holes(&text);
        self.tokens.push(Token::Text(Text {
            said: text,
            runs,
            holes,
        }));
    }

    fn has_holes(&self, text: &str) -> bool {
        self.rules.holes.iter().any(|hole| text.contains(hole))
    }

    /// A list of words.
    fn words(&mut self, text: &str) {
        self.tokens.push(Token::Mark('['));
        for word in text.split_whitespace() {
            self.pushed(word.to_owned(), false);
            self.tokens.push(Token::Mark(','));
        }
        self.tokens.push(Token::Mark(']'));
    }

    /// A pattern is a value that is no text.
    fn pattern(&mut self, text: String) {
        self.tokens.push(Token::Mark('~'));
        if self.has_holes(&text) || text.contains("?{") {
            self.tokens.push(Token::Code(text));
        }
    }

    /// Text between marks of its own choice; brackets may nest.
    fn delimited(&mut self) -> String {
        match self.next() {
            Some(open) => self.up_to(open),
            None => String::new(),
        }
    }

    /// The second half of a replacement: behind brackets it has its own.
    fn replacement(&mut self, mark: char) -> String {
        if !matches!(mark, '(' | '[' | '{' | '<') {
            return self.up_to(mark);
        }
        self.rest = self.rest.trim_start();
        self.delimited()
    }

    fn up_to(&mut self, open: char) -> String {
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let mut text = String::new();
        let mut depth = 0_usize;
        while let Some(c) = self.next() {
            match c {
                '\\' => text.extend(self.next()),
                _ if c == close && depth == 0 => return text,
                _ if c == close => {
                    depth -= 1;
                    text.push(c);
                }
                _ => {
                    depth += usize::from(c == open);
                    text.push(c);
                }
            }
        }
        self.sure = false;
        text
    }

    fn percent(&mut self) {
        let mut behind = self.rest.chars().skip(1);
        let kind = behind.next().unwrap_or(' ');
        let (kind, open) = if in_name(kind) {
            (kind, behind.next().unwrap_or(' '))
        } else {
            (' ', kind)
        };
        let is_value = kind == ' ' && self.is_behind_value();
        let brackets = matches!(open, '(' | '[' | '{' | '<');
        let chosen = brackets || kind != ' ' && matches!(open, '|' | '!' | '/' | '^' | '"' | '\'');
        if is_value || !chosen || !matches!(kind, ' ' | 'q' | 'Q' | 'w' | 'W' | 'x' | 'i' | 'r') {
            self.sure &= is_value;
            return self.mark('%', Token::Mark('%'));
        }
        self.cut(Some(if kind == ' ' { 1 } else { 2 }));
        let text = self.delimited();
        match kind {
            'w' | 'W' | 'i' => self.words(&text),
            'r' => self.pattern(text),
            _ => self.pushed(text, kind == 'x'),
        }
    }

    /// Text between two brackets.
    fn long(&mut self) {
        self.cut(Some(2));
        let end = self.rest.find("]]");
        self.sure &= end.is_some();
        let text = self.cut(end).to_owned();
        self.cut(Some(2.min(self.rest.len())));
        self.pushed(text, false);
    }

    fn is_behind_value(&self) -> bool {
        let mut before = self.tokens.iter().rev();
        match before.find(|token| !matches!(token, Token::Blank)) {
            Some(Token::Name(name)) => !BEFORE_PATTERNS.contains(name),
            Some(Token::Text(_) | Token::Mark(')' | ']' | '}' | '~')) => true,
            Some(Token::Mark(_) | Token::Code(_) | Token::Blank | Token::Line) | None => false,
        }
    }

    fn is_named_by_mark(&self, first: char) -> bool {
        let wanted = if first == '?' {
            self.rules.percent
        } else {
            self.rules.marks_name
        };
        let named = self.rest.chars().nth(1);
        wanted && matches!(named, Some('\'' | '"' | '`' | '#' | '/'))
    }

    /// Whether the next lines may be a text.
    fn begins_document(&self) -> bool {
        let Some(behind) = self.rest.strip_prefix("<<") else {
            return self.rest.starts_with("<!--");
        };
        let behind = behind.strip_prefix(['<', '~', '-']).unwrap_or(behind);
        let begins = |c: char| c.is_alphabetic() || matches!(c, '"' | '\'' | '`' | '_' | '\\');
        self.rules.documents && behind.trim_start_matches(BLANKS).starts_with(begins)
    }

    /// A pattern, or a division.
    fn slash(&mut self) {
        let behind = self.rest.get(1..).unwrap_or_default();
        let (mut end, mut escaped, mut class) = (None, false, false);
        for (count, (at, c)) in behind.char_indices().enumerate() {
            match c {
                _ if count >= PATTERN_CHARS_MAX => {
                    self.sure = false;
                    break;
                }
                '\n' => {
                    // In some languages a pattern goes on.
                    self.sure &= self.is_behind_value();
                    break;
                }
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => class = true,
                ']' => class = false,
                '/' if !class => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let Some((pattern, rest)) = end.and_then(|at| behind.split_at_checked(at)) else {
            return self.mark('/', Token::Mark('/'));
        };
        // Whoever takes a pattern for a division, or the other way, reads these otherwise.
        let marks = ['\'', '"', '`', '#', '/', '(', ')', '{', '}'];
        self.sure &= !pattern.contains(marks);
        // Behind a condition or a block it is a pattern, behind a value a division.
        self.sure &= !matches!(self.tokens.last(), Some(Token::Mark(')' | '}')));
        if self.is_behind_value() {
            return self.mark('/', Token::Mark('/'));
        }
        self.rest = rest.get(1..).unwrap_or_default();
        self.pattern(pattern.to_owned());
    }

    /// A text between quotes.
    fn quoted(&mut self, quote: char) {
        let single = quote.to_string();
        let triple = single.repeat(3);
        let long = self.rules.triple && self.rest.starts_with(&triple);
        let end = if long { triple } else { single };
        let by_line = self.rules.ends_with_line && !long && quote != '`';
        let prefix = match self.tokens.last() {
            Some(Token::Name(name)) if self.rules.triple => *name,
            Some(_) | None => "",
        };
        let formatted = prefix.contains(['f', 'F', 't', 'T']);
        self.cut(Some(end.len()));
        let mut text = String::new();
        loop {
            if self.rest.starts_with(&end) {
                self.cut(Some(end.len()));
                break;
            }
            if by_line && self.rest.starts_with('\n') || self.rest.is_empty() {
                self.sure = false;
                break;
            }
            match self.next() {
                Some('\\') => self.escape(&mut text),
                Some('$') if quote == '`' && self.rest.starts_with('{') => self.hole(&mut text),
                other => text.extend(other),
            }
        }
        let holes = quote != '\'' && self.has_holes(&text) || formatted && text.contains('{');
        let runs = quote == '`';
        self.tokens.push(Token::Text(Text {
            said: text,
            runs,
            holes,
        }));
    }

    /// Code within a text, up to the bracket that closes it.
    fn hole(&mut self, text: &mut String) {
        text.push('$');
        let mut depth = 0_usize;
        while let Some(c) = self.next() {
            text.push(c);
            match c {
                '{' => depth += 1,
                '}' if depth <= 1 => return,
                '}' => depth -= 1,
                '\'' | '"' | '`' => self.sure = false,
                _ => {}
            }
        }
        self.sure = false;
    }

    fn escape(&mut self, text: &mut String) {
        let Some(second) = self.next() else {
            return;
        };
        let digits = match second {
            'n' => return text.push('\n'),
            't' => return text.push('\t'),
            '\n' => return,
            'x' => self.digits(2),
            'u' if self.rest.starts_with('{') => {
                let inside = self.cut(self.rest.find('}').map(|at| at + 1));
                inside.trim_matches(['{', '}'])
            }
            'u' => self.digits(4),
            '0'..='7' => {
                let more = self
                    .rest
                    .bytes()
                    .take(2)
                    .take_while(|b| (b'0'..=b'7').contains(b));
                let more = self.cut(Some(more.count()));
                let value = u32::from_str_radix(&format!("{second}{more}"), 8).ok();
                return text.extend(value.and_then(char::from_u32));
            }
            other => return text.push(other),
        };
        let value = u32::from_str_radix(digits, 16).ok();
        text.push(value.and_then(char::from_u32).unwrap_or(second));
    }

    /// Hexadecimal digits, so many at most.
    fn digits(&mut self, max: usize) -> &'a str {
        let digits = self.rest.bytes().take(max);
        let count = digits.take_while(u8::is_ascii_hexdigit).count();
        self.cut(Some(count))
    }
}
