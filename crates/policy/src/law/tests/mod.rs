//! Tests of the law as a whole.

mod fixtures;
mod laws;
mod layers;

use super::{Layer, Source, read};

/// A layer of the repository from text that must be valid.
pub(super) fn repository(text: &str) -> Layer {
    layer(Source::repository("hook_policy.yaml"), text)
}

/// The user's layer from text that must be valid.
pub(super) fn user(text: &str) -> Layer {
    layer(Source::user("policy.yaml"), text)
}

fn layer(source: Source, text: &str) -> Layer {
    let text = format!("version: 1\n{text}");
    match read(source, &text) {
        Ok(reading) => reading.layer,
        Err(problems) => panic!("{text}\n{}", problems[0]),
    }
}
