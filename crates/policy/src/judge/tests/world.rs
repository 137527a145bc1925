//! A small workspace for judging in.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};
use tagout_vocab::path::Roots;
use tagout_vocab::{Call, IntentId, Judgement, Origin, Session, SessionId, State, Timestamp};

use crate::catalogue::Catalogue;
use crate::intents::{self, IgnoreFile};
use crate::judge::{Books, Facts, judge};
use crate::law::{self, Law, Layer, Source};

pub(super) const INTENTS: &str = "
version: 1
intents:
  - id: INT-001
    name: Weather
    status: IN_PROGRESS
    owned_scope: [src/weather/**, tests/, '!src/weather/secret/**']
  - id: INT-002
    name: Done
    status: COMPLETED
    owned_scope: [docs/**]
  - id: INT-003
    name: Late
    status: PENDING
    owned_scope: [late/**]
    expires_at: 2020-01-01T00:00:00Z
  - id: INT-004
    name: Nothing
    status: PENDING
    owned_scope: []
  - id: INT-005
    name: Ignored
    status: PENDING
    owned_scope: [ignored/**]
";

/// The time of every judgement here.
pub(super) const NOW: Timestamp = Timestamp::from_millis(1_780_000_000_000);

/// The books under a repository policy, read once per text: the laws ask for them thousands of
/// times.
pub(super) fn books(policy: &str) -> Arc<Books> {
    static KNOWN: Mutex<BTreeMap<String, Arc<Books>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let entry = known.entry(policy.to_owned());
    Arc::clone(entry.or_insert_with(|| Arc::new(read_books(policy))))
}

fn read_books(policy: &str) -> Books {
    let mut layers = Vec::new();
    if !policy.trim().is_empty() {
        layers.push(
            law::read(Source::repository("hook_policy.yaml"), policy)
                .unwrap()
                .layer,
        );
    }
    let law = Law::assemble(Layer::built_in(), None, layers).unwrap();
    with_law(law)
}

pub(super) fn user_books(policy: &str) -> Books {
    let user = law::read(Source::user("policy.yaml"), policy)
        .unwrap()
        .layer;
    with_law(Law::assemble(Layer::built_in(), Some(user), Vec::new()).unwrap())
}

fn with_law(law: Law) -> Books {
    let catalogue = Catalogue::built_in().unwrap();
    let intents = intents::read("active_intents.yaml", INTENTS)
        .unwrap()
        .into_set();
    let ignore =
        IgnoreFile::read(".intentignore", "intent:INT-005\n/src/weather/frozen/\n").unwrap();
    let (books, problems) = Books::new(catalogue, law, intents, ignore);
    assert!(problems.is_empty(), "{problems:?}");
    books
}

pub(super) fn facts() -> Facts {
    Facts::for_explanation(
        NOW,
        Roots {
            workspace: "/w".to_owned(),
            extra: Vec::new(),
        },
    )
}

pub(super) fn session(state: State, intent: Option<&str>) -> Session {
    Session {
        id: SessionId::new("s-1").unwrap(),
        state,
        intent: intent.map(|id| IntentId::new(id).unwrap()),
        parent: None,
    }
}

pub(super) fn call(tool: &str, arguments: Value) -> Call {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    Call::new(tool, arguments)
}

pub(super) fn client_call(client: &str, tool: &str, arguments: Value) -> Call {
    let origin = Origin::Client {
        client: client.to_owned(),
    };
    Call {
        origin,
        ..call(tool, arguments)
    }
}

/// Judges in ACTION under INT-001 by the built-in profile.
pub(super) fn in_action(call: &Call) -> Judgement {
    judge(
        call,
        &session(State::Action, Some("INT-001")),
        &books(""),
        &facts(),
    )
}

/// Adds what a write tool of ours must carry.
pub(super) fn with_metadata(mut arguments: Value) -> Value {
    let map: &mut Map<String, Value> = arguments.as_object_mut().unwrap();
    map.insert("intent_id".to_owned(), "INT-001".into());
    map.insert("mutation_class".to_owned(), "INTENT_EVOLUTION".into());
    arguments
}

/// The verdict and the code, as one word pair.
pub(super) fn said(judgement: &Judgement) -> String {
    format!(
        "{} {}",
        judgement.verdict.as_str(),
        judgement.verdict.code().as_str()
    )
}
