//! Readers of every trace dialect, and the writer of the canonical one.
