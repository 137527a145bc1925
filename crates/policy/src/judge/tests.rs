//! The judge, call by call: seed 000's matrix, the order of checks, and laws that hold for all
//! calls.

mod laws;
mod matrix;
mod order;
mod standing;
mod world;
