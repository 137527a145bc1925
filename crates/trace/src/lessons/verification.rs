//! Which commands verify something.

/// What a command verifies.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub enum Verification {
    /// Tests.
    Test,
    /// Style and likely mistakes.
    Lint,
    /// Types.
    Typecheck,
    /// Everything that a server would check.
    Ci,
}

impl Verification {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Lint => "lint",
            Self::Typecheck => "typecheck",
            Self::Ci => "ci",
        }
    }
}

/// Words that name a verification, as a task's name or as a program.
const WORDS: [(&str, Verification); 28] = [
    ("test", Verification::Test),
    ("tests", Verification::Test),
    ("pytest", Verification::Test),
    ("jest", Verification::Test),
    ("vitest", Verification::Test),
    ("mocha", Verification::Test),
    ("nextest", Verification::Test),
    ("ctest", Verification::Test),
    ("tox", Verification::Test),
    ("nox", Verification::Test),
    ("rspec", Verification::Test),
    ("unittest", Verification::Test),
    ("lint", Verification::Lint),
    ("eslint", Verification::Lint),
    ("clippy", Verification::Lint),
    ("pylint", Verification::Lint),
    ("flake8", Verification::Lint),
    ("ruff", Verification::Lint),
    ("shellcheck", Verification::Lint),
    ("golangci-lint", Verification::Lint),
    ("vet", Verification::Lint),
    ("typecheck", Verification::Typecheck),
    ("type-check", Verification::Typecheck),
    ("check-types", Verification::Typecheck),
    ("tsc", Verification::Typecheck),
    ("mypy", Verification::Typecheck),
    ("pyright", Verification::Typecheck),
    ("ci", Verification::Ci),
];

/// Programs that only show or move text, whatever words follow them.
const SHOWING: [&str; 12] = [
    "echo", "printf", "cat", "ls", "grep", "rg", "find", "cd", "mkdir", "rm", "cp", "git",
];

/// What a command line verifies, if anything: by whole words, so that a `ci` within another word
/// is none.
pub fn verification(command: &str) -> Option<Verification> {
    command
        .split(['|', ';', '&', '\n'])
        .find_map(|part| one_command(part.trim()))
}

fn one_command(part: &str) -> Option<Verification> {
    // A quoted line of its own is looked through like any other.
    let words = part.split_whitespace();
    let words = words.map(|word| word.trim_matches(['"', '\'', '(', ')']));
    let mut words = words.filter(|word| !word.is_empty() && !word.contains('='));
    let program = words
        .next()
        .map(|word| word.rsplit('/').next().unwrap_or(word))?;
    if SHOWING.contains(&program) {
        return None;
    }
    let is_install = |word: &str| matches!(word, "install" | "add" | "i" | "uninstall" | "remove");
    // A task may carry what it is about after a colon: `test:unit`.
    let named = |word: &str| {
        let task = word.split(':').next().unwrap_or(word);
        WORDS
            .iter()
            .find(|(name, _)| *name == task)
            .map(|(_, what)| *what)
    };
    let mut found = named(program);
    for word in words {
        if is_install(word) {
            return None;
        }
        // A path or an option names a place, not a task.
        if !word.starts_with('-') && !word.contains('/') && found.is_none() {
            found = named(word);
        }
    }
    // `npm ci` installs.
    found.filter(|what| {
        !(*what == Verification::Ci && matches!(program, "npm" | "pnpm") && !part.contains("run"))
    })
}
