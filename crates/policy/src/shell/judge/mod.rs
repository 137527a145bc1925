//! One command held against the knowledge of its program.

mod builtin;
mod findings;
pub(super) mod floor;
mod options;
mod paths;
mod roles;
mod runs;

pub(super) use findings::Findings;

use super::arg::Arg;
use super::knowledge::{Entry, Mode, Operand, Role, Verdict};
use super::walk::{Input, State, Walker};
use super::{OwnCall, parse};
use options::Parsed;

/// Words that make any known program print something about itself and end.
const ABOUT_ITSELF: [&str; 2] = ["--version", "--help"];

impl Walker<'_> {
    /// Judges a command. Gives back the program's name.
    pub(super) fn judge(
        &mut self,
        args: &[Arg],
        state: &mut State,
        findings: &mut Findings,
    ) -> String {
        let Some((first, rest)) = args.split_first() else {
            return String::new();
        };
        let Some(word) = first.exact.as_deref() else {
            findings.exec("the program's name is known only when it runs");
            self.suspect(rest, state);
            return first.shown.clone();
        };
        let named = |list: &[String]| list.iter().any(|command| starts_with(args, command));
        if named(self.context.destructive) {
            findings.unknown("the policy calls this command destructive");
        }
        if named(self.context.read_only) {
            return word.to_owned();
        }
        let (name, trusted) = self.program(word);
        let Some(entry) = self.context.knowledge.entry(name) else {
            if state.functions.contains(word) {
                state.forget();
            } else {
                findings.unknown(format!("`{name}` is not a program that is known"));
                self.suspect(rest, state);
            }
            return name.to_owned();
        };
        if !trusted {
            findings.exec(&format!("`{word}` is not a program of the system"));
        }
        let folder = state.folder.clone();
        let moves = entry.builtin.is_some();
        let input = match &self.input {
            Some(Input::Text(text)) => Some(text.clone()),
            Some(Input::Hashes | Input::Under(_)) | None => None,
        };
        let outer = std::mem::replace(&mut self.language, entry.language);
        self.apply(&entry, rest, state, findings);
        if let Some(code) = input.filter(|_| findings.runs_code()) {
            self.code(&code, state, findings);
            if !entry.assembled.is_empty() {
                self.recipes(&code, state);
            }
        }
        self.language = outer;
        if !moves {
            state.folder = folder;
        }
        name.to_owned()
    }

    /// The name under which a program is known, and whether it is the system's.
    fn program<'b>(&self, word: &'b str) -> (&'b str, bool) {
        match word.rsplit_once('/') {
            None => (word, true),
            Some((_, name)) if self.context.own == Some(word) => (name, true),
            Some((folder, name)) => {
                let lists = self.context.knowledge.lists();
                let system = lists.folders.iter().any(|known| known == folder);
                let workspace = self.context.roots.workspace.as_str();
                let inside = !workspace.is_empty() && folder.starts_with(workspace);
                (name, system && !inside)
            }
        }
    }

    /// A command that another one runs.
    pub(super) fn nested(&mut self, args: &[Arg], state: &mut State) {
        let text = args
            .iter()
            .map(|arg| arg.shown.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let outer = std::mem::take(&mut self.troubles);
        let done = self.deeper(|walker| {
            let mut findings = Findings::default();
            let program = walker.judge(args, state, &mut findings);
            walker.finish(&text, &program, findings);
        });
        if done.is_none() {
            self.finish(&text, "", Findings::default());
        }
        self.troubles = outer;
    }

    /// Text that a shell runs.
    pub(super) fn script(&mut self, text: &str, state: &mut State, findings: &mut Findings) {
        self.splits_by(text);
        match parse::parse(text, self.depth) {
            Ok(list) => {
                if self.deeper(|walker| walker.list(&list, state)).is_none() {
                    findings.unknown("it is nested too deeply");
                }
            }
            Err(error) => findings.unknown(format!("a script in it can't be read: {error}")),
        }
    }

    fn apply(
        &mut self,
        entry: &Entry<'_>,
        args: &[Arg],
        state: &mut State,
        findings: &mut Findings,
    ) {
        if entry.own {
            let call = own_call(args);
            let tells = call.only_tells();
            self.own_calls.push(call);
            if tells {
                return;
            }
        }
        if let Some(builtin) = entry.builtin {
            return self.builtin(builtin, entry, args, state, findings);
        }
        let about_itself = |arg: &Arg| {
            arg.exact
                .as_deref()
                .is_some_and(|word| ABOUT_ITSELF.contains(&word) || has_word(&entry.info, word))
        };
        if !args.is_empty() && !entry.talkative && args.iter().all(about_itself) {
            return;
        }
        if !entry.catastrophic.is_empty() && entry.forced_by.is_empty() {
            findings.catastrophe(&entry.catastrophic);
        }
        if !entry.instead.is_empty() {
            findings.instead(&entry.instead);
        }
        findings.verdict(entry.verdict, &entry.why);
        let runs = |operand: &Operand| matches!(operand.role, Role::Command | Role::Elsewhere);
        if entry.verdict == Verdict::Exec && !entry.operands.iter().any(runs) {
            self.suspect(args, state);
            self.assembled(entry, args, state);
        }
        if entry.subcommands.is_empty() {
            let parsed = self.parse_options(entry, args, true, findings);
            return self.apply_parsed(entry, &parsed, state, findings);
        }
        self.apply_subcommand(entry, args, state, findings);
    }

    fn apply_subcommand(
        &mut self,
        entry: &Entry<'_>,
        args: &[Arg],
        state: &mut State,
        findings: &mut Findings,
    ) {
        // Read twice where a word may be an operand after all, since then options may follow it.
        let mut first = Findings::default();
        let parsed = self.parse_options(entry, args, false, &mut first);
        let inner = parsed
            .operands
            .first()
            .and_then(|verb| verb.exact.as_deref())
            .and_then(|verb| entry.subcommand(verb));
        if inner.is_none() && entry.fallback {
            let parsed = self.parse_options(entry, args, true, findings);
            return self.apply_parsed(entry, &parsed, state, findings);
        }
        findings.take(first);
        self.apply_options(entry, None, &parsed, state, findings);
        match (parsed.operands.split_first(), inner) {
            (None, _) => findings.verdict(entry.bare, &entry.why),
            (Some((_, rest)), Some(inner)) => self.apply(&inner, rest, state, findings),
            (Some((verb, _)), None) => {
                findings.unknown(format!(
                    "`{}` is not a subcommand that is known",
                    verb.shown
                ));
            }
        }
    }

    fn apply_parsed(
        &mut self,
        entry: &Entry<'_>,
        parsed: &Parsed,
        state: &mut State,
        findings: &mut Findings,
    ) {
        let mode = entry.modes.iter().find(|mode| {
            parsed
                .options
                .iter()
                .any(|found| has_word(&mode.when, &found.name))
        });
        if let Some(mode) = mode {
            findings.verdict(mode.verdict, &mode.why);
        }
        self.apply_options(entry, mode, parsed, state, findings);
        let operands = mode.map_or(&entry.operands, |mode| &mode.operands);
        let supplied = parsed
            .options
            .iter()
            .any(|found| has_word(&entry.supplied_by, &found.name));
        let operands = operands.get(usize::from(supplied)..).unwrap_or_default();
        if mode.is_none() && parsed.operands.is_empty() {
            findings.verdict(entry.bare, &entry.why);
        }
        if entry.runs_input && mode.is_none() {
            self.run_input(entry, parsed, state, findings);
        }
        self.apply_operands(entry, operands, parsed, state, findings);
    }

    fn apply_options(
        &mut self,
        entry: &Entry<'_>,
        mode: Option<&Mode<'_>>,
        parsed: &Parsed,
        state: &mut State,
        findings: &mut Findings,
    ) {
        let mut scripts: Vec<&Arg> = Vec::new();
        for found in &parsed.options {
            let role = mode
                .and_then(|mode| options::lookup(&mode.options, &found.name))
                .or_else(|| self.option_role(entry, &found.name))
                .map_or(Role::Ok, |(role, _)| role);
            if has_word(&entry.forced_by, &found.name) {
                findings.catastrophe(&entry.catastrophic);
            }
            match &found.value {
                Some(value) if role == Role::Split => {
                    self.run_split(value, &parsed.operands, state, findings);
                }
                Some(value) if role == Role::Sed => scripts.push(value),
                Some(value) => self.role(role, value, entry, state, findings),
                None => findings.flag(role, &found.name),
            }
            if role == Role::Until {
                let head = parsed.operands.first().and_then(|arg| {
                    let known = !arg.splits && !arg.head.is_empty();
                    known.then(|| arg.head.clone())
                });
                let mut words = found.rest.clone();
                if entry.appends && !words.iter().any(|word| word.shown.contains('{')) {
                    words.push(Arg::headed("./"));
                }
                let whole = self.searches_precious(parsed);
                let outer = std::mem::replace(&mut self.whole_tree, whole);
                self.until(&words, head.as_deref().unwrap_or("./"), state);
                self.whole_tree = outer;
            }
        }
        self.sed_scripts(&scripts, entry, state, findings);
    }

    fn apply_operands(
        &mut self,
        entry: &Entry<'_>,
        roles: &[Operand],
        parsed: &Parsed,
        state: &mut State,
        findings: &mut Findings,
    ) {
        let mut operands = parsed.operands.as_slice();
        let mut roles = roles;
        if let Some((first, rest)) = roles.split_first()
            && first.role == Role::Assign
        {
            roles = rest;
            while let Some((arg, rest)) = operands.split_first()
                && let Some((name, _)) = arg.head.split_once('=')
            {
                let value = arg.exact.as_deref().and_then(|text| text.split_once('='));
                let value = value.map_or(super::arg::Value::Unknown, |(_, value)| {
                    super::arg::Value::Known(value.to_owned())
                });
                self.check_environment(name, &value, findings);
                operands = rest;
            }
        }
        let recursive = parsed
            .options
            .iter()
            .any(|found| has_word(&entry.recursive, &found.name))
            || has_word(&entry.recursive, "always");
        if recursive && !entry.narrowed_by.is_empty() {
            self.floor_of_search(entry, parsed, state, findings);
        }
        let count = operands.len();
        let mut seen_command = false;
        for (index, arg) in operands.iter().enumerate() {
            let Some(role) = role_at(roles, index, count) else {
                findings.unknown(format!("an operand too many: `{}`", arg.shown));
                return;
            };
            if role == Role::Command {
                seen_command = true;
                let words = operands.get(index..).unwrap_or_default();
                self.run_command(entry, words, parsed, (state, findings));
                break;
            }
            if role == Role::Elsewhere {
                let words = operands.get(index..).unwrap_or_default();
                self.run_elsewhere(words, state);
                break;
            }
            if role == Role::Joined {
                let words = operands.get(index..).unwrap_or_default();
                let texts: Option<Vec<&str>> =
                    words.iter().map(|arg| arg.exact.as_deref()).collect();
                match texts {
                    Some(texts) => self.script(&texts.join(" "), &mut state.clone(), findings),
                    None => findings.exec("it runs text that is known only when it runs"),
                }
                break;
            }
            if (arg.splits || arg.many) && !uniform(roles, index, count) {
                findings.unknown(format!(
                    "it is not known how many words `{}` becomes",
                    arg.shown
                ));
            }
            if recursive || self.whole_tree && arg.exact.is_none() {
                self.floor_of_tree(role, arg, state, findings);
            }
            self.role(role, arg, entry, state, findings);
        }
        if !seen_command && !entry.default_command.is_empty() {
            let words: Vec<Arg> = entry.default_command.split(' ').map(Arg::of).collect();
            self.run_command(entry, &words, parsed, (state, findings));
        }
    }

    fn run_command(
        &mut self,
        entry: &Entry<'_>,
        words: &[Arg],
        parsed: &Parsed,
        (state, findings): (&mut State, &mut Findings),
    ) {
        if !entry.inputs.is_empty() {
            return self.run_on_inputs(entry, words, state, findings);
        }
        if let [option, text, ..] = words
            && matches!(option.exact.as_deref(), Some("-c" | "--command"))
        {
            return self.shell_text(text, state, findings);
        }
        let mut words = words.to_vec();
        if entry.appends {
            // The last of these options wins, and each may be it.
            let mut options = parsed.options.iter();
            let also_appends = options.any(|found| has_word(&entry.appending_options, &found.name));
            let mut marks = parsed
                .options
                .iter()
                .filter(|found| has_word(&entry.placeholder_options, &found.name))
                .map(|found| match &found.value {
                    // A mark that is not known may be anywhere.
                    Some(value) => value.exact.clone().unwrap_or_default(),
                    None => "{}".to_owned(),
                })
                .peekable();
            let appended = marks.peek().is_none() || also_appends;
            let added = self.added(entry, parsed);
            for mark in marks {
                for word in &mut words {
                    replace_mark(word, &mark, &added.head);
                }
            }
            if appended {
                words.push(added);
            }
        }
        self.nested(&words, state);
    }

    /// `-exec … ;`: the marks stand for paths that start as the search does.
    fn until(&mut self, words: &[Arg], start: &str, state: &mut State) {
        let mut words = words.to_vec();
        for word in &mut words {
            replace_mark(word, "{}", start);
        }
        let mut inside = state.clone();
        self.nested(&words, &mut inside);
    }
}

