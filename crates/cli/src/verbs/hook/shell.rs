//! Calls that run commands: sent through `exec` where the client takes other arguments, else let
//! through only when they are proven to read.

use serde_json::{Map, Value};
use tagout_agents::install::own_rules;
use tagout_agents::install::plan::Narrow;
use tagout_agents::profile::Rewrite;
use tagout_agents::{Answer, Pre, ShellCall, quoted, rewrite, shell_call};
use tagout_gate::policy::catalogue::TargetForm;
use tagout_gate::policy::judge::{is_for_agents, is_in_known_shell};
use tagout_gate::policy::targets::{check_input, normalise};
use tagout_gate::{Outcome, Places};
use tagout_vocab::limits::HOOK_TEXT_BYTES_MAX;
use tagout_vocab::{Call, Code, Digest, Gate, IntentId, Refusal, Role};

use super::called::{self, Called};
use super::own::{self, Act, Acting, Beyond, Here, Own, OwnLine};
use super::pre::{admit, deny, guarded, help, note, note_permit};
use super::work::Work;
use crate::args;
use crate::clock;
use crate::failure::Failure;
use crate::notes::{Admitted, Comes, Selected, Sent, line_digest};
use crate::runtime;

/// Whether a call is that of a tool which runs commands and does nothing else: one of the client's
/// own that the catalogue calls so, with arguments that it knows. The shape alone proves nothing:
/// any tool can carry a further argument that looks like a command, and the client goes on with the
/// rest of them.
pub(super) fn runs_commands(work: &Work, call: &Call, found: &ShellCall) -> bool {
    let catalogue = &work.engine.shelf().books.catalogue;
    let Some(own) = catalogue.clients_own(&call.origin, &call.tool) else {
        return false;
    };
    let (key, means) = match (&own.tool.targets, found) {
        (
            TargetForm::Command { key: means },
            ShellCall::Line { key, .. } | ShellCall::Lines { key, .. },
        )
        | (TargetForm::Argv { key: means }, ShellCall::Program { key, .. }) => (*key, means),
        (_, _) => return false,
    };
    let normalised = normalise(call, catalogue);
    let is_same = normalised.arguments.get(means) == call.arguments.get(key);
    is_same && is_in_known_shell(&normalised) && check_input(&normalised).is_ok()
}

/// The lines of a call. What is typed into a command that runs has none.
fn lines(found: &ShellCall) -> Option<Vec<String>> {
    match found {
        ShellCall::Line { line, .. } => Some(vec![line.clone()]),
        ShellCall::Lines { lines, .. } => Some(lines.clone()),
        ShellCall::Program { words, .. } => Some(vec![quoted(words.iter().map(String::as_str))]),
        ShellCall::Typed => None,
    }
}

/// What the commands of a call are noted as.
pub(super) fn line_of(found: &ShellCall) -> Option<Digest> {
    lines(found).map(|lines| line_digest(&lines.join("\0")))
}

/// The call of Tagout that the lines of a call are, if they are one.
fn own_line(lines: &[String], here: Option<&Here>) -> Option<Result<Own, Beyond>> {
    match lines {
        [line] => own::own_line(line, here?),
        _ => None,
    }
}

/// Whether a call takes an intent up, which the hook performs.
pub(super) fn selects(pre: &Pre, places: &Places) -> bool {
    let Some(lines) = pre.shell.as_ref().and_then(lines) else {
        return false;
    };
    let own = own_line(&lines, called::here(places).as_ref());
    own.is_some_and(|own| own.is_ok_and(|own| matches!(own.what, OwnLine::Acts(Act::Select(_)))))
}

/// Decides about a call that runs commands.
pub(super) fn decide(work: &Work, pre: &Pre, found: &ShellCall) -> Result<Answer, Failure> {
    // What is typed into a command that runs is judged as what it is, unknown.
    let Some(lines) = lines(found) else {
        return guarded(work, pre);
    };
    let here = called::here(&work.places);
    match own_line(&lines, here.as_ref()).zip(here) {
        Some((Ok(own), here)) => own_call(work, (pre, found), (&own, &here)),
        Some((Err(how), _)) => Ok(beyond(work, &pre.call, how)),
        None if rewrites(work) => confined(work, pre, &lines),
        None if lines.iter().any(|line| own::is_too_long(line)) => {
            Ok(deny(work, &pre.call, too_long()))
        }
        None => unconfined(work, pre, &lines),
    }
}

