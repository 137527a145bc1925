//! Compound commands: what holds in and after branches, loops and functions.

use std::collections::BTreeMap;

use super::{State, Walker};
use crate::shell::arg::Value;
use crate::shell::ast::{AndOr, Command, Kind, List, Word};
use crate::shell::judge::Findings;
use crate::shell::knowledge::listed;

/// A loop over more words than these is walked once for all of them.
const UNROLLED_MAX: usize = 8;

/// Rounds after which a loop's variables are given up.
const ROUNDS_MAX: usize = 4;

impl Walker<'_> {
    pub(super) fn compound(&mut self, command: &Command, state: &mut State) {
        let outer = std::mem::take(&mut self.troubles);
        let mut findings = Findings::default();
        for redirect in &command.redirects {
            self.redirect(redirect, state, &mut findings);
        }
        self.kind(&command.kind, state, &mut findings);
        if !self.troubles.is_empty() || findings.matters() {
            self.finish(&command.text, "", findings);
        }
        self.troubles = outer;
    }

    fn kind(&mut self, kind: &Kind, state: &mut State, findings: &mut Findings) {
        match kind {
            Kind::Simple { .. } => {}
            Kind::Subshell(list) => self.list(list, &mut state.clone()),
            Kind::Group(list) => self.list(list, state),
            Kind::If {
                branches,
                otherwise,
            } => self.branches(branches, otherwise.as_ref(), state),
            Kind::Loop { condition, body } => {
                self.looped(state, &mut |walker, state| {
                    walker.list(condition, state);
                    walker.list(body, state);
                });
            }
            Kind::For { name, words, body } => {
                self.for_loop(name, words.as_deref(), body, state, findings);
            }
            Kind::Count { parts, body } => {
                self.looped(state, &mut |walker, state| {
                    for part in parts {
                        walker.arithmetic(part, state);
                    }
                    walker.list(body, state);
                });
            }
            Kind::Case { word, arms } => self.case(word, arms, state),
            Kind::Function { name, body } => self.function(name, body, state, findings),
            Kind::Arithmetic(pieces) => {
                self.arithmetic(pieces, state);
            }
            Kind::Test(words) => self.test(words, state),
            Kind::Coprocess(inner) => {
                self.command(inner, &mut state.clone());
                findings.exec("it starts a coprocess");
            }
        }
    }

    fn branches(&mut self, branches: &[(List, List)], otherwise: Option<&List>, state: &mut State) {
        let mut ends: Vec<State> = Vec::new();
        for (condition, body) in branches {
            self.list(condition, state);
            let mut branch = state.clone();
            self.list(body, &mut branch);
            ends.push(branch);
        }
        if let Some(list) = otherwise {
            self.list(list, state);
        }
        for end in &ends {
            state.join(end);
        }
    }

    fn case(&mut self, word: &Word, arms: &[(Vec<Word>, List)], state: &mut State) {
        self.single(word, state);
        let before = state.clone();
        for (patterns, body) in arms {
            for pattern in patterns {
                self.single(pattern, state);
            }
            let mut branch = state.clone();
            branch.join(&before);
            self.list(body, &mut branch);
            state.join(&branch);
        }
    }

    fn for_loop(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        body: &List,
        state: &mut State,
        findings: &mut Findings,
    ) {
        let mut values = Vec::new();
        for word in words.unwrap_or_default() {
            for arg in self.fields(word, state) {
                // In each round it is one of them.
                let value = arg.value();
                values.push(if value == Value::Words {
                    Value::Word
                } else {
                    value
                });
            }
        }
        let lists = self.context.knowledge.lists();
        let exported = self.context.exported.iter().any(|known| known == name);
        if exported || listed(&lists.influential, name) {
            findings.unknown(format!("it sets `{name}`, which changes what programs do"));
        }
        let exact = |value: &Value| matches!(value, Value::Known(_));
        let numbers = !values.is_empty() && values.iter().all(Value::is_number);
        if !numbers
            && values.len() <= UNROLLED_MAX
            && !values.is_empty()
            && values.iter().all(exact)
        {
            let logged = self.log.len();
            let before = state.clone();
            for value in values {
                state.set(name.to_owned(), value);
                self.list(body, state);
            }
            self.after_loop(logged, &before, state);
            state.set(name.to_owned(), Value::Unknown);
            return;
        }
        let value = if numbers {
            Value::Number
        } else {
            values
                .into_iter()
                .reduce(|first, second| common(&first, &second))
                .unwrap_or(Value::Unknown)
        };
        self.looped(state, &mut |walker, state| {
            state.set(name.to_owned(), value.clone());
            walker.list(body, state);
        });
        state.set(
            name.to_owned(),
            if numbers {
                Value::Number
            } else {
                Value::Unknown
            },
        );
    }

    /// Walks a loop's inside with what holds in every round of it.
    fn looped(&mut self, state: &mut State, inside: &mut dyn FnMut(&mut Self, &mut State)) {
        let before = state.clone();
        let logged = self.log.len();
        let mut stable = false;
        for _ in 0..ROUNDS_MAX {
            let entry = state.clone();
            self.dry(&mut |walker| inside(walker, &mut entry.clone()));
            self.forget_logged(logged, &before, state);
            self.log.truncate(logged);
            if *state == entry {
                stable = true;
                break;
            }
        }
        if !stable {
            state.forget();
        }
        let entry = state.clone();
        inside(self, state);
        state.join(&entry);
        self.after_loop(logged, &before, state);
    }

    /// Walks without keeping what is found, only what is set.
    fn dry(&mut self, work: &mut dyn FnMut(&mut Self)) {
        let parts = self.parts.len();
        let effects = self.effects.len();
        let calls = self.own_calls.len();
        let troubles = self.troubles.len();
        work(self);
        self.parts.truncate(parts);
        self.effects.truncate(effects);
        self.own_calls.truncate(calls);
        self.troubles.truncate(troubles);
    }

    /// `break` may leave at any time, so a variable that the loop sets holds anything afterwards,
    /// or any number if it never held anything else.
    fn after_loop(&self, logged: usize, before: &State, state: &mut State) {
        self.forget_logged(logged, before, state);
        if state.folder != before.folder {
            state.folder = None;
        }
    }

    fn forget_logged(&self, logged: usize, before: &State, state: &mut State) {
        let mut set: BTreeMap<&str, bool> = BTreeMap::new();
        for (name, number) in self.log.iter().skip(logged) {
            *set.entry(name).or_insert(true) &= *number;
        }
        for (name, always) in set {
            let value = if always && before.get(name).is_number() {
                Value::Number
            } else {
                Value::Unknown
            };
            state.set(name.to_owned(), value);
        }
    }

    fn function(&mut self, name: &str, body: &Command, state: &mut State, findings: &mut Findings) {
        if multiplies(body, name) {
            findings.catastrophe(&format!(
                "`{name}` starts itself over and over: a fork bomb"
            ));
            findings.exec("a function that starts itself over and over");
        }
        if name.contains('/') || self.context.knowledge.entry(name).is_some() {
            findings.unknown(format!("it gives `{name}` another meaning"));
        }
        let mut inside = state.inside_function(name);
        self.command(body, &mut inside);
        state.functions.insert(name.to_owned());
        state.exported.extend(inside.exported);
    }
}

