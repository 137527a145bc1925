//! Intents: every dialect read, one canonical form written, small edits that keep comments.
