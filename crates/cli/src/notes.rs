//! What the hook notes for the processes that come after it: open calls, commands that it sent
//! through `exec`, selections that it made. All of it lies in the workspace's state.

pub(crate) mod homes;

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tagout_agents::PairingKey;
use tagout_vocab::limits::{HOOK_NOTE_BYTES_MAX, HOOK_NOTE_MS_MAX, HOOK_NOTES_MAX};
use tagout_vocab::{CallId, Digest, IntentId, SessionId, Timestamp};
use tagout_workspace::files;

use crate::failure::Failure;
use homes::Homes;

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
    /// What was admitted.
    pub(crate) what: Admitted,
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

/// A command that the hook sent through `exec`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sent {
    /// The conversation that it is judged in.
    pub(crate) session: SessionId,
    /// The client.
    pub(crate) client: String,
    /// The lines that may still be run, each once.
    pub(crate) lines: Vec<Digest>,
    /// When.
    pub(crate) at: Timestamp,
}

/// A selection that the hook made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Selected {
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

/// A command line as it is noted.
pub(crate) fn line_digest(line: &str) -> Digest {
    Digest::of_parts("hook exec line", [line.as_bytes()])
}

fn short(digest: Digest) -> String {
    digest.hex().chars().take(32).collect()
}

impl Notes {
    /// The notes in a state folder.
    pub(crate) fn of(state: &Path) -> Self {
        Self {
            folder: state.join("hook"),
        }
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

    /// Notes an open call.
    pub(crate) fn open(&self, call: &Open, now: Timestamp, unique: &str) -> Result<(), Failure> {
        let session = session_name(&call.key.session);
        let name = format!("{:015}-{unique}.json", now.as_millis());
        self.write(&["open", &session], &name, call)
    }

    /// The open calls of a session, oldest first, each with its file.
    pub(crate) fn opened(&self, session: &SessionId) -> Vec<(PathBuf, Open)> {
        let folder = self.folder.join("open").join(session_name(session));
        let mut paths = listed(&folder);
        paths.sort();
        let read = |path: PathBuf| read::<Open>(&path).ok().flatten().map(|open| (path, open));
        paths.into_iter().filter_map(read).collect()
    }

    /// Notes a command that goes through `exec`.
    pub(crate) fn send(&self, id: &str, sent: &Sent) -> Result<(), Failure> {
        self.write(&["exec"], &format!("{id}.json"), sent)
    }

    /// Forgets such a command.
    pub(crate) fn unsend(&self, id: &str) {
        forget(&self.sent_path(id));
    }

    fn sent_path(&self, id: &str) -> PathBuf {
        self.folder.join("exec").join(format!("{id}.json"))
    }

    /// The note under which `exec` may run a line, used up. With an id only that one counts.
    pub(crate) fn take_sent(&self, id: Option<&str>, line: &str, now: Timestamp) -> Option<Sent> {
        let digest = line_digest(line);
        let paths = match id {
            Some(id)
                if id
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') =>
            {
                vec![self.sent_path(id)]
            }
            Some(_) => Vec::new(),
            None => listed(&self.folder.join("exec")),
        };
        paths.into_iter().find_map(|path| {
            let mut sent: Sent = read(&path).ok().flatten()?;
            if is_old(sent.at, now) {
                forget(&path);
                return None;
            }
            let at = sent.lines.iter().position(|one| *one == digest)?;
            sent.lines.remove(at);
            // A note that can't be used up, or that another one used up meanwhile, would be good
            // for a second time.
            let mine = if sent.lines.is_empty() {
                files::take_note(&path).unwrap_or(false)
            } else {
                let name = path.file_name()?.to_str()?;
                self.write(&["exec"], name, &sent).is_ok()
            };
            mine.then_some(sent)
        })
    }

    /// Notes a selection, so that the command only has to print.
    pub(crate) fn select(&self, intent: &IntentId, selected: &Selected) -> Result<(), Failure> {
        self.write(&["selected"], &intent_name(intent), selected)
    }

    /// The selection that the hook just made.
    pub(crate) fn selected(&self, intent: &IntentId, now: Timestamp) -> Option<Selected> {
        let path = self.folder.join("selected").join(intent_name(intent));
        let selected: Option<Selected> = read(&path).ok().flatten();
        forget(&path);
        selected.filter(|selected| !is_old(selected.at, now))
    }
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

fn intent_name(intent: &IntentId) -> String {
    let digest = Digest::of_parts("hook intent", [intent.as_str().as_bytes()]);
    format!("{}.json", short(digest))
}

/// Forgets a note. One that stays is found to be old later.
pub(crate) fn forget(path: &Path) {
    files::remove_note(path).unwrap_or_default();
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries
        .flatten()
        .take(HOOK_NOTES_MAX)
        .map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "json"))
        .collect()
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
