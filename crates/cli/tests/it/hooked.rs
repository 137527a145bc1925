//! Clients played for the hook: what each of them sends, and the real binary that answers.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};
use tagout_agents::Client;

use crate::confined::Site;
use crate::hook_oracle::{Said, said};

/// The same tests for every client, each client in a module of its own.
macro_rules! for_every_client {
    ($tests:tt) => {
        $crate::hooked::for_every_client! { @clients $tests
            claude_code ClaudeCode,
            codex Codex,
            gemini_cli GeminiCli,
            copilot_cli CopilotCli,
            qwen_code QwenCode,
            cline Cline,
            factory_droid FactoryDroid,
            goose Goose,
            opencode Opencode,
            cursor Cursor,
            vscode Vscode,
            windsurf Windsurf,
            kiro Kiro,
        }
    };
    (@clients $tests:tt $($name:ident $client:ident),+ $(,)?) => {
        $(mod $name {
            $crate::hooked::for_every_client! { @tests $client $tests }
        })+

        /// No client is left out.
        #[test]
        fn every_client_has_its_tests() {
            let clients = [$(tagout_agents::Client::$client),+];
            assert_eq!(clients.len(), tagout_agents::Client::ALL.len());
        }
    };
    (@tests $client:ident { $($test:ident => $run:expr),+ $(,)? }) => {
        $(
            #[test]
            fn $test() {
                let run: fn(tagout_agents::Client) = $run;
                run(tagout_agents::Client::$client);
            }
        )+
    };
}
pub(crate) use for_every_client;

/// What one client sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Sends {
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) prompt: Option<String>,
    /// Names in the payload that differ from those on the command line.
    #[serde(default)]
    wire: BTreeMap<String, String>,
    frame: Map<String, Value>,
    result: Map<String, Value>,
    plain: Map<String, Value>,
    pub(crate) write: Tool,
    pub(crate) read: Option<Tool>,
    pub(crate) shell: Tool,
    /// A payload that was captured and that has all keys of the frame.
    capture: Option<String>,
}

/// One tool of a client.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Tool {
    #[serde(rename = "tool")]
    name: String,
    before: Option<String>,
    after: Option<String>,
    arguments: Value,
}

static SENDS: LazyLock<BTreeMap<String, Sends>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../hook/calls.json")).unwrap());

/// What a client sends.
pub(crate) fn sends(client: Client) -> &'static Sends {
    &SENDS[client.as_str()]
}

/// One call of one client.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) client: Client,
    pub(crate) tool: Tool,
    pub(crate) session: String,
    pub(crate) id: String,
    fill: Vec<(&'static str, String)>,
}

impl Call {
    fn new(client: Client, tool: &Tool, (session, id): (&str, &str)) -> Self {
        Self {
            client,
            tool: tool.clone(),
            session: session.to_owned(),
            id: id.to_owned(),
            fill: Vec::new(),
        }
    }

    /// A file is written.
    pub(crate) fn write(client: Client, ids: (&str, &str), path: &str, content: &str) -> Self {
        Self::new(client, &sends(client).write, ids)
            .with("$path", path)
            .with("$content", content)
    }

    /// A file is read, where the client has a tool for it.
    pub(crate) fn read(client: Client, ids: (&str, &str), path: &str) -> Self {
        let tool = sends(client).read.as_ref().unwrap();
        Self::new(client, tool, ids).with("$path", path)
    }

    /// A command is run.
    pub(crate) fn shell(client: Client, ids: (&str, &str), line: &str) -> Self {
        Self::new(client, &sends(client).shell, ids).with("$command", line)
    }

    /// Any tool, with any arguments. Where the event is the tool, its name is the event's.
    pub(crate) fn tool(client: Client, ids: (&str, &str), name: &str, arguments: Value) -> Self {
        let is_event = client.event(name).is_some();
        let tool = Tool {
            name: name.to_owned(),
            before: is_event.then(|| name.to_owned()),
            after: is_event.then(|| name.replacen("pre_", "post_", 1)),
            arguments,
        };
        Self::new(client, &tool, ids)
    }

    fn with(mut self, place: &'static str, text: &str) -> Self {
        self.fill.push((place, text.to_owned()));
        self
    }

