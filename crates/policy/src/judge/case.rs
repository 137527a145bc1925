//! One call with everything that the checks look at, worked out once.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use tagout_vocab::{
    Call, CheckResult, Class, Code, Effect, Gate, GrantId, Intent, IntentId, IntentStatus,
    Judgement, Origin, Place, Role, Session, SideEffectLevel, Target, ToolAnnotations, ToolKind,
};

use super::books::Books;
use super::commands::{self, Commands};
use super::facts::{Facts, Grants};
use super::finding::No;
use crate::capability::Capability;
use crate::capability::grants::{
    self, Book, GrantDenied, GrantRequest, Grantee, GranteeKind, Resource,
};
use crate::catalogue::{RemoteName, Tool, declared_name};
use crate::intents::Unselectable;
use crate::law::pattern::CommandLine;
use crate::law::rules::{Fact, PathFact, RuleInput, Traits};
use crate::targets::{self, Normalised};

/// A call, its session, the books and the facts, with names made canonical and effects derived.
#[derive(Debug)]
pub struct Case<'a> {
    /// The call as it came.
    pub call: &'a Call,
    /// The conversation.
    pub session: &'a Session,
    /// What is judged by.
    pub books: &'a Books,
    /// What is known of the world.
    pub facts: &'a Facts,
    /// What the call would touch.
    pub effects: Vec<Effect>,
    /// SAFE or DESTRUCTIVE.
    pub class: Class,
    pub(super) class_reason: String,
    pub(super) commands: Commands,
    names: Vec<String>,
    pub(super) normalised: Normalised<'a>,
}

impl<'a> Case<'a> {
    /// Prepares a case. The facts may still lack what can only be gathered for its effects.
    pub fn new(call: &'a Call, session: &'a Session, books: &'a Books, facts: &'a Facts) -> Self {
        let normalised = targets::normalise(call, &books.catalogue);
        let raw = targets::effects(&normalised, &facts.roots, &call.cwd);
        let commands = commands::understand(&raw, &normalised, books, facts, &call.cwd);
        let (class, class_reason) = classify(books, facts, &normalised, &commands);
        let other = raw
            .into_iter()
            .filter(|effect| !matches!(effect, Effect::Run { .. }));
        let effects = other.chain(commands.effects.iter().cloned()).collect();
        let names = names(call, &normalised);
        Self {
            call,
            session,
            books,
            facts,
            effects,
            class,
            class_reason,
            commands,
            names,
            normalised,
        }
    }

