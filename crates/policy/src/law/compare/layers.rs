//! Differences of one policy file.

use std::collections::{BTreeMap, BTreeSet};

use tagout_vocab::SideEffectLevel;

use super::{Change, ChangeKind, Changes};
use crate::capability::Allowance;
use crate::law::pattern::NameGlob;
use crate::law::rules::Match;
use crate::law::{
    Action, ExtraRoot, Isolation, Layer, Network, OnFailure, Overlap, Profile, Restriction,
    RootAccess, SourceKind,
};

/// Compares two states of one layer.
///
/// If nothing widens, the new one lets no call through that the old one refuses.
pub fn compare_layers(old: &Layer, new: &Layer) -> Vec<Change> {
    let mut changes = Changes::default();
    scales(old, new, &mut changes);
    restriction("tool", &old.tools, &new.tools, &mut changes);
    restriction(
        "capability",
        &old.capabilities,
        &new.capabilities,
        &mut changes,
    );
    roots(old, new, &mut changes);
    changes.denials(&old.arguments, &new.arguments, |constraint| {
        let (key, tool) = (&constraint.key, constraint.tool.as_str());
        format!("the constraint on `{key}` of `{tool}`")
    });
    rules(old, new, &mut changes);
    mcp(old, new, &mut changes);
    commands(old, new, &mut changes);
    let protect = |layer: &Layer| -> Vec<_> {
        layer
            .protect
            .iter()
            .map(|entry| entry.pattern.clone())
            .collect()
    };
    changes.denials(&protect(old), &protect(new), |pattern| {
        format!("the protection of `{}`", pattern.as_str())
    });
    declared(old, new, &mut changes);
    changes.grants(&old.pass_through, &new.pass_through, |folder| {
        format!("the pass-through folder `{folder}`")
    });
    words(old, new, &mut changes);
    changes.0.sort();
    changes.0
}

/// Fields whose values lie on a scale.
fn scales(old: &Layer, new: &Layer, changes: &mut Changes) {
    changes.strictness(&questions(old), &questions(new), || {
        let shown = |layer: &Layer| layer.profile.map_or("unset", Profile::as_str);
        format!("profile: {} → {}", shown(old), shown(new))
    });
    let ceiling = |layer: &Layer| layer.ceiling.unwrap_or(SideEffectLevel::MAX);
    let (was, is) = (ceiling(old), ceiling(new));
    changes.strictness(&is, &was, || {
        format!("ceiling: `{}` → `{}`", was.as_str(), is.as_str())
    });
    let limits = [
        (
            "repeat_limit",
            old.limits.repeat_max.map(u64::from),
            new.limits.repeat_max.map(u64::from),
        ),
        ("calls", old.limits.calls_max, new.limits.calls_max),
        ("minutes", old.limits.minutes_max, new.limits.minutes_max),
    ];
    for (name, was, is) in limits {
        let (was_max, is_max) = (was.unwrap_or(u64::MAX), is.unwrap_or(u64::MAX));
        changes.strictness(&is_max, &was_max, || {
            format!("{name}: {} → {}", bound(was), bound(is))
        });
    }
    // Unset lies between: it neither grants nor refuses.
    let overlap = |layer: &Layer| match layer.overlap {
        Some(Overlap::Ask) => 0,
        None => 1,
        Some(Overlap::Deny) => 2,
    };
    changes.strictness(&overlap(old), &overlap(new), || {
        "what happens when intents overlap".to_owned()
    });
    let failure = |layer: &Layer| layer.on_command_failure.unwrap_or(OnFailure::Keep);
    changes.strictness(&failure(old), &failure(new), || {
        "what becomes of the changes of a failed command".to_owned()
    });
    let shell = |layer: &Layer| match layer.offer_shell_before_handshake {
        Some(true) => 0,
        None => 1,
        Some(false) => 2,
    };
    changes.strictness(&shell(old), &shell(new), || {
        "whether the shell is offered before the handshake".to_owned()
    });
    let network = |layer: &Layer| match layer.network {
        Some(Network::Any) => 0,
        None | Some(Network::None) => 1,
    };
    changes.strictness(&network(old), &network(new), || "network".to_owned());
    let isolation = |layer: &Layer| layer.isolation.unwrap_or(Isolation::Full);
    changes.strictness(&isolation(old), &isolation(new), || "isolation".to_owned());
}

