//! The page that shows the table of attacks.

use std::collections::BTreeMap;
use std::process::ExitCode;

use super::attack::{self, Attack, BY_THE_CLIENT, End};
use super::run::{self, Asks, Client};
use crate::error::XtaskError;
use crate::process::root;

const PAGE: &str = "docs/reference/attacks.md";
const BEGIN: &str = "<!-- the table begins -->\n";
const END: &str = "<!-- the table ends -->\n";

/// Writes the table into its page.
pub(crate) fn write() -> Result<ExitCode, XtaskError> {
    let path = root().join(PAGE);
    let text = std::fs::read_to_string(&path).map_err(XtaskError::file("read", &path))?;
    let new = page(&text)?;
    std::fs::write(&path, new).map_err(XtaskError::file("write", &path))?;
    Ok(ExitCode::SUCCESS)
}

/// The page with the table as the data has it.
fn page(text: &str) -> Result<String, XtaskError> {
    let marks = || XtaskError::Page {
        page: PAGE.to_owned(),
        line: 1,
        message: "the marks around the table are missing".to_owned(),
    };
    let (before, rest) = text.split_once(BEGIN).ok_or_else(marks)?;
    let (_, after) = rest.split_once(END).ok_or_else(marks)?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", table()?))
}

fn table() -> Result<String, XtaskError> {
    let attacks = attack::all()?;
    let clients = run::all()?;
    let version = |client: &Client| client.package.rsplit('@').next().map(str::to_owned);
    let heads = clients.iter().map(|(name, client)| {
        let version = version(client).unwrap_or_default();
        format!("`{name}` {version}")
    });
    let heads: Vec<String> = heads.collect();
    let mut text = format!("\n| the model | {} |\n", heads.join(" | "));
    text.push_str(&"|---".repeat(heads.len() + 1));
    text.push_str("|\n");
    for attack in &attacks {
        let cells = clients
            .iter()
            .map(|(name, client)| cell(attack, name, client));
        let cells: Vec<String> = cells.collect();
        let row = format!("| {} | {} |\n", attack.does, cells.join(" | "));
        text.push_str(&row);
    }
    text.push_str(&open(&attacks, &clients));
    text.push_str(&otherwise(&attacks));
    text.push_str(&modes(&attacks, &clients));
    text.push('\n');
    Ok(text)
}

fn cell(attack: &Attack, name: &str, client: &Client) -> String {
    if !attack.is_for(name) {
        return "it has no such way".to_owned();
    }
    let mut ends: Vec<(Vec<&str>, String)> = Vec::new();
    let mut own = Vec::new();
    for (mode, how) in &client.modes {
        let end = attack.end(name, client, mode);
        if how.asks != Asks::Never
            && matches!(&end, End::Refused(turns) if turns != &[BY_THE_CLIENT])
        {
            own.push(mode.as_str());
        }
        let end = shown(&end);
        match ends.iter_mut().find(|(_, other)| *other == end) {
            Some((modes, _)) => modes.push(mode),
            None => ends.push((vec![mode], end)),
        }
    }
    let all = ends.len() == 1;
    let parts = ends.into_iter().map(|(modes, end)| {
        let modes = modes.join(", ");
        if all { end } else { format!("{modes}: {end}") }
    });
    let own = (!own.is_empty()).then(|| format!("{}: also {BY_THE_CLIENT}", own.join(", ")));
    parts.chain(own).collect::<Vec<_>>().join("; ")
}

fn shown(end: &End) -> String {
    match end {
        End::Refused(turns) => {
            let mut all: Vec<String> = Vec::new();
            for one in turns.iter().flat_map(|turn| attack::outcomes(turn)) {
                // What only prepares the attempt is no end of it.
                if ["done", "failed", "applied"].contains(&one) {
                    continue;
                }
                let one = if one.starts_with('«') || one == BY_THE_CLIENT {
                    one.to_owned()
                } else {
                    format!("`{one}`")
                };
                if !all.contains(&one) {
                    all.push(one);
                }
            }
            format!("refused, {}", all.join(", "))
        }
        End::Open { .. } => "**open**".to_owned(),
    }
}

/// What is open, why, and what closes it.
fn open(attacks: &[Attack], clients: &BTreeMap<String, Client>) -> String {
    let mut lines = BTreeMap::new();
    for attack in attacks {
        for (name, client) in clients.iter().filter(|(name, _)| attack.is_for(name)) {
            for mode in client.modes.keys() {
                if let End::Open { because, closed_by } = attack.end(name, client, mode) {
                    let line = format!(
                        "\n- `{name}`, {}: because {because}; closed by {closed_by}",
                        attack.id
                    );
                    lines.insert((name, &attack.id), line);
                }
            }
        }
    }
    let lines: String = lines.into_values().collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\nOpen:\n{lines}\n")
    }
}

/// Why an attempt is another one with some clients, or ends otherwise.
fn otherwise(attacks: &[Attack]) -> String {
    let mut text = "\nOtherwise than with most clients:\n\n".to_owned();
    for attack in attacks {
        for (names, why) in attack.otherwise() {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let line = format!("- {}, {}: {why}\n", names.join(", "), attack.id);
            text.push_str(&line);
        }
    }
    text
}

/// The modes that are played, and why the default one is not.
fn modes(attacks: &[Attack], clients: &BTreeMap<String, Client>) -> String {
    let mut text = "\nThe modes:\n\n".to_owned();
    for (name, client) in clients {
        let played = client.modes.iter();
        let played = played.map(|(mode, how)| format!("`{mode}`: {}", how.lets));
        let played: Vec<String> = played.collect();
        let default = client.default_mode.as_ref();
        let default = default.map_or_else(String::new, |why| format!("; {why}"));
        let trust = trust(attacks, (name, client));
        let line = format!("- `{name}`: {}{default}{trust}\n", played.join("; "));
        text.push_str(&line);
    }
    text
}

/// What stands for a person's trust in the hooks, and where it is left out.
fn trust(attacks: &[Attack], (name, client): (&str, &Client)) -> String {
    let Some(argument) = &client.trusts else {
        return String::new();
    };
    let without = attacks.iter().filter(|attack| attack.is_untrusted(name));
    let without: Vec<&str> = without.map(|attack| attack.id.as_str()).collect();
    format!(
        "; every mode is started with `{argument}`, which stands for a person who has trusted the \
         hooks, but for {}",
        without.join(" and ")
    )
}

#[cfg(test)]
mod tests;
