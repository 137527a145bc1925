//! Every numeric bound of the product, with its unit last and its reason beside it.

/// Linux's `PATH_MAX`: a longer path can't be opened anyway.
pub const PATH_BYTES_MAX: usize = 4096;

/// An id goes into log lines, file names and prompts; nobody reads a longer one.
pub const ID_BYTES_MAX: usize = 200;

/// The largest policy, intents or ignore file that is read at all.
pub const SIDECAR_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Nesting of a YAML or JSON document. Real files need fewer than ten levels.
pub const DOCUMENT_DEPTH_MAX: usize = 64;

/// Nodes of a YAML document after aliases are followed: what stops an alias bomb.
pub const DOCUMENT_NODES_MAX: usize = 400_000;

/// Intents in one file. The budgets are measured at 10,000.
pub const INTENTS_MAX: usize = 20_000;

/// Patterns in one intent's scope.
pub const SCOPE_PATTERNS_MAX: usize = 1_000;

/// Bytes of one scope pattern.
pub const PATTERN_BYTES_MAX: usize = 1_024;

/// Steps that matching one pattern against one path may take; beyond it the match is «no» for an
/// allowing pattern and «yes» for a denying one.
pub const MATCH_STEPS_MAX: usize = 100_000;

/// Approval rules in one layer.
pub const RULES_MAX: usize = 10_000;

/// Bytes of one call's arguments as JSON.
pub const ARGUMENTS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Paths that one call may touch.
pub const TARGETS_MAX: usize = 10_000;

/// Schema violations that are listed in one refusal.
pub const VIOLATIONS_MAX: usize = 20;

/// Paths that are listed in one refusal.
pub const REFUSAL_PATHS_MAX: usize = 50;

/// RFC-0003: how deep a grant may be delegated.
pub const DELEGATION_DEPTH_MAX: usize = 3;

/// H17: the same call this many times in a row is refused.
pub const REPEAT_LIMIT_DEFAULT: u32 = 12;

/// One event as a line of the ledger. A step that touched [`TARGETS_MAX`] paths fits.
pub const LEDGER_EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The largest number an event can have: adding to it never overflows, and databases can hold it.
pub const LEDGER_SEQ_MAX: u64 = 1 << 62;

/// Events in one durable append.
pub const LEDGER_STEP_EVENTS_MAX: usize = 1_024;

/// A segment is closed when the next step would make it larger than this.
pub const LEDGER_SEGMENT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The append that leaves this many events without a seal writes one.
pub const LEDGER_SEAL_EVENTS_MAX: u64 = 256;

/// The append that comes this long after the last seal writes one.
pub const LEDGER_SEAL_MS_MAX: i64 = 60_000;

/// How long an append waits for other processes; the lock is held for microseconds.
pub const LEDGER_LOCK_WAIT_MS_MAX: u64 = 10_000;

/// How far back from its end a segment is looked at when it is opened.
pub const LEDGER_TAIL_BYTES: usize = 64 * 1024;

/// A proof, a checkpoint or a key file larger than this is not read.
pub const LEDGER_PROOF_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Problems that one verification lists.
pub const LEDGER_PROBLEMS_MAX: usize = 1_000;

/// Events that one query returns.
pub const LEDGER_QUERY_ROWS_MAX: usize = 100_000;

/// A longer string in the redacted text of a call is cut; its length is noted.
pub const TEXT_STRING_BYTES_MAX: usize = 16 * 1024;
