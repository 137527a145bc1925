//! Commands that the hook sends through `exec`: noted by one process, used up by another.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tagout_vocab::{Code, Digest, SessionId, Timestamp};
use tagout_workspace::files;

use super::{Notes, forget, is_old, is_plain, listed, read};
use crate::failure::Failure;

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
    /// How the command comes.
    #[serde(default)]
    pub(crate) comes: Comes,
}

/// How a command comes for which a note was left.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Comes {
    /// As the agent wrote it: its note is found by its line.
    #[default]
    AsItIs,
    /// With the note's name, put into `exec` by the hook.
    Named,
    /// With the note's name, in a line that the agent wrote for Tagout. Should it come without, its
    /// client has dropped the name, and it is the agent's all the same.
    OwnNamed,
}

type Noted = (PathBuf, Sent);

/// A command line as it is noted.
pub(crate) fn line_digest(line: &str) -> Digest {
    Digest::of_parts("hook exec line", [line.as_bytes()])
}

impl Notes {
    /// Notes a command that goes through `exec`.
    pub(crate) fn send(&self, id: &str, sent: &Sent) -> Result<(), Failure> {
        self.write(&["exec"], &format!("{id}.json"), sent)
    }

    /// Forgets such a command.
    pub(crate) fn unsend(&self, id: &str) {
        forget(&self.sent_path(id));
    }

    /// The note of such a command, if it is there to tell that no line of it was run.
    pub(crate) fn unused(&self, id: &str) -> Option<Sent> {
        let path = self.sent_path(id);
        let sent: Sent = read(&path).ok().flatten()?;
        let is_marked = marks(&path, &sent).iter().any(|mark| mark.exists());
        // Whoever uses the last line up takes the note away before its marks: where the note is
        // gone by now, no marks tell nothing.
        (!is_marked && path.exists()).then_some(sent)
    }

    fn sent_path(&self, id: &str) -> PathBuf {
        self.folder.join("exec").join(format!("{id}.json"))
    }

    /// The note under which `exec` may run a line, used up. With an id only that one counts;
    /// without one, a line that several conversations sent is nobody's. One that is too old is
    /// used up as well, because its line came, and the line is refused: it is the agent's, and
    /// whoever else works in this terminal has nothing to do with it. An old note that has a name
    /// is not asked for without it: a line that both lost its name and came late is not known.
    pub(crate) fn take_sent(
        &self,
        id: Option<&str>,
        line: &str,
        now: Timestamp,
    ) -> Result<Option<Sent>, Failure> {
        let digest = line_digest(line);
        let noted = self.noted(id, digest);
        let (old, fresh): (Vec<Noted>, Vec<Noted>) = noted
            .into_iter()
            .partition(|(_, sent)| is_old(sent.at, now));
        let is_found = |(_, sent): &Noted| id.is_some() || sent.comes == Comes::AsItIs;
        let (good, named): (Vec<Noted>, Vec<Noted>) = fresh.into_iter().partition(is_found);
        // A line may have lost its name on the way, so that a named note can be meant too.
        let mut sessions = good.iter().chain(&named).map(|(_, sent)| &sent.session);
        let first = sessions.next();
        if sessions.any(|other| Some(other) != first) {
            return Err(nobodys());
        }
        let used = |(path, sent): Noted| used(&path, sent, digest);
        if let Some(sent) = good.into_iter().find_map(used) {
            return Ok(Some(sent));
        }
        if !named.is_empty() {
            return Err(nameless());
        }
        match old.into_iter().filter(is_found).find_map(used) {
            Some(_) => Err(late()),
            None => Ok(None),
        }
    }

    /// The notes that a line may be run under.
    fn noted(&self, id: Option<&str>, line: Digest) -> Vec<Noted> {
        let read = |path: PathBuf| read::<Sent>(&path).ok().flatten().map(|sent| (path, sent));
        let paths = self.sent_paths(id).into_iter();
        paths
            .filter_map(read)
            .filter(|(_, sent)| sent.lines.contains(&line))
            .filter(|(_, sent)| id.is_some() || sent.comes != Comes::Named)
            .collect()
    }

    fn sent_paths(&self, id: Option<&str>) -> Vec<PathBuf> {
        match id {
            Some(id) if is_plain(id) => vec![self.sent_path(id)],
            Some(_) => Vec::new(),
            None => listed(&self.folder.join("exec")),
        }
    }
}

/// Uses a line of a note up: of several processes that try, one makes the mark. Gives the note to
/// that one.
fn used(path: &Path, sent: Sent, digest: Digest) -> Option<Sent> {
    let marks = marks(path, &sent);
    let lines = sent.lines.iter().zip(&marks);
    let mut fitting = lines.filter(|(line, _)| **line == digest);
    let mark = |(_, mark): &(&Digest, &PathBuf)| files::create_note(mark).unwrap_or(false);
    fitting.find(mark)?;
    // Who came before may have taken the whole note away since it was read.
    let is_there = path.exists();
    if !is_there || marks.iter().all(|mark| mark.exists()) {
        // The note goes first, so that no mark is missing while it is there.
        forget(path);
        for mark in &marks {
            forget(mark);
        }
    }
    is_there.then_some(sent)
}

/// The marks beside a note, one for each line that was run.
fn marks(path: &Path, sent: &Sent) -> Vec<PathBuf> {
    let mark = |at: usize| path.with_extension(format!("{at}.used"));
    (0..sent.lines.len()).map(mark).collect()
}

/// Two conversations wait for the same line: whichever it was run for, the other would be wrong.
fn nobodys() -> Failure {
    let message = "more than one conversation sent exactly this line here";
    Failure::denied(Code::Conflict, message)
        .hint("run it again in other words: a comment inside the quotes, or another reason")
}

/// Whoever typed it, nobody can tell it from the agent's line that the hook has named.
fn nameless() -> Failure {
    let message = "a hook sent exactly this line here under a name, and it came without";
    Failure::denied(Code::StateViolation, message)
        .hint("run it again; a person says it in other words, or waits some minutes")
}

/// What was asked for when the hook let it through may be something else by now.
fn late() -> Failure {
    let message = "a hook sent exactly this line here too long ago";
    Failure::denied(Code::StateViolation, message)
        .hint("run the command again, as it was asked for at first: the hook sends it here anew")
}

#[cfg(test)]
mod tests;
