//! Knowledge of programs: what their options and operands mean. Data in `data/programs/`.
//!
//! In memory it is a sorted index of names over packed entries, so that a short-lived process pays
//! only for the programs that its line names.

mod check;
mod load;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use serde::{Deserialize, Serialize};

use crate::packed::{Numbers, Packed, Runs};
use crate::problem::Problem;
use crate::shell::script::code::Language;

/// What the analysis knows about programs and variables.
///
/// It is the larger part of what verdicts depend on, and most calls are no commands: it may be
/// fetched when it is asked for.
#[derive(Clone, Default)]
pub struct Knowledge {
    kept: OnceLock<Kept>,
    later: Option<Later>,
}

type Later = Arc<dyn Fn() -> Option<Kept> + Send + Sync>;

/// Knowledge in the form in which it is stored.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    // Program names, sorted, and the place of the entry of each.
    names: Runs,
    places: Numbers,
    // Entries, packed.
    entries: Runs,
    // Option tables that several entries share, packed, by name, sorted.
    group_names: Runs,
    groups: Runs,
    lists: Packed<Lists>,
}

impl Kept {
    /// Whether it says what is harmless, without which the rest says nothing.
    fn is_whole(&self) -> bool {
        self.lists.get().is_some() && self.entries.len() > 0
    }
}

impl From<Kept> for Knowledge {
    fn from(kept: Kept) -> Self {
        Self {
            kept: kept.into(),
            later: None,
        }
    }
}

impl PartialEq for Knowledge {
    fn eq(&self, other: &Self) -> bool {
        self.kept() == other.kept()
    }
}

impl fmt::Debug for Knowledge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kept.fmt(formatter)
    }
}

/// Plain lists of names.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(super) struct Lists {
    /// Folders whose programs are the system's.
    pub(super) folders: Vec<String>,
    /// Variables that may be set for a program; a trailing `*` stands for any rest.
    pub(super) harmless: Vec<String>,
    /// `NAME=value` pairs that may be set for a program.
    pub(super) harmless_values: Vec<String>,
    /// Variables that change what the shell or programs do.
    pub(super) influential: Vec<String>,
    /// Variables that hold whole numbers.
    pub(super) numbers: Vec<String>,
    /// Variables that hold absolute paths.
    pub(super) absolute: Vec<String>,
    /// Commands that print a whole number.
    pub(super) prints_number: Vec<String>,
    /// Commands that print whole numbers.
    pub(super) prints_numbers: Vec<String>,
    /// Commands that print an absolute path.
    pub(super) prints_path: Vec<String>,
    /// Commands that print one word that is no option.
    pub(super) prints_word: Vec<String>,
    /// Commands that print words of letters and digits, in the form that `walk::input` reads.
    pub(super) prints_words: Vec<String>,
    /// Commands that print some of the lines that they get, and such for names ended by a NUL.
    pub(super) passes_lines: Vec<String>,
    pub(super) passes_names: Vec<String>,
    /// Programs that print their arguments.
    pub(super) prints_arguments: Vec<String>,
    /// Programs that print the names of what lies under their first operands, the options by which
    /// each name ends in a NUL, and those by which something else is printed as well.
    pub(super) searches: Vec<String>,
    pub(super) ends_names: Vec<String>,
    pub(super) prints_otherwise: Vec<String>,
    /// Files that swallow what is written to them.
    pub(super) sinks: Vec<String>,
    /// Devices that must never be written, by the start of their path.
    pub(super) devices: Vec<String>,
    /// Folders that must never be removed as a whole.
    pub(super) precious: Vec<String>,
    /// Programs that read and, where a configuration in the workspace says so, start others.
    pub(super) helped: Vec<String>,
    /// In code, functions that remove whole trees, such that give back the path that they are
    /// given, such that start programs, and names of the home folder.
    pub(super) removes_trees: Vec<String>,
    pub(super) same_path: Vec<String>,
    pub(super) runs_programs: Vec<String>,
    /// In code, functions that run a text as code, and names below a function that are it again.
    pub(super) runs_code: Vec<String>,
    pub(super) same_function: Vec<String>,
    pub(super) home_folders: Vec<String>,
}

/// Words that ask a program for its version.
const VERSION: [&str; 3] = ["--version", "-V", "-VV"];

/// How a program reads its arguments.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(super) enum Style {
    /// GNU: clusters, long options, options anywhere.
    #[default]
    Gnu,
    /// Options end at the first operand.
    Posix,
    /// Whole words such as `-name`, anywhere; values follow, or come after `=`.
    Exact,
    /// Whole words, before the first operand only.
    Leading,
    /// `key=value` operands.
    Keyed,
    /// As GNU, but the first word may be a cluster without its dash.
    Bundled,
}

/// What a program does however it is called.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(super) enum Verdict {
    /// What its options and operands say.
    #[default]
    Arguments,
    /// Changes something that is not a path.
    Change,
    /// Runs code.
    Exec,
    /// Reaches the network.
    Network,
    /// Not known.
    Unknown,
}

