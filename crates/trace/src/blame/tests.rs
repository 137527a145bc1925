//! Histories with a known truth.
