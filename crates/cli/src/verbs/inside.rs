//! Which verbs work inside a governed call: the one table, and every verb is in it.

use tagout_vocab::Code;

use crate::args::{self, EpochVerb, GrantVerb, IntentVerb, ParkedVerb, TraceVerb, Verb};
use crate::failure::Failure;

/// Refuses a verb for people inside a governed call, before anything of it happens.
///
/// Nothing helps there, also not `--yes`. Such a call is known by its environment, which a process
/// can clear, and by a mark of the sandbox, which it can't. The refusal names no way around,
/// because agents read it. To an agent that a hook governs the hook refuses the verb.
pub(super) fn allowed(verb: &Verb) -> Result<(), Failure> {
    let (name, hint) = if let Some(name) = for_people(verb) {
        (name, "ask the person whom you work for to run it")
    } else if let Some(name) = for_another(verb) {
        (name, "leave `--session` away")
    } else {
        return Ok(());
    };
    if !args::is_governed() {
        return Ok(());
    }
    let code = Code::PersonOnly;
    let message = format!(
        "{}: `tagout {name}` is for people: this is a governed call",
        code.as_str()
    );
    Err(Failure::denied(code, message).hint(hint))
}

/// The name of a verb that agents may use, where it names the conversation that it acts in: an
/// agent has one already, and so has a governed call.
pub(super) const fn for_another(verb: &Verb) -> Option<&'static str> {
    let Verb::Intent(intent) = verb else {
        return None;
    };
    match &intent.verb {
        IntentVerb::Select { session, .. } if session.session.is_some() => {
            Some("intent select --session")
        }
        IntentVerb::Propose(proposed) if proposed.session.session.is_some() => {
            Some("intent propose --session")
        }
        IntentVerb::Select { .. }
        | IntentVerb::Propose(_)
        | IntentVerb::List { .. }
        | IntentVerb::Show { .. }
        | IntentVerb::New(_)
        | IntentVerb::Complete { .. }
        | IntentVerb::Release { .. } => None,
    }
}

/// The name of a verb that is for people. None for those that agents may use: looking, selecting,
/// proposing, running commands, and printing what holds for every build. A client's hook and a
/// command within a command refuse in words of their own.
const fn for_people(verb: &Verb) -> Option<&'static str> {
    match verb {
        Verb::Explain(_)
        | Verb::Exec(_)
        | Verb::Hook(_)
        | Verb::Pending(_)
        | Verb::Doctor(_)
        | Verb::Lint(_)
        | Verb::Log(_)
        | Verb::Blame(_)
        | Verb::Verify(_)
        | Verb::Prove(_)
        | Verb::Stats(_)
        | Verb::Compliance(_)
        | Verb::Completions(_) => None,
        Verb::Init(_) => Some("init"),
        Verb::Demo(_) => Some("demo"),
        Verb::Run(_) => Some("run"),
        Verb::Install(_) => Some("install"),
        Verb::Uninstall(_) => Some("uninstall"),
        Verb::Trust(_) => Some("trust"),
        Verb::Approve(_) => Some("approve"),
        Verb::Reject(_) => Some("reject"),
        Verb::Answer(_) => Some("answer"),
        Verb::Undo(_) => Some("undo"),
        Verb::Seal(_) => Some("seal"),
        Verb::Epoch(epoch) => match epoch.verb {
            EpochVerb::New { .. } => Some("epoch new"),
        },
        Verb::Intent(intent) => match intent.verb {
            IntentVerb::List { .. }
            | IntentVerb::Show { .. }
            | IntentVerb::Select { .. }
            | IntentVerb::Propose(_) => None,
            IntentVerb::New(_) => Some("intent new"),
            IntentVerb::Complete { .. } => Some("intent complete"),
            IntentVerb::Release { .. } => Some("intent release"),
        },
        Verb::Parked(parked) => match parked.verb {
            ParkedVerb::List { .. } | ParkedVerb::Show { .. } => None,
            ParkedVerb::Apply { .. } => Some("parked apply"),
            ParkedVerb::Drop { .. } => Some("parked drop"),
        },
        Verb::Grant(grant) => match grant.verb {
            GrantVerb::Issue(_) => Some("grant issue"),
            GrantVerb::List { .. } => Some("grant list"),
            GrantVerb::Revoke { .. } => Some("grant revoke"),
        },
        Verb::Trace(trace) => match trace.verb {
            TraceVerb::Query(_) => None,
            TraceVerb::Export { .. } => Some("trace export"),
            TraceVerb::Import { .. } => Some("trace import"),
        },
    }
}
