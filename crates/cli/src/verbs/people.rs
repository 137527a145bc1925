//! `tagout pending`, `approve`, `reject`, `answer`: the human gate.

use serde_json::{Value, json};
use tagout_gate::{ApprovalRequest, Engine, Proposal, ProposalState};
use tagout_policy::catalogue::TargetForm;

use super::intent;
use crate::args::{AnswerArgs, ApproveArgs, PendingArgs, PlaceArgs, RejectArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{args, person, report, runtime};

/// Of a long argument, this many characters are shown; `--json` has all of it.
const SHOWN_CHARS: usize = 200;

/// What waits for a person.
pub(crate) fn pending(place: &PlaceArgs, args: &PendingArgs) -> Result<Exit, Failure> {
    let engine = runtime::open(place)?;
    let requests = engine.pending()?;
    let questions = engine.questions()?;
    let questions: Vec<_> = questions
        .into_iter()
        .filter(|one| one.answer.is_none())
        .collect();
    let proposals = open_proposals(&engine)?;
    let parked = engine.parked()?.len();
    if args.json {
        let requests: Vec<Value> = requests.iter().map(to_json).collect();
        report::json(&json!({
            "approvals": requests, "questions": questions, "proposals": proposals,
            "parked_count": parked,
        }))?;
        return Ok(Exit::Done);
    }
    for request in &requests {
        report::line(&format!(
            "{}  {}  {}",
            request.id,
            report::plain(&request.tool),
            report::plain(&request.reason)
        ))?;
        for effect in &request.effects {
            report::line(&format!("    {}", report::plain(effect)))?;
        }
        for argument in arguments(&engine, request) {
            report::line(&format!("    {argument}"))?;
        }
    }
    for question in &questions {
        let asks = report::plain(&question.question);
        report::line(&format!("{}  asks: {asks}", question.id))?;
    }
    for proposal in &proposals {
        for line in told(proposal) {
            report::line(&line)?;
        }
    }
    let asked = !requests.is_empty() || !proposals.is_empty();
    if person::reads() {
        told_how(asked, !questions.is_empty());
    }
    let nothing = !asked && questions.is_empty();
    match parked {
        0 if nothing => report::note("nothing waits for a person"),
        0 => {}
        1 => report::note("1 change set is parked: `tagout parked list` shows it"),
        count => report::note(&format!(
            "{count} change sets are parked: `tagout parked list` shows them"
        )),
    }
    Ok(Exit::Done)
}

/// The verbs for people. §13.2: agents read what waits too, so no line is whole.
fn told_how(asked: bool, questions: bool) {
    if asked {
        report::note("`tagout approve ID` agrees, `tagout reject ID --reason WHY` does not");
    }
    if questions {
        report::note("`tagout answer ID TEXT` answers a question");
    }
}

/// What a person agrees to, argument by argument. A long text is shown by its beginning and its
/// size where the catalogue knows that nothing in it is run; all else is shown whole.
fn arguments(engine: &Engine, request: &ApprovalRequest) -> Vec<String> {
    let Value::Object(fields) = json!(request.arguments) else {
        return Vec::new();
    };
    let tool = engine.shelf().books.catalogue.tool(&request.tool);
    let is_whole = |key: &str| match tool.map(|tool| &tool.targets) {
        Some(TargetForm::Command { key: line } | TargetForm::Argv { key: line }) => key == line,
        // What goes into files; the effects beside it name them.
        Some(TargetForm::Params | TargetForm::Patch { .. }) => false,
        Some(
            TargetForm::Nothing
            | TargetForm::Address { .. }
            | TargetForm::Remote { .. }
            | TargetForm::Unknown,
        )
        | None => true,
    };
    let shown = |(key, value): (&String, &Value)| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let text = report::plain(&text);
        if is_whole(key) || text.chars().count() <= SHOWN_CHARS {
            return format!("{key}: {text}");
        }
        let start: String = text.chars().take(SHOWN_CHARS).collect();
        format!("{key}: {start}… ({} bytes)", text.len())
    };
    fields.iter().map(shown).collect()
}

fn open_proposals(engine: &Engine) -> Result<Vec<Proposal>, Failure> {
    let mut proposals = engine.proposals()?;
    proposals.retain(|one| one.state == ProposalState::Pending);
    Ok(proposals)
}

