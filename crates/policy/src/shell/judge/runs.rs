//! Commands that other programs run: in their words, in their texts, on their inputs.

use super::options::Parsed;
use super::{Findings, floor, has_word, options};
use crate::shell::arg::Arg;
use crate::shell::knowledge::{Entry, Role};
use crate::shell::script::code::{self, Does};
use crate::shell::walk::{Input, State, Walker};

/// More words than these are not tried as the start of a command.
const SUSPECTS_MAX: usize = 6;

/// Words in words that may be a command are looked at this often.
const SUSPICION_DEPTH_MAX: u8 = 2;

/// Lines of recipes that are looked at.
const RECIPE_LINES_MAX: usize = 64;

/// Options behind which a name is a package or a target, and no program.
const NAMING: [&str; 7] = [
    "-p",
    "--package",
    "--bin",
    "--test",
    "--example",
    "-F",
    "--filter",
];

impl Walker<'_> {
    /// What a program that adds words to a command gets to add.
    pub(super) fn added(&mut self, entry: &Entry<'_>, parsed: &Parsed) -> Arg {
        let input = self.input.take();
        let given = |names: &[&str]| {
            let mut options = parsed.options.iter();
            options.any(|found| names.contains(&found.name.as_str()))
        };
        let from_file = parsed.options.iter().any(|found| {
            self.option_role(entry, &found.name)
                .is_some_and(|(role, _)| role == Role::Read)
        });
        if from_file || given(&["-d", "--delimiter"]) {
            return Arg::anything();
        }
        match input {
            Some(Input::Hashes) => Arg::words(),
            Some(Input::Under(head)) if given(&["-0", "--null"]) => Arg::many_headed(&head),
            Some(Input::Under(_) | Input::Text(_)) | None => Arg::anything(),
        }
    }

    /// `parallel`: the words are shell text, and each input completes it.
    pub(super) fn run_on_inputs(
        &mut self,
        entry: &Entry<'_>,
        words: &[Arg],
        state: &mut State,
        findings: &mut Findings,
    ) {
        let ends = |arg: &Arg| {
            let text = arg.exact.as_deref();
            text.is_some_and(|text| has_word(&entry.inputs, text))
        };
        let end = words.iter().position(ends).unwrap_or(words.len());
        let (words, rest) = words.split_at_checked(end).unwrap_or((words, &[]));
        // Behind another mark are further inputs; a mark with four colons names files of them.
        let named = rest
            .first()
            .is_some_and(|mark| !mark.shown.starts_with("::::"));
        let single = rest.iter().filter(|arg| ends(arg)).count() == 1;
        let known = |arg: &Arg| arg.exact.as_deref().map(quoted);
        let mut inputs: Vec<String> = Vec::new();
        if named && single {
            let given = rest.iter().skip(1);
            inputs = given
                .map(|arg| known(arg).unwrap_or_else(unknown))
                .collect();
        }
        if inputs.is_empty() || inputs.len() > SUSPECTS_MAX {
            inputs.push(unknown());
        }
        let texts: Option<Vec<&str>> = words.iter().map(|arg| arg.exact.as_deref()).collect();
        let Some(texts) = texts else {
            findings.exec("it runs text that is known only when it runs");
            let mut words = words.to_vec();
            words.extend(rest.iter().filter(|arg| !ends(arg)).cloned());
            return self.nested(&words, state);
        };
        let template = texts.join(" ");
        for input in inputs {
            let text = if template.is_empty() {
                // Without a command the inputs are commands.
                let arg = rest
                    .iter()
                    .skip(1)
                    .find(|arg| known(arg).as_ref() == Some(&input));
                arg.map(|arg| arg.shown.clone()).unwrap_or_default()
            } else if template.contains("{}") {
                template.replace("{}", &input)
            } else {
                format!("{template} {input}")
            };
            self.script(&text, &mut state.clone(), findings);
        }
    }

    /// `env -S`: a text whose words the operands complete.
    pub(super) fn run_split(
        &mut self,
        value: &Arg,
        operands: &[Arg],
        state: &mut State,
        findings: &mut Findings,
    ) {
        findings.exec("it runs a command out of a text");
        let Some(text) = value.exact.as_deref() else {
            return self.suspect(operands, state);
        };
        let mut line = format!("env {text}");
        for arg in operands {
            line.push(' ');
            line.push_str(&arg.exact.as_deref().map_or_else(unknown, quoted));
        }
        self.script(&line, &mut state.clone(), findings);
    }

    /// What a shell without a script is given to run.
    pub(super) fn run_input(
        &mut self,
        entry: &Entry<'_>,
        parsed: &Parsed,
        state: &mut State,
        findings: &mut Findings,
    ) {
        let waits = parsed.operands.is_empty()
            || entry
                .operands
                .iter()
                .all(|operand| operand.role != Role::Exec);
        if waits && let Some(Input::Text(text)) = self.input.take() {
            self.script(&text, &mut state.clone(), findings);
        }
    }

    /// A command on another machine: of what it does only that counts which no rule may allow.
    pub(super) fn run_elsewhere(&mut self, words: &[Arg], state: &State) {
        let texts: Option<Vec<&str>> = words.iter().map(|arg| arg.exact.as_deref()).collect();
        match texts {
            Some(texts) => {
                let text = texts.join(" ");
                self.only_floor(|walker| {
                    walker.script(&text, &mut state.clone(), &mut Findings::default());
                });
            }
            None => self.suspect(words, state),
        }
    }

    /// Words of a program that is not known, or runs whatever it is told: each may be the start of
    /// a command. Only what no rule may allow is taken from such a guess.
    pub(super) fn suspect(&mut self, words: &[Arg], state: &State) {
        if self.suspecting >= SUSPICION_DEPTH_MAX {
            return;
        }
        let mut tried = 0;
        let mut before = "";
        for (index, arg) in words.iter().enumerate() {
            let Some(text) = arg.exact.as_deref() else {
                before = "";
                continue;
            };
            let rest = words.get(index..).unwrap_or_default();
            let is_text = text.contains([' ', '\n', ';', '(']);
            let name = unversioned(text);
            let is_command = !NAMING.contains(&before) && self.may_start(name, rest.get(1));
            before = text;
            if !is_text && !is_command {
                continue;
            }
            tried += 1;
            if tried > SUSPECTS_MAX {
                break;
            }
            let mut rest = rest.to_vec();
            if let Some(first) = rest.first_mut() {
                *first = Arg::of(name);
            }
            let text = text.to_owned();
            self.only_floor(|walker| {
                let mut state = state.clone();
                if is_text {
                    walker.suspect_text(&text, &mut state);
                } else {
                    walker.nested(&rest, &mut state);
                }
            });
        }
    }

    /// A text that may be for a shell, the value of a variable or an option that is, or code.
    fn suspect_text(&mut self, text: &str, state: &mut State) {
        self.script(text, &mut state.clone(), &mut Findings::default());
        if let Some((_, value)) = assignment(text) {
            self.script(value, &mut state.clone(), &mut Findings::default());
        }
        let mut findings = Findings::default();
        self.code(text, state, &mut findings);
        self.finish(text, "", findings);
    }

    /// Code for an interpreter: of what it would do only that counts which no rule may
    /// allow.
    pub(super) fn code(&mut self, text: &str, state: &State, findings: &mut Findings) {
        let lists = self.context.knowledge.lists();
        let names = code::Names {
            removes: &lists.removes_trees,
            same: &lists.same_path,
            runs: &lists.runs_programs,
            evaluates: &lists.runs_code,
            again: &lists.same_function,
            homes: &lists.home_folders,
        };
        for does in code::read(text, self.language, names) {
            match does {
                Does::Removes(path) => {
                    self.floor_of_tree(Role::Delete, &Arg::of(&path), state, findings);
                }
                Does::Runs(text) => self.only_floor(|walker| {
                    walker.script(&text, &mut state.clone(), &mut Findings::default());
                }),
                Does::Starts(words) => self.only_floor(|walker| {
                    let words: Vec<Arg> = words.iter().map(|word| Arg::of(word)).collect();
                    walker.nested(&words, &mut state.clone());
                }),
            }
        }
    }

    /// The shell that variables among the words put together for the recipes.
    pub(super) fn assembled(&mut self, entry: &Entry<'_>, words: &[Arg], state: &State) {
        let given = |name: &str| {
            let mut words = words.iter().filter_map(|word| word.exact.as_deref());
            words.find_map(|word| assignment(word).filter(|(known, _)| *known == name))
        };
        let names = entry.assembled.split_ascii_whitespace();
        let values: Vec<&str> = names.filter_map(given).map(|(_, value)| value).collect();
        if !values.is_empty() {
            let text = values.join(" ");
            self.only_floor(|walker| {
                walker.script(&text, &mut state.clone(), &mut Findings::default());
            });
        }
    }

    /// Recipes, line by line.
    pub(super) fn recipes(&mut self, text: &str, state: &State) {
        // What was printed into it has its ends of lines still written out.
        let text = text.replace("\\n", "\n").replace("\\t", "\t");
        for line in text.lines().take(RECIPE_LINES_MAX) {
            let behind = line.split_once(';').map(|(_, behind)| behind);
            for recipe in [Some(line), behind].into_iter().flatten() {
                let recipe = recipe.trim_start().trim_start_matches(['@', '-', '+', ' ']);
                self.only_floor(|walker| {
                    walker.script(recipe, &mut state.clone(), &mut Findings::default());
                });
            }
        }
    }

    /// Whether a word is a program whose name is no everyday word.
    fn may_start(&self, text: &str, next: Option<&Arg>) -> bool {
        let name = text.rsplit('/').next().unwrap_or(text);
        let Some(entry) = self.context.knowledge.entry(name) else {
            return false;
        };
        let always = !entry.catastrophic.is_empty() && entry.forced_by.is_empty();
        !always || next.is_some_and(|next| next.head.starts_with("/dev/"))
    }

    /// Walks, and keeps of what is found only what no rule may allow.
    fn only_floor(&mut self, work: impl FnOnce(&mut Self)) {
        let outer = self.suspecting;
        self.suspecting = outer.saturating_add(1);
        let (parts, effects) = (self.parts.len(), self.effects.len());
        let (network, logged) = (self.network, self.log.len());
        let troubles = std::mem::take(&mut self.troubles);
        let input = self.input.take();
        work(self);
        self.parts.truncate(parts);
        self.effects.truncate(effects);
        self.log.truncate(logged);
        self.network = network;
        self.troubles = troubles;
        self.input = input;
        self.suspecting = outer;
    }

    /// Scripts that are given in several options are one, line by line.
    pub(super) fn sed_scripts(
        &mut self,
        scripts: &[&Arg],
        entry: &Entry<'_>,
        state: &mut State,
        findings: &mut Findings,
    ) {
        let mut scripts = scripts.iter().peekable();
        while let Some(script) = scripts.next() {
            let text = script.text().unwrap_or_default();
            // `a\`, `i\` and `c\` take the next script as their text. Of other ends nobody knows.
            let opens = text
                .strip_suffix("a\\")
                .or_else(|| text.strip_suffix("i\\"))
                .or_else(|| text.strip_suffix("c\\"))
                .is_some_and(|lines| {
                    lines
                        .chars()
                        .all(|c| c.is_ascii_digit() || "$,!".contains(c))
                });
            match scripts.peek() {
                Some(next) if opens => {
                    let lines = next.text().is_some_and(|next| !next.contains(['\n', '\\']));
                    if !lines {
                        findings.unknown("a script in it goes on in the next one");
                    }
                    scripts.next();
                }
                Some(_) if text.ends_with('\\') => {
                    findings.unknown("a script in it goes on in the next one");
                }
                Some(_) | None => {}
            }
            self.role(Role::Sed, script, entry, state, findings);
        }
    }

    /// Whether a search starts at a folder that must stay.
    pub(super) fn searches_precious(&self, parsed: &Parsed) -> bool {
        let precious = &self.context.knowledge.lists().precious;
        parsed
            .operands
            .iter()
            .any(|arg| floor::precious(arg, precious))
    }

    /// A search that removes what it meets.
    pub(super) fn floor_of_search(
        &self,
        entry: &Entry<'_>,
        parsed: &Parsed,
        state: &State,
        findings: &mut Findings,
    ) {
        let narrowed = |found: &options::Found| has_word(&entry.narrowed_by, &found.name);
        if self.searches_precious(parsed) {
            findings.catastrophe("it removes what lies under a folder that must stay");
        }
        if parsed.options.iter().any(narrowed) {
            return;
        }
        let here = [Arg::of(".")];
        let places = if parsed.operands.is_empty() {
            here.as_slice()
        } else {
            parsed.operands.as_slice()
        };
        for place in places {
            self.floor_of_tree(Role::Delete, place, state, findings);
        }
    }
}

/// A package's name without the version that is asked for.
fn unversioned(word: &str) -> &str {
    match word.rsplit_once('@') {
        Some((name, _)) if !name.is_empty() && !name.contains([':', ' ']) => name,
        Some(_) | None => word,
    }
}

/// The name and the value of `NAME=value` or `--name=value`.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let value = value.strip_prefix('=').unwrap_or(value);
    let name = name.trim_end_matches([':', '+', '?', '!']);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (!name.is_empty() && name.chars().all(plain)).then_some((name, value))
}

/// A word as a shell reads it back.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A word that is not known.
fn unknown() -> String {
    "\"$1\"".to_owned()
}
