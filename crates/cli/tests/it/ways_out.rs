//! Refusals about an intent name a way on, at the terminal and to an agent beneath a client.

use tagout_agents::Client;

use crate::confined::Site;
use crate::hook_oracle::{Does, Said};
use crate::hooked::{Call, ask, in_full, intent_of, site_for};

const GOOSE: Client = Client::Goose;

/// What the hook says to a line of an agent.
fn line(site: &Site, session: &str, words: &str) -> Said {
    ask(
        site,
        &Call::shell(GOOSE, (session, "one"), &in_full(site, words)),
    )
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

/// H1, H18: an intent that is not open leads on to those that are, and to asking for another one,
/// in verbs that whoever reads it can run.
#[test]
fn a_closed_intent_leads_to_others() {
    let site = site_for(&[]);
    let (closed, open) = (intent_of(Client::ClaudeCode), intent_of(GOOSE));
    let done = site.tagout(&["intent", "complete", &closed, "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.shown());
    let select = ["intent", "select", &closed, "--session", "me"];
    let ran = site.tagout(&select);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    let (told, remedy) = ran.stderr.split_once("what to do: ").unwrap();
    assert!(told.contains("INTENT_CLOSED"), "{}", ran.shown());
    for way in [
        "`tagout intent select ID --session me`",
        "`tagout intent list`",
        "`tagout intent propose`",
        open.as_str(),
    ] {
        assert!(remedy.contains(way), "{way}: {remedy}");
    }
    assert!(!remedy.contains(&closed), "{remedy}");
    let text = denied(&line(&site, "main", &format!("intent select {closed}")));
    for way in [
        "tagout intent select ID --workspace ",
        "tagout intent list --workspace ",
        "tagout intent propose --name NAME --scope PATTERN --reason WHY --workspace ",
    ] {
        assert!(text.contains(way), "{way}: {text}");
    }
    assert!(!text.contains("propose_intent"), "{text}");
    assert!(line(&site, "main", "intent list").runs());
    // Beyond a scope the way on is told in the same words.
    assert!(line(&site, "main", &format!("intent select {open}")).runs());
    let write = Call::write(GOOSE, ("main", "two"), "elsewhere.txt", "x");
    let text = denied(&ask(&site, &write));
    let way = format!("tagout intent propose --id {open} --name NAME ");
    let told = text.contains("SCOPE_VIOLATION") && text.contains(&way);
    assert!(told && !text.contains("propose_intent"), "{text}");
}

/// Where no other intent is open, asking for one is all that is left.
#[test]
fn where_nothing_is_open() {
    let site = Site::new(&[]);
    let done = site.tagout(&["intent", "complete", "INT-001", "--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.shown());
    let ran = site.tagout(&["intent", "select", "INT-001", "--session", "me"]);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    let told = "no other intent is open (`tagout intent list` shows them all): propose one with \
                `tagout intent propose`";
    assert!(ran.stderr.contains(told), "{}", ran.shown());
}
