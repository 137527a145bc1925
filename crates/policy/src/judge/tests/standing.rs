//! What holds while the tree's files wait for a person, and which names the law knows a tool by.

use serde_json::json;
use tagout_vocab::{Call, Intent, Origin, State};

use super::world::{books, call, facts, said, session, with_metadata};
use crate::catalogue::Catalogue;
use crate::intents;
use crate::judge::{Books, Volume, judge};

fn intent(id: &str, scope: &str, status: &str) -> Intent {
    let text = format!(
        "version: 1\nintents:\n  - {{id: {id}, name: n, status: {status}, owned_scope: [{scope}]}}\n"
    );
    intents::read("f", &text).unwrap().intents.remove(0)
}

fn standing(accepted: Vec<Intent>, proposed: Vec<Intent>) -> Books {
    let volume = |intents| Volume {
        intents,
        ..Volume::default()
    };
    let catalogue = Catalogue::built_in().unwrap();
    let proposed = Some(volume(proposed));
    let (books, problems) = Books::standing(catalogue, None, volume(accepted), proposed);
    assert!(problems.is_empty(), "{problems:?}");
    books
}

fn write(path: &str, books: &Books) -> String {
    let call = call(
        "write_to_file",
        with_metadata(json!({"path": path, "content": "x"})),
    );
    let session = session(State::Action, Some("INT-001"));
    said(&judge(&call, &session, books, &facts()))
}

fn select(id: &str, books: &Books) -> String {
    let call = call("select_active_intent", json!({ "intent_id": id }));
    let session = session(State::Request, None);
    said(&judge(&call, &session, books, &facts()))
}

/// H7 While another scope waits in the tree, a path must lie in both.
#[test]
fn a_waiting_scope_narrows_at_once() {
    let accepted = || vec![intent("INT-001", "src/**", "IN_PROGRESS")];
    let same = standing(accepted(), accepted());
    assert_eq!(write("src/b.rs", &same), "allow ALLOWED");
    let proposed = vec![intent("INT-001", "src/a/**, docs/**", "IN_PROGRESS")];
    let waiting = standing(accepted(), proposed);
    assert_eq!(write("src/a/x.rs", &waiting), "allow ALLOWED");
    assert_eq!(write("src/b.rs", &waiting), "deny SCOPE_VIOLATION");
    assert_eq!(write("docs/x.md", &waiting), "deny SCOPE_VIOLATION");
    let bytes = postcard::to_allocvec(&waiting).unwrap();
    let mut read = postcard::from_bytes::<Books>(&bytes).unwrap();
    // What is known of programs is stored apart.
    read.knowledge.clone_from(&waiting.knowledge);
    assert_eq!(read, waiting);
}

/// H17 An intent that only the tree ends still stands in the way of another.
#[test]
fn an_intent_that_the_tree_ends_still_overlaps() {
    let one = || intent("INT-001", "src/**", "PENDING");
    let other = |status| intent("INT-002", "src/a/**", status);
    for proposed in [vec![one()], vec![one(), other("COMPLETED")]] {
        let waiting = standing(vec![one(), other("PENDING")], proposed);
        assert_eq!(select("INT-001", &waiting), "deny INTENT_OVERLAP");
        assert!(select("INT-002", &waiting).starts_with("deny"));
    }
    let accepted = standing(vec![one(), other("COMPLETED")], vec![one()]);
    assert_eq!(select("INT-001", &accepted), "allow ALLOWED");
}

fn remote(tool: &str) -> Call {
    Call {
        origin: Origin::Mcp {
            server: "docs".to_owned(),
        },
        ..call(tool, json!({}))
    }
}

/// A6 A server's tool does not borrow the name of another tool, neither to pass nor to be refused.
#[test]
fn a_servers_tool_is_known_by_its_server() {
    let reads = "mcp: {readonly_tools: [docs/read_file]}";
    let judged = |policy: &str| {
        let books = books(&format!("version: 1\n{reads}\n{policy}\n"));
        let session = session(State::Request, None);
        said(&judge(&remote("read_file"), &session, &books, &facts()))
    };
    assert_eq!(judged(""), "allow ALLOWED");
    assert_eq!(judged("tools: {deny: [read_file]}"), "allow ALLOWED");
    for name in ["docs/read_file", "mcp__docs__read_file", "docs/*"] {
        let denied = judged(&format!("tools: {{deny: ['{name}']}}"));
        assert_eq!(denied, "deny CAPABILITY_DENIED", "{name}");
        let allowed = judged(&format!("tools: {{allow: ['{name}']}}"));
        assert_eq!(allowed, "allow ALLOWED", "{name}");
    }
    let borrowed = judged("tools: {allow: [read_file]}");
    assert_eq!(borrowed, "deny CAPABILITY_DENIED");
}
