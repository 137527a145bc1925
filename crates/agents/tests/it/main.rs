//! What clients really sent and did, against both directions.

mod behaviour;
mod captured;
mod claims;
mod common;
mod hostile;
mod replies;
mod shapes;
