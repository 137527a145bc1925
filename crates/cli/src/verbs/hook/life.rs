//! Conversations: how they begin, go on and end, and what becomes of what was left open.

use tagout_agents::install::plan::Scope;
use tagout_agents::install::{self, Binary, FindingKind};
use tagout_agents::{Answer, PromptFrom, What};
use tagout_gate::policy::intents::selectable;
use tagout_gate::policy::session::PromptSource;
use tagout_vocab::SessionId;
use tagout_vocab::limits::HOOK_INTENTS_SHOWN_MAX;

use super::called::Called;
use super::work::Work;
use crate::args;
use crate::clock;
use crate::failure::Failure;
use crate::notes::{self, Gone};

/// Takes note of an event that is about no tool.
pub(super) fn happened(work: &Work) -> Result<Answer, Failure> {
    let context = &work.incoming.context;
    let session = &context.session;
    if let Some(parent) = &context.parent {
        work.engine.adopt(session, parent)?;
    }
    let gone = registered(work)?;
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
        What::SessionStart { .. } => {
            if !work.is_outside() {
                work.notes.begin(session)?;
            }
            return Ok(greeting(work, gone.as_ref()));
        }
        What::SessionEnd => {
            over(work, session)?;
            drop(work.engine.end_commands(session)?);
        }
        What::Completion => over(work, session)?,
        What::SubagentStart { child: Some(child) } => work.engine.adopt(child, session)?,
        What::SubagentStop { child: Some(child) } => left_open(work, child)?,
        What::ConfigChange { .. } => return Ok(configured(work, gone)),
        What::SubagentStart { child: None }
        | What::SubagentStop { child: None }
        | What::Pre(_)
        | What::Post(_)
        | What::Other => {}
    }
    Ok(match gone {
        Some(gone) => Answer::Context { text: gone.what },
        None => Answer::NoDecision,
    })
}

/// The work of a conversation is done: what it held is free for others.
fn over(work: &Work, session: &SessionId) -> Result<(), Failure> {
    left_open(work, session)?;
    drop(work.engine.reset(session)?);
    work.notes.tidy(clock::now());
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

fn greeting(work: &Work, gone: Option<&Gone>) -> Answer {
    let books = &work.engine.shelf().books;
    let open = books.intents.iter();
    let open = open.filter(|intent| selectable(intent, clock::now()).is_ok());
    let ids: Vec<&str> = open
        .map(|one| one.id.as_str())
        .take(HOOK_INTENTS_SHOWN_MAX)
        .collect();
    let called = Called::of(work);
    let open = if ids.is_empty() {
        let propose = called.verb("intent propose");
        format!("No intent is open; ask for one with `{propose}`.")
    } else {
        format!("Open intents: {}.", ids.join(", "))
    };
    let gone = gone.map_or_else(String::new, |gone| format!(" {}", gone.what));
    Answer::Context {
        text: format!(
            "This repository is governed by Tagout: read freely; before changing anything run \
             `{}` as a command of its own. {open}{gone}",
            called.verb("intent select ID")
        ),
    }
}

/// Looks whether the client's settings still call this hook. It looks at the beginning and the end
/// of things and not before every call, because it reads all files of the client; what it finds is
/// recorded once, and told by the next command.
fn registered(work: &Work) -> Result<Option<Gone>, Failure> {
    let client = work.named.as_str();
    let found = found(work, GONE).map(|what| Gone {
        client: client.to_owned(),
        what: format!("{client} will not call Tagout's hook any more: {what}"),
    });
    let known = work.notes.gone();
    let known = known.iter().find(|gone| gone.client == client);
    if known == found.as_ref() {
        return Ok(found);
    }
    if let Some(gone) = &found {
        let session = &work.incoming.context.session;
        work.engine.hook_gone(session, (client, &gone.what))?;
    }
    work.notes.keep_gone(client, found.as_ref())?;
    Ok(found)
}

/// What keeps the client from calling the hook, or nobody knows whether it does.
const GONE: &[FindingKind] = &[
    FindingKind::SwitchedOff,
    FindingKind::Missing,
    FindingKind::Unreadable,
];

/// The first finding of some kinds about the client's settings as they are now.
fn found(work: &Work, kinds: &[FindingKind]) -> Option<String> {
    let path = |path: &std::path::Path| path.to_str().map(str::to_owned);
    let binary = Binary {
        program: args::own_program().unwrap_or_default(),
        workspace: path(&work.places.root).filter(|_| work.at_project),
        state: path(&work.places.state_home),
    };
    let texts = work.texts_of(work.named);
    // A hook without a workspace on its line is a user's or the machine's.
    let scopes: &[Scope] = if work.at_project {
        &[Scope::Project]
    } else {
        &[Scope::User, Scope::Managed]
    };
    let mut first = None;
    for scope in scopes {
        let findings = install::check(work.named, *scope, &binary, &texts);
        let finding = findings.into_iter().find(|one| kinds.contains(&one.kind))?;
        first.get_or_insert(finding.text);
    }
    first
}

/// A change of the client's settings that would take the hook away, or that takes away what stands
/// beside it, is refused.
fn configured(work: &Work, gone: Option<Gone>) -> Answer {
    let gone = gone.map(|gone| gone.what);
    let gone = gone.or_else(|| found(work, &[FindingKind::Loosened]));
    match gone {
        None => Answer::NoDecision,
        Some(gone) => Answer::Deny {
            reason: format!("the change would take Tagout's hook away: {gone}"),
            remedy: "a person changes the hooks with `tagout uninstall`".to_owned(),
        },
    }
}
