//! The ledger from outside: real folders, real processes, real tampering.

mod append;
mod bad_places;
mod golden;
mod hostile;
mod index;
mod processes;
mod seals;
mod support;
mod tampering;
mod texts;
