//! What a running tool may see and do.

use std::ops::Range;

use serde_json::Value;
use tagout_ledger::Usage;
use tagout_policy::judge::Books;
use tagout_vocab::path::Roots;
use tagout_vocab::{IntentId, Place, Session, Timestamp, WorkspacePath};
use tagout_workspace::{Follow, Transaction, Workspace};

use crate::clockwork::Clockwork;
use crate::command::{
    Command, CommandEnded, Layer, Ready, Refused, Room, StoredOutput, confinement,
};
use crate::history::{self, History};
use crate::store::Store;
use crate::tool::{Request, ToolError};

/// What a tool looks at besides its transaction.
#[derive(Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) session: &'a Session,
    pub(crate) books: &'a Books,
    pub(crate) roots: &'a Roots,
    pub(crate) cwd: &'a str,
    pub(crate) store: &'a Store,
    pub(crate) clockwork: &'a Clockwork,
    pub(crate) now: Timestamp,
    /// What commands are run with, where they can be.
    pub(crate) room: Option<Room<'a>>,
    /// The command that was made ready ahead.
    pub(crate) ready: Option<Ready>,
}

/// What a running tool may see and do. It ends with the run.
#[derive(Debug)]
pub struct Context<'a, 't> {
    around: Surroundings<'a>,
    workspace: &'t Workspace,
    transaction: Transaction<'t>,
    seen: Vec<WorkspacePath>,
    requests: Vec<(String, Request)>,
    ran: Option<Ran>,
}

/// What a command of the call left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    /// What it wrote and is not private.
    pub(crate) layer: Option<Layer>,
    /// Why that must not be applied, if so.
    pub(crate) refused: Option<Refused>,
    /// What the closing event says about it.
    pub(crate) told: Value,
    /// What it used.
    pub(crate) usage: Usage,
}

/// What is left of a context when its tool has returned.
#[derive(Debug)]
pub(crate) struct Left<'t> {
    pub(crate) transaction: Transaction<'t>,
    pub(crate) seen: Vec<WorkspacePath>,
    pub(crate) requests: Vec<(String, Request)>,
    pub(crate) ran: Option<Ran>,
}

impl<'a, 't> Context<'a, 't> {
    pub(crate) const fn new(
        around: Surroundings<'a>,
        workspace: &'t Workspace,
        transaction: Transaction<'t>,
    ) -> Self {
        Self {
            around,
            workspace,
            transaction,
            seen: Vec::new(),
            requests: Vec::new(),
            ran: None,
        }
    }

    pub(crate) fn leave(self) -> Left<'t> {
        Left {
            transaction: self.transaction,
            seen: self.seen,
            requests: self.requests,
            ran: self.ran,
        }
    }

    /// The transaction that every change goes through.
    pub const fn transaction(&mut self) -> &mut Transaction<'t> {
        &mut self.transaction
    }

    /// The workspace, for looking.
    pub const fn workspace(&self) -> &'t Workspace {
        self.workspace
    }

    /// Where a path of the arguments leads, links followed, if that is beneath the workspace.
    pub fn resolve(&self, raw: &str) -> Result<WorkspacePath, ToolError> {
        self.walk(raw, Follow::Whole)
    }

    /// The same for a name that is itself meant, such as a link that is to be deleted.
    pub fn resolve_name(&self, raw: &str) -> Result<WorkspacePath, ToolError> {
        self.walk(raw, Follow::Parents)
    }

    fn walk(&self, raw: &str, follow: Follow) -> Result<WorkspacePath, ToolError> {
        let outside = || ToolError::Outside {
            path: raw.to_owned(),
        };
        match self.around.roots.place(raw, self.around.cwd) {
            Place::Inside { path } => match self.workspace.resolve(&path, follow) {
                Ok(resolved) => Ok(resolved.path),
                Err(tagout_workspace::Error::Outside { .. }) => Err(outside()),
                Err(error) => Err(error.into()),
            },
            Place::Root { .. } | Place::Outside { .. } => Err(outside()),
        }
    }

    /// The conversation.
    pub const fn session(&self) -> &Session {
        self.around.session
    }

    /// What the call was judged by.
    pub const fn books(&self) -> &Books {
        self.around.books
    }

    /// What is known of an intent's past.
    pub fn history(&self, intent: &IntentId) -> History {
        history::of(self.around.store, intent)
    }

    /// When the run began.
    pub const fn now(&self) -> Timestamp {
        self.around.now
    }

    /// Notes that the session has now seen a file, so that it may change it.
    pub fn note_seen(&mut self, path: &WorkspacePath) {
        self.seen.push(path.clone());
    }

    /// Runs a command in the lane that the call's class chose, once per call. What it changed is
    /// staged into the transaction, where the judge looks at it; what may not be applied is kept
    /// for a person, and the call ends as refused after the tool has returned.
    pub fn command(&mut self, command: &Command) -> Result<CommandEnded, ToolError> {
        let Some(room) = self.around.room else {
            return Err(confinement(
                "commands are not run here",
                "use a tool that needs no command",
            ));
        };
        if self.ran.is_some() {
            return Err(ToolError::failed("a call runs one command"));
        }
        let over = room.run(command, self.around.ready.take())?;
        // What the analysis knows to be read, the session has seen.
        self.seen.extend(room.ticket.reads.iter().cloned());
        let settled = room.settle(command, &over, &mut self.transaction);
        if let Some(lesson) = settled.lesson {
            self.request(Request::Learn(lesson));
        }
        self.ran = Some(settled.ran);
        Ok(settled.ended)
    }

    /// A part of the stored output of a command of this workspace.
    pub fn stored_output(&self, id: &str, part: Range<u64>) -> Result<StoredOutput, ToolError> {
        crate::command::stored(self.workspace.state_path(), id, part)
    }

    /// Asks the engine for something that happens once the tool has returned. Gives back the id of
    /// what will be made: a question, a proposal, a child session.
    pub fn request(&mut self, request: Request) -> String {
        let prefix = match &request {
            Request::Question { .. } => "q",
            Request::Propose { .. } => "p",
            Request::Child { .. } => "s",
            Request::Select(_)
            | Request::Complete
            | Request::Todo(_)
            | Request::SwitchMode(_)
            | Request::Learn(_) => "r",
        };
        let id = self.around.clockwork.id(prefix);
        self.requests.push((id.clone(), request));
        id
    }

    /// What a person answered when this session asked the same question before.
    pub fn answer_to(&self, question: &str) -> Option<String> {
        let asked = self.around.store.questions().ok()?;
        let same = |one: &&crate::Question| {
            one.session == self.around.session.id && one.question == question
        };
        asked.iter().rev().find(same)?.answer.clone()
    }
}
