//! Files that are ours as a whole: a plugin, its manifest, an executable for each event.

use serde_json::{Value, json};

use super::plan::{Held, Layout, Place};
use super::{Binary, command};
use crate::client::Client;
use crate::profile::Event;
use crate::shell::quoted;

const PLUGIN: &str = include_str!("../../data/opencode-plugin.js");

/// The first line of a script of ours, by which it is known again.
const SIGN: &str = "Written by `tagout install";

/// Whether a file is ours as a whole.
pub(crate) fn is_script(client: Client, place: &Place) -> bool {
    match client.profile().install.layout {
        Layout::PluginFile | Layout::Executables => true,
        Layout::PluginFolder { .. } => place.path.ends_with("/plugin.json"),
        Layout::Groups { .. } | Layout::Handlers { .. } | Layout::Triggers => false,
    }
}

/// Whether a file that stands where ours does is ours.
pub(crate) fn is_ours(client: Client, place: &Place, text: &str) -> bool {
    match client.profile().install.layout {
        Layout::PluginFolder { .. } => {
            let manifest: Option<Value> = serde_json::from_str(text).ok();
            manifest.is_some_and(|manifest| manifest == self::manifest())
        }
        Layout::PluginFile
        | Layout::Executables
        | Layout::Groups { .. }
        | Layout::Handlers { .. }
        | Layout::Triggers => {
            is_script(client, place) && text.lines().take(2).any(|line| line.contains(SIGN))
        }
    }
}

/// The whole text of such a file.
pub(crate) fn script(client: Client, place: &Place, binary: &Binary) -> Option<String> {
    if !is_script(client, place) {
        return None;
    }
    match client.profile().install.layout {
        Layout::PluginFile => Some(plugin(client, binary)),
        Layout::PluginFolder { .. } => Some(format!("{:#}\n", manifest())),
        Layout::Executables => executable(client, place, binary),
        Layout::Groups { .. } | Layout::Handlers { .. } | Layout::Triggers => None,
    }
}

fn manifest() -> Value {
    json!({
        "name": "tagout",
        "version": "1.0.0",
        "description": "Asks Tagout before every tool; written by `tagout install`",
    })
}

fn plugin(client: Client, binary: &Binary) -> String {
    let waits: serde_json::Map<String, Value> = client
        .registered()
        .map(|event| (event.name.to_owned(), Value::from(event.wait_ms)))
        .collect();
    PLUGIN
        .replace(
            "{program}",
            &Value::from(binary.program.as_str()).to_string(),
        )
        .replace("{words}", &json!(command::places(binary)).to_string())
        .replace("{waits}", &Value::Object(waits).to_string())
}

/// A shell script, because a program of another kind is not started; its output is passed on only
/// when the hook ended well, because the code that it ends with is not looked at.
fn executable(client: Client, place: &Place, binary: &Binary) -> Option<String> {
    let name = place.path.rsplit('/').next()?;
    let event = client.event(name)?;
    let arguments = command::arguments(client, event, binary);
    let call = quoted(
        [binary.program.as_str()]
            .into_iter()
            .chain(arguments.iter().map(String::as_str)),
    );
    let otherwise = if event.can_block() {
        let reason = "tagout: the hook failed, so the call is denied";
        let denial = json!({ "cancel": true, "errorMessage": reason }).to_string();
        format!("printf '%s\\n' {}", quoted([denial.as_str()]))
    } else {
        "true".to_owned()
    };
    Some(format!(
        "#!/bin/sh\n# {SIGN} {client}`, taken out by `tagout uninstall {client}`.\n\
         if out=$({call}); then [ -z \"$out\" ] || printf '%s\\n' \"$out\"; else {otherwise}; fi\n"
    ))
}

/// The hooks as TOML tables.
pub(crate) fn toml(client: Client, binary: &Binary, held: Option<Held>) -> String {
    let held = held.map(|Held { table, key }| format!("[{table}]\n{key} = true\n"));
    let table = |event: &'static Event| {
        let name = event.name;
        let line = Value::from(command::line(client, event, binary));
        let wait = event.wait_ms.unwrap_or_default().div_ceil(1_000);
        format!(
            "[[hooks.{name}]]\n[[hooks.{name}.hooks]]\ntype = \"command\"\ncommand = {line}\n\
             timeout = {wait}\n"
        )
    };
    held.into_iter()
        .chain(client.registered().map(table))
        .collect()
}
