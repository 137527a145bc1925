//! Taking secrets out of text before it reaches a disk.
//!
//! Wrong towards redacting costs a word in a log; wrong the other way costs a secret. Digests in
//! hexadecimal are left alone: they are what the ledger is made of.

use serde_json::Value;

use crate::bytes;

/// How much is taken out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Strength {
    /// Known shapes: tokens by their prefix, private keys, credentials in headers, URLs and
    /// assignments.
    Shapes,
    /// Also what merely looks random. For free text.
    Full,
}

const MARK: &str = "[redacted]";

/// Nothing shorter can hold a name and its secret.
const SECRET_BYTES_MIN: usize = 6;

/// `-----BEGIN OPENSSH PRIVATE KEY-----` and the like.
const KEY_TITLE_BYTES: usize = 64;

/// Beginnings of well-known tokens, with how many characters must follow.
const TOKENS: [(&str, usize); 40] = [
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gldt-", 16),
    ("glsa_", 20),
    ("sk-", 16),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("rk_test_", 10),
    ("whsec_", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 16),
    ("npm_", 20),
    ("pypi-", 20),
    ("dop_v1_", 20),
    ("hf_", 20),
    ("eyJ", 20),
    ("SG.", 20),
    ("shpat_", 20),
    ("lin_api_", 20),
    ("figd_", 20),
    ("dckr_pat_", 16),
    ("hvs.", 16),
    ("AGE-SECRET-KEY-1", 20),
    ("xkeysib-", 20),
    ("sntrys_", 20),
    ("PRIVATE+KEY+", 16),
];

/// Parts of names whose value is a secret.
const SECRET_NAMES: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "accesskey",
    "private_key",
    "privatekey",
    "credential",
    "authorization",
    "cookie",
    "_auth",
];

/// The text without secrets.
pub fn redact(text: &str, strength: Strength) -> String {
    let bytes = text.as_bytes();
    if bytes.len() < SECRET_BYTES_MIN {
        return text.to_owned();
    }
    let mut spans = private_keys(text);
    spans.extend(url_credentials(bytes));
    spans.extend(assignments(bytes));
    spans.extend(schemes(bytes));
    spans.extend(words(bytes, strength));
    cut(text, spans)
}

/// The value with every string redacted, and the values of secret names gone altogether.
pub fn redact_json(value: &Value, strength: Strength) -> Value {
    map_json(value, &|text| redact(text, strength))
}