/// What two values have in common.
fn common(first: &Value, second: &Value) -> Value {
    let head = |value: &Value| match value {
        Value::Known(text) | Value::Headed(text) => text
            .chars()
            .next()
            .filter(|c| *c != '-')
            .map(|c| c.to_string()),
        Value::Number | Value::Numbers => Some("1".to_owned()),
        Value::Word | Value::Words | Value::Unknown => None,
    };
    match (head(first), head(second)) {
        _ if *first == Value::Word && *second == Value::Word => Value::Word,
        // The first character alone decides whether a word can be an option.
        (Some(one), Some(_)) => Value::Headed(one),
        _ => Value::Unknown,
    }
}

/// Whether a command calls `name` in a pipe or in the background.
fn multiplies(command: &Command, name: &str) -> bool {
    let in_list = |list: &List| list.items.iter().any(|item| in_and_or(item, name));
    match &command.kind {
        Kind::Simple { .. } | Kind::Arithmetic(_) | Kind::Test(_) => false,
        Kind::Subshell(list) | Kind::Group(list) => in_list(list),
        Kind::If {
            branches,
            otherwise,
        } => {
            branches
                .iter()
                .any(|(condition, body)| in_list(condition) || in_list(body))
                || otherwise.as_ref().is_some_and(in_list)
        }
        Kind::Loop { condition, body } => in_list(condition) || in_list(body),
        Kind::For { body, .. } | Kind::Count { body, .. } => in_list(body),
        Kind::Case { arms, .. } => arms.iter().any(|(_, body)| in_list(body)),
        Kind::Function { body, .. } | Kind::Coprocess(body) => multiplies(body, name),
    }
}

fn in_and_or(item: &AndOr, name: &str) -> bool {
    let pipelines = std::iter::once(&item.first).chain(item.rest.iter().map(|(_, p)| p));
    pipelines.into_iter().any(|pipeline| {
        let several = item.background || pipeline.commands.len() > 1;
        pipeline.commands.iter().any(|command| {
            let called = command.text.split_ascii_whitespace().next() == Some(name);
            several && called || multiplies(command, name)
        })
    })
}
