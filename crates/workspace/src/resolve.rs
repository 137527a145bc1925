//! From a path as a call names it to the path that the file system means, links followed inside
//! only.

use std::collections::VecDeque;

use tagout_vocab::WorkspacePath;
use tagout_vocab::limits::SYMLINK_HOPS_MAX;

use crate::error::{Error, at};
use crate::relpath::RelPath;
use crate::sys::{self, Handle, Kind};
use crate::workspace::Workspace;

/// What a path means.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Resolved {
    /// The path without any link in it.
    pub path: WorkspacePath,
    /// What stands there.
    pub kind: ResolvedKind,
    /// A symbolic link was followed on the way.
    pub via_symlink: bool,
    /// It is a file that has other names too (hard links), wherever those are.
    pub has_other_names: bool,
}

/// What stands under a resolved path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ResolvedKind {
    /// Nothing yet.
    Missing,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link that was not followed, because only its name is meant.
    Symlink,
    /// A pipe, socket or device.
    Special,
}

/// Whether the last name of a path is followed when it is a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Follow {
    /// For reading and writing: what the link points to is meant.
    Whole,
    /// For deleting, moving and links themselves: the name is meant.
    Parents,
}

/// How far the walk has come.
struct Walk<'a> {
    workspace: &'a Workspace,
    asked: String,
    done: Vec<Vec<u8>>,
    todo: VecDeque<Vec<u8>>,
    hops: usize,
}

impl Workspace {
    /// What a path means, walked name by name beneath the root's handle.
    ///
    /// The answer is checked again where it is used: there no link is followed at all, so one that
    /// is put in the way after this look makes the use fail.
    pub fn resolve(&self, raw: &WorkspacePath, follow: Follow) -> Result<Resolved, Error> {
        let path = RelPath::from(raw);
        let todo = path.segments().map(<[u8]>::to_vec).collect();
        let asked = raw.to_string();
        Walk {
            workspace: self,
            asked,
            done: Vec::new(),
            todo,
            hops: 0,
        }
        .run(follow)
    }

    /// Whether names in the workspace that differ only in case are the same name.
    ///
    /// It is found out by doing: a name that exists is asked for in the other case.
    pub fn ignores_case(&self) -> Result<bool, Error> {
        // A governed workspace has this one, and then nothing is listed.
        let usual = b".orchestration".to_vec();
        if let Some(found) = self.is_found_flipped(&usual) {
            return Ok(found);
        }
        let names = sys::names(self.root.handle()).map_err(at("list", "."))?;
        let mut told = names.iter().filter_map(|name| self.is_found_flipped(name));
        Ok(told.next().unwrap_or(false))
    }

    /// Whether a name also leads to its file with its letters' case turned around. `None` where
    /// that tells nothing: it has no letters, or is not there.
    fn is_found_flipped(&self, name: &[u8]) -> Option<bool> {
        let flip = |byte: &u8| {
            if byte.is_ascii_lowercase() {
                byte.to_ascii_uppercase()
            } else {
                byte.to_ascii_lowercase()
            }
        };
        let flipped: Vec<u8> = name.iter().map(flip).collect();
        if flipped == name {
            return None;
        }
        let here = sys::stat_at(self.root.handle(), name).ok()?;
        let there = sys::stat_at(self.root.handle(), &flipped);
        Some(there.is_ok_and(|there| (there.dev, there.ino) == (here.dev, here.ino)))
    }
}

impl Walk<'_> {
    fn outside<T>(&self) -> Result<T, Error> {
        Err(Error::Outside {
            path: self.asked.clone(),
        })
    }

    fn here(&self) -> RelPath {
        let mut path = RelPath::root();
        for name in &self.done {
            path = path.with(name);
        }
        path
    }

    fn run(mut self, follow: Follow) -> Result<Resolved, Error> {
        let mut kind = ResolvedKind::Folder;
        let mut has_other_names = false;
        while let Some(name) = self.todo.pop_front() {
            if name == b".." {
                if self.done.pop().is_none() {
                    return self.outside();
                }
                continue;
            }
            if kind == ResolvedKind::Missing {
                // Beneath a missing name everything is missing, and no link can be in the way.
                self.done.push(name);
                continue;
            }
            let folder = self.folder()?;
            let stat = match sys::stat_at(&folder, &name) {
                Ok(stat) => stat,
                Err(error) if sys::is_missing(&error) => {
                    kind = ResolvedKind::Missing;
                    self.done.push(name);
                    continue;
                }
                Err(error) => return Err(Error::io("look at", self.asked.clone(), error)),
            };
            let last = self.todo.is_empty();
            kind = match stat.kind {
                Kind::Symlink if last && follow == Follow::Parents => ResolvedKind::Symlink,
                Kind::Symlink => {
                    self.hop(&folder, &name)?;
                    ResolvedKind::Folder
                }
                Kind::Dir => ResolvedKind::Folder,
                Kind::File => ResolvedKind::File,
                Kind::Fifo | Kind::Socket | Kind::Device => ResolvedKind::Special,
            };
            if stat.kind == Kind::Symlink && kind == ResolvedKind::Folder {
                continue;
            }
            if !last && kind != ResolvedKind::Folder {
                let (found, needed) = ("a file on the way", "a folder");
                return Err(Error::WrongKind {
                    path: self.asked.clone(),
                    found,
                    needed,
                });
            }
            has_other_names = kind == ResolvedKind::File && stat.nlink > 1;
            self.done.push(name);
        }
        let path = self.here().to_workspace()?;
        Ok(Resolved {
            path,
            kind,
            via_symlink: self.hops > 0,
            has_other_names,
        })
    }

    fn folder(&self) -> Result<Handle, Error> {
        self.workspace.root.dir(&self.here())
    }

    /// Puts a link's target in front of what is left of the path.
    fn hop(&mut self, folder: &Handle, name: &[u8]) -> Result<(), Error> {
        self.hops += 1;
        if self.hops > SYMLINK_HOPS_MAX {
            return Err(Error::Loop {
                path: self.asked.clone(),
            });
        }
        let target =
            sys::readlink(folder, name).map_err(at("read the link", self.asked.clone()))?;
        let relative = if target.first() == Some(&b'/') {
            let root = sys::bytes_of(self.workspace.root.path());
            let rest = target
                .strip_prefix(root)
                .filter(|rest| rest.is_empty() || rest.first() == Some(&b'/') || root == b"/");
            let Some(rest) = rest else {
                return self.outside();
            };
            self.done.clear();
            rest.to_vec()
        } else {
            target
        };
        let segments = relative
            .split(|byte| *byte == b'/')
            .filter(|segment| !segment.is_empty() && *segment != b".");
        for segment in segments.rev() {
            self.todo.push_front(segment.to_vec());
        }
        Ok(())
    }
}
