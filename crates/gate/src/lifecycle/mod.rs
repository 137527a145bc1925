//! The lifecycle of one execution as types, and the same transitions as a table.
//!
//! One list makes both: each line implements [`Next`] for a pair of states and adds a row to
//! [`TRANSITIONS`], so that the types and the table cannot differ.

use std::marker::PhantomData;

use tagout_ledger::LifecycleState;
use tagout_vocab::CallId;

mod sealed {
    pub trait Sealed {}
}

/// A state of an execution, as a type.
pub trait State: sealed::Sealed {
    /// The name that the ledger uses.
    const STATE: LifecycleState;
}

/// A state from which `To` can be reached in one step.
pub trait Next<To: State>: State {}

/// Why an execution goes from one state to another.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub enum Cause {
    /// The input conforms to its schema.
    InputValid,
    /// The input does not conform.
    InputInvalid,
    /// Every check let it pass.
    Granted,
    /// A check refused.
    Refused,
    /// A person has to agree first. The call comes again as another execution.
    WaitsForApproval,
    /// The ledger or the state could not be written.
    NotRecorded,
    /// Its permit was used.
    Started,
    /// It returned what its schema promises.
    Succeeded,
    /// The tool reported an error or panicked.
    ExecutionError,
    /// It returned what its schema refuses.
    BadOutput,
    /// It took too long.
    TimedOut,
    /// It passed a bound.
    LimitPassed,
    /// It changed what it was not allowed to.
    ScopeViolated,
    /// Someone else changed the same files.
    Conflicted,
    /// Its process ended before it did.
    ProcessEnded,
    /// The client never told how it ended, and the files do not tell either.
    NeverSettled,
    /// What could be undone is undone.
    Reverted,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Transition {
    /// Where it stood.
    pub from: LifecycleState,
    /// Where it goes.
    pub to: LifecycleState,
    /// Everything that makes it go there.
    pub causes: &'static [Cause],
}

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $name(());
            impl sealed::Sealed for $name {}
            impl State for $name {
                const STATE: LifecycleState = LifecycleState::$name;
            }
        )+
    };
}

macro_rules! transitions {
    ($($from:ident => $to:ident because $($cause:ident),+;)+) => {
        $(impl Next<$to> for $from {})+

        /// Every transition that there is.
        pub const TRANSITIONS: &[Transition] = &[
            $(Transition {
                from: <$from as State>::STATE,
                to: <$to as State>::STATE,
                causes: &[$(Cause::$cause),+],
            },)+
        ];
    };
}

states! {
    /// Received, not yet validated.
    Declared,
    /// Its input conforms.
    Validated,
    /// Every check let it pass.
    Authorized,
    /// It runs.
    Executing,
    /// It finished well.
    Completed,
    /// Its input does not conform.
    Failed,
    /// It was refused.
    Denied,
    /// It was ended; what it did is yet to be undone.
    Aborted,
    /// What could be undone is undone.
    RolledBack,
}

transitions! {
    Declared => Validated because InputValid;
    Declared => Failed because InputInvalid;
    Validated => Authorized because Granted;
    Validated => Denied because Refused, WaitsForApproval, NotRecorded;
    Authorized => Executing because Started;
    Executing => Completed because Succeeded;
    Executing => Aborted because ExecutionError, BadOutput, TimedOut, LimitPassed, ScopeViolated,
        Conflicted, ProcessEnded, NeverSettled;
    Aborted => RolledBack because Reverted;
}

/// One execution in one state. A transition that is not in the table does not compile.
#[derive(Debug)]
#[must_use = "an execution that is left in the middle is recorded nowhere"]
pub struct Execution<S: State> {
    id: CallId,
    state: PhantomData<S>,
}

impl Execution<Declared> {
    /// A call was received.
    pub const fn declare(id: CallId) -> Self {
        Self {
            id,
            state: PhantomData,
        }
    }

    /// Its input conforms.
    pub fn validate(self) -> Execution<Validated> {
        self.go()
    }

    /// Its input does not conform.
    pub fn fail(self) -> Execution<Failed> {
        self.go()
    }
}

impl Execution<Validated> {
    /// Every check let it pass.
    pub fn authorize(self) -> Execution<Authorized> {
        self.go()
    }

    /// A check refused, or a person has to agree first.
    pub fn deny(self) -> Execution<Denied> {
        self.go()
    }
}

impl Execution<Authorized> {
    /// It begins. Only a permit can begin one, because only a permit is durable.
    pub(crate) fn start(self) -> Execution<Executing> {
        self.go()
    }

    /// An execution that an earlier process authorised, as the ledger confirmed.
    pub(crate) const fn resumed(id: CallId) -> Self {
        Self {
            id,
            state: PhantomData,
        }
    }
}

impl Execution<Executing> {
    /// It finished well.
    pub fn complete(self) -> Execution<Completed> {
        self.go()
    }

    /// It was ended.
    pub fn abort(self) -> Execution<Aborted> {
        self.go()
    }

    /// An execution that an earlier process began and did not end.
    pub(crate) const fn orphaned(id: CallId) -> Self {
        Self {
            id,
            state: PhantomData,
        }
    }
}

impl Execution<Aborted> {
    /// The only way on: what it did is undone.
    pub fn roll_back(self) -> Execution<RolledBack> {
        self.go()
    }
}

impl<S: State> Execution<S> {
    fn go<To: State>(self) -> Execution<To>
    where
        S: Next<To>,
    {
        Execution {
            id: self.id,
            state: PhantomData,
        }
    }

    /// The execution's own id.
    pub const fn id(&self) -> &CallId {
        &self.id
    }

    /// The state's name.
    pub const fn state(&self) -> LifecycleState {
        S::STATE
    }
}

#[cfg(test)]
mod tests;
