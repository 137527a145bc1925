//! What is kept comes back, and damage is told.
