//! `tagout run`: one native tool through the whole lifecycle.

use serde_json::{Map, Value, json};
use tagout_gate::{Engine, Outcome, Receipt};
use tagout_vocab::{Agent, Call, Code, Refusal, Role, SessionId};

use crate::args::{PlaceArgs, RunArgs, SessionArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notes::Notes;
use crate::{clock, report, runtime, terminal};

/// Runs one tool.
pub(crate) fn run(place: &PlaceArgs, args: &RunArgs) -> Result<Exit, Failure> {
    let arguments: Map<String, Value> = serde_json::from_str(&args.input)
        .map_err(|error| Failure::invalid(format!("`--input` is not a JSON object: {error}")))?;
    let engine = runtime::open(place)?;
    let actor = own_actor(args.session.session.as_deref())?;
    execute(
        &engine,
        Call::new(&args.tool, arguments),
        (actor, &args.session),
    )
}

/// The conversation that a call is made in, and the agent that makes it.
pub(super) type Actor = (SessionId, Agent);

/// Those of whoever types: the named session, else that of this terminal.
pub(super) fn own_actor(session: Option<&str>) -> Result<Actor, Failure> {
    let named = session
        .map(str::to_owned)
        .map_or_else(terminal::session, Ok)?;
    let session = SessionId::new(&named)
        .map_err(|error| Failure::invalid(format!("`--session`: {error}")))?;
    Ok((session, agent("cli")))
}

/// Those of the client whose hook sent a line here, if one did, else those of whoever types. What
/// names a note is nobody else's.
pub(super) fn actor(
    engine: &Engine,
    (session, permit): (Option<&str>, Option<&str>),
    line: &str,
) -> Result<Actor, Failure> {
    if session.is_none() {
        let notes = Notes::of(engine.site().state());
        if let Some(sent) = notes.take_sent(permit, line, clock::now())? {
            return Ok((sent.session, agent(&sent.client)));
        }
    }
    if permit.is_some() {
        let message = "no hook sent this command here, or it was run before";
        let failure = Failure::denied(Code::StateViolation, message);
        return Err(failure.hint("run the command itself; the hook sends it here again"));
    }
    own_actor(session)
}

fn agent(name: &str) -> Agent {
    Agent {
        name: Some(name.to_owned()),
        ..Agent::default()
    }
}

/// Makes a call as somebody, and tells what came of it.
pub(super) fn execute(
    engine: &Engine,
    mut call: Call,
    ((id, agent), session): (Actor, &SessionArgs),
) -> Result<Exit, Failure> {
    call.session = Some(id);
    call.agent = agent;
    let mut receipt = engine.execute(&call);
    if let Some(refusal) = &mut receipt.refusal {
        in_verbs(refusal, engine, session.session.as_deref());
    }
    tell(&receipt, session.json)
}

/// Says what to do in the words of this door: verbs that are typed, not tools that are called.
pub(super) fn in_verbs(refusal: &mut Refusal, engine: &Engine, session: Option<&str>) {
    let session = session.map_or_else(String::new, |name| format!(" --session {name}"));
    let select = format!("`tagout intent select ID{session}`");
    in_words(refusal, engine, &select);
}

/// The same where a selection is typed otherwise.
pub(super) fn in_words(refusal: &mut Refusal, engine: &Engine, typed: &str) {
    let books = &engine.shelf().books;
    let select = format!("`{}`", books.name_of(Role::SelectIntent));
    let propose = format!("`{}`", books.name_of(Role::ProposeIntent));
    refusal.reason = reason_in_words(refusal, engine, typed);
    refusal.remedy = refusal
        .remedy
        .replace(&format!("call {select}"), &format!("run {typed}"))
        .replace(&select, typed)
        .replace(&propose, "`tagout intent propose`");
}

/// G4's sentence stays as it is, and names a tool: what that is called at this door follows it.
pub(super) fn reason_in_words(refusal: &Refusal, engine: &Engine, typed: &str) -> String {
    let select = engine.shelf().books.name_of(Role::SelectIntent);
    let reason = &refusal.reason;
    if reason.contains(&format!("'{select}'")) {
        format!("{reason} Here that is {typed}.")
    } else {
        reason.clone()
    }
}

fn tell(receipt: &Receipt, json: bool) -> Result<Exit, Failure> {
    for warning in &receipt.warnings {
        report::note(&format!("warning: {warning}"));
    }
    if json {
        report::json(&to_json(receipt))?;
        return Ok(exit(receipt));
    }
    match (&receipt.output, &receipt.refusal) {
        (Some(Value::String(text)), None) => report::line(text)?,
        (Some(output), None) => report::line(&pretty(output))?,
        (_, Some(refusal)) => refused(receipt, refusal),
        (None, None) => {}
    }
    for change in &receipt.changes {
        report::note(&format!("changed {}", change.path));
    }
    Ok(exit(receipt))
}

fn refused(receipt: &Receipt, refusal: &Refusal) {
    let (reason, remedy) = (
        report::lines(&refusal.reason),
        report::lines(&refusal.remedy),
    );
    report::note(&format!("{}: {reason}", refusal.code.as_str()));
    report::note(&format!("what to do: {remedy}"));
    if let Some(approval) = &receipt.approval {
        report::note(&format!("it waits for a person as {approval}"));
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// The receipt. Where the call was refused, the fields of the refusal stand beside the others, as
/// in every refusal.
fn to_json(receipt: &Receipt) -> Value {
    let mut told = receipt_json(receipt);
    let refusal = receipt.refusal.as_ref().map(|refusal| refusal.to_json());
    if let (Some(told), Some(Value::Object(refusal))) = (told.as_object_mut(), refusal) {
        told.extend(refusal);
    }
    told
}

fn receipt_json(receipt: &Receipt) -> Value {
    json!({
        "status": "ok",
        "execution": receipt.execution.as_ref().map(tagout_vocab::CallId::as_str),
        "outcome": word(receipt.outcome),
        "output": receipt.output,
        "error": receipt.refusal.as_ref().map(|refusal| refusal.to_json()),
        "approval": receipt.approval,
        "changes": receipt.changes,
        "not_undone": receipt.left,
        "events": receipt.events(),
        "undoable_until": receipt.undoable_until.map(|time| time.to_string()),
        "limits": receipt.limits,
        "retries": receipt.retries,
    })
}

const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::RolledBack => "rolled_back",
        Outcome::Failed => "failed",
        Outcome::Denied => "denied",
        Outcome::Pending => "pending",
    }
}

fn exit(receipt: &Receipt) -> Exit {
    let code = receipt.refusal.as_ref().map(|refusal| refusal.code);
    match receipt.outcome {
        Outcome::Completed => Exit::Done,
        Outcome::RolledBack if code == Some(Code::Conflict) => Exit::Conflict,
        Outcome::RolledBack if code.is_some_and(is_refusal) => Exit::Denied,
        Outcome::RolledBack => Exit::Failed,
        Outcome::Failed => Exit::Invalid,
        Outcome::Denied | Outcome::Pending => Exit::Denied,
    }
}

/// Whether a run ended because it went too far, not because it went wrong.
const fn is_refusal(code: Code) -> bool {
    matches!(code, Code::ScopeViolation | Code::AuthorityFile)
}
