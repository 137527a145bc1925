//! Payloads as no honest client sends them, for every client: each is refused, or is judged by the
//! very value that the client goes on with.
//!
//! Which value that is, is known from what the clients were seen to send: the keys of the captured
//! payloads are those that their tools take, and `calls.json` has no others. Every hostile payload
//! here carries a forbidden call under those keys, so that it must never run, whatever stands
//! beside them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use tagout_agents::{Client, Kind, parse_shared};
use tagout_policy::catalogue::Catalogue;
use tagout_vocab::Role;

use crate::confined::Site;
use crate::hook_oracle::{Does, Said, said};
use crate::hooked::{Call, Line, fed, for_every_client, hook, site_for, written};

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::built_in().unwrap());

/// Names under which tools of some client take a path.
const PATHS: [&str; 6] = [
    "path",
    "file_path",
    "filePath",
    "notebook_path",
    "target_file",
    "uri",
];

/// Names under which tools of some client take a command.
const COMMANDS: [&str; 5] = ["command", "cmd", "command_line", "commandLine", "commands"];

/// Where clients tell the folder.
const TELLS: [&str; 6] = [
    "/cwd",
    "/working_dir",
    "/directory",
    "/workspaceInfo/rootPath",
    "/workspaceRoots",
    "/workspace_roots",
];

/// One hostile payload.
struct Sent {
    what: String,
    bytes: Vec<u8>,
}

impl Sent {
    fn new(what: impl Into<String>, payload: &Value) -> Self {
        Self {
            what: what.into(),
            bytes: payload.to_string().into_bytes(),
        }
    }
}

fn asked_in(site: &Site, (client, event): (Client, &str), bytes: &[u8], from: &Path) -> Said {
    let mut command = hook(site, &Line::of(client, event));
    command.current_dir(from);
    said(client, &fed(command, bytes))
}

fn payload(call: &Call, root: &Path) -> Value {
    serde_json::from_slice(&call.payload(root)).unwrap()
}

/// Every way to a value outside of the arguments.
fn ways(value: &Value, arguments: &Value, at: &str, found: &mut Vec<String>) {
    let Value::Object(map) = value else {
        return;
    };
    for (key, inner) in map {
        let way = format!("{at}/{key}");
        if inner != arguments {
            ways(inner, arguments, &way, found);
        }
        found.push(way);
    }
}

fn replaced(whole: &Value, way: &str, with: Value) -> Value {
    let mut whole = whole.clone();
    *whole.pointer_mut(way).unwrap() = with;
    whole
}

fn removed(whole: &Value, way: &str) -> Value {
    let mut whole = whole.clone();
    let (parent, key) = way.rsplit_once('/').unwrap();
    let parent = whole.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    parent.remove(key);
    whole
}

/// The arguments of a call in a payload.
fn arguments_of(client: Client, whole: &Value) -> &'static str {
    let ways = [
        "/tool_input",
        "/tool_call/input",
        "/output/args",
        "/tool_info",
    ];
    let found = ways.into_iter().find(|way| whole.pointer(way).is_some());
    found.unwrap_or_else(|| panic!("{client}"))
}

fn tool_of(whole: &Value) -> Option<&'static str> {
    let ways = ["/tool_name", "/tool_call/name", "/input/tool"];
    ways.into_iter().find(|way| whole.pointer(way).is_some())
}

/// Wrong and missing keys of the payload itself, a key twice, and bytes that are no text.
fn frames(client: Client, whole: &Value) -> Vec<Sent> {
    let arguments = whole.pointer(arguments_of(client, whole)).unwrap();
    let mut found = Vec::new();
    ways(whole, arguments, "", &mut found);
    let mut all = Vec::new();
    for way in &found {
        let original = whole.pointer(way).unwrap().clone();
        let wrong = [json!(7), json!([original])];
        for (at, with) in wrong.into_iter().enumerate() {
            let changed = replaced(whole, way, with);
            all.push(Sent::new(format!("{way} of wrong type {at}"), &changed));
        }
        all.push(Sent::new(format!("{way} is gone"), &removed(whole, way)));
    }
    let text = whole.to_string();
    let inner = text.strip_prefix('{').unwrap();
    for (key, value) in whole.as_object().unwrap() {
        let entry = format!("{}:{}", json!(key), value);
        all.push(Sent {
            what: format!("{key} twice"),
            bytes: format!("{{{entry},{inner}").into_bytes(),
        });
    }
    let mut broken = text.clone().into_bytes();
    let at = text.find("forbidden").unwrap();
    broken.insert(at, 0xff);
    all.push(Sent {
        what: "no UTF-8".to_owned(),
        bytes: broken,
    });
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    all.push(Sent {
        what: "nested".to_owned(),
        bytes: format!("{{\"deep\":{deep},{inner}").into_bytes(),
    });
    let mut large = whole.clone();
    large["more"] = "x".repeat(1 << 20).into();
    all.push(Sent::new("a large key beside it", &large));
    all.push(Sent {
        what: "more after it".to_owned(),
        bytes: format!("{text}{text}").into_bytes(),
    });
    all
}

