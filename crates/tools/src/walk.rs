//! Going through the folders of a workspace as its own ignore files ask.

use std::path::Path;

use ignore::WalkBuilder;
use tagout_gate::workspace::{RelPath, Workspace};
use tagout_vocab::limits::{WALK_DEPTH_MAX, WALK_ENTRIES_MAX};

/// One entry of a walk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Entry {
    /// Its path beneath the workspace's root.
    pub(crate) path: RelPath,
    /// Whether it is a folder. A link is never followed, and counts as a file.
    pub(crate) is_folder: bool,
    /// Whether it is a regular file, whose content can be read.
    pub(crate) is_file: bool,
}

/// What a walk found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Walked {
    /// The entries, a folder before what it holds, names in order.
    pub(crate) entries: Vec<Entry>,
    /// There was more than one walk may look at.
    pub(crate) cut: bool,
}

/// Whether a walk goes into the folders that it finds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Depth {
    /// Only the folder's own entries.
    One,
    /// Everything beneath.
    All,
}

/// The entries beneath a folder. Nothing outside of the workspace is asked: no file of the user's
/// home and none above the root decides what is left out.
///
/// The walk starts at the root, so that the ignore files on the way count. A folder that they leave
/// out was asked for by name, so it is then walked by itself.
pub(crate) fn walk(workspace: &Workspace, folder: &RelPath, depth: Depth) -> Walked {
    let from_root = from(workspace, &RelPath::root(), folder, depth);
    if from_root.reached {
        return from_root.walked;
    }
    from(workspace, folder, folder, depth).walked
}

struct Way {
    walked: Walked,
    /// The folder that was asked for was come by.
    reached: bool,
}

fn from(workspace: &Workspace, start: &RelPath, folder: &RelPath, depth: Depth) -> Way {
    let root = workspace.root();
    let above = folder.segments().count() - start.segments().count();
    let deepest = match depth {
        Depth::One => above + 1,
        Depth::All => above + WALK_DEPTH_MAX,
    };
    let (root_path, wanted) = (root.to_owned(), folder.clone());
    let walker = WalkBuilder::new(root.join(os_path(start)))
        .standard_filters(false)
        .git_ignore(true)
        .git_exclude(true)
        .ignore(true)
        .require_git(false)
        .parents(false)
        .follow_links(false)
        .max_depth(Some(deepest))
        .filter_entry(move |entry| {
            let on_the_way = relative(&root_path, entry.path())
                .is_some_and(|path| path.is_beneath(&wanted) || wanted.is_beneath(&path));
            on_the_way && entry.file_name() != ".git"
        })
        .sort_by_file_name(std::cmp::Ord::cmp)
        .build();
    let mut found = Walked::default();
    let mut reached = false;
    for (count, entry) in walker.enumerate() {
        if count >= WALK_ENTRIES_MAX {
            found.cut = true;
            break;
        }
        // A folder that can't be read shows nothing; that is what the person who locked it wants.
        let Ok(entry) = entry else { continue };
        let Some(path) = relative(root, entry.path()) else {
            continue;
        };
        if !path.is_beneath(folder) {
            continue;
        }
        reached = true;
        if path == *folder {
            continue;
        }
        let kind = entry.file_type();
        found.entries.push(Entry {
            path,
            is_folder: kind.is_some_and(|kind| kind.is_dir()),
            is_file: kind.is_some_and(|kind| kind.is_file()),
        });
    }
    Way {
        walked: found,
        reached,
    }
}

#[cfg(unix)]
fn os_path(path: &RelPath) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(path.as_bytes()))
}

#[cfg(not(unix))]
fn os_path(path: &RelPath) -> std::path::PathBuf {
    path.to_string().into()
}

#[cfg(unix)]
fn relative(root: &Path, path: &Path) -> Option<RelPath> {
    use std::os::unix::ffi::OsStrExt as _;
    let rest = path.strip_prefix(root).ok()?;
    RelPath::new(rest.as_os_str().as_bytes()).ok()
}

#[cfg(not(unix))]
fn relative(root: &Path, path: &Path) -> Option<RelPath> {
    let rest = path.strip_prefix(root).ok()?.to_str()?.replace('\\', "/");
    RelPath::new(rest.as_bytes()).ok()
}
