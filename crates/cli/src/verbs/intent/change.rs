//! `tagout intent new`, `select`, `propose`, `complete`, `release`.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use serde_json::{Map, Value, json};
use tagout_gate::{Places, Proposal, Site};
use tagout_policy::intents::{self, IntentSet};
use tagout_policy::judge::Standing;
use tagout_vocab::{Budget, Call, Code, Intent, IntentId, IntentStatus, Role};
use tagout_workspace::files;

use crate::args::{IntentNewArgs, IntentProposeArgs, PlaceArgs, SessionArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notes::{Notes, Selected};
use crate::verbs::{exec, run, trust};
use crate::{args, books, clock, person, report, runtime, site};

fn id_of(text: &str) -> Result<IntentId, Failure> {
    IntentId::new(text).map_err(|error| Failure::invalid(format!("`{text}`: {error}")))
}

/// Declares an intent; a person's word is as good as `trust` for what this verb writes.
pub(super) fn new(place: &PlaceArgs, args: &IntentNewArgs) -> Result<Exit, Failure> {
    person::required(args.yes, "intent new")?;
    let places = runtime::places(place)?;
    let id = match &args.id {
        Some(id) => id_of(id)?,
        None => free(&known(&places)?)?,
    };
    let intent = Intent {
        id,
        name: args.name.clone(),
        status: IntentStatus::Pending,
        owned_scope: args::patterns::each(&args.scope)?,
        constraints: args.constraint.clone(),
        acceptance_criteria: args.accept.clone(),
        related_requirements: Vec::new(),
        description: None,
        expires_at: None,
        budget: Budget::default(),
        shares_with: Vec::new(),
    };
    change(&places, |text| {
        intents::append(books::INTENTS, text, &intent)
    })?;
    let value = json!({ "status": "declared", "intent_id": intent.id });
    report::done(args.json, &format!("{} is declared", intent.id), &value)
}

/// H18: writes what a person agreed to. Gives the intent's id.
pub(super) fn accepted(place: &PlaceArgs, proposal: &Proposal) -> Result<IntentId, Failure> {
    let places = runtime::places(place)?;
    let known = known(&places)?;
    if let Some(id) = &proposal.intent {
        let owned = known.get(id).map(|intent| intent.owned_scope.clone());
        let mut scope = owned.unwrap_or_default();
        for pattern in &proposal.owned_scope {
            if !scope.contains(pattern) {
                scope.push(pattern.clone());
            }
        }
        change(&places, |text| {
            intents::set_scope(books::INTENTS, text, id, &scope)
        })?;
        return Ok(id.clone());
    }
    let id = free(&known)?;
    let intent = Intent {
        id: id.clone(),
        name: proposal.name.clone().unwrap_or_else(|| id.to_string()),
        status: IntentStatus::Pending,
        owned_scope: proposal.owned_scope.clone(),
        constraints: proposal.constraints.clone(),
        acceptance_criteria: proposal.acceptance_criteria.clone(),
        related_requirements: Vec::new(),
        description: None,
        expires_at: None,
        budget: Budget::default(),
        shares_with: Vec::new(),
    };
    change(&places, |text| {
        intents::append(books::INTENTS, text, &intent)
    })?;
    Ok(id)
}

/// The intents that the tree declares.
fn known(places: &Places) -> Result<IntentSet, Failure> {
    let text = site::read_sidecar(&places.root, books::INTENTS).map_err(Failure::invalid)?;
    let text = text.unwrap_or_default();
    let known = intents::read(books::INTENTS, &text).map_err(|found| Failure::problems(&found))?;
    Ok(known.into_set())
}

/// The first number that no intent has.
fn free(known: &IntentSet) -> Result<IntentId, Failure> {
    (1..=u32::MAX)
        .filter_map(|number| IntentId::new(&format!("INT-{number:03}")).ok())
        .find(|id| known.get(id).is_none())
        .ok_or_else(|| Failure::failed("there is no number left for an intent"))
}

/// Marks an intent as done.
pub(super) fn complete(
    place: &PlaceArgs,
    id: &str,
    (yes, json): (bool, bool),
) -> Result<Exit, Failure> {
    person::required(yes, "intent complete")?;
    let places = runtime::places(place)?;
    let id = id_of(id)?;
    change(&places, |text| {
        intents::set_status(books::INTENTS, text, &id, IntentStatus::Completed)
    })?;
    let value = json!({ "status": "completed", "intent_id": id });
    report::done(json, &format!("{id} is completed"), &value)
}

/// Edits the intents file, and accepts the edit if nothing else waits for a person's eye.
fn change(
    places: &Places,
    edit: impl FnOnce(&str) -> Result<String, intents::EditError>,
) -> Result<(), Failure> {
    let engine = runtime::open_at(places)?;
    let clean = engine.shelf().waiting.is_empty() && engine.shelf().standing == Standing::Accepted;
    let text = site::read_sidecar(&places.root, books::INTENTS).map_err(Failure::invalid)?;
    let edited = edit(text.as_deref().unwrap_or_default()).map_err(Failure::invalid)?;
    store(&places.root, &edited)?;
    if clean {
        return trust::accept(&engine, &runtime::sources(&places.root)?);
    }
    report::note("other changes wait too: `tagout trust` shows them and accepts all");
    Ok(())
}

fn store(root: &Path, text: &str) -> Result<(), Failure> {
    files::write_atomic(&root.join(books::INTENTS), text.as_bytes(), None).map_err(Failure::failed)
}

/// Takes an intent up in the session, through the tool that does it.
pub(super) fn select(
    place: &PlaceArgs,
    id: &str,
    (permit, session): (Option<&str>, &SessionArgs),
) -> Result<Exit, Failure> {
    let selected = if session.session.is_some() {
        None
    } else {
        selected_by_hook(place, id, permit)?
    };
    if let Some(selected) = selected {
        let value = json!({ "status": "ok", "intent_id": id, "context": selected.context });
        return report::done(session.json, selected.context.trim_end(), &value);
    }
    let engine = runtime::open(place)?;
    let arguments = Map::from_iter([("intent_id".to_owned(), Value::from(id))]);
    let actor = run::own_actor(session.session.as_deref())?;
    let call = Call::new(engine.shelf().books.name_of(Role::SelectIntent), arguments);
    run::execute(&engine, call, (actor, session))
}

/// Beneath a client, its hook has made the selection already, because it knows the conversation. A
/// line that the hook wrote names the note of it; nothing else is looked at then, because some
/// clients run commands at terminals too.
fn selected_by_hook(
    place: &PlaceArgs,
    id: &str,
    permit: Option<&str>,
) -> Result<Option<Selected>, Failure> {
    let id = id_of(id)?;
    let places = runtime::places(place)?;
    let site = Site::open(&places).map_err(|error| told_elsewhere(error.into(), permit))?;
    let selected = Notes::of(site.state()).selected(permit, &id, clock::now());
    match selected {
        None if permit.is_some() => {
            let message = "no hook made this selection, or it was told before";
            let failure = Failure::denied(Code::StateViolation, message);
            Err(failure.hint(format!(
                "run `tagout intent select {id}`; the hook makes it"
            )))
        }
        Some(selected) if permit.is_none() && io::stdin().is_terminal() => {
            Ok(held_still(&places, selected)?)
        }
        selected => Ok(selected),
    }
}

/// The hook that wrote the line could open the state; whoever can't is kept away from it.
fn told_elsewhere(failure: Failure, permit: Option<&str>) -> Failure {
    if permit.is_none() {
        return failure;
    }
    let message = format!(
        "the hook made this selection, which holds, and its context can't be read here: {}",
        failure.message
    );
    Failure::failed(message).hint("go on with the work; the client keeps its commands from it")
}

/// What a hook noted without a name may be meant for this very command, at a terminal of a client
/// that lets no line be rewritten, or the terminal is a person's, who then can't have the intent as
/// long as that conversation holds it.
fn held_still(places: &Places, selected: Selected) -> Result<Option<Selected>, Failure> {
    let engine = runtime::open_at(places)?;
    let record = engine.session(&selected.session).map_err(Failure::failed)?;
    let holds = record.session.active_intent() == Some(&selected.intent);
    if !holds {
        return Ok(None);
    }
    report::note(&format!(
        "selected for the conversation {} by its client's hook, and not for this terminal",
        selected.session
    ));
    Ok(Some(selected))
}

/// H18: asks a person for an intent or a wider scope. Beneath a client, in the conversation that
/// its hook noted.
pub(super) fn propose(place: &PlaceArgs, args: &IntentProposeArgs) -> Result<Exit, Failure> {
    let permit = args.permit.as_deref();
    let engine = runtime::open(place).map_err(|failure| exec::kept_away(permit, failure))?;
    let named = (args.session.session.as_deref(), permit);
    let actor = run::actor(&engine, named, &noted(args))?;
    let scope = args::patterns::each(&args.scope)?;
    let tool = engine.shelf().books.name_of(Role::ProposeIntent);
    let call = Call::new(tool, proposed(args, scope));
    run::execute(&engine, call, (actor, &args.session))
}

/// What the note of a hook for a proposal is about: no line that a shell could run.
pub(super) fn noted(args: &IntentProposeArgs) -> String {
    format!(
        "\0propose {}",
        Value::from(proposed(args, args.scope.clone()))
    )
}

fn proposed(args: &IntentProposeArgs, scope: Vec<String>) -> Map<String, Value> {
    let mut arguments = Map::from_iter([
        ("name".to_owned(), Value::from(args.name.as_str())),
        ("owned_scope".to_owned(), Value::from(scope)),
        ("reason".to_owned(), Value::from(args.reason.as_str())),
    ]);
    if let Some(id) = &args.id {
        arguments.insert("intent_id".to_owned(), Value::from(id.as_str()));
    }
    arguments
}

/// Lets an intent go, whoever holds it.
pub(super) fn release(
    place: &PlaceArgs,
    id: &str,
    (yes, json): (bool, bool),
) -> Result<Exit, Failure> {
    person::required(yes, "intent release")?;
    let engine = runtime::open(place)?;
    let id = id_of(id)?;
    let released = engine.release(&id, &args::user())?;
    let words = if released {
        format!("{id} is free")
    } else {
        format!("nobody held {id}")
    };
    let value = json!({ "status": "free", "intent_id": id, "was_held": released });
    report::done(json, &words, &value)
}
