//! Where a workspace is and what its files say. Bounded: a hostile file costs one clear message.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use tagout_policy::problem::{Position, Problem};
use tagout_vocab::limits::SIDECAR_BYTES_MAX;
use tagout_workspace::files::Opened;

use crate::failure::Failure;

/// The folder that makes a folder a workspace.
pub(crate) const SIDECAR: &str = ".orchestration";

/// The workspace's root: the one named, else the nearest folder above that holds the sidecar
/// folder.
pub(crate) fn find(named: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    if let Some(named) = named {
        let root = absolute(named)?;
        if !root.is_dir() {
            return Err(Failure::invalid(format!(
                "`{}` is not a folder",
                named.display()
            )));
        }
        return Ok(Some(root));
    }
    let here = std::env::current_dir()
        .map_err(|error| Failure::failed(format!("the current folder can't be read: {error}")))?;
    Ok(here
        .ancestors()
        .find(|folder| folder.join(SIDECAR).is_dir())
        .map(Path::to_path_buf))
}

/// The same, where a verb can't do without one.
pub(crate) fn require(named: Option<&Path>) -> Result<PathBuf, Failure> {
    find(named)?.ok_or_else(|| {
        Failure::invalid(format!(
            "no workspace: there is no `{SIDECAR}/` here or in a folder above"
        ))
        .hint("a person makes one with `tagout init`; another one is named with `--workspace DIR`")
    })
}

/// A path without `.` and `..`, by its text.
pub(crate) fn folded(path: &Path) -> PathBuf {
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

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::invalid(format!("`{}`: {error}", path.display())))
}

/// A sidecar file's text. `Ok(None)` when there is no such file; anything else wrong is a problem.
pub(crate) fn read_sidecar(root: &Path, name: &str) -> Result<Option<String>, Problem> {
    let at = Position { line: 1, column: 1 };
    let problem = |message: String, at: Position| Problem {
        file: name.to_owned(),
        at,
        message,
        hint: None,
    };
    let path = root.join(name);
    // Most are plain files or none, and then one step tells.
    let bytes = match Opened::plain(&path, SIDECAR_BYTES_MAX as u64) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // A file that says it is empty need not be: some are made while they are read.
        Ok(Some(file)) if file.length() > 0 => file.read(0..file.length()),
        Ok(Some(_) | None) | Err(_) => None,
    };
    if let Some(Ok(text)) = bytes.map(String::from_utf8) {
        return Ok(Some(text));
    }
    let meta = match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(problem(format!("can't be read: {error}"), at)),
        Ok(meta) => meta,
    };
    if !meta.is_file() {
        return Err(problem("is not a file".to_owned(), at));
    }
    let bytes = read_bounded(&path, SIDECAR_BYTES_MAX)
        .map_err(|error| problem(format!("can't be read: {error}"), at))?
        .ok_or_else(|| problem(format!("is larger than {SIDECAR_BYTES_MAX} bytes"), at))?;
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = error
            .as_bytes()
            .get(..error.utf8_error().valid_up_to())
            .unwrap_or_default();
        problem("is not UTF-8 text".to_owned(), position_after(valid))
    })
}

/// A file's bytes, or `None` when it holds more than `max_bytes`. Never reads further than that.
pub(crate) fn read_bounded(path: &Path, max_bytes: usize) -> io::Result<Option<Vec<u8>>> {
    let file = File::open(path)?;
    let expected = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(expected.min(max_bytes).saturating_add(1));
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX);
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= max_bytes).then_some(bytes))
}

fn position_after(valid: &[u8]) -> Position {
    let text = String::from_utf8_lossy(valid);
    let last = text.rsplit('\n').next().unwrap_or_default();
    Position {
        line: text.split('\n').count(),
        column: last.chars().count() + 1,
    }
}

#[cfg(test)]
mod tests;