/// What an option's value or an operand is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(super) enum Role {
    /// Harmless, whatever it is.
    Ok,
    /// A path that is read.
    Read,
    /// A path that is created or changed.
    Write,
    /// A folder that is made.
    Make,
    /// A path that is removed.
    Delete,
    /// Changes something that is not a path.
    Change,
    /// Runs a program.
    Exec,
    /// A host or an address.
    Host,
    /// Text that a shell runs.
    Shell,
    /// A sed script.
    Sed,
    /// An awk program.
    Awk,
    /// A command: this operand and all that follow.
    Command,
    /// A command up to `;` or `+`.
    Until,
    /// `NAME=value` for the command that follows.
    Assign,
    /// The folder that later paths start from.
    Folder,
    /// The name of a shell variable that is set.
    Name,
    /// The name of a shell variable that becomes an array.
    Array,
    /// One of the words that the entry lists.
    Listed,
    /// Publishes.
    Push,
    /// `+…`, as `date` takes it; anything else changes something.
    Format,
    /// A name that is read, or `name=value`, which is changed.
    Setting,
    /// Shell text that this shell runs later, at any time.
    Action,
    /// A path that is read, or with a colon something on another machine.
    Remote,
    /// A path that is read; with a plus it is a command for the viewer.
    Viewed,
    /// Shell text, joined from this operand and all that follow.
    Joined,
    /// The same on another machine: its paths are not the ones here.
    Elsewhere,
    /// The first words of the command, which the operands complete.
    Split,
    /// Not known.
    Unknown,
}

/// Options with one role, in the form of the data: `-a --all -o= --output= --color~`.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(super) struct OptionTable<'a> {
    pub(super) role: Role,
    #[serde(borrow)]
    pub(super) options: Cow<'a, str>,
}

/// One operand, or all the rest.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(super) struct Operand {
    pub(super) role: Role,
    pub(super) repeated: bool,
}

/// What a command of the shell itself does to the shell.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(super) enum Builtin {
    /// Changes the working directory.
    ChangeFolder,
    /// Changes the working directory to one that the line does not show.
    LeaveFolder,
    /// Declares variables.
    Declare,
    /// Declares variables for every later program.
    Export,
    /// Runs its arguments as shell text.
    Evaluate,
    /// Evaluates its arguments as arithmetic.
    Arithmetic,
    /// Tests its arguments.
    Test,
    /// Sets options of the shell.
    Options,
}

/// Part of an entry that holds when one of some options was given.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(super) struct Mode<'a> {
    #[serde(borrow)]
    pub(super) when: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) options: Vec<OptionTable<'a>>,
    pub(super) operands: Vec<Operand>,
    pub(super) verdict: Verdict,
    #[serde(borrow)]
    pub(super) why: Cow<'a, str>,
}

/// What is known of one program or subcommand.
#[expect(
    clippy::struct_excessive_bools,
    reason = "an entry of the data: each is a field of its own there"
)]
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry<'a> {
    pub(super) style: Style,
    /// No option of it writes or runs anything.
    pub(super) any: bool,
    pub(super) verdict: Verdict,
    #[serde(borrow)]
    pub(super) why: Cow<'a, str>,
    /// No command may do this; what to do instead.
    #[serde(borrow)]
    pub(super) instead: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) options: Vec<OptionTable<'a>>,
    #[serde(borrow)]
    pub(super) uses: Vec<Cow<'a, str>>,
    pub(super) operands: Vec<Operand>,
    /// Options that take the place of the first operand.
    #[serde(borrow)]
    pub(super) supplied_by: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) modes: Vec<Mode<'a>>,
    /// Names and packed entries.
    #[serde(borrow)]
    pub(super) subcommands: Vec<(&'a str, &'a [u8])>,
    /// A word that is no subcommand is an operand.
    pub(super) fallback: bool,
    /// What the program does without a subcommand or operands.
    pub(super) bare: Verdict,
    /// Words that, as the only argument, make it print something about itself.
    #[serde(borrow)]
    pub(super) info: Cow<'a, str>,
    /// It writes or calls home even when it is only asked for its version.
    pub(super) talkative: bool,
    /// `-20` is an option.
    pub(super) digits: bool,
    /// Long options may be shortened, and all of them are listed.
    pub(super) abbreviate: bool,
    /// `-` as a path is a stream.
    pub(super) dash: bool,
    /// Options that make it work on whole trees; `always` where none is needed.
    #[serde(borrow)]
    pub(super) recursive: Cow<'a, str>,
    /// Options that put it on the catastrophic floor.
    #[serde(borrow)]
    pub(super) forced_by: Cow<'a, str>,
    /// Why it is catastrophic: always, or with one of `forced_by`.
    #[serde(borrow)]
    pub(super) catastrophic: Cow<'a, str>,
    /// Words that operands of role `listed` may be.
    #[serde(borrow)]
    pub(super) listed: Cow<'a, str>,
    pub(super) builtin: Option<Builtin>,
    /// A command that comes in place of a missing one.
    #[serde(borrow)]
    pub(super) default_command: Cow<'a, str>,
    /// Whether words from elsewhere are added to the command, and by which option in the middle.
    pub(super) appends: bool,
    #[serde(borrow)]
    pub(super) placeholder_options: Cow<'a, str>,
    /// Options that take the effect of those away again, so that words are appended after all.
    #[serde(borrow)]
    pub(super) appending_options: Cow<'a, str>,
    /// Words that end the command: what follows are its inputs, one for each time it is run, or
    /// files with such. Its words are shell text.
    #[serde(borrow)]
    pub(super) inputs: Cow<'a, str>,
    /// Without a script it runs what it gets on its standard input.
    pub(super) runs_input: bool,
    /// Options by which a search leaves most of what it meets alone.
    #[serde(borrow)]
    pub(super) narrowed_by: Cow<'a, str>,
    /// It is Tagout itself.
    pub(super) own: bool,
    /// Variables whose values, one behind the other, start the shell of its recipes. What it reads
    /// on its standard input are recipes too.
    #[serde(borrow)]
    pub(super) assembled: Cow<'a, str>,
    /// The language of code that it is given.
    pub(super) language: Language,
}

