//! `judge`: from a call to a verdict, in one order, with every check told.
//!
//! Pure, total and deterministic. The table below is the order; the first refusal stops, and the
//! class is computed and reported in any case.

mod books;
mod case;
mod checks;
mod commands;
mod facts;
mod finding;

pub use books::{Books, Volume};
pub use case::Case;
pub use commands::{is_alone, is_for_agents, is_in_known_shell};
pub use facts::{Approval, Facts, FileFact, Files, Grants, Isolation, Standing, Usage};

use tagout_vocab::{Call, Check, CheckResult, Gate, Judgement, Reason, Refusal, Session, Verdict};

use checks::{approval, front, intent, power, reach, usage};
use finding::Finding;

type Looks = fn(&Case<'_>) -> Finding;

/// The order of checks. `record` is the engine's own: a permit exists only once it is durable.
const ORDER: [(Gate, Looks); 18] = [
    (Gate::Law, front::law),
    (Gate::Normalise, front::normalise),
    (Gate::Schema, front::schema),
    (Gate::Authority, front::authority),
    (Gate::Class, front::class),
    (Gate::State, front::state),
    (Gate::Intent, intent::intent),
    (Gate::Metadata, intent::metadata),
    (Gate::Targets, reach::targets),
    (Gate::Scope, reach::scope),
    (Gate::Capability, power::capability),
    (Gate::Ceiling, power::ceiling),
    (Gate::Arguments, power::arguments),
    (Gate::Isolation, power::isolation),
    (Gate::Budget, usage::budget),
    (Gate::Busy, usage::busy),
    (Gate::Stale, usage::stale),
    (Gate::Approval, approval::approval),
];

/// Judges one call in one session, by the books, on the facts given.
pub fn judge(call: &Call, session: &Session, books: &Books, facts: &Facts) -> Judgement {
    judge_case(&Case::new(call, session, books, facts))
}

/// Judges a case that was prepared before, so that facts could be gathered for its effects.
pub fn judge_case(case: &Case<'_>) -> Judgement {
    let mut checks = Vec::with_capacity(ORDER.len());
    let mut decided: Option<Verdict> = None;
    let mut reason = Reason {
        text: "nothing speaks against it".to_owned(),
        rule: String::new(),
    };
    for (gate, looks) in ORDER {
        if decided.is_some() {
            let detail = "an earlier check decided".to_owned();
            checks.push(Check {
                gate,
                result: CheckResult::NotReached,
                detail,
            });
            continue;
        }
        let (result, detail) = match looks(case) {
            Finding::Pass(detail) => (CheckResult::Pass, detail),
            Finding::Skip(detail) => (CheckResult::NotApplicable, detail),
            Finding::Allow(found) => {
                reason = found;
                (CheckResult::Pass, reason.text.clone())
            }
            Finding::Ask(refusal) => (CheckResult::Ask, told(&mut decided, *refusal, Verdict::Ask)),
            Finding::Refuse(refusal) => (
                CheckResult::Refuse,
                told(&mut decided, *refusal, Verdict::Deny),
            ),
        };
        checks.push(Check {
            gate,
            result,
            detail,
        });
    }
    Judgement {
        verdict: decided.unwrap_or(Verdict::Allow(reason)),
        class: case.class,
        tool: case.tool().map(|tool| tool.name.clone()),
        kind: case.kind(),
        level: case.level(),
        effects: case.effects.clone(),
        checks,
    }
}

fn told(
    decided: &mut Option<Verdict>,
    refusal: Refusal,
    verdict: fn(Box<Refusal>) -> Verdict,
) -> String {
    let detail = refusal.reason.clone();
    *decided = Some(verdict(Box::new(refusal)));
    detail
}

#[cfg(test)]
mod tests;