/// Tools whose names only look like the known one.
fn names(whole: &Value) -> Vec<Sent> {
    let Some(way) = tool_of(whole) else {
        return Vec::new();
    };
    let name = whole.pointer(way).unwrap().as_str().unwrap();
    let alike = |text: &str| text.replace('e', "\u{435}").replace('i', "\u{456}");
    let others = [
        name.to_uppercase(),
        name.to_lowercase(),
        format!(" {name}"),
        format!("{name}\n"),
        format!("{name}\u{200b}"),
        format!("{name}\0"),
        format!("functions.{name}"),
        format!("mcp__x__{name}"),
        alike(name),
        "x".repeat(1 << 20),
    ];
    let one = |other: &String| {
        let shown: String = other.chars().take(20).collect();
        Sent::new(
            format!("tool {shown:?}"),
            &replaced(whole, way, json!(other)),
        )
    };
    others.iter().map(one).collect()
}

/// The keys of a call's arguments whose value holds a text.
fn keys_with(arguments: &Map<String, Value>, part: &str) -> Vec<String> {
    let holds =
        |(key, value): (&String, &Value)| value.to_string().contains(part).then(|| key.clone());
    arguments.iter().filter_map(holds).collect()
}

/// The forbidden path in other forms, and beside one that would be allowed.
fn paths(client: Client, whole: &Value, allowed: &str) -> Vec<Sent> {
    let way = arguments_of(client, whole);
    let arguments = whole.pointer(way).unwrap().as_object().unwrap();
    let mut all = Vec::new();
    for key in keys_with(arguments, "forbidden") {
        let value = &arguments[&key];
        let text = value.as_str().unwrap();
        let forms = [
            ("in a list", json!([value])),
            ("in a list with another", json!([allowed, value])),
            ("in an object", json!({"path": value})),
            ("behind NUL", json!(format!("{text}\0{allowed}"))),
            ("before NUL", json!(format!("{allowed}\0{text}"))),
            (
                "with a large tail",
                json!(format!("{text}{}", "/x".repeat(1 << 19))),
            ),
            ("with blanks", json!(format!("  {text} \n"))),
        ];
        for (form, with) in forms {
            let changed = replaced(whole, &format!("{way}/{key}"), with);
            all.push(Sent::new(format!("{key} {form}"), &changed));
        }
        for alias in PATHS.iter().filter(|alias| **alias != key) {
            // Before and after: which of two counts must not hang on their order.
            let mut first = Map::new();
            first.insert((*alias).to_owned(), allowed.into());
            first.extend(arguments.clone());
            let mut last = arguments.clone();
            last.insert((*alias).to_owned(), allowed.into());
            for (order, changed) in [("before", first), ("after", last)] {
                let changed = replaced(whole, way, changed.into());
                all.push(Sent::new(format!("{alias} {order} {key}"), &changed));
            }
        }
    }
    for form in [
        json!([arguments]),
        json!(7),
        json!("x"),
        json!({}),
        json!(null),
    ] {
        let changed = replaced(whole, way, form.clone());
        let shown: String = form.to_string().chars().take(10).collect();
        all.push(Sent::new(format!("arguments {shown}"), &changed));
    }
    all
}

