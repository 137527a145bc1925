//! What may be used at all: tools, capabilities, reach, arguments, isolation.

use tagout_vocab::{Class, Code, Gate, SideEffectLevel};

use crate::capability::Allowance;
use crate::capability::grants::GrantDenied;
use crate::catalogue::RemoteName;
use crate::judge::case::Case;
use crate::judge::facts::Isolation;
use crate::judge::finding::{Finding, No, pass, skip};
use crate::law::arguments::Constrained;
use crate::law::pattern::CommandLine;
use crate::law::{self, Denied, DeniedHow};

/// A5, C3: the tool and each capability it needs are let through by every layer.
pub(in crate::judge) fn capability(case: &Case<'_>) -> Finding {
    let names = case.names();
    let no = |what: String, denied: &Denied<'_>| {
        let why = denied
            .reason
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default();
        let reason = format!(
            "{what} is not permitted by {} ({}){why}",
            denied.source.file, denied.entry
        );
        No::new(Gate::Capability, Code::CapabilityDenied, reason)
            .rule(format!("{}: {}", denied.source.file, denied.entry))
            .remedy("use another tool, or ask a person to permit this one")
            .deny()
    };
    if let Some(denied) = case.books.law.tool_denied(&names) {
        return no(format!("the tool `{}`", case.call.tool), &denied);
    }
    if let Some(RemoteName {
        server: Some(server),
        tool,
    }) = case.normalised.remote_target()
        && let Some(denied) = case.books.law.mcp_denied(&server, &tool)
    {
        return no(format!("the tool `{tool}` of server `{server}`"), &denied);
    }
    for line in &case.commands.lines {
        if let Some(denied) = case.books.law.command_denied(&CommandLine::raw(line)) {
            return no(format!("the command `{line}`"), &denied);
        }
    }
    let needed = case
        .tool()
        .map(|tool| tool.capabilities.as_slice())
        .unwrap_or_default();
    for name in needed {
        let Some(denied) = case.books.law.capability_denied(name) else {
            continue;
        };
        let what = format!("the capability `{name}`");
        match denied.how {
            DeniedHow::Named => return no(what, &denied),
            DeniedHow::NotListed => match case.granted(name) {
                Ok(_) => {}
                Err(GrantDenied::NothingAsked | GrantDenied::NoGrant { .. }) => {
                    return no(what, &denied);
                }
                // Someone gave it, and it does not do: the reason is worth more than the rule.
                Err(why) => return no(format!("{what} ({why})"), &denied),
            },
        }
    }
    // A tool that changes things and names no capability has not said what it needs.
    let silent = needed.is_empty() && case.level() > SideEffectLevel::ReadOnly;
    if let Some(source) = case.books.law.lists_capabilities().filter(|_| silent) {
        let reason = format!(
            "the tool `{}` does not say which capabilities it needs, and {} lists what may be used",
            case.call.tool, source.file
        );
        return No::new(Gate::Capability, Code::CapabilityDenied, reason)
            .rule(format!("{}: capabilities", source.file))
            .remedy("use another tool, or ask a person to declare this one's capabilities")
            .deny();
    }
    let grants = case.grants_used();
    let ids: Vec<String> = grants.iter().map(|id| format!("`{id}`")).collect();
    pass(match (needed.is_empty(), ids.is_empty()) {
        (true, _) => "none needed".to_owned(),
        (false, true) => needed.join(", "),
        (false, false) => format!("{}, granted by {}", needed.join(", "), ids.join(", ")),
    })
}

/// A2: how far the call reaches, against the lowest ceiling of all layers.
pub(in crate::judge) fn ceiling(case: &Case<'_>) -> Finding {
    let (level, ceiling) = (case.level(), case.books.law.ceiling());
    if case.tool().is_none() && case.class == Class::Safe {
        return pass("read-only by the policy's own word");
    }
    if level == SideEffectLevel::None && !is_named(case) {
        let reason = format!(
            "the tool `{}` declares no side-effect level",
            case.call.tool
        );
        return No::new(Gate::Ceiling, Code::CeilingExceeded, reason)
            .remedy("a person declares its level, or names the tool under `tools.allow`")
            .deny();
    }
    if level > ceiling {
        let reason = format!(
            "the call reaches {}, but no further than {} is permitted",
            level.as_str(),
            ceiling.as_str()
        );
        return No::new(Gate::Ceiling, Code::CeilingExceeded, reason)
            .remedy(case.ceiling_remedy())
            .deny();
    }
    pass(format!("{} is within {}", level.as_str(), ceiling.as_str()))
}

/// Whether a layer lists the tool by its very name, not by a pattern that happens to cover it.
fn is_named(case: &Case<'_>) -> bool {
    case.books
        .law
        .layers()
        .any(|layer| match &layer.tools.allow {
            Allowance::Unrestricted => false,
            Allowance::Only(entries) => entries
                .iter()
                .any(|entry| case.names().contains(&entry.as_str())),
        })
}

/// A5: constraints on single arguments; one that can't be resolved refuses.
pub(in crate::judge) fn arguments(case: &Case<'_>) -> Finding {
    let refused = case
        .books
        .law
        .argument_refused(&case.names(), case.arguments(), case.facts.case);
    match refused {
        None => pass("no constraint is broken"),
        Some(refused) => {
            let key = &refused.constraint.key;
            let found = match &refused.found {
                Constrained::Refused(value) => format!("`{key}` can't be `{value}`"),
                Constrained::Missing => format!("`{key}` is missing"),
                Constrained::Unreadable | Constrained::Passes => format!("`{key}` can't be read"),
            };
            let why = refused
                .constraint
                .reason
                .as_deref()
                .unwrap_or("by the policy");
            let reason = format!("{found}: {why} ({})", refused.source.file);
            No::new(Gate::Arguments, Code::ArgConstraint, reason)
                .rule(format!("{}: arguments", refused.source.file))
                .remedy("send the call again with an argument that the policy permits")
                .retryable()
                .deny()
        }
    }
}

/// S1: what the call needs to be held in by can be had here.
pub(in crate::judge) fn isolation(case: &Case<'_>) -> Finding {
    if case.commands.lines.is_empty() {
        return skip("no command is run");
    }
    if case.class == Class::Safe && case.facts.isolation == Isolation::Assumed {
        return skip("a reading command; nothing was probed");
    }
    match case.facts.isolation {
        Isolation::Transaction => pass("the command runs in a layer that is judged afterwards"),
        Isolation::Snapshot if case.books.law.isolation() == law::Isolation::Full => {
            let reason = "only a snapshot can be had here, and the user's layer does not accept it";
            No::new(Gate::Isolation, Code::IsolationUnavailable, reason)
                .remedy(
                    "use an edit tool instead of a command, or ask a person to accept weaker walls \
                     (`isolation`) in their own policy; `tagout doctor` says what this host lacks",
                )
                .deny()
        }
        Isolation::Snapshot => pass("the command runs against a snapshot, as the user accepts"),
        Isolation::Assumed => pass("taken as available; nothing was probed"),
        Isolation::Unavailable => unavailable("nothing here can hold a command's writes"),
    }
}

fn unavailable(reason: &str) -> Finding {
    No::new(Gate::Isolation, Code::IsolationUnavailable, reason)
        .remedy("use an edit tool instead of a command; `tagout doctor` says what this host lacks")
        .deny()
}
