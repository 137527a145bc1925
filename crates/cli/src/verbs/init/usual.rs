//! Which files a first intent owns where a person names none: the folders with source.

use std::path::Path;

use tagout_gate::trace::languages;
use tagout_policy::catalogue::Catalogue;
use tagout_vocab::WorkspacePath;

/// All that there is.
pub(super) const EVERYTHING: &str = "**";

/// The one folder that most repositories keep their source in.
const USUAL: &str = "src";

/// Folders that hold what was built or fetched, and nothing that anybody works on.
const MADE: [&str; 8] = [
    "build",
    "dist",
    "node_modules",
    "out",
    "target",
    "third_party",
    "vendor",
    "venv",
];

/// Folders of one project each, whose source lies a level further down.
const SEVERAL: [&str; 8] = [
    "apps", "cmd", "crates", "internal", "libs", "modules", "packages", "services",
];

/// More folders than this are everything in other words.
const FOLDERS_MAX: usize = 6;

/// Entries of a folder that are looked at.
const ENTRIES_MAX: usize = 1000;

/// What to propose for a workspace.
pub(super) fn scope(root: &Path) -> Vec<String> {
    let all = || vec![EVERYTHING.to_owned()];
    if is_folder(root, USUAL) {
        return vec![format!("{USUAL}/**")];
    }
    let Ok(catalogue) = Catalogue::built_in() else {
        return all();
    };
    let gives_authority = |name: &str| {
        let path = WorkspacePath::new(name);
        path.map_or(true, |path| catalogue.is_authority(&path).is_some())
    };
    let mut found: Vec<String> = names(root)
        .filter(|name| !name.starts_with('.') && !MADE.contains(&name.as_str()))
        .filter(|name| is_plain(name) && is_folder(root, name) && !gives_authority(name))
        .filter(|name| SEVERAL.contains(&name.as_str()) || has_source(&root.join(name)))
        .map(|name| format!("{name}/**"))
        .collect();
    found.sort();
    if found.is_empty() || found.len() > FOLDERS_MAX {
        return all();
    }
    found
}

/// The names in a folder; none in one that can't be read, which is found out later.
fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().into_string());
    names.take(ENTRIES_MAX).filter_map(Result::ok)
}

/// A name that means itself as a pattern and in a list.
fn is_plain(name: &str) -> bool {
    let is_usual = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().all(is_usual)
}

/// A folder of the tree itself, not one that a link leads to.
fn is_folder(root: &Path, name: &str) -> bool {
    std::fs::symlink_metadata(root.join(name)).is_ok_and(|found| found.is_dir())
}

fn has_source(folder: &Path) -> bool {
    is_folder(folder, USUAL) || names(folder).any(|name| is_source(&name))
}

/// Whether a file's ending is that of a language whose definitions are known.
fn is_source(name: &str) -> bool {
    languages::of(name).is_some()
}
