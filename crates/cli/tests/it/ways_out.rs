//! Refusals about an intent name a way on, at the terminal and to an agent beneath a client.

use tagout_agents::Client;

use crate::confined::Site;
use crate::hook_oracle::{Does, Said};
use crate::hooked::{Call, ask, intent_of, site_for};

const GOOSE: Client = Client::Goose;

/// What the hook says to a line of an agent.
fn line(site: &Site, session: &str, words: &str) -> Said {
    let line = format!("'{}' {words}", env!("CARGO_BIN_EXE_tagout"));
    ask(site, &Call::shell(GOOSE, (session, "one"), &line))
}

fn denied(said: &Said) -> String {
    assert_eq!(said.does(), Does::Denies, "{said:?}");
    format!("{}{}", said.stdout, said.stderr)
}

/// H17: whoever finds an intent held learns until when and by which verb a person lets it go, also
/// where it was only tried by hand. The verb does nothing for the agent that reads of it.
#[test]
fn a_held_intent_can_be_let_go() {
    let site = site_for(&[]);
    let id = intent_of(GOOSE);
    let tried = ["exec", "--session", "me", "--intent", &id, "--", "true"];
    assert_eq!(site.tagout(&tried).code, Some(0));
    let verb = format!("a person releases it at a terminal with `tagout intent release {id}`");
    let again = ["exec", "--session", "two", "--intent", &id, "--", "true"];
    let ran = site.tagout(&again);
    assert_eq!(ran.code, Some(126), "{}", ran.shown());
    assert!(ran.stderr.contains("wait until 20"), "{}", ran.shown());
    assert!(ran.stderr.contains(&verb), "{}", ran.shown());
    let text = denied(&line(&site, "main", &format!("intent select {id}")));
    assert!(text.contains("LEASED") && text.contains(&verb), "{text}");
    for more in ["", " --yes"] {
        let words = format!("intent release {id}{more}");
        let text = denied(&line(&site, "main", &words));
        assert!(text.contains("PERSON_ONLY"), "{text}");
        let held = site.tagout(&["intent", "list"]).stdout;
        assert!(held.contains("held by me until 20"), "{held}");
    }
    let released = site.tagout(&["intent", "release", &id, "--yes"]);
    assert_eq!(released.code, Some(0), "{}", released.shown());
    assert!(line(&site, "main", &format!("intent select {id}")).runs());
}
