//! The canonical trace record.
