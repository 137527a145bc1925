//! `judge`: the order of checks, on one screen.
