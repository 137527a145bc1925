//! What a command leaves in git's folder for the next git command to run or to follow.
//!
//! The state of a rebase is git's own book, and a rebase that stops has to be there when it goes
//! on. But a line in its list of steps may be a command, which git runs for whoever goes on, and
//! links lead it to files that an agent may write later.

use std::io::Read as _;
use std::path::Path;

use tagout_sandbox::layer::{ChangeSet, Entry, Kind, Upper};
use tagout_vocab::Code;
use tagout_vocab::limits::GIT_STEPS_BYTES_MAX;
use tagout_workspace::RelPath;

use crate::changes::git::{self, GitPath};
use crate::observed::Beyond;

/// The paths of a set that would make git run or follow something.
pub(super) fn beyond(set: &ChangeSet, own: &Path) -> Vec<Beyond> {
    let against = |entry: &Entry| {
        let why = match &entry.kind {
            Kind::Symlink { .. } => "git would follow a link out of its folder",
            Kind::Link { to } if git::what(to) == GitPath::Worktree => {
                "a file of git's that is another file too"
            }
            Kind::File { .. } | Kind::Link { .. } if is_list(&entry.path) => {
                return runs(own, &entry.path).then_some("a step that git would run");
            }
            Kind::File { .. }
            | Kind::Link { .. }
            | Kind::Deleted
            | Kind::Folder { .. }
            | Kind::Pipe
            | Kind::Socket
            | Kind::Device => return None,
        };
        Some(why)
    };
    let of_git = |entry: &&Entry| git::what(&entry.path) != GitPath::Worktree;
    let told = |entry: &Entry| {
        Some(Beyond {
            path: RelPath::new(&entry.path).ok()?,
            code: Code::AuthorityFile,
            why: against(entry)?.to_owned(),
        })
    };
    set.judged().filter(of_git).filter_map(told).collect()
}

/// Whether a path is a list of steps that git works through.
fn is_list(path: &[u8]) -> bool {
    let mut names = path.rsplit(|byte| *byte == b'/');
    let (Some(name), Some(folder)) = (names.next(), names.next()) else {
        return false;
    };
    let name = name.to_ascii_lowercase();
    let folder = folder.to_ascii_lowercase();
    folder.starts_with(b"rebase-") && name.starts_with(b"git-rebase-todo")
        || folder == b"sequencer" && name == b"todo"
}

/// Whether a list holds a command. One that can't be read whole may.
fn runs(own: &Path, path: &[u8]) -> bool {
    let read = || {
        let upper = Upper::open(&own.join("upper")).ok()?;
        let mut bytes = Vec::new();
        let mut file = upper.file(path).ok()?.take(GIT_STEPS_BYTES_MAX + 1);
        file.read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= GIT_STEPS_BYTES_MAX).then_some(bytes)
    };
    read().is_none_or(|bytes| bytes.split(|byte| *byte == b'\n').any(is_command))
}

/// `exec COMMAND` or `x COMMAND`, as git reads it.
fn is_command(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let rest = line.strip_prefix(b"exec").or(line.strip_prefix(b"x"));
    rest.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
}

#[cfg(test)]
mod tests {
    use super::{is_command, is_list};

    /// T-002: the forms in which git takes a line for a command.
    #[test]
    fn commands_among_steps() {
        for line in ["exec touch a", "x touch a", "  exec\ttouch", "exec", "x\r"] {
            assert!(is_command(line.as_bytes()), "{line}");
        }
        for line in [
            "pick abc exec",
            "# exec a",
            "xy a",
            "execute a",
            "",
            "e abc",
        ] {
            assert!(!is_command(line.as_bytes()), "{line}");
        }
    }

    /// The lists are found in every repository and in any spelling.
    #[test]
    fn lists_of_steps() {
        for path in [
            ".git/rebase-merge/git-rebase-todo",
            ".git/modules/a/rebase-merge/git-rebase-todo.backup",
            ".git/sequencer/todo",
            ".git/REBASE-merge/Git-Rebase-Todo",
        ] {
            assert!(is_list(path.as_bytes()), "{path}");
        }
        assert!(!is_list(b".git/rebase-merge/done"));
    }
}
