//! The checks, grouped by what they look at. Each is one function from a case to a finding.

pub(super) mod approval;
pub(super) mod front;
pub(super) mod intent;
pub(super) mod power;
pub(super) mod reach;
pub(super) mod usage;
