//! What belongs into a client's configuration files, and what comes out again.
//!
//! Everything here turns texts into texts: the caller reads the files that [`files`] names, hands
//! them over and writes what comes back. What others wrote into the same files stays, with its
//! order, its comments and its spaces.

mod beside;
mod block;
mod canary;
mod check;
mod command;
mod edit;
mod instructions;
mod jsonc;
mod open;
pub mod plan;
mod rules;
mod scripts;
mod settings;
pub mod sources;
mod toml;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use thiserror::Error;

pub use beside::beside;
pub use canary::{Canary, Registered, canary, is_canary, is_denial, registered};
pub use check::{Finding, FindingKind, check, is_sandboxed, loosened, places};
pub use instructions::{instruction_block, instruction_file, put_instructions, take_instructions};
pub use jsonc::TextError;
pub use open::stays_open;
pub use rules::{OwnRule, OwnRules, own_rules};

use crate::client::Client;
use crate::profile::Event;
use plan::{At, Base, Handler, Layout, Place, Scope};

/// The texts of files, as they are now; a file that is not there has none.
pub type Texts = BTreeMap<Place, String>;

/// What the hook's command consists of. All paths are absolute.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Binary {
    /// The program.
    pub program: String,
    /// The workspace, at project scope.
    pub workspace: Option<String>,
    /// The state folder.
    pub state: Option<String>,
}

/// What a file is to become.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileEdit {
    /// The file.
    pub place: Place,
    /// Its whole new text; `None` where the file goes.
    pub text: Option<String>,
    /// Whether it has to be executable.
    pub executable: bool,
}

/// Why hooks can't be installed or taken out.
#[derive(Debug, Error)]
pub enum InstallError {
    /// The client has no such place.
    #[error("`{client}` has no hooks at {} scope", scope.as_str())]
    NoScope {
        /// The client.
        client: Client,
        /// The scope.
        scope: Scope,
    },
    /// A file that can't be changed.
    #[error("`{path}` can't be changed; mend it, or take it away and try again")]
    Text {
        /// The file.
        path: String,
        /// What is wrong with it.
        source: TextError,
    },
    /// A file that somebody else wrote stands where ours has to.
    #[error("`{path}` is somebody else's; move it away and try again")]
    Occupied {
        /// The file.
        path: String,
    },
}

/// The client in whose files another's hooks stand.
fn host(client: Client) -> Client {
    let through = client.profile().install.through;
    through.and_then(Client::named).unwrap_or(client)
}

/// The file or folder of a client at a scope.
fn at(client: Client, scope: Scope) -> Result<At, InstallError> {
    let mut files = client.profile().install.files.iter();
    let found = files.find(|file| file.scope == scope).copied();
    found.ok_or(InstallError::NoScope { client, scope })
}

/// The files that [`install_plan`] and [`uninstall_plan`] change.
pub fn files(client: Client, scope: Scope) -> Result<Vec<Place>, InstallError> {
    let client = host(client);
    let at = at(client, scope)?;
    let beneath = |name: &str| Place::new(at.base, format!("{}/{name}", at.path));
    Ok(match client.profile().install.layout {
        Layout::Groups { .. } | Layout::Handlers { .. } | Layout::Triggers | Layout::PluginFile => {
            vec![at.place()]
        }
        Layout::PluginFolder { .. } => vec![beneath("plugin.json"), beneath("hooks/hooks.json")],
        Layout::Executables => client
            .registered()
            .map(|event| beneath(event.name))
            .collect(),
    })
}

/// What has to change so that the client calls the hook. Nothing where all is in place.
pub fn install_plan(
    client: Client,
    scope: Scope,
    binary: &Binary,
    texts: &Texts,
) -> Result<Vec<FileEdit>, InstallError> {
    let client = host(client);
    let mut edits = Vec::new();
    for place in files(client, scope)? {
        let old = texts.get(&place).map(String::as_str);
        let text = installed(client, &place, binary, old)?;
        if old != Some(text.as_str()) {
            let executable = matches!(client.profile().install.layout, Layout::Executables);
            edits.push(FileEdit {
                place,
                text: Some(text),
                executable,
            });
        }
    }
    Ok(edits)
}

/// What has to change so that the client calls the hook no more.
pub fn uninstall_plan(
    client: Client,
    scope: Scope,
    texts: &Texts,
) -> Result<Vec<FileEdit>, InstallError> {
    let client = host(client);
    let mut edits = Vec::new();
    for place in files(client, scope)? {
        let Some(old) = texts.get(&place) else {
            continue;
        };
        let text = uninstalled(client, &place, old)?;
        if text.as_ref() != Some(old) {
            edits.push(FileEdit {
                place,
                text,
                executable: false,
            });
        }
    }
    Ok(edits)
}

