//! The throw-away workspace of the trials, and a tool that does right or wrong as it is told.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tagout_gate::workspace::RelPath;
use tagout_gate::{Context, Engine, Outcome, Places, Receipt, Site, Tool, ToolError};
use tagout_vocab::{Call, Declaration, Origin, Role, SessionId};
use tagout_workspace::files;

use crate::failure::Failure;
use crate::runtime;

pub(super) const INTENTS: &str = include_str!("../../../data/compliance/active_intents.yaml");
const POLICY: &str = include_str!("../../../data/compliance/hook_policy.yaml");
const DECLARATION: &str = include_str!("../../../data/compliance/trial.json");

/// Who plays the person.
const PERSON: &str = "compliance";
/// The file that every act is about.
const FILE: &str = "inside/file";
/// How long the tool that is too slow may take.
const HASTE_MS: u64 = 50;
const PAUSE: Duration = Duration::from_millis(5);

/// What the tool and the stage share.
#[derive(Clone, Debug, Default)]
struct Shared {
    runs: Arc<AtomicU32>,
    over: Arc<AtomicBool>,
}

struct TrialTool {
    declaration: Declaration,
    shared: Shared,
}

impl TrialTool {
    fn act(
        &self,
        (word, run): (&str, u32),
        context: &mut Context<'_, '_>,
    ) -> Result<Value, ToolError> {
        let done = Ok(json!({ "done": true }));
        let path = |text: &str| RelPath::new(text.as_bytes());
        let transaction = context.transaction();
        transaction.write(&path(FILE)?, format!("by run {run}\n").as_bytes())?;
        match word {
            "error" => Err(ToolError::failed("told to fail")),
            #[expect(clippy::panic, reason = "it is what the trial is about")]
            "panic" => panic!("told to panic"),
            "bad_output" => Ok(json!({ "undeclared": 1 })),
            "outside" => {
                transaction.write(&path("outside/file")?, b"after\n")?;
                done
            }
            "heavy" => {
                for _ in 0..9 {
                    transaction.write(&path("inside/heavy")?, &[0; 8 * 1024])?;
                }
                done
            }
            "large" => {
                transaction.write(&path("inside/large")?, &[0; 40 * 1024])?;
                done
            }
            "late" => {
                while !self.shared.over.load(Ordering::Acquire) {
                    std::thread::sleep(PAUSE);
                }
                done
            }
            _ => done,
        }
    }
}

impl Tool for TrialTool {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn run(
        &self,
        input: &Map<String, Value>,
        context: &mut Context<'_, '_>,
    ) -> Result<Value, ToolError> {
        let run = self.shared.runs.fetch_add(1, Ordering::AcqRel);
        let word = input.get("act").and_then(Value::as_str);
        self.act((word.unwrap_or_default(), run), context)
    }
}

/// One trial: what came of the call, and what it left.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) receipt: Receipt,
    /// The tool was let run.
    pub(super) ran: bool,
    /// Every file is as before.
    pub(super) untouched: bool,
}

impl Tried {
    /// The code of the refusal.
    pub(super) fn code(&self) -> &'static str {
        let refusal = self.receipt.refusal.as_ref();
        refusal.map_or("ALLOWED", |refusal| refusal.code.as_str())
    }

    /// Whether it was rolled back and nothing is left of it.
    pub(super) fn is_undone(&self) -> bool {
        let ended = self.receipt.outcome == Outcome::RolledBack;
        ended && self.untouched && self.receipt.left.is_empty()
    }
}

/// A workspace with an engine of its own.
pub(super) struct Stage {
    places: Places,
    pub(super) engine: Engine,
    session: SessionId,
    shared: Shared,
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The tool that was left behind may go.
        self.shared.over.store(true, Ordering::Release);
    }
}

