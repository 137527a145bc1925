//! What a command line would do (H4): every program in it, at any depth, judged by its arguments.
//!
//! The line is parsed by a grammar of bash, walked with what is known of its variables and its
//! working directory, and each simple command is held against the knowledge of programs, which is
//! data. Whatever is not proven to read only is destructive.

mod arg;
mod ast;
mod judge;
pub mod knowledge;
mod parse;
mod plain;
mod script;
mod walk;
mod words;

pub use knowledge::{Kept, Knowledge};
pub use plain::plain_words;
pub use words::only_words;

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::{COMMAND_ANALYSED_BYTES_MAX, COMMAND_PARTS_MAX};
use tagout_vocab::path::Roots;
use tagout_vocab::{Class, Effect, Target};

/// What the analysis knows besides the line.
#[derive(Clone, Copy, Debug)]
pub struct ShellContext<'a> {
    /// Knowledge of programs.
    pub knowledge: &'a Knowledge,
    /// The call's working directory, absolute or relative to the workspace.
    pub cwd: &'a str,
    /// Where paths lie.
    pub roots: &'a Roots,
    /// Names of the variables that the line's shell inherits: setting one reaches every program.
    pub exported: &'a [String],
    /// Commands that the policy calls read-only, by their first words, such as `kubectl get`.
    pub read_only: &'a [String],
    /// Commands that the policy calls destructive, in the same form. They win.
    pub destructive: &'a [String],
    /// The path of a program that is known by its name wherever it lies: the one that judges.
    pub own: Option<&'a str>,
}

impl<'a> ShellContext<'a> {
    /// A context that knows nothing but the programs.
    pub fn bare(knowledge: &'a Knowledge, roots: &'a Roots) -> Self {
        Self {
            knowledge,
            cwd: "",
            roots,
            exported: &[],
            read_only: &[],
            destructive: &[],
            own: None,
        }
    }
}

/// What one simple command does.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(tag = "does", content = "detail", rename_all = "snake_case")]
pub enum Judgement {
    /// Reads, prints, and nothing else.
    ReadOnly,
    /// Changes these paths; empty when it changes something that is not a path.
    Writes(Vec<Target>),
    /// Runs code that the line does not show.
    Exec,
    /// Reaches other machines.
    Network,
    /// Could be anything, for this reason.
    Unknown(String),
}

/// One simple command of the line.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The command as it was written.
    pub text: String,
    /// The program's name; empty where there is none.
    pub program: String,
    /// What it does.
    pub judgement: Judgement,
    /// Why it is judged so.
    pub why: String,
    /// What to do instead, if no command may do this at all.
    #[serde(skip)]
    pub instead: Option<String>,
}

/// A call of Tagout itself.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct OwnCall {
    /// The words behind the program's name that are no options, such as `intent`, `select`,
    /// `INT-001`, as far as they are known.
    pub words: Vec<String>,
    /// Whether some argument is not known, so that the verb may be another one.
    pub uncertain: bool,
    /// The options before `--`, without their values, such as `--session`.
    pub options: Vec<String>,
    /// Whether something before `--` may become an option that is not among them.
    pub more_options: bool,
}

impl OwnCall {
    /// Whether an option is given, or may be.
    pub fn may_have(&self, option: &str) -> bool {
        self.more_options || self.options.iter().any(|one| one == option)
    }

    /// Whether it is sure to say how something is used and to do nothing.
    pub fn only_tells(&self) -> bool {
        let asks = |option: &String| matches!(option.as_str(), "--help" | "-h");
        let is_asked =
            self.options.iter().any(asks) || self.words.first().is_some_and(|word| word == "help");
        is_asked && !self.uncertain
    }
}

/// What a whole line does.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// SAFE only when every part is read-only and nothing is left that could not be read.
    pub class: Class,
    /// What the line would touch.
    pub effects: Vec<Effect>,
    /// Every simple command, innermost first.
    pub parts: Vec<Part>,
    /// Why no rule may ever allow it, if so.
    pub catastrophic: Option<String>,
    /// Calls of Tagout itself, for the verbs that are for people.
    pub own_calls: Vec<OwnCall>,
    /// Whether some part reaches the network.
    pub network: bool,
    /// Whether some part publishes commits.
    pub push: bool,
}

