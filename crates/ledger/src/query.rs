//! x
#[derive(Debug)] pub struct Query;
