//! The schema, and what comes back.

use serde_json::{Value, json};
use tagout_vocab::{MutationClass, Timestamp};

use super::{export, import};
use crate::record::{Change, Facts, Record, Revision, Side, record};

fn schema() -> jsonschema::Validator {
    let text = include_str!("../../tests/schemas/agent-trace-0.1.0.json");
    let schema: Value = serde_json::from_str(text).unwrap();
    jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap()
}

fn sample() -> Record {
    let side = |bytes| Some(Side { bytes, mode: 0o644 });
    let facts = Facts {
        id: "call-7".to_owned(),
        timestamp: Some(Timestamp::from_millis(1_771_000_000_000)),
        vcs: Some(Revision {
            kind: "git".to_owned(),
            revision: "0123456789abcdef0123456789abcdef01234567".to_owned(),
        }),
        intent_id: Some("INT 001/ä".to_owned()),
        related_requirements: vec!["REQ-1".to_owned()],
        declared_class: Some(MutationClass::AstRefactor),
        model: Some("acme/m-1".to_owned()),
        session_id: Some("session 1".to_owned()),
        ..Facts::default()
    };
    let change = |path, before, after| Change {
        path,
        moved_from: None,
        before,
        after,
    };
    let changes = [
        change(
            "src/a.py",
            side(b"def f():\n    return 1\n"),
            side(b"def f():\n    return 2\n"),
        ),
        change("src/gone.py", side(b"x = 1\n"), None),
        change("logo.png", None, side(b"\0PNG")),
    ];
    record(facts, &changes)
}

/// H16 What is exported is what the published schema asks for, and nothing is lost by it.
#[test]
fn exports_are_valid_and_come_back_whole() {
    let record = sample();
    let exported = export(&record, "0.1.0");
    let schema = schema();
    let errors: Vec<String> = schema
        .iter_errors(&exported)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!(import(&exported).unwrap(), record);
    let mut shown = exported;
    shown.as_object_mut().unwrap().remove("metadata");
    insta::assert_snapshot!(serde_json::to_string_pretty(&shown).unwrap(), @r#"
        {
          "version": "0.1.0",
          "id": "4a01086e-5a3c-8ba8-a531-dad0cf21c81c",
          "timestamp": "2026-02-13T16:26:40.000Z",
          "vcs": {
            "type": "git",
            "revision": "0123456789abcdef0123456789abcdef01234567"
          },
          "tool": {
            "name": "tagout",
            "version": "0.1.0"
          },
          "files": [
            {
              "path": "src/a.py",
              "conversations": [
                {
                  "url": "urn:tagout:session:session%201",
                  "contributor": {
                    "type": "ai",
                    "model_id": "acme/m-1"
                  },
                  "ranges": [
                    {
                      "start_line": 2,
                      "end_line": 2,
                      "content_hash": "sha256:4edc35864d7d5cf82dfd68b2518a60e044e809f695de28a66c21e47e41608842"
                    }
                  ],
                  "related": [
                    {
                      "type": "intent",
                      "url": "urn:tagout:intent:INT%20001%2F%C3%A4"
                    },
                    {
                      "type": "requirement",
                      "url": "urn:tagout:requirement:REQ-1"
                    }
                  ]
                }
              ]
            },
            {
              "path": "src/gone.py",
              "conversations": [
                {
                  "url": "urn:tagout:session:session%201",
                  "contributor": {
                    "type": "ai",
                    "model_id": "acme/m-1"
                  },
                  "ranges": [],
                  "related": [
                    {
                      "type": "intent",
                      "url": "urn:tagout:intent:INT%20001%2F%C3%A4"
                    },
                    {
                      "type": "requirement",
                      "url": "urn:tagout:requirement:REQ-1"
                    }
                  ]
                }
              ]
            },
            {
              "path": "logo.png",
              "conversations": [
                {
                  "url": "urn:tagout:session:session%201",
                  "contributor": {
                    "type": "ai",
                    "model_id": "acme/m-1"
                  },
                  "ranges": [],
                  "related": [
                    {
                      "type": "intent",
                      "url": "urn:tagout:intent:INT%20001%2F%C3%A4"
                    },
                    {
                      "type": "requirement",
                      "url": "urn:tagout:requirement:REQ-1"
                    }
                  ]
                }
              ]
            }
          ]
        }
        "#);
}

/// The schema of this test refuses what the published one refuses.
#[test]
fn the_schema_refuses_the_known_mistakes() {
    let schema = schema();
    let good = export(&sample(), "0.1.0");
    let wrong: [(&str, Value); 5] = [
        ("/version", json!("1.0")),
        ("/id", json!("call-7")),
        ("/timestamp", json!("yesterday")),
        ("/files/0/conversations/0/url", json!("session 1")),
        ("/files/0/conversations/0/contributor/type", json!("AI")),
    ];
    for (place, value) in wrong {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap() = value;
        assert!(!schema.is_valid(&bad), "{place}");
    }
}

#[test]
fn records_of_others_are_imported() {
    let foreign = json!({
        "version": "1.0",
        "id": "550e8400-e29b-41d4-a716-446655440000",
        "timestamp": "2026-02-06T12:00:00Z",
        "vcs": {"type": "jj", "revision": "kxqz"},
        "tool": {"name": "other", "version": "2"},
        "files": [
            {"path": "a.ts", "conversations": [{
                "url": "https://example.org/c/1",
                "contributor": {"type": "mixed", "model_id": "acme/m-1"},
                "ranges": [{"start_line": 1, "end_line": 3, "content_hash": "murmur3:9f2e8a1b"}],
                "related": [{"type": "session", "url": "https://example.org/s/1"}],
            }]},
            {"path": ".shell-history", "conversations": [{"ranges": []}]},
        ],
        "metadata": {"org.example": {"x": 1}},
    });
    let record = import(&foreign).unwrap();
    assert_eq!(record.files(), ["a.ts", ".shell-history"]);
    assert_eq!(
        record.modified_ranges[0].other_hash.as_deref(),
        Some("murmur3:9f2e8a1b")
    );
    assert_eq!(record.related_requirements, ["https://example.org/s/1"]);
    assert_eq!(record.extra["metadata"]["org.example"]["x"], 1);
    for missing in ["version", "id", "timestamp", "files"] {
        let mut bad = foreign.clone();
        bad.as_object_mut().unwrap().remove(missing);
        let error = import(&bad).unwrap_err().to_string();
        assert!(error.contains(missing), "{error}");
    }
}
