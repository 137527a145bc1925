//! Where a client keeps its hooks and in which form, as data.

use super::sources::Source;

/// For whom hooks are installed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Scope {
    /// One repository.
    Project,
    /// Everything that one user does.
    User,
    /// Everybody on the machine, where the user can't change it.
    Managed,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::Project, Self::User, Self::Managed];

    /// The name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Managed => "managed",
        }
    }

    /// The scope of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// Where a path starts.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Base {
    /// The repository.
    Workspace,
    /// The user's home.
    Home,
    /// The root of the file system.
    System,
}

/// A file of a client.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub struct Place {
    /// Where its path starts.
    pub base: Base,
    /// The path from there, with slashes.
    pub path: String,
}

impl Place {
    /// A place.
    pub fn new(base: Base, path: impl Into<String>) -> Self {
        Self {
            base,
            path: path.into(),
        }
    }

    /// Whether the file is TOML; all others are JSON with comments or scripts.
    pub fn is_toml(&self) -> bool {
        self.path
            .rsplit_once('.')
            .is_some_and(|(_, ending)| ending == "toml")
    }
}

/// A file that a client reads, as a table says it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct At {
    /// For whom it counts.
    pub scope: Scope,
    /// Where its path starts.
    pub base: Base,
    /// The path from there.
    pub path: &'static str,
}

impl At {
    /// A file of the repository.
    pub const fn project(path: &'static str) -> Self {
        Self {
            scope: Scope::Project,
            base: Base::Workspace,
            path,
        }
    }

    /// A file of the user.
    pub const fn user(path: &'static str) -> Self {
        Self {
            scope: Scope::User,
            base: Base::Home,
            path,
        }
    }

    /// A file of the machine.
    pub const fn managed(path: &'static str) -> Self {
        Self {
            scope: Scope::Managed,
            base: Base::System,
            path,
        }
    }

    /// The place.
    pub fn place(self) -> Place {
        Place::new(self.base, self.path)
    }
}

/// How a client's hooks are configured.
#[derive(Debug)]
pub struct Install {
    /// The file of each scope; a scope that is not there can't be had.
    pub files: &'static [At],
    /// Every place that it reads hooks from, those of `files` among them.
    pub sources: &'static [Source],
    /// The client in whose files its hooks stand, where both read the same ones. Two hooks for one
    /// call would judge it twice.
    pub through: Option<&'static str>,
    /// What the files look like.
    pub layout: Layout,
    /// The instruction file that gets the block, from the repository's root.
    pub instructions: &'static str,
    /// Settings that switch hooks off.
    pub switches: &'static [Switch],
    /// Settings that hold the client's own deny and ask rules.
    pub rules: &'static [RuleSource],
    /// What a person has to do before the hooks run.
    pub needs: &'static [&'static str],
    /// The step without which the hooks of a scope are there and do not run, in words that follow
    /// «governed once».
    pub once: &'static [(Scope, &'static str)],
    /// What stays open by the client's own limits.
    pub open: &'static [&'static str],
    /// The variables that move the user's folders, which the caller has to honour.
    pub moved: &'static [Moved],
    /// How a machine shows that people use it.
    pub shows: Shows,
    /// The sandbox that the client itself has, where it has one.
    pub sandbox: Option<OwnSandbox>,
    /// What the managed file has to say besides, so that no repository switches its hooks off.
    pub held: Option<Held>,
}

impl Install {
    /// The step that a person still has to take for the hooks of a scope.
    pub fn once(&self, scope: Scope) -> Option<&'static str> {
        let mut steps = self.once.iter();
        let step = steps.find(|(of, _)| *of == scope);
        step.map(|(_, step)| *step)
    }
}

/// A setting that is true in the managed file.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The table that it stands in.
    pub table: &'static str,
    /// Its name there.
    pub key: &'static str,
}

/// A variable that moves one of the user's folders.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Moved {
    /// The variable.
    pub variable: &'static str,
    /// The folder of the home that lies where the variable says.
    pub folder: &'static str,
    /// What that folder is called there; nothing where the variable names the folder itself.
    pub below: &'static str,
}

impl Moved {
    /// A variable in place of a folder of the home.
    pub const fn folder(variable: &'static str, folder: &'static str) -> Self {
        Self {
            variable,
            folder,
            below: "",
        }
    }

    /// A variable in place of the home, as far as one folder of it goes.
    pub const fn home(variable: &'static str, folder: &'static str) -> Self {
        Self {
            variable,
            folder,
            below: folder,
        }
    }

    /// The path beneath the variable's folder that a path of the home becomes.
    pub fn rest(self, path: &str) -> Option<String> {
        let rest = path.strip_prefix(self.folder)?.strip_prefix('/')?;
        Some(match self.below {
            "" => rest.to_owned(),
            below => format!("{below}/{rest}"),
        })
    }
}

