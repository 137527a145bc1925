//! Subagents through the real hook: sessions under their parent, never wider, in whichever order
//! the client's events arrive.

use serde_json::{Value, json};
use tagout_agents::Client;
use tagout_agents::profile::Subagents;

use crate::confined::Site;
use crate::hook_oracle::{Does, Said};
use crate::hooked::{
    Call, happen, in_full, intent_of, plain, select, sends, sent, site_for, written,
};

/// How a client marks what its subagents do, and the event that says who began one.
struct Marks {
    client: Client,
    /// The conversation that the subagent's payloads name.
    session: &'static str,
    /// What its payloads hold besides.
    always: Value,
    /// The event that tells the relation, with the conversation that it names and its own fields.
    told: (&'static str, &'static str, Value),
}

impl Marks {
    /// Whether each of the subagent's payloads tells the relation.
    fn is_told_always(&self) -> bool {
        self.always != json!({})
    }
}

fn marks() -> Vec<Marks> {
    let within = |client| Marks {
        client,
        session: "main",
        always: json!({"agent_id": "sub", "agent_type": "x"}),
        told: ("SubagentStart", "main", json!({"agent_id": "sub"})),
    };
    let own = |client, told| Marks {
        client,
        session: "child",
        always: json!({}),
        told,
    };
    let created = json!({"properties": {"sessionID": "child",
        "info": {"id": "child", "parentID": "main", "directory": "/p"}}});
    let numbered = json!({"agent_id": "agent_2", "parent_agent_id": "agent_1"});
    let copilot = json!({"agent_id": "child", "agent_type": "task", "parent_agent_id": "main"});
    vec![
        within(Client::ClaudeCode),
        within(Client::Codex),
        within(Client::QwenCode),
        within(Client::Vscode),
        Marks {
            client: Client::CopilotCli,
            session: "child",
            always: copilot.clone(),
            told: ("SubagentStart", "main", copilot),
        },
        Marks {
            client: Client::Cline,
            session: "main",
            always: numbered.clone(),
            told: ("TaskStart", "main", numbered),
        },
        own(
            Client::FactoryDroid,
            (
                "SessionStart",
                "child",
                json!({"source": "startup", "calling_session_id": "main"}),
            ),
        ),
        own(
            Client::Opencode,
            ("session.created", "child", json!({ "input": created })),
        ),
        own(
            Client::Cursor,
            (
                "subagentStart",
                "main",
                json!({"subagent_id": "child", "parent_conversation_id": "main"}),
            ),
        ),
    ]
}

/// An intent of somebody else, which owns `src/goose/**`.
const OTHER: Client = Client::Goose;

fn with(mut payload: Value, more: &Value) -> Value {
    let map = payload.as_object_mut().unwrap();
    map.extend(more.as_object().unwrap().clone());
    payload
}

struct Play {
    site: Site,
    marks: Marks,
}

impl Play {
    /// The subagent is about to make a call.
    fn ask(&self, call: &Call) -> Said {
        let payload = serde_json::from_slice(&call.payload(&self.site.root())).unwrap();
        let payload = with(payload, &self.marks.always);
        sent(&self.site, call.client, &call.before(), &payload)
    }

    fn selects(&self, id: &str, intent: &str) -> Said {
        let line = in_full(&self.site, &format!("intent select {intent}"));
        let ids = (self.marks.session, id);
        self.ask(&Call::shell(self.marks.client, ids, &line))
    }

    fn writes(&self, id: &str, owner: Client) -> Said {
        let path = format!("src/{owner}/{id}.txt");
        let ids = (self.marks.session, id);
        self.ask(&Call::write(self.marks.client, ids, &path, "new"))
    }

    /// The task that the subagent is given, where the client sends it as a prompt.
    fn prompted(&self) {
        let client = self.marks.client;
        if let Some(event) = &sends(client).prompt {
            let payload = plain(&self.site, client, event, self.marks.session, "do it");
            let payload = with(payload, &self.marks.always);
            sent(&self.site, client, event, &payload);
        }
    }

    /// The relation is told.
    fn told(&self) {
        let client = self.marks.client;
        let (event, session, more) = &self.marks.told;
        let mut payload = plain(&self.site, client, event, session, "");
        for key in ["hook", "hookName"] {
            if payload.get(key).is_some() {
                payload[key] = client.event(event).unwrap().wire.into();
            }
        }
        let said = sent(&self.site, client, event, &with(payload, more));
        assert!(said.runs(), "{client}: {said:?}");
    }

