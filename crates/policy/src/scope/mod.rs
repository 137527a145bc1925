//! Which paths a scope owns.
