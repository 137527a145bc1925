//! The workspace's rules: layers that only narrow, read from text, compared and compiled.
