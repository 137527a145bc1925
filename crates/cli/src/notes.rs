//! What the hook notes for the processes that come after it: open calls, commands that it sent
//! through `exec`, selections that it made. All of it lies in the workspace's state.

pub(crate) mod homes;
mod sent;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tagout_agents::PairingKey;
use tagout_vocab::limits::{
    HOOK_NOTE_BYTES_MAX, HOOK_NOTE_MS_MAX, HOOK_NOTES_MAX, PERMIT_OPEN_MS_MAX, SESSION_KEPT_MS,
    TIDY_INTERVAL_MS,
};
use tagout_vocab::{CallId, Digest, IntentId, SessionId, Timestamp};
use tagout_workspace::files;

use crate::failure::Failure;
use homes::Homes;
pub(crate) use sent::{Comes, Sent, line_digest};

/// Where a workspace, its user's home and that user's policy lie. Written by people's verbs,
/// because the hook believes no environment.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Whereabouts {
    /// The workspace.
    pub(crate) root: PathBuf,
    /// The folder of the person's own policy.
    pub(crate) config: Option<PathBuf>,
    /// The person's home, and what variables move of it.
    #[serde(flatten)]
    pub(crate) homes: Homes,
}

/// A call that waits for its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Open {
    /// What ties the result to it.
    pub(crate) key: PairingKey,
    /// The same with the arguments that the client was given instead, where it was.
    #[serde(default)]
    pub(crate) rewritten: Option<PairingKey>,
    /// The commands of both, where they have some: clients fill other arguments in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lines: Option<Lines>,
    /// What was admitted.
    pub(crate) what: Admitted,
    /// The call's name in the ledger, where the client gives its calls names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<CallId>,
    /// A commitment to the command that was asked for, in case nobody reports what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<Asked>,
}

/// A commitment to a command, as an event will hold it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) salt: [u8; 32],
    pub(crate) digest: Digest,
}

/// The commands that a call was asked with, and those that it was given instead.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Lines {
    pub(crate) asked: Digest,
    pub(crate) given: Digest,
}

/// What was admitted.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Admitted {
    /// The client executes it; the engine holds a permit.
    Guard(CallId),
    /// `tagout exec` executes it.
    Exec(String),
    /// It was performed by the hook.
    Done,
}

/// A selection that the hook made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Selected {
    /// What was selected.
    pub(crate) intent: IntentId,
    /// For which conversation.
    pub(crate) session: SessionId,
    /// What the agent is told.
    pub(crate) context: String,
    /// When.
    pub(crate) at: Timestamp,
}

/// A hook that ran although nothing registers it any more.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gone {
    /// The client.
    pub(crate) client: String,
    /// What was found.
    pub(crate) what: String,
}

/// The notes of one workspace.
#[derive(Clone, Debug)]
pub(crate) struct Notes {
    folder: PathBuf,
}

fn short(digest: Digest) -> String {
    digest.short_hex(32)
}

impl Notes {
    /// The notes in a state folder.
    pub(crate) fn of(state: &Path) -> Self {
        Self {
            folder: state.join("hook"),
        }
    }

    /// The notes of every workspace whose state lies in a folder.
    pub(crate) fn all(state_home: &Path) -> Vec<Self> {
        let states = entries(state_home)
            .into_iter()
            .map(|state| Self::of(&state));
        states.filter(|notes| notes.folder.is_dir()).collect()
    }

    /// Where things lie, if a person's verb wrote it down.
    pub(crate) fn whereabouts(&self) -> Result<Option<Whereabouts>, Failure> {
        read(&self.folder.join("place.json"))
    }

    /// Writes down where things lie.
    pub(crate) fn keep_whereabouts(&self, whereabouts: &Whereabouts) -> Result<(), Failure> {
        files::ensure_dir_private(&self.folder).map_err(Failure::failed)?;
        let bytes = serde_json::to_vec(whereabouts).map_err(Failure::failed)?;
        let path = self.folder.join("place.json");
        files::write_atomic(&path, &bytes, Some(0o600)).map_err(Failure::failed)
    }

