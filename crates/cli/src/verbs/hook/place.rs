//! The workspace that an event belongs to, where the hook's own line names none.
//!
//! The folder that the payload tells decides by its text alone in nearly every event. What comes
//! after that is dearer, and keeps a call from being nobody's: folders that a client does not tell,
//! links, files of a workspace that are named from outside, conversations that went elsewhere.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tagout_agents::{Incoming, shell_call};
use tagout_gate::{Places, Site};
use tagout_vocab::SessionId;
use tagout_vocab::limits::PATH_BYTES_MAX;

use super::{Job, above};
use crate::failure::Failure;
use crate::notes::Notes;
use crate::site::folded;

/// Where an event belongs.
pub(super) struct Belongs {
    /// The workspace that answers.
    pub(super) places: Places,
    /// The roots that a call must leave alone which is otherwise nobody's.
    pub(super) spared: Vec<PathBuf>,
}

/// A workspace that a person registered.
struct Known {
    root: PathBuf,
    /// The same without links, looked up once.
    real: OnceCell<Option<PathBuf>>,
    home: Option<PathBuf>,
    state: PathBuf,
}

/// The workspace: the one that was named, or the registered one that the event is about.
pub(super) fn places(job: &Job<'_>, incoming: &mut Incoming) -> Result<Option<Belongs>, Failure> {
    let state_home = job.place.state_dir.clone().ok_or_else(|| {
        Failure::invalid("the hook's command names no state folder")
            .hint("a person runs `tagout install` again")
    })?;
    if let Some(root) = job.place.workspace.clone() {
        settled(&root, incoming);
        let places = Places { root, state_home };
        let spared = Vec::new();
        return Ok(Some(Belongs { places, spared }));
    }
    let known = registered(&state_home)?;
    let (one, spared) = match find(&known, incoming)? {
        Found::In(one) => (one, Vec::new()),
        Found::Beside(one, spared) => (one, spared),
        Found::Nowhere => return Ok(None),
    };
    let root = one.root.clone();
    let places = Places { root, state_home };
    Ok(Some(Belongs { places, spared }))
}

/// Says in the workspace's own words where a call starts. A path that begins nowhere begins where
/// the client started this process.
fn settled(root: &Path, incoming: &mut Incoming) {
    let told = Path::new(&incoming.context.cwd);
    if told.starts_with(root) {
        return;
    }
    let Some(here) = here(told) else {
        return;
    };
    let inside = || {
        let (real, root) = (resolved(&here)?, root.canonicalize().ok()?);
        Some(real).filter(|real| real.starts_with(root))
    };
    let real = inside().unwrap_or_else(|| folded(&here));
    moved(incoming, &real);
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
                real: OnceCell::new(),
                home: whereabouts.homes.home,
                state,
            });
        }
    }
    Ok(known)
}

/// What was found about an event.
enum Found<'k> {
    /// It belongs to this workspace.
    In(&'k Known),
    /// It is nobody's, if it leaves these roots alone, which this workspace can tell.
    Beside(&'k Known, Vec<PathBuf>),
    /// It is nobody's.
    Nowhere,
}

fn find<'k>(known: &'k [Known], incoming: &mut Incoming) -> Result<Found<'k>, Failure> {
    if known.is_empty() {
        return Ok(Found::Nowhere);
    }
    let told = Path::new(&incoming.context.cwd);
    let session = incoming.context.session.clone();
    if told.is_absolute()
        && let Some(one) = innermost(known, told)
    {
        one.entered(&session);
        return Ok(Found::In(one));
    }
    let Some(here) = here(told) else {
        if incoming.event.can_block() {
            return Err(Failure::failed(
                "nothing tells in which folder this happens, so nobody knows what governs it",
            ));
        }
        return Ok(Found::Nowhere);
    };
    let is_told = !incoming.context.cwd.is_empty();
    let own = around(known, &here);
    moved(
        incoming,
        own.as_ref().map_or(&folded(&here), |(_, real)| real),
    );
    if let Some((one, _)) = &own {
        one.entered(&session);
        if is_told {
            return Ok(Found::In(one));
        }
    }
    let call = incoming.what.call();
    let named = call.map(|call| named(known, &call.arguments, &here));
    let named = named.unwrap_or_default();
    let mut governing: Vec<&Known> = own.iter().map(|(one, _)| *one).collect();
    for one in named.iter().filter_map(|path| Some(around(known, path)?.0)) {
        if !governing.iter().any(|other| other.root == one.root) {
            governing.push(one);
        }
    }
    match governing.as_slice() {
        [one, another, ..] if incoming.event.can_block() => Err(of_two(one, another)),
        [one, ..] => {
            if own.is_none() {
                one.visited(&session)?;
            }
            Ok(Found::In(one))
        }
        // A conversation that began in a workspace stays governed, wherever its calls start from.
        [] => Ok(match known.iter().find(|one| hosts(one, incoming)) {
            Some(one) => Found::In(one),
            None => beside(known, incoming, &named),
        }),
    }
}

/// Whether a conversation began in a workspace, or the one that it is a part of.
fn hosts(one: &Known, incoming: &Incoming) -> bool {
    let parent = incoming.context.parent.as_ref();
    one.hosts(&incoming.context.session) || parent.is_some_and(|parent| one.hosts(parent))
}

/// A call that could be the business of two workspaces is that of neither.
fn of_two(one: &Known, another: &Known) -> Failure {
    let (one, another) = (one.root.display(), another.root.display());
    Failure::invalid(format!(
        "the call concerns two workspaces, `{one}` and `{another}`, and each would judge only a \
         part of it"
    ))
    .hint("make one call for each of them")
}

