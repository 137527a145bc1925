//! Against repositories that git itself made.
