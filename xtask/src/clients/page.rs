//! The page that shows the table of attacks.

use std::collections::BTreeMap;
use std::process::ExitCode;

use super::attack::{self, Attack, End};
use super::run;
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
    let names = attack::clients()?;
    let head = |name: &String| {
        let version = clients
            .get(name)
            .and_then(|client| client.package.rsplit('@').next());
        format!("`{name}` {}", version.unwrap_or_default())
    };
    let heads: Vec<String> = names.iter().map(head).collect();
    let mut text = format!("\n| the model | {} |\n", heads.join(" | "));
    text.push_str(&"|---".repeat(names.len() + 1));
    text.push_str("|\n");
    for attack in &attacks {
        let cells: Vec<String> = names.iter().map(|name| cell(attack, name)).collect();
        let row = format!("| {} | {} |\n", attack.does, cells.join(" | "));
        text.push_str(&row);
    }
    text.push_str(&open(&attacks));
    text.push('\n');
    Ok(text)
}

fn cell(attack: &Attack, client: &str) -> String {
    let Some(way) = attack.by.get(client) else {
        return "it has no such way".to_owned();
    };
    let ends: Vec<(&String, String)> = way
        .ends
        .iter()
        .map(|(mode, end)| (mode, shown(end)))
        .collect();
    if let Some((_, first)) = ends.first()
        && ends.iter().all(|(_, end)| end == first)
    {
        return first.clone();
    }
    let by_mode = ends.iter().map(|(mode, end)| format!("{mode}: {end}"));
    by_mode.collect::<Vec<_>>().join("; ")
}

fn shown(end: &End) -> String {
    match end {
        End::Refused(codes) => {
            let codes: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
            format!("refused, {}", codes.join(", "))
        }
        End::Said(words) => format!("refused, «{words}»"),
        End::Open { .. } => "**open**".to_owned(),
    }
}

/// What is open, why, and what closes it.
fn open(attacks: &[Attack]) -> String {
    let mut lines = BTreeMap::new();
    for attack in attacks {
        for (client, way) in &attack.by {
            for end in way.ends.values() {
                if let End::Open { because, closed_by } = end {
                    let line = format!(
                        "\n- `{client}`, {}: because {because}; closed by {closed_by}",
                        attack.id
                    );
                    lines.insert((client, &attack.id), line);
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

#[cfg(test)]
mod tests;
