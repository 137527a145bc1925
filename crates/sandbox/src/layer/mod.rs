//! Overlay layers as files: what a command changed, read from its upper layer.
