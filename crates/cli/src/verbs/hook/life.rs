//! Conversations: how they begin, go on and end, and what becomes of what was left open.

use tagout_agents::install::plan::Scope;
use tagout_agents::install::{self, Binary, FindingKind};
use tagout_agents::{Answer, Kind, PromptFrom, What};
use tagout_gate::policy::session::PromptSource;
use tagout_vocab::SessionId;

use super::called::Called;
use super::free;
use super::work::Work;
use crate::args;
use crate::clock;
use crate::failure::Failure;
use crate::notes::{self, Gone};
use crate::unreported;

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
        What::SessionStart { source } => {
            if !work.is_outside() {
                settled(work, source.as_deref())?;
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
        What::ConfigChange { .. } => return configured(work, gone),
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
    unreported::tidy(&work.engine, &work.notes);
    Ok(())
}

/// Settles what nobody reported on.
fn left_open(work: &Work, session: &SessionId) -> Result<(), Failure> {
    drop(work.engine.settle_missing(session, clock::now())?);
    for (path, open) in work.notes.opened(session) {
        unreported::record(&work.engine, &work.notes, &open)?;
        notes::forget(&path);
    }
    Ok(())
}

fn greeting(work: &Work, gone: Option<&Gone>) -> Answer {
    let called = Called::of(work);
    let open = free::told(work, &called.verb("intent propose"));
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
    let found = missed(work)?.map(|what| Gone {
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

/// The scopes at which this hook may stand: without a workspace on its line it is a user's or the
/// machine's.
const fn scopes(work: &Work) -> &'static [Scope] {
    if work.at_project {
        &[Scope::Project]
    } else {
        &[Scope::User, Scope::Managed]
    }
}

/// A scope at which the hook does not stand.
#[derive(Clone, Copy, Debug)]
struct Absent {
    /// A person took it away there.
    is_taken_out: bool,
    /// It was found there before.
    has_stood: bool,
}

/// Whether the hook is missed: a scope from which a person took it excuses itself and those at
/// which it never stood, and no other.
fn surprises(absent: &[Absent]) -> bool {
    let is_lost = |one: &Absent| one.has_stood && !one.is_taken_out;
    !absent.iter().any(|one| one.is_taken_out) || absent.iter().any(is_lost)
}

/// What keeps the client from calling the hook, or nobody knows whether it does.
const GONE: &[FindingKind] = &[
    FindingKind::SwitchedOff,
    FindingKind::Missing,
    FindingKind::Unreadable,
];

/// The first finding about the client's settings as they are now, if every scope has one and that
/// surprises anybody. Where the hook stands, whoever put it there, it is news when it goes.
fn missed(work: &Work) -> Result<Option<String>, Failure> {
    let (client, notes) = (work.named.as_str(), &work.notes);
    let texts = work.texts_of(work.named);
    let (mut first, mut absent) = (None, Vec::new());
    for scope in scopes(work) {
        let findings = install::check(work.named, *scope, &binary(work), &texts);
        let mut findings = findings.into_iter();
        let Some(finding) = findings.find(|one| GONE.contains(&one.kind)) else {
            notes.stands(client, scope.as_str())?;
            continue;
        };
        absent.push(Absent {
            is_taken_out: notes.is_taken_out(client, scope.as_str()),
            has_stood: notes.has_stood(client, scope.as_str()),
        });
        first.get_or_insert(finding.text);
    }
    let is_gone = absent.len() == scopes(work).len() && surprises(&absent);
    Ok(first.filter(|_| is_gone))
}

fn binary(work: &Work) -> Binary {
    let path = |path: &std::path::Path| path.to_str().map(str::to_owned);
    Binary {
        program: args::own_program().unwrap_or_default(),
        workspace: path(&work.places.root).filter(|_| work.at_project),
        state: path(&work.places.state_home),
    }
}

/// What takes the client's own questions away now.
fn loosened(work: &Work) -> Vec<String> {
    install::loosened(work.named, &work.texts_of(work.named))
}

/// A conversation that begins reads the settings as they are, also when it is taken up again: what
/// they say then is nobody's change any more. One that goes on, after its text was cut down for
/// instance, has read them before.
fn settled(work: &Work, source: Option<&str>) -> Result<(), Failure> {
    let client = work.named.as_str();
    let mut events = work.named.registered();
    let is_asked = events.any(|event| event.kind == Kind::ConfigChange);
    let goes_on = || match source {
        Some(why) => work.incoming.event.goes_on.contains(&why),
        None => work.notes.has_begun(&work.incoming.context.session),
    };
    if !is_asked || goes_on() {
        return Ok(());
    }
    let now = loosened(work);
    if work.notes.loosened(client) == now {
        return Ok(());
    }
    work.notes.keep_loosened(client, &now)
}

/// A change of the client's settings that would take the hook away, or that takes away what stands
/// beside it, is refused; what was so before is not this change's doing.
fn configured(work: &Work, gone: Option<Gone>) -> Result<Answer, Failure> {
    let client = work.named.as_str();
    if let Some(gone) = gone {
        return Ok(Answer::Deny {
            reason: format!("the change would take Tagout's hook away: {}", gone.what),
            remedy: "a person changes the hooks with `tagout uninstall`".to_owned(),
        });
    }
    let (before, now) = (work.notes.loosened(client), loosened(work));
    if let Some(new) = now.iter().find(|one| !before.contains(one)) {
        return Ok(Answer::Deny {
            reason: format!("the change would leave Tagout's hook standing alone: {new}"),
            remedy: "a person makes it while no conversation runs, and the next one begins with it"
                .to_owned(),
        });
    }
    if before != now {
        work.notes.keep_loosened(client, &now)?;
    }
    Ok(Answer::NoDecision)
}

#[cfg(test)]
mod tests;
