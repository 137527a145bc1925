//! Git notes in the form `authorship/3.0.0`.
