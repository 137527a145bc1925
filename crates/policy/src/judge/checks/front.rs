//! What comes before the intent: the books themselves, the call's form, authority, class, state.

use tagout_vocab::limits::ARGUMENTS_BYTES_MAX;
use tagout_vocab::{Class, Code, Effect, Gate, Place, Role, State, Target};

use crate::judge::case::Case;
use crate::judge::facts::Standing;
use crate::judge::finding::{Finding, No, pass, skip};
use crate::targets::{Conflict, Violation, check_input};

/// Broken or untrusted books leave the built-in readers and nothing else (invariant 3).
pub(in crate::judge) fn law(case: &Case<'_>) -> Finding {
    let reads = case.class == Class::Safe && case.is_built_in();
    if let Some(first) = case.facts.broken.first() {
        if reads {
            return pass("the workspace's files have problems; built-in reading goes on");
        }
        let more = case.facts.broken.len() - 1;
        let more = if more == 0 {
            String::new()
        } else {
            format!(" (and {more} more)")
        };
        return No::new(Gate::Law, Code::PolicyInvalid, format!("{first}{more}"))
            .remedy("a person mends the file; `tagout lint` lists every problem")
            .deny();
    }
    // Nobody could say which commands start others, and which none may ever run.
    if !case.commands.lines.is_empty() && !case.books.knowledge.is_there() {
        let reason = "what programs do can't be looked up, so that no command can be judged";
        return No::new(Gate::Law, Code::PolicyInvalid, reason)
            .remedy("a person installs this program again; files can be read without commands")
            .deny();
    }
    match case.facts.standing {
        Standing::Accepted => pass("accepted by a person"),
        Standing::AsIfAccepted => pass("taken as if a person had accepted the tree's files"),
        Standing::NotTrusted if reads => pass("not accepted yet; built-in reading goes on"),
        Standing::StateLost if reads => pass("the state is gone; built-in reading goes on"),
        Standing::NotTrusted => No::new(
            Gate::Law,
            Code::NotTrusted,
            "nobody has accepted this workspace's policy yet",
        )
        .remedy("a person runs `tagout trust` at a terminal")
        .deny(),
        Standing::StateLost => No::new(
            Gate::Law,
            Code::StateLost,
            "this workspace's ledger and state are gone",
        )
        .remedy("a person starts anew with `tagout epoch new`, which is recorded")
        .deny(),
    }
}

/// The names and keys as the catalogue knows them.
pub(in crate::judge) fn normalise(case: &Case<'_>) -> Finding {
    if case.normalised.oversized {
        let reason = format!("the arguments are larger than {ARGUMENTS_BYTES_MAX} bytes");
        return No::new(Gate::Normalise, Code::LimitExceeded, reason)
            .remedy("send less at once")
            .deny();
    }
    if let Some(Conflict { key, alias }) = case.normalised.conflicts.first() {
        let reason = format!("`{alias}` and `{key}` mean the same argument and differ");
        return No::new(Gate::Normalise, Code::SchemaInvalid, reason)
            .remedy("give the argument once, under one name")
            .retryable()
            .deny();
    }
    match case.tool() {
        Some(tool) if tool.name == case.call.tool => pass(format!("`{}`", tool.name)),
        Some(tool) => pass(format!("`{}` is `{}`", case.call.tool, tool.name)),
        None => pass(format!("nobody declared `{}`", case.call.tool)),
    }
}

/// L7: the arguments against the tool's schema, before anything is authorised.
pub(in crate::judge) fn schema(case: &Case<'_>) -> Finding {
    match check_input(&case.normalised) {
        Ok(()) if case.tool().is_none() => skip("no schema is known"),
        Ok(()) => pass("the arguments are as declared"),
        Err(violations) => {
            let listed: Vec<String> = violations.iter().map(shown).collect();
            let reason = format!("the arguments are not as declared: {}", listed.join("; "));
            No::new(Gate::Schema, Code::SchemaInvalid, reason)
                .remedy("send the call again with arguments that fit the tool's schema")
                .retryable()
                .deny()
        }
    }
}

fn shown(violation: &Violation) -> String {
    let Violation { path, message } = violation;
    if path.is_empty() {
        return message.clone();
    }
    format!("{path}: {message}")
}

/// Invariant 8: authority can't be changed by a governed call, whatever the intent owns.
pub(in crate::judge) fn authority(case: &Case<'_>) -> Finding {
    if let Some(call) = &case.commands.person_only {
        let reason = format!("{} is for people, and this is an agent's call", call.what);
        let no = No::new(Gate::Authority, Code::PersonOnly, reason).remedy(call.remedy);
        return if call.retryable {
            no.retryable().deny()
        } else {
            no.deny()
        };
    }
    let guarded: Vec<String> = case
        .effects
        .iter()
        .flat_map(|effect| guarded(case, effect))
        .collect();
    if guarded.is_empty() {
        return pass("touches no file that decides what agents may do");
    }
    let reason = format!("{} decides what agents may do", guarded.join(", "));
    No::new(Gate::Authority, Code::AuthorityFile, reason)
        .remedy("leave the file alone; a person changes it at a terminal")
        .paths(guarded)
        .deny()
}

fn guarded(case: &Case<'_>, effect: &Effect) -> Vec<String> {
    let removes = matches!(effect, Effect::Delete(_) | Effect::Move { .. });
    let catalogue = &case.books.catalogue;
    let is_guarded = |target: &&Target| {
        case.places(target).any(|place| match place {
            Place::Inside { path } | Place::Root { path, .. } => {
                catalogue.is_authority(path).is_some()
                    || (removes && catalogue.holds_authority(path))
            }
            Place::Outside { path } => catalogue.is_home_authority(path).is_some(),
        }) || catalogue.is_home_authority(&target.raw).is_some()
    };
    effect
        .mutated()
        .into_iter()
        .filter(is_guarded)
        .map(|t| t.place.shown())
        .collect()
}

/// The class, computed and told in any case.
pub(in crate::judge) fn class(case: &Case<'_>) -> Finding {
    pass(format!("{}: {}", case.class.as_str(), case.class_reason))
}

/// G2: REQUEST and REASONING permit SAFE only.
pub(in crate::judge) fn state(case: &Case<'_>) -> Finding {
    let state = case.session.state;
    match (case.class, state) {
        (Class::Safe, _) => pass(format!("SAFE is allowed in {}", state.as_str())),
        (Class::Destructive, State::Action) => pass("an intent was selected"),
        (Class::Destructive, State::Request | State::Reasoning) => {
            let select = case.books.name_of(Role::SelectIntent);
            let reason = format!(
                "State Violation: Intent Handshake required for DESTRUCTIVE actions. \
                 Call '{select}' first."
            );
            No::new(Gate::State, Code::StateViolation, reason)
                .remedy(format!(
                    "call `{select}` with the id of an open intent, then try again"
                ))
                .intent(case.session.intent.as_ref())
                .retryable()
                .deny()
        }
    }
}