/// A call that starts outside and names no file of a workspace, and yet may reach one from above.
fn beside<'k>(known: &'k [Known], incoming: &Incoming, named: &[PathBuf]) -> Found<'k> {
    let Some(call) = incoming.what.call().filter(|_| incoming.event.can_block()) else {
        return Found::Nowhere;
    };
    // A command may go up before it names anything.
    let climbs = || {
        let mut texts = Vec::new();
        call.arguments
            .values()
            .for_each(|value| collect(value, &mut texts));
        shell_call(&call.arguments).is_some() && texts.iter().any(|text| above::climbs(text))
    };
    let reached = |one: &&Known| named.iter().any(|path| above::hits(path, &one.root));
    let first = known.iter().find(reached);
    let first = first.or_else(|| known.first().filter(|_| climbs()));
    // What is gone can't be harmed, and nothing is left that could tell.
    let spared: Vec<&Known> = known.iter().filter(|one| one.root.is_dir()).collect();
    let judges = spared
        .iter()
        .find(|one| first.is_some_and(|first| one.root == first.root));
    match first.and(judges.or(spared.first())) {
        Some(one) => Found::Beside(one, spared.iter().map(|one| one.root.clone()).collect()),
        None => Found::Nowhere,
    }
}

impl Known {
    /// Notes a conversation that only names files of this workspace, from outside: the rest of
    /// what it does is not this workspace's business.
    fn visited(&self, session: &SessionId) -> Result<(), Failure> {
        let notes = Notes::of(&self.state);
        if notes.has_begun(session) || Site::has_session(&self.state, session) {
            return Ok(());
        }
        notes.visit(session)
    }

    /// A conversation that comes in is no visitor any more.
    fn entered(&self, session: &SessionId) {
        Notes::of(&self.state).stay(session);
    }

    /// Whether a conversation began here.
    fn hosts(&self, session: &SessionId) -> bool {
        let notes = Notes::of(&self.state);
        let known = Site::has_session(&self.state, session) || notes.has_begun(session);
        known && !notes.is_visitor(session)
    }

    fn real(&self) -> Option<&Path> {
        let looked_up = || self.root.canonicalize().ok();
        self.real.get_or_init(looked_up).as_deref()
    }
}

/// The folder that the payload tells; else the one in which the client started this process.
fn here(told: &Path) -> Option<PathBuf> {
    if told.is_absolute() {
        return Some(told.to_owned());
    }
    let own = std::env::current_dir().ok()?;
    Some(own.join(told))
}

/// The innermost workspace around a path and the path as it lies there, by its text or by what the
/// links in it lead to, which differ where it goes up again behind a link.
fn around<'k>(known: &'k [Known], path: &Path) -> Option<(&'k Known, PathBuf)> {
    let plain = folded(path);
    let by_text = innermost(known, &plain).map(|one| (one, plain));
    by_text.or_else(|| linked(known, path))
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
        let root = one.real()?;
        real.starts_with(root)
            .then(|| (root.components().count(), one))
    });
    let (_, one) = around.max_by_key(|(depth, _)| *depth)?;
    Some((one, real))
}

/// A path with its links followed, as far as it exists.
pub(super) fn resolved(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|known| {
        let real = known.canonicalize().ok()?;
        Some(folded(&real.join(path.strip_prefix(known).ok()?)))
    })
}

/// The call starts in a folder that has another name inside the workspace.
fn moved(incoming: &mut Incoming, real: &Path) {
    let Some(real) = real.to_str() else {
        return;
    };
    real.clone_into(&mut incoming.context.cwd);
    if let Some(call) = incoming.what.call_mut() {
        real.clone_into(&mut call.cwd);
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

/// The paths that the texts among some arguments are.
pub(super) fn plain_paths(arguments: &Map<String, Value>, here: &Path) -> Vec<PathBuf> {
    let mut texts = Vec::new();
    for value in arguments.values() {
        collect(value, &mut texts);
    }
    let paths = texts.into_iter().filter_map(|text| path(text, None, here));
    paths.map(|path| folded(&path)).collect()
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
    paths.extend(spoken(known, &text));
    let splits = |letter: char| letter.is_whitespace() || ";|&<>()'\"`=,:{}$".contains(letter);
    let words = text.split(splits).filter(|word| !word.is_empty());
    paths.extend(words.filter_map(|word| path(word, home, here)));
}

/// The workspaces whose paths stand in a text, each the innermost that is meant there.
fn spoken(known: &[Known], text: &str) -> Vec<PathBuf> {
    let at = |rest: &str| {
        let names = known.iter().filter(|one| {
            let root = one.root.to_str();
            let after = root.and_then(|root| rest.strip_prefix(root));
            after.is_some_and(|after| !after.starts_with(is_of_a_name))
        });
        names.max_by_key(|one| one.root.as_os_str().len())
    };
    let starts = text
        .match_indices('/')
        .filter_map(|(start, _)| text.get(start..));
    starts.filter_map(at).map(|one| one.root.clone()).collect()
}

/// Whether a letter goes on with a name, so that it is another one.
fn is_of_a_name(letter: char) -> bool {
    letter.is_alphanumeric() || "-_.".contains(letter)
}

fn path(text: &str, home: Option<&Path>, here: &Path) -> Option<PathBuf> {
    let is_one =
        !text.is_empty() && text.len() <= PATH_BYTES_MAX && !text.chars().any(char::is_control);
    let text = is_one.then(|| text.strip_prefix("file://").unwrap_or(text))?;
    let tilde = text.strip_prefix('~');
    let below = tilde.and_then(|rest| {
        Path::new(rest)
            .strip_prefix("/")
            .ok()
            .or((rest.is_empty()).then_some(Path::new("")))
    });
    Some(match (below, home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) | (None, _) => here.join(text),
    })
}
