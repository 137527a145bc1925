//! Tests of the rules about intents.
