//! The workspace that an event belongs to, where the hook's own line names none.
//!
//! The folder that the payload tells decides by its text alone in nearly every event. What comes
//! after that is dearer, and keeps a call from being nobody's: folders that a client does not tell,
//! links, files of a workspace that are named from outside, conversations that went elsewhere.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};
use tagout_agents::{Incoming, What, shell_call};
use tagout_gate::{Places, Site};
use tagout_vocab::SessionId;
use tagout_vocab::limits::PATH_BYTES_MAX;

use super::Job;
use crate::failure::Failure;
use crate::notes::Notes;

/// A workspace that a person registered.
struct Known {
    root: PathBuf,
    home: Option<PathBuf>,
    state: PathBuf,
}

/// The workspace: the one that was named, or the registered one that the event is about.
pub(super) fn places(job: &Job<'_>, incoming: &mut Incoming) -> Result<Option<Places>, Failure> {
    let state_home = job.place.state_dir.clone().ok_or_else(|| {
        Failure::invalid("the hook's command names no state folder")
            .hint("a person runs `tagout install` again")
    })?;
    if let Some(root) = job.place.workspace.clone() {
        return Ok(Some(Places { root, state_home }));
    }
    let known = registered(&state_home)?;
    let root = find(&known, incoming)?;
    Ok(root.map(|root| Places { root, state_home }))
}

fn registered(state_home: &Path) -> Result<Vec<Known>, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::failed(format!("`{}` can't be read: {error}", state_home.display()))
    };
    let mut known = Vec::new();
    for entry in std::fs::read_dir(state_home).map_err(unreadable)? {
        let state = entry.map_err(unreadable)?.path();
        if let Some(whereabouts) = Notes::of(&state).whereabouts()? {
            known.push(Known {
                root: whereabouts.root,
                home: whereabouts.homes.home,
                state,
            });
        }
    }
    Ok(known)
}

fn find(known: &[Known], incoming: &mut Incoming) -> Result<Option<PathBuf>, Failure> {
    if known.is_empty() {
        return Ok(None);
    }
    let told = Path::new(&incoming.context.cwd);
    if told.is_absolute()
        && let Some(one) = innermost(known, told)
    {
        return Ok(Some(one.root.clone()));
    }
    let Some(here) = here(told) else {
        if incoming.event.can_block() {
            return Err(Failure::failed(
                "nothing tells in which folder this happens, so nobody knows what governs it",
            ));
        }
        return Ok(None);
    };
    let is_told = !incoming.context.cwd.is_empty();
    let named = arguments(incoming).map(|arguments| named(known, arguments, &here));
    let mut candidates = named.unwrap_or_default();
    // A folder that the payload tells goes before what is named from there; the one in which the
    // client only happened to start the hook comes after it.
    let at = if is_told { 0 } else { candidates.len() };
    candidates.insert(at, here.clone());
    let session = incoming.context.session.clone();
    let by_text = candidates
        .iter()
        .find_map(|path| Some((path, innermost(known, path)?)));
    if let Some((path, one)) = by_text {
        one.visited(&session, *path == here)?;
        return Ok(Some(one.root.clone()));
    }
    let by_link = candidates
        .iter()
        .find_map(|path| Some((path, linked(known, path)?)));
    if let Some((path, (one, real))) = by_link {
        one.visited(&session, *path == here)?;
        if is_told && *path == here {
            moved(incoming, &real);
        }
        return Ok(Some(one.root.clone()));
    }
    // A conversation that began in a workspace stays governed, wherever its calls start from.
    let own = |one: &&Known| {
        Site::has_session(&one.state, &session) && !Notes::of(&one.state).is_visitor(&session)
    };
    Ok(known.iter().find(own).map(|one| one.root.clone()))
}

impl Known {
    /// Notes a conversation that only names files of this workspace, from outside: the rest of
    /// what it does is not this workspace's business.
    fn visited(&self, session: &SessionId, is_here: bool) -> Result<(), Failure> {
        if is_here || Site::has_session(&self.state, session) {
            return Ok(());
        }
        Notes::of(&self.state).visit(session)
    }
}

/// The folder that the payload tells; else the one in which the client started this process.
fn here(told: &Path) -> Option<PathBuf> {
    if told.is_absolute() {
        return Some(folded(told));
    }
    let own = std::env::current_dir().ok()?;
    Some(folded(&own.join(told)))
}

