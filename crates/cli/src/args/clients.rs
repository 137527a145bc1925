//! What can be typed to connect clients: the hook that they call, and how it is installed.

use clap::Args as ClapArgs;
use tagout_agents::Client;

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

impl HookArgs {
    /// The same without the parser.
    #[cfg_attr(
        not(debug_assertions),
        expect(unused_variables, reason = "only builds for tests fail on purpose")
    )]
    pub(crate) fn new(client: String, event: String, fail: Option<String>) -> Self {
        Self {
            client,
            event,
            #[cfg(debug_assertions)]
            fail,
        }
    }
}

/// For whom hooks are installed.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ScopeArg {
    /// This repository
    Project,
    /// Everything that this user does
    User,
    /// Everybody on this machine, where users can't change it
    Managed,
}

/// The names of clients and an example with the first of them.
fn names(verb: &str, more: &str) -> String {
    let names: Vec<&str> = Client::ALL.iter().map(|client| client.as_str()).collect();
    let first = names.first().copied().unwrap_or_default();
    let names = names.join(", ");
    format!("Clients: {names}\n\nExample:\n  tagout {verb} {first}{more}")
}

/// Write the hook into the configuration of clients, or say what would be open
///
/// What others wrote into the same files stays as it is. The hook is then started once, with a call
/// that has to be denied.
#[derive(Debug, ClapArgs)]
#[command(after_help = names("install", "\n  tagout install found --check"))]
pub(crate) struct InstallArgs {
    /// The clients; `found` stands for all that this machine shows
    #[arg(required = true, value_name = "CLIENT")]
    pub(crate) clients: Vec<String>,

    /// For whom
    #[arg(long, value_enum, default_value_t = ScopeArg::Project)]
    pub(crate) scope: ScopeArg,

    /// Change no configuration; say what is installed and what would be open
    ///
    /// The canary is a call like any other, so that the ledger keeps it.
    #[arg(long)]
    pub(crate) check: bool,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Take the hook out of the configuration of clients
#[derive(Debug, ClapArgs)]
#[command(after_help = names("uninstall", ""))]
pub(crate) struct UninstallArgs {
    /// The clients; `found` stands for all that this machine shows
    #[arg(required = true, value_name = "CLIENT")]
    pub(crate) clients: Vec<String>,

    /// For whom
    #[arg(long, value_enum, default_value_t = ScopeArg::Project)]
    pub(crate) scope: ScopeArg,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}
