//! The session's state machine (G2–G5) and the list of tools that it offers.

mod machine;
mod offer;

pub use machine::{Change, Happening, Moved, PromptSource, advance};
pub use offer::offered;

#[cfg(test)]
mod tests;
