//! What would be open: hooks that are missing, old, switched off or beside others.

use serde_json::Value;

use super::plan::{Does, Off, Place, Scope, Switch};
use super::settings::setting;
use super::{
    Binary, Texts, command, files, host, install_plan, instruction_file, jsonc, path, scripts,
    stays_open,
};
use crate::client::Client;
use crate::profile::{Event, Evidence};

/// One thing that a person should know about a client's hooks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The file it is about.
    pub place: Option<Place>,
    /// The words.
    pub text: String,
}

/// What a finding is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum FindingKind {
    /// A setting switches hooks off: nothing is governed.
    SwitchedOff,
    /// A file can't be read, so nobody knows what the client makes of it.
    Unreadable,
    /// The hooks of some events are not there.
    Missing,
    /// They are there, and not as they would be written now.
    Outdated,
    /// A setting takes the client's own questions or walls away: only the hooks still stand.
    Loosened,
    /// Hooks of others stand beside ours; one of them may change what a tool gets.
    Foreign,
    /// Something that a person has to do in the client.
    Needs,
    /// Something that stays open by the client's own limits.
    Open,
    /// The client was never run against Tagout.
    NeverRun,
    /// All hooks are in place.
    Installed,
}

/// Every file that [`check`] and [`own_rules`](super::own_rules) look at.
pub fn places(client: Client) -> Vec<Place> {
    let install = &client.profile().install;
    let mut places: Vec<Place> = Scope::ALL
        .iter()
        .filter_map(|scope| files(client, *scope).ok())
        .flatten()
        .collect();
    places.extend(install.switches.iter().map(|switch| switch.at.place()));
    places.extend(install.rules.iter().map(|source| source.at.place()));
    if let Some(sandbox) = install.sandbox {
        let settings = sandbox.on.iter().chain(sandbox.off);
        places.extend(settings.map(|switch| switch.at.place()));
    }
    places.push(instruction_file(client));
    places.sort();
    places.dedup();
    places
}

/// What would be open with the files as they are. `binary` is what `install` would write now.
pub fn check(client: Client, scope: Scope, binary: &Binary, texts: &Texts) -> Vec<Finding> {
    let profile = client.profile();
    let mut findings = Vec::new();
    let mut add = |kind, place: Option<&Place>, text: String| {
        findings.push(Finding {
            kind,
            place: place.cloned(),
            text,
        });
    };
    for switch in profile.install.switches {
        switched(switch, scope, texts, &mut add);
    }
    installed(client, scope, binary, texts, &mut add);
    for need in profile.install.needs {
        add(FindingKind::Needs, None, (*need).to_owned());
    }
    for open in stays_open(client) {
        add(FindingKind::Open, None, open);
    }
    if let Evidence::Read { source } = profile.evidence {
        let text = format!("never run against Tagout; what is known comes from {source}");
        add(FindingKind::NeverRun, None, text);
    }
    findings.sort_by_key(|finding| finding.kind);
    findings
}

/// The settings of a client that take its own questions or walls away, whoever made them so, with
/// the files that they stand in.
pub fn loosened(client: Client, texts: &Texts) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |kind, place: Option<&Place>, text: String| {
        if kind == FindingKind::Loosened {
            let file = place.map_or("", |place| place.path.as_str());
            found.push(format!("{file}: {text}"));
        }
    };
    for switch in client.profile().install.switches {
        // They loosen at every scope alike.
        switched(switch, Scope::Project, texts, &mut add);
    }
    found
}

type Add<'a> = &'a mut dyn FnMut(FindingKind, Option<&Place>, String);

fn switched(switch: &Switch, scope: Scope, texts: &Texts, add: Add<'_>) {
    let place = switch.at.place();
    let Some(text) = texts.get(&place) else {
        return;
    };
    match setting(&place, text, switch.way) {
        Err(error) => add(FindingKind::Unreadable, Some(&place), error.to_string()),
        Ok(Some(value)) if is_off(switch.off, &value) => {
            let kind = match (switch.does, scope) {
                (Does::StopsUnmanaged, Scope::Managed) => return,
                (Does::StopsAll | Does::StopsUnmanaged, _) => FindingKind::SwitchedOff,
                (Does::Loosens, _) => FindingKind::Loosened,
            };
            let text = format!("`{}` is {value}: {}", switch.way, switch.means);
            add(kind, Some(&place), text);
        }
        Ok(_) => {}
    }
}

