//! What all layers say together, axis by axis.

use serde_json::{Map, Value};
use tagout_vocab::limits::REPEAT_LIMIT_DEFAULT;
use tagout_vocab::{SideEffectLevel, WorkspacePath};

use super::arguments::{ArgumentConstraint, Constrained};
use super::pattern::{CommandLine, Hit, NameGlob};
use super::{
    ExtraRoot, Isolation, Law, Layer, Limits, Network, OnFailure, Overlap, Profile, Publish,
    Restriction, RootAccess, Source, SourceKind,
};
use crate::capability::Allowance;
use crate::catalogue::Tool;
use crate::scope::{CaseRule, Subject};

/// In which way a layer refuses. What somebody wrote down is final; a gap can be filled by a grant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DeniedHow {
    /// By an entry.
    Named,
    /// By listing what is allowed, without this.
    NotListed,
}

/// A layer that refuses something, and the words of that layer that do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Denied<'a> {
    /// Whose layer.
    pub source: &'a Source,
    /// The entry that refuses, or what is missing.
    pub entry: String,
    /// Whether the layer names it, or only does not list it.
    pub how: DeniedHow,
    /// Why it is there, where the layer says.
    pub reason: Option<&'a str>,
}

/// An argument that a constraint refuses.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ArgumentRefusal<'a> {
    /// Whose layer.
    pub source: &'a Source,
    /// The constraint.
    pub constraint: &'a ArgumentConstraint,
    /// What is wrong with the argument.
    pub found: Constrained,
}

/// A tool that a layer declares.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DeclaredTool<'a> {
    /// Whose layer.
    pub source: &'a Source,
    /// What it declares.
    pub tool: &'a Tool,
    /// Whether the files that wait for a person no longer declare it so. Then it still narrows a
    /// tool of the catalogue, but makes no unknown tool known.
    pub withdrawn: bool,
}