    /// The event before it.
    pub(crate) fn before(&self) -> String {
        let common = &sends(self.client).before;
        self.tool.before.clone().unwrap_or_else(|| common.clone())
    }

    /// The event after it.
    pub(crate) fn after(&self) -> String {
        let common = &sends(self.client).after;
        self.tool.after.clone().unwrap_or_else(|| common.clone())
    }

    fn filled(&self, frame: &Map<String, Value>, event: &str, root: &Path) -> Value {
        let sends = sends(self.client);
        let wire = sends.wire.get(event).map_or(event, String::as_str);
        let mut fill: Vec<(&str, &str)> = vec![
            ("$event", wire),
            ("$session", &self.session),
            ("$call", &self.id),
            ("$tool", &self.tool.name),
            ("$root", root.to_str().unwrap()),
        ];
        fill.extend(
            self.fill
                .iter()
                .map(|(place, text)| (*place, text.as_str())),
        );
        let arguments = fill_in(&self.tool.arguments, &fill, &Value::Null);
        fill_in(&Value::Object(frame.clone()), &fill, &arguments)
    }

    /// The payload before it.
    pub(crate) fn payload(&self, root: &Path) -> Vec<u8> {
        let frame = &sends(self.client).frame;
        self.filled(frame, &self.before(), root).to_string().into()
    }

    /// The payload after it.
    pub(crate) fn reported(&self, root: &Path) -> Vec<u8> {
        let sends = sends(self.client);
        let mut frame = sends.frame.clone();
        frame.extend(sends.result.clone());
        self.filled(&frame, &self.after(), root).to_string().into()
    }
}