    /// The tool, if it is declared.
    pub fn tool(&self) -> Option<&'a Tool> {
        self.normalised.tool
    }

    /// The arguments under their canonical keys.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.normalised.arguments
    }

    /// Whether the arguments are as declared: the judge has told, unless something before decided.
    pub fn fits_schema(&self, judgement: &Judgement) -> bool {
        let mut checks = judgement.checks.iter();
        let told = checks.find(|check| check.gate == Gate::Schema);
        match told.map(|check| check.result) {
            Some(CheckResult::Pass | CheckResult::NotApplicable) => true,
            Some(CheckResult::Refuse | CheckResult::Ask) => false,
            Some(CheckResult::NotReached) | None => targets::check_input(&self.normalised).is_ok(),
        }
    }

    /// What kind of thing the call does.
    pub fn kind(&self) -> ToolKind {
        self.tool().map_or(ToolKind::Other, |tool| tool.kind)
    }

    /// Whether a command that only reads may start what a configuration in the workspace names.
    pub fn is_helped(&self) -> bool {
        self.commands.helped
    }

    /// How far the call reaches.
    pub fn level(&self) -> SideEffectLevel {
        let declared = self.tool().map_or(SideEffectLevel::None, |tool| tool.level);
        if self.commands.network {
            return declared.max(SideEffectLevel::Network);
        }
        declared
    }

    pub(super) fn role(&self) -> Option<Role> {
        self.tool().and_then(|tool| tool.role)
    }

    pub(super) fn argument(&self, key: &str) -> Option<&Value> {
        self.arguments().get(key)
    }

    /// Whether the tool comes from the built-in catalogue rather than from a policy file.
    pub(super) fn is_built_in(&self) -> bool {
        self.tool()
            .is_some_and(|tool| self.books.catalogue.is_built_in(&tool.name))
    }

    /// The names that the law may know the tool by, the canonical one first.
    pub(super) fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// Where a target lies by its text, and where it really leads if that was looked up.
    pub(super) fn places<'b>(&'b self, target: &'b Target) -> impl Iterator<Item = &'b Place> {
        std::iter::once(&target.place).chain(self.facts.resolved.get(&target.raw))
    }

    /// The active intent, if the books know it.
    pub(super) fn active(&self) -> Option<&'a Intent> {
        self.books.intents.get(self.session.active_intent()?)
    }

    /// The intent that a selecting call names.
    pub(super) fn named_intent(&self) -> Result<IntentId, Box<No>> {
        let named = self
            .argument("intent_id")
            .and_then(Value::as_str)
            .unwrap_or_default();
        IntentId::new(named).map_err(|error| {
            Box::new(
                No::new(
                    Gate::Intent,
                    Code::IntentUnknown,
                    format!("`{named}` is no intent: {error}"),
                )
                .remedy(self.known_intents())
                .retryable(),
            )
        })
    }

    /// A remedy that names the intents which can be selected, as many as fit a line.
    pub(super) fn known_intents(&self) -> String {
        let ids = self.open_intents();
        if ids.is_empty() {
            let propose = self.books.name_of(Role::ProposeIntent);
            return format!("no intent is open; propose one with `{propose}`");
        }
        format!("select an open intent: {}", ids.join(", "))
    }

    fn open_intents(&self) -> Vec<&str> {
        const SHOWN_MAX: usize = 8;
        let open = |intent: &&Intent| {
            crate::intents::selectable(intent, self.facts.now).is_ok()
                && self.books.ignore.blocks_intent(&intent.id).is_none()
        };
        let intents = self.books.intents.iter().filter(open);
        intents.map(|one| one.id.as_str()).take(SHOWN_MAX).collect()
    }

    /// The ways on from an intent that is not open, and what a person can do about it.
    pub(super) fn instead_of(&self, why: &Unselectable) -> String {
        let ids = self.open_intents();
        let propose = self.books.name_of(Role::ProposeIntent);
        let listed = "`tagout intent list` shows them all";
        let other = if ids.is_empty() {
            format!("no other intent is open ({listed}): propose one with `{propose}`")
        } else {
            let (select, ids) = (self.books.name_of(Role::SelectIntent), ids.join(", "));
            format!(
                "select an open intent with `{select}`: {ids} ({listed}), or propose one with \
                 `{propose}`"
            )
        };
        let mend = match why {
            Unselectable::Draft { .. } => "agree to this one",
            Unselectable::Closed { status, .. } => match status {
                IntentStatus::Blocked => "reopen this one",
                IntentStatus::Completed
                | IntentStatus::Abandoned
                | IntentStatus::Draft
                | IntentStatus::Pending
                | IntentStatus::InProgress => return other,
            },
            Unselectable::Expired { .. } => "give this one more time",
            Unselectable::ScopeEmpty { .. } => "give this one files to own",
            Unselectable::Ignored { .. } => "unblock this one",
            Unselectable::Unknown { .. } => return other,
        };
        format!("{other}, or ask a person to {mend}")
    }

    pub(super) fn widening_remedy(&self, intent: &Intent) -> String {
        let propose = self.books.name_of(Role::ProposeIntent);
        format!(
            "stay inside {}, or ask for a wider scope with `{propose}`",
            intent.owned_scope.join(", ")
        )
    }

    pub(super) fn ceiling_remedy(&self) -> &'static str {
        if self.level() == SideEffectLevel::Network {
            "work without the network; a person grants it with `network: any` in their own policy"
        } else {
            "use a tool that reaches less far, or ask a person to raise the ceiling"
        }
    }

    /// C3: the grants that this call rests on: for each capability that no layer lists, the one
    /// that gives it, and those that it was handed on from. Empty where nothing had to be granted.
    pub fn grants_used(&self) -> BTreeSet<GrantId> {
        let needed = self.tool().map(|tool| tool.capabilities.as_slice());
        needed
            .unwrap_or_default()
            .iter()
            .filter(|name| self.books.law.capability_denied(name).is_some())
            .filter_map(|name| self.granted(name).ok())
            .flatten()
            .collect()
    }

    /// C3: the grants that cover a capability for this call and everything that it would touch.
    pub(super) fn granted(&self, capability: &str) -> Result<BTreeSet<GrantId>, GrantDenied> {
        let Ok(capability) = Capability::parse(capability) else {
            return Err(GrantDenied::NothingAsked);
        };
        let Grants {
            given,
            revoked,
            keys,
            uses,
        } = &self.facts.grants;
        let book = Book {
            grants: given,
            revocations: revoked,
            keys,
        };
        let tools = self
            .names()
            .into_iter()
            .map(|name| (GranteeKind::Tool, name));
        let session = (GranteeKind::Session, self.session.id.as_str());
        let grantees: Vec<Grantee> = tools
            .chain([session])
            .map(|(kind, id)| Grantee {
                kind,
                id: id.to_owned(),
            })
            .collect();
        let places = self
            .effects
            .iter()
            .flat_map(Effect::targets)
            .flat_map(|t| self.places(t));
        let resources: Vec<Resource> = places
            .map(|place| match place {
                Place::Inside { path } => Resource::Path(path.clone()),
                Place::Root { .. } | Place::Outside { .. } => Resource::Name(place.shown()),
            })
            .collect();
        let request = GrantRequest {
            capabilities: &BTreeSet::from([capability]),
            grantees: &grantees,
            resources: &resources,
            action: None,
            usage: grants::Usage {
                uses,
                file_size_bytes: None,
            },
            case: self.facts.case,
        };
        grants::decide(&book, &request, self.facts.now).map(|granted| granted.charged)
    }

    /// The call as approval rules see it.
    pub(super) fn with_rule_input<T>(&self, look: impl FnOnce(&RuleInput<'_>) -> T) -> T {
        let unknown = self
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Unknown { .. }));
        let places = self
            .effects
            .iter()
            .flat_map(Effect::targets)
            .flat_map(|t| self.places(t));
        let paths: Vec<PathFact<'_>> = places.map(PathFact::from).collect();
        let runs = self
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Run { .. }));
        // Several lines are told as one, so that a pattern finds its words in any of them.
        let lines = self.commands.lines.join("\n");
        let command = (!lines.is_empty()).then(|| CommandLine::raw(&lines));
        let name = self.names.first().map_or("", String::as_str);
        let mut input = RuleInput::new(name, self.kind(), self.level(), self.class);
        input.paths = (!unknown && !runs).then_some(paths.as_slice());
        input.command = command.as_ref().map_or(Fact::Absent, Fact::Is);
        let remote = self.normalised.remote_target();
        if let Some(RemoteName { server, tool }) = &remote {
            input.server = server.as_deref().map_or(Fact::Unknown, Fact::Is);
            input.mcp_tool = Fact::Is(tool);
        }
        if let Some(intent) = self.session.active_intent() {
            input.intent = Fact::Is(intent.as_str());
        }
        input.case = self.facts.case;
        input.traits = self.traits();
        look(&input)
    }

    fn traits(&self) -> Traits {
        let any = |is: fn(&Effect) -> bool| self.effects.iter().any(is);
        Traits {
            undoable: self.tool().is_some_and(|tool| tool.undoable),
            network: any(|effect| matches!(effect, Effect::Reach { .. })),
            delegation: any(|effect| matches!(effect, Effect::Delegate)),
            irreversible: self.commands.push
                || any(|effect| matches!(effect, Effect::Desktop | Effect::Remote { .. })),
            catastrophic: self.commands.catastrophic.is_some(),
        }
    }
}

