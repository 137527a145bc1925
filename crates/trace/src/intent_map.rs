//! The generated view of which intent made which files and symbols.
