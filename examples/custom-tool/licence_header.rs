//! A custom tool: puts a licence line at the head of a file that lacks it.

use serde_json::{Map, Value, json};
use tagout_gate::workspace::RelPath;
use tagout_gate::{Context, Tool, ToolError};
use tagout_tools::kit::{KitError, Report, Sample, conformance};
use tagout_vocab::Declaration;

const LINE: &[u8] = b"// SPDX-License-Identifier: MIT\n";

struct LicenceHeader(Declaration);

impl LicenceHeader {
    fn new() -> Result<Self, serde_json::Error> {
        serde_json::from_str(include_str!("licence_header.json")).map(Self)
    }
}

impl Tool for LicenceHeader {
    fn declaration(&self) -> &Declaration {
        &self.0
    }

    fn run(
        &self,
        input: &Map<String, Value>,
        context: &mut Context<'_, '_>,
    ) -> Result<Value, ToolError> {
        let raw = input.get("path").and_then(Value::as_str);
        let path = context.resolve(raw.unwrap_or_default())?;
        let place = RelPath::from(&path);
        let text = context.transaction().read(&place)?;
        let lacks = !text.starts_with(LINE);
        if lacks {
            let with = [LINE, &text].concat();
            context.transaction().write(&place, &with)?;
        }
        Ok(json!({"path": path.as_str(), "has_header": true}))
    }
}

/// Every promise of the declaration, checked on two calls that work and one that can't.
fn check() -> Result<Report, KitError> {
    let scratch = tempfile::tempdir().map_err(|source| KitError::Look {
        path: "the temporary folder".to_owned(),
        source,
    })?;
    let tool = LicenceHeader::new().map_err(|source| KitError::Look {
        path: "licence_header.json".to_owned(),
        source: source.into(),
    })?;
    let call = json!({"path": "src/a.rs"});
    let samples = [
        Sample::new("lacks it", call.clone()).file("src/a.rs", "fn a() {}\n"),
        Sample::new("has it", call.clone()).file("src/a.rs", LINE),
        Sample::new("no such file", call).failing(),
    ];
    conformance(&tool, &samples, scratch.path())
}

fn main() -> Result<(), KitError> {
    check().map(drop)
}

#[test]
fn it_conforms() {
    let report = check().unwrap();
    assert_eq!((report.samples, report.runs), (3, 11));
}
