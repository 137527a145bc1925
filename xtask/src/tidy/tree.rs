//! The files of the repository as the rules see them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::source::{self, Line};
use crate::error::XtaskError;

/// A file beyond this is data, and no rule reads data.
const TEXT_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// One file.
#[derive(Debug)]
pub(crate) struct File {
    /// Its path from the root, with forward slashes.
    pub(crate) path: String,
    /// Its text; empty if it is large or no text.
    pub(crate) text: String,
    /// Its lines taken apart, if it is Rust.
    pub(crate) lines: Vec<Line>,
}

impl File {
    fn new(path: &str, text: &str) -> Self {
        let lines = if has_ending(path, "rs") {
            source::scan(path, text)
        } else {
            Vec::new()
        };
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            lines,
        }
    }

    /// The product's crate that the file belongs to.
    pub(crate) fn room(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Whether it is Rust.
    pub(crate) fn is_rust(&self) -> bool {
        has_ending(&self.path, "rs")
    }

    /// Whether it is Markdown.
    pub(crate) fn is_markdown(&self) -> bool {
        has_ending(&self.path, "md")
    }

    /// Its lines outside of tests, with their numbers.
    pub(crate) fn production(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.numbered().filter(|(_, line)| !line.is_test)
    }

    /// All its lines with their numbers.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, &Line)> {
        (1..).zip(&self.lines)
    }

    /// The name without folders.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// Whether a path has this extension.
pub(crate) fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|found| found == ending)
}

/// All files, sorted by path.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// The files.
    pub(crate) files: Vec<File>,
    known: BTreeSet<String>,
}

impl Tree {
    /// Reads everything below a folder, build output and version control apart.
    pub(crate) fn load(root: &Path) -> Result<Self, XtaskError> {
        let mut files = Vec::new();
        walk(root, "", &mut files)?;
        Ok(Self::from_files(files))
    }

    fn from_files(mut files: Vec<File>) -> Self {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let mut known = BTreeSet::new();
        for file in &files {
            let mut path = file.path.as_str();
            known.insert(path.to_owned());
            while let Some((folder, _)) = path.rsplit_once('/') {
                known.insert(folder.to_owned());
                path = folder;
            }
        }
        Self { files, known }
    }

    /// A tree from texts, for the tests of the rules.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self::from_files(
            files
                .iter()
                .map(|(path, text)| File::new(path, text))
                .collect(),
        )
    }

    /// The Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// The Markdown files.
    pub(crate) fn markdown(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_markdown())
    }

    /// Whether a file or folder of this path exists.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.known.contains(path.trim_end_matches('/'))
    }

    /// The file of this path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<File>) -> Result<(), XtaskError> {
    let fail = XtaskError::file("read", folder);
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(XtaskError::file("read", folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        let kind = entry.file_type().map_err(XtaskError::file("read", &path))?;
        let known_as = format!("{prefix}{name}");
        if kind.is_dir() {
            // Cargo marks its output folders, wherever they are, as every tool's cache should.
            if name != ".git" && !path.join("CACHEDIR.TAG").exists() {
                walk(&path, &format!("{known_as}/"), files)?;
            }
        } else if kind.is_file() && name != ".git" {
            files.push(File::new(&known_as, &read(&path)?));
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, XtaskError> {
    let size = path
        .metadata()
        .map_err(XtaskError::file("read", path))?
        .len();
    if size > TEXT_BYTES_MAX {
        return Ok(String::new());
    }
    let bytes = fs::read(path).map_err(XtaskError::file("read", path))?;
    Ok(String::from_utf8(bytes).unwrap_or_default())
}