/// How much a layer's profile asks. An absent one of the user leaves the built-in one, whose
/// questions a repository may answer; an absent one of a repository asks nothing.
const fn questions(layer: &Layer) -> u8 {
    match (layer.source.kind, layer.profile) {
        (SourceKind::Repository | SourceKind::Proposed, None) | (_, Some(Profile::Observe)) => 0,
        (SourceKind::BuiltIn | SourceKind::User, None) => 1,
        (_, Some(Profile::Balanced)) => 2,
        (_, Some(Profile::Strict)) => 3,
    }
}

fn bound(value: Option<u64>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn restriction(what: &str, old: &Restriction, new: &Restriction, changes: &mut Changes) {
    match (&old.allow, &new.allow) {
        (Allowance::Unrestricted, Allowance::Unrestricted) => {}
        (Allowance::Unrestricted, Allowance::Only(_)) => {
            changes.add(
                ChangeKind::Narrows,
                format!("restricts {what} names to a list"),
            );
        }
        (Allowance::Only(_), Allowance::Unrestricted) => {
            changes.add(
                ChangeKind::Widens,
                format!("no longer restricts {what} names"),
            );
        }
        (Allowance::Only(old), Allowance::Only(new)) => {
            changes.grants(&names(old), &names(new), |name| {
                format!("the {what} `{name}`")
            });
        }
    }
    changes.denials(&names(&old.deny), &names(&new.deny), |name| {
        format!("the denial of the {what} `{name}`")
    });
}

fn names(set: &BTreeSet<NameGlob>) -> Vec<String> {
    set.iter().map(|name| name.as_str().to_owned()).collect()
}

fn roots(old: &Layer, new: &Layer, changes: &mut Changes) {
    // The law takes the least access that any layer gives, so a root that is only read both grants
    // and holds back.
    let holds_back = |root: &ExtraRoot| root.access == RootAccess::Read;
    for root in &new.roots {
        let name = &root.name;
        match old.roots.iter().find(|known| known.name == *name) {
            Some(known) if known == root => {}
            Some(known) if known.path == root.path && holds_back(root) => {
                changes.add(
                    ChangeKind::Narrows,
                    format!("the root `{name}` is only read"),
                );
            }
            Some(_) => changes.add(ChangeKind::Widens, format!("changes the root `{name}`")),
            None => changes.add(ChangeKind::Widens, format!("adds the root `{name}`")),
        }
    }
    for root in &old.roots {
        if !new.roots.iter().any(|known| known.name == root.name) {
            let kind = if holds_back(root) {
                ChangeKind::Widens
            } else {
                ChangeKind::Narrows
            };
            changes.add(kind, format!("removes the root `{}`", root.name));
        }
    }
}

/// Rules are compared by what they match: names, reasons and examples change no verdict.
#[expect(
    clippy::mutable_key_type,
    reason = "a pattern is compared by its text; what it caches takes no part"
)]
fn rules(old: &Layer, new: &Layer, changes: &mut Changes) {
    let (old, new) = (by_match(old), by_match(new));
    let matches: BTreeSet<&&Match> = old.keys().chain(new.keys()).collect();
    for matching in matches {
        let (was, is) = (old.get(*matching), new.get(*matching));
        let id = is.or(was).map_or("", |said| said.id);
        let refuses = |said: Option<&Said<'_>>| said.and_then(|said| said.refuses);
        changes.strictness(&refuses(was), &refuses(is), || {
            let shown = |action: Option<Action>| action.map_or("nothing", Action::as_str);
            let (was, is) = (shown(refuses(was)), shown(refuses(is)));
            format!("the rule `{id}`: {was} → {is}")
        });
        let allows = |said: Option<&Said<'_>>| said.is_some_and(|said| said.allows);
        changes.strictness(&!allows(was), &!allows(is), || {
            let verb = if allows(is) { "adds" } else { "removes" };
            format!("{verb} the allowing rule `{id}`")
        });
    }
}