fn too_long() -> Refusal {
    Refusal {
        retryable: true,
        ..Refusal::built_in(
            (Gate::Capability, Code::LimitExceeded),
            "limits",
            "the command is too long to be confined",
            IN_A_FILE,
        )
    }
}

const IN_A_FILE: &str = "put it into a script file inside the scope and run that";

fn rewrites(work: &Work) -> bool {
    work.incoming.event.rewrites()
}

/// A line that calls Tagout by its name calls this program, whatever the search path of the
/// client's shell says, and finds the state that the hook knows, wherever that shell would look;
/// where the line can't be rewritten, only words that say so themselves are sure to.
fn own_call(
    work: &Work,
    (pre, found): (&Pre, &ShellCall),
    (own, here): (&Own, &Here),
) -> Result<Answer, Failure> {
    let acts = own.acts();
    let places = acts || called::tells_places(work);
    if let Some(verb) = own.named_note().filter(|_| !rewrites(work)) {
        return Ok(beyond(work, &pre.call, Beyond::Words(verb)));
    }
    if own.is_sure(places) && !(acts && rewrites(work)) {
        return performed(work, pre, (&own.what, None));
    }
    if !rewrites(work) {
        let sure = own.sure(here, None, places);
        if own.what == OwnLine::Other && !is_for_agents(&own.plain()) {
            return performed(work, &with(pre, found, &sure), (&own.what, None));
        }
        return Ok(deny(work, &pre.call, by_another_name(&own::line_of(&sure))));
    }
    if let Some(answer) = narrowed(work, &pre.call) {
        return Ok(answer);
    }
    // What acts names its note, so that it acts in this conversation or not at all.
    let permit = runtime::clockwork()?.id("n");
    let permit = acts.then_some(permit.as_str());
    let sure = with(pre, found, &own.sure(here, permit, places));
    let answer = performed(work, &sure, (&own.what, permit))?;
    let arguments = sure.call.arguments;
    Ok(match answer {
        Answer::NoDecision => Answer::rewritten(arguments),
        Answer::Context { text } => Answer::AllowRewritten {
            arguments,
            context: Some(text),
        },
        other @ (Answer::Allow { .. }
        | Answer::AllowRewritten { .. }
        | Answer::Ask { .. }
        | Answer::Deny { .. }) => other,
    })
}

/// Words in the form in which a call carries its own.
fn carried(found: &ShellCall, words: &[String]) -> Option<(&'static str, Value)> {
    match found {
        ShellCall::Line { key, .. } => Some((*key, own::line_of(words).into())),
        ShellCall::Lines { key, .. } => Some((*key, vec![own::line_of(words)].into())),
        ShellCall::Program { key, .. } => Some((*key, words.into())),
        ShellCall::Typed => None,
    }
}

/// A call with other words.
fn with(pre: &Pre, found: &ShellCall, words: &[String]) -> Pre {
    let mut pre = pre.clone();
    if let Some((key, value)) = carried(found, words) {
        pre.call.arguments.insert(key.to_owned(), value);
    }
    pre
}

/// Arguments as they were admitted: where they call Tagout, in the words that are sure to. Clients
/// differ in which of the two they report.
pub(super) fn as_admitted(work: &Work, mut arguments: Map<String, Value>) -> Map<String, Value> {
    let sure = shell_call(&arguments).and_then(|found| {
        let here = called::here(&work.places)?;
        let own = own_line(&lines(&found)?, Some(&here))?.ok()?;
        let places = own.acts() || called::tells_places(work);
        (!own.is_sure(places)).then(|| carried(&found, &own.sure(&here, None, places)))?
    });
    if let Some((key, value)) = sure {
        arguments.insert(key.to_owned(), value);
    }
    arguments
}

fn own_path() -> Result<String, Failure> {
    let program = args::own_program();
    program.ok_or_else(|| Failure::failed("this program's own path is not known"))
}

