//! One open permit per path: a locked file per path, which a dead process lets go by dying.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use tagout_vocab::{CallId, Digest};

use crate::error::{Error, at};
use crate::relpath::RelPath;
use crate::sys::{self, Handle};
use crate::workspace::Workspace;

/// How long a claim lasts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Holding {
    /// As long as the claim's value, and no longer than its process.
    WhileAlive,
    /// Until the call is released: for calls that begin in one process and end in another.
    UntilReleased,
}

/// What came of claiming.
#[derive(Debug)]
pub enum Claiming {
    /// The paths are the caller's.
    Held(Claim),
    /// Another call has one of them; nothing was claimed.
    Busy {
        /// The path.
        path: RelPath,
        /// The call that has it.
        by: Option<CallId>,
    },
}

/// Paths that are claimed for one call.
#[derive(Debug)]
#[must_use = "the paths are free again when this is dropped"]
pub struct Claim {
    held: Vec<std::fs::File>,
    holding: Holding,
}

const FOLDER: &str = "claims";

fn name(path: &RelPath) -> String {
    Digest::of(path.as_bytes()).hex().chars().take(40).collect()
}

impl Workspace {
    /// Claims paths for a call: all of them or none.
    pub fn claim(
        &self,
        execution: &CallId,
        paths: &[RelPath],
        holding: Holding,
    ) -> Result<Claiming, Error> {
        let folder = self.state.folder(FOLDER)?;
        let mut sorted: Vec<&RelPath> = paths.iter().collect();
        // One order for everybody, so that two callers cannot each hold what the other waits for.
        sorted.sort();
        sorted.dedup();
        let mut claim = Claim {
            held: Vec::new(),
            holding: Holding::WhileAlive,
        };
        for path in sorted {
            match take(&folder, path, execution)? {
                Ok(file) => claim.held.push(file),
                Err(by) => {
                    return Ok(Claiming::Busy {
                        path: path.clone(),
                        by,
                    });
                }
            }
        }
        for file in &mut claim.held {
            write(file, execution, holding).map_err(at("write", FOLDER))?;
        }
        claim.holding = holding;
        Ok(Claiming::Held(claim))
    }

    /// Frees every path that a call claimed until its release.
    pub fn release(&self, execution: &CallId) -> Result<(), Error> {
        self.release_each(|owner| owner.is_none_or(|(by, _)| by == *execution))
    }

    /// Frees every path that was claimed until a release which nobody can bring any more, because
    /// the process died before it handed the call on. Asked while the claim is locked: whoever is
    /// still at it holds that lock until the call is known elsewhere.
    pub fn release_gone(&self, mut is_gone: impl FnMut(&CallId) -> bool) -> Result<(), Error> {
        self.release_each(|owner| match owner {
            Some((by, Holding::UntilReleased)) => is_gone(&by),
            Some((_, Holding::WhileAlive)) | None => true,
        })
    }

    /// Removes the claims that nobody has locked and that are free.
    fn release_each(
        &self,
        mut is_free: impl FnMut(Option<(CallId, Holding)>) -> bool,
    ) -> Result<(), Error> {
        let folder = self.state.folder(FOLDER)?;
        for name in sys::names(&folder).map_err(at("list", FOLDER))? {
            let Ok(handle) = sys::open_append(&folder, &name, 0o600) else {
                continue;
            };
            if !sys::try_lock(&handle).map_err(at("lock", FOLDER))? {
                continue;
            }
            let mut file = handle.into_file();
            if is_free(read(&mut file).map_err(at("read", FOLDER))?) {
                // Removed while locked: whoever opened it meanwhile sees that the name is gone.
                drop(sys::unlink(&folder, &name));
            }
        }
        Ok(())
    }
}

/// The locked file of a path, or who has it.
fn take(
    folder: &Handle,
    path: &RelPath,
    execution: &CallId,
) -> Result<Result<std::fs::File, Option<CallId>>, Error> {
    let doing = || at("write", FOLDER);
    let name = name(path);
    loop {
        let handle = sys::open_append(folder, name.as_bytes(), 0o600).map_err(doing())?;
        let free = sys::try_lock(&handle).map_err(doing())?;
        let held = sys::stat(&handle).map_err(doing())?;
        if free && !sys::stat_at(folder, name.as_bytes()).is_ok_and(|now| now.ino == held.ino) {
            continue;
        }
        let mut file = handle.into_file();
        let owner = read(&mut file).map_err(at("read", FOLDER))?;
        return Ok(match owner {
            Some((by, Holding::UntilReleased)) if by != *execution => Err(Some(by)),
            owner if !free => Err(owner.map(|(by, _)| by)),
            Some(_) | None => Ok(file),
        });
    }
}

fn write(file: &mut std::fs::File, by: &CallId, holding: Holding) -> std::io::Result<()> {
    let word = match holding {
        Holding::WhileAlive => "alive",
        Holding::UntilReleased => "release",
    };
    file.set_len(0)?;
    file.write_all(format!("{word} {by}\n").as_bytes())
}

fn read(file: &mut std::fs::File) -> std::io::Result<Option<(CallId, Holding)>> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(4096).read_to_string(&mut text)?;
    let whole = text
        .strip_suffix('\n')
        .and_then(|line| line.split_once(' '));
    Ok(whole.and_then(|(word, by)| {
        let holding = match word {
            "alive" => Holding::WhileAlive,
            "release" => Holding::UntilReleased,
            _ => return None,
        };
        CallId::new(by).ok().map(|by| (by, holding))
    }))
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.holding == Holding::WhileAlive {
            for file in &self.held {
                // An empty file says «free» even before its lock is gone.
                drop(file.set_len(0));
            }
        }
    }
}
