//! What has been used up, and who else is at the same files.

use tagout_vocab::{Class, Code, Effect, Gate, Target, WorkspacePath};

use crate::judge::case::Case;
use crate::judge::facts::{FileFact, Files};
use crate::judge::finding::{Finding, No, pass, skip};

/// H17: budgets of intent and policy, and the same call again and again.
pub(in crate::judge) fn budget(case: &Case<'_>) -> Finding {
    let limits = case.books.law.limits();
    let used = case.facts.usage;
    if let Some(max) = limits.repeat_max
        && used.repeats >= max
    {
        let reason = format!("the same call came {} times in a row", used.repeats);
        return No::new(Gate::Budget, Code::RepeatLimit, reason)
            .remedy("do something else first: the same call will give the same answer")
            .deny();
    }
    let Some(intent) = case.active().filter(|_| case.class == Class::Destructive) else {
        return pass("within the repeat limit");
    };
    let policy_ms = limits
        .minutes_max
        .map(|minutes| minutes.saturating_mul(60_000));
    let calls = least(intent.budget.calls_max, limits.calls_max);
    let time_ms = least(intent.budget.time_ms_max, policy_ms);
    let over = match (calls, time_ms) {
        (Some(max), _) if used.calls >= max => Some(format!("{max} calls")),
        (_, Some(max)) if used.time_ms >= max => Some(format!("{max} ms")),
        _ => None,
    };
    match over {
        None => pass(format!("{} calls used", used.calls)),
        Some(what) => {
            let reason = format!("the budget of intent {} is used up: {what}", intent.id);
            No::new(Gate::Budget, Code::BudgetExceeded, reason)
                .remedy("a person raises the budget or closes the intent")
                .intent(Some(&intent.id))
                .deny()
        }
    }
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// One open permit per path.
pub(in crate::judge) fn busy(case: &Case<'_>) -> Finding {
    let held = mutated(case).find_map(|path| case.facts.busy.get(path).map(|by| (path, by)));
    match held {
        None => pass("no other call is open on these paths"),
        Some((path, by)) => No::new(
            Gate::Busy,
            Code::PathBusy,
            format!("{path} is being changed by {by}"),
        )
        .remedy("wait for that call to end, then try again")
        .paths([path.to_string()])
        .retryable()
        .deny(),
    }
}

/// H13: a file that changed since this session saw it, or that it never saw, is not overwritten.
///
/// A folder can't be read, so a command may work on one that was never seen: it writes to a layer,
/// which is judged file by file and held against what others did meanwhile.
pub(in crate::judge) fn stale(case: &Case<'_>) -> Finding {
    let Files::Known(known) = &case.facts.files else {
        return skip("the files were not looked at");
    };
    let is_layered = !case.commands.lines.is_empty();
    for path in mutated(case) {
        let again = |path: &WorkspacePath| format!("read {path} again, then make the change anew");
        let (mut stale, mut remedy) = (path, again(path));
        let reason = match known.get(path) {
            Some(
                FileFact::Absent
                | FileFact::Fresh
                | FileFact::NeverSeen {
                    old_text_matches_once: true,
                },
            ) => continue,
            Some(FileFact::Folder) if is_layered => continue,
            Some(FileFact::Folder) => {
                "name the files in it one by one, or use a command".clone_into(&mut remedy);
                format!("Stale File: {path} is a folder, which can't be read")
            }
            Some(FileFact::NeverSeen { .. }) => {
                format!("Stale File: {path} exists and this session never read it")
            }
            Some(FileFact::Changed { within, difference }) => {
                stale = within.as_ref().unwrap_or(path);
                remedy = again(stale);
                format!("Stale File: {stale} changed since this session saw it. {difference}")
            }
            None => format!("Stale File: nothing is known of {path}"),
        };
        return No::new(Gate::Stale, Code::StaleFile, reason)
            .remedy(remedy)
            .paths([stale.to_string()])
            .intent(case.session.active_intent())
            .retryable()
            .deny();
    }
    pass("every file is as this session saw it")
}

/// The paths inside the workspace that the call changes, by text and by where they really lead.
fn mutated<'a>(case: &'a Case<'_>) -> impl Iterator<Item = &'a WorkspacePath> {
    let targets = case.effects.iter().flat_map(Effect::mutated);
    targets
        .flat_map(|target: &Target| case.places(target))
        .filter_map(|place| place.inside())
}
