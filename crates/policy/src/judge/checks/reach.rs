//! What the call would change: whether that is known, and whether the intent owns it.

use tagout_vocab::{Class, Code, Effect, Gate, Place, Role, Target};

use crate::judge::case::Case;
use crate::judge::finding::{Finding, No, pass, skip};
use crate::scope::{Owned, Scope, ScopeError, Subject};

/// Targets that can't be read from the arguments refuse.
pub(in crate::judge) fn targets(case: &Case<'_>) -> Finding {
    if case.class == Class::Safe {
        return skip("nothing is changed");
    }
    let intent = case.session.active_intent();
    if case.tool().is_none() {
        let reason = format!(
            "nobody declared the tool `{}`, so what it touches is unknown",
            case.call.tool
        );
        return No::new(Gate::Targets, Code::ToolUnknown, reason)
            .remedy("use a declared tool, or ask a person to declare this one in the policy")
            .intent(intent)
            .deny();
    }
    let unknown = case.effects.iter().find_map(|effect| match effect {
        Effect::Unknown { what } => Some(what.as_str()),
        Effect::Read(_)
        | Effect::Write(_)
        | Effect::MakeFolder(_)
        | Effect::Delete(_)
        | Effect::Move { .. }
        | Effect::Run { .. }
        | Effect::Reach { .. }
        | Effect::Remote { .. }
        | Effect::Delegate
        | Effect::Desktop => None,
    });
    let unknown = unknown.or_else(|| {
        case.effects
            .is_empty()
            .then_some("the call names nothing that it would touch")
    });
    match unknown {
        None => pass(format!("{} known", counted(case.effects.len(), "effect"))),
        Some(what) => No::new(Gate::Targets, Code::TargetUnknown, what)
            .remedy("name every path in the arguments, or use a tool whose targets can be read")
            .intent(intent)
            .retryable()
            .deny(),
    }
}

/// H7: every changed path lies in the intent's scope, by its text and by where it really leads.
pub(in crate::judge) fn scope(case: &Case<'_>) -> Finding {
    let mutated: Vec<(&Target, Doing)> = case.effects.iter().flat_map(mutated).collect();
    if mutated.is_empty() {
        return skip("no path is changed that can be named");
    }
    let Some(intent) = case.active() else {
        return No::new(
            Gate::Scope,
            Code::IntentRequired,
            "a path is changed without an intent",
        )
        .remedy(format!(
            "call `{}` first",
            case.books.name_of(Role::SelectIntent)
        ))
        .deny();
    };
    let waiting = case.books.also_within.get(&intent.id);
    let scopes: Result<Vec<Scope>, ScopeError> = std::iter::once(&intent.owned_scope)
        .chain(waiting)
        .map(|patterns| Scope::parse(patterns))
        .collect();
    let scopes = match scopes {
        Ok(scopes) => scopes,
        Err(error) => {
            return No::new(
                Gate::Scope,
                Code::PolicyInvalid,
                format!("intent {}: {error}", intent.id),
            )
            .remedy("a person mends the intent's scope")
            .intent(Some(&intent.id))
            .deny();
        }
    };
    for (target, doing) in &mutated {
        let places = case.places(target);
        for place in places.filter(|place| !is_session_tmp(case, place)) {
            if let Some(why) = refused(case, &scopes, (place, *doing)) {
                let shown = place.shown();
                let reason = format!(
                    "Scope Violation: {} is not authorized to edit {shown}. \
                     Request scope expansion. ({why})",
                    intent.id
                );
                return No::new(Gate::Scope, Code::ScopeViolation, reason)
                    .remedy(case.widening_remedy(intent))
                    .intent(Some(&intent.id))
                    .paths([shown])
                    .deny();
            }
        }
    }
    pass(format!(
        "{} in the scope of {}",
        counted(mutated.len(), "path"),
        intent.id
    ))
}

/// A command's `/tmp` is a folder of its session: nothing in it outlives that or is anybody's.
fn is_session_tmp(case: &Case<'_>, place: &Place) -> bool {
    let Place::Outside { path } = place else {
        return false;
    };
    let inside = path.strip_prefix("/tmp/").is_some_and(|rest| {
        let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        rest.split('/').all(plain)
    });
    inside && !case.commands.lines.is_empty()
}

/// What is done to a path, as far as owning it depends on that.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Doing {
    /// A folder is made there if there is none.
    MakesFolder,
    /// Anything else.
    Changes,
}

fn mutated(effect: &Effect) -> impl Iterator<Item = (&Target, Doing)> {
    let doing = if matches!(effect, Effect::MakeFolder(_)) {
        Doing::MakesFolder
    } else {
        Doing::Changes
    };
    let targets = effect.mutated().into_iter();
    targets.map(move |target| (target, doing))
}

fn refused(case: &Case<'_>, scopes: &[Scope], (place, doing): (&Place, Doing)) -> Option<String> {
    let Place::Inside { path } = place else {
        return Some("it lies outside the workspace".to_owned());
    };
    if let Some(line) = case.books.ignored(path, case.facts.case) {
        return Some(format!("protected by the ignore file: `{line}`"));
    }
    if let Some(denied) = case.books.law.protected(path, case.facts.case) {
        let why = denied.reason.unwrap_or("protected by the policy");
        return Some(format!("{why}: `{}`", denied.entry));
    }
    let path = Subject::new(path, case.facts.case);
    scopes.iter().enumerate().find_map(|(index, scope)| {
        let whose = if index == 0 {
            "its scope"
        } else {
            "its scope in the tree, which waits for a person,"
        };
        match scope.owns_subject(&path) {
            Owned::Yes(_) => None,
            Owned::Excluded(pattern) => Some(format!("excluded by `{}`", pattern.as_str())),
            // Whoever may make a file may make the folders that lead to it.
            Owned::No if doing == Doing::MakesFolder && scope.lies_beneath(&path) => None,
            Owned::No => Some(format!("no pattern of {whose} covers it")),
        }
    })
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}
