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

/// Bytes of a command line that is looked into at all; a longer one is destructive.
pub const COMMAND_BYTES_MAX: usize = 32 * 1024;

/// Nesting of a command line: lists, substitutions, wrappers and shells in shells together.
pub const COMMAND_DEPTH_MAX: usize = 64;

/// Simple commands in one line. Beyond it the rest is not looked at, and the line is destructive.
pub const COMMAND_PARTS_MAX: usize = 1_000;

/// Words that one word may become by brace expansion.
pub const COMMAND_BRACES_MAX: usize = 256;

/// Steps that the analysis of one line may take: what stops loops in loops in loops.
pub const COMMAND_STEPS_MAX: usize = 20_000;

/// Variables whose values are followed through one line.
pub const COMMAND_VARIABLES_MAX: usize = 64;
