//! Reading arguments that a schema has already been laid against, without trusting that it was.

use serde_json::{Map, Value};
use tagout_gate::ToolError;

/// The arguments of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'i>(&'i Map<String, Value>);

impl<'i> Input<'i> {
    pub(super) const fn new(arguments: &'i Map<String, Value>) -> Self {
        Self(arguments)
    }

    fn value(self, key: &str) -> Option<&'i Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// A text that has to be there.
    pub(super) fn text(self, key: &str) -> Result<&'i str, ToolError> {
        self.text_opt(key)?
            .ok_or_else(|| invalid(format!("`{key}` is missing")))
    }

    /// A text that may be there.
    pub(super) fn text_opt(self, key: &str) -> Result<Option<&'i str>, ToolError> {
        let wrong = || invalid(format!("`{key}` has to be a text"));
        self.value(key)
            .map(|value| value.as_str().ok_or_else(wrong))
            .transpose()
    }

    /// A number from zero on that may be there.
    pub(super) fn number(self, key: &str) -> Result<Option<usize>, ToolError> {
        let wrong = || invalid(format!("`{key}` has to be a whole number, not below zero"));
        self.value(key)
            .map(|value| {
                let number = value.as_u64().or_else(|| whole(value));
                let number = number.and_then(|number| usize::try_from(number).ok());
                number.ok_or_else(wrong)
            })
            .transpose()
    }

    /// A yes or no; no when it is not there.
    pub(super) fn flag(self, key: &str) -> Result<bool, ToolError> {
        let wrong = || invalid(format!("`{key}` has to be true or false"));
        self.value(key)
            .map_or(Ok(false), |value| value.as_bool().ok_or_else(wrong))
    }

    /// An object that may be there.
    pub(super) fn object(self, key: &str) -> Result<Option<Self>, ToolError> {
        let wrong = || invalid(format!("`{key}` has to be an object"));
        self.value(key)
            .map(|value| value.as_object().map(Self).ok_or_else(wrong))
            .transpose()
    }

    /// A list of texts, or of objects of which the first named field that is there is taken; a
    /// single text is a list of one.
    pub(super) fn list(self, key: &str, fields: &[&str]) -> Result<Vec<String>, ToolError> {
        let wrong = || invalid(format!("`{key}` has to be a list of texts"));
        let one = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Object(object) => fields
                .iter()
                .find_map(|field| object.get(*field)?.as_str())
                .map(str::to_owned),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        };
        match self.value(key) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text.clone()]),
            Some(Value::Array(values)) => values
                .iter()
                .map(|value| one(value).ok_or_else(wrong))
                .collect(),
            Some(Value::Bool(_) | Value::Number(_) | Value::Object(_) | Value::Null) => {
                Err(wrong())
            }
        }
    }

    /// The value as it is.
    pub(super) fn raw(self, key: &str) -> Option<&'i Value> {
        self.value(key)
    }
}

/// `3.0` is a whole number to a schema.
fn whole(value: &Value) -> Option<u64> {
    let text = value.as_f64().filter(|number| number.fract() == 0.0)?;
    format!("{text:.0}").parse().ok()
}

/// An argument that makes no sense.
pub(super) fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::Invalid {
        message: message.into(),
    }
}