fn installed(
    client: Client,
    place: &Place,
    binary: &Binary,
    old: Option<&str>,
) -> Result<String, InstallError> {
    if let Some(script) = scripts::script(client, place, binary) {
        let free = old.is_none_or(|old| scripts::is_ours(client, place, old));
        return if free {
            Ok(script)
        } else {
            Err(occupied(place))
        };
    }
    let wrong = |source| InstallError::Text {
        path: place.path.clone(),
        source,
    };
    if place.is_toml() {
        let base = old.and_then(|old| block::take(old, block::TOML));
        let base = base.unwrap_or_default();
        toml::is_free(&base, "hooks").map_err(wrong)?;
        let held = held(client, place, &base).map_err(wrong)?;
        let tables = scripts::toml(client, binary, held);
        return Ok(block::put(old, block::TOML, &tables));
    }
    let base = match old {
        Some(old) => without_ours(client, place, old).map_err(wrong)?,
        None => None,
    };
    let entries = entries(client, place.base, binary);
    match base {
        None => edit::create(&entries, tail(client, place).as_ref()).map_err(wrong),
        Some(mut text) => {
            if place.base == Base::System
                && let Some(plan::Held { table, key }) =
                    held(client, place, &text).map_err(wrong)?
            {
                return Err(wrong(TextError::NotHeld { table, key }));
            }
            for (path, entry) in &entries {
                text = edit::put(&text, path, entry).map_err(wrong)?;
            }
            Ok(text)
        }
    }
}

/// The setting that our block has to hold because the rest of the file does not.
fn held(client: Client, place: &Place, base: &str) -> Result<Option<plan::Held>, TextError> {
    let Some(held) = client.profile().install.held else {
        return Ok(None);
    };
    let plan::Held { table, key } = held;
    if settings::setting(place, base, &format!("{table}.{key}"))? == Some(Value::Bool(true)) {
        return Ok(None);
    }
    // A table can't be written twice.
    if place.is_toml() && toml::names(base, table) {
        return Err(TextError::NotHeld { table, key });
    }
    Ok(Some(held))
}

fn uninstalled(client: Client, place: &Place, old: &str) -> Result<Option<String>, InstallError> {
    if scripts::is_script(client, place) {
        let ours = scripts::is_ours(client, place, old);
        return Ok((!ours).then(|| old.to_owned()));
    }
    if place.is_toml() {
        return Ok(block::take(old, block::TOML));
    }
    let wrong = |source| InstallError::Text {
        path: place.path.clone(),
        source,
    };
    without_ours(client, place, old).map_err(wrong)
}

fn without_ours(client: Client, place: &Place, old: &str) -> Result<Option<String>, TextError> {
    let ours = |value: &Value| command::is_ours(client, value);
    let tail = tail(client, place);
    let mut text = old.to_owned();
    if !old.contains("--client") {
        return Ok(Some(text));
    }
    let mut events: Vec<&Event> = client
        .events()
        .filter(|event| old.contains(event.name))
        .collect();
    // In the opposite order of putting in, so that each step undoes one.
    events.reverse();
    for event in events {
        match edit::take(&text, &path(client, event), &ours, tail.as_ref())? {
            Some(next) => text = next,
            None => return Ok(None),
        }
    }
    Ok(Some(text))
}

fn occupied(place: &Place) -> InstallError {
    InstallError::Occupied {
        path: place.path.clone(),
    }
}

/// The way to the list that holds an event's entries.
fn path(client: Client, event: &Event) -> Vec<&'static str> {
    match client.profile().install.layout {
        Layout::Groups { under, .. } => under.into_iter().chain([event.name]).collect(),
        Layout::Handlers { .. } | Layout::PluginFolder { .. } => vec!["hooks", event.name],
        Layout::Triggers => vec!["hooks"],
        Layout::PluginFile | Layout::Executables => Vec::new(),
    }
}

/// Every entry with the way to its list.
fn entries(client: Client, base: Base, binary: &Binary) -> Vec<(Vec<&'static str>, Value)> {
    let one = |event: &'static Event| (path(client, event), entry(client, base, event, binary));
    client.registered().map(one).collect()
}

fn entry(client: Client, base: Base, event: &Event, binary: &Binary) -> Value {
    let handled = |form: Handler| command::handler(client, event, binary, form.at(base));
    match client.profile().install.layout {
        Layout::Groups { handler, .. } | Layout::PluginFolder { handler } => {
            json!({ "hooks": [handled(handler)] })
        }
        Layout::Handlers { handler, .. } => handled(handler),
        Layout::Triggers => json!({
            "name": format!("tagout-{}", event.name),
            "trigger": event.name,
            "action": { "type": "command", "command": command::line(client, event, binary) },
            "timeout": event.wait_ms.unwrap_or_default().div_ceil(1_000),
            "enabled": true,
        }),
        Layout::PluginFile | Layout::Executables => Value::Null,
    }
}

/// What a new file says besides the hooks: its own format, or what keeps managed hooks on.
fn tail(client: Client, place: &Place) -> Option<edit::Tail> {
    let install = &client.profile().install;
    match (install.layout, install.held) {
        (Layout::Handlers { version: true, .. }, _) => Some(("version", Value::from(1))),
        (Layout::Triggers, _) => Some(("version", Value::from("v1"))),
        (Layout::Groups { .. }, Some(plan::Held { table, key })) => {
            (place.base == Base::System).then(|| (table, json!({ key: true })))
        }
        (
            Layout::Groups { .. }
            | Layout::Handlers { version: false, .. }
            | Layout::PluginFolder { .. }
            | Layout::PluginFile
            | Layout::Executables,
            _,
        ) => None,
    }
}
