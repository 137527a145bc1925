//! Walks a parsed line as a shell would run it, and gathers what each command does.

mod arithmetic;
mod flow;
mod input;
mod redirect;
mod state;
mod words;

pub(super) use input::Input;
pub(super) use state::State;

use tagout_vocab::limits::{COMMAND_DEPTH_MAX, COMMAND_PARTS_MAX, COMMAND_STEPS_MAX};
use tagout_vocab::{Class, Effect};

use std::collections::BTreeSet;

use super::arg::{Arg, Value};
use super::ast::{AndOr, Assign, AssignValue, Command, Join, Kind, List, Piece, Pipeline, Word};
use super::judge::Findings;
use super::knowledge::listed;
use super::script::code::Language;
use super::{Analysis, Judgement, OwnCall, Part, ShellContext};

/// What has been found so far.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is something that was found, or a way of looking"
)]
pub(super) struct Walker<'a> {
    pub(super) context: &'a ShellContext<'a>,
    pub(super) parts: Vec<Part>,
    pub(super) effects: Vec<Effect>,
    pub(super) catastrophic: Option<String>,
    pub(super) own_calls: Vec<OwnCall>,
    pub(super) push: bool,
    pub(super) network: bool,
    pub(super) depth: usize,
    /// What is wrong with expansions of the command that is being read.
    pub(super) troubles: Vec<String>,
    /// Variables that were set, in order, and whether to a number.
    pub(super) log: Vec<(String, bool)>,
    /// Variables that are arrays at some time, and such that are declared with unknown text: in a
    /// name that is both, the text is expanded once more.
    arrays: BTreeSet<String>,
    declared: BTreeSet<String>,
    descriptors: redirect::Descriptors,
    /// Whether the line may change at what words are split.
    splitting: bool,
    /// What the command that is being read gets on its standard input, where that is known.
    pub(super) input: Option<Input>,
    /// Whether what a search finds is all of a folder that must stay.
    pub(super) whole_tree: bool,
    /// How deep one is in words that may be a command and may be none.
    pub(super) suspecting: u8,
    /// The language of code that the command which is being read is given.
    pub(super) language: Language,
    steps: usize,
}

impl<'a> Walker<'a> {
    pub(super) fn new(context: &'a ShellContext<'a>) -> Self {
        Self {
            context,
            parts: Vec::new(),
            effects: Vec::new(),
            catastrophic: None,
            own_calls: Vec::new(),
            push: false,
            network: false,
            depth: 0,
            troubles: Vec::new(),
            log: Vec::new(),
            arrays: BTreeSet::new(),
            declared: BTreeSet::new(),
            descriptors: redirect::Descriptors::default(),
            splitting: false,
            input: None,
            whole_tree: false,
            suspecting: 0,
            language: Language::Any,
            steps: 0,
        }
    }

    /// Walks the whole line.
    pub(super) fn run(mut self, line: &str, list: &List) -> Analysis {
        let mut state = State::default();
        self.splits_by(line);
        self.list(list, &mut state);
        let mut safe = self
            .parts
            .iter()
            .all(|part| part.judgement == Judgement::ReadOnly);
        if self.spent() || self.parts.len() >= COMMAND_PARTS_MAX {
            safe = false;
            self.effects.push(Effect::Run {
                command: line.to_owned(),
            });
            self.parts.push(Part {
                text: String::new(),
                program: String::new(),
                judgement: Judgement::Unknown("the line is too involved".to_owned()),
                why: "the line is too involved to be followed".to_owned(),
                instead: None,
            });
        }
        self.effects.sort();
        self.effects.dedup();
        Analysis {
            class: if safe {
                Class::Safe
            } else {
                Class::Destructive
            },
            effects: self.effects,
            parts: self.parts,
            catastrophic: self.catastrophic,
            own_calls: self.own_calls,
            network: self.network,
            push: self.push,
        }
    }

    /// Looks into a text before it is walked: functions are read before they are called.
    pub(super) fn splits_by(&mut self, text: &str) {
        self.splitting |= text.contains("IFS");
    }