impl Knowledge {
    /// The knowledge that comes with the program. Parses the embedded files: keep the result.
    pub fn built_in() -> Result<Self, Vec<Problem>> {
        load::load(load::SOURCES)
    }

    /// The knowledge that comes with the program, as `stored` has it, or else from its files. It is
    /// fetched when the first command is looked at.
    pub fn later(stored: impl Fn() -> Option<Kept> + Send + Sync + 'static) -> Self {
        let fetched = move || {
            let stored = stored().filter(Kept::is_whole);
            stored.or_else(|| Some(Self::built_in().ok()?.kept().clone()))
        };
        Self {
            kept: OnceLock::new(),
            later: Some(Arc::new(fetched)),
        }
    }

    /// Whether it could be had. Without it nobody knows which commands start others and which are
    /// never to be run, so that none may be.
    pub fn is_there(&self) -> bool {
        self.kept().is_whole()
    }

    /// What is stored of it. Where it can't be fetched, no program is known, and none is SAFE.
    pub fn kept(&self) -> &Kept {
        self.kept.get_or_init(|| {
            let fetched = self.later.as_ref().and_then(|later| later());
            fetched.unwrap_or_default()
        })
    }

    /// Knowledge from other files: pairs of a file's name and its text.
    pub fn from_yaml(files: &[(&str, &str)]) -> Result<Self, Vec<Problem>> {
        load::load(files)
    }

    /// The names of all programs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kept()
            .names
            .iter()
            .filter_map(|name| std::str::from_utf8(name).ok())
    }

    /// Whether a configuration in the workspace can make a program start others, although it only
    /// reads: walls hold it then, and its own line does not tell.
    pub fn is_helped(&self, program: &str, text: &str) -> bool {
        let name = program.rsplit('/').next().unwrap_or(program);
        let mut words = text.split_ascii_whitespace();
        let asked = words.next().is_some() && words.all(|word| VERSION.contains(&word));
        self.lists()
            .helped
            .iter()
            .any(|known| match known.strip_suffix('!') {
                Some(known) => known == name && !asked,
                None => known == name,
            })
    }

    /// What is known of variables and of what programs print.
    pub(super) fn lists(&self) -> &Lists {
        static NONE: LazyLock<Lists> = LazyLock::new(Lists::default);
        self.kept().lists.get().unwrap_or_else(|| &NONE)
    }

    pub(super) fn entry(&self, name: &str) -> Option<Entry<'_>> {
        // Without the lists nobody could say what is harmless, so that no program is known.
        let kept = self.kept();
        kept.lists.get()?;
        let place = kept.places.get(kept.names.find(name)?)?;
        unpack(kept.entries.get(place)?)
    }

    pub(super) fn group(&self, name: &str) -> Vec<OptionTable<'_>> {
        let kept = self.kept();
        let found = kept.group_names.find(name);
        found
            .and_then(|at| kept.groups.get(at))
            .and_then(|bytes| postcard::from_bytes(bytes).ok())
            .unwrap_or_default()
    }
}

impl<'a> Entry<'a> {
    pub(super) fn subcommand(&self, name: &str) -> Option<Entry<'a>> {
        let found = self
            .subcommands
            .binary_search_by(|(known, _)| (*known).cmp(name))
            .ok()?;
        self.subcommands
            .get(found)
            .and_then(|(_, bytes)| unpack(bytes))
    }
}

fn unpack(bytes: &[u8]) -> Option<Entry<'_>> {
    postcard::from_bytes(bytes).ok()
}

/// Whether a name is in a list whose entries may end in `*`.
pub(super) fn listed(list: &[String], name: &str) -> bool {
    list.iter().any(|known| {
        known
            .strip_suffix('*')
            .map_or(known == name, |start| name.starts_with(start))
    })
}
