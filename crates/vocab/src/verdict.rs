//! What the judge says: allow, ask or deny, never without a reason.

use serde::{Deserialize, Serialize};

use crate::{Class, Effect, IntentId, SideEffectLevel, ToolKind};

macro_rules! words {
    (
        $(#[$doc:meta])* $name:ident, $style:literal {
            $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize,
        )]
        #[serde(rename_all = $style)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The wire name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}

words! {
    /// The stable word that programs branch on.
    Code, "SCREAMING_SNAKE_CASE" {
        /// The call may run.
        Allowed = "ALLOWED",
        /// A mutation without a valid active intent.
        IntentRequired = "INTENT_REQUIRED",
        /// No such intent.
        IntentUnknown = "INTENT_UNKNOWN",
        /// The intent's status is not open.
        IntentClosed = "INTENT_CLOSED",
        /// The intent is listed in `.intentignore`.
        IntentIgnored = "INTENT_IGNORED",
        /// The intent's time is over.
        IntentExpired = "INTENT_EXPIRED",
        /// Another open intent owns the same files.
        IntentOverlap = "INTENT_OVERLAP",
        /// The call names another intent than the active one.
        IntentMismatch = "INTENT_MISMATCH",
        /// The intent owns nothing.
        ScopeEmpty = "SCOPE_EMPTY",
        /// The same call again and again.
        RepeatLimit = "REPEAT_LIMIT",
        /// The workspace's state is gone.
        StateLost = "STATE_LOST",
        /// A write tool without a valid `mutation_class`.
        MutationClassRequired = "MUTATION_CLASS_REQUIRED",
        /// A destructive call before the handshake.
        StateViolation = "STATE_VIOLATION",
        /// A target outside the intent's scope.
        ScopeViolation = "SCOPE_VIOLATION",
        /// A target that can't be read from the arguments.
        TargetUnknown = "TARGET_UNKNOWN",
        /// A file that decides what agents may do.
        AuthorityFile = "AUTHORITY_FILE",
        /// The file changed since this session saw it.
        StaleFile = "STALE_FILE",
        /// A capability that nobody granted.
        CapabilityDenied = "CAPABILITY_DENIED",
        /// The tool reaches further than the ceiling.
        CeilingExceeded = "CEILING_EXCEEDED",
        /// An argument that a constraint forbids.
        ArgConstraint = "ARG_CONSTRAINT",
        /// Arguments that the tool's schema refuses.
        SchemaInvalid = "SCHEMA_INVALID",
        /// A person has to agree first.
        ApprovalRequired = "APPROVAL_REQUIRED",
        /// A person said no.
        ApprovalRejected = "APPROVAL_REJECTED",
        /// A person's yes is too old.
        ApprovalExpired = "APPROVAL_EXPIRED",
        /// The isolation that the call needs can't be had here.
        IsolationUnavailable = "ISOLATION_UNAVAILABLE",
        /// A bound was passed.
        LimitExceeded = "LIMIT_EXCEEDED",
        /// The intent's budget is used up.
        BudgetExceeded = "BUDGET_EXCEEDED",
        /// The policy or intents file can't be understood.
        PolicyInvalid = "POLICY_INVALID",
        /// A tool that nobody declared.
        ToolUnknown = "TOOL_UNKNOWN",
        /// A tool that is not what it was when it was pinned.
        ToolPinned = "TOOL_PINNED",
        /// The tree's policy waits for a person.
        NotTrusted = "NOT_TRUSTED",
        /// A verb that is for people.
        PersonOnly = "PERSON_ONLY",
        /// Another call is open on the same path.
        PathBusy = "PATH_BUSY",
        /// Another session holds the intent.
        Leased = "LEASED",
        /// A tool returned what its schema refuses.
        OutputInvalid = "OUTPUT_INVALID",
        /// A tool failed.
        ExecutionFailed = "EXECUTION_FAILED",
        /// A tool took too long.
        Timeout = "TIMEOUT",
        /// Someone else changed the same thing.
        Conflict = "CONFLICT",
        /// The ledger can't be written.
        LedgerUnavailable = "LEDGER_UNAVAILABLE",
        /// A defect in Tagout.
        Internal = "INTERNAL",
    }
}

words! {
    /// The checks, in the order in which they are made.
    Gate, "snake_case" {
        /// The policy and intents files themselves.
        Law = "law",
        /// Names and aliases made canonical.
        Normalise = "normalise",
        /// Arguments against the tool's schema.
        Schema = "schema",
        /// Files that decide what agents may do.
        Authority = "authority",
        /// SAFE or DESTRUCTIVE.
        Class = "class",
        /// What the session's state permits.
        State = "state",
        /// The intent itself.
        Intent = "intent",
        /// What a write tool must carry.
        Metadata = "metadata",
        /// Whether the targets are known.
        Targets = "targets",
        /// Whether each target is in scope.
        Scope = "scope",
        /// Tools and capabilities that are granted.
        Capability = "capability",
        /// How far the tool may reach.
        Ceiling = "ceiling",
        /// Constraints on single arguments.
        Arguments = "arguments",
        /// The isolation that the call needs.
        Isolation = "isolation",
        /// Budgets and repetition.
        Budget = "budget",
        /// Other calls open on the same path.
        Busy = "busy",
        /// Files changed since the session saw them.
        Stale = "stale",
        /// Rules that allow, ask or deny, and what people said.
        Approval = "approval",
        /// The durable record.
        Record = "record",
    }
}

words! {
    /// How one check ended.
    CheckResult, "snake_case" {
        /// Nothing against the call.
        Pass = "pass",
        /// The check refused.
        Refuse = "refuse",
        /// A person has to agree.
        Ask = "ask",
        /// The check does not apply to this call.
        NotApplicable = "not_applicable",
        /// An earlier check refused.
        NotReached = "not_reached",
    }
}

/// One link of the explanation.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Which check.
    pub gate: Gate,
    /// How it ended.
    pub result: CheckResult,
    /// What was found, for a person.
    pub detail: String,
}

