//! Reads the data files, and holds each entry to its own examples.

use std::borrow::Cow;

use super::check::{Example, check};
use super::{
    Builtin, Entry, Kept, Knowledge, Lists, Mode, Operand, OptionTable, Role, Style, Verdict,
};
use crate::packed::{Numbers, Packed, Runs};
use crate::problem::{Problem, Problems};
use crate::shell::script::code::Language;
use crate::yaml::{self, Fields, Node};

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$((
            concat!("programs/", $name),
            include_str!(concat!("../../../data/programs/", $name)),
        )),*]
    };
}

/// The files that come with the program.
pub(super) const SOURCES: &[(&str, &str)] = sources![
    "archives.yaml",
    "builds.yaml",
    "catastrophes.yaml",
    "coreutils-read.yaml",
    "coreutils-write.yaml",
    "git.yaml",
    "languages.yaml",
    "network.yaml",
    "own.yaml",
    "search.yaml",
    "shell.yaml",
    "system.yaml",
    "text.yaml",
    "variables.yaml",
    "wrappers.yaml",
];

const ROLES: &[(&str, Role)] = &[
    ("ok", Role::Ok),
    ("read", Role::Read),
    ("write", Role::Write),
    ("make", Role::Make),
    ("delete", Role::Delete),
    ("change", Role::Change),
    ("exec", Role::Exec),
    ("host", Role::Host),
    ("shell", Role::Shell),
    ("sed", Role::Sed),
    ("awk", Role::Awk),
    ("command", Role::Command),
    ("until", Role::Until),
    ("assign", Role::Assign),
    ("folder", Role::Folder),
    ("name", Role::Name),
    ("array", Role::Array),
    ("listed", Role::Listed),
    ("push", Role::Push),
    ("format", Role::Format),
    ("setting", Role::Setting),
    ("joined", Role::Joined),
    ("elsewhere", Role::Elsewhere),
    ("split", Role::Split),
    ("action", Role::Action),
    ("remote", Role::Remote),
    ("viewed", Role::Viewed),
    ("unknown", Role::Unknown),
];

const STYLES: &[(&str, Style)] = &[
    ("gnu", Style::Gnu),
    ("posix", Style::Posix),
    ("exact", Style::Exact),
    ("leading", Style::Leading),
    ("keyed", Style::Keyed),
    ("bundled", Style::Bundled),
];

const VERDICTS: &[(&str, Verdict)] = &[
    ("arguments", Verdict::Arguments),
    ("change", Verdict::Change),
    ("exec", Verdict::Exec),
    ("network", Verdict::Network),
    ("unknown", Verdict::Unknown),
];

const BUILTINS: &[(&str, Builtin)] = &[
    ("change-folder", Builtin::ChangeFolder),
    ("leave-folder", Builtin::LeaveFolder),
    ("declare", Builtin::Declare),
    ("export", Builtin::Export),
    ("evaluate", Builtin::Evaluate),
    ("arithmetic", Builtin::Arithmetic),
    ("test", Builtin::Test),
    ("options", Builtin::Options),
];

const LANGUAGES: &[(&str, Language)] = &[
    ("any", Language::Any),
    ("hash", Language::Hash),
    ("slash", Language::Slash),
    ("perl", Language::Perl),
    ("ruby", Language::Ruby),
    ("php", Language::Php),
    ("lua", Language::Lua),
];

const ENTRY_FIELDS: &[&str] = &[
    "names",
    "style",
    "any",
    "verdict",
    "why",
    "instead",
    "options",
    "uses",
    "operands",
    "supplied-by",
    "modes",
    "subcommands",
    "fallback",
    "bare",
    "info",
    "talkative",
    "digits",
    "abbreviate",
    "dash",
    "recursive",
    "forced-by",
    "catastrophic",
    "listed",
    "builtin",
    "default-command",
    "appends",
    "placeholder-options",
    "appending-options",
    "inputs",
    "runs-input",
    "narrowed-by",
    "own",
    "assembled",
    "language",
    "safe",
    "unsafe",
];

const LIST_FIELDS: &[&str] = &[
    "folders",
    "harmless",
    "harmless-values",
    "influential",
    "numbers",
    "absolute",
    "prints-number",
    "prints-numbers",
    "prints-path",
    "prints-word",
    "prints-words",
    "passes-lines",
    "passes-names",
    "prints-arguments",
    "searches",
    "ends-names",
    "prints-otherwise",
    "sinks",
    "devices",
    "precious",
    "helped",
    "removes-trees",
    "same-path",
    "runs-programs",
    "runs-code",
    "same-function",
    "home-folders",
];

/// Knowledge while it is gathered.
#[derive(Debug, Default)]
struct Gathered {
    names: Vec<(String, usize)>,
    entries: Vec<Vec<u8>>,
    groups: Vec<(String, Vec<u8>)>,
    lists: Lists,
}

