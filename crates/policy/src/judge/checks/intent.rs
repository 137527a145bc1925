//! The intent itself, and what a write tool says about it.

use serde_json::Value;
use tagout_vocab::{Class, Code, Gate, IntentId, MutationClass, Origin, Role};

use crate::intents::Overlap;
use crate::judge::case::Case;
use crate::judge::facts::Approval;
use crate::judge::finding::{Finding, No, pass, skip};

/// H1, H3, H8, H17: known, open, not ignored, not expired, not overlapping, not leased.
pub(in crate::judge) fn intent(case: &Case<'_>) -> Finding {
    if case.role() == Some(Role::SelectIntent) {
        return match case.named_intent() {
            Ok(id) => valid(case, &id),
            Err(no) => no.deny(),
        };
    }
    if case.class == Class::Safe {
        return skip("a SAFE call needs no intent");
    }
    let Some(active) = case.session.active_intent() else {
        let select = case.books.name_of(Role::SelectIntent);
        return No::new(
            Gate::Intent,
            Code::IntentRequired,
            "You must cite a valid active Intent ID.",
        )
        .remedy(format!(
            "call `{select}` with the id of an open intent, then try again"
        ))
        .retryable()
        .deny();
    };
    valid(case, active)
}

fn valid(case: &Case<'_>, id: &IntentId) -> Finding {
    let no = |code, reason: String| No::new(Gate::Intent, code, reason).intent(Some(id));
    let Some(intent) = case.books.intents.get(id) else {
        return no(Code::IntentUnknown, format!("there is no intent {id}"))
            .remedy(case.known_intents())
            .retryable()
            .deny();
    };
    if let Some(line) = case.books.ignore.blocks_intent(id) {
        return no(
            Code::IntentIgnored,
            format!("the intent `{id}` is blocked by {line}"),
        )
        .remedy("choose another intent, or ask a person to unblock it")
        .deny();
    }
    if let Err(why) = crate::intents::selectable(intent, case.facts.now) {
        return no(why.code(), why.to_string())
            .remedy(case.instead_of(&why))
            .deny();
    }
    if let Some(holder) = &case.facts.leased_to
        && *holder != case.session.id
    {
        let until = case.facts.leased_until;
        let until = until.map_or_else(String::new, |until| format!(" until {until}"));
        // The verb is one for people: refused in every governed call, so that naming it frees
        // nothing.
        let remedy = format!(
            "choose another intent, wait{until}, or a person releases it at a terminal with \
             `tagout intent release {id}`"
        );
        let reason = format!("intent {id} is held by session {holder}{until}");
        return no(Code::Leased, reason).remedy(remedy).retryable().deny();
    }
    // Looked at when an intent is taken up, not at every call: it can't begin in between without
    // the other intent being taken up too.
    let selecting = case.role() == Some(Role::SelectIntent);
    let overlapping = selecting.then(|| overlap(case, id)).flatten();
    overlapping.unwrap_or_else(|| pass(format!("{id} is open: {}", intent.name)))
}

/// H17: two open intents that own the same file are refused unless a person allows it. Where the
/// law has a person asked, a yes counts for this selection, once.
fn overlap(case: &Case<'_>, id: &IntentId) -> Option<Finding> {
    let intents = case.books.standing_in_the_way(id);
    let overlaps = crate::intents::find_overlaps(&intents, id, case.facts.now);
    let Overlap { with, own, other } = overlaps.first()?;
    let reason = format!("{id} (`{own}`) and {with} (`{other}`) can own the same files");
    let mend = "a person narrows one scope, closes one intent, or lists it under `shares_with`";
    let no = |code, reason: String| No::new(Gate::Intent, code, reason).intent(Some(id));
    Some(match (case.books.law.overlap(), &case.facts.approval) {
        (crate::law::Overlap::Deny, _) => no(Code::IntentOverlap, reason).remedy(mend).deny(),
        (crate::law::Overlap::Ask, Approval::Granted { by }) => {
            pass(format!("{reason}; approved by {by}"))
        }
        (crate::law::Overlap::Ask, Approval::Rejected { reason }) => no(
            Code::ApprovalRejected,
            format!("a person said no: {reason}"),
        )
        .remedy(mend)
        .deny(),
        (crate::law::Overlap::Ask, Approval::Expired) => {
            no(Code::ApprovalExpired, "the approval has expired".to_owned())
                .remedy("make the call again, so that a person is asked anew")
                .retryable()
                .deny()
        }
        (crate::law::Overlap::Ask, Approval::None) => no(Code::IntentOverlap, reason)
            .remedy("a person has to agree; make the same call again after that")
            .retryable()
            .ask(),
    })
}

/// H10: a write tool of ours names the intent and the class of mutation; others get both from the
/// session, but must not contradict it.
pub(in crate::judge) fn metadata(case: &Case<'_>) -> Finding {
    let Some(tool) = case.tool().filter(|_| case.class == Class::Destructive) else {
        return skip("nothing is written");
    };
    let owed = tool.carries_metadata && case.call.origin == Origin::Native;
    let active = case.session.active_intent();
    let named = case.argument("intent_id").and_then(Value::as_str);
    match (named, active) {
        (Some(named), Some(active)) if named != active.as_str() => {
            let reason = format!("the call names intent {named}, but {active} is active");
            return No::new(Gate::Metadata, Code::IntentMismatch, reason)
                .remedy(format!(
                    "send `intent_id: {active}`, or select {named} first"
                ))
                .intent(Some(active))
                .retryable()
                .deny();
        }
        (None, _) if owed => {
            return No::new(
                Gate::Metadata,
                Code::IntentRequired,
                "write tools carry `intent_id`",
            )
            .remedy("send the call again with `intent_id` set to the active intent")
            .intent(active)
            .retryable()
            .deny();
        }
        (Some(_) | None, _) => {}
    }
    let declared = case
        .argument("mutation_class")
        .filter(|value| !value.is_null());
    match declared.map(|value| value.as_str().and_then(MutationClass::parse)) {
        Some(Some(class)) => pass(format!("declared as {}", class.as_str())),
        None if !owed => skip("the session supplies intent and class"),
        Some(None) | None => {
            let words = MutationClass::ALL.map(MutationClass::as_str).join(" or ");
            let reason = format!("write tools carry `mutation_class`: {words}");
            No::new(Gate::Metadata, Code::MutationClassRequired, reason)
                .remedy(format!(
                    "send the call again with `mutation_class` set to {words}"
                ))
                .intent(active)
                .retryable()
                .deny()
        }
    }
}
