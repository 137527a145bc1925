//! The class of a change, computed from the syntax trees.