/// The value with every string passed through `clean`, and the values of secret names gone.
pub(crate) fn map_json(value: &Value, clean: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(clean(text)),
        Value::Array(items) => items.iter().map(|item| map_json(item, clean)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                let is_text = matches!(value, Value::String(_) | Value::Number(_));
                let value = if is_text && is_secret_name(name.as_bytes()) {
                    Value::String(MARK.to_owned())
                } else {
                    map_json(value, clean)
                };
                (clean(name), value)
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

type Span = (usize, usize);

fn cut(text: &str, mut spans: Vec<Span>) -> String {
    spans.sort_unstable();
    let mut kept = String::with_capacity(text.len());
    let mut done = 0;
    for (start, end) in spans {
        if end <= done {
            continue;
        }
        if start >= done {
            kept.push_str(text.get(done..start).unwrap_or_default());
            kept.push_str(MARK);
        }
        done = end;
    }
    kept.push_str(text.get(done..).unwrap_or_default());
    kept
}

fn private_keys(text: &str) -> Vec<Span> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut done = 0;
    for start in bytes::places_of((b'-', b"----BEGIN "), bytes) {
        let rest = bytes.get(start..).unwrap_or_default();
        let title = rest.get(..KEY_TITLE_BYTES).unwrap_or(rest);
        let is_private = memchr::memmem::find(title, b"PRIVATE KEY").is_some();
        if start < done || !is_private {
            continue;
        }
        // A key that does not end goes on to the end of the text.
        let end = memchr::memmem::find(rest, b"-----END ").and_then(|end| {
            let title = rest.get(end + 9..)?;
            Some(end + 9 + memchr::memmem::find(title, b"-----")? + 5)
        });
        done = start + end.unwrap_or(rest.len());
        spans.push((start, done));
    }
    spans
}

/// `scheme://user:secret@host`: the part between the colon and the `@`.
fn url_credentials(bytes: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    for start in bytes::places_of((b':', b"//"), bytes) {
        let from = start + 3;
        let rest = bytes.get(from..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|byte| {
                byte.is_ascii_whitespace() || matches!(byte, b'/' | b'"' | b'\'' | b'?' | b'#')
            })
            .unwrap_or(rest.len());
        let authority = rest.get(..length).unwrap_or_default();
        let at = bytes::rfind(b'@', authority);
        let colon = bytes::find(b':', authority);
        if let (Some(colon), Some(at)) = (colon, at)
            && colon + 1 < at
        {
            spans.push((from + colon + 1, from + at));
        }
    }
    spans
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn is_secret_name(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let lower = String::from_utf8_lossy(&lower);
    // Counts and limits of model tokens are no secrets, and people want to read them.
    let is_count = [
        "max_token",
        "maxtoken",
        "token_count",
        "tokens",
        "tokenizer",
    ]
    .iter()
    .any(|part| lower.contains(part));
    let is_other = SECRET_NAMES
        .iter()
        .any(|part| *part != "token" && lower.contains(part));
    is_other || (lower.contains("token") && !is_count) || lower == "pwd_hash" || lower == "pass"
}

/// `NAME=value`, `name: value`, `"name": "value"`, where the name says that the value is a secret.
fn assignments(bytes: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut done = 0;
    let signs = bytes.iter().enumerate();
    let signs = signs.filter(|(_, byte)| matches!(byte, b'=' | b':'));
    for (place, _) in signs {
        // What is inside a value that goes anyway need not be looked at, again and again.
        if place < done {
            continue;
        }
        let before = bytes.get(..place).unwrap_or_default();
        let before = before.trim_ascii_end();
        let before = before.strip_suffix(b"\\\"").unwrap_or(before);
        let before = match before {
            [rest @ .., b'"' | b'\''] => rest,
            _ => before,
        };
        let length = before
            .iter()
            .rev()
            .take(128)
            .take_while(|byte| is_name(**byte))
            .count();
        let name = before
            .get(before.len().saturating_sub(length)..)
            .unwrap_or_default();
        if is_secret_name(name)
            && let Some((start, end)) = value_after(bytes, place + 1, name)
        {
            spans.push((start, end));
            done = end;
        }
    }
    spans
}

fn value_after(bytes: &[u8], from: usize, name: &[u8]) -> Option<Span> {
    let rest = bytes.get(from..)?;
    let blank = rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let mut start = from + blank;
    let escaped = bytes.get(start..)?.starts_with(b"\\\"");
    start += usize::from(escaped);
    let quote = bytes
        .get(start)
        .copied()
        .filter(|byte| matches!(byte, b'"' | b'\''));
    start += usize::from(quote.is_some());
    let rest = bytes.get(start..)?;
    let lower = name.to_ascii_lowercase();
    let is_header = lower.ends_with(b"authorization") || lower.ends_with(b"cookie");
    let length = rest
        .iter()
        .position(|byte| match quote {
            Some(quote) => *byte == quote,
            None if is_header => matches!(byte, b'\n' | b'\r' | b'"' | b'\''),
            None => byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b',' | b';' | b'&'),
        })
        .unwrap_or(rest.len());
    let is_reference = rest.starts_with(b"$");
    (length > 0 && !is_reference).then_some((start, start + length))
}

/// `Bearer x`, `Basic x`: the credential itself.
fn schemes(bytes: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    for blank in bytes::places(b' ', bytes) {
        let before = bytes
            .get(blank.saturating_sub(6)..blank)
            .unwrap_or_default();
        let lower = before.to_ascii_lowercase();
        if !lower.ends_with(b"bearer") && !lower.ends_with(b"basic") {
            continue;
        }
        let from = blank + 1;
        let rest = bytes.get(from..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_word(**byte)).count();
        if length >= 12 {
            spans.push((from, from + length));
        }
    }
    spans
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'~')
}

/// Runs of token characters that are a known token or, at full strength, look random.
fn words(bytes: &[u8], strength: Strength) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut from = 0;
    while from < bytes.len() {
        let rest = bytes.get(from..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_word(**byte)).count();
        let word = rest.get(..length).unwrap_or_default();
        if let Some(start) = token_in(word) {
            spans.push((from + start, from + length));
        } else if strength == Strength::Full && looks_random(word) {
            spans.push((from, from + length));
        }
        from += length.max(1);
    }
    spans
}

/// Where in a word a well-known token begins.
fn token_in(word: &[u8]) -> Option<usize> {
    if word.len() < 14 {
        return None;
    }
    let mut is_inside = false;
    word.iter().enumerate().find_map(|(start, byte)| {
        let is_start = !is_inside && byte.is_ascii_alphabetic();
        is_inside = byte.is_ascii_alphanumeric();
        let rest = word.get(start..).filter(|_| is_start)?;
        TOKENS.iter().find_map(|(prefix, after)| {
            let tail = rest.strip_prefix(prefix.as_bytes())?;
            let length = tail.iter().filter(|byte| **byte != b'/').count();
            (length >= *after).then_some(start)
        })
    })
}

/// Letters of both cases and digits, mixed as no word, name or path mixes them.
fn looks_random(word: &[u8]) -> bool {
    if word.len() < 20 {
        return false;
    }
    let count = |is: fn(&u8) -> bool| word.iter().filter(|byte| is(byte)).count();
    let (lower, upper) = (count(u8::is_ascii_lowercase), count(u8::is_ascii_uppercase));
    // In names small letters come in words; in random text their runs are shorter than two.
    let runs = word
        .chunk_by(|left, right| left.is_ascii_lowercase() == right.is_ascii_lowercase())
        .filter(|run| run.first().is_some_and(u8::is_ascii_lowercase))
        .count();
    let is_mixed = lower > 0 && upper > 0 && count(u8::is_ascii_digit) > 0;
    is_mixed && lower * 10 <= runs * 25 && entropy_bits(word) >= 3.5
}

fn entropy_bits(word: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in word {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(word.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests;
