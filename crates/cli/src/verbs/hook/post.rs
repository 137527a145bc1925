//! After a tool: paired with what was admitted, compared with it, and settled.

use serde_json::{Map, Value};
use tagout_agents::{Answer, Ended, PairingKey, Post, only_starts, pair, shell_call};
use tagout_gate::{GateError, Permit, Report, Reported, Strayed};

use super::shell;
use super::work::Work;
use crate::failure::Failure;
use crate::notes::{self, Admitted, Open};

/// Settles a call by what the client says about it.
pub(super) fn settle(work: &Work, post: &Post) -> Result<Answer, Failure> {
    let opened = || work.notes.opened(&post.key.session);
    // What still runs is not over: its exit settles it, or the end of the conversation. What it
    // was started with is known already.
    if post.background.is_some() {
        let opened = opened();
        let open = paired(&opened, post).map(|(_, open)| open);
        let strayed = open.and_then(|open| altered(open, post));
        let answer = said(work, post, strayed)?;
        if let Some(Admitted::Exec(id)) = open.filter(|_| strayed.is_some()).map(|open| &open.what)
        {
            work.notes.unsend(id);
        }
        return Ok(answer);
    }
    let named = post.call.id.as_ref();
    if let Some(permit) = named.and_then(|id| work.engine.resume(id).ok()) {
        return settled(work, permit, post);
    }
    let opened = opened();
    let Some((path, open)) = paired(&opened, post) else {
        return said(work, post, nobodys(&opened, post));
    };
    let answer = match &open.what {
        Admitted::Exec(id) => {
            let strayed = altered(open, post).or_else(|| unconfined(work, (open, id), post));
            let answer = said(work, post, strayed)?;
            // A tool that only starts a command may report before the command has begun. It is
            // judged when it does, and its note is good for this line, once and not for long;
            // whether it ever came is looked at when the conversation is over.
            let is_ended = matches!(post.ended, Ended::Failed { .. } | Ended::Refused { .. });
            let is_started = !is_ended && only_starts(&post.call.arguments);
            if is_started && strayed.is_none() && work.notes.unused(id).is_some() {
                return Ok(answer);
            }
            let is_spent = strayed == Some(Strayed::Altered);
            if is_spent || !matches!(post.ended, Ended::Succeeded) {
                work.notes.unsend(id);
            }
            Ok(answer)
        }
        Admitted::Done => said(work, post, altered(open, post)),
        Admitted::Guard(execution) => match work.engine.resume(execution) {
            Ok(permit) => settled(work, permit, post),
            // It was settled before, by what the files told.
            Err(GateError::NoPermit { .. }) => Ok(Answer::NoDecision),
            Err(error) => Err(error.into()),
        },
    };
    // What could not be recorded is looked at again when the conversation is over.
    if answer.is_ok() {
        notes::forget(path);
    }
    answer
}

type Noted = (std::path::PathBuf, Open);

/// The open call that a result belongs to.
fn paired<'a>(opened: &'a [Noted], post: &Post) -> Option<&'a Noted> {
    let key = |(_, open): &Noted| {
        let mut key = open.key.clone();
        if matches!(used(open, post), Used::Asked | Used::Given) {
            key.arguments = post.key.arguments;
        }
        key
    };
    let keys: Vec<PairingKey> = opened.iter().map(key).collect();
    pair(&post.key, &keys).and_then(|at| opened.get(at))
}

/// The arguments that the client says it used. Some say nothing about them.
fn arguments(post: &Post) -> Option<&Map<String, Value>> {
    Some(&post.call.arguments).filter(|all| !all.is_empty())
}

/// Which arguments a client says it used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Used {
    /// It says nothing about them.
    Untold,
    /// Those that it asked with.
    Asked,
    /// Those that it was given.
    Given,
    /// Others.
    Others,
}

/// Clients differ in whether they report the model's arguments or those that they were given
/// instead, and some fill others in; of a command its line is what counts.
fn used(open: &Open, post: &Post) -> Used {
    let Some(arguments) = arguments(post) else {
        return Used::Untold;
    };
    let reported = post.key.arguments;
    let line = shell_call(arguments).and_then(|found| shell::line_of(&found));
    let lines = line.zip(open.lines);
    let given = open.rewritten.as_ref().unwrap_or(&open.key);
    if given.arguments == reported || lines.is_some_and(|(line, lines)| line == lines.given) {
        Used::Given
    } else if open.key.arguments == reported
        || lines.is_some_and(|(line, lines)| line == lines.asked)
    {
        Used::Asked
    } else {
        Used::Others
    }
}

/// §13.6: another hook can have changed the arguments after they were answered.
fn altered(open: &Open, post: &Post) -> Option<Strayed> {
    (used(open, post) == Used::Others).then_some(Strayed::Altered)
}

/// A result whose arguments are those of none of the calls that it could belong to. Whose it is
/// nobody knows, but not that it is as it was let through.
fn nobodys(opened: &[Noted], post: &Post) -> Option<Strayed> {
    let is_one = |(_, open): &Noted| open.key.call.is_none() && open.key.tool == post.key.tool;
    let is_altered = post.key.call.is_none() && arguments(post).is_some();
    (is_altered && opened.iter().any(is_one)).then_some(Strayed::Altered)
}

/// A command that was given other arguments so that it is confined, that is over, well or not, and
/// that never came there. Where the client says that it ran what it was given, it did: what kept
/// that from being confined has said so to whoever waited for it. Where it says that the call was
/// refused, nothing ran.
fn unconfined(work: &Work, (open, id): (&Open, &str), post: &Post) -> Option<Strayed> {
    let is_done = match post.ended {
        Ended::Refused { .. } => false,
        Ended::Failed { .. } => true,
        Ended::Succeeded | Ended::Unknown => !only_starts(&post.call.arguments),
    };
    let is_elsewhere = open.rewritten.is_some() && used(open, post) != Used::Given;
    let never_came = || work.notes.unused(id).is_some();
    (is_done && is_elsewhere && never_came()).then_some(Strayed::Unconfined)
}

/// Records what went otherwise than it was let through, if anything did, and tells it.
fn said(work: &Work, post: &Post, strayed: Option<Strayed>) -> Result<Answer, Failure> {
    let told = work.engine.strayed(&post.call, strayed, &post.changed)?;
    Ok(answered(&told))
}

fn answered(told: &[String]) -> Answer {
    if told.is_empty() {
        return Answer::NoDecision;
    }
    Answer::Context {
        text: told.join("\n"),
    }
}

fn settled(work: &Work, permit: Permit, post: &Post) -> Result<Answer, Failure> {
    let receipt = work.engine.settle(permit, &report(work, post));
    let unexpected = work.engine.strayed(&post.call, None, &post.changed)?;
    let mut told = receipt.warnings;
    if !receipt.altered {
        told.clear();
    }
    told.extend(unexpected);
    Ok(answered(&told))
}

fn report(work: &Work, post: &Post) -> Report {
    let arguments = arguments(post).cloned();
    Report {
        ended: match &post.ended {
            Ended::Succeeded => Reported::Succeeded,
            Ended::Failed { message } | Ended::Refused { message } => Reported::Failed {
                message: message.clone(),
            },
            Ended::Unknown => Reported::Unknown,
        },
        output: post.output.clone(),
        arguments: arguments.map(|all| shell::as_admitted(work, all)),
    }
}
