//! From an event to an answer, with the engine of the workspace that it happened in.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use tagout_agents::install::Texts;
use tagout_agents::{Answer, Client, Incoming, Kind, Reply, What, reply};
use tagout_gate::{Engine, Places, Site};

use super::place::Belongs;
use super::{Job, above, life, place, post, pre, shell};
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
    /// The roots that a call must leave alone which is otherwise nobody's.
    pub(super) spared: Vec<PathBuf>,
}

/// Answers an event.
pub(super) fn answer(job: &Job<'_>, mut incoming: Incoming) -> Result<Reply, Failure> {
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
    let Some(Belongs { places, spared }) = place::places(job, &mut incoming)? else {
        return Ok(silent());
    };
    let site = Site::open(&places)?;
    let notes = Notes::of(site.state());
    let whereabouts = notes.whereabouts()?.ok_or_else(|| {
        Failure::failed("the workspace was never installed for clients")
            .hint("a person runs `tagout install`")
    })?;
    let performs = matches!(&incoming.what, What::Pre(pre) if shell::selects(pre, &places));
    let judges = matches!(&incoming.what, What::Pre(_) | What::Post(_));
    let config = whereabouts.config.as_deref();
    let engine = runtime::open_to_guard((site, &places.root), config, (performs, judges))?;
    // The process ends with the answer: to take everything apart first would only cost time.
    let work = ManuallyDrop::new(Work {
        incoming,
        engine,
        notes,
        places,
        whereabouts,
        named: job.client,
        at_project: job.place.workspace.is_some(),
        spared,
    });
    let answer = work.decide()?;
    Ok(reply(client, event, &answer))
}

impl Work {
    fn decide(&self) -> Result<Answer, Failure> {
        match &self.incoming.what {
            What::Pre(_) if self.incoming.event.kind == Kind::Permission => {
                // The event before the tool has decided; this one is the client's own question.
                Ok(Answer::NoDecision)
            }
            What::Pre(pre) if !self.spared.is_empty() => above::decide(self, pre),
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

    /// Whether the call starts outside of the workspace that governs it.
    pub(super) fn is_outside(&self) -> bool {
        let cwd = Path::new(&self.incoming.context.cwd);
        cwd.is_absolute() && !cwd.starts_with(&self.places.root)
    }

    /// The files of a client, as they are.
    pub(super) fn texts_of(&self, client: Client) -> Texts {
        let places = tagout_agents::install::places(client);
        self.whereabouts.homes.texts(&places, &self.places.root)
    }
}