/// The forbidden command in other forms, and beside a harmless one.
fn commands(client: Client, whole: &Value) -> Vec<Sent> {
    let way = arguments_of(client, whole);
    let arguments = whole.pointer(way).unwrap().as_object().unwrap();
    let mut all = Vec::new();
    for key in keys_with(arguments, "forbidden") {
        let given = &arguments[&key];
        let line = given.get(0).unwrap_or(given).clone();
        let text = line.as_str().unwrap();
        let words: Vec<&str> = text.split(' ').collect();
        let forms = [
            ("as words", json!(words)),
            ("as a list", json!([line])),
            ("as lists", json!([[line]])),
            ("as a line", line.clone()),
            ("as an object", json!({"command": line})),
            ("after another", json!(["ls", line])),
            (
                "behind a patch",
                json!(format!("*** Begin Patch\n*** End Patch\n{text}")),
            ),
            ("behind NUL", json!(format!("ls\0{text}"))),
            ("before NUL", json!(format!("{text}\0"))),
            (
                "with a large tail",
                json!(format!("{text} #{}", "x".repeat(1 << 20))),
            ),
        ];
        for (form, with) in forms {
            let changed = replaced(whole, &format!("{way}/{key}"), with);
            all.push(Sent::new(format!("{key} {form}"), &changed));
        }
        for alias in COMMANDS.iter().filter(|alias| **alias != key) {
            let harmless = if *alias == "commands" {
                json!(["ls"])
            } else {
                json!("ls")
            };
            let mut first = Map::new();
            first.insert((*alias).to_owned(), harmless.clone());
            first.extend(arguments.clone());
            let mut last = arguments.clone();
            last.insert((*alias).to_owned(), harmless);
            for (order, changed) in [("before", first), ("after", last)] {
                let changed = replaced(whole, way, changed.into());
                all.push(Sent::new(format!("{alias} {order} {key}"), &changed));
            }
        }
        for other in ["content", "path", "prompt", "url", "chars"] {
            let mut changed = arguments.clone();
            changed.insert(other.to_owned(), "x".into());
            let changed = replaced(whole, way, changed.into());
            all.push(Sent::new(format!("{other} beside {key}"), &changed));
        }
    }
    all
}

/// What runs although it must not, in words.
fn passed(client: Client, what: &str, said: &Said) -> Option<String> {
    let refused = matches!(said.does(), Does::Denies) && said.wrong.is_none();
    (!refused).then(|| format!("{client}: {what}: {said:?}"))
}

/// Whether an answer sends a command through `exec`, and the call is one of a tool that runs
/// commands and nothing else. Of any other tool the client would go on with the rest.
fn is_confined((client, event): (Client, &str), bytes: &[u8], said: &Said) -> bool {
    let rewritten = said.does() == Does::RunsRewritten && said.stdout.contains("--permit");
    let Ok(incoming) = parse_shared(client, event, bytes) else {
        return false;
    };
    let call = incoming.what.call().unwrap();
    let known = CATALOGUE.lookup(&call.origin, &call.tool);
    rewritten && known.is_some_and(|known| known.tool.role == Some(Role::Shell))
}

/// Sends all of it. What can't be read at all ends in the same denial every time, so that the
/// program is asked for it once.
fn holes(site: &Site, (client, event): (Client, &str), sent: &[Sent]) -> Vec<String> {
    let root = site.root();
    let is_read = |one: &&Sent| parse_shared(client, event, &one.bytes).is_ok();
    let (read, unread): (Vec<&Sent>, Vec<&Sent>) = sent.iter().partition(is_read);
    assert!(!read.is_empty() && !unread.is_empty(), "{client}");
    let asked = unread.into_iter().take(1).chain(read);
    let hole = |one: &Sent| {
        let said = asked_in(site, (client, event), &one.bytes, &root);
        let confined = is_confined((client, event), &one.bytes, &said);
        passed(client, &one.what, &said).filter(|_| !confined)
    };
    asked.filter_map(hole).collect()
}

fn hold(holes: &[String]) {
    assert!(
        holes.is_empty(),
        "{} run:\n{}",
        holes.len(),
        holes.join("\n")
    );
}

/// All that is wrong with a write outside of the scope leaves it refused.
fn writes(client: Client) {
    let site = site_for(&[client]);
    let root = site.root();
    let call = Call::write(client, ("main", "w"), "forbidden.txt", "new");
    let whole = payload(&call, &root);
    let allowed = root.join(format!("src/{client}/a.txt"));
    let mut sent = frames(client, &whole);
    sent.extend(names(&whole));
    sent.extend(paths(client, &whole, allowed.to_str().unwrap()));
    assert!(sent.len() > 30, "{client}: {}", sent.len());
    hold(&holes(&site, (client, &call.before()), &sent));
    // It is not that everything is refused.
    let call = written(client, "after");
    let said = asked_in(&site, (client, &call.before()), &call.payload(&root), &root);
    assert!(said.runs(), "{client}: {said:?}");
}