    /// Writes a note. A power failure ends the conversations that it is about, so it need not be
    /// durable.
    fn write(&self, below: &[&str], name: &str, value: &impl Serialize) -> Result<(), Failure> {
        let bytes = serde_json::to_vec(value).map_err(Failure::failed)?;
        let place = below
            .iter()
            .fold(self.folder.clone(), |at, part| at.join(part));
        let path = place.join(name);
        let write = || files::write_note(&path, &bytes, Some(0o600));
        if write().is_ok() {
            return Ok(());
        }
        // The first note of its kind finds no folder.
        let mut folder = self.folder.clone();
        files::ensure_dir_private(&folder).map_err(Failure::failed)?;
        for part in below {
            folder.push(part);
            files::ensure_dir_private(&folder).map_err(Failure::failed)?;
        }
        write().map_err(Failure::failed)
    }

    /// Takes away what nobody will ask for any more, once in a while. A call whose result is not
    /// waited for any longer goes only once it is `told`.
    pub(crate) fn tidy(&self, now: Timestamp, mut told: impl FnMut(&Open) -> bool) {
        let mark = self.folder.join("tidied");
        if !self.folder.exists() || (mark.exists() && !is_older(&mark, now, TIDY_INTERVAL_MS)) {
            return;
        }
        // What fails must not be tried again by every process.
        if files::write_note(&mark, b"", Some(0o600)).is_err() {
            return;
        }
        for (folder, kept_ms) in [
            ("selected", HOOK_NOTE_MS_MAX),
            ("visitors", SESSION_KEPT_MS),
            ("begun", SESSION_KEPT_MS),
        ] {
            drop_older(&self.folder.join(folder), now, kept_ms);
        }
        for session in entries(&self.folder.join("open")) {
            drop_older_but(&session, (now, PERMIT_OPEN_MS_MAX), |path| {
                // One that can't be read tells nothing.
                let open: Option<Open> = read(path).ok().flatten();
                open.is_some_and(|open| !told(&open))
            });
            // It goes only when it is empty.
            files::remove_dir(&session).unwrap_or_default();
        }
        // As long as a call waits for its result, its note tells whether it came to `exec`, for
        // which it is not good any more.
        let awaited = self.awaited();
        let name = |path: &Path| Some(path.file_name()?.to_str()?.split_once('.')?.0.to_owned());
        drop_older_but(&self.folder.join("exec"), (now, HOOK_NOTE_MS_MAX), |path| {
            name(path).is_some_and(|name| awaited.contains(&name))
        });
    }

    /// The notes of commands whose calls wait for their results, of all conversations.
    fn awaited(&self) -> BTreeSet<String> {
        let sessions = entries(&self.folder.join("open"));
        let calls = sessions.iter().flat_map(|session| listed(session));
        let sent = calls.filter_map(|path| match read::<Open>(&path).ok()??.what {
            Admitted::Exec(id) => Some(id),
            Admitted::Guard(_) | Admitted::Done => None,
        });
        sent.collect()
    }

    /// Notes that a client's hook is not registered any more, or that it is again.
    pub(crate) fn keep_gone(&self, client: &str, gone: Option<&Gone>) -> Result<(), Failure> {
        let name = format!("{client}.json");
        if let Some(gone) = gone {
            return self.write(&["gone"], &name, gone);
        }
        forget(&self.folder.join("gone").join(name));
        Ok(())
    }

    /// The clients whose hooks found themselves not registered any more.
    pub(crate) fn gone(&self) -> Vec<Gone> {
        let paths = listed(&self.folder.join("gone"));
        let read = |path: &PathBuf| read::<Gone>(path).ok().flatten();
        paths.iter().filter_map(read).collect()
    }