impl Analysis {
    /// The first reason why the line is not SAFE.
    pub fn why(&self) -> Option<&str> {
        self.parts
            .iter()
            .find(|part| part.judgement != Judgement::ReadOnly)
            .map(|part| part.why.as_str())
    }

    /// Whether all that the line reaches is this machine by its own name. A command has a network
    /// of its own, in which that means the other commands of its session and nobody else.
    pub fn stays_on_this_machine(&self) -> bool {
        let mut hosts = self.effects.iter().filter_map(|effect| match effect {
            Effect::Reach { host } => Some(host.as_deref().is_some_and(is_loopback)),
            Effect::Read(_)
            | Effect::Write(_)
            | Effect::MakeFolder(_)
            | Effect::Delete(_)
            | Effect::Move { .. }
            | Effect::Run { .. }
            | Effect::Remote { .. }
            | Effect::Delegate
            | Effect::Desktop
            | Effect::Unknown { .. } => None,
        });
        let reached = hosts.next();
        !self.push && reached == Some(true) && hosts.all(|local| local)
    }

    /// A line that can't be followed. Its fragments are still looked at for what no rule may allow.
    fn refused(line: &str, reason: String, context: &ShellContext<'_>) -> Self {
        let mut refused = Self {
            class: Class::Destructive,
            effects: vec![Effect::Run {
                command: line.to_owned(),
            }],
            parts: vec![Part {
                text: line.to_owned(),
                program: String::new(),
                judgement: Judgement::Unknown(reason.clone()),
                why: reason,
                instead: None,
            }],
            catastrophic: None,
            own_calls: Vec::new(),
            network: false,
            push: false,
        };
        let marks = [';', '&', '|', '\n', '(', ')', '{', '}', '`', '"', '\''];
        for fragment in line.split(marks).take(COMMAND_PARTS_MAX) {
            let fragment = without_keywords(fragment);
            let short = fragment.len() <= COMMAND_ANALYSED_BYTES_MAX;
            let Some(Ok(list)) = short.then(|| parse::parse(fragment, 0)) else {
                continue;
            };
            let found = walk::Walker::new(context).run(fragment, &list);
            refused.catastrophic = refused.catastrophic.or(found.catastrophic);
            refused.own_calls.extend(found.own_calls);
            refused.network |= found.network;
            refused.push |= found.push;
        }
        refused
    }
}

/// Whether a host or address means the machine itself, its port left out.
fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((address, _)) = bare {
        return address == "::1";
    }
    let name = host.split(':').next().unwrap_or_default();
    let numbers: Option<Vec<u8>> = name.split('.').map(|part| part.parse().ok()).collect();
    let address = numbers.is_some_and(|parts| parts.len() == 4 && parts.first() == Some(&127));
    host == "::1" || name == "localhost" || address
}

/// A fragment without the words of a compound command that stand before its command.
fn without_keywords(fragment: &str) -> &str {
    const KEYWORDS: [&str; 8] = ["if", "then", "elif", "else", "while", "until", "do", "!"];
    let mut rest = fragment.trim();
    while let Some((word, behind)) = rest.split_once(char::is_whitespace) {
        if !KEYWORDS.contains(&word) {
            break;
        }
        rest = behind.trim_start();
    }
    rest
}

/// Reads a line and says what it would do.
pub fn analyse(line: &str, context: &ShellContext<'_>) -> Analysis {
    if line.len() > COMMAND_ANALYSED_BYTES_MAX {
        let reason = format!("it is longer than {COMMAND_ANALYSED_BYTES_MAX} bytes");
        return Analysis::refused(line, reason, context);
    }
    if line.contains('\0') {
        return Analysis::refused(line, "it holds a NUL character".to_owned(), context);
    }
    match parse::parse(line, 0) {
        Ok(list) => walk::Walker::new(context).run(line, &list),
        Err(error) => Analysis::refused(line, error.to_string(), context),
    }
}

#[cfg(test)]
mod tests;
