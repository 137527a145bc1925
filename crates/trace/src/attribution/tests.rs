//! Lines through single changes.
