//! What a tool means (seed 003): kind, reach, argument shape, capabilities and hints.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{SideEffectLevel, ToolKind};

/// A3: the shape of a tool's arguments, as far as judging needs it.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolArgSchema {
    /// Keys whose values are paths: a string or a list of strings. Every one counts.
    pub path_params: Vec<String>,
    /// Alias to canonical key, rewritten before anything looks at the arguments.
    pub arg_aliases: BTreeMap<String, String>,
    /// Keys that must be present and not null.
    pub required: Vec<String>,
}

/// A4: the full annotations of one tool, with the wire names of seed 003.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolAnnotations {
    /// What kind of thing the tool does.
    pub kind: ToolKind,
    /// How far its effects reach.
    pub side_effect_level: SideEffectLevel,
    /// The shape of its arguments.
    pub arg_schema: ToolArgSchema,
    /// Capability operations that it asks for, by capability.
    pub capabilities: BTreeMap<String, Vec<String>>,
    /// Whether it may answer with a handle to a large output instead of the output.
    pub emits_artifacts: bool,
    /// Tools that can read what it emits.
    pub result_readers: Vec<String>,
    /// Whether its results are always complete inline, although it executes.
    pub inline_result: bool,
    /// MCP `readOnlyHint`: advice, believed only of a trusted server (A6).
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// MCP `destructiveHint`: advice.
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// MCP `idempotentHint`: advice.
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// MCP `openWorldHint`: advice.
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// Whether an execute tool whose output may be an artifact names no way to read it (A4).
    ///
    /// `is_active` tells whether a named reader is offered.
    pub fn lacks_result_reader(&self, is_active: impl Fn(&str) -> bool) -> bool {
        self.kind == ToolKind::Execute
            && self.emits_artifacts
            && !self.inline_result
            && !self.result_readers.iter().any(|reader| is_active(reader))
    }
}
