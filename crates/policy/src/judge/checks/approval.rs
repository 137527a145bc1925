//! Rules that allow, ask or deny, and what people said.

use tagout_vocab::{Code, Gate, Reason};

use crate::judge::case::Case;
use crate::judge::facts::Approval;
use crate::judge::finding::{Finding, No};
use crate::law::{self, Action};

/// H6: deny beats ask beats allow; a yes counts for exactly this call, once.
pub(in crate::judge) fn approval(case: &Case<'_>) -> Finding {
    let found = case.with_rule_input(|input| law::approval(&case.books.law, input));
    let rule = rule_of(&found);
    let said = why(&found);
    match found.action() {
        Action::Allow => Finding::Allow(Reason { text: said, rule }),
        Action::Deny => No::new(Gate::Approval, Code::CapabilityDenied, said)
            .rule(rule)
            .remedy("do it another way, or ask a person to change the rule")
            .deny(),
        Action::Ask => asked(case, said, rule),
    }
}

fn asked(case: &Case<'_>, said: String, rule: String) -> Finding {
    let no = |code, reason| {
        No::new(Gate::Approval, code, reason)
            .rule(rule.clone())
            .intent(case.session.active_intent())
    };
    match &case.facts.approval {
        Approval::Granted { by } => Finding::Allow(Reason {
            text: format!("{said}; approved by {by}"),
            rule,
        }),
        Approval::Rejected { reason } => no(
            Code::ApprovalRejected,
            format!("a person said no: {reason}"),
        )
        .remedy("do it another way; the same call will not be asked again")
        .deny(),
        Approval::Expired => no(Code::ApprovalExpired, "the approval has expired".to_owned())
            .remedy("make the call again, so that a person is asked anew")
            .retryable()
            .deny(),
        Approval::None => no(Code::ApprovalRequired, said)
            .remedy("a person has to agree; make the same call again after that")
            .retryable()
            .ask(),
    }
}

fn rule_of(found: &law::Approval<'_>) -> String {
    match found {
        law::Approval::Rule(matched) => format!("{}: {}", matched.source.file, matched.rule),
        law::Approval::Profile {
            profile, source, ..
        } => {
            format!("{}: profile {}", source.file, profile.as_str())
        }
        law::Approval::Floor => "built-in: catastrophic floor".to_owned(),
    }
}

fn why(found: &law::Approval<'_>) -> String {
    match found {
        law::Approval::Rule(matched) => matched
            .reason
            .map_or_else(|| format!("rule `{}`", matched.rule), ToOwned::to_owned),
        law::Approval::Profile {
            action: Action::Allow,
            profile,
            ..
        } => {
            format!("the profile {} lets it through", profile.as_str())
        }
        law::Approval::Profile { profile, .. } => {
            format!("the profile {} wants a person to agree", profile.as_str())
        }
        law::Approval::Floor => "this can't be taken back by any means".to_owned(),
    }
}
