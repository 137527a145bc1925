//! What clients really sent and did, against both directions.

mod behaviour;
mod captured;
mod claims;
mod common;
mod hostile;
mod install;
mod open;
mod replies;
mod shapes;
