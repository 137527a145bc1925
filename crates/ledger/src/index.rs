//! x
#[derive(Debug)] pub struct Index;
