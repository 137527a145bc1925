//! Notes, written and read.

use proptest::prelude::*;

use super::{Attested, Author, Key, note, parse};
use crate::ranges::LineRange;

fn attested(path: &str, start_line: u32, end_line: u32, author: Author) -> Attested {
    Attested {
        path: path.to_owned(),
        lines: LineRange {
            start_line,
            end_line,
        },
        author,
    }
}

fn agent(call: &str) -> Author {
    Author::Agent {
        tool: "an-agent".to_owned(),
        conversation: "c-1".to_owned(),
        model: "m-1".to_owned(),
        call: call.to_owned(),
        intent: Some("INT-001".to_owned()),
    }
}

/// H16
#[test]
fn a_note_is_written_in_its_form() {
    let person = Author::Human {
        name: "Ada <ada@example.org>".to_owned(),
    };
    let all = [
        attested("src/b c.rs", 9, 9, agent("call-1")),
        attested("src/b c.rs", 1, 2, agent("call-1")),
        attested("src/b c.rs", 3, 4, agent("call-1")),
        attested("src/b c.rs", 5, 6, person),
        attested("src/a.rs", 1, 1, agent("call-2")),
        attested("src/a.rs", 2, 1, agent("call-2")),
    ];
    let made = note(&"b".repeat(40), &all);
    insta::assert_snapshot!(made.to_text(), @r#"
        src/a.rs
          s_48d9d55e8ed0b7::t_3ba8dced2e729b 1
        "src/b c.rs"
          s_48d9d55e8ed0b7::t_5d7963c4f471e1 1-4,9
          h_7811020b84d4f3 5-6
        ---
        {
          "schema_version": "authorship/3.0.0",
          "base_commit_sha": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
          "prompts": {},
          "sessions": {
            "s_48d9d55e8ed0b7": {
              "agent_id": {
                "tool": "an-agent",
                "id": "c-1",
                "model": "m-1"
              },
              "custom_attributes": {
                "intent_id": "INT-001"
              }
            }
          },
          "humans": {
            "h_7811020b84d4f3": {
              "author": "Ada <ada@example.org>"
            }
          }
        }
        "#);
    assert_eq!(parse(&made.to_text()).unwrap(), made);
}

/// The form's own example, with older keys and fields that others add.
#[test]
fn notes_of_others_are_read() {
    let text = "src/main.rs\n  s_00112233445566::t_aabbccddeeff00 1-4,9\n  h_00112233445566 5\n\
        \"my file.py\"\n  0123456789abcdef 1-100\n  abc1234 101\n---\n\
        {\"schema_version\": \"authorship/3.0.0\", \"base_commit_sha\": \"7c5\", \"prompts\": \
        {\"abc1234\": {\"overriden_lines\": 2}}, \"git_ai_version\": \"1.3.4\", \"sessions\": \
        {\"s_00112233445566\": {\"agent_id\": {\"tool\": \"x\", \"id\": \"y\", \"model\": \"z\"}, \
        \"more\": 1}}, \"humans\": {\"h_00112233445566\": {\"author\": \"Ada\"}}}";
    let read = parse(text).unwrap();
    assert_eq!(read.files[1].path, "my file.py");
    assert_eq!(read.files[0].entries[0].1.len(), 2);
    assert!(matches!(read.files[1].entries[1].0, Key::Prompt { .. }));
    assert_eq!(read.metadata.prompts["abc1234"]["overriden_lines"], 2);
    assert_eq!(read.metadata.sessions["s_00112233445566"].extra["more"], 1);
    assert_eq!(parse(&read.to_text()).unwrap(), read);
    assert!(
        parse(
            "---\n{\"schema_version\":\"authorship/3.0.0\",\"base_commit_sha\":\"\",\"prompts\":{}}"
        )
        .is_ok()
    );
}

#[test]
fn what_is_wrong_with_a_note_is_said() {
    let json = "{\"schema_version\":\"authorship/3.0.0\",\"base_commit_sha\":\"\",\"prompts\":{}}";
    let key = "s_00112233445566::t_aabbccddeeff00";
    let cases = [
        (format!("a.rs\n{json}"), "---"),
        (format!("  {key} 1\n---\n{json}"), "line 1"),
        (format!("a.rs\n  {key} 4-1\n---\n{json}"), "line 2"),
        (format!("a.rs\n  {key} 4,2\n---\n{json}"), "ascend"),
        (format!("a.rs\n  {key} 0\n---\n{json}"), "line 2"),
        (format!("a.rs\n  {key} +1\n---\n{json}"), "line 2"),
        (format!("a.rs\n  s_1::t_2 1\n---\n{json}"), "key"),
        ("a.rs\n---\n{}".to_owned(), "metadata"),
        (
            format!("a.rs\n---\n{}", json.replace("3.0.0", "2.0.0")),
            "2.0.0",
        ),
    ];
    for (text, part) in cases {
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_text_can_be_read(text in "(?s).{0,200}") {
        let kept = parse(&text).is_ok();
        prop_assert!(!kept || text.contains("---"));
    }

    #[test]
    fn notes_come_back(
        places in proptest::collection::vec(
            ("[a-z]{1,5}( [a-z]{1,3})?/[a-z]{1,5}", 1_u32..300, 0_u32..20, 0_u8..4),
            0..12,
        ),
    ) {
        let all: Vec<Attested> = places
            .into_iter()
            .map(|(path, start, length, who)| {
                let author = match who {
                    0 => Author::Human { name: "Ada".to_owned() },
                    n => agent(&format!("call-{n}")),
                };
                attested(&path, start, start + length, author)
            })
            .collect();
        let made = note("base", &all);
        prop_assert_eq!(parse(&made.to_text()).unwrap(), made);
    }
}
