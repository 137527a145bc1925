//! Regular expressions as text, compiled when they are first needed and bounded in size.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::{PATTERN_BYTES_MAX, REGEX_DEPTH_MAX, REGEX_PROGRAM_BYTES_MAX};

use super::{Hit, PatternError, check_text};

/// A regular expression. Loading one costs nothing; the first match compiles it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "RegexText", into = "RegexText")]
pub struct Regex {
    text: RegexText,
    compiled: OnceLock<Option<regex_lite::Regex>>,
}

/// What of a regular expression is stored and compared.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
struct RegexText {
    pattern: String,
    whole: bool,
    fold: bool,
}

impl Regex {
    /// An expression that may match anywhere in the text, whatever its case: for refusing.
    pub fn anywhere(pattern: &str) -> Result<Self, PatternError> {
        Self::new(pattern, false, true)
    }

    /// An expression that must match the whole text as it is written: for allowing.
    pub fn whole(pattern: &str) -> Result<Self, PatternError> {
        Self::new(pattern, true, false)
    }

    fn new(pattern: &str, whole: bool, fold: bool) -> Result<Self, PatternError> {
        check_text(pattern, PATTERN_BYTES_MAX)?;
        let text = RegexText {
            pattern: pattern.to_owned(),
            whole,
            fold,
        };
        // Alone, so that an unbalanced group can't hide in the anchors that are put around it.
        let alone = RegexText {
            whole: false,
            ..text.clone()
        };
        compile(&alone)
            .and_then(|_| compile(&text))
            .map_err(|error| PatternError::Regex {
                message: error.to_string(),
            })?;
        Ok(Self::from(text))
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.text.pattern
    }

    /// What the expression says about a text.
    pub fn matches(&self, text: &str) -> Hit {
        let compiled = self.compiled.get_or_init(|| compile(&self.text).ok());
        compiled
            .as_ref()
            .map_or(Hit::Unclear, |regex| Hit::of(regex.is_match(text)))
    }
}

fn compile(text: &RegexText) -> Result<regex_lite::Regex, regex_lite::Error> {
    let RegexText {
        pattern,
        whole,
        fold,
    } = text;
    let anchored = if *whole {
        format!(r"\A(?:{pattern})\z")
    } else {
        pattern.clone()
    };
    regex_lite::RegexBuilder::new(&anchored)
        .case_insensitive(*fold)
        .size_limit(REGEX_PROGRAM_BYTES_MAX)
        .nest_limit(REGEX_DEPTH_MAX)
        .build()
}

impl From<RegexText> for Regex {
    fn from(text: RegexText) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
        }
    }
}

impl From<Regex> for RegexText {
    fn from(regex: Regex) -> Self {
        regex.text
    }
}

impl PartialEq for Regex {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Regex {}

impl PartialOrd for Regex {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Regex {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}