    /// A variable is an array.
    pub(super) fn array(&mut self, name: &str) {
        if self.declared.contains(name) {
            self.troubles.push(expanded_again(name));
        }
        self.arrays.insert(name.to_owned());
    }

    pub(super) fn is_array(&self, name: &str) -> bool {
        self.arrays.contains(name)
    }

    /// A variable is declared with text that is not known, or that looks like an array.
    pub(super) fn declared_with_text(&mut self, name: &str) {
        if self.arrays.contains(name) {
            self.troubles.push(expanded_again(name));
        }
        self.declared.insert(name.to_owned());
    }

    fn spent(&self) -> bool {
        self.steps >= COMMAND_STEPS_MAX
    }

    /// Goes one level deeper, if there is one left.
    pub(super) fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= COMMAND_DEPTH_MAX {
            self.troubles.push("it is nested too deeply".to_owned());
            return None;
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        Some(done)
    }

    pub(super) fn list(&mut self, list: &List, state: &mut State) {
        for item in &list.items {
            if item.background {
                self.and_or(item, &mut state.clone());
            } else {
                self.and_or(item, state);
            }
        }
    }

    fn and_or(&mut self, item: &AndOr, state: &mut State) {
        if item.rest.is_empty() {
            return self.pipeline(&item.first, state);
        }
        // Each later pipeline runs only if the ones before went one way; what it sets counts
        // behind `&&`, and is in doubt behind `||` and after the whole.
        self.pipeline(&item.first, state);
        // What held after any of them: the chain may have ended there.
        let mut seen = state.clone();
        for (join, pipeline) in &item.rest {
            if *join == Join::Or {
                state.join(&seen);
            }
            self.pipeline(pipeline, state);
            seen.join(state);
        }
        if item.rest.iter().all(|(join, _)| *join == Join::And) {
            state.join_keeping_folder(&seen);
        } else {
            state.join(&seen);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, state: &mut State) {
        if let [only] = pipeline.commands.as_slice() {
            return self.command(only, state);
        }
        for (index, command) in pipeline.commands.iter().enumerate() {
            let before = pipeline.commands.get(..index).unwrap_or_default();
            self.input = self.printed_into(before);
            self.command(command, &mut state.clone());
            self.input = None;
        }
    }

    pub(super) fn command(&mut self, command: &Command, state: &mut State) {
        self.steps += 1;
        if self.spent() || self.parts.len() >= COMMAND_PARTS_MAX {
            return;
        }
        // Only a command that stands in the pipe itself reads all that comes out of it.
        let input = self.input.take();
        let walked = self.deeper(|walker| {
            if let Kind::Simple { assigns, words } = &command.kind {
                walker.simple(command, input, (assigns, words), state);
            } else {
                walker.compound(command, state);
            }
        });
        if walked.is_none() {
            self.finish(&command.text, "", Findings::default());
        }
    }

    fn simple(
        &mut self,
        command: &Command,
        input: Option<Input>,
        (assigns, words): (&[Assign], &[Word]),
        state: &mut State,
    ) {
        let mut findings = Findings::default();
        let outer = std::mem::take(&mut self.troubles);
        let mut args: Vec<Arg> = Vec::new();
        for word in words {
            args.extend(self.fields(word, state));
        }
        let mut given = Vec::new();
        for assign in assigns {
            let value = self.assigned(assign, state);
            given.push((assign.name.clone(), value));
        }
        for redirect in &command.redirects {
            self.redirect(redirect, state, &mut findings);
        }
        let program = if args.is_empty() {
            for (assign, (name, value)) in assigns.iter().zip(given) {
                self.set_assigned(assign, name, value, state, &mut findings);
            }
            String::new()
        } else {
            self.input = self.redirected(&command.redirects, input, state);
            for (name, value) in &given {
                self.check_environment(name, value, &mut findings);
            }
            let program = self.judge(&args, state, &mut findings);
            self.input = None;
            program
        };
        self.finish(&command.text, &program, findings);
        self.troubles = outer;
    }

    /// Gives a variable what an assignment says.
    fn set_assigned(
        &mut self,
        assign: &Assign,
        name: String,
        value: Value,
        state: &mut State,
        findings: &mut Findings,
    ) {
        let map = assign.subscript.is_some() && state.maps.contains(&name);
        let whole = assign.subscript.is_none() && !assign.append;
        let elements = match &assign.value {
            AssignValue::Array(words) if whole => self.elements(words, state),
            AssignValue::Array(_) | AssignValue::Scalar(_) => None,
        };
        let scalar = matches!(assign.value, AssignValue::Scalar(_));
        let value = if whole && scalar {
            value
        } else {
            Value::Unknown
        };
        self.set_plain(name.clone(), value, state, findings);
        if map {
            state.maps.insert(name.clone());
        }
        if let Some(elements) = elements {
            state.set_elements(name, elements);
        }
    }

    /// The elements of an array that is written out.
    fn elements(&mut self, words: &[Word], state: &mut State) -> Option<Vec<String>> {
        let plain = |word: &&Word| {
            let known = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Quoted(_));
            word.pieces.iter().all(known)
        };
        if !words.iter().all(|word| plain(&word)) {
            return None;
        }
        let mut elements = Vec::new();
        for word in words {
            for arg in self.fields(word, state) {
                elements.push(arg.exact.filter(|_| !arg.tilde)?);
            }
        }
        Some(elements)
    }

