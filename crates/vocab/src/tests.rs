//! Tests of the vocabulary's own laws.
