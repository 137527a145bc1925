//! What the judge reads by: catalogue, law, intents and ignore list, as one value that is compiled.

use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::intents::{IgnoreFile, IntentSet};
use crate::law::Law;

/// Everything that a verdict depends on besides the call, the session and the facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Books {
    /// What tools mean, with what the law declares added.
    pub catalogue: Catalogue,
    /// The layers of rules.
    pub law: Law,
    /// The declared intents.
    pub intents: IntentSet,
    /// What the ignore files deny.
    pub ignore: IgnoreFile,
}
