//! Lessons from failed verifications, in a block between markers.
