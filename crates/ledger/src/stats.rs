//! x
#[derive(Debug)] pub struct Stats;
#[derive(Debug)] pub struct Durations;
#[derive(Debug)] pub struct ResourceUsage;
