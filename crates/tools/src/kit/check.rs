//! The checks themselves: one declaration, then each sample run several times.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tagout_gate::policy::capability::Capability;
use tagout_gate::policy::intents::IntentSet;
use tagout_gate::policy::targets::lint_schema;
use tagout_gate::workspace::{Change, ChangeKind, RelPath};
use tagout_gate::{Played, Rehearsal, Tool, compile, violations};

use super::picture::picture;
use super::{Breach, KitError, Promise, Sample};

const WRITE: &str = "filesystem.write";
const DELETE: &str = "filesystem.delete";
const READ: &str = "filesystem.read";

/// Times that a deterministic tool is run on the same sample, each time at another place, at
/// another time and with other chance.
const REPEATS: u64 = 3;

pub(super) struct Check<'c> {
    tool: &'c dyn Tool,
    scratch: &'c Path,
    intents: &'c IntentSet,
    pub(super) breaches: Vec<Breach>,
    pub(super) runs: usize,
    folders: usize,
}

/// What one run came to.
struct Ran {
    output: Came,
    changes: Vec<Change>,
}

/// What a tool answered: two errors are the same if they read the same.
#[derive(Clone, Debug, PartialEq)]
enum Came {
    Output(Value),
    Failed(String),
}

impl Came {
    fn shown(&self) -> String {
        match self {
            Self::Output(output) => output.to_string(),
            Self::Failed(error) => error.clone(),
        }
    }
}

impl<'c> Check<'c> {
    pub(super) const fn new(tool: &'c dyn Tool, scratch: &'c Path, intents: &'c IntentSet) -> Self {
        Self {
            tool,
            scratch,
            intents,
            breaches: Vec::new(),
            runs: 0,
            folders: 0,
        }
    }

    fn breach(&mut self, sample: Option<&Sample>, promise: Promise, seen: impl Into<String>) {
        self.breaches.push(Breach {
            sample: sample.map(|sample| sample.name.clone()),
            promise,
            seen: seen.into(),
        });
    }

    pub(super) fn declaration(&mut self) {
        let declaration = self.tool.declaration();
        let said = [
            ("id", &declaration.id),
            ("name", &declaration.name),
            ("description", &declaration.description),
        ];
        for (field, text) in said {
            if text.trim().is_empty() {
                self.breach(None, Promise::Declaration, format!("`{field}` is empty"));
            }
        }
        let parts: Vec<&str> = declaration.version.split('.').collect();
        let is_number = |part: &&str| part.parse::<u64>().is_ok();
        if parts.len() != 3 || !parts.iter().all(is_number) {
            let seen = format!("`{}` is no version such as 1.0.0", declaration.version);
            self.breach(None, Promise::Declaration, seen);
        }
        for capability in &declaration.required_capabilities {
            if let Err(error) = Capability::parse(capability) {
                self.breach(None, Promise::Declaration, error.to_string());
            }
        }
        let schemas = [
            ("input", &declaration.input_schema),
            ("output", &declaration.output_schema),
        ];
        for (which, schema) in schemas {
            for flaw in lint_schema(&schema.to_string()) {
                let seen = format!("{which} schema at `{}`: {}", flaw.path, flaw.message);
                self.breach(None, Promise::Schemas, seen);
            }
        }
    }

    pub(super) fn sample(&mut self, sample: &Sample) -> Result<(), KitError> {
        let declaration = self.tool.declaration();
        let input = Value::Object(sample.input.clone());
        for violation in misfits(&declaration.input_schema, &input) {
            self.breach(Some(sample), Promise::Input, violation);
        }
        let stage = self.stage(sample, 0)?;
        let first = self.run(sample, &stage)?;
        if let Came::Output(output) = &first.output {
            for violation in misfits(&declaration.output_schema, output) {
                self.breach(Some(sample), Promise::Output, violation);
            }
        }
        match (&first.output, sample.fails) {
            (Came::Output(_), true) => {
                self.breach(Some(sample), Promise::Success, "it did not fail");
            }
            (Came::Failed(error), false) => {
                self.breach(Some(sample), Promise::Success, error.clone());
            }
            (Came::Output(_), false) | (Came::Failed(_), true) => {}
        }
        self.changes(sample, &first);
        if declaration.idempotent && matches!(first.output, Came::Output(_)) {
            self.again(sample, &stage)?;
        }
        if declaration.deterministic {
            self.elsewhere(sample, &first)?;
        }
        Ok(())
    }