/// What an agent asks for, whole: a person agrees to what they see.
fn told(proposal: &Proposal) -> Vec<String> {
    let what = match (&proposal.intent, &proposal.name) {
        (Some(id), _) => format!("a wider scope for {id}"),
        (None, Some(name)) => format!("a new intent, {}", report::plain(name)),
        (None, None) => "a new intent".to_owned(),
    };
    let mut lines = vec![format!("{}  proposes {what}", proposal.id)];
    let parts = [
        ("owns", &proposal.owned_scope),
        ("keeps to", &proposal.constraints),
        ("is done when", &proposal.acceptance_criteria),
    ];
    for (word, texts) in parts {
        let texts = texts.iter().map(|text| report::plain(text));
        lines.extend(texts.map(|text| format!("    {word} {text}")));
    }
    if !proposal.reason.is_empty() {
        lines.push(format!("    because {}", report::plain(&proposal.reason)));
    }
    lines
}

fn to_json(request: &ApprovalRequest) -> Value {
    json!({
        "id": request.id, "tool": request.tool, "session": request.session.as_str(),
        "intent": request.intent, "effects": request.effects, "arguments": request.arguments,
        "reason": request.reason, "rule": request.rule,
        "expires_at": request.expires_at.to_string(),
    })
}

/// Says yes to exactly one call, once.
pub(crate) fn approve(place: &PlaceArgs, args: &ApproveArgs) -> Result<Exit, Failure> {
    person::required(args.yes, "approve")?;
    let engine = runtime::open(place)?;
    let proposals = open_proposals(&engine)?;
    if let Some(proposal) = proposals.iter().find(|one| one.id == args.id) {
        return accept(place, args, &engine, proposal);
    }
    let pending = engine.pending()?;
    let request = pending
        .iter()
        .find(|one| one.id == args.id)
        .ok_or_else(|| {
            Failure::invalid(format!("nothing waits under `{}`", args.id))
                .hint("`tagout pending` shows what waits, and its ids")
        })?;
    report::note(&format!(
        "{} in session {}: {}",
        report::plain(&request.tool),
        request.session,
        report::plain(&request.reason)
    ));
    for effect in &request.effects {
        report::note(&format!("  {}", report::plain(effect)));
    }
    for argument in arguments(&engine, request) {
        report::note(&format!("  {argument}"));
    }
    person::agrees(args.yes, "Approve exactly this call, once?")?;
    engine.approve(&args.id, &args::user())?;
    let words = "approved; the agent has to make the call again";
    report::done(
        args.json,
        words,
        &json!({ "status": "approved", "id": args.id }),
    )
}

/// H18: says yes to a proposal, and writes the intents file as it asks.
fn accept(
    place: &PlaceArgs,
    args: &ApproveArgs,
    engine: &Engine,
    proposal: &Proposal,
) -> Result<Exit, Failure> {
    for line in told(proposal) {
        report::note(&line);
    }
    person::agrees(args.yes, "Write this to the intents file?")?;
    // Written first: a file that can't be edited leaves the proposal waiting.
    let id = intent::propose_accepted(place, proposal)?;
    engine.answer_proposal(&args.id, &args::user(), None)?;
    report::done(
        args.json,
        &format!("accepted as {id}; the agent can select it"),
        &json!({ "status": "accepted", "id": args.id, "intent_id": id }),
    )
}

/// Says no.
pub(crate) fn reject(place: &PlaceArgs, args: &RejectArgs) -> Result<Exit, Failure> {
    person::required(args.yes, "reject")?;
    let engine = runtime::open(place)?;
    let reason = args.reason.as_deref().unwrap_or("no reason given");
    if open_proposals(&engine)?.iter().any(|one| one.id == args.id) {
        engine.answer_proposal(&args.id, &args::user(), Some(reason))?;
    } else {
        engine.reject(&args.id, &args::user(), reason)?;
    }
    let value = json!({ "status": "rejected", "id": args.id, "reason": reason });
    report::done(args.json, "rejected", &value)
}

/// Answers a question of an agent.
pub(crate) fn answer(place: &PlaceArgs, args: &AnswerArgs) -> Result<Exit, Failure> {
    person::required(args.yes, "answer")?;
    let engine = runtime::open(place)?;
    engine.answer(&args.id, &args::user(), &args.text)?;
    let words = "answered; the agent gets it with its next question";
    report::done(
        args.json,
        words,
        &json!({ "status": "answered", "id": args.id }),
    )
}