fn fill_in(value: &Value, fill: &[(&str, &str)], arguments: &Value) -> Value {
    match value {
        Value::String(text) if text == "$arguments" => arguments.clone(),
        Value::String(text) => {
            let replaced = |text: String, (place, with): &(&str, &str)| text.replace(place, with);
            Value::String(fill.iter().fold(text.clone(), replaced))
        }
        Value::Array(all) => all
            .iter()
            .map(|one| fill_in(one, fill, arguments))
            .collect(),
        Value::Object(map) => {
            let one =
                |(key, value): (&String, &Value)| (key.clone(), fill_in(value, fill, arguments));
            Value::Object(map.iter().map(one).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// How the hook is called.
pub(crate) struct Line<'a> {
    pub(crate) client: &'a str,
    pub(crate) event: &'a str,
    pub(crate) state: Option<&'a Path>,
    pub(crate) more: &'a [&'a str],
}

impl<'a> Line<'a> {
    pub(crate) fn of(client: Client, event: &'a str) -> Self {
        Self {
            client: client.as_str(),
            event,
            state: None,
            more: &[],
        }
    }

    /// The words after the program, as `install` writes them at project scope.
    pub(crate) fn words(&self, site: &Site) -> Vec<String> {
        let state = site.home().join(".local/state/tagout");
        let state = self.state.unwrap_or(&state);
        let root = site.root();
        let words = ["hook", "--client", self.client, "--event", self.event];
        let places = ["--workspace", root.to_str().unwrap(), "--state-dir"];
        let all = words
            .into_iter()
            .chain(places)
            .chain([state.to_str().unwrap()]);
        all.chain(self.more.iter().copied())
            .map(str::to_owned)
            .collect()
    }
}

/// A hook, not yet started.
pub(crate) fn hook(site: &Site, line: &Line<'_>) -> Command {
    let words = line.words(site);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    site.command(&words)
}

/// Runs a command with a payload on its standard input.
pub(crate) fn fed(mut command: Command, payload: &[u8]) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that denies before it has read all closes its end.
    child
        .stdin
        .take()
        .unwrap()
        .write_all(payload)
        .unwrap_or_default();
    child.wait_with_output().unwrap()
}

/// Asks the hook before a call.
pub(crate) fn ask(site: &Site, call: &Call) -> Said {
    let event = call.before();
    let ran = fed(
        hook(site, &Line::of(call.client, &event)),
        &call.payload(&site.root()),
    );
    said(call.client, &ran)
}

/// Tells the hook after a call.
pub(crate) fn tell(site: &Site, call: &Call) -> Said {
    let event = call.after();
    let ran = fed(
        hook(site, &Line::of(call.client, &event)),
        &call.reported(&site.root()),
    );
    said(call.client, &ran)
}

/// What the hook told the model, whichever way.
pub(crate) fn told(said: &Said) -> String {
    format!("{}{}", said.stdout, said.stderr)
}

/// The payload of an event that is about no tool.
pub(crate) fn plain(
    site: &Site,
    client: Client,
    event: &str,
    session: &str,
    prompt: &str,
) -> Value {
    let call = Call::shell(client, (session, "none"), "").with("$prompt", prompt);
    call.filled(&sends(client).plain, event, &site.root())
}

/// Tells an event with a payload.
pub(crate) fn sent(site: &Site, client: Client, event: &str, payload: &Value) -> Said {
    let payload = payload.to_string();
    let ran = fed(hook(site, &Line::of(client, event)), payload.as_bytes());
    said(client, &ran)
}

/// An event that is about no tool.
pub(crate) fn happen(
    site: &Site,
    client: Client,
    event: &str,
    session: &str,
    prompt: &str,
) -> Said {
    let payload = plain(site, client, event, session, prompt);
    sent(site, client, event, &payload)
}

/// A verb as an agent has to write it where its client rewrites nothing: by the program's path, and
/// with the places, because nobody knows what the name and the working folder lead to by then.
pub(crate) fn in_full(site: &Site, verb: &str) -> String {
    let program = env!("CARGO_BIN_EXE_tagout");
    let (root, state) = (site.root(), site.home().join(".local/state/tagout"));
    let (root, state) = (root.display(), state.display());
    format!("'{program}' {verb} --workspace '{root}' --state-dir '{state}'")
}

/// Takes an intent up in a session, as an agent of this client does.
pub(crate) fn select(site: &Site, client: Client, session: &str, intent: &str) {
    let line = in_full(site, &format!("intent select {intent}"));
    let call = Call::shell(client, (session, "select"), &line);
    let said = ask(site, &call);
    assert!(said.runs(), "{client}: {said:?}");
    tell(site, &call);
}

/// The intent of a client where all of them work: it owns `src/CLIENT/**`.
pub(crate) fn intent_of(client: Client) -> String {
    let at = Client::ALL.iter().position(|one| *one == client).unwrap();
    format!("INT-{:03}", at + 1)
}

/// A workspace in which every client has an intent of its own and took it up.
pub(crate) fn site_for_all() -> Site {
    site_for(Client::ALL)
}

/// The same where only some did.
pub(crate) fn site_for(clients: &[Client]) -> Site {
    let site = Site::with_setup(&[], |site| {
        let entry = |client: &Client| {
            let id = intent_of(*client);
            format!(
                "  - id: {id}\n    name: {client}\n    status: IN_PROGRESS\n    owned_scope:\n      \
                 - src/{client}/**\n"
            )
        };
        let entries: String = Client::ALL.iter().map(entry).collect();
        let text = format!("version: 1\nactive_intents:\n{entries}");
        site.write(".orchestration/active_intents.yaml", &text);
        for client in Client::ALL {
            fs::create_dir_all(site.root().join(format!("src/{client}"))).unwrap();
        }
    });
    for client in clients {
        select(&site, *client, "main", &intent_of(*client));
    }
    site
}

/// A new file in the scope of a client's intent.
pub(crate) fn written(client: Client, name: &str) -> Call {
    let path = format!("src/{client}/{name}.txt");
    Call::write(client, ("main", name), &path, "new")
}

/// What is sent here has no key that the client was not seen to send.
#[test]
fn the_played_clients_send_what_the_real_ones_did() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/tests/captures");
    let mut compared = 0;
    for client in Client::ALL {
        let sends = sends(*client);
        let Some(capture) = &sends.capture else {
            continue;
        };
        let path = captures
            .join(client.as_str())
            .join(format!("{capture}.json"));
        let seen: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        for key in sends.frame.keys() {
            // The plugin that `install` writes adds the folder.
            let ours = *client == Client::Opencode && key == "directory";
            assert!(
                ours || seen.get(key).is_some(),
                "{client} never sent `{key}`"
            );
        }
        compared += 1;
    }
    assert_eq!(compared, 9);
}