impl Gathered {
    fn pack(mut self) -> Knowledge {
        self.names.sort();
        self.groups.sort_by(|a, b| a.0.cmp(&b.0));
        let kept = Kept {
            names: Runs::of(self.names.iter().map(|(name, _)| name.as_bytes())),
            places: Numbers::of(self.names.iter().map(|(_, place)| *place)),
            entries: Runs::of(self.entries.iter().map(Vec::as_slice)),
            group_names: Runs::of(self.groups.iter().map(|(name, _)| name.as_bytes())),
            groups: Runs::of(self.groups.iter().map(|(_, bytes)| bytes.as_slice())),
            lists: Packed::of(&self.lists),
        };
        kept.into()
    }
}

/// Loads files and checks every example in them.
pub(super) fn load(files: &[(&str, &str)]) -> Result<Knowledge, Vec<Problem>> {
    let mut gathered = Gathered::default();
    let mut examples = Vec::new();
    for (file, text) in files {
        let root = yaml::parse(file, text).map_err(|problem| vec![problem])?;
        let mut problems = Problems::new(file);
        if let Some(root) = root {
            let mut reader = Reader {
                file,
                problems: &mut problems,
                examples: &mut examples,
            };
            reader.file(&root, &mut gathered);
        }
        problems.finish(())?;
    }
    let knowledge = gathered.pack();
    let wrong = check(&knowledge, &examples);
    if wrong.is_empty() {
        Ok(knowledge)
    } else {
        Err(wrong)
    }
}

struct Reader<'a> {
    file: &'a str,
    problems: &'a mut Problems,
    examples: &'a mut Vec<Example>,
}

