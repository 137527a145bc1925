//! Plans for single cases.
