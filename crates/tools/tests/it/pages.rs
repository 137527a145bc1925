//! The pages about the tools say what the tools declare.

use tagout_gate::policy::catalogue::Catalogue;
use tagout_vocab::Declaration;

use crate::support::tools;

fn page(path: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::read_to_string(format!("{root}/../../{path}")).unwrap()
}

fn row(catalogue: &Catalogue, declaration: &Declaration) -> String {
    let known = catalogue.native_tool(&declaration.id).unwrap();
    let class = known.class.as_str();
    let promises = match (declaration.deterministic, declaration.idempotent) {
        (true, true) => "deterministic, idempotent",
        (true, false) => "deterministic",
        (false, _) => "–",
    };
    let capabilities = match declaration.required_capabilities.join(", ") {
        none if none.is_empty() => "–".to_owned(),
        some => some,
    };
    let arguments: Vec<String> = declaration.input_schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| {
            !["intent_id", "mutation_class"].contains(&key.as_str()) || !known.carries_metadata
        })
        .map(|key| {
            let mark = if known.required.contains(key) {
                ""
            } else {
                "?"
            };
            format!("`{key}`{mark}")
        })
        .collect();
    format!(
        "| `{}` | {class} | {} | {capabilities} | {promises} |",
        declaration.id,
        arguments.join(" ")
    )
}

#[test]
fn the_reference_lists_every_tool_as_it_is_declared() {
    let catalogue = Catalogue::built_in().unwrap();
    let text = page("docs/reference/tools.md");
    let missing: Vec<String> = tools()
        .values()
        .map(|tool| row(&catalogue, tool.declaration()))
        .filter(|row| !text.contains(row.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "the table lacks:\n{}",
        missing.join("\n")
    );
}

/// The guide shows the example's own lines.
#[test]
fn the_guide_shows_the_example() {
    let guide = page("docs/guides/write-a-tool.md");
    let example = page("examples/custom-tool/licence_header.rs");
    let body = example.split("impl Tool for").nth(1).unwrap();
    let body = body.split("\n}\n").next().unwrap();
    assert!(
        guide.contains(&format!("impl Tool for{body}\n}}\n")),
        "{body}"
    );
}