/// All that is wrong with a command that changes something leaves it refused or confined.
fn shells(client: Client) {
    let site = site_for(&[client]);
    let call = Call::shell(client, ("main", "c"), "touch forbidden.txt");
    let whole = payload(&call, &site.root());
    let mut sent = names(&whole);
    sent.extend(commands(client, &whole));
    let cut = call.payload(&site.root());
    sent.push(Sent {
        what: "cut off".to_owned(),
        bytes: cut[..cut.len() - 1].to_vec(),
    });
    hold(&holes(&site, (client, &call.before()), &sent));
}

/// A payload of another event is not what the line says, and a folder that is told is the one from
/// which paths count.
fn events(client: Client) {
    let site = site_for(&[client]);
    let root = site.root();
    let other = root.parent().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    symlink(root.join("src"), other.join("link")).unwrap();
    let mut holes = Vec::new();
    let call = written(client, "a");
    let shell = Call::shell(client, ("main", "e"), "touch forbidden.txt").before();
    let event = call.before();
    let bytes = call.payload(&root);
    // The client's own question comes after the event that decides.
    for another in client.events().filter(|one| one.kind == Kind::Pre) {
        if another.name != event && another.name != shell {
            let said = asked_in(&site, (client, another.name), &bytes, &root);
            holes.extend(passed(client, another.name, &said));
        }
    }
    let unknown = asked_in(&site, (client, "no-such-event"), &bytes, &root);
    holes.extend(passed(client, "an unknown event", &unknown));
    let text = String::from_utf8(bytes).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    let keys = [
        "hook_event_name",
        "hookName",
        "event",
        "hook",
        "agent_action_name",
    ];
    let key = keys.iter().find(|key| whole.get(**key).is_some()).unwrap();
    for another in client.events().filter(|one| !one.kind.is_tool()) {
        let wire = Value::from(another.wire).to_string();
        let named = text.replace(&whole[*key].to_string(), &wire);
        let said = asked_in(&site, (client, &event), named.as_bytes(), &root);
        holes.extend(passed(client, &format!("it is a {wire}"), &said));
    }
    holes.extend(folders(&site, client, &other));
    hold(&holes);
}

for_every_client!({
    hostile_writes_do_not_run => super::writes,
    hostile_commands_do_not_run => super::shells,
    hostile_events_and_folders_do_not_run => super::events,
});

/// A path that would be allowed from the workspace, told from elsewhere.
fn folders(site: &Site, client: Client, other: &Path) -> Vec<String> {
    let root = site.root();
    let link = other.join("link");
    let folders = [other, link.as_path(), Path::new("/"), Path::new("/nowhere")];
    let mut told: Vec<(String, Option<Value>)> = folders
        .iter()
        .map(|folder| (format!("told {}", folder.display()), Some(json!(folder))))
        .collect();
    told.push(("not told".to_owned(), None));
    told.push(("told in a list".to_owned(), Some(json!([root]))));
    told.push(("told relative".to_owned(), Some(json!("."))));
    let hole = |(at, (what, folder)): (usize, (String, Option<Value>))| {
        let name = format!("b{at}");
        let call = written(client, &name);
        let relative = format!("src/{client}/{name}.txt");
        let absolute = root.join(&relative).to_str().unwrap().to_owned();
        let whole = String::from_utf8(call.payload(&root)).unwrap();
        let mut whole: Value = serde_json::from_str(&whole.replace(&absolute, &relative)).unwrap();
        // Where the client tells none, what counts is where it starts the hook.
        for way in TELLS {
            if whole.pointer(way).is_none() {
                continue;
            }
            let list = way.ends_with("oots");
            whole = match &folder {
                Some(folder) if list => replaced(&whole, way, json!([folder])),
                Some(folder) => replaced(&whole, way, folder.clone()),
                None => removed(&whole, way),
            };
        }
        let bytes = whole.to_string().into_bytes();
        let said = asked_in(site, (client, &call.before()), &bytes, other);
        passed(client, &what, &said)
    };
    told.into_iter().enumerate().filter_map(hole).collect()
}