/// What all rules with the same match say together.
struct Said<'a> {
    id: &'a str,
    refuses: Option<Action>,
    allows: bool,
}

#[expect(
    clippy::mutable_key_type,
    reason = "a pattern is compared by its text; what it caches takes no part"
)]
fn by_match(layer: &Layer) -> BTreeMap<&Match, Said<'_>> {
    let mut said: BTreeMap<&Match, Said<'_>> = BTreeMap::new();
    for rule in layer.rules.rules() {
        let entry = said.entry(&rule.matches).or_insert(Said {
            id: &rule.id,
            refuses: None,
            allows: false,
        });
        match rule.action {
            Action::Allow => entry.allows = true,
            Action::Ask | Action::Deny => entry.refuses = entry.refuses.max(Some(rule.action)),
        }
    }
    said
}

fn mcp(old: &Layer, new: &Layer, changes: &mut Changes) {
    let (old, new) = (&old.mcp, &new.mcp);
    let servers: BTreeSet<&String> = old
        .trust_hints
        .keys()
        .chain(new.trust_hints.keys())
        .collect();
    for server in servers {
        let distrust = |trust: Option<&bool>| match trust {
            Some(true) => 0,
            None => 1,
            Some(false) => 2,
        };
        let was = distrust(old.trust_hints.get(server));
        let is = distrust(new.trust_hints.get(server));
        changes.strictness(&was, &is, || {
            format!("trust in the hints of the server `{server}`")
        });
    }
    let listed = |tools: &BTreeSet<String>| -> Vec<String> { tools.iter().cloned().collect() };
    let (was, is) = (listed(&old.readonly_tools), listed(&new.readonly_tools));
    changes.grants(&was, &is, |tool| format!("the reading MCP tool `{tool}`"));
    changes.denials(&names(&old.deny), &names(&new.deny), |tool| {
        format!("the denial of the MCP tool `{tool}`")
    });
}

fn commands(old: &Layer, new: &Layer, changes: &mut Changes) {
    let patterns = |entries: &[crate::law::CommandEntry]| -> Vec<_> {
        entries.iter().map(|entry| entry.pattern.clone()).collect()
    };
    let (old, new) = (&old.commands, &new.commands);
    changes.grants(
        &patterns(&old.readonly),
        &patterns(&new.readonly),
        |pattern| format!("the reading command `{}`", pattern.shown()),
    );
    let lists = [
        ("destructive", &old.destructive, &new.destructive),
        ("denied", &old.deny, &new.deny),
    ];
    for (word, old, new) in lists {
        changes.denials(&patterns(old), &patterns(new), |pattern| {
            format!("the {word} command `{}`", pattern.shown())
        });
    }
}

/// A declaration can make an unknown tool known or narrow a known one; this file can't tell which.
fn declared(old: &Layer, new: &Layer, changes: &mut Changes) {
    let names: BTreeSet<&str> = old
        .declare
        .iter()
        .chain(&new.declare)
        .map(|tool| tool.name.as_str())
        .collect();
    for name in names {
        let find = |layer: &Layer| layer.declare.iter().find(|tool| tool.name == name).cloned();
        if find(old) != find(new) {
            changes.add(
                ChangeKind::Widens,
                format!("changes the declared tool `{name}`"),
            );
        }
    }
}

/// What is for readers only.
fn words(old: &Layer, new: &Layer, changes: &mut Changes) {
    if old.constraints != new.constraints {
        changes.add(ChangeKind::Neutral, "constraints for the agent to read");
    }
    if old.publish != new.publish {
        changes.add(ChangeKind::Neutral, "when the trace is written");
    }
    let told = |layer: &Layer| -> Vec<_> {
        let rules = layer.rules.rules().iter();
        let rules = rules.map(|rule| (rule.id.clone(), rule.reason.clone()));
        let protect = layer
            .protect
            .iter()
            .map(|entry| (entry.pattern.as_str().to_owned(), entry.reason.clone()));
        rules.chain(protect).collect()
    };
    if told(old) != told(new) {
        changes.add(
            ChangeKind::Neutral,
            "names and reasons of rules and protected paths",
        );
    }
}
