//! Before a tool: judged, noted, and only then let through.

use serde_json::json;
use tagout_agents::profile::Subagents;
use tagout_agents::{Answer, Pre, ShellCall, shell_call};
use tagout_gate::policy::targets::normalise;
use tagout_gate::{Admission, Permit};
use tagout_ledger::Commitment;
use tagout_vocab::limits::HOOK_MISSING_MS;
use tagout_vocab::{Call, Code, Gate, Refusal, Role, Timestamp};

use super::called::Called;
use super::shell;
use super::work::Work;
use crate::clock;
use crate::failure::Failure;
use crate::notes::{Admitted, Asked, Lines, Open};
use crate::verbs::run;

/// Decides about a call.
pub(super) fn decide(work: &Work, pre: &Pre) -> Result<Answer, Failure> {
    let context = &work.incoming.context;
    if let Some(parent) = &context.parent {
        work.engine.adopt(&context.session, parent)?;
    }
    if let Some(refused) = delegates_unseen(work, &pre.call) {
        return Ok(deny(work, &pre.call, refused));
    }
    match &pre.shell {
        Some(found) if shell::runs_commands(work, &pre.call, found) => {
            shell::decide(work, pre, found)
        }
        // What only looks like a command is judged as what it is, with all of its arguments.
        Some(_) | None => guarded(work, pre),
    }
}

/// Refuses by what only this door knows. The ledger tells it like any other refusal.
pub(super) fn deny(work: &Work, call: &Call, refusal: Refusal) -> Answer {
    Answer::denied(&work.engine.refuse(call, refusal))
}

/// The client executes it, under the engine's permit.
pub(super) fn guarded(work: &Work, pre: &Pre) -> Result<Answer, Failure> {
    match admit(work, &pre.call)? {
        Ok(permit) => {
            note_permit(work, pre, &permit)?;
            Ok(Answer::NoDecision)
        }
        Err(refusal) => Ok(Answer::denied(&refusal)),
    }
}

/// Notes a permit for its result. Where the client names its calls, the permit bears that name and
/// is found by it.
pub(super) fn note_permit(work: &Work, pre: &Pre, permit: &Permit) -> Result<(), Failure> {
    if pre.call.id.as_ref() == Some(permit.execution()) {
        return Ok(());
    }
    note(work, pre, Admitted::Guard(permit.execution().clone()))
}

/// Notes a call that waits for its result, with the arguments that it goes on with.
pub(super) fn note(work: &Work, pre: &Pre, what: Admitted) -> Result<(), Failure> {
    // Clients differ in which of the two they report.
    let rewritten = pre.key.with_arguments(&pre.call.arguments);
    let clockwork = crate::runtime::clockwork()?;
    let asked = match what {
        Admitted::Exec(_) => asked(pre, clockwork.random()),
        Admitted::Guard(_) | Admitted::Done => None,
    };
    let open = Open {
        key: pre.key.clone(),
        rewritten: Some(rewritten).filter(|rewritten| *rewritten != pre.key),
        lines: lines(pre),
        what,
        call: pre.call.id.clone(),
        asked,
    };
    let unique = clockwork.id("o");
    work.notes.open(&open, clock::now(), &unique)
}

fn lines(pre: &Pre) -> Option<Lines> {
    let asked = shell::line_of(pre.shell.as_ref()?)?;
    let given = shell_call(&pre.call.arguments).and_then(|found| shell::line_of(&found));
    Some(Lines {
        asked,
        given: given.unwrap_or(asked),
    })
}

/// A commitment to the argument that holds the command, as it was asked with.
fn asked(pre: &Pre, salt: [u8; 32]) -> Option<Asked> {
    let (key, command) = match pre.shell.as_ref()? {
        ShellCall::Line { key, line } => (*key, json!(line)),
        ShellCall::Lines { key, lines } => (*key, json!(lines)),
        ShellCall::Program { key, words } => (*key, json!(words)),
        ShellCall::Typed => return None,
    };
    let arguments = json!({ key: command }).to_string();
    let Commitment { salt, digest } = Commitment::new(salt, arguments.as_bytes());
    Some(Asked { salt, digest })
}

