//! What can be typed to connect clients: the hook that they call, and how it is installed.

use clap::Args as ClapArgs;

/// What clients call before and after each tool: JSON in, the client's own answer out
///
/// Nothing is taken from the environment. Whatever goes wrong is the client's own form of a denial.
#[derive(Debug, Clone, ClapArgs)]
#[command(
    after_help = "Example:\n  tagout hook --client goose --event PreToolUse \
        --workspace /home/me/work --state-dir /home/me/.local/state/tagout < payload.json"
)]
pub(crate) struct HookArgs {
    /// The client, as `tagout install --help` names them
    #[arg(long, value_name = "NAME")]
    pub(crate) client: String,

    /// The event, as the client spells it
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: String,

    /// Fails on purpose, so that tests see what clients would be told
    #[cfg(debug_assertions)]
    #[arg(long, hide = true, value_name = "HOW")]
    pub(crate) fail: Option<String>,
}
