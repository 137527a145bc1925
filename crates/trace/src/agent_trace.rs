//! Agent Trace 0.1.0: export and import.
