//! What belongs into a client's configuration files, and what comes out again.

pub mod plan;
