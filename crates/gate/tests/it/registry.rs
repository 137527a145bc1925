//! L2, L8: which tools are let in.

use serde_json::{Value, json};
use tagout_gate::{RegisterError, Registry};

use crate::support::*;

fn refused(change: impl FnOnce(&mut TestTool)) -> RegisterError {
    let mut tool = writer();
    change(&mut tool);
    let mut registry = Registry::new(catalogue().clone());
    registry.register(Box::new(tool)).unwrap_err()
}

/// L2: a declaration that lacks a field is refused, field by field.
#[test]
fn every_field_is_needed() {
    let missing = |error: RegisterError| match error {
        RegisterError::Missing { field, .. } => field,
        other => panic!("{other}"),
    };
    assert_eq!(missing(refused(|tool| tool.declaration.id.clear())), "id");
    assert_eq!(
        missing(refused(|tool| tool.declaration.version = "1".to_owned())),
        "version"
    );
    assert_eq!(
        missing(refused(|tool| tool.declaration.name.clear())),
        "name"
    );
    assert_eq!(
        missing(refused(|tool| tool.declaration.description.clear())),
        "description"
    );
    assert_eq!(
        missing(refused(|tool| tool.declaration.input_schema = json!(true))),
        "inputSchema"
    );
    let limits = refused(|tool| tool.declaration.resource_limits.max_execution_time_ms = Some(0));
    assert_eq!(missing(limits), "resourceLimits");
}

/// L8: a schema that does not lint is refused, with the place.
#[test]
fn schemas_are_linted() {
    let error = refused(|tool| {
        let mut schema = Value::clone(&tool.declaration.output_schema);
        schema["properties"]["said"] = json!({ "type": "string" });
        tool.declaration.output_schema = schema.into();
    });
    assert!(error.to_string().contains("/properties/said"), "{error}");
}

/// G1, L2: a tool that the catalogue does not know, or that contradicts it, is refused.
#[test]
fn the_catalogue_has_the_last_word() {
    let unknown = refused(|tool| tool.declaration.id = "no_such_tool".to_owned());
    assert!(matches!(unknown, RegisterError::Unknown { .. }));
    let more = refused(|tool| {
        tool.declaration
            .required_capabilities
            .push("network.http".to_owned());
    });
    assert!(matches!(more, RegisterError::Contradicts { .. }));
    let less = refused(|tool| tool.declaration.required_capabilities.clear());
    assert!(matches!(less, RegisterError::Contradicts { .. }));
    let mut registry = Registry::new(catalogue().clone());
    registry.register(Box::new(writer())).unwrap();
    let twice = registry.register(Box::new(writer())).unwrap_err();
    assert!(matches!(twice, RegisterError::Twice { .. }));
    assert_eq!(registry.declarations().count(), 1);
}

/// The program's own tools are let in under the same rules, their schemas aside, which a test
/// holds.
#[test]
fn own_tools_are_checked_too() {
    let mut registry = Registry::new(catalogue().clone());
    registry.register_own(Box::new(writer())).unwrap();
    let twice = registry.register_own(Box::new(writer())).unwrap_err();
    assert!(matches!(twice, RegisterError::Twice { .. }));
    let mut nameless = writer();
    nameless.declaration.name.clear();
    let missing = registry.register_own(Box::new(nameless)).unwrap_err();
    assert!(matches!(missing, RegisterError::Missing { .. }));
    let mut unknown = writer();
    unknown.declaration.id = "no_such_tool".to_owned();
    let unknown = registry.register_own(Box::new(unknown)).unwrap_err();
    assert!(matches!(unknown, RegisterError::Unknown { .. }));
}
