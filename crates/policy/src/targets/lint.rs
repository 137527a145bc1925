//! Whether a schema says what a schema has to say (L8).

use serde_json::Value;

/// One thing that a schema lacks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SchemaFlaw {
    /// Where, as a JSON pointer into the schema.
    pub path: String,
    /// What.
    pub message: String,
}

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Keywords by which a schema can say what it accepts without `type`.
const INSTEAD_OF_TYPE: [&str; 6] = ["$ref", "enum", "const", "anyOf", "oneOf", "allOf"];

/// Everything that the schema lacks, at every level of it.
pub fn lint_schema(text: &str) -> Vec<SchemaFlaw> {
    let schema: Value = match serde_json::from_str(text) {
        Ok(schema) => schema,
        Err(error) => return vec![flaw("", format!("not JSON: {error}"))],
    };
    let mut flaws = Vec::new();
    if schema.get("$schema").and_then(Value::as_str) != Some(DIALECT) {
        flaws.push(flaw("", format!("`$schema` must be `{DIALECT}`")));
    }
    let mut open = vec![(String::new(), &schema)];
    while let Some((path, level)) = open.pop() {
        lint_level(&path, level, &mut flaws);
        open.extend(beneath(&path, level));
    }
    let options = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .offline();
    if let Err(error) = options.build(&schema) {
        flaws.push(flaw("", format!("does not compile: {}", error.masked())));
    }
    flaws.sort_by(|a, b| a.path.cmp(&b.path));
    flaws
}

fn flaw(path: &str, message: impl Into<String>) -> SchemaFlaw {
    SchemaFlaw {
        path: path.to_owned(),
        message: message.into(),
    }
}

fn lint_level(path: &str, level: &Value, flaws: &mut Vec<SchemaFlaw>) {
    let Some(schema) = level.as_object() else {
        // `true` and `false` are whole schemas.
        if !level.is_boolean() {
            flaws.push(flaw(path, "is no schema"));
        }
        return;
    };
    let lacks = |keyword: &str| !schema.contains_key(keyword);
    if lacks("type") && INSTEAD_OF_TYPE.iter().all(|keyword| lacks(keyword)) {
        flaws.push(flaw(path, "lacks `type`"));
    }
    if lacks("description") && lacks("$ref") {
        flaws.push(flaw(path, "lacks `description`"));
    }
    let is_object = match schema.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(_) | None => schema.contains_key("properties"),
    };
    for keyword in ["required", "additionalProperties"] {
        if is_object && lacks(keyword) {
            flaws.push(flaw(path, format!("lacks `{keyword}`")));
        }
    }
}

/// The schemas directly beneath one level.
fn beneath<'s>(path: &str, level: &'s Value) -> Vec<(String, &'s Value)> {
    let mut found = Vec::new();
    for keyword in ["properties", "$defs", "patternProperties"] {
        for (name, schema) in level
            .get(keyword)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let name = name.replace('~', "~0").replace('/', "~1");
            found.push((format!("{path}/{keyword}/{name}"), schema));
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        let list = level.get(keyword).and_then(Value::as_array);
        for (index, schema) in list.into_iter().flatten().enumerate() {
            found.push((format!("{path}/{keyword}/{index}"), schema));
        }
    }
    for keyword in ["items", "additionalProperties", "not", "contains"] {
        if let Some(schema) = level.get(keyword).filter(|schema| schema.is_object()) {
            found.push((format!("{path}/{keyword}"), schema));
        }
    }
    found
}