impl Reader<'_> {
    fn file(&mut self, root: &Node, gathered: &mut Gathered) {
        let known = ["programs", "groups", "lists"];
        let Some(fields) = Fields::of(root, "a file of programs", &known, self.problems) else {
            return;
        };
        for (name, tables) in fields
            .get("groups")
            .and_then(Node::as_map)
            .unwrap_or_default()
        {
            let packed = postcard::to_allocvec(&self.tables(tables)).unwrap_or_default();
            let name = name.as_text().unwrap_or_default().to_owned();
            gathered.groups.push((name, packed));
        }
        if let Some(lists) = fields.get("lists") {
            self.lists(lists, &mut gathered.lists);
        }
        for node in fields
            .get("programs")
            .and_then(Node::as_list)
            .unwrap_or_default()
        {
            let Some((names, bytes)) = self.entry(node) else {
                continue;
            };
            let place = gathered.entries.len();
            gathered.entries.push(bytes);
            for name in names {
                if gathered.names.iter().any(|(known, _)| *known == name) {
                    let message = format!("the program `{name}` is described twice");
                    self.problems.add(node.at(), message);
                }
                gathered.names.push((name, place));
            }
        }
    }

    fn lists(&mut self, node: &Node, lists: &mut Lists) {
        let Some(fields) = Fields::of(node, "the lists", LIST_FIELDS, self.problems) else {
            return;
        };
        let words =
            |name: &str| -> Vec<String> { fields.get(name).map(strings).unwrap_or_default() };
        *lists = Lists {
            folders: words("folders"),
            harmless: words("harmless"),
            harmless_values: words("harmless-values"),
            influential: words("influential"),
            numbers: words("numbers"),
            absolute: words("absolute"),
            prints_number: words("prints-number"),
            prints_numbers: words("prints-numbers"),
            prints_path: words("prints-path"),
            prints_word: words("prints-word"),
            prints_words: words("prints-words"),
            passes_lines: words("passes-lines"),
            passes_names: words("passes-names"),
            prints_arguments: words("prints-arguments"),
            searches: words("searches"),
            ends_names: words("ends-names"),
            prints_otherwise: words("prints-otherwise"),
            sinks: words("sinks"),
            devices: words("devices"),
            precious: words("precious"),
            helped: words("helped"),
            removes_trees: words("removes-trees"),
            same_path: words("same-path"),
            runs_programs: words("runs-programs"),
            runs_code: words("runs-code"),
            same_function: words("same-function"),
            home_folders: words("home-folders"),
        };
    }

    fn entry(&mut self, node: &Node) -> Option<(Vec<String>, Vec<u8>)> {
        let fields = Fields::of(node, "an entry", ENTRY_FIELDS, self.problems)?;
        let names = strings(fields.get("names")?);
        for (key, safe) in [("safe", true), ("unsafe", false)] {
            for line in fields.get(key).and_then(Node::as_list).unwrap_or_default() {
                self.examples.push(Example {
                    file: self.file.to_owned(),
                    at: line.at(),
                    line: line.as_text().unwrap_or_default().to_owned(),
                    safe,
                });
            }
        }
        let mut subcommands: Vec<(String, Vec<u8>)> = Vec::new();
        for node in fields
            .get("subcommands")
            .and_then(Node::as_list)
            .unwrap_or_default()
        {
            if let Some((names, bytes)) = self.entry(node) {
                subcommands.extend(names.into_iter().map(|name| (name, bytes.clone())));
            }
        }
        subcommands.sort();
        let mut entry = self.body(&fields);
        entry.subcommands = subcommands
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
            .collect();
        match postcard::to_allocvec(&entry) {
            Ok(bytes) => Some((names, bytes)),
            Err(error) => {
                let message = format!("the entry can't be packed: {error}");
                self.problems.add(node.at(), message);
                None
            }
        }
    }

    fn body<'n>(&mut self, fields: &Fields<'n>) -> Entry<'n> {
        let text = |name: &str| -> Cow<'n, str> {
            Cow::Borrowed(fields.get(name).and_then(Node::as_text).unwrap_or_default())
        };
        let flag = |name: &str| fields.get(name).and_then(Node::as_bool).unwrap_or(false);
        Entry {
            style: fields
                .word("style", STYLES, self.problems)
                .unwrap_or_default(),
            any: flag("any"),
            verdict: fields
                .word("verdict", VERDICTS, self.problems)
                .unwrap_or_default(),
            why: text("why"),
            instead: text("instead"),
            options: fields
                .get("options")
                .map(|node| self.tables(node))
                .unwrap_or_default(),
            uses: fields.get("uses").map(words).unwrap_or_default(),
            operands: fields
                .get("operands")
                .map(|node| self.operands(node))
                .unwrap_or_default(),
            supplied_by: text("supplied-by"),
            modes: self.modes(fields),
            subcommands: Vec::new(),
            fallback: flag("fallback"),
            bare: fields
                .word("bare", VERDICTS, self.problems)
                .unwrap_or_default(),
            info: text("info"),
            talkative: flag("talkative"),
            digits: flag("digits"),
            abbreviate: flag("abbreviate"),
            dash: flag("dash"),
            recursive: text("recursive"),
            forced_by: text("forced-by"),
            catastrophic: text("catastrophic"),
            listed: text("listed"),
            builtin: fields.word("builtin", BUILTINS, self.problems),
            default_command: text("default-command"),
            appends: flag("appends"),
            placeholder_options: text("placeholder-options"),
            appending_options: text("appending-options"),
            inputs: text("inputs"),
            runs_input: flag("runs-input"),
            narrowed_by: text("narrowed-by"),
            own: flag("own"),
            assembled: text("assembled"),
            language: fields
                .word("language", LANGUAGES, self.problems)
                .unwrap_or_default(),
        }
    }

    fn modes<'n>(&mut self, fields: &Fields<'n>) -> Vec<Mode<'n>> {
        let known = ["when", "options", "operands", "verdict", "why"];
        let mut modes = Vec::new();
        for node in fields
            .get("modes")
            .and_then(Node::as_list)
            .unwrap_or_default()
        {
            let Some(fields) = Fields::of(node, "a mode", &known, self.problems) else {
                continue;
            };
            let text = |name: &str| -> Cow<'n, str> {
                Cow::Borrowed(fields.get(name).and_then(Node::as_text).unwrap_or_default())
            };
            modes.push(Mode {
                when: text("when"),
                options: fields
                    .get("options")
                    .map(|n| self.tables(n))
                    .unwrap_or_default(),
                operands: fields
                    .get("operands")
                    .map(|n| self.operands(n))
                    .unwrap_or_default(),
                verdict: fields
                    .word("verdict", VERDICTS, self.problems)
                    .unwrap_or_default(),
                why: text("why"),
            });
        }
        modes
    }

    fn tables<'n>(&mut self, node: &'n Node) -> Vec<OptionTable<'n>> {
        let mut tables = Vec::new();
        for (key, value) in node.as_map().unwrap_or_default() {
            let Some(role) = self.role(key, key.as_text().unwrap_or_default()) else {
                continue;
            };
            tables.push(OptionTable {
                role,
                options: Cow::Borrowed(value.as_text().unwrap_or_default()),
            });
        }
        tables
    }

    fn operands(&mut self, node: &Node) -> Vec<Operand> {
        strings(node)
            .iter()
            .filter_map(|word| {
                let name = word.strip_suffix('*').unwrap_or(word);
                let role = self.role(node, name)?;
                let repeated = word.ends_with('*');
                Some(Operand { role, repeated })
            })
            .collect()
    }

    fn role(&mut self, node: &Node, name: &str) -> Option<Role> {
        let found = ROLES
            .iter()
            .find(|(word, _)| *word == name)
            .map(|(_, role)| *role);
        if found.is_none() {
            self.problems
                .add(node.at(), format!("there is no role `{name}`"));
        }
        found
    }
}

/// Words of a text.
fn words(node: &Node) -> Vec<Cow<'_, str>> {
    let text = node.as_text().unwrap_or_default();
    text.split_ascii_whitespace().map(Cow::Borrowed).collect()
}

/// Words of a text, or the items of a list.
fn strings(node: &Node) -> Vec<String> {
    match node.as_list() {
        Some(items) => items
            .iter()
            .filter_map(|item| item.as_text().map(str::to_owned))
            .collect(),
        None => node
            .as_text()
            .unwrap_or_default()
            .split_ascii_whitespace()
            .map(str::to_owned)
            .collect(),
    }
}