    /// Notes what of a client's settings takes its own questions away, with a person's knowledge.
    pub(crate) fn keep_loosened(&self, client: &str, what: &[String]) -> Result<(), Failure> {
        self.write(&["loosened"], &format!("{client}.json"), &what)
    }

    /// What of a client's settings is known to do so. Nothing where nobody ever looked.
    pub(crate) fn loosened(&self, client: &str) -> Vec<String> {
        let path = self.folder.join("loosened").join(format!("{client}.json"));
        read(&path).ok().flatten().unwrap_or_default()
    }

    /// Notes that a person took a client's hook of one scope away, and forgets what was found gone.
    pub(crate) fn take_out(&self, client: &str, scope: &str) -> Result<(), Failure> {
        self.keep_gone(client, None)?;
        self.write(&["taken"], &scoped_name(client, scope), &client)
    }

    /// Forgets it: the hook is there again.
    pub(crate) fn put_in(&self, client: &str, scope: &str) {
        if self.is_taken_out(client, scope) {
            forget(&self.taken_path(client, scope));
        }
    }

    /// Notes that a client's hook stands at a scope, so that it is missed there.
    pub(crate) fn stands(&self, client: &str, scope: &str) -> Result<(), Failure> {
        self.put_in(client, scope);
        if self.has_stood(client, scope) {
            return Ok(());
        }
        self.write(&["stands"], &scoped_name(client, scope), &client)
    }

    /// Whether it was ever found there.
    pub(crate) fn has_stood(&self, client: &str, scope: &str) -> bool {
        let folder = self.folder.join("stands");
        folder.join(scoped_name(client, scope)).exists()
    }

    /// Whether a person took it away.
    pub(crate) fn is_taken_out(&self, client: &str, scope: &str) -> bool {
        self.taken_path(client, scope).exists()
    }

    fn taken_path(&self, client: &str, scope: &str) -> PathBuf {
        self.folder.join("taken").join(scoped_name(client, scope))
    }

    /// Notes a conversation that only names files of this workspace, from outside.
    pub(crate) fn visit(&self, session: &SessionId) -> Result<(), Failure> {
        self.write(&["visitors"], &visitor_name(session), session)
    }

    /// Whether a conversation is such a one.
    pub(crate) fn is_visitor(&self, session: &SessionId) -> bool {
        self.visitor_path(session).exists()
    }

    /// Forgets that a conversation was such a one.
    pub(crate) fn stay(&self, session: &SessionId) {
        if self.is_visitor(session) {
            forget(&self.visitor_path(session));
        }
    }

    fn visitor_path(&self, session: &SessionId) -> PathBuf {
        self.folder.join("visitors").join(visitor_name(session))
    }

    /// Notes a conversation that began in this workspace, before it did anything.
    pub(crate) fn begin(&self, session: &SessionId) -> Result<(), Failure> {
        self.write(&["begun"], &visitor_name(session), session)
    }

    /// Whether a conversation began in this workspace.
    pub(crate) fn has_begun(&self, session: &SessionId) -> bool {
        let path = self.folder.join("begun").join(visitor_name(session));
        path.exists()
    }

    /// Notes an open call.
    pub(crate) fn open(&self, call: &Open, now: Timestamp, unique: &str) -> Result<(), Failure> {
        let session = session_name(&call.key.session);
        let name = format!("{:015}-{unique}.json", now.as_millis());
        self.write(&["open", &session], &name, call)
    }

    /// The open calls of a session, oldest first, each with its file.
    pub(crate) fn opened(&self, session: &SessionId) -> Vec<(PathBuf, Open)> {
        let folder = self.folder.join("open").join(session_name(session));
        let paths = listed(&folder);
        let read = |path: PathBuf| read::<Open>(&path).ok().flatten().map(|open| (path, open));
        paths.into_iter().filter_map(read).collect()
    }

