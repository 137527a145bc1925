//! After a tool: paired with what was admitted, and settled.

use tagout_agents::{Answer, Ended, PairingKey, Post, pair};
use tagout_gate::{GateError, Permit, Report, Reported};

use super::work::Work;
use crate::failure::Failure;
use crate::notes::{self, Admitted, Open};

/// Settles a call by what the client says about it.
pub(super) fn settle(work: &Work, post: &Post) -> Result<Answer, Failure> {
    // What still runs is not over: its exit settles it, or the end of the conversation.
    if post.background.is_some() {
        return Ok(Answer::NoDecision);
    }
    let named = post.call.id.as_ref();
    if let Some(permit) = named.and_then(|id| work.engine.resume(id).ok()) {
        return Ok(settled(work, permit, post));
    }
    let opened = work.notes.opened(&post.key.session);
    let key = |(_, open): &(_, Open)| {
        let rewritten = open.rewritten.as_ref();
        let same = rewritten.filter(|key| key.arguments == post.key.arguments);
        same.unwrap_or(&open.key).clone()
    };
    let keys: Vec<PairingKey> = opened.iter().map(key).collect();
    let found = pair(&post.key, &keys).and_then(|at| opened.get(at));
    let Some((path, open)) = found else {
        return Ok(Answer::NoDecision);
    };
    let answer = match &open.what {
        Admitted::Exec(id) => {
            // A tool that only starts a command may report before the command has begun. It is
            // judged when it does, and its note is good for this line, once and not for long.
            if !matches!(post.ended, Ended::Succeeded) {
                work.notes.unsend(id);
            }
            Ok(Answer::NoDecision)
        }
        Admitted::Done => Ok(Answer::NoDecision),
        Admitted::Guard(execution) => match work.engine.resume(execution) {
            Ok(permit) => Ok(settled(work, permit, post)),
            // It was settled before, by what the files told.
            Err(GateError::NoPermit { .. }) => Ok(Answer::NoDecision),
            Err(error) => Err(error.into()),
        },
    };
    notes::forget(path);
    answer
}

fn settled(work: &Work, permit: Permit, post: &Post) -> Answer {
    let receipt = work.engine.settle(permit, &report(post));
    if receipt.altered {
        return Answer::Context {
            text: receipt.warnings.join("\n"),
        };
    }
    Answer::NoDecision
}

fn report(post: &Post) -> Report {
    Report {
        ended: match &post.ended {
            Ended::Succeeded => Reported::Succeeded,
            Ended::Failed { message } => Reported::Failed {
                message: message.clone(),
            },
            Ended::Unknown => Reported::Unknown,
        },
        output: post.output.clone(),
        arguments: Some(post.call.arguments.clone()),
    }
}
