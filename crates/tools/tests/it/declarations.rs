//! What the native tools declare.

use std::collections::BTreeSet;

use tagout_gate::Registry;
use tagout_gate::policy::catalogue::Catalogue;
use tagout_gate::policy::targets::lint_schema;

use crate::support::tools;

/// L2, L8: every native tool declares the ten fields, and both of its schemas lint.
#[test]
fn every_native_tool_is_let_in() {
    let catalogue = Catalogue::built_in().unwrap();
    let mut registry = Registry::new(catalogue.clone());
    for tool in tagout_tools::native(&catalogue).unwrap() {
        registry.register(tool).unwrap();
    }
    for (name, declaration) in registry.declarations() {
        assert_eq!(
            lint_schema(&declaration.output_schema.to_string()),
            [],
            "{name}"
        );
        assert_eq!(
            declaration.output_schema["additionalProperties"], false,
            "{name}"
        );
        let written = serde_json::to_value(declaration).unwrap();
        assert_eq!(written.as_object().unwrap().len(), 10, "{name}");
    }
}

/// G1: the native tools are those of the catalogue, the one that runs commands aside.
#[test]
fn the_catalogue_and_the_tools_name_the_same() {
    let catalogue = Catalogue::built_in().unwrap();
    let described: BTreeSet<String> = catalogue.native().map(|tool| tool.name.clone()).collect();
    let mut built: BTreeSet<String> = tools().into_keys().collect();
    built.insert("execute_command".to_owned());
    assert_eq!(built, described);
}

/// What a tool accepts is what the judge checks against, word for word.
#[test]
fn input_schemas_are_the_catalogues() {
    let catalogue = Catalogue::built_in().unwrap();
    for (name, tool) in tools() {
        let known = catalogue.native_tool(&name).unwrap();
        let schema = known.input_schema.as_ref().unwrap().text();
        assert_eq!(
            tool.declaration().input_schema.to_string(),
            schema,
            "{name}"
        );
        assert_eq!(
            tool.declaration().required_capabilities,
            known.capabilities,
            "{name}"
        );
    }
}