    /// A workspace of its own with the sample's files in it.
    fn stage(&mut self, sample: &Sample, seed: u64) -> Result<Rehearsal, KitError> {
        let folder = self.folder();
        let stage = Rehearsal::new(&folder, self.intents.clone(), seed)?;
        let failed = |source| KitError::Sample {
            sample: sample.name.clone(),
            source,
        };
        let mut filling = stage.begin()?;
        for (path, content) in &sample.files {
            let path = RelPath::new(path.as_bytes()).map_err(failed)?;
            filling.write(&path, content).map_err(failed)?;
        }
        stage.commit(filling)?;
        Ok(stage)
    }

    fn folder(&mut self) -> PathBuf {
        self.folders += 1;
        let name = format!("{}-{}", self.tool.declaration().id, self.folders);
        self.scratch.join(name)
    }

    /// Runs the tool, sees that nothing changed yet, and commits what it staged if it succeeded.
    fn run(&mut self, sample: &Sample, stage: &Rehearsal) -> Result<Ran, KitError> {
        self.runs += 1;
        let root = stage.workspace().root();
        let before = picture(root)?;
        let played = catch_unwind(AssertUnwindSafe(|| stage.run(self.tool, &sample.input)));
        if picture(root)? != before {
            let seen = "files changed before the transaction was committed";
            self.breach(Some(sample), Promise::Transaction, seen);
        }
        let Ok(played) = played else {
            self.breach(Some(sample), Promise::NoPanic, "it panicked");
            return Ok(Ran {
                output: Came::Failed("it panicked".to_owned()),
                changes: Vec::new(),
            });
        };
        self.settle(sample, stage, played?)
    }

    fn settle(
        &mut self,
        sample: &Sample,
        stage: &Rehearsal,
        played: Played<'_>,
    ) -> Result<Ran, KitError> {
        let declared = &self.tool.declaration().required_capabilities;
        let reads = declared.iter().any(|one| one == READ);
        if !played.seen.is_empty() && !reads {
            let seen = format!("it read a file, but does not declare `{READ}`");
            self.breach(Some(sample), Promise::Capabilities, seen);
        }
        let output = match played.output {
            Ok(output) => Came::Output(output),
            Err(error) => {
                played.transaction.rollback();
                return Ok(Ran {
                    output: Came::Failed(error.to_string()),
                    changes: Vec::new(),
                });
            }
        };
        let changes = stage.commit(played.transaction)?;
        Ok(Ran { output, changes })
    }

    /// Whether what changed is what the tool may change.
    fn changes(&mut self, sample: &Sample, ran: &Ran) {
        let declared = self.tool.declaration().required_capabilities.clone();
        let may = |capability: &str| declared.iter().any(|one| one == capability);
        for change in &ran.changes {
            let needed = match change.kind {
                ChangeKind::Created | ChangeKind::Modified | ChangeKind::Attributes => WRITE,
                ChangeKind::Deleted => DELETE,
            };
            let path = change.path.to_string();
            if !may(needed) {
                let seen = format!("it changed `{path}`, but does not declare `{needed}`");
                self.breach(Some(sample), Promise::Capabilities, seen);
            }
            if !sample.names(&path) {
                let seen = format!("it changed `{path}`, which its input does not name");
                self.breach(Some(sample), Promise::Targets, seen);
            }
        }
    }

    /// Once more where it was done already: it succeeds, and changes nothing more.
    fn again(&mut self, sample: &Sample, stage: &Rehearsal) -> Result<(), KitError> {
        let before = picture(stage.workspace().root())?;
        let second = self.run(sample, stage)?;
        if let Came::Failed(error) = &second.output {
            let seen = format!("the second time it failed: {error}");
            self.breach(Some(sample), Promise::Idempotent, seen);
        }
        if picture(stage.workspace().root())? != before {
            let seen = "the second time it changed files again";
            self.breach(Some(sample), Promise::Idempotent, seen);
        }
        Ok(())
    }

    /// The same sample at another place and time: the same output and the same changes.
    fn elsewhere(&mut self, sample: &Sample, first: &Ran) -> Result<(), KitError> {
        for seed in 1..REPEATS {
            let stage = self.stage(sample, seed)?;
            let other = self.run(sample, &stage)?;
            if other.output != first.output {
                let (one, two) = (first.output.shown(), other.output.shown());
                let seen = format!("`{one}`, then `{two}`");
                self.breach(Some(sample), Promise::Deterministic, seen);
                return Ok(());
            }
            if other.changes != first.changes {
                let seen = "the same output, but other changes";
                self.breach(Some(sample), Promise::Deterministic, seen);
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Every way in which a value does not fit a schema. One that does not compile was named before.
fn misfits(schema: &Value, value: &Value) -> Vec<String> {
    compile(schema).map_or_else(|_| Vec::new(), |schema| violations(&schema, value))
}
