//! How languages write comments, texts and patterns.

use serde::{Deserialize, Serialize};

/// The language of a piece of code.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(in crate::shell) enum Language {
    /// Not known: it is read as each of the others.
    #[default]
    Any,
    /// Comments begin with `#`, and a text ends with its line: Python, Julia, R.
    Hash,
    /// Comments as in C, patterns between slashes, texts with holes: JavaScript.
    Slash,
    Perl,
    Ruby,
    Php,
    Lua,
}

/// What a lexer has to know of a language.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a table of languages: each is a column of its own"
)]
#[derive(Debug)]
pub(super) struct Rules {
    /// What a comment begins with that ends with its line.
    pub(super) comments: &'static [&'static str],
    /// What other comments begin and end with.
    pub(super) blocks: &'static [(&'static str, &'static str)],
    /// A quoted text ends with its line at the latest.
    pub(super) ends_with_line: bool,
    /// Three quotes begin a text that three quotes end.
    pub(super) triple: bool,
    /// A slash may begin a pattern.
    pub(super) patterns: bool,
    /// Variables may be named by a mark: `$'`.
    pub(super) marks_name: bool,
    /// Words that choose their own quotes: `qx(…)`.
    pub(super) quote_words: bool,
    /// The same with a percent sign: `%x(…)`, and a letter behind a question mark.
    pub(super) percent: bool,
    /// Two brackets are quotes.
    pub(super) long_brackets: bool,
    /// Lines up to a word may be a text, and such from an equals sign on a comment.
    pub(super) documents: bool,
    /// What code within a text begins with.
    pub(super) holes: &'static [&'static str],
}

const HASH: Rules = Rules {
    comments: &["#"],
    blocks: &[],
    ends_with_line: true,
    triple: true,
    patterns: false,
    marks_name: false,
    quote_words: false,
    percent: false,
    long_brackets: false,
    documents: false,
    holes: &[],
};

const C_BLOCKS: &[(&str, &str)] = &[("/*", "*/")];

const SLASH: Rules = Rules {
    comments: &["//"],
    blocks: C_BLOCKS,
    triple: false,
    patterns: true,
    holes: &["${"],
    ..HASH
};

const PERL: Rules = Rules {
    ends_with_line: false,
    triple: false,
    patterns: true,
    marks_name: true,
    quote_words: true,
    documents: true,
    holes: &["${", "@{"],
    ..HASH
};

const RUBY: Rules = Rules {
    quote_words: false,
    percent: true,
    holes: &["#{"],
    ..PERL
};

const PHP: Rules = Rules {
    comments: &["#", "//"],
    blocks: C_BLOCKS,
    ends_with_line: false,
    triple: false,
    documents: true,
    holes: &["{$", "${"],
    ..HASH
};

const LUA: Rules = Rules {
    comments: &["--"],
    blocks: &[("--[[", "]]")],
    triple: false,
    long_brackets: true,
    ..HASH
};

impl Language {
    /// The rules by which code is read.
    pub(super) fn rules(self) -> &'static [Rules] {
        match self {
            Self::Any => const { &[HASH, SLASH, PERL, RUBY, PHP, LUA] },
            Self::Hash => const { &[HASH] },
            Self::Slash => const { &[SLASH] },
            Self::Perl => const { &[PERL] },
            Self::Ruby => const { &[RUBY] },
            Self::Php => const { &[PHP] },
            Self::Lua => const { &[LUA] },
        }
    }
}
