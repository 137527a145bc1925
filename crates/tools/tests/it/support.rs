//! What the tests share: the native tools, and a workspace to run them on.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};
use tagout_gate::policy::catalogue::Catalogue;
use tagout_gate::policy::intents::{self, IntentSet};
use tagout_gate::workspace::RelPath;
use tagout_gate::{Rehearsal, Request, Tool, ToolError};
use tagout_tools::native;

/// Every native tool by name.
pub(crate) fn tools() -> BTreeMap<String, Box<dyn Tool>> {
    let catalogue = Catalogue::built_in().unwrap();
    native(&catalogue)
        .unwrap()
        .into_iter()
        .map(|tool| (tool.declaration().id.clone(), tool))
        .collect()
}

/// Two intents, as a workspace declares them.
pub(crate) fn some_intents() -> IntentSet {
    let text = "active_intents:\n  - id: INT-001\n    name: Build\n    status: IN_PROGRESS\n    \
                owned_scope: [\"src/**\"]\n    constraints: [\"no <b>new</b> crates\"]\n    \
                acceptance_criteria: [\"tests pass\"]\n";
    intents::read("active_intents.yaml", text)
        .unwrap()
        .into_set()
}

/// A workspace that is gone with the value.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) stage: Rehearsal,
}

/// What one call came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) output: Result<Value, ToolError>,
    pub(crate) seen: Vec<String>,
    pub(crate) requests: Vec<Request>,
}

impl Place {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let stage = Rehearsal::new(&folder.path().join("w"), some_intents(), 1).unwrap();
        let mut filling = stage.begin().unwrap();
        for (path, bytes) in files {
            let path = RelPath::new(path.as_bytes()).unwrap();
            filling.write(&path, bytes).unwrap();
        }
        stage.commit(filling).unwrap();
        Self { folder, stage }
    }

    pub(crate) fn root(&self) -> &Path {
        self.stage.workspace().root()
    }

    pub(crate) fn read(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.root().join(path)).ok()
    }

    /// Runs a tool, and commits what it did if it succeeded.
    pub(crate) fn call(&self, tool: &str, input: Value) -> Ran {
        let tools = tools();
        let Value::Object(input) = input else {
            panic!("no object: {input}");
        };
        self.run(tools[tool].as_ref(), &input)
    }

    pub(crate) fn run(&self, tool: &dyn Tool, input: &Map<String, Value>) -> Ran {
        let played = self.stage.run(tool, input).unwrap();
        if played.output.is_ok() {
            self.stage.commit(played.transaction).unwrap();
        }
        Ran {
            output: played.output,
            seen: played.seen.iter().map(ToString::to_string).collect(),
            requests: played.requests,
        }
    }
}

/// Everything beneath a folder, links not followed: path, kind, mode and bytes.
pub(crate) fn picture(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    use std::os::unix::fs::MetadataExt as _;
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let about = std::fs::symlink_metadata(&path).unwrap();
        let mut seen = format!("{:o} ", about.mode()).into_bytes();
        if about.is_dir() {
            open.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if about.is_symlink() {
            seen.extend(
                std::fs::read_link(&path)
                    .unwrap()
                    .display()
                    .to_string()
                    .bytes(),
            );
        } else {
            seen.extend(std::fs::read(&path).unwrap());
        }
        found.insert(path.display().to_string(), seen);
    }
    found
}
