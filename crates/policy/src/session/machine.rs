//! What moves a conversation from one state to the next, written out as one table.

use serde::{Deserialize, Serialize};
use tagout_vocab::{IntentId, Session, State};

/// Who a prompt comes from. Clients send prompt events when nobody typed, so it matters.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptSource {
    /// A person, or the program that speaks for one.
    Person,
    /// The client itself: a notification, a continuation, a summary.
    Client,
}

/// Something that happened in a conversation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Happening {
    /// A prompt event arrived.
    Prompt {
        /// Who it comes from.
        source: PromptSource,
        /// Whether it holds nothing but blanks.
        blank: bool,
    },
    /// A tool was called, whatever the verdict.
    Called,
    /// An intent was selected; the judge has already found it valid.
    Selected(IntentId),
    /// The agent said that the task is done.
    Completed,
    /// A person or the engine started over.
    Reset,
}

/// One transition, as the ledger records it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Where the conversation stood.
    pub from: State,
    /// Where it stands now.
    pub to: State,
    /// The intent that was left, if the happening dropped or replaced one.
    pub dropped: Option<IntentId>,
    /// Why, for a person.
    pub why: String,
}

/// The session after a happening, and every transition on the way.
#[must_use]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Moved {
    /// The session now.
    pub session: Session,
    /// The transitions, in order; empty when nothing changed.
    pub changes: Vec<Change>,
}

/// Moves a conversation. Total: what does not concern a state leaves it as it is.
pub fn advance(session: &Session, happening: &Happening) -> Moved {
    let mut moved = Moved {
        session: session.clone(),
        changes: Vec::new(),
    };
    match happening {
        Happening::Prompt {
            source: PromptSource::Person,
            blank: false,
        } => moved.prompted(),
        Happening::Prompt { .. } => {}
        Happening::Called => {
            if moved.session.state == State::Request {
                moved.go(State::Reasoning, "a first tool call implies a request");
            }
        }
        Happening::Selected(intent) => moved.selected(intent),
        Happening::Completed => moved.start_over("the task was completed"),
        Happening::Reset => moved.start_over("the session was reset"),
    }
    moved
}

impl Moved {
    /// A prompt to a child session is its parent's work, not a person's, and resets nothing.
    fn prompted(&mut self) {
        if self.session.parent.is_some() {
            return;
        }
        match self.session.state {
            State::Request => self.go(State::Reasoning, "a prompt arrived"),
            State::Reasoning => {}
            // The intent stays as context; only the handshake is gone.
            State::Action => self.go(State::Reasoning, "a new prompt ends the handshake"),
        }
    }

    fn selected(&mut self, intent: &IntentId) {
        if self.session.state == State::Request {
            self.go(State::Reasoning, "selecting an intent implies a request");
        }
        let replaced = match self.session.active_intent() {
            Some(active) if active != intent => self.session.intent.clone(),
            Some(_) => return,
            None => None,
        };
        let why = replaced.as_ref().map_or_else(
            || format!("intent {intent} was selected"),
            |old| format!("intent {intent} replaced {old}"),
        );
        let from = self.session.state;
        self.session.state = State::Action;
        self.session.intent = Some(intent.clone());
        self.changes.push(Change {
            from,
            to: State::Action,
            dropped: replaced,
            why,
        });
    }

    fn start_over(&mut self, why: &str) {
        let dropped = self.session.intent.take();
        let from = self.session.state;
        self.session.state = State::Request;
        if from != State::Request || dropped.is_some() {
            self.changes.push(Change {
                from,
                to: State::Request,
                dropped,
                why: why.to_owned(),
            });
        }
    }

    fn go(&mut self, to: State, why: &str) {
        let from = self.session.state;
        self.session.state = to;
        self.changes.push(Change {
            from,
            to,
            dropped: None,
            why: why.to_owned(),
        });
    }
}
