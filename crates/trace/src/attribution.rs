//! TEMP.