/// Why a call is allowed.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// The words.
    pub text: String,
    /// The rule that decided: `built-in: …`, or a rule's own id with its file.
    pub rule: String,
}

/// H9: a refusal that an agent can recover from. Asking has the same form, with
/// `APPROVAL_REQUIRED`.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// What programs branch on.
    pub code: Code,
    /// Why.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
    /// Whether the same call can succeed later without a person widening anything.
    pub retryable: bool,
    /// The intent concerned.
    pub intent_id: Option<IntentId>,
    /// The paths concerned.
    pub paths: Vec<String>,
    /// Which check refused.
    pub gate: Gate,
    /// The rule that decided.
    pub rule: String,
}

impl Refusal {
    /// A refusal by a rule that comes with the program. Nothing but a person can change it, and it
    /// is about no intent and no path, unless whoever makes it says otherwise.
    pub fn built_in(
        (gate, code): (Gate, Code),
        rule: &str,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            code,
            reason: reason.into(),
            remedy: remedy.into(),
            retryable: false,
            intent_id: None,
            paths: Vec::new(),
            gate,
            rule: format!("built-in: {rule}"),
        }
    }

    /// The one structured form in which every door shows a refusal.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "status": "error",
            "code": self.code.as_str(),
            "reason": self.reason,
            "remedy": self.remedy,
            "retryable": self.retryable,
            "intent_id": self.intent_id.as_ref().map(IntentId::as_str),
            "paths": self.paths,
            "gate": self.gate.as_str(),
            "rule": self.rule,
        })
    }
}

/// Allow, ask or deny. There is no verdict without a reason.
#[must_use]
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The call may run.
    Allow(Reason),
    /// A person has to agree first.
    Ask(Box<Refusal>),
    /// The call may not run.
    Deny(Box<Refusal>),
}

impl Verdict {
    /// The wire name: `allow`, `ask` or `deny`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Allow(_) => "allow",
            Self::Ask(_) => "ask",
            Self::Deny(_) => "deny",
        }
    }

    /// The stable word.
    pub fn code(&self) -> Code {
        match self {
            Self::Allow(_) => Code::Allowed,
            Self::Ask(refusal) | Self::Deny(refusal) => refusal.code,
        }
    }

    /// Whether the call may run now.
    pub const fn is_allow(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    /// How much the verdict lets through: deny 0, ask 1, allow 2. For laws about narrowing.
    pub const fn permissiveness(&self) -> u8 {
        match self {
            Self::Deny(_) => 0,
            Self::Ask(_) => 1,
            Self::Allow(_) => 2,
        }
    }
}

/// A verdict with everything that led to it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// SAFE or DESTRUCTIVE, computed in any case.
    pub class: Class,
    /// The canonical tool name, if the catalogue knows the tool.
    pub tool: Option<String>,
    /// What kind of thing it does.
    pub kind: ToolKind,
    /// How far it reaches.
    pub level: SideEffectLevel,
    /// What it would touch.
    pub effects: Vec<Effect>,
    /// The whole chain of checks, in order.
    pub checks: Vec<Check>,
}