fn by_another_name(line: &str) -> Refusal {
    Refusal {
        retryable: true,
        ..Refusal::built_in(
            (Gate::Capability, Code::ToolUnknown),
            "own program",
            "nobody knows which program and which state these words find in this client's shell",
            format!("run exactly this instead: {line}"),
        )
    }
}

/// What becomes of a call of Tagout itself. What the command does under a note that its line names
/// has a `permit`.
fn performed(
    work: &Work,
    pre: &Pre,
    (what, permit): (&OwnLine, Option<&str>),
) -> Result<Answer, Failure> {
    match what {
        OwnLine::Acts(Act::Select(id)) => select(work, pre, (id, permit)),
        OwnLine::Acts(Act::Propose(noted)) => {
            send(work, own_note(permit)?, std::slice::from_ref(noted))?;
            // It is nothing that could have been confined.
            note(work, pre, Admitted::Done)?;
            Ok(Answer::NoDecision)
        }
        OwnLine::Acts(Act::Exec(noted)) => {
            let id = send(work, own_note(permit)?, std::slice::from_ref(noted))?;
            note(work, pre, Admitted::Exec(id))?;
            Ok(Answer::NoDecision)
        }
        OwnLine::Tells | OwnLine::Other => {
            work.engine.lies_at(own_path()?);
            guarded(work, pre)
        }
    }
}

/// §13.3: the conversation is the one that the hook is called for, and nobody names another one.
fn beyond(work: &Work, call: &Call, how: Beyond) -> Answer {
    let called = Called::of(work);
    let (reason, remedy) = match how {
        Beyond::Session => (
            "`--session` names a conversation, which is for people",
            "run the same without `--session`: the hook knows the conversation".to_owned(),
        ),
        Beyond::Place => (
            "`--workspace` and `--state-dir` name another place than this conversation's, which \
             is for people",
            called.places(),
        ),
        Beyond::Words(Acting::Select) => (
            "`tagout intent select` takes nothing but an id and `--json` from an agent",
            format!("run `{}`", called.verb("intent select ID")),
        ),
        Beyond::Words(Acting::Propose) => (
            "`tagout intent propose` takes a name, a scope, a reason, the id of an intent to widen \
             and `--json` from an agent",
            format!(
                "run `{}`",
                called.verb("intent propose --name NAME --scope PATTERN --reason WHY")
            ),
        ),
        Beyond::Words(Acting::Exec) => (
            "`tagout exec` does not take these options from an agent",
            format!("write `{}`", called.exec("COMMAND")),
        ),
    };
    let what = (Gate::Authority, Code::PersonOnly);
    let refusal = Refusal {
        retryable: true,
        ..Refusal::built_in(what, "verbs for people", reason, remedy)
    };
    deny(work, call, refusal)
}

/// §13.3: the hook performs the selection, because it knows the conversation. The command prints.
fn select(work: &Work, pre: &Pre, (id, permit): (&str, Option<&str>)) -> Result<Answer, Failure> {
    let engine = &work.engine;
    let mut call = Call::new(
        engine.shelf().books.name_of(Role::SelectIntent),
        [("intent_id".to_owned(), id.into())].into_iter().collect(),
    );
    call.session.clone_from(&pre.call.session);
    call.agent = pre.call.agent.clone();
    let receipt = engine.execute(&call);
    if let Some(mut refusal) = receipt.refusal {
        help(work, &mut refusal);
        return Ok(Answer::denied(&refusal));
    }
    if receipt.outcome != Outcome::Completed {
        return Err(Failure::failed("the selection did not come to its end"));
    }
    let output = receipt.output.unwrap_or_default();
    let context = output.get("context").and_then(|text| text.as_str());
    let context = context.unwrap_or_default().to_owned();
    let selected = Selected {
        intent: IntentId::new(id).map_err(Failure::invalid)?,
        session: work.incoming.context.session.clone(),
        context: context.clone(),
        at: clock::now(),
    };
    work.notes.select(permit, &selected)?;
    note(work, pre, Admitted::Done)?;
    Ok(Answer::Context { text: context })
}