/// Asks the engine. A path that a call of this very conversation still holds, although it is done
/// or nobody reported on it for long, is freed first, and so is what a process left that died
/// before it gave a permit.
pub(super) fn admit(
    work: &Work,
    call: &Call,
) -> Result<Result<Box<Permit>, Box<Refusal>>, Failure> {
    let refused = |admission| refused(work, admission);
    let first = refused(work.engine.admit(call));
    match first {
        Err(refusal) if matches!(refusal.code, Code::PathBusy | Code::StaleFile) => {
            let millis = clock::now().as_millis().saturating_sub(HOOK_MISSING_MS);
            let before = Timestamp::from_millis(millis);
            let session = &work.incoming.context.session;
            let freed = work.engine.settle_on(session, &refusal.paths, before)?;
            let ungiven = work.engine.free_ungiven(before)?;
            if freed.is_empty() && ungiven == 0 {
                return Ok(Err(refusal));
            }
            Ok(refused(work.engine.admit(call)))
        }
        Ok(_) | Err(_) => Ok(first),
    }
}

/// A person's yes is asked for in a terminal of theirs: what a client's own question lets through
/// would run without a permit.
fn refused(work: &Work, admission: Admission) -> Result<Box<Permit>, Box<Refusal>> {
    match admission {
        Admission::Permit(permit) => Ok(permit),
        Admission::Deny(mut refusal) => {
            help(work, &mut refusal);
            Err(refusal)
        }
        Admission::Pending {
            mut refusal,
            approval,
        } => {
            wait(&mut refusal, &approval);
            Err(refusal)
        }
    }
}

/// §13.2: the model reads this, so it names the request and no command that would grant it.
fn wait(refusal: &mut Refusal, approval: &str) {
    refusal.remedy = format!(
        "a person has to agree first, in a terminal of their own: the request {approval} waits \
         there, and `tagout pending` shows it; then make the same call again, for which alone the \
         yes is good"
    );
    refusal.retryable = true;
}

/// How an agent of a client takes an intent up, or asks for one: it has commands, and none of our
/// tools.
pub(super) fn help(work: &Work, refusal: &mut Refusal) {
    if matches!(refusal.code, Code::StateViolation | Code::IntentRequired) {
        if work.is_outside() {
            refusal.remedy = format!(
                "what lies in `{}` is changed in a conversation that starts there",
                work.places.root.display()
            );
            return;
        }
        let called = Called::of(work);
        let (list, select) = (called.verb("intent list"), called.verb("intent select ID"));
        let typed = "`tagout intent select ID`";
        refusal.reason = run::reason_in_words(refusal, &work.engine, typed);
        refusal.remedy = format!(
            "run `{list}`, then `{select}` as a command of its own, and make the call again"
        );
        return;
    }
    run::in_words(refusal, &work.engine, "`tagout intent select ID`");
    let widened = refusal.intent_id.as_ref();
    let widened = widened.filter(|_| refusal.code == Code::ScopeViolation);
    refusal.remedy = Called::of(work).in_full(&refusal.remedy, widened);
}

/// Where a client's subagents reach no hook, handing work to them would free it.
fn delegates_unseen(work: &Work, call: &Call) -> Option<Refusal> {
    if work.incoming.client.profile().subagents != Subagents::Bypass {
        return None;
    }
    let normalised = normalise(call, &work.engine.shelf().books.catalogue);
    let delegates = normalised.tool?.role == Some(Role::Delegation);
    delegates.then(|| {
        Refusal::built_in(
            (Gate::Capability, Code::CapabilityDenied),
            "delegation",
            "the calls of this client's subagents reach no hook, so nothing would govern them",
            "do the work in this conversation",
        )
    })
}
