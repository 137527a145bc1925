//! The session's state machine (G2–G5) and the list of tools that it offers.
