//! The clients, by name.

use std::fmt;

use crate::clients;
use crate::profile::{Dialect, Event, Kind, Profile};

macro_rules! clients {
    ($($(#[$doc:meta])* $variant:ident = $module:ident,)+) => {
        /// A client whose hooks Tagout speaks.
        #[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
        pub enum Client {
            $($(#[$doc])* $variant,)+
        }

        impl Client {
            /// Every client.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// What is known of it.
            pub fn profile(self) -> &'static Profile {
                match self { $(Self::$variant => &clients::$module::PROFILE,)+ }
            }
        }
    };
}

clients! {
    /// Claude Code.
    ClaudeCode = claude_code,
    /// Codex CLI.
    Codex = codex,
    /// Gemini CLI.
    GeminiCli = gemini_cli,
    /// GitHub Copilot CLI.
    CopilotCli = copilot_cli,
    /// Qwen Code.
    QwenCode = qwen_code,
    /// Cline.
    Cline = cline,
    /// Factory Droid.
    FactoryDroid = factory_droid,
    /// Goose.
    Goose = goose,
    /// opencode.
    Opencode = opencode,
    /// Cursor.
    Cursor = cursor,
    /// VS Code's agent.
    Vscode = vscode,
    /// Windsurf Cascade.
    Windsurf = windsurf,
    /// Kiro.
    Kiro = kiro,
}

impl Client {
    /// The client of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|client| client.as_str() == name)
    }

    /// The name on the command line, in policies and in the ledger.
    pub fn as_str(self) -> &'static str {
        self.profile().id
    }

    /// Every event that the client is known to send.
    pub fn events(self) -> impl Iterator<Item = &'static Event> {
        self.profile()
            .dialects
            .iter()
            .flat_map(|dialect| dialect.events)
    }

    /// The event of that name, as the client's configuration spells it.
    pub fn event(self, name: &str) -> Option<&'static Event> {
        self.events().find(|event| event.name == name)
    }

    /// The spelling in which an event's payload is written.
    pub(crate) fn dialect(self, name: &str) -> Option<(&'static Dialect, &'static Event)> {
        self.profile().dialects.iter().find_map(|dialect| {
            let event = dialect.events.iter().find(|event| event.name == name)?;
            Some((dialect, event))
        })
    }

    /// The events that `install` registers.
    pub fn registered(self) -> impl Iterator<Item = &'static Event> {
        self.events().filter(|event| event.wait_ms.is_some())
    }

    /// Whether a hook of the client can put other arguments in place of the model's. Of the events
    /// that `install` registers it is the one before a tool that can, if any.
    pub fn rewrites(self) -> bool {
        let mut pre = self.registered().filter(|event| event.kind == Kind::Pre);
        pre.any(Event::rewrites)
    }

    /// How long Tagout may take for an answer: half of what the client waits, because most clients
    /// let the tool run when the wait is over.
    pub fn watchdog_ms(self, event: &Event) -> u64 {
        event.wait_ms.unwrap_or(clients::WAIT_BRIEF_MS) / 2
    }

    /// Whether the client also reads files in which the other's hooks are configured.
    pub fn reads_hooks_of(self, other: Self) -> bool {
        other.profile().shares.contains(&self.as_str())
    }
}

impl fmt::Display for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