/// Puts unknown text in place of a mark.
fn replace_mark(word: &mut Arg, mark: &str, head: &str) {
    let Some((before, _)) = word.exact.as_deref().and_then(|text| text.split_once(mark)) else {
        return;
    };
    let known = format!("{before}{head}");
    *word = Arg::headed(&known);
}

/// The role of one operand among `count`.
fn role_at(roles: &[Operand], index: usize, count: usize) -> Option<Role> {
    let Some(repeated) = roles.iter().position(|operand| operand.repeated) else {
        return roles.get(index).map(|operand| operand.role);
    };
    let behind = roles.len() - repeated - 1;
    let from_end = count.saturating_sub(index);
    if index < repeated {
        roles.get(index).map(|operand| operand.role)
    } else if from_end <= behind {
        roles
            .get(roles.len() - from_end)
            .map(|operand| operand.role)
    } else {
        roles.get(repeated).map(|operand| operand.role)
    }
}

/// Whether this operand and all that may follow are only read.
fn uniform(roles: &[Operand], index: usize, count: usize) -> bool {
    let harmless = |operand: &Operand| matches!(operand.role, Role::Ok | Role::Read);
    let endless = roles.last().is_some_and(|operand| operand.repeated);
    let from = roles
        .get(index.min(roles.len().saturating_sub(1))..)
        .unwrap_or_default();
    if endless
        && from
            .iter()
            .all(|operand| operand.role == from.first().map_or(Role::Ok, |o| o.role))
    {
        return true;
    }
    // With a fixed role at the end, as for a destination, the words in between stay in between.
    from.iter().all(harmless) && endless
        || roles
            .iter()
            .position(|operand| operand.repeated)
            .is_some_and(|repeated| {
                let behind = roles.len() - repeated - 1;
                index >= repeated && count.saturating_sub(index) > behind
            })
}

