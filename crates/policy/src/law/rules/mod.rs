//! Approval rules: what they match, which one decides, and what a profile says without one.

mod book;
mod input;
mod matching;
mod profile;

pub use book::RuleBook;
pub use input::{Fact, PathFact, RuleInput, Subject, Traits};
pub use matching::Match;
pub use profile::{Approval, approval, default_action};

use serde::{Deserialize, Serialize};

use super::pattern::Hit;
use super::{Law, Layer, Source};

/// What a rule does with a call that it matches. Ordered by strength.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// No person is needed. It overrides nothing but the profile's own question.
    Allow,
    /// A person decides.
    Ask,
    /// The call may not run.
    Deny,
}

impl Action {
    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// One rule.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Its name in explanations, unique in its file.
    pub id: String,
    /// What it does.
    pub action: Action,
    /// What it matches.
    pub matches: Match,
    /// Why.
    pub reason: Option<String>,
}

impl Rule {
    /// Whether the rule applies to a call.
    ///
    /// What can't be told counts against the call: a rule that denies or asks applies, one that
    /// allows does not.
    pub fn applies(&self, subject: &Subject<'_>) -> bool {
        match self.matches.hit(subject, self.action) {
            Hit::Yes => true,
            Hit::Unclear => self.action != Action::Allow,
            Hit::No => false,
        }
    }
}

/// The rule that decides, with what an explanation needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Matched<'a> {
    /// What it does.
    pub action: Action,
    /// Its name.
    pub rule: &'a str,
    /// Where it stands.
    pub source: &'a Source,
    /// Why it is there.
    pub reason: Option<&'a str>,
}

/// The rule that decides a call, if any does: deny beats ask beats allow, whatever the layer.
///
/// An allow counts only where the law grants it: in the user's own layer, or in an accepted file of
/// the repository that still holds it.
pub fn evaluate<'a>(law: &'a Law, input: &RuleInput<'_>) -> Option<Matched<'a>> {
    let subject = input.subject();
    let mut strongest: Option<Matched<'a>> = None;
    for layer in law.layers() {
        let found = restricting(layer, &subject);
        if found.map(|found| found.action) > strongest.map(|matched| matched.action) {
            strongest = found;
        }
    }
    strongest.or_else(|| law.granting(|layer| allowing(layer, &subject)))
}

/// The strongest rule of a layer that denies or asks.
fn restricting<'a>(layer: &'a Layer, subject: &Subject<'_>) -> Option<Matched<'a>> {
    let mut strongest: Option<&Rule> = None;
    for rule in layer.rules.candidates(subject.tool) {
        let stronger = strongest.is_none_or(|known| rule.action > known.action);
        if rule.action != Action::Allow && stronger && rule.applies(subject) {
            strongest = Some(rule);
        }
    }
    strongest.map(|rule| matched(layer, rule))
}

/// The first rule of a layer that allows.
fn allowing<'a>(layer: &'a Layer, subject: &Subject<'_>) -> Option<Matched<'a>> {
    layer
        .rules
        .candidates(subject.tool)
        .find(|rule| rule.action == Action::Allow && rule.applies(subject))
        .map(|rule| matched(layer, rule))
}

fn matched<'a>(layer: &'a Layer, rule: &'a Rule) -> Matched<'a> {
    Matched {
        action: rule.action,
        rule: &rule.id,
        source: &layer.source,
        reason: rule.reason.as_deref(),
    }
}

#[cfg(test)]
mod tests;
