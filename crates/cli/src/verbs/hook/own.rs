//! Lines that call Tagout itself, read word by word where nothing in them is left to a shell.

use std::path::Path;

use tagout_agents::quoted;

/// What a line does that calls Tagout and nothing else.
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
    /// What an agent may not say of intents.
    Beyond(Beyond),
    /// Another verb.
    Other,
}

/// How a line about intents says more than an agent may.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Beyond {
    /// It names a conversation.
    Session,
    /// It is a selection in other words than the hook performs.
    Words,
}

/// The name by which people call Tagout.
pub(super) const NAME: &str = "tagout";

const WORKSPACE: &str = "--workspace";
const STATE: &str = "--state-dir";
const PERMIT: &str = "--permit";
const SESSION: &str = "--session";

/// This program and the workspace that it answers for. `None` where a name is not text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Here {
    program: String,
    root: String,
    state: String,
}

impl Here {
    pub(super) fn new(program: Option<String>, root: &Path, state: &Path) -> Option<Self> {
        Some(Self {
            program: program?,
            root: root.to_str()?.to_owned(),
            state: state.to_str()?.to_owned(),
        })
    }

    /// The program's path.
    pub(super) fn program(&self) -> &str {
        &self.program
    }

    /// The words that tell where workspace and state lie.
    pub(super) fn places(&self) -> [&str; 4] {
        [WORKSPACE, &self.root, STATE, &self.state]
    }

    /// Whether a flag and its value tell one of these very places, which is noted then.
    fn tells(&self, (flag, value): (&str, &str), told: &mut Told) -> bool {
        let [workspace, root, state_dir, state] = self.places();
        let is_workspace = flag == workspace && value == root;
        let is_state = flag == state_dir && value == state;
        told.workspace |= is_workspace;
        told.state |= is_state;
        is_workspace || is_state
    }
}

/// A line that calls Tagout and nothing else.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Own {
    /// What it does.
    pub(super) what: OwnLine,
    /// The words after the program without those that tell the very places of the workspace, which
    /// anybody may give, and without the note of a selection, which the hook gives anew.
    words: Vec<String>,
    by_path: bool,
    told: Told,
}

/// Which of the workspace's own places are told.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Told {
    workspace: bool,
    state: bool,
}

/// The call of Tagout that a line is, if it is one, by its name or by this program's own path.
pub(super) fn own_line(line: &str, here: &Here) -> Option<Own> {
    let words = words(line)?;
    let (first, rest) = words.split_first()?;
    let by_path = *first == here.program;
    if first != NAME && !by_path {
        return None;
    }
    let (mut words, told) = without_places(rest, here);
    let plain: Vec<&str> = words.iter().map(String::as_str).collect();
    let what = match plain.as_slice() {
        ["intent", "select", id, more @ ..] if may_follow(more) => {
            OwnLine::Select((*id).to_owned())
        }
        ["exec", more @ ..] => exec(more)?,
        all => beyond(all).map_or(OwnLine::Other, OwnLine::Beyond),
    };
    if matches!(what, OwnLine::Select(_))
        && let Some(at) = words.iter().position(|word| word == PERMIT)
    {
        words.drain(at..at.saturating_add(2).min(words.len()));
    }
    Some(Own {
        what,
        words,
        by_path,
        told,
    })
}

/// What may stand behind a selection's id: how to answer, and the note of an earlier look at it.
fn may_follow(words: &[&str]) -> bool {
    matches!(
        words,
        [] | ["--json"] | [PERMIT, _] | ["--json", PERMIT, _] | [PERMIT, _, "--json"]
    )
}

/// Whether a line that is no selection as the hook performs it says more of intents than an agent
/// may: run as it stands, it would act in another conversation, or in nobody's.
fn beyond(words: &[&str]) -> Option<Beyond> {
    let own = || words.iter().take_while(|word| **word != "--");
    let verb: Vec<&str> = own()
        .filter(|word| !word.starts_with('-'))
        .copied()
        .collect();
    let selects = verb.starts_with(&["intent", "select"]);
    let is_named = |word: &&str| {
        let rest = word.strip_prefix(SESSION);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    if (selects || verb.starts_with(&["intent", "propose"])) && own().any(is_named) {
        return Some(Beyond::Session);
    }
    selects.then_some(Beyond::Words)
}

/// The words without those that tell the workspace's own places, and which of these there were.
/// What follows `--` is somebody else's.
fn without_places(words: &[String], here: &Here) -> (Vec<String>, Told) {
    let mut kept = Vec::new();
    let mut told = Told::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            kept.push(word.clone());
            kept.extend(rest.cloned());
            break;
        }
        let next = rest.as_slice().first();
        let joined = word.split_once('=');
        if joined.is_some_and(|joined| here.tells(joined, &mut told)) {
            continue;
        }
        if next.is_some_and(|value| here.tells((word, value), &mut told)) {
            rest.next();
        } else {
            kept.push(word.clone());
        }
    }
    (kept, told)
}

impl Own {
    /// Whether the words start this program whatever the search path says and, where `places` have
    /// to be told, tell them.
    pub(super) fn is_sure(&self, places: bool) -> bool {
        self.by_path && (!places || (self.told.workspace && self.told.state))
    }

    /// The words that are sure to: the program's path, and before anybody else's words the note of
    /// a selection and the places, as far as they are wanted.
    pub(super) fn sure(&self, here: &Here, permit: Option<&str>, places: bool) -> Vec<String> {
        let at = self.words.iter().position(|word| word == "--");
        let at = at.unwrap_or(self.words.len());
        let (own, others) = self.words.split_at_checked(at).unwrap_or_default();
        let permit = permit.into_iter().flat_map(|permit| [PERMIT, permit]);
        let places = places.then(|| here.places()).into_iter().flatten();
        let own = own.iter().map(String::as_str);
        let others = others.iter().map(String::as_str);
        let all = [here.program()].into_iter().chain(own).chain(permit);
        all.chain(places).chain(others).map(str::to_owned).collect()
    }

    /// The verb and what it is given, without options.
    pub(super) fn plain(&self) -> Vec<&str> {
        let words = self.words.iter().map(String::as_str);
        words.filter(|word| !word.starts_with('-')).collect()
    }
}

/// Words as one line.
pub(super) fn line_of(words: &[String]) -> String {
    quoted(words.iter().map(String::as_str))
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
