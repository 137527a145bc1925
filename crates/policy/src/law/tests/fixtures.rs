//! Every sample policy against the reader and the published schema.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json};

use crate::law::pattern::CommandLine;
use crate::law::{Form, Law, Layer, Reading, Source, read};
use crate::scope::CaseRule;
use crate::yaml::{self, Node, Value};

fn folder(name: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/policy");
    fixtures.join(name)
}

/// The samples of a folder: name and text.
fn samples(name: &str) -> Vec<(String, String)> {
    let mut samples: Vec<(String, String)> = fs::read_dir(folder(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    samples.sort();
    assert!(!samples.is_empty(), "{name} holds no samples");
    samples
}

fn sample(folder_name: &str, name: &str) -> String {
    fs::read_to_string(folder(folder_name).join(format!("{name}.yaml"))).unwrap()
}

fn schema() -> jsonschema::Validator {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/hook_policy.schema.json");
    let schema: Json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// The tree as an editor's YAML reader would hand it to the schema.
fn json(node: &Node) -> Json {
    match &node.value {
        Value::Scalar { .. } if node.is_null() => Json::Null,
        Value::Scalar { text, .. } => match (node.as_bool(), node.as_u64()) {
            (Some(truth), _) => truth.into(),
            (None, Some(number)) => number.into(),
            (None, None) => text.as_str().into(),
        },
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => entries
            .iter()
            .map(|(key, value)| (key.as_text().unwrap().to_owned(), json(value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

fn violations(text: &str) -> Vec<String> {
    let instance = json(&yaml::parse("f", text).unwrap().unwrap());
    schema()
        .iter_errors(&instance)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

fn reading(name: &str, text: &str) -> Reading {
    read(Source::repository(name), text).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

/// The first line of an invalid sample says which problem comes first.
fn check_refused(folder: &str) {
    let mut wrong = String::new();
    for (name, text) in samples(folder) {
        let expected = text.lines().next().unwrap().strip_prefix("# expect ");
        let expected = format!("{name}:{}", expected.unwrap());
        let found = match read(Source::repository(&name), &text) {
            Ok(_) => "accepted".to_owned(),
            Err(problems) => problems[0].to_string(),
        };
        if !found.starts_with(&expected) {
            writeln!(wrong, "expected {expected}\nfound    {found}\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// H16 The canonical form is read, and the schema that editors use accepts it.
#[test]
fn valid_samples_are_read_and_fit_the_schema() {
    for (name, text) in samples("valid") {
        let reading = reading(&name, &text);
        assert_eq!((reading.form, reading.warnings), (Form::Canonical, vec![]));
        assert_eq!(violations(&text), Vec::<String>::new(), "{name}");
    }
    for (name, text) in samples("valid_user") {
        read(Source::user(&name), &text).unwrap();
        assert_eq!(violations(&text), Vec::<String>::new(), "{name}");
        let refused = read(Source::repository(&name), &text).unwrap_err();
        assert_eq!(refused.len(), 4, "{refused:?}");
    }
}

/// H16 Unknown keys, wrong types and impossible values name line, column and the nearest word.
#[test]
fn invalid_samples_are_refused_where_they_are_wrong() {
    for folder in ["invalid", "invalid_meaning", "invalid_legacy"] {
        check_refused(folder);
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    for (name, text) in samples("invalid") {
        assert_ne!(violations(&text), Vec::<String>::new(), "{name}");
    }
}

/// Every word that the reader knows is in the schema and the other way round: a sample of each key
/// with an unknown word beside it is refused by both.
#[test]
fn the_full_sample_uses_every_key_of_the_schema() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/hook_policy.schema.json");
    let schema: Json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let both = sample("valid", "full") + &sample("valid_user", "user");
    for key in schema["properties"].as_object().unwrap().keys() {
        assert!(
            both.contains(&format!("\n{key}:")),
            "no sample sets `{key}`"
        );
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/hook-policy.md");
    let page = fs::read_to_string(page).unwrap();
    for key in schema["properties"].as_object().unwrap().keys() {
        assert!(
            page.contains(&format!("`{key}`")),
            "the reference is silent on `{key}`"
        );
    }
}

fn law(layer: Layer) -> Law {
    Law::assemble(Layer::built_in(), None, vec![layer]).unwrap()
}

fn claims(law: &Law, line: &str) -> bool {
    law.claims_read_only(&CommandLine::raw(line)).is_some()
}

/// H4, H16 The older form P1 adds candidates; its holes stay closed.
#[test]
fn p1_allows_no_pipe_redirection_or_substitution() {
    let reading = reading("p1", &sample("legacy", "p1"));
    assert_eq!((reading.form, reading.warnings), (Form::Legacy, vec![]));
    let law = law(reading.layer);
    for line in ["git status", "git log --oneline", "cat"] {
        assert!(claims(&law, line), "{line}");
    }
    let holes = [
        "cat x",
        "cat x | sh",
        "git status > f",
        "git log; rm x",
        "git diff $(rm x)",
        "git diff `rm x`",
        "git status\nrm x",
        "git status & rm x",
        "GIT STATUS",
        "rm x # git status",
        "",
        " ",
    ];
    for line in holes {
        assert!(!claims(&law, line), "{line}");
    }
    assert!(law.mcp_reads("docs", "search", None).is_some());
    assert!(law.mcp_reads("tracker", "list", None).is_some());
    assert!(law.mcp_reads("docs", "delete", Some(true)).is_none());
}

/// H5 One word does not make every tool of every server a reading one.
#[test]
fn p1_default_safe_is_a_warning_and_not_followed() {
    let reading = reading("p1", &sample("legacy", "p1_empty"));
    assert_eq!(
        reading.warnings[0].to_string(),
        "p1:5:27: `default_classification: SAFE` is not followed: unlisted tools stay DESTRUCTIVE \
         (list the reading tools under `mcp.readonly_tools`)"
    );
    assert_eq!(reading.layer, Layer::silent(Source::repository("p1")));
}

/// H4, H16 The older form P2: a prefix means words, and its destructive patterns come first.
#[test]
fn p2_prefixes_are_words_and_patterns_win() {
    let law = law(reading("p2", &sample("legacy", "p2")).layer);
    for line in ["git status", "git status -s", "cat x", "find . -name x"] {
        assert!(claims(&law, line), "{line}");
    }
    for line in [
        "catalog x",
        "git statusx",
        "find . -delete",
        "cat x > y",
        "cat x | sed -i s f",
    ] {
        assert!(!claims(&law, line), "{line}");
    }
    let sed = CommandLine::raw("SED  -i s/a/b/ f");
    assert!(law.command_never_safe(&sed).is_some());
    assert!(law.command_denied(&sed).is_none());
}

/// H16 The sidecar of constraints, in both spellings.
#[test]
fn the_sidecar_denies_tools_and_protects_paths() {
    let snake = reading("s", &sample("legacy", "sidecar"));
    let camel = reading("s", &sample("legacy", "sidecar_camel"));
    assert_eq!(snake, camel);
    assert_eq!(snake.form, Form::Sidecar);
    let law = law(snake.layer);
    assert!(law.tool_denied(&["browser_action"]).is_some());
    assert!(law.tool_denied(&["read_file"]).is_none());
    let protected = |path: &str| {
        let path = tagout_vocab::WorkspacePath::new(path).unwrap();
        law.protected(&path, CaseRule::Sensitive).is_some()
    };
    assert!(
        protected(".orchestration/x/y") && protected("Cargo.lock") && protected("a/b/yarn.lock")
    );
    assert!(!protected("src/lock.rs"));
    let texts: Vec<&str> = law.constraints().collect();
    assert_eq!(texts, ["Services talk through the bus."]);
}
