//! The input check: every violation with its path, and a quick check that never accepts more.

use super::*;
use crate::catalogue::{InputSchema, Shape, Tool};

fn violations(tool: &str, arguments: &Value) -> Vec<String> {
    CATALOGUE.with(|catalogue| {
        let call = call(tool, arguments);
        match check_input(&normalise(&call, catalogue)) {
            Ok(()) => Vec::new(),
            Err(found) => found
                .iter()
                .map(|v| format!("{}: {}", v.path, v.message))
                .collect(),
        }
    })
}

/// L7 nested violations with their paths, all at once.
#[test]
fn violations_name_their_place() {
    let found = violations(
        "update_todo_list",
        &json!({"todos": [{"content": 7}, {"nope": 1}], "other": true}),
    );
    insta::assert_snapshot!(found.join("\n"), @r#"
    /todos/0/content: value is not of type "string"
    /todos/1: Additional properties are not allowed ('nope' was unexpected)
    : Additional properties are not allowed ('other' was unexpected)
    "#);
    let found = violations("write_to_file", &json!({"path": ["a"], "content": null}));
    insta::assert_snapshot!(found.join("\n"), @r#"
    : "content" is a required property
    /path: value is not of type "string"
    "#);
}

/// A3 a required argument is there and not null; H10 the metadata is optional, its words are not.
#[test]
fn required_and_metadata() {
    assert_eq!(
        violations("read_file", &json!({"path": "a", "offset": null})),
        [""; 0]
    );
    assert_eq!(violations("read_file", &json!({"path": null})).len(), 1);
    let write = |class: &str| {
        let mut arguments = json!({"path": "a", "content": "", "intent_id": "I"});
        arguments["mutation_class"] = json!(class);
        arguments
    };
    assert_eq!(violations("write_to_file", &write("AST_REFACTOR")), [""; 0]);
    assert_eq!(violations("write_to_file", &write("SOMETHING")).len(), 1);
    assert_eq!(
        violations("read_file", &json!({"path": "a", "intent_id": "I"})).len(),
        1
    );
    let whole = json!({"path": "a", "limit": 10.0});
    assert_eq!(
        violations("read_file", &whole),
        [""; 0],
        "10.0 is a whole number"
    );
}

/// L7 paths and commands are sanitised.
#[test]
fn hidden_characters_are_refused() {
    assert_eq!(
        violations("read_file", &json!({"path": "a\u{0}b"})),
        ["/path: holds a control character"]
    );
    let long = "x".repeat(5_000);
    assert_eq!(
        violations("read_file", &json!({"path": long})),
        ["/path: is longer than 4095 bytes"]
    );
    assert_eq!(
        violations("execute_command", &json!({"command": "a\n\tb"})),
        [""; 0]
    );
    for command in ["a\u{0}", "a\u{1b}[2K", "a\rb", "a\u{202e}b"] {
        let found = violations("execute_command", &json!({"command": command}));
        assert_eq!(
            found,
            ["/command: holds a control character"],
            "{command:?}"
        );
    }
    let long = "x".repeat(200_000);
    assert_eq!(
        violations("execute_command", &json!({"command": long})).len(),
        1
    );
    let nested = json!({"commands": [{"command": "ls", "args": ["a\u{0}"]}]});
    assert_eq!(violations("run_commands", &nested).len(), 1);
}

#[test]
fn violations_are_bounded() {
    let many: Map<String, Value> = (0..500).map(|n| (format!("k{n}"), json!(1))).collect();
    let items: Vec<Value> = (0..500).map(|_| json!({"content": 7})).collect();
    let mut arguments = many;
    arguments.insert("todos".to_owned(), json!(items));
    let found = violations("update_todo_list", &Value::Object(arguments));
    assert_eq!(found.len(), tagout_vocab::limits::VIOLATIONS_MAX);
    assert!(found.iter().all(|line| line.len() < 700));
}

/// A schema that does not compile refuses.
#[test]
fn a_broken_schema_refuses() {
    let schemas = [
        r#"{"type": "strng"}"#,
        r#"{"type": ["object", "strng"]}"#,
        r#"{"properties": {"a": {"type": "strng"}}}"#,
        r#"{"properties": {"a": {"items": {"type": 7}}}}"#,
        "{",
        r#"{"$ref": "https://example.org/x"}"#,
    ];
    for schema in schemas {
        let mut catalogue = Catalogue::built_in().unwrap();
        let mut tool = Tool::undeclared("t");
        tool.input_schema = Some(InputSchema::of(schema.to_owned()));
        assert!(catalogue.extend(vec![tool]).is_empty());
        let call = call("t", &json!({}));
        let checked = check_input(&normalise(&call, &catalogue));
        assert_eq!(checked.unwrap_err().len(), 1, "{schema}");
    }
}

/// L8 every schema of the catalogue says what a schema has to say.
#[test]
fn the_catalogues_schemas_are_clean() {
    CATALOGUE.with(|catalogue| {
        for tool in catalogue.tools() {
            let schema = tool.input_schema.as_ref().unwrap().text();
            assert_eq!(lint_schema(schema), [], "{}", tool.name);
        }
    });
}

/// L8 what a schema lacks is found at every level.
#[test]
fn flaws_are_found_at_every_level() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "array", "description": "x", "items": {"type": "object"}},
            "b": {},
        },
    });
    let flaws = lint_schema(&schema.to_string());
    let shown: Vec<String> = flaws
        .iter()
        .map(|flaw| format!("#{} {}", flaw.path, flaw.message))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    # `$schema` must be `https://json-schema.org/draft/2020-12/schema`
    # lacks `description`
    # lacks `required`
    # lacks `additionalProperties`
    #/properties/a/items lacks `description`
    #/properties/a/items lacks `required`
    #/properties/a/items lacks `additionalProperties`
    #/properties/b lacks `type`
    #/properties/b lacks `description`
    ");
    assert_eq!(lint_schema("{").len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The quick check accepts nothing that the full validator refuses.
    #[test]
    fn the_quick_check_is_never_wider(
        index in any::<usize>(),
        values in proptest::collection::vec((any::<usize>(), any_json()), 0..5),
        plain in any::<bool>(),
    ) {
        CATALOGUE.with(|catalogue| {
            let tools: Vec<&Tool> = catalogue.tools().collect();
            let tool = tools[index % tools.len()];
            let known = tool.input_schema.as_ref().unwrap();
            let schema: Value = serde_json::from_str(known.text()).unwrap();
            let shape = known.shape();
            let names: Vec<&str> = shape.property_names().collect();
            let mut instance = Map::new();
            for (choice, value) in values {
                if let Some(name) = names.get(choice % (names.len() + 1)) {
                    instance.insert((*name).to_owned(), value);
                }
            }
            for key in tool.required.iter().filter(|_| plain) {
                instance.insert(key.clone(), json!("x"));
            }
            let instance = Value::Object(instance);
            let full = jsonschema::draft202012::new(&schema).unwrap().is_valid(&instance);
            let quick = shape.fits(&instance);
            prop_assert!(full || !quick, "{} {instance}", tool.name);
            // Keys that do not count are as good as not there.
            let left_out = names.first().copied().unwrap_or_default();
            let mut others = instance.as_object().unwrap().clone();
            prop_assert_eq!(shape.fits_without(&others, |_| true), quick);
            let quick = shape.fits_without(&others, |key| key != left_out);
            others.remove(left_out);
            prop_assert_eq!(shape.fits(&Value::Object(others)), quick);
            Ok(())
        })?;
    }

    /// The same for least numbers, which the schemas of results have.
    #[test]
    fn the_quick_check_of_numbers_is_never_wider(least in any_number(), value in any_json()) {
        let schema = json!({"minimum": least});
        let full = jsonschema::draft202012::new(&schema).unwrap();
        let ends = [json!(u64::MAX), json!(i64::MIN), json!(-1), json!(0.5)];
        for value in [value, least.clone()].into_iter().chain(ends) {
            let quick = Shape::of(&schema).fits(&value);
            prop_assert!(full.is_valid(&value) || !quick, "{schema} {value}");
        }
    }
}

fn any_number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-3_i64..3).prop_map(Value::from),
        (-3.0..3.0_f64).prop_map(Value::from),
    ]
}

/// A count that is there is accepted without the full validator, one below zero is not.
#[test]
fn counts_are_checked_quickly() {
    let schema = json!({"type": "integer", "minimum": 0});
    assert!(Shape::of(&schema).fits(&json!(0)) && Shape::of(&schema).fits(&json!(u64::MAX)));
    assert!(!Shape::of(&schema).fits(&json!(-1)) && !Shape::of(&schema).fits(&json!(1.5)));
}