    /// Notes a selection, so that the command only has to print. Where the command does not come
    /// with the note's name, because the client runs the line as it was, it is found by the intent.
    pub(crate) fn select(&self, name: Option<&str>, selected: &Selected) -> Result<(), Failure> {
        let named = name.and_then(|name| selected_name(Some(name), &selected.intent));
        for name in named.into_iter().chain([intent_name(&selected.intent)]) {
            self.write(&["selected"], &name, selected)?;
        }
        Ok(())
    }

    /// The selection of an intent that the hook just made, used up.
    pub(crate) fn selected(
        &self,
        name: Option<&str>,
        intent: &IntentId,
        now: Timestamp,
    ) -> Option<Selected> {
        let name = selected_name(name, intent)?;
        let path = self.folder.join("selected").join(name);
        let selected: Selected = read(&path).ok().flatten()?;
        if selected.intent != *intent {
            return None;
        }
        forget(&path);
        forget(&self.folder.join("selected").join(intent_name(intent)));
        Some(selected).filter(|selected| !is_old(selected.at, now))
    }
}

/// Whether an id can be the name of a note.
fn is_plain(id: &str) -> bool {
    let mut bytes = id.bytes();
    bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_old(at: Timestamp, now: Timestamp) -> bool {
    let age = now.as_millis().saturating_sub(at.as_millis());
    !(0..=HOOK_NOTE_MS_MAX).contains(&age)
}

fn session_name(session: &SessionId) -> String {
    short(Digest::of_parts(
        "hook session",
        [session.as_str().as_bytes()],
    ))
}

fn scoped_name(client: &str, scope: &str) -> String {
    format!("{client}.{scope}.json")
}

fn visitor_name(session: &SessionId) -> String {
    format!("{}.json", session_name(session))
}

/// The file of a selection: a name that leads nowhere else, or one made of the intent.
fn selected_name(name: Option<&str>, intent: &IntentId) -> Option<String> {
    match name {
        Some(name) => is_plain(name).then(|| format!("{name}.json")),
        None => Some(intent_name(intent)),
    }
}

fn intent_name(intent: &IntentId) -> String {
    let digest = Digest::of_parts("hook intent", [intent.as_str().as_bytes()]);
    format!("{}.json", short(digest))
}

/// Forgets a note. One that stays is found to be old later.
pub(crate) fn forget(path: &Path) {
    files::remove_note(path).unwrap_or_default();
}

/// The notes in a folder, oldest first where their names tell it.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let is_note = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "json");
    let mut paths: Vec<PathBuf> = entries(folder).into_iter().filter(is_note).collect();
    paths.sort();
    paths.truncate(HOOK_NOTES_MAX);
    paths
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).map(|all| all.flatten().map(|entry| entry.path()));
    entries.map_or_else(|_| Vec::new(), Iterator::collect)
}

/// Whether a file was written longer ago than this. One that can't be looked at was not.
fn is_older(path: &Path, now: Timestamp, than_ms: i64) -> bool {
    let age = |at: Timestamp| now.as_millis().saturating_sub(at.as_millis());
    files::written_at(path).is_some_and(|at| age(at) > than_ms)
}

fn drop_older(folder: &Path, now: Timestamp, than_ms: i64) {
    drop_older_but(folder, (now, than_ms), |_| false);
}

fn drop_older_but(
    folder: &Path,
    (now, than_ms): (Timestamp, i64),
    mut is_kept: impl FnMut(&Path) -> bool,
) {
    for path in entries(folder) {
        if is_older(&path, now, than_ms) && !is_kept(&path) {
            forget(&path);
        }
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    // Most notes are looked for in folders that nobody made yet.
    if !path.parent().is_some_and(Path::exists) {
        return Ok(None);
    }
    let Some(bytes) = files::read(path, HOOK_NOTE_BYTES_MAX).map_err(Failure::failed)? else {
        return Ok(None);
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some)
        .map_err(|error| Failure::failed(format!("`{}`: {error}", path.display())))
}

#[cfg(test)]
mod tests;