impl Law {
    /// Every layer, the built-in one first.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        std::iter::once(&self.built_in).chain(&self.others)
    }

    fn of_kind(&self, kind: SourceKind) -> impl Iterator<Item = &Layer> {
        self.layers().filter(move |layer| layer.source.kind == kind)
    }

    /// Something that has to be granted: by the program or the user's own layer, or by an accepted
    /// file of the repository for as long as the files that wait for a person grant it too.
    pub fn granting<'a, T>(&'a self, by: impl Fn(&'a Layer) -> Option<T>) -> Option<T> {
        let own = self.of_kind(SourceKind::BuiltIn);
        let own = own.chain(self.of_kind(SourceKind::User)).find_map(&by);
        if own.is_some() {
            return own;
        }
        let granted = self.of_kind(SourceKind::Repository).find_map(&by)?;
        let mut proposed = self.of_kind(SourceKind::Proposed).peekable();
        let still = proposed.peek().is_none() || proposed.any(|layer| by(layer).is_some());
        still.then_some(granted)
    }

    /// The profiles that are heard: the user's in place of the built-in one, and the repository's.
    pub(super) fn profiles(&self) -> impl Iterator<Item = (&Layer, Profile)> {
        let user_chose = self
            .of_kind(SourceKind::User)
            .any(|layer| layer.profile.is_some());
        self.layers()
            .filter(move |layer| !(user_chose && layer.source.kind == SourceKind::BuiltIn))
            .filter_map(|layer| layer.profile.map(|profile| (layer, profile)))
    }

    /// The strictest profile, and whose it is.
    pub(super) fn deciding_profile(&self) -> (Profile, &Source) {
        self.profiles().fold(
            (Profile::Observe, &self.built_in.source),
            |strictest, (layer, profile)| {
                if profile > strictest.0 {
                    (profile, &layer.source)
                } else {
                    strictest
                }
            },
        )
    }

    /// The strictest profile of those that are heard.
    pub fn profile(&self) -> Profile {
        self.deciding_profile().0
    }

    /// Whether calls may reach other machines: only the user's own layer can say so.
    pub fn network(&self) -> Network {
        let mut said = self
            .of_kind(SourceKind::User)
            .filter_map(|layer| layer.network)
            .peekable();
        if said.peek().is_some() && said.all(|network| network == Network::Any) {
            Network::Any
        } else {
            Network::None
        }
    }

    /// How far calls may reach: running processes, or the network where the user granted it, and
    /// never further than any layer's own ceiling.
    pub fn ceiling(&self) -> SideEffectLevel {
        let base = match self.network() {
            Network::None => SideEffectLevel::ProcessExec,
            Network::Any => SideEffectLevel::Network,
        };
        let said = self.layers().filter_map(|layer| layer.ceiling);
        said.fold(base, SideEffectLevel::min)
    }

    /// The layer that refuses a tool under any of its names: the client's own and the canonical
    /// one.
    ///
    /// A tool of an MCP server must not be passed here under its bare name, which another server or
    /// the catalogue may use too.
    pub fn tool_denied(&self, names: &[&str]) -> Option<Denied<'_>> {
        let meant = |entry: &NameGlob| names.iter().any(|name| entry.matches(name));
        self.restricted(|layer| &layer.tools, meant, meant)
    }

    /// The layer that refuses a capability of RFC-0003's tree.
    pub fn capability_denied(&self, capability: &str) -> Option<Denied<'_>> {
        let allows = |entry: &NameGlob| within(entry.as_str(), capability);
        // Asking for more than what is denied asks for what is denied too.
        let denies = |entry: &NameGlob| allows(entry) || within(capability, entry.as_str());
        self.restricted(|layer| &layer.capabilities, allows, denies)
    }

    /// The layer that lists which capabilities may be used: tools then have to say what they need.
    pub fn lists_capabilities(&self) -> Option<&Source> {
        let lists = |layer: &&Layer| matches!(layer.capabilities.allow, Allowance::Only(_));
        self.layers().find(lists).map(|layer| &layer.source)
    }

    fn restricted<'a>(
        &'a self,
        axis: impl Fn(&'a Layer) -> &'a Restriction,
        allows: impl Fn(&NameGlob) -> bool,
        denies: impl Fn(&NameGlob) -> bool,
    ) -> Option<Denied<'a>> {
        // A denial of any layer goes before a gap of another, because a gap can be filled.
        let named = self.layers().find_map(|layer| {
            let entry = axis(layer).deny.iter().find(|entry| denies(entry))?;
            Some(Denied {
                source: &layer.source,
                entry: format!("deny: {}", entry.as_str()),
                how: DeniedHow::Named,
                reason: None,
            })
        });
        named.or_else(|| {
            let gap = |layer: &&'a Layer| !is_allowed(&axis(layer).allow, &allows);
            self.layers().find(gap).map(|layer| Denied {
                source: &layer.source,
                entry: "allow: not listed".to_owned(),
                how: DeniedHow::NotListed,
                reason: None,
            })
        })
    }

    /// The first constraint that an argument breaks. Aliases must be canonical already.
    pub fn argument_refused(
        &self,
        names: &[&str],
        arguments: &Map<String, Value>,
        case: CaseRule,
    ) -> Option<ArgumentRefusal<'_>> {
        self.layers().find_map(|layer| {
            layer.arguments.iter().find_map(|constraint| {
                let found = constraint.check(names, arguments, case);
                (found != Constrained::Passes).then_some(ArgumentRefusal {
                    source: &layer.source,
                    constraint,
                    found,
                })
            })
        })
    }

    /// The layer that forbids any change of a path.
    pub fn protected(&self, path: &WorkspacePath, case: CaseRule) -> Option<Denied<'_>> {
        let path = Subject::new(path, case);
        self.layers().find_map(|layer| {
            let matches = |entry: &&super::ProtectedPath| entry.pattern.denies_subject(&path);
            layer.protect.iter().find(matches).map(|entry| Denied {
                source: &layer.source,
                entry: entry.pattern.as_str().to_owned(),
                how: DeniedHow::Named,
                reason: entry.reason.as_deref(),
            })
        })
    }

    /// The layer that forbids a command line. What can't be read is forbidden too.
    pub fn command_denied(&self, command: &CommandLine<'_>) -> Option<Denied<'_>> {
        self.command_entry(command, |layer| &layer.commands.deny)
    }

    /// The layer that says that a command line is destructive whatever else is known of it.
    pub fn command_never_safe(&self, command: &CommandLine<'_>) -> Option<Denied<'_>> {
        self.command_entry(command, |layer| &layer.commands.destructive)
    }

    fn command_entry<'a>(
        &'a self,
        command: &CommandLine<'_>,
        entries: impl Fn(&'a Layer) -> &'a Vec<super::CommandEntry>,
    ) -> Option<Denied<'a>> {
        self.layers().find_map(|layer| {
            let hit = |entry: &&super::CommandEntry| entry.pattern.forbids(command) != Hit::No;
            entries(layer).iter().find(hit).map(|entry| Denied {
                source: &layer.source,
                entry: entry.pattern.shown(),
                how: DeniedHow::Named,
                reason: entry.reason.as_deref(),
            })
        })
    }

    /// Whether a policy file claims that a command only reads.
    ///
    /// This is a candidate, not a class. The analysis of commands may follow it only for a line
    /// that is one simple command without redirection, and only for a program that it knows nothing
    /// about: never over its own finding that the command writes, runs, reaches or can't be read.
    pub fn claims_read_only(&self, command: &CommandLine<'_>) -> Option<&Source> {
        if !command.is_plain() || self.command_never_safe(command).is_some() {
            return None;
        }
        self.granting(|layer| {
            let mut entries = layer.commands.readonly.iter();
            entries
                .any(|entry| entry.pattern.permits(command))
                .then_some(&layer.source)
        })
    }

    /// The layer that forbids a tool of an MCP server.
    pub fn mcp_denied(&self, server: &str, tool: &str) -> Option<Denied<'_>> {
        let name = format!("{server}/{tool}");
        self.layers().find_map(|layer| {
            let entry = layer.mcp.deny.iter().find(|entry| entry.matches(&name))?;
            Some(Denied {
                how: DeniedHow::Named,
                source: &layer.source,
                entry: entry.as_str().to_owned(),
                reason: None,
            })
        })
    }

    /// Whose word makes a tool of an MCP server a reading one (A6, H5): an allowlist, or the
    /// server's own hint where the server is trusted and no layer says otherwise.
    pub fn mcp_reads(&self, server: &str, tool: &str, hint: Option<bool>) -> Option<&Source> {
        let name = format!("{server}/{tool}");
        let distrusted = self
            .layers()
            .any(|layer| layer.mcp.trust_hints.get(server) == Some(&false));
        self.granting(|layer| {
            let listed = layer.mcp.readonly_tools.contains(&name);
            let hinted = hint == Some(true)
                && !distrusted
                && layer.mcp.trust_hints.get(server) == Some(&true);
            (listed || hinted).then_some(&layer.source)
        })
    }

    /// Extra roots, each with the least access that any layer that names it gives.
    pub fn roots(&self) -> Vec<ExtraRoot> {
        let mut roots: Vec<ExtraRoot> = Vec::new();
        for root in self.layers().flat_map(|layer| &layer.roots) {
            let known = roots.iter().any(|known| known.name == root.name);
            let named = |layer: &Layer| {
                let same = |other: &&ExtraRoot| other.name == root.name && other.path == root.path;
                layer.roots.iter().find(same).map(|other| other.access)
            };
            if known || self.granting(named).is_none() {
                continue;
            }
            let least = self.layers().filter_map(named).min();
            roots.push(ExtraRoot {
                access: least.unwrap_or(RootAccess::Read),
                ..root.clone()
            });
        }
        roots
    }

    /// Tools that the user's layer and the accepted files declare.
    pub fn declared(&self) -> Vec<DeclaredTool<'_>> {
        let accepted = self
            .layers()
            .filter(|layer| layer.source.kind != SourceKind::Proposed);
        let tools = accepted.flat_map(|layer| layer.declare.iter().map(move |tool| (layer, tool)));
        tools
            .map(|(layer, tool)| DeclaredTool {
                source: &layer.source,
                tool,
                withdrawn: self
                    .granting(|layer| layer.declare.contains(tool).then_some(()))
                    .is_none(),
            })
            .collect()
    }

    /// The smallest of every limit that is set.
    pub fn limits(&self) -> Limits {
        let least = |pick: fn(&Limits) -> Option<u64>| {
            self.layers().filter_map(|layer| pick(&layer.limits)).min()
        };
        let repeat = self.layers().filter_map(|layer| layer.limits.repeat_max);
        Limits {
            repeat_max: Some(repeat.min().unwrap_or(REPEAT_LIMIT_DEFAULT)),
            calls_max: least(|limits| limits.calls_max),
            minutes_max: least(|limits| limits.minutes_max),
        }
    }

    /// What happens when two open intents own the same file: refused, unless asking is granted and
    /// no layer refuses.
    pub fn overlap(&self) -> Overlap {
        let refused = self
            .layers()
            .any(|layer| layer.overlap == Some(Overlap::Deny));
        let asks = self.granting(|layer| (layer.overlap == Some(Overlap::Ask)).then_some(()));
        if refused || asks.is_none() {
            Overlap::Deny
        } else {
            Overlap::Ask
        }
    }

    /// The weakest isolation that is accepted: full, unless the user's own layer says otherwise.
    pub fn isolation(&self) -> Isolation {
        let said = self
            .of_kind(SourceKind::User)
            .filter_map(|layer| layer.isolation);
        said.max().unwrap_or(Isolation::Full)
    }

    /// Folders whose changes are not transactional, by the user's own layer.
    pub fn pass_through(&self) -> impl Iterator<Item = &str> {
        self.of_kind(SourceKind::User)
            .flat_map(|layer| layer.pass_through.iter().map(String::as_str))
    }

    /// When the views of the trace are written: the accepted repository's word, else the user's.
    pub fn publish(&self) -> Publish {
        let repository = self.of_kind(SourceKind::Repository);
        let mut said = repository.chain(self.of_kind(SourceKind::User));
        said.find_map(|layer| layer.publish)
            .unwrap_or(Publish::AtOnce)
    }

    /// What becomes of the changes of a command that failed: kept, unless a layer takes them back.
    pub fn on_command_failure(&self) -> OnFailure {
        let said = self.layers().filter_map(|layer| layer.on_command_failure);
        said.max().unwrap_or(OnFailure::Keep)
    }

    /// Whether the shell tool is offered before an intent is selected.
    pub fn offers_shell_before_handshake(&self) -> bool {
        let refused = self
            .layers()
            .any(|layer| layer.offer_shell_before_handshake == Some(false));
        let offers =
            |layer: &Layer| (layer.offer_shell_before_handshake == Some(true)).then_some(());
        !refused && self.granting(offers).is_some()
    }

    /// Constraints for the agent to read.
    pub fn constraints(&self) -> impl Iterator<Item = &str> {
        self.layers()
            .flat_map(|layer| layer.constraints.iter().map(String::as_str))
    }
}

fn is_allowed(allow: &Allowance<NameGlob>, meant: impl Fn(&NameGlob) -> bool) -> bool {
    match allow {
        Allowance::Unrestricted => true,
        Allowance::Only(entries) => entries.iter().any(meant),
    }
}

/// A capability's name stands for all beneath it.
fn within(entry: &str, capability: &str) -> bool {
    let rest = capability.strip_prefix(entry);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
