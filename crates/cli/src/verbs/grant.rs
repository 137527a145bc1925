//! `tagout grant issue`, `list`, `revoke`: capability grants, for people.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tagout_gate::{GrantDraft, GrantStatus};
use tagout_policy::capability::grants::{
    Constraint, Grant, GrantScope, Grantee, GranteeKind, ResourcePattern,
};
use tagout_policy::capability::{Allowance, Capability, NamePattern};
use tagout_vocab::{GrantId, Timestamp};

use crate::args::{GrantArgs, GrantIssueArgs, GrantVerb, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{args, clock, moments, person, report, runtime};

/// Does what was asked of the grants.
pub(crate) fn run(place: &PlaceArgs, args: &GrantArgs) -> Result<Exit, Failure> {
    match &args.verb {
        GrantVerb::Issue(issue) => self::issue(place, issue),
        GrantVerb::List { yes, json } => list(place, *yes, *json),
        GrantVerb::Revoke {
            id,
            reason,
            yes,
            json,
        } => {
            let reason = reason.as_deref().unwrap_or("no reason given");
            revoke(place, (id, reason), (*yes, *json))
        }
    }
}

fn issue(place: &PlaceArgs, args: &GrantIssueArgs) -> Result<Exit, Failure> {
    person::required(args.yes, "grant issue")?;
    let draft = draft(args, clock::now())?;
    let engine = runtime::open(place)?;
    report::note(&format!("to {}:", draft.grantee));
    for capability in &draft.capabilities {
        report::note(&format!("  {capability}"));
    }
    for lacking in Capability::closure(&draft.capabilities).difference(&draft.capabilities) {
        report::note(&format!(
            "it is of no use without {lacking}, which is not given here"
        ));
    }
    person::agrees(args.yes, "Give this?")?;
    let grant = engine.issue_grant(draft, &args::user())?;
    let words = format!("{} is given to {}", grant.grant_id, grant.grantee);
    report::done(args.json, &words, &shown(&grant, None, clock::now()))
}

fn draft(args: &GrantIssueArgs, now: Timestamp) -> Result<GrantDraft, Failure> {
    let mut capabilities = BTreeSet::new();
    for name in &args.capability {
        capabilities.extend(Capability::expand(name).map_err(Failure::invalid)?);
    }
    let mut constraints = Vec::new();
    constraints.extend(args.rate.as_deref().map(rate).transpose()?);
    let size = args.max_file_size;
    constraints.extend(size.map(|bytes| Constraint::MaxFileSize { bytes }));
    let expires = args.expires.as_deref();
    Ok(GrantDraft {
        capabilities,
        grantee: grantee(&args.to)?,
        scope: scope(args)?,
        constraints,
        expires_at: expires.map(|text| moments::until(text, now)).transpose()?,
    })
}

fn grantee(text: &str) -> Result<Grantee, Failure> {
    let kinds = [
        GranteeKind::Tool,
        GranteeKind::User,
        GranteeKind::Role,
        GranteeKind::Session,
    ];
    let parts = text.split_once(':').filter(|(_, id)| !id.is_empty());
    let found = parts.and_then(|(word, id)| {
        let kind = kinds.into_iter().find(|kind| kind.as_str() == word)?;
        let id = id.to_owned();
        Some(Grantee { kind, id })
    });
    found.ok_or_else(|| {
        Failure::invalid(format!("`--to {text}` names nobody"))
            .hint("say `session:ID`, `tool:NAME`, `user:NAME` or `role:NAME`")
    })
}

fn names(texts: &[String]) -> Result<BTreeSet<NamePattern>, Failure> {
    let parse = |text: &String| {
        NamePattern::parse(text)
            .map_err(|error| Failure::invalid(format!("`{text}` is no name: {error}")))
    };
    texts.iter().map(parse).collect()
}

/// An empty list would be nothing, so «everything» has to be said.
fn scope(args: &GrantIssueArgs) -> Result<GrantScope, Failure> {
    let resources = if args.anywhere {
        Allowance::Unrestricted
    } else {
        let mut listed = BTreeSet::new();
        for text in &args.path {
            listed.insert(ResourcePattern::path(text).map_err(Failure::invalid)?);
        }
        let named = names(&args.named)?.into_iter();
        listed.extend(named.map(ResourcePattern::Name));
        Allowance::Only(listed)
    };
    let actions = if args.action.is_empty() {
        Allowance::Unrestricted
    } else {
        Allowance::Only(names(&args.action)?)
    };
    Ok(GrantScope { resources, actions })
}

fn rate(text: &str) -> Result<Constraint, Failure> {
    let parts = text.split_once('/');
    let read = parts.and_then(|(max, span)| {
        let window = u64::try_from(moments::span(span)?).ok()?;
        Some((max.parse().ok()?, window))
    });
    match read {
        Some((max, window_ms)) if window_ms > 0 => Ok(Constraint::RateLimit { max, window_ms }),
        Some(_) | None => Err(Failure::invalid(format!("`--rate {text}` is no rate"))
            .hint("say how many uses in which time: `10/1h`")),
    }
}

fn state(grant: &Grant, revoked: Option<&str>, now: Timestamp) -> &'static str {
    if revoked.is_some() {
        "revoked"
    } else if grant.expires_at.is_some_and(|end| now >= end) {
        "expired"
    } else {
        "holds"
    }
}

