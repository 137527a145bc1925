//! Calls that run commands: sent through `exec` where the client takes other arguments, else let
//! through only when they are proven to read.

use serde_json::{Map, Value};
use tagout_agents::install::own_rules;
use tagout_agents::install::plan::Narrow;
use tagout_agents::profile::Rewrite;
use tagout_agents::{Answer, Kind, Pre, ShellCall, quoted, rewrite, shell_call};
use tagout_gate::Outcome;
use tagout_gate::policy::catalogue::TargetForm;
use tagout_gate::policy::judge::is_in_known_shell;
use tagout_gate::policy::targets::{check_input, normalise};
use tagout_vocab::{Call, Code, Digest, Gate, IntentId, Refusal, Role};

use super::own::{self, OwnLine};
use super::pre::{admit, deny, guarded, help, note, note_permit};
use super::work::Work;
use crate::args;
use crate::clock;
use crate::failure::Failure;
use crate::notes::{Admitted, Selected, Sent, line_digest};
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

/// The lines of a call. What is typed into a command that runs has none: it is judged as what it
/// is, unknown.
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

fn own_line(lines: &[String]) -> Option<OwnLine> {
    match lines {
        [line] => own::own_line(line, args::own_program().as_deref()),
        _ => None,
    }
}

/// Whether a call takes an intent up, which the hook performs.
pub(super) fn selects(pre: &Pre) -> bool {
    let Some(found) = &pre.shell else {
        return false;
    };
    let named = by_path(found).ok().flatten();
    let lines = named.map_or_else(|| lines(found), |(_, line)| Some(vec![line]));
    let own = lines.and_then(|lines| own_line(&lines));
    matches!(own, Some(OwnLine::Select(_)))
}

/// Decides about a call that runs commands. A line that calls Tagout by its name calls this
/// program, whatever the search path of the client's shell says; where the line can't be rewritten,
/// only the path is sure to.
pub(super) fn decide(work: &Work, pre: &Pre, found: &ShellCall) -> Result<Answer, Failure> {
    let Some((key, line)) = by_path(found)? else {
        return decided(work, pre, found);
    };
    if !rewrites(work) {
        return Ok(deny(work, &pre.call, by_another_name(&line)));
    }
    if let Some(answer) = narrowed(work, &pre.call) {
        return Ok(answer);
    }
    let mut named = pre.clone();
    named
        .call
        .arguments
        .insert(key.to_owned(), line.clone().into());
    let found = ShellCall::Line { key, line };
    Ok(match decided(work, &named, &found)? {
        Answer::NoDecision | Answer::Context { .. } => Answer::AllowRewritten {
            arguments: named.call.arguments,
        },
        other @ (Answer::Allow { .. }
        | Answer::AllowRewritten { .. }
        | Answer::Ask { .. }
        | Answer::Deny { .. }) => other,
    })
}

/// How Tagout is called in this client's shell so that this program answers.
pub(super) fn called(work: &Work) -> String {
    let path = args::own_program().filter(|_| !rewrites(work));
    path.map_or_else(|| own::NAME.to_owned(), |path| quoted([path.as_str()]))
}

fn rewrites(work: &Work) -> bool {
    // The events of a conversation can't rewrite; the one before a tool can.
    let client = work.incoming.client;
    let dialects = client.profile().dialects.iter();
    let mut pre = dialects
        .flat_map(|dialect| dialect.events)
        .filter(|event| event.kind == Kind::Pre);
    pre.any(|event| event.powers.rewrite != Rewrite::Never)
}

/// A line that calls Tagout by its name, with this program's path instead.
fn by_path(found: &ShellCall) -> Result<Option<(&'static str, String)>, Failure> {
    let ShellCall::Line { key, line } = found else {
        return Ok(None);
    };
    let program = own_path()?;
    Ok(own::by_path(line, &program).map(|line| (*key, line)))
}

/// Arguments as they were admitted: where they call Tagout by its name, by this program's path.
/// Clients differ in which of the two they report.
pub(super) fn with_path(mut arguments: Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    if let Some(found) = shell_call(&arguments)
        && let Some((key, line)) = by_path(&found)?
    {
        arguments.insert(key.to_owned(), line.into());
    }
    Ok(arguments)
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
            "nobody knows which program this name starts in this client's shell",
            format!("run exactly this instead: {line}"),
        )
    }
}

