//! One file for each client, all of them tables.

pub(crate) mod claude_code;
pub(crate) mod cline;
pub(crate) mod codex;
pub(crate) mod copilot_cli;
pub(crate) mod cursor;
pub(crate) mod factory_droid;
pub(crate) mod gemini_cli;
pub(crate) mod goose;
pub(crate) mod kiro;
pub(crate) mod opencode;
pub(crate) mod qwen_code;
pub(crate) mod vscode;
pub(crate) mod windsurf;

/// Files below the home in which clients keep what proves to their services who the person is. No
/// command has any business with them.
pub const CREDENTIALS: &[&str] = &[
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".gemini/google_accounts.json",
    ".config/github-copilot",
    ".qwen/oauth_creds.json",
    ".cline/data/secrets.json",
    ".factory/auth.json",
    ".config/goose/secrets.yaml",
    ".local/share/opencode/auth.json",
];

/// How long the client waits for an answer about a call, as `install` registers it. Tagout's own
/// watchdog ends earlier.
pub(crate) const WAIT_MS: u64 = 30_000;

/// How long it waits where nothing hangs on the answer.
pub(crate) const WAIT_BRIEF_MS: u64 = 10_000;