    /// The value that an assignment gives.
    fn assigned(&mut self, assign: &Assign, state: &mut State) -> Value {
        if let Some(subscript) = &assign.subscript {
            self.subscript(&assign.name, subscript, state);
            self.array(&assign.name);
        }
        match &assign.value {
            AssignValue::Scalar(word) => self.single(word, state).value(),
            AssignValue::Array(words) => {
                self.array(&assign.name);
                for word in words {
                    let keyed = |text: &str| text.starts_with('[');
                    if matches!(word.pieces.first(), Some(Piece::Text(text)) if keyed(text)) {
                        self.troubles.push("an array with keys".to_owned());
                    }
                    self.fields(word, state);
                }
                Value::Unknown
            }
        }
    }

    /// A variable of the shell itself.
    pub(super) fn set_plain(
        &mut self,
        name: String,
        value: Value,
        state: &mut State,
        findings: &mut Findings,
    ) {
        let lists = self.context.knowledge.lists();
        let inherited = self.context.exported.contains(&name) || state.exported.contains(&name);
        if (inherited || listed(&lists.influential, &name)) && !self.harmless(&name, &value) {
            findings.unknown(format!("it sets `{name}`, which changes what programs do"));
        }
        self.log.push((name.clone(), value.is_number()));
        state.set(name, value);
    }

    /// A variable in the environment of a program.
    pub(super) fn check_environment(&self, name: &str, value: &Value, findings: &mut Findings) {
        if !self.harmless(name, value) {
            findings.unknown(format!("it runs a program with `{name}` set"));
        }
    }

    fn harmless(&self, name: &str, value: &Value) -> bool {
        let lists = self.context.knowledge.lists();
        let pair = match value {
            Value::Known(text) => format!("{name}={text}"),
            Value::Number
            | Value::Numbers
            | Value::Headed(_)
            | Value::Word
            | Value::Words
            | Value::Unknown => String::new(),
        };
        listed(&lists.harmless, name) || lists.harmless_values.contains(&pair)
    }

    /// Closes a command: its findings become a part.
    pub(super) fn finish(&mut self, text: &str, program: &str, mut findings: Findings) {
        for trouble in std::mem::take(&mut self.troubles) {
            findings.unknown(trouble);
        }
        self.network |= findings.network;
        self.push |= findings.push;
        if self.catastrophic.is_none() {
            self.catastrophic = findings.catastrophic.take();
        }
        let part = findings.part(text, program, &mut self.effects);
        if !self.parts.contains(&part) {
            self.parts.push(part);
        }
    }
}

fn expanded_again(name: &str) -> String {
    format!("what `{name}` is given may be expanded once more, as an array")
}