fn arguments(incoming: &Incoming) -> Option<&Map<String, Value>> {
    match &incoming.what {
        What::Pre(pre) => Some(&pre.call.arguments),
        What::Post(post) => Some(&post.call.arguments),
        What::Prompt { .. }
        | What::SessionStart { .. }
        | What::SessionEnd
        | What::SubagentStart { .. }
        | What::SubagentStop { .. }
        | What::Completion
        | What::ConfigChange { .. }
        | What::Other => None,
    }
}

/// The innermost workspace around a path, by its text.
fn innermost<'k>(known: &'k [Known], path: &Path) -> Option<&'k Known> {
    let around = known.iter().filter(|one| path.starts_with(&one.root));
    around.max_by_key(|one| one.root.components().count())
}

/// The innermost workspace around a path once links are followed, and the path without them.
fn linked<'k>(known: &'k [Known], path: &Path) -> Option<(&'k Known, PathBuf)> {
    let real = resolved(path)?;
    let around = known.iter().filter_map(|one| {
        let root = one.root.canonicalize().ok()?;
        real.starts_with(&root)
            .then(|| (root.components().count(), one))
    });
    let (_, one) = around.max_by_key(|(depth, _)| *depth)?;
    Some((one, real))
}

/// A path with its links followed, as far as it exists.
fn resolved(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|known| {
        let real = known.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(known).ok()?))
    })
}

/// The call starts in a folder that has another name inside the workspace.
fn moved(incoming: &mut Incoming, real: &Path) {
    let Some(real) = real.to_str() else {
        return;
    };
    real.clone_into(&mut incoming.context.cwd);
    match &mut incoming.what {
        What::Pre(pre) => real.clone_into(&mut pre.call.cwd),
        What::Post(post) => real.clone_into(&mut post.call.cwd),
        What::Prompt { .. }
        | What::SessionStart { .. }
        | What::SessionEnd
        | What::SubagentStart { .. }
        | What::SubagentStop { .. }
        | What::Completion
        | What::ConfigChange { .. }
        | What::Other => {}
    }
}

/// Every path that the arguments of a call could mean. Which of them are paths only the catalogue
/// knows; one too many costs a look, one too few would be a change that nobody governs.
fn named(known: &[Known], arguments: &Map<String, Value>, here: &Path) -> Vec<PathBuf> {
    let mut texts = Vec::new();
    for (key, value) in arguments {
        texts.push(key.as_str());
        collect(value, &mut texts);
    }
    let runs = shell_call(arguments).is_some();
    let home = known.iter().find_map(|one| one.home.as_deref());
    let mut paths = Vec::new();
    for text in texts {
        if runs {
            in_command(known, (text, home), here, &mut paths);
        }
        let lines = text.lines().filter_map(patched);
        let whole = std::iter::once(text);
        paths.extend(whole.chain(lines).filter_map(|one| path(one, home, here)));
    }
    paths
}

fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(map) => {
            for (key, value) in map {
                texts.push(key);
                collect(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The file that a line of a patch names.
fn patched(line: &str) -> Option<&str> {
    let named = line.strip_prefix("*** ").and_then(|rest| {
        let (_, path) = rest.split_once(": ")?;
        Some(path)
    });
    let diff = || {
        let path = line.strip_prefix("--- ").or(line.strip_prefix("+++ "))?;
        path.split('\t').next()
    };
    named.or_else(diff).map(str::trim)
}

/// What a command names: its words, and every workspace whose path stands in it.
fn in_command(
    known: &[Known],
    (text, home): (&str, Option<&Path>),
    here: &Path,
    paths: &mut Vec<PathBuf>,
) {
    let mut text = text.to_owned();
    if let Some(home) = home.and_then(Path::to_str) {
        text = text.replace("${HOME}", home).replace("$HOME", home);
    }
    let spoken = known.iter().filter(|one| {
        let root = one.root.to_str();
        root.is_some_and(|root| text.contains(root))
    });
    paths.extend(spoken.map(|one| one.root.clone()));
    let splits = |letter: char| letter.is_whitespace() || ";|&<>()'\"`=,:{}$".contains(letter);
    let words = text.split(splits).filter(|word| !word.is_empty());
    paths.extend(words.filter_map(|word| path(word, home, here)));
}

fn path(text: &str, home: Option<&Path>, here: &Path) -> Option<PathBuf> {
    let is_one =
        !text.is_empty() && text.len() <= PATH_BYTES_MAX && !text.chars().any(char::is_control);
    let text = is_one.then(|| text.strip_prefix("file://").unwrap_or(text))?;
    let whole = match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) | (None, _) => here.join(text),
    };
    Some(folded(&whole))
}

/// A path without `.` and `..`, by its text.
fn folded(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                folded.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => folded.push(part),
        }
    }
    folded
}
