//! A JSON schema that is built when it is first looked at: a process that runs one tool does not
//! wait for the schemas of all.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A JSON schema. It reads as the value that it is.
#[derive(Clone)]
pub struct Schema {
    built: OnceLock<Value>,
    build: fn() -> Value,
}

impl Schema {
    /// A schema that this function builds once it is needed.
    pub const fn later(build: fn() -> Value) -> Self {
        Self {
            built: OnceLock::new(),
            build,
        }
    }

    /// Builds it now, for who has time before it is needed.
    pub fn make(&self) -> &Value {
        self.built.get_or_init(self.build)
    }
}

impl Deref for Schema {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.make()
    }
}

impl From<Value> for Schema {
    fn from(value: Value) -> Self {
        Self {
            built: OnceLock::from(value),
            build: || Value::Null,
        }
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Schema {}

impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Schema;

    #[test]
    fn built_later_it_is_the_same_as_given() {
        fn build() -> Value {
            json!({ "type": "object" })
        }
        let later = Schema::later(build);
        assert!(later.built.get().is_none(), "nobody looked yet");
        assert_eq!(later, Schema::from(build()));
        assert!(later.built.get().is_some());
        let text = serde_json::to_string(&later).unwrap();
        assert_eq!(text, r#"{"type":"object"}"#);
        assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), later);
    }
}
