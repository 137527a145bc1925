//! What a tool that Tagout executes promises (RFC-0001 §4.1), with the RFC's wire names.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::Schema;

/// Bounds on one execution. `None` means that the engine's own bound applies, never «unbounded».
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceLimits {
    /// Wall time in milliseconds.
    #[serde(rename = "maxExecutionTime")]
    pub max_execution_time_ms: Option<u64>,
    /// Memory in bytes.
    #[serde(rename = "maxMemory")]
    pub max_memory_bytes: Option<u64>,
    /// Size of any one file in bytes.
    #[serde(rename = "maxFileSize")]
    pub max_file_size_bytes: Option<u64>,
}

/// L2: the ten fields of a tool declaration. One that lacks a field does not deserialise.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Declaration {
    /// Unique id.
    pub id: String,
    /// Semantic version.
    pub version: String,
    /// The name people read.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it accepts.
    pub input_schema: Value,
    /// What it returns.
    pub output_schema: Schema,
    /// Permissions it needs.
    pub required_capabilities: Vec<String>,
    /// What it may use up.
    pub resource_limits: ResourceLimits,
    /// Whether the same input gives the same output.
    pub deterministic: bool,
    /// Whether doing it twice is doing it once.
    pub idempotent: bool,
}
