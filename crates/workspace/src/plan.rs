//! From what a transaction looked at and what it wants to the fewest trees that change as a whole.

use std::collections::{BTreeMap, BTreeSet};

use crate::journal::record::Unit;
use crate::node::{Item, Node};
use crate::relpath::RelPath;

/// What stood or shall stand under each path.
pub(crate) type Nodes = BTreeMap<RelPath, Option<Item>>;

/// The units of a transaction, in path order.
///
/// Attributes are set on the thing itself, except on a file with several names: those that are not
/// meant, perhaps outside of the workspace, would change as well. `links` are new names of files.
/// `timed` are folders whose time is set, whatever else changes it.
pub(crate) fn units(
    (before, wants): (&Nodes, &Nodes),
    links: &BTreeMap<RelPath, RelPath>,
    timed: &BTreeSet<RelPath>,
) -> Vec<Unit> {
    let linked: BTreeSet<&RelPath> = links.iter().flat_map(|(path, to)| [path, to]).collect();
    let mut units: Vec<Unit> = Vec::new();
    for (path, want) in wants {
        let was = before.get(path).and_then(Option::as_ref);
        let want = want.as_ref();
        let inside = units
            .last_mut()
            .filter(|unit| !unit.in_place)
            .and_then(|unit| path.beneath(&unit.path).map(|sub| (unit, sub)));
        if let Some((unit, sub)) = inside {
            unit.before.extend(was.map(|item| Item {
                sub: sub.clone(),
                ..item.clone()
            }));
            unit.after.extend(want.map(|item| Item {
                sub,
                ..item.clone()
            }));
            continue;
        }
        if unchanged(was, want) && !links.contains_key(path) && !timed.contains(path) {
            continue;
        }
        let in_place = matches!(
            (was, want),
            (Some(was), Some(want)) if was.node.same(&want.node)
                && settable(was) && !linked.contains(path) && !rejoins(was, want)
        );
        units.push(Unit {
            path: path.clone(),
            before: was.cloned().into_iter().collect(),
            after: want.cloned().into_iter().collect(),
            in_place,
        });
    }
    units
}

/// Whether attributes can be set on the thing itself: a link has none of its own, and a pipe must
/// not be opened, because someone may wait for that.
fn settable(item: &Item) -> bool {
    match item.node {
        Node::File { .. } => item.identity.is_none_or(|identity| identity.nlink == 1),
        Node::Dir => true,
        Node::Symlink { .. } | Node::Pipe | Node::Socket => false,
    }
}

/// Whether a file shall be a name of a file again that it was parted from.
fn rejoins(was: &Item, want: &Item) -> bool {
    let file = |item: &Item| item.identity.map(|one| (one.dev, one.ino));
    let had_names = matches!(want.node, Node::File { .. })
        && want.identity.is_some_and(|identity| identity.nlink > 1);
    had_names && file(was) != file(want)
}

fn unchanged(was: Option<&Item>, want: Option<&Item>) -> bool {
    match (was, want) {
        (None, None) => true,
        (Some(was), Some(want)) => {
            was.node.same(&want.node)
                && !rejoins(was, want)
                && want.meta.satisfied_by(&was.meta)
                && (want.meta.mtime.is_none() || want.meta.mtime == was.meta.mtime)
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}
