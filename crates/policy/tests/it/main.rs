//! The crate from outside: sample files and their expected results.

mod intents;