/// Whether commands of the client's agents run in a sandbox of the client's own, as far as its
/// settings tell.
pub fn is_sandboxed(client: Client, texts: &Texts) -> bool {
    let Some(sandbox) = client.profile().install.sandbox else {
        return false;
    };
    let holds = |switch: &Switch| {
        let place = switch.at.place();
        let found = texts
            .get(&place)
            .map(|text| setting(&place, text, switch.way));
        match found {
            Some(Ok(Some(value))) => is_off(switch.off, &value),
            Some(Ok(None) | Err(_)) | None => false,
        }
    };
    let on = sandbox.by_default || sandbox.on.iter().any(holds);
    on && !sandbox.off.iter().any(holds)
}

fn is_off(off: Off, value: &Value) -> bool {
    match off {
        Off::True => *value == Value::Bool(true),
        Off::False => *value == Value::Bool(false),
        Off::Word(word) => value.as_str() == Some(word),
        Off::Filled => value.as_array().is_some_and(|items| !items.is_empty()),
        Off::Set => !matches!(value, Value::Null | Value::Bool(false)),
    }
}

fn installed(client: Client, scope: Scope, binary: &Binary, texts: &Texts, add: Add<'_>) {
    let client = host(client);
    let Ok(places) = files(client, scope) else {
        let text = format!("there are no hooks at {} scope", scope.as_str());
        return add(FindingKind::Missing, None, text);
    };
    let mut missing = false;
    for place in &places {
        let text = texts.get(place).map(String::as_str);
        let gone = absent(client, place, text);
        if !gone.is_empty() {
            missing = true;
            add(
                FindingKind::Missing,
                Some(place),
                format!("no hook for {}", gone.join(", ")),
            );
        }
    }
    match install_plan(client, scope, binary, texts) {
        Err(error) => add(FindingKind::Unreadable, None, error.to_string()),
        Ok(edits) if !edits.is_empty() && !missing => {
            let text = "the hooks are not as `install` would write them now".to_owned();
            add(
                FindingKind::Outdated,
                edits.first().map(|edit| &edit.place),
                text,
            );
        }
        Ok(edits) if edits.is_empty() => {
            add(
                FindingKind::Installed,
                places.first(),
                "all hooks are in place".to_owned(),
            );
        }
        Ok(_) => {}
    }
}

/// The registered events that have no hook of ours in a file.
fn absent(client: Client, place: &Place, text: Option<&str>) -> Vec<&'static str> {
    if scripts::is_script(client, place) {
        let there = text.is_some_and(|text| scripts::is_ours(client, place, text));
        let name = place.path.rsplit('/').next().unwrap_or_default();
        let event = client.event(name).map_or("any event", |event| event.name);
        return if there { Vec::new() } else { vec![event] };
    }
    let names = client.registered().map(|event| event.name);
    let text = text.unwrap_or_default();
    if place.is_toml() {
        return names
            .filter(|name| !text.contains(&format!("--event {name} ")))
            .collect();
    }
    let lists = |event: &Event| list(client, event, text);
    client
        .registered()
        .filter(|event| {
            let own = format!("--event {}", event.name);
            let names = |value: &Value| {
                let shown = value.to_string().replace("\",\"", " ");
                command::is_ours(client, value) && shown.contains(&own)
            };
            !lists(event).iter().any(names)
        })
        .map(|event| event.name)
        .collect()
}

/// The entries of an event.
fn list(client: Client, event: &Event, text: &str) -> Vec<Value> {
    let root = jsonc::read(text).ok().flatten();
    let way = path(client, event);
    let node = root.as_ref().and_then(|root| {
        let mut node = root;
        for key in &way {
            node = node.get(key)?;
        }
        Some(node.to_value())
    });
    match node {
        Some(Value::Array(items)) => items,
        Some(_) | None => Vec::new(),
    }
}