/// Whether a list of words separated by blanks holds a word.
pub(super) fn has_word(list: &str, word: &str) -> bool {
    !list.is_empty() && list.split_ascii_whitespace().any(|known| known == word)
}

fn starts_with(args: &[Arg], command: &str) -> bool {
    let mut words = command.split_ascii_whitespace().peekable();
    words.peek().is_some()
        && words
            .enumerate()
            .all(|(index, word)| args.get(index).and_then(|arg| arg.exact.as_deref()) == Some(word))
}

/// Options of Tagout that may stand anywhere, each with a value that is no verb.
const PLACES: [&str; 2] = ["--workspace", "--state-dir"];

fn own_call(args: &[Arg]) -> OwnCall {
    let own = || {
        let is_own = |arg: &&Arg| arg.exact.as_deref() != Some("--");
        args.iter().take_while(is_own)
    };
    let option = |arg: &Arg| {
        let text = arg.exact.as_deref().filter(|text| text.starts_with('-'))?;
        Some(
            text.split_once('=')
                .map_or(text, |(name, _)| name)
                .to_owned(),
        )
    };
    let may_be_one =
        |arg: &Arg| !arg.word && (arg.splits || arg.head.is_empty() || arg.head.starts_with('-'));
    OwnCall {
        words: own_words(args),
        uncertain: args.iter().any(|arg| arg.exact.is_none()),
        options: own().filter_map(option).collect(),
        more_options: own().any(|arg| arg.exact.is_none() && may_be_one(arg)),
    }
}

/// The words that are no options, up to the first that is not known: behind it, no word is sure to
/// be where it seems.
fn own_words(args: &[Arg]) -> Vec<String> {
    let mut words = Vec::new();
    let mut args = args.iter();
    while let Some(text) = args.next().and_then(|arg| arg.exact.as_deref()) {
        if PLACES.contains(&text) {
            args.next();
        } else if !text.starts_with('-') {
            words.push(text.to_owned());
        }
    }
    words
}
