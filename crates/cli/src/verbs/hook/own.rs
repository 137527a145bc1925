//! Lines that call Tagout itself, read word by word where nothing in them is left to a shell.

use tagout_agents::quoted;

/// A line that calls Tagout and nothing else.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum OwnLine {
    /// `intent select ID`.
    Select(String),
    /// `exec … -- COMMAND`.
    Exec {
        /// The options before `--`.
        options: Vec<String>,
        /// The words of the command.
        command: Vec<String>,
    },
    /// Another verb.
    Other,
}

/// The call of Tagout that a line is, if it is one, by its name or by this program's own path.
pub(super) fn own_line(line: &str, program: Option<&str>) -> Option<OwnLine> {
    let words = words(line)?;
    let (first, rest) = words.split_first()?;
    if first != NAME && Some(first.as_str()) != program {
        return None;
    }
    let plain: Vec<&str> = rest.iter().map(String::as_str).collect();
    Some(match plain.as_slice() {
        ["intent", "select", id] | ["intent", "select", id, "--json"] => {
            OwnLine::Select((*id).to_owned())
        }
        ["exec", more @ ..] => exec(more)?,
        _ => OwnLine::Other,
    })
}

/// The name by which people call Tagout.
pub(super) const NAME: &str = "tagout";

/// A line that calls Tagout by its name, with this program's path in the name's place.
pub(super) fn by_path(line: &str, program: &str) -> Option<String> {
    let rest = line.trim().strip_prefix(NAME)?;
    let named = rest.starts_with([' ', '\t']) && own_line(line, None).is_some();
    named.then(|| format!("{}{rest}", quoted([program])))
}

fn exec(words: &[&str]) -> Option<OwnLine> {
    let at = words.iter().position(|word| *word == "--")?;
    let (options, command) = words.split_at_checked(at)?;
    let command: Vec<String> = command
        .iter()
        .skip(1)
        .map(|word| (*word).to_owned())
        .collect();
    if command.is_empty() {
        return None;
    }
    Some(OwnLine::Exec {
        options: options.iter().map(|word| (*word).to_owned()).collect(),
        command,
    })
}

/// The options that an agent may give to `exec`.
pub(super) fn may_be_given(options: &[String]) -> bool {
    let mut words = options.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--json" | "--long-running" => {}
            "--intent" | "--timeout" if words.next().is_some() => {}
            other => {
                let (flag, value) = other.split_once('=').unwrap_or((other, ""));
                if !matches!(flag, "--intent" | "--timeout") || value.is_empty() {
                    return false;
                }
            }
        }
    }
    true
}

/// The words of a line in which a shell would find nothing but words. `None` where anything else
/// could be meant.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '$' | '`' | '\\' | '!' => return None,
                        inner => word.push(inner),
                    }
                }
            }
            // Between two quoted pieces this is how a single quote is written.
            '\\' => match letters.next()? {
                '\'' => word.get_or_insert_default().push('\''),
                _ => return None,
            },
            plain if plain.is_alphanumeric() || "-_./:@%+,=".contains(plain) => {
                word.get_or_insert_default().push(plain);
            }
            _ => return None,
        }
    }
    words.extend(word);
    // A word before the program that sets a variable is no word.
    let assigns = words.first().is_some_and(|first| first.contains('='));
    (!assigns).then_some(words)
}

#[cfg(test)]
mod tests;