    /// It is no wider than its parent, and no narrower.
    fn hold(&self, what: &str) {
        let client = self.marks.client;
        let refused = |said: &Said, code: &str| {
            assert_eq!(said.does(), Does::Denies, "{client}, {what}: {said:?}");
            let told = format!("{}{}", said.stdout, said.stderr);
            assert!(told.contains(code), "{client}, {what}: {said:?}");
        };
        refused(&self.writes("w1", OTHER), "");
        refused(&self.selects("s1", &intent_of(OTHER)), "INTENT_MISMATCH");
        refused(&self.writes("w2", OTHER), "");
        let same = self.selects("s2", &intent_of(client));
        assert!(same.runs(), "{client}, {what}: {same:?}");
        let within = self.writes("w3", client);
        assert!(within.runs(), "{client}, {what}: {within:?}");
        refused(&self.writes("w4", OTHER), "SCOPE_VIOLATION");
    }
}

fn play(marks: Marks) -> Play {
    Play {
        site: site_for(&[marks.client]),
        marks,
    }
}

/// The relation comes first, as it should.
#[test]
fn told_first() {
    for marks in marks() {
        let play = play(marks);
        play.told();
        play.prompted();
        play.hold("told first");
    }
}

/// §13.3: the task of a subagent, and what it reads, may arrive before the event that tells whose
/// subagent it is.
#[test]
fn told_after_the_task() {
    for marks in marks() {
        let play = play(marks);
        play.prompted();
        play.ask(&Call::shell(
            play.marks.client,
            (play.marks.session, "r1"),
            "ls",
        ));
        play.told();
        play.hold("told after the task");
    }
}

/// §13.3: one that took an intent of its own before anybody knew whose it is loses it, and the
/// intent is free for others.
#[test]
fn told_after_a_selection() {
    for marks in marks() {
        let play = play(marks);
        let first = play.selects("s0", &intent_of(OTHER));
        let client = play.marks.client;
        assert_eq!(
            first.runs(),
            !play.marks.is_told_always(),
            "{client}: {first:?}"
        );
        play.told();
        play.hold("told after a selection");
        select(&play.site, OTHER, "main", &intent_of(OTHER));
    }
}

/// What the parent gives up, its subagents lose, however they were told.
#[test]
fn the_parent_leaves() {
    for marks in marks() {
        let play = play(marks);
        let client = play.marks.client;
        play.prompted();
        play.told();
        assert!(play.selects("s1", &intent_of(client)).runs(), "{client}");
        assert!(play.writes("w1", client).runs(), "{client}");
        let Some(prompt) = &sends(client).prompt else {
            continue;
        };
        happen(&play.site, client, prompt, "main", "stop that");
        let after = play.writes("w2", client);
        assert_eq!(after.does(), Does::Denies, "{client}: {after:?}");
    }
}

/// Two that are each said to have begun the other are not: what was told first stays.
#[test]
fn nobody_is_above_itself() {
    let marks = marks().into_iter();
    let marks = marks.filter(|one| one.client == Client::Opencode);
    for marks in marks {
        let play = play(marks);
        play.told();
        let turned = json!({"input": {"properties": {"sessionID": "main",
            "info": {"id": "main", "parentID": "child", "directory": "/p"}}}});
        let client = play.marks.client;
        let mut payload = plain(&play.site, client, "session.created", "main", "");
        payload["hook"] = "event~session.created".into();
        sent(
            &play.site,
            client,
            "session.created",
            &with(payload, &turned),
        );
        let own = crate::hooked::ask(&play.site, &written(client, "root"));
        assert!(own.runs(), "{own:?}");
        play.hold("told both ways");
    }
}

/// Every client whose subagents can be told from their parent is played.
#[test]
fn every_relation_is_played() {
    let played = marks();
    for client in Client::ALL {
        let is_played = played.iter().any(|marks| marks.client == *client);
        let can_be = match client.profile().subagents {
            Subagents::Within | Subagents::Own | Subagents::Numbered => true,
            Subagents::Unmarked | Subagents::Bypass => false,
        };
        assert_eq!(is_played, can_be, "{client}");
    }
}
