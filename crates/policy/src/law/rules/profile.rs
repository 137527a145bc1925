//! What holds when no rule decides: the profiles of the law, and what may answer their question.

use tagout_vocab::Class;

use super::{Action, Matched, RuleInput, Traits, allowing, evaluate};
use crate::law::{Law, Layer, Profile, Source, SourceKind};

/// What a profile alone says about a call that passed every other check.
///
/// What could destroy far more than the workspace asks in every profile: it is the floor.
pub fn default_action(profile: Profile, class: Class, traits: Traits) -> Action {
    if traits.catastrophic {
        return Action::Ask;
    }
    match (profile, class) {
        (Profile::Observe, _) | (_, Class::Safe) => Action::Allow,
        (Profile::Strict, Class::Destructive) => Action::Ask,
        (Profile::Balanced, Class::Destructive) => {
            let Traits {
                undoable,
                network,
                delegation,
                irreversible,
                catastrophic,
            } = traits;
            let harmless = undoable && !(network || delegation || irreversible || catastrophic);
            if harmless { Action::Allow } else { Action::Ask }
        }
    }
}

/// The end of the approval check, and who decided it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Approval<'a> {
    /// A rule decided.
    Rule(Matched<'a>),
    /// A layer's profile decided.
    Profile {
        /// What it says.
        action: Action,
        /// Which profile.
        profile: Profile,
        /// Whose layer it stands in.
        source: &'a Source,
    },
    /// The floor asks, whatever rules and profiles say.
    Floor,
}

impl Approval<'_> {
    /// What is done with the call.
    pub const fn action(&self) -> Action {
        match self {
            Self::Rule(matched) => matched.action,
            Self::Profile { action, .. } => *action,
            Self::Floor => Action::Ask,
        }
    }
}

/// Rules and profiles together: what the approval check says about a call.
///
/// A rule that denies or asks decides. Else each layer's profile is heard on its own: its question
/// can be answered by an allowing rule of the same layer or of the user's, so that a repository
/// can't answer a question that the user's own layer asks.
pub fn approval<'a>(law: &'a Law, input: &RuleInput<'_>) -> Approval<'a> {
    let rule = evaluate(law, input);
    if let Some(matched) = rule
        && matched.action != Action::Allow
        && !(matched.action == Action::Ask && input.traits.catastrophic)
    {
        return Approval::Rule(matched);
    }
    if input.traits.catastrophic {
        return Approval::Floor;
    }
    let asking = law
        .profiles()
        .find(|(layer, profile)| asks(law, layer, *profile, input));
    if let Some((layer, profile)) = asking {
        return Approval::Profile {
            action: Action::Ask,
            profile,
            source: &layer.source,
        };
    }
    if let Some(matched) = rule {
        return Approval::Rule(matched);
    }
    let (profile, source) = law.deciding_profile();
    Approval::Profile {
        action: Action::Allow,
        profile,
        source,
    }
}

/// Whether a layer's profile asks and nobody who may answer does.
fn asks(law: &Law, layer: &Layer, profile: Profile, input: &RuleInput<'_>) -> bool {
    if default_action(profile, input.class, input.traits) == Action::Allow {
        return false;
    }
    let subject = input.subject();
    let answered = match layer.source.kind {
        SourceKind::BuiltIn | SourceKind::Repository | SourceKind::Proposed => {
            law.granting(|layer| allowing(layer, &subject)).is_some()
        }
        SourceKind::User => law
            .layers()
            .filter(|layer| layer.source.kind == SourceKind::User)
            .any(|layer| allowing(layer, &subject).is_some()),
    };
    !answered
}