impl Stage {
    /// Lays the files out and accepts them as a person would.
    pub(super) fn set_up(folder: &Path) -> Result<Self, Failure> {
        let places = Places {
            root: folder.join("workspace"),
            state_home: folder.join("state"),
        };
        for (name, text) in [
            (".orchestration/active_intents.yaml", INTENTS),
            (".orchestration/hook_policy.yaml", POLICY),
        ] {
            let path = places.root.join(name);
            files::ensure_dir(path.parent().unwrap_or(&places.root))
                .and_then(|()| files::write_atomic(&path, text.as_bytes(), None))
                .map_err(Failure::failed)?;
        }
        Site::create(&places, &runtime::clockwork()?, PERSON)?;
        let sources = runtime::sources(&places.root)?;
        let engine = runtime::open_without_user(&places)?;
        engine.accept(&sources, PERSON)?;
        let shared = Shared::default();
        let engine = runtime::open_with(&places, tools(&shared)?)?;
        Ok(Self {
            places,
            engine,
            session: SessionId::new("trial").map_err(Failure::failed)?,
            shared,
        })
    }

    /// Makes one call and looks at what it left.
    pub(super) fn call(&self, call: Call) -> Result<Tried, Failure> {
        let before = picture(&self.places.root)?;
        let runs = self.shared.runs.load(Ordering::Acquire);
        let receipt = self.engine.execute(&Call {
            session: Some(self.session.clone()),
            ..call
        });
        Ok(Tried {
            receipt,
            ran: self.shared.runs.load(Ordering::Acquire) > runs,
            untouched: picture(&self.places.root)? == before,
        })
    }

    /// The trial tool with an act.
    pub(super) fn act(&self, tool: &str, act: &str) -> Result<Tried, Failure> {
        let arguments = json!({ "path": FILE, "act": act });
        self.call(custom(tool, arguments))
    }

    /// The handshake.
    pub(super) fn select(&self) -> Result<Tried, Failure> {
        let tool = self.engine.shelf().books.name_of(Role::SelectIntent);
        let arguments = Map::from_iter([("intent_id".to_owned(), Value::from("TRIAL"))]);
        self.call(Call::new(tool, arguments))
    }

    /// Whether every path that the ledger says was changed holds what the ledger says.
    pub(super) fn agrees(&self, events: &[tagout_ledger::Event]) -> bool {
        let mut last = BTreeMap::new();
        for change in events.iter().flat_map(|event| &event.body.paths) {
            last.insert(change.path.clone(), change.after);
        }
        let workspace = self.engine.workspace();
        last.iter().all(|(path, after)| {
            let path = RelPath::new(path.as_bytes());
            let now = path.and_then(|path| workspace.digest(&path));
            now.is_ok_and(|now| now == *after)
        })
    }
}

/// A call of a custom tool.
pub(super) fn custom(tool: &str, arguments: Value) -> Call {
    let Value::Object(arguments) = arguments else {
        return Call::new(tool, Map::new());
    };
    Call {
        origin: Origin::Custom,
        ..Call::new(tool, arguments)
    }
}

fn tools(shared: &Shared) -> Result<Vec<Box<dyn Tool>>, Failure> {
    let declaration: Declaration = serde_json::from_str(DECLARATION)
        .map_err(|error| Failure::failed(format!("the trial can't be read: {error}")))?;
    let mut hasty = declaration.clone();
    hasty.id = "trial_hasty".to_owned();
    hasty.resource_limits.max_execution_time_ms = Some(HASTE_MS);
    let mut barred = declaration.clone();
    barred.id = "trial_barred".to_owned();
    barred.required_capabilities = vec!["process.signal".to_owned()];
    let boxed = |declaration: Declaration| -> Box<dyn Tool> {
        let shared = shared.clone();
        Box::new(TrialTool {
            declaration,
            shared,
        })
    };
    Ok([declaration, hasty, barred].map(boxed).into())
}

/// Every file with its bytes.
fn picture(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::failed(format!("`{}`: {error}", folder.display()));
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            found.extend(picture(&path)?);
        } else {
            let bytes = fs::read(&path).map_err(unreadable)?;
            found.insert(path, bytes);
        }
    }
    Ok(found)
}
