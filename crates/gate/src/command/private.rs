//! Which paths of a command's layer stay in the session's private layer.
//!
//! Ignored folders and the folders that only builds write to never reach the workspace; what git
//! tracks in them counts as work all the same. A file that is ignored by itself, or that tools make
//! from other files, is work where the intent owns it, and private elsewhere.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tagout_vocab::limits::SIDECAR_BYTES_MAX;
use tagout_workspace::files;

use super::tracked::Tracked;
use super::words::Words;

/// Answers for one workspace, as it was before the command ran.
#[derive(Debug)]
pub(crate) struct Private<'w> {
    root: &'w Path,
    words: &'w Words<'static>,
    tracked: Tracked,
    exclude: Gitignore,
    /// The ignore file of each folder, read when first asked for.
    ignores: RefCell<BTreeMap<PathBuf, Gitignore>>,
}

fn lines(folder: &Path, file: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    let bytes = files::read(file, SIDECAR_BYTES_MAX as u64);
    let bytes = bytes.ok().flatten().unwrap_or_default();
    for line in String::from_utf8_lossy(&bytes).lines() {
        // A line that is no pattern ignores nothing, as git has it.
        drop(builder.add_line(None, line));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

impl<'w> Private<'w> {
    pub(crate) fn of(root: &'w Path, words: &'w Words<'static>) -> Self {
        Self {
            root,
            words,
            tracked: Tracked::of(root),
            exclude: lines(root, &root.join(".git/info/exclude")),
            ignores: RefCell::new(BTreeMap::new()),
        }
    }

    /// Whether a path stays in the private layer. `owned` says whether the intent owns it.
    pub(crate) fn holds(&self, path: &[u8], is_dir: bool, owned: impl FnOnce() -> bool) -> bool {
        if path.starts_with(b".git/") || path == b".git" {
            return false;
        }
        let Ok(text) = std::str::from_utf8(path) else {
            return false;
        };
        let names: Vec<&str> = text.split('/').collect();
        let is = |list: &[&str], name: &str| list.contains(&name);
        let generated = |name: &&str| is(&self.words.generated_files, name);
        if !is_dir && names.last().is_some_and(generated) {
            return !owned();
        }
        // What git tracks is asked last: mostly the answer is not needed.
        self.is_left_out(&names, is_dir, owned) && !self.tracked.holds(path)
    }

    /// Whether a path is built or ignored.
    fn is_left_out(&self, names: &[&str], is_dir: bool, owned: impl FnOnce() -> bool) -> bool {
        let is = |list: &[&str], name: &str| list.contains(&name);
        let mut above = PathBuf::new();
        for (at, name) in names.iter().enumerate() {
            let last = at + 1 == names.len();
            let folder = !last || is_dir;
            let here = above.join(name);
            if folder && is(&self.words.build_folders, name) {
                return true;
            }
            if self.ignored(&above, &here, folder) {
                return folder || !owned();
            }
            above = here;
        }
        false
    }

    /// Whether the ignore files from the folder upwards leave a path out; the nearest word counts.
    fn ignored(&self, folder: &Path, path: &Path, is_dir: bool) -> bool {
        let path = self.root.join(path);
        for above in folder.ancestors() {
            let found = self.ignores_of(above, |known| known.matched(&path, is_dir).into());
            if let Said::Yes | Said::No = found {
                return found == Said::Yes;
            }
        }
        Said::from(self.exclude.matched(&path, is_dir)) == Said::Yes
    }

    fn ignores_of(&self, folder: &Path, ask: impl FnOnce(&Gitignore) -> Said) -> Said {
        let mut known = self.ignores.borrow_mut();
        let found = known.entry(folder.to_owned()).or_insert_with(|| {
            let folder = self.root.join(folder);
            let file = folder.join(".gitignore");
            if fs::symlink_metadata(&file).is_ok_and(|found| found.is_file()) {
                lines(&folder, &file)
            } else {
                Gitignore::empty()
            }
        });
        ask(found)
    }
}

/// What an ignore file says of a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Said {
    Yes,
    No,
    Nothing,
}

impl<T> From<ignore::Match<T>> for Said {
    fn from(found: ignore::Match<T>) -> Self {
        match found {
            ignore::Match::None => Self::Nothing,
            ignore::Match::Ignore(_) => Self::Yes,
            ignore::Match::Whitelist(_) => Self::No,
        }
    }
}

#[cfg(test)]
mod tests;