fn decided(work: &Work, pre: &Pre, found: &ShellCall) -> Result<Answer, Failure> {
    let Some(lines) = lines(found) else {
        return guarded(work, pre);
    };
    let own = own_line(&lines);
    match own {
        Some(OwnLine::Select(id)) => select(work, pre, &id),
        Some(OwnLine::Other) => {
            work.engine.lies_at(own_path()?);
            guarded(work, pre)
        }
        Some(OwnLine::Exec { options, command }) => exec(work, pre, &options, &command),
        None if work.incoming.event.powers.rewrite != Rewrite::Never => confined(work, pre, &lines),
        None => unconfined(work, pre, &lines),
    }
}

/// §13.3: the hook performs the selection, because it knows the conversation. The command prints.
fn select(work: &Work, pre: &Pre, id: &str) -> Result<Answer, Failure> {
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
        context: context.clone(),
        at: clock::now(),
    };
    let id = IntentId::new(id).map_err(Failure::invalid)?;
    work.notes.select(&id, &selected)?;
    note(work, pre, Admitted::Done)?;
    Ok(Answer::Context { text: context })
}

/// What an agent hands to `exec` itself, in its own conversation.
fn exec(work: &Work, pre: &Pre, options: &[String], command: &[String]) -> Result<Answer, Failure> {
    if !own::may_be_given(options) {
        let refusal = Refusal {
            retryable: true,
            ..Refusal::built_in(
                (Gate::Capability, Code::PersonOnly),
                "verbs for people",
                "`tagout exec` does not take these options from an agent",
                format!("write `{} exec -- COMMAND`", called(work)),
            )
        };
        return Ok(deny(work, &pre.call, refusal));
    }
    let line = match command {
        [line] => line.clone(),
        words => quoted(words.iter().map(String::as_str)),
    };
    let id = runtime::clockwork()?.id("e");
    send(work, pre, (&id, &[line]))?;
    Ok(Answer::NoDecision)
}

/// Notes lines for `exec`, which judges and runs them in this conversation.
fn send(work: &Work, pre: &Pre, (id, lines): (&str, &[String])) -> Result<(), Failure> {
    let sent = Sent {
        session: work.incoming.context.session.clone(),
        client: work.incoming.client.to_string(),
        lines: lines.iter().map(|line| line_digest(line)).collect(),
        at: clock::now(),
    };
    work.notes.send(id, &sent)?;
    note(work, pre, Admitted::Exec(id.to_owned()))
}

/// §13.5: the command is rewritten, so that the kernel holds it and its writes are judged.
fn confined(work: &Work, pre: &Pre, lines: &[String]) -> Result<Answer, Failure> {
    if let Some(answer) = narrowed(work, &pre.call) {
        return Ok(answer);
    }
    let text = |path: &std::path::Path| {
        let text = path.to_str().map(str::to_owned);
        text.ok_or_else(|| Failure::invalid("the name of a folder is not text"))
    };
    let program = own_path()?;
    let id = runtime::clockwork()?.id("e");
    let prefix = [
        program,
        "exec".to_owned(),
        "--permit".to_owned(),
        id.clone(),
        "--workspace".to_owned(),
        text(&work.places.root)?,
        "--state-dir".to_owned(),
        text(&work.places.state_home)?,
        "--".to_owned(),
    ];
    let Some(arguments) = rewrite(&pre.call, &prefix) else {
        let refusal = Refusal {
            retryable: true,
            ..Refusal::built_in(
                (Gate::Capability, Code::LimitExceeded),
                "limits",
                "the command is too long to be confined",
                "put it into a script file inside the scope and run that",
            )
        };
        return Ok(deny(work, &pre.call, refusal));
    };
    let mut sent = pre.clone();
    sent.call.arguments.clone_from(&arguments);
    send(work, &sent, (&id, lines))?;
    Ok(Answer::AllowRewritten { arguments })
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
                let again = format!("{} exec -- {}", called(work), quoted([lines.as_str()]));
                "a command that changes something, or that a repository's configuration can have \
                 start programs, runs confined, which this client can't do"
                    .clone_into(&mut refusal.reason);
                refusal.remedy = format!("run exactly this instead: {again}");
                refusal.retryable = true;
            }
            Ok(Answer::denied(&refusal))
        }
    }
}
