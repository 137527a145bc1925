//! From an event to an answer, with the engine of the workspace that it happened in.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use tagout_agents::install::Texts;
use tagout_agents::{Answer, Client, Incoming, Kind, Reply, What, reply};
use tagout_gate::{Engine, Places, Site};

use super::{Job, life, post, pre, shell};
use crate::failure::Failure;
use crate::notes::{Notes, Whereabouts};
use crate::runtime;

/// One event with everything that it is answered by.
pub(super) struct Work {
    pub(super) incoming: Incoming,
    pub(super) engine: Engine,
    pub(super) notes: Notes,
    pub(super) places: Places,
    pub(super) whereabouts: Whereabouts,
    /// The client whose line it is; others may read its settings too.
    pub(super) named: Client,
    /// Whether the workspace was named on the command line.
    pub(super) at_project: bool,
}

/// Answers an event.
pub(super) fn answer(job: &Job<'_>, incoming: Incoming) -> Result<Reply, Failure> {
    if Path::new(tagout_sandbox::GOVERNED).exists() {
        return Err(Failure::failed(
            "a hook inside a governed call has nothing to say",
        ));
    }
    let (client, event) = (incoming.client, incoming.event);
    let silent = || reply(client, event, &Answer::NoDecision);
    // What changes nothing and was never registered costs nothing.
    if event.kind == Kind::Other {
        return Ok(silent());
    }
    let Some(places) = places(job, &incoming)? else {
        return Ok(silent());
    };
    let site = Site::open(&places)?;
    let notes = Notes::of(site.state());
    let whereabouts = notes.whereabouts()?.ok_or_else(|| {
        Failure::failed("the workspace was never installed for clients")
            .hint("a person runs `tagout install`")
    })?;
    let performs = matches!(&incoming.what, What::Pre(pre) if shell::selects(pre));
    let known = (whereabouts.config.as_deref(), performs);
    let engine = runtime::open_to_guard(site, &places.root, known)?;
    // The process ends with the answer: to take everything apart first would only cost time.
    let work = ManuallyDrop::new(Work {
        incoming,
        engine,
        notes,
        places,
        whereabouts,
        named: job.client,
        at_project: job.place.workspace.is_some(),
    });
    let answer = work.decide()?;
    Ok(reply(client, event, &answer))
}

/// The workspace: the one that was named, or the registered one that the payload's folder lies in.
fn places(job: &Job<'_>, incoming: &Incoming) -> Result<Option<Places>, Failure> {
    let state_home = job.place.state_dir.clone().ok_or_else(|| {
        Failure::invalid("the hook's command names no state folder")
            .hint("a person runs `tagout install` again")
    })?;
    if let Some(root) = job.place.workspace.clone() {
        return Ok(Some(Places { root, state_home }));
    }
    let cwd = PathBuf::from(&incoming.context.cwd);
    let Some(root) = registered(&state_home, &cwd)? else {
        return Ok(None);
    };
    Ok(Some(Places { root, state_home }))
}

/// The innermost registered workspace around a folder.
fn registered(state_home: &Path, cwd: &Path) -> Result<Option<PathBuf>, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::failed(format!("`{}` can't be read: {error}", state_home.display()))
    };
    let mut found: Option<PathBuf> = None;
    for entry in std::fs::read_dir(state_home).map_err(unreadable)? {
        let state = entry.map_err(unreadable)?.path();
        let Some(whereabouts) = Notes::of(&state).whereabouts()? else {
            continue;
        };
        let around = cwd.starts_with(&whereabouts.root);
        let nearer = |old: &PathBuf| whereabouts.root.starts_with(old);
        if around && found.as_ref().is_none_or(nearer) {
            found = Some(whereabouts.root);
        }
    }
    Ok(found)
}

impl Work {
    fn decide(&self) -> Result<Answer, Failure> {
        match &self.incoming.what {
            What::Pre(_) if self.incoming.event.kind == Kind::Permission => {
                // The event before the tool has decided; this one is the client's own question.
                Ok(Answer::NoDecision)
            }
            What::Pre(pre) => pre::decide(self, pre),
            What::Post(post) => post::settle(self, post),
            What::Prompt { .. }
            | What::SessionStart { .. }
            | What::SessionEnd
            | What::SubagentStart { .. }
            | What::SubagentStop { .. }
            | What::Completion
            | What::ConfigChange { .. }
            | What::Other => life::happened(self),
        }
    }

    /// The files of a client, as they are.
    pub(super) fn texts_of(&self, client: Client) -> Texts {
        let places = tagout_agents::install::places(client);
        self.whereabouts.homes.texts(&places, &self.places.root)
    }
}
