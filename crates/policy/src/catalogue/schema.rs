//! From the arguments of a catalogue entry to its input schema (JSON Schema 2020-12).

use serde_json::{Map, Value, json};
use tagout_vocab::MutationClass;

use super::Access;

/// The dialect of every schema that the catalogue makes.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// What an argument's value may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Type {
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list of texts.
    Strings,
    /// A list of objects with the argument's fields, or of anything when it has none.
    List,
    /// An object with the argument's fields, or with any when it has none.
    Object,
    /// Anything.
    Any,
}

impl Type {
    /// The words of the catalogue's form.
    pub(super) const WORDS: [(&'static str, Self); 8] = [
        ("string", Self::String),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
        ("strings", Self::Strings),
        ("list", Self::List),
        ("object", Self::Object),
        ("any", Self::Any),
    ];

    const fn wire(self) -> &'static [&'static str] {
        match self {
            Self::String => &["string"],
            Self::Integer => &["integer"],
            Self::Number => &["number"],
            Self::Boolean => &["boolean"],
            Self::Strings | Self::List => &["array"],
            Self::Object => &["object"],
            Self::Any => &["string", "number", "boolean", "array", "object"],
        }
    }
}

/// One argument as the catalogue describes it.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) key: String,
    pub(super) types: Vec<Type>,
    pub(super) required: bool,
    pub(super) access: Option<Access>,
    pub(super) aliases: Vec<String>,
    pub(super) about: String,
    pub(super) fields: Vec<Self>,
}

/// The schema of a tool with these arguments, as JSON text.
pub(super) fn input_schema(about: &str, arguments: &[Argument], metadata: bool) -> String {
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!(DIALECT));
    schema.insert("description".to_owned(), json!(about));
    schema.insert("type".to_owned(), json!("object"));
    let mut properties = object_keywords(arguments, &mut schema);
    if metadata {
        let classes: Vec<&str> = MutationClass::ALL.map(MutationClass::as_str).to_vec();
        let intent = json!({"type": "string", "description": "The active intent's id."});
        let class = json!({
            "type": "string",
            "description": "Whether the change keeps the behaviour or evolves it.",
            "enum": classes,
        });
        properties.insert("intent_id".to_owned(), intent);
        properties.insert("mutation_class".to_owned(), class);
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(schema).to_string()
}

/// Adds `required` and `additionalProperties`, and returns the properties to add last.
fn object_keywords(arguments: &[Argument], schema: &mut Map<String, Value>) -> Map<String, Value> {
    let required: Vec<&str> = arguments
        .iter()
        .filter(|argument| argument.required)
        .map(|argument| argument.key.as_str())
        .collect();
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    arguments
        .iter()
        .map(|argument| (argument.key.clone(), property(argument)))
        .collect()
}

fn property(argument: &Argument) -> Value {
    let mut schema = Map::new();
    let has = |wanted: Type| argument.types.contains(&wanted);
    let mut types: Vec<&str> = Vec::new();
    for name in argument.types.iter().flat_map(|kind| kind.wire()) {
        if !types.contains(name) {
            types.push(name);
        }
    }
    schema.insert("type".to_owned(), type_keyword(&types));
    schema.insert("description".to_owned(), json!(argument.about));
    if has(Type::Strings) || (has(Type::List) && !argument.fields.is_empty()) {
        schema.insert("items".to_owned(), items(argument));
    }
    if has(Type::Object) || has(Type::Any) {
        if argument.fields.is_empty() {
            schema.insert("required".to_owned(), json!([]));
            schema.insert("additionalProperties".to_owned(), json!(true));
        } else {
            let properties = object_keywords(&argument.fields, &mut schema);
            schema.insert("properties".to_owned(), Value::Object(properties));
        }
    }
    Value::Object(schema)
}

fn items(argument: &Argument) -> Value {
    let mut schema = Map::new();
    let mut types = Vec::new();
    if argument.types.contains(&Type::Strings) {
        types.push("string");
    }
    if argument.types.contains(&Type::List) && !argument.fields.is_empty() {
        types.push("object");
        let properties = object_keywords(&argument.fields, &mut schema);
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    schema.insert("type".to_owned(), type_keyword(&types));
    schema.insert("description".to_owned(), json!(argument.about));
    Value::Object(schema)
}

fn type_keyword(types: &[&str]) -> Value {
    match types {
        [only] => json!(only),
        several => json!(several),
    }
}
