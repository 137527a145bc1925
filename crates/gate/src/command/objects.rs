//! What a command adds to git's objects is what its name says.
//!
//! Git believes the index of a pack: one that gives another content under an id that is known hides
//! the true one, and whoever checks that file out gets the false one. So every new object is read
//! back and named anew, by git itself, before it gets to the repository.

use std::collections::BTreeMap;
use std::path::Path;

use tagout_sandbox::layer::{ChangeSet, Entry, Kind};
use tagout_vocab::Code;
use tagout_workspace::RelPath;

use super::git_asked::{Asked, Git};
use crate::changes::git::{self, GitPath};
use crate::engine::Inner;
use crate::error::GateError;
use crate::observed::Beyond;

/// Reads ids and indexes of packs, packs all those objects and has their names made again. Books
/// about objects are compared with the objects.
const NAMED: &str = "
    form=$($G rev-parse --show-object-format)
    sed -n 's/^object //p' /tmp/in > /tmp/ids
    sed -n 's/^index //p' /tmp/in > /tmp/indexes
    while IFS= read -r one; do
        $G show-index --object-format=$form < \"$one\" > /tmp/one
        cut -d ' ' -f 2 /tmp/one >> /tmp/ids
    done < /tmp/indexes
    sort -u /tmp/ids > /tmp/claimed
    $G pack-objects -q --stdout < /tmp/claimed > /tmp/made.pack
    mkdir -p /tmp/objects
    GIT_OBJECT_DIRECTORY=/tmp/objects $G index-pack --object-format=$form -o /tmp/made.idx \\
        /tmp/made.pack > /dev/null
    $G show-index --object-format=$form < /tmp/made.idx > /tmp/one
    cut -d ' ' -f 2 /tmp/one | sort -u > /tmp/found
    cmp /tmp/claimed /tmp/found
    if grep -q '^graph$' /tmp/in; then $G -c core.commitGraph=true commit-graph verify; fi
    if grep -q '^packs$' /tmp/in; then $G -c core.multiPackIndex=true multi-pack-index verify; fi";

/// What is asked about one repository, with one of the paths.
type Questions = BTreeMap<Vec<u8>, (RelPath, Vec<Vec<u8>>)>;

/// The repositories to which a set would add objects that are not what their names say.
pub(super) fn beyond(inner: &Inner, set: &ChangeSet, own: &Path) -> Vec<Beyond> {
    let mut questions = Questions::new();
    for entry in set.judged() {
        let (Some(question), Ok(path)) = (question(entry), RelPath::new(&entry.path)) else {
            continue;
        };
        let above = path.segments();
        let above = above.take_while(|name| !name.eq_ignore_ascii_case(b".git"));
        let folder = above.flat_map(|name| [name, b"/"].concat()).collect();
        let asked = questions.entry(folder).or_insert((path, Vec::new()));
        asked.1.push(question);
    }
    let wrong = |(folder, (path, lines)): (&Vec<u8>, &(RelPath, Vec<Vec<u8>>))| {
        let why = match asked(inner, (folder, path, lines), own) {
            Ok(None) => return None,
            Ok(Some(why)) => why.to_owned(),
            Err(error) => format!("its new objects are not what their names say: {error}"),
        };
        let (path, code) = (path.clone(), Code::ScopeViolation);
        Some(Beyond { path, code, why })
    };
    questions.iter().filter_map(wrong).collect()
}

/// What is to be asked about a path, as a line.
fn question(entry: &Entry) -> Option<Vec<u8>> {
    let kind = git::what(&entry.path);
    if !matches!(entry.kind, Kind::File { .. } | Kind::Link { .. })
        || !matches!(kind, GitPath::Object | GitPath::Bookkeeping)
    {
        return None;
    }
    let names: Vec<&[u8]> = entry.path.split(|byte| *byte == b'/').collect();
    let store = names.iter().rposition(|name| *name == b"objects")?;
    let is_hex = |name: &[u8]| name.iter().all(u8::is_ascii_hexdigit);
    match names.get(store + 1..)? {
        [folder, file] if folder.len() == 2 && is_hex(folder) && is_hex(file) => {
            Some([b"object ", *folder, file].concat())
        }
        [b"pack", file] if file.ends_with(b".idx") => Some(entry.path.clone()),
        [b"info", b"commit-graph"] | [b"info", b"commit-graphs", ..] => Some(b"graph".to_vec()),
        [b"pack", file, ..] if file.starts_with(b"multi-pack-index") => Some(b"packs".to_vec()),
        _ => None,
    }
}

/// What stands against the new objects of one repository.
fn asked(
    inner: &Inner,
    (folder, path, lines): (&[u8], &RelPath, &[Vec<u8>]),
    own: &Path,
) -> Result<Option<&'static str>, GateError> {
    if path.segments().any(|name| name == b"modules") {
        return Ok(Some("the objects of a submodule can't be judged here"));
    }
    let mut input = Vec::new();
    for line in lines {
        if line.contains(&b'\n') {
            return Ok(Some("a name that git does not give"));
        }
        // The script runs in the repository's folder.
        if let Some(index) = line
            .strip_prefix(folder)
            .filter(|_| line.ends_with(b".idx"))
        {
            input.extend_from_slice(b"index ");
            input.extend_from_slice(index);
        } else {
            input.extend_from_slice(line);
        }
        input.push(b'\n');
    }
    let git = Git::new(inner, folder, own)?;
    git.ask(Asked::After, NAMED, &input)?;
    Ok(None)
}
