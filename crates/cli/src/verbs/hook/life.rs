//! Conversations: how they begin, go on and end, and what becomes of what was left open.

use tagout_agents::install::plan::Scope;
use tagout_agents::install::{self, Binary, FindingKind};
use tagout_agents::{Answer, PromptFrom, What};
use tagout_gate::policy::intents::selectable;
use tagout_gate::policy::session::PromptSource;
use tagout_vocab::SessionId;

use super::work::Work;
use crate::args;
use crate::clock;
use crate::failure::Failure;
use crate::notes;

/// How many intents a beginning conversation is told of.
const SHOWN_MAX: usize = 8;

/// Takes note of an event that is about no tool.
pub(super) fn happened(work: &Work) -> Result<Answer, Failure> {
    let context = &work.incoming.context;
    let session = &context.session;
    if let Some(parent) = &context.parent {
        work.engine.adopt(session, parent)?;
    }
    match &work.incoming.what {
        What::Prompt { text, from } => {
            let source = match from {
                PromptFrom::Person => PromptSource::Person,
                PromptFrom::Parent | PromptFrom::Client => PromptSource::Client,
            };
            if source == PromptSource::Person {
                left_open(work, session)?;
            }
            let blank = text.trim().is_empty();
            drop(work.engine.prompted(session, source, blank)?);
        }
        What::SessionStart { .. } => return Ok(greeting(work)),
        What::SessionEnd => {
            over(work, session)?;
            drop(work.engine.end_commands(session)?);
        }
        What::Completion => over(work, session)?,
        What::SubagentStart { child: Some(child) } => work.engine.adopt(child, session)?,
        What::SubagentStop { child: Some(child) } => left_open(work, child)?,
        What::ConfigChange { .. } => return Ok(configured(work)),
        What::SubagentStart { child: None }
        | What::SubagentStop { child: None }
        | What::Pre(_)
        | What::Post(_)
        | What::Other => {}
    }
    Ok(Answer::NoDecision)
}

/// The work of a conversation is done: what it held is free for others.
fn over(work: &Work, session: &SessionId) -> Result<(), Failure> {
    left_open(work, session)?;
    drop(work.engine.reset(session)?);
    Ok(())
}

/// Settles what nobody reported on.
fn left_open(work: &Work, session: &SessionId) -> Result<(), Failure> {
    drop(work.engine.settle_missing(session, clock::now())?);
    for (path, _) in work.notes.opened(session) {
        notes::forget(&path);
    }
    Ok(())
}

fn greeting(work: &Work) -> Answer {
    let books = &work.engine.shelf().books;
    let open = books.intents.iter();
    let open = open.filter(|intent| selectable(intent, clock::now()).is_ok());
    let ids: Vec<&str> = open.map(|one| one.id.as_str()).take(SHOWN_MAX).collect();
    let tagout = super::shell::called(work);
    let open = if ids.is_empty() {
        format!("No intent is open; ask for one with `{tagout} intent propose`.")
    } else {
        format!("Open intents: {}.", ids.join(", "))
    };
    Answer::Context {
        text: format!(
            "This repository is governed by Tagout: read freely; before changing anything run \
             `{tagout} intent select ID` as a command of its own. {open}"
        ),
    }
}

/// A change of the client's settings that would take the hook away is refused.
fn configured(work: &Work) -> Answer {
    let client = work.incoming.client;
    let path = |path: &std::path::Path| path.to_str().map(str::to_owned);
    let binary = Binary {
        program: args::own_program().unwrap_or_default(),
        workspace: path(&work.places.root).filter(|_| work.at_project),
        state: path(&work.places.state_home),
    };
    let scope = if work.at_project {
        Scope::Project
    } else {
        Scope::User
    };
    let findings = install::check(client, scope, &binary, &work.texts());
    let gone = findings.iter().find(|finding| {
        matches!(
            finding.kind,
            FindingKind::SwitchedOff
                | FindingKind::Loosened
                | FindingKind::Missing
                | FindingKind::Unreadable
        )
    });
    match gone {
        None => Answer::NoDecision,
        Some(finding) => Answer::Deny {
            reason: format!("the change would take Tagout's hook away: {}", finding.text),
            remedy: "a person changes the hooks with `tagout uninstall`".to_owned(),
        },
    }
}
