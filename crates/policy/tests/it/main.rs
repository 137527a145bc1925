//! The crate from outside: sample files and their expected results.

#[cfg(test)]
mod intents;
