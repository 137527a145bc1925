//! The kit for tool authors: run a tool as the engine would, and see whether it keeps its word.
//!
//! An author implements [`tagout_gate::Tool`] and calls [`conformance`] in a test, with samples of
//! what the tool is asked. Every breach of what the declaration promises is named (L3, T-005).

mod check;
mod picture;
mod sample;

use std::fmt;
use std::path::Path;

use tagout_gate::policy::intents::IntentSet;
use tagout_gate::{RehearsalError, Tool};
use thiserror::Error;

pub use sample::Sample;

/// One way in which a tool does not keep its word.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Breach {
    /// The sample that showed it; none for the declaration itself.
    pub sample: Option<String>,
    /// Which promise.
    pub promise: Promise,
    /// What was seen.
    pub seen: String,
}

/// What a tool promises by its declaration, or owes by the boundary it stands behind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Promise {
    /// The ten fields of the declaration say something (L2).
    Declaration,
    /// The schemas are valid and say what schemas have to say (L8).
    Schemas,
    /// The sample is something that the tool accepts.
    Input,
    /// The output is as declared.
    Output,
    /// It works, or fails where the sample says so.
    Success,
    /// It never panics.
    NoPanic,
    /// The same workspace and input give the same output and the same changes (T-005).
    Deterministic,
    /// Doing it twice is doing it once.
    Idempotent,
    /// Every change goes through the transaction.
    Transaction,
    /// It changes only what its capabilities allow.
    Capabilities,
    /// It changes only what the input names.
    Targets,
}

impl fmt::Display for Breach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let promise = self.promise;
        match &self.sample {
            Some(sample) => write!(formatter, "sample `{sample}`: {promise:?}: {}", self.seen),
            None => write!(formatter, "{promise:?}: {}", self.seen),
        }
    }
}

/// What was looked at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Report {
    /// The tool.
    pub tool: String,
    /// Samples that it was given.
    pub samples: usize,
    /// Times that it ran.
    pub runs: usize,
}

/// Why a tool does not conform, or why that could not be found out.
#[derive(Debug, Error)]
pub enum KitError {
    /// The tool breaks its word.
    #[error("the tool `{tool}` does not conform: {}", listed(.breaches))]
    Breaches {
        /// The tool.
        tool: String,
        /// How.
        breaches: Vec<Breach>,
    },
    /// There was nothing to try it with.
    #[error("there is no sample; a tool that was never run conforms to nothing")]
    NoSample,
    /// The throw-away workspace could not be used.
    #[error("the throw-away workspace can't be used: {source}")]
    Rehearsal {
        /// Why.
        #[from]
        source: RehearsalError,
    },
    /// A file of a sample could not be put there.
    #[error("a file of the sample `{sample}` can't be put there: {source}")]
    Sample {
        /// The sample.
        sample: String,
        /// Why.
        source: tagout_gate::workspace::Error,
    },
    /// The workspace could not be looked at.
    #[error("cannot look at `{path}`: {source}")]
    Look {
        /// Where.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}

fn listed(breaches: &[Breach]) -> String {
    let shown: Vec<String> = breaches.iter().map(ToString::to_string).collect();
    shown.join("; ")
}

/// Runs a tool on samples, several times each, and names every promise that it breaks.
///
/// `scratch` is an empty folder of the author's, in which throw-away workspaces are made: a
/// temporary one that is gone after the test.
pub fn conformance(
    tool: &dyn Tool,
    samples: &[Sample],
    scratch: &Path,
) -> Result<Report, KitError> {
    conformance_with(tool, samples, scratch, &IntentSet::default())
}

/// The same in a workspace where these intents are declared.
pub fn conformance_with(
    tool: &dyn Tool,
    samples: &[Sample],
    scratch: &Path,
    intents: &IntentSet,
) -> Result<Report, KitError> {
    if samples.is_empty() {
        return Err(KitError::NoSample);
    }
    let mut check = check::Check::new(tool, scratch, intents);
    check.declaration();
    for sample in samples {
        check.sample(sample)?;
    }
    let id = tool.declaration().id.clone();
    if check.breaches.is_empty() {
        return Ok(Report {
            tool: id,
            samples: samples.len(),
            runs: check.runs,
        });
    }
    Err(KitError::Breaches {
        tool: id,
        breaches: check.breaches,
    })
}
