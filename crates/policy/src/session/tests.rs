//! G3 as a table, and the rules about what counts as a prompt.

use tagout_vocab::{IntentId, Session, SessionId, State};

use super::{Happening, PromptSource, advance, offered};

fn id(text: &str) -> IntentId {
    IntentId::new(text).unwrap()
}

fn session(state: State, intent: Option<&str>) -> Session {
    let mut session = Session::new(SessionId::new("s-1").unwrap());
    session.state = state;
    session.intent = intent.map(id);
    session
}

const PROMPT: Happening = Happening::Prompt {
    source: PromptSource::Person,
    blank: false,
};

fn check(from: &Session, happening: &Happening, state: State, intent: Option<&str>, steps: usize) {
    let moved = advance(from, happening);
    assert_eq!(moved.session.state, state, "{from:?} {happening:?}");
    assert_eq!(
        moved.session.intent,
        intent.map(id),
        "{from:?} {happening:?}"
    );
    assert_eq!(moved.changes.len(), steps, "{:?}", moved.changes);
}

/// G3: every transition of the table, and what stays where it is.
#[test]
fn every_transition() {
    use State::{Action, Reasoning, Request};
    let select = |intent: &str| Happening::Selected(id(intent));
    let request = session(Request, None);
    let reasoning = session(Reasoning, None);
    let action = session(Action, Some("A"));
    check(&request, &PROMPT, Reasoning, None, 1);
    check(&reasoning, &PROMPT, Reasoning, None, 0);
    check(&action, &PROMPT, Reasoning, Some("A"), 1);
    check(&reasoning, &select("A"), Action, Some("A"), 1);
    check(&request, &select("A"), Action, Some("A"), 2);
    check(&action, &select("B"), Action, Some("B"), 1);
    check(&action, &select("A"), Action, Some("A"), 0);
    check(&action, &Happening::Completed, Request, None, 1);
    check(&action, &Happening::Reset, Request, None, 1);
    check(&reasoning, &Happening::Completed, Request, None, 1);
    check(&request, &Happening::Completed, Request, None, 0);
    check(&request, &Happening::Called, Reasoning, None, 1);
    check(&action, &Happening::Called, Action, Some("A"), 0);
}

/// G3: the context of the intent survives a new prompt, the handshake does not.
#[test]
fn a_new_prompt_keeps_context_and_ends_the_handshake() {
    let moved = advance(&session(State::Action, Some("A")), &PROMPT);
    assert_eq!(moved.session.intent, Some(id("A")));
    assert_eq!(moved.session.active_intent(), None);
}

/// G3: replacing an intent says which one was left.
#[test]
fn a_replaced_intent_is_recorded() {
    let moved = advance(
        &session(State::Action, Some("A")),
        &Happening::Selected(id("B")),
    );
    assert_eq!(moved.changes[0].dropped, Some(id("A")));
}

/// G3: prompt events that nobody typed, and prompts to child agents, reset nothing.
#[test]
fn only_a_person_at_the_root_resets() {
    let action = session(State::Action, Some("A"));
    for (source, blank) in [
        (PromptSource::Client, false),
        (PromptSource::Person, true),
        (PromptSource::Client, true),
    ] {
        check(
            &action,
            &Happening::Prompt { source, blank },
            State::Action,
            Some("A"),
            0,
        );
    }
    let mut child = session(State::Action, Some("A"));
    child.parent = Some(SessionId::new("root").unwrap());
    check(&child, &PROMPT, State::Action, Some("A"), 0);
}

/// G5: until the handshake a model is shown SAFE tools only; the shell comes with them if offered.
#[test]
fn what_a_model_is_shown() {
    let catalogue = crate::catalogue::Catalogue::built_in().unwrap();
    let shown = |state, shell| -> Vec<&str> {
        offered(catalogue.native(), state, shell)
            .iter()
            .map(|tool| tool.name.as_str())
            .collect()
    };
    for state in [State::Request, State::Reasoning] {
        let names = shown(state, false);
        assert!(names.contains(&"read_file") && names.contains(&"select_active_intent"));
        assert!(!names.contains(&"write_to_file") && !names.contains(&"execute_command"));
        assert!(shown(state, true).contains(&"execute_command"));
        assert!(!shown(state, true).contains(&"write_to_file"));
    }
    assert_eq!(
        shown(State::Action, false).len(),
        catalogue.native().count()
    );
}
