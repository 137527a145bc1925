//! A small workspace with tools that do what a test needs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};

use serde_json::{Map, Value, json};
use tagout_gate::{
    Clockwork, Commands, Context, Deprecation, Engine, Places, Receipt, Recovered, Registry,
    Request, Site, Sources, Text, Tool, ToolError,
};
use tagout_ledger::{Event, Reader};
use tagout_policy::catalogue::Catalogue;
use tagout_vocab::{Call, Declaration, IntentId, ResourceLimits, SessionId, Timestamp};
use tagout_workspace::RelPath;

pub(crate) const INTENTS: &str = "
version: 1
active_intents:
  - id: INT-001
    name: Weather
    status: IN_PROGRESS
    owned_scope: [src/**]
  - id: INT-002
    name: Docs
    status: IN_PROGRESS
    owned_scope: [docs/**]
";

/// What a tool does, over and above its declaration.
pub(crate) type Body =
    dyn Fn(&Map<String, Value>, &mut Context<'_, '_>) -> Result<Value, ToolError> + Send + Sync;

pub(crate) struct TestTool {
    pub(crate) declaration: Declaration,
    pub(crate) deprecation: Option<Deprecation>,
    pub(crate) body: Box<Body>,
}

impl Tool for TestTool {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }
    fn deprecation(&self) -> Option<Deprecation> {
        self.deprecation.clone()
    }
    fn run(
        &self,
        input: &Map<String, Value>,
        context: &mut Context<'_, '_>,
    ) -> Result<Value, ToolError> {
        (self.body)(input, context)
    }
}

pub(crate) fn output_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "description": "What the tool says.",
        "properties": {"said": {"type": "string", "description": "The words."}},
        "required": ["said"],
        "additionalProperties": false
    })
}

/// The catalogue, read once: every test needs it several times.
pub(crate) fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| Catalogue::built_in().unwrap())
}

/// A declaration that fits the catalogue's entry of the same name.
pub(crate) fn declaration(name: &str) -> Declaration {
    let tool = catalogue().native_tool(name).unwrap();
    let schema = tool.input_schema.as_ref().unwrap().text();
    Declaration {
        id: name.to_owned(),
        version: "1.0.0".to_owned(),
        name: name.to_owned(),
        description: "A tool for tests.".to_owned(),
        input_schema: serde_json::from_str(schema).unwrap(),
        output_schema: output_schema().into(),
        required_capabilities: tool.capabilities.clone(),
        resource_limits: ResourceLimits::default(),
        deterministic: true,
        idempotent: true,
    }
}

pub(crate) fn tool(
    name: &str,
    body: impl Fn(&Map<String, Value>, &mut Context<'_, '_>) -> Result<Value, ToolError>
    + Send
    + Sync
    + 'static,
) -> TestTool {
    TestTool {
        declaration: declaration(name),
        deprecation: None,
        body: Box::new(body),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is what tools return")]
pub(crate) fn said(words: &str) -> Result<Value, ToolError> {
    Ok(json!({ "said": words }))
}

fn text<'a>(input: &'a Map<String, Value>, key: &str) -> &'a str {
    input.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn reader() -> TestTool {
    tool("read_file", |input, context| {
        let path = context.resolve(text(input, "path"))?;
        let bytes = context.transaction().read(&RelPath::from(&path))?;
        context.note_seen(&path);
        said(&String::from_utf8_lossy(&bytes))
    })
}

pub(crate) fn writer() -> TestTool {
    tool("write_to_file", |input, context| {
        let path = context.resolve(text(input, "path"))?;
        let content = text(input, "content").as_bytes().to_vec();
        context
            .transaction()
            .write(&RelPath::from(&path), &content)?;
        said("written")
    })
}

pub(crate) fn selector() -> TestTool {
    tool("select_active_intent", |input, context| {
        let id = IntentId::new(text(input, "intent_id")).unwrap();
        context.request(Request::Select(id));
        said("selected")
    })
}

pub(crate) fn completion() -> TestTool {
    tool("attempt_completion", |_, context| {
        context.request(Request::Complete);
        said("done")
    })
}

/// The clock and the counter of a world, shared with its engines.
#[derive(Debug, Clone)]
pub(crate) struct Time {
    now: Arc<AtomicI64>,
    count: Arc<AtomicU64>,
    pub(crate) pauses: Arc<Mutex<Vec<u128>>>,
}

impl Time {
    fn new() -> Self {
        Self {
            now: Arc::new(AtomicI64::new(1_780_000_000_000)),
            count: Arc::new(AtomicU64::new(1)),
            pauses: Arc::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now.load(Ordering::SeqCst))
    }

    pub(crate) fn pass(&self, millis: i64) {
        self.now.fetch_add(millis, Ordering::SeqCst);
    }

    pub(crate) fn clockwork(&self) -> Clockwork {
        let (now, count, pauses) = (self.now.clone(), self.count.clone(), self.pauses.clone());
        let random = move || {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&count.fetch_add(1, Ordering::SeqCst).to_be_bytes());
            *tagout_vocab::Digest::of(&bytes).as_bytes()
        };
        Clockwork::new(
            move || Timestamp::from_millis(now.load(Ordering::SeqCst)),
            random,
        )
        .pausing(move |time| pauses.lock().unwrap().push(time.as_millis()))
    }
}

pub(crate) struct World {
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) places: Places,
    pub(crate) policy: String,
    pub(crate) intents: String,
    pub(crate) time: Time,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_policy("")
    }

    /// A workspace whose files a person has accepted.
    pub(crate) fn with_policy(policy: &str) -> Self {
        let world = Self::untrusted(policy);
        let engine = world.engine();
        engine.accept(&world.sources(), "ann").unwrap();
        world
    }

    pub(crate) fn untrusted(policy: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        std::fs::create_dir_all(root.join(".orchestration")).unwrap();
        std::fs::create_dir_all(root.join("src")).unwrap();
        let places = Places {
            root: root.clone(),
            state_home: folder.path().join("state"),
        };
        let world = Self {
            _folder: folder,
            root,
            places,
            policy: policy.to_owned(),
            intents: INTENTS.to_owned(),
            time: Time::new(),
        };
        Site::create(&world.places, &world.time.clockwork(), "ann").unwrap();
        world
    }

    pub(crate) fn sources(&self) -> Sources {
        let text = |name: &str, text: &str| Text {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let policy = (!self.policy.is_empty()).then(|| text("hook_policy.yaml", &self.policy));
        Sources {
            policies: policy.into_iter().collect(),
            intents: Some(text("active_intents.yaml", &self.intents)),
            ignores: Vec::new(),
        }
    }

    pub(crate) fn site(&self) -> Site {
        Site::open(&self.places).unwrap()
    }

    pub(crate) fn open(&self, tools: Vec<TestTool>) -> (Engine, Recovered) {
        let boxed = |tool| Box::new(tool) as Box<dyn Tool>;
        self.open_boxed(tools.into_iter().map(boxed).collect(), None)
    }

    /// The same with any tools, and perhaps with what is needed to run commands.
    pub(crate) fn open_boxed(
        &self,
        tools: Vec<Box<dyn Tool>>,
        commands: Option<Commands>,
    ) -> (Engine, Recovered) {
        let catalogue = catalogue().clone();
        let site = self.site();
        let books = site.shelve(catalogue, None, &self.sources()).unwrap();
        let mut registry = Registry::new(books.books.catalogue.clone());
        for tool in tools {
            registry.register(tool).unwrap();
        }
        Engine::open_with(site, books, (registry, commands), self.time.clockwork()).unwrap()
    }

    pub(crate) fn engine(&self) -> Engine {
        self.open(vec![reader(), writer(), selector(), completion()])
            .0
    }

    /// The engine of someone who waits for a verdict.
    pub(crate) fn judge(&self) -> Engine {
        let site = self.site();
        let books = site.shelve(catalogue().clone(), None, &self.sources());
        let (books, registry) = (books.unwrap(), Registry::default());
        let opened = Engine::open_to_judge(site, books, registry, self.time.clockwork());
        opened.unwrap().0
    }

    pub(crate) fn engine_with(&self, more: Vec<TestTool>) -> Engine {
        let mut tools = vec![reader(), selector(), completion()];
        tools.extend(more);
        self.open(tools).0
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        let reader = Reader::open(&self.site().ledger()).unwrap();
        reader.events_from(0).unwrap().map(Result::unwrap).collect()
    }

    /// The states that the ledger holds for an execution.
    pub(crate) fn states(&self, receipt: &Receipt) -> Vec<&'static str> {
        let id = receipt.execution.as_ref().map(ToString::to_string);
        self.states_of(id.as_deref().unwrap())
    }

    pub(crate) fn states_of(&self, id: &str) -> Vec<&'static str> {
        let events = self.events();
        let ours = events
            .iter()
            .filter(|event| event.body.execution_id.as_deref() == Some(id));
        ours.filter_map(|event| event.body.state)
            .map(tagout_ledger::LifecycleState::as_str)
            .collect()
    }
}

pub(crate) fn call(tool: &str, arguments: Value) -> Call {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    let mut call = Call::new(tool, arguments);
    call.session = Some(SessionId::new("s-1").unwrap());
    call
}

pub(crate) fn in_session(mut call: Call, session: &str) -> Call {
    call.session = Some(SessionId::new(session).unwrap());
    call
}

pub(crate) fn read(path: &str) -> Call {
    call("read_file", json!({ "path": path }))
}

pub(crate) fn write(path: &str, content: &str) -> Call {
    call(
        "write_to_file",
        json!({
            "path": path, "content": content,
            "intent_id": "INT-001", "mutation_class": "INTENT_EVOLUTION",
        }),
    )
}

pub(crate) fn select(intent: &str) -> Call {
    call("select_active_intent", json!({ "intent_id": intent }))
}

/// An engine in which the session has taken up INT-001.
pub(crate) fn in_action(world: &World, more: Vec<TestTool>) -> Engine {
    let engine = if more.is_empty() {
        world.engine()
    } else {
        world.engine_with(more)
    };
    let receipt = engine.execute(&select("INT-001"));
    assert_eq!(
        receipt.outcome,
        tagout_gate::Outcome::Completed,
        "{receipt:?}"
    );
    engine
}

pub(crate) fn code(receipt: &Receipt) -> &'static str {
    receipt
        .refusal
        .as_ref()
        .map_or("ALLOWED", |refusal| refusal.code.as_str())
}

pub(crate) fn seal_key(world: &World) -> tagout_ledger::VerifierKey {
    tagout_ledger::SealKey::load(&world.site().seal_key())
        .unwrap()
        .verifier()
}

/// A gate that a test opens by hand.
pub(crate) fn latch() -> (mpsc::Sender<()>, impl Fn() + Send + Sync) {
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    (sender, move || {
        receiver.lock().unwrap().recv().unwrap_or_default();
    })
}

pub(crate) fn ledger_file(world: &World) -> PathBuf {
    let dir = world.site().ledger();
    let mut names: Vec<PathBuf> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    names.sort();
    names.pop().unwrap_or_else(|| Path::new("none").to_owned())
}