/// A note's name that nobody has used.
fn fresh() -> Result<String, Failure> {
    Ok(runtime::clockwork()?.id("e"))
}

/// The note of a line that the agent wrote for Tagout: under the name that it was given, or under
/// one that nobody tells it.
fn own_note(given: Option<&str>) -> Result<(String, Comes), Failure> {
    Ok(match given {
        Some(name) => (name.to_owned(), Comes::OwnNamed),
        None => (fresh()?, Comes::AsItIs),
    })
}

/// Notes lines for a command that comes after the hook, which judges them and does them in this
/// conversation. Gives the note's name.
fn send(work: &Work, (id, comes): (String, Comes), lines: &[String]) -> Result<String, Failure> {
    let sent = Sent {
        comes,
        session: work.incoming.context.session.clone(),
        client: work.incoming.client.to_string(),
        lines: lines.iter().map(|line| line_digest(line)).collect(),
        at: clock::now(),
    };
    work.notes.send(&id, &sent)?;
    Ok(id)
}

/// §13.5: the command is rewritten, so that the kernel holds it and its writes are judged.
fn confined(work: &Work, pre: &Pre, lines: &[String]) -> Result<Answer, Failure> {
    if let Some(answer) = narrowed(work, &pre.call) {
        return Ok(answer);
    }
    let here = called::here(&work.places);
    let here = here.ok_or_else(|| Failure::invalid("the name of a folder is not text"))?;
    let id = fresh()?;
    let [workspace, root, state_dir, state] = here.places();
    let prefix = [
        here.program(),
        "exec",
        "--permit",
        &id,
        workspace,
        root,
        state_dir,
        state,
        "--",
    ];
    let prefix = prefix.map(str::to_owned);
    let Some(arguments) = rewrite(&pre.call, &prefix) else {
        return Ok(deny(work, &pre.call, too_long()));
    };
    let mut sent = pre.clone();
    sent.call.arguments.clone_from(&arguments);
    let id = send(work, (id, Comes::Named), lines)?;
    note(work, &sent, Admitted::Exec(id))?;
    Ok(Answer::rewritten(arguments))
}

/// §13.6: where a rewrite counts as an allow, the client's own rules are asked first.
fn narrowed(work: &Work, call: &Call) -> Option<Answer> {
    if work.incoming.event.powers.rewrite != Rewrite::NeedsAllow {
        return None;
    }
    let means =
        own_rules(work.incoming.client, &work.texts_of(work.incoming.client)).narrows(call)?;
    let what = match means {
        Narrow::Ask => "ask a person about",
        Narrow::Deny => "refuse",
    };
    let refusal = Refusal {
        code: Code::CapabilityDenied,
        reason: format!("the client's own rules {what} this command"),
        remedy: "use another command, or let a person change the client's rules".to_owned(),
        retryable: false,
        intent_id: None,
        paths: Vec::new(),
        gate: Gate::Capability,
        rule: "the client's own rules".to_owned(),
    };
    Some(deny(work, call, refusal))
}

/// A client that takes no other arguments: what reads passes, the rest is told how to come again.
fn unconfined(work: &Work, pre: &Pre, lines: &[String]) -> Result<Answer, Failure> {
    match admit(work, &pre.call)? {
        Ok(permit) => {
            note_permit(work, pre, &permit)?;
            Ok(Answer::NoDecision)
        }
        Err(mut refusal) => {
            if refusal.code == Code::IsolationUnavailable {
                let lines = lines.join("\n");
                let again = Called::of(work).exec(&quoted([lines.as_str()]));
                "a command that changes something, or that a repository's configuration can have \
                 start programs, runs confined, which this client can't do"
                    .clone_into(&mut refusal.reason);
                refusal.remedy = format!("run exactly this instead: {again}");
                refusal.retryable = true;
                // Half of a line is worse than none.
                let told = serde_json::to_string(&refusal).unwrap_or_default();
                if told.is_empty() || told.len() > HOOK_TEXT_BYTES_MAX / 2 {
                    IN_A_FILE.clone_into(&mut refusal.remedy);
                }
            }
            Ok(Answer::denied(&refusal))
        }
    }
}