/// The canonical name, how the client spells it, and for a server's tool `server/tool` and
/// `mcp__server__tool`. Its bare name is none of them: another server or the catalogue may use it.
fn names(call: &Call, normalised: &Normalised<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(2);
    names.extend(normalised.tool.map(|tool| tool.name.clone()));
    if let Some(RemoteName {
        server: Some(server),
        tool,
    }) = normalised.remote_target()
    {
        names.extend(declared_name(&server, &tool));
        names.push(format!("{server}/{tool}"));
    }
    let is_bare = matches!(call.origin, Origin::Mcp { .. }) && normalised.remote.is_some();
    if !is_bare && names.first() != Some(&call.tool) {
        names.push(call.tool.clone());
    }
    names
}

fn plays(normalised: &Normalised<'_>, role: Role) -> bool {
    normalised.tool.is_some_and(|tool| tool.role == Some(role))
}

/// A server that calls a tool read-only and destructive at once is not believed.
fn believable_hint(hints: &ToolAnnotations) -> Option<bool> {
    hints
        .read_only_hint
        .filter(|_| hints.destructive_hint != Some(true))
}

/// G1, H4, H5: the class of one call, and why.
fn classify(
    books: &Books,
    facts: &Facts,
    normalised: &Normalised<'_>,
    commands: &Commands,
) -> (Class, String) {
    if let Some(RemoteName {
        server: Some(server),
        tool,
    }) = &normalised.remote
        && normalised
            .tool
            .is_none_or(|tool| !books.catalogue.is_built_in(&tool.name))
    {
        let hint = facts.hints.as_ref().and_then(believable_hint);
        if let Some(source) = books.law.mcp_reads(server, tool, hint) {
            return (Class::Safe, format!("read-only by {}", source.file));
        }
    }
    let class = targets::classify(normalised);
    let clean = normalised.conflicts.is_empty() && !normalised.oversized;
    if clean && !commands.lines.is_empty() && plays(normalised, Role::Shell) {
        return match &commands.destructive {
            None => (Class::Safe, "every command in it only reads".to_owned()),
            Some(why) => (Class::Destructive, why.clone()),
        };
    }
    let why = match normalised.tool {
        None => "a tool that nobody declared".to_owned(),
        Some(tool) if class == tool.class => format!("the catalogue says so of `{}`", tool.name),
        Some(_) => "the arguments can't be understood".to_owned(),
    };
    (class, why)
}
