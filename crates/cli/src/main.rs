//! The `tagout` binary.

fn main() {}
