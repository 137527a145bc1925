//! S1: each limit of an execution names what enforces it, and what nothing enforces.

use serde::Serialize;
use tagout_vocab::limits::{TOOL_MEMORY_BYTES_MAX, TOOL_RUN_MS_MAX};
use tagout_vocab::{Code, ResourceLimits};

use crate::failure::{Failure, FailureKind};
use crate::lifecycle::Cause;

/// One limit of an execution.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Enforced {
    /// Its name in RFC-0001.
    pub limit: &'static str,
    /// The bound: milliseconds or bytes.
    pub bound: u64,
    /// What holds it.
    pub enforcer: &'static str,
    /// What of it nothing holds.
    #[serde(rename = "notEnforced", skip_serializing_if = "Option::is_none")]
    pub not_enforced: Option<&'static str>,
}

/// How long a tool may take.
pub(crate) fn time_ms(limits: ResourceLimits) -> u64 {
    let declared = limits.max_execution_time_ms.unwrap_or(TOOL_RUN_MS_MAX);
    declared.min(TOOL_RUN_MS_MAX)
}

/// How many bytes a tool may stage and return.
pub(crate) fn memory_bytes(limits: ResourceLimits) -> u64 {
    let declared = limits.max_memory_bytes.unwrap_or(TOOL_MEMORY_BYTES_MAX);
    declared.min(TOOL_MEMORY_BYTES_MAX)
}

/// The limits of a tool that runs inside this process, on a thread of its own.
pub(crate) fn in_process(limits: ResourceLimits) -> Vec<Enforced> {
    let mut found = vec![
        Enforced {
            limit: "maxExecutionTime",
            bound: time_ms(limits),
            // A tool that is late is left behind and can't commit any more.
            enforcer: "deadline",
            not_enforced: None,
        },
        Enforced {
            limit: "maxMemory",
            bound: memory_bytes(limits),
            enforcer: "count of staged and returned bytes",
            not_enforced: Some("working memory, in process"),
        },
    ];
    found.extend(limits.max_file_size_bytes.map(|bound| Enforced {
        limit: "maxFileSize",
        bound,
        enforcer: "size of staged files",
        not_enforced: None,
    }));
    found
}

/// Refuses what goes beyond the count of staged and returned bytes.
pub(crate) fn returned(limits: ResourceLimits, staged: u64, output: u64) -> Result<(), Failure> {
    let max = memory_bytes(limits);
    let used = staged.saturating_add(output);
    if used <= max {
        return Ok(());
    }
    let message = format!("the tool staged and returned {used} bytes, more than {max}");
    let (kind, cause) = (FailureKind::Resource, Cause::LimitPassed);
    Err(Failure::new(kind, cause, Code::LimitExceeded, message))
}