fn shown(grant: &Grant, revoked: Option<&str>, now: Timestamp) -> Value {
    let capabilities: Vec<String> = grant.capabilities.iter().map(ToString::to_string).collect();
    json!({
        "grant_id": grant.grant_id,
        "state": state(grant, revoked, now),
        "to": grant.grantee.to_string(),
        "capabilities": capabilities,
        "scope": grant.scope,
        "constraints": grant.constraints,
        "issued_at": grant.issued_at.to_string(),
        "expires_at": grant.expires_at.map(|time| time.to_string()),
        "revoked": revoked,
    })
}

fn list(place: &PlaceArgs, yes: bool, json: bool) -> Result<Exit, Failure> {
    person::required(yes, "grant list")?;
    let (engine, now) = (runtime::open(place)?, clock::now());
    let grants = engine.grants()?;
    if json {
        let all = |one: &GrantStatus| shown(&one.grant, one.revoked.as_deref(), now);
        let all: Vec<Value> = grants.iter().map(all).collect();
        report::json(&json!({ "grants": all }))?;
        return Ok(Exit::Done);
    }
    let mut rows = Vec::new();
    for GrantStatus { grant, revoked } in &grants {
        let names: Vec<String> = grant.capabilities.iter().map(ToString::to_string).collect();
        let until = grant.expires_at.map_or_else(
            || "no end".to_owned(),
            |time| format!("until {}", moments::local(time)),
        );
        rows.push(vec![
            grant.grant_id.to_string(),
            state(grant, revoked.as_deref(), now).to_owned(),
            report::plain(&grant.grantee.to_string()),
            names.join(", "),
            until,
        ]);
    }
    report::data(&report::table(&rows))?;
    if grants.is_empty() {
        report::note("no grants");
    }
    Ok(Exit::Done)
}

fn revoke(
    place: &PlaceArgs,
    (id, reason): (&str, &str),
    (yes, json): (bool, bool),
) -> Result<Exit, Failure> {
    person::required(yes, "grant revoke")?;
    let id = GrantId::new(id).map_err(|error| Failure::invalid(format!("`{id}`: {error}")))?;
    let engine = runtime::open(place)?;
    person::agrees(yes, &format!("Take {id} back?"))?;
    engine.revoke_grant(&id, &args::user(), reason)?;
    let value = json!({ "status": "revoked", "grant_id": id, "reason": reason });
    report::done(json, &format!("{id} is taken back"), &value)
}
