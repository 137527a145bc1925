//! The native tools, run by the conformance kit on samples.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use tagout_gate::{Registry, Tool};
use tagout_policy::catalogue::Catalogue;
use tagout_policy::intents::{self, IntentSet};
use tagout_tools::kit::{Breach, KitError, Promise, Sample, conformance_with};
use tagout_vocab::ToolKind;

use super::stage::INTENTS;
use crate::failure::Failure;

const SAMPLES: &str = include_str!("../../../data/compliance/samples.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    tool: String,
    input: Value,
    files: BTreeMap<String, String>,
    fails: bool,
}

/// What the kit found.
#[derive(Debug, Default)]
pub(super) struct Conformance {
    /// Tools that were run, and how often in all.
    pub(super) tools: usize,
    pub(super) runs: usize,
    /// Tools that nothing was there to run with.
    pub(super) untried: Vec<String>,
    /// Tools that only the sandbox runs.
    pub(super) commands: Vec<String>,
    pub(super) breaches: Vec<(String, Breach)>,
}

impl Conformance {
    /// Whether every tool was tried and none broke one of these promises.
    pub(super) fn holds(&self, promises: &[Promise]) -> Result<String, String> {
        let broken = |(_, breach): &&(String, Breach)| promises.contains(&breach.promise);
        if let Some((tool, breach)) = self.breaches.iter().find(broken) {
            return Err(format!("`{tool}`: {breach}"));
        }
        if !self.untried.is_empty() {
            return Err(format!("not tried: {}", self.untried.join(", ")));
        }
        let (tools, runs) = (self.tools, self.runs);
        Ok(format!("{tools} tools ran {runs} times, no breach"))
    }
}

/// Runs every tool that this build offers.
pub(super) fn run(scratch: &Path) -> Result<Conformance, Failure> {
    let catalogue = Catalogue::built_in().map_err(|problems| Failure::problems(&problems))?;
    let given: Vec<Given> = serde_json::from_str(SAMPLES)
        .map_err(|error| Failure::failed(format!("the samples can't be read: {error}")))?;
    let intents = intents::read("active_intents.yaml", INTENTS)
        .map_err(|problems| Failure::problems(&problems))?
        .into_set();
    let mut found = Conformance::default();
    for (number, tool) in tagout_tools::native(&catalogue)
        .map_err(Failure::failed)?
        .into_iter()
        .enumerate()
    {
        let id = tool.declaration().id.clone();
        let known = catalogue.native_tool(&id);
        if known.is_some_and(|known| known.kind == ToolKind::Execute) {
            found.commands.push(id);
            continue;
        }
        let samples: Vec<Sample> = given
            .iter()
            .filter(|one| one.tool == id)
            .map(sample)
            .collect();
        if samples.is_empty() {
            found.untried.push(id);
            continue;
        }
        let folder = scratch.join(number.to_string());
        try_out(&mut found, tool.as_ref(), (&samples, &folder, &intents))?;
    }
    Ok(found)
}

fn sample(given: &Given) -> Sample {
    let mut sample = Sample::new(&given.tool, given.input.clone());
    for (path, text) in &given.files {
        sample = sample.file(path, text);
    }
    if given.fails {
        sample.failing()
    } else {
        sample
    }
}

fn try_out(
    found: &mut Conformance,
    tool: &dyn Tool,
    (samples, folder, intents): (&[Sample], &Path, &IntentSet),
) -> Result<(), Failure> {
    tagout_workspace::files::ensure_dir_private(folder).map_err(Failure::failed)?;
    found.tools += 1;
    match conformance_with(tool, samples, folder, intents) {
        Ok(report) => found.runs += report.runs,
        Err(KitError::Breaches { tool, breaches }) => {
            let named = breaches.into_iter().map(|breach| (tool.clone(), breach));
            found.breaches.extend(named);
        }
        Err(
            error @ (KitError::NoSample
            | KitError::Rehearsal { .. }
            | KitError::Sample { .. }
            | KitError::Look { .. }),
        ) => return Err(Failure::failed(error)),
    }
    Ok(())
}

/// What every registered tool declares.
pub(super) fn declared(registry: &Registry) -> Vec<(String, tagout_vocab::Declaration)> {
    let all = registry.declarations();
    all.map(|(name, declaration)| (name.to_owned(), declaration.clone()))
        .collect()
}