/// How a machine shows that people use a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shows {
    /// Programs on the search path.
    pub programs: &'static [&'static str],
    /// Folders of the home.
    pub home: &'static [&'static str],
}

/// The sandbox that a client puts around the commands of its agents.
#[derive(Clone, Copy, Debug)]
pub struct OwnSandbox {
    /// Whether commands run in it unless a person changed the settings.
    pub by_default: bool,
    /// The settings that switch it on.
    pub on: &'static [Switch],
    /// The settings that switch it off.
    pub off: &'static [Switch],
    /// The words after the client's program that run a command in it, where there are such.
    pub trial: Option<&'static [&'static str]>,
    /// What a person does so that `tagout exec` works.
    pub remedy: &'static str,
}

/// What a configuration file looks like.
#[derive(Clone, Copy, Debug)]
pub enum Layout {
    /// JSON: below `under`, each event has a list of groups, each with a list of handlers.
    Groups {
        /// The key above the events, if any.
        under: Option<&'static str>,
        /// How a handler is written.
        handler: Handler,
    },
    /// JSON: below `hooks`, each event has a list of handlers.
    Handlers {
        /// How a handler is written.
        handler: Handler,
        /// Whether a new file says `version: 1`.
        version: bool,
    },
    /// JSON: one list of hooks, each naming its trigger.
    Triggers,
    /// A plugin of its own: a manifest, and hooks in groups.
    PluginFolder {
        /// How a handler is written.
        handler: Handler,
    },
    /// A script of its own that calls the hook.
    PluginFile,
    /// An executable file for each event, in the folder that is named.
    Executables,
}

/// How a handler is written.
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// Whether it says `type: command`.
    pub says_type: bool,
    /// How the command is written.
    pub command: Command,
    /// The key and unit of the time-out.
    pub timeout: Option<(&'static str, Unit)>,
    /// What makes it fail closed, on events that can deny.
    pub closed: Option<Closed>,
}

/// How a command is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Command {
    /// Program and arguments apart; no shell in between.
    Exec,
    /// One line for a shell, under this key.
    Line(&'static str),
    /// The same, where the managed file has a key of its own.
    LineBut {
        /// The key everywhere else.
        key: &'static str,
        /// The key in the managed file.
        managed: &'static str,
    },
}

impl Handler {
    /// How it is written in a file that starts there.
    pub(crate) const fn at(self, base: Base) -> Self {
        let command = match (self.command, base) {
            (Command::LineBut { managed, .. }, Base::System) => Command::Line(managed),
            (Command::LineBut { key, .. }, Base::Workspace | Base::Home) => Command::Line(key),
            (command @ (Command::Exec | Command::Line(_)), _) => command,
        };
        Self { command, ..self }
    }
}

/// The unit of a time-out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

/// A key that turns a failure into a denial.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Closed {
    /// A word.
    Word(&'static str, &'static str),
    /// `true`.
    True(&'static str),
}

/// A setting that switches hooks off, or something else of the client.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// The file.
    pub at: At,
    /// The way to the setting.
    pub way: &'static str,
    /// When it does.
    pub off: Off,
    /// What it does then.
    pub does: Does,
    /// What it means, for a person.
    pub means: &'static str,
}

/// What a setting does to hooks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Does {
    /// No hook runs.
    StopsAll,
    /// Only hooks of the managed scope run.
    StopsUnmanaged,
    /// Hooks run; the client's own questions or walls are what changes.
    Loosens,
}

/// When a setting switches hooks off.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Off {
    /// It is true.
    True,
    /// It is false.
    False,
    /// It is this word.
    Word(&'static str),
    /// It lists anything.
    Filled,
    /// It is there and says anything but no.
    Set,
}

/// A setting that holds rules.
#[derive(Clone, Copy, Debug)]
pub struct RuleSource {
    /// The file.
    pub at: At,
    /// How its rules are written.
    pub syntax: RuleSyntax,
}

/// How rules are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RuleSyntax {
    /// A list of `Tool` or `Tool(pattern)`.
    Calls {
        /// The way to the list.
        way: &'static str,
        /// What a match means.
        means: Narrow,
    },
    /// A list of command lines.
    Lines {
        /// The way to the list.
        way: &'static str,
        /// What a match means.
        means: Narrow,
    },
    /// An object of tools, each with a word or with an object of patterns.
    Table {
        /// The way to the object.
        way: &'static str,
    },
    /// `prefix_rule(…)` lines.
    Prefixes,
}

/// What a rule of the client says.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Narrow {
    /// A person is asked.
    Ask,
    /// The call is refused.
    Deny,
}
