//! Tests of the vocabulary's own laws.

mod path;
mod values;
mod words;
