//! The syntax nodes that a change touched.
