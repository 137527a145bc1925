//! What a commit looks at before anything happens: is everything still as the transaction saw it?

use crate::error::{Clash, ConflictPath, Error, at};
use crate::journal::record::Unit;
use crate::look::{self, Keep};
use crate::mark::Mark;
use crate::node::{Identity, Item};
use crate::relpath::RelPath;
use crate::root::Parents;
use crate::sys;
use crate::transaction::Transaction;
use crate::workspace::Workspace;
use crate::writers;

/// The units of a transaction that can be committed, or the conflicts that stand against them.
pub(crate) fn units(transaction: &Transaction<'_>) -> Result<Vec<Unit>, Error> {
    let (workspace, since) = (transaction.workspace, transaction.since.as_ref());
    let mut units = transaction.units();
    check_before(workspace, &mut units, since)?;
    check_links(transaction)?;
    if since.is_some() {
        // Swapping and swapping back would leave every file younger than the mark.
        check_writers(workspace, &units)?;
    }
    Ok(units)
}

/// Compares what each unit was planned on with what is there now: by the file's identity, and by
/// its content only where that differs. What changed since a mark is someone else's.
fn check_before(
    workspace: &Workspace,
    units: &mut Vec<Unit>,
    since: Option<&Mark>,
) -> Result<(), Error> {
    let mut paths = Vec::new();
    let parents = Parents::default();
    for unit in units.iter_mut() {
        let path = unit.path.clone();
        let name = path.name().unwrap_or(b".");
        let clash = match parents.of(&workspace.root, &unit.path) {
            Ok(folder) if unit.before.is_empty() => sys::stat_at(&folder, name)
                .is_ok()
                .then_some(Clash::Existence),
            Ok(folder) => check_unit((&folder, name), unit, since)?,
            Err(Error::Missing { .. } | Error::Conflict { .. }) => Some(Clash::WayChanged),
            Err(error) => return Err(error),
        };
        if let Some(found) = clash {
            paths.push(ConflictPath {
                path: unit.path.to_string(),
                found,
                kept: None,
            });
        }
    }
    // A folder's time that is not set after all was all that these were about.
    units.retain(|unit| {
        !(is_folder_time(unit) && unit.after.iter().all(|item| item.meta.mtime.is_none()))
    });
    if paths.is_empty() {
        Ok(())
    } else {
        Err(Error::Conflict { paths })
    }
}

/// Whether a unit is only about the time of a folder, which follows from what changes in it.
pub(crate) fn is_folder_time(unit: &Unit) -> bool {
    unit.in_place
        && unit
            .before
            .iter()
            .zip(&unit.after)
            .all(|(before, after)| before.node.is_dir() && after.meta.satisfied_by(&before.meta))
}

fn check_unit(
    (folder, name): (&sys::Handle, &[u8]),
    unit: &mut Unit,
    since: Option<&Mark>,
) -> Result<Option<Clash>, Error> {
    let (mut clash, mut foreign, mut moved) = (None, false, false);
    for item in &mut unit.before {
        let path = unit.path.join(&item.sub);
        let mtime = item.meta.mtime;
        clash = clash.or(check_item(folder, name, &path, item)?);
        foreign |= since.is_some_and(|mark| mark.is_foreign(item));
        moved |= mtime != item.meta.mtime;
    }
    let is_folder = unit.after.iter().any(|item| item.node.is_dir());
    let only_time = is_folder_time(unit);
    if unit.in_place && is_folder && (foreign || moved) {
        // Someone made or removed something in the folder: its time is the time of that.
        for item in &mut unit.after {
            item.meta.mtime = None;
        }
    }
    Ok(clash.or((foreign && !only_time).then_some(Clash::Changed)))
}

/// Finds files that someone may write, before anything is touched.
fn check_writers(workspace: &Workspace, units: &[Unit]) -> Result<(), Error> {
    let mut places = Vec::new();
    for unit in units
        .iter()
        .filter(|unit| !unit.in_place && !unit.before.is_empty())
    {
        places.push((workspace.root.parent(&unit.path)?, unit));
    }
    let trees: Vec<(&sys::Handle, &[u8])> = places
        .iter()
        .map(|((folder, name), _)| (folder, *name))
        .collect();
    let held = writers::held(workspace.options.writers, &trees)?;
    let is_held = |item: &Item| {
        item.identity
            .is_some_and(|identity| held.contains(&(identity.dev, identity.ino)))
    };
    let paths: Vec<ConflictPath> = units
        .iter()
        .filter(|unit| unit.before.iter().any(is_held))
        .map(|unit| ConflictPath {
            path: unit.path.to_string(),
            found: Clash::HeldOpen,
            kept: None,
        })
        .collect();
    if paths.is_empty() {
        Ok(())
    } else {
        Err(Error::Conflict { paths })
    }
}

/// Looks at the files that stay as they are and get another name.
fn check_links(transaction: &Transaction<'_>) -> Result<(), Error> {
    let mut units: Vec<Unit> = transaction
        .links
        .values()
        .filter(|to| !transaction.wants.contains_key(*to))
        .filter_map(|to| {
            let item = transaction.before.get(to).cloned().flatten()?;
            Some(Unit {
                path: to.clone(),
                before: vec![item.clone()],
                after: vec![item],
                in_place: false,
            })
        })
        .collect();
    check_before(
        transaction.workspace,
        &mut units,
        transaction.since.as_ref(),
    )
}

fn check_item(
    folder: &sys::Handle,
    top: &[u8],
    path: &RelPath,
    item: &mut Item,
) -> Result<Option<Clash>, Error> {
    let opened;
    let (folder, name) = if item.sub.is_root() {
        (folder, top)
    } else {
        let above = item.sub.parent().unwrap_or_default();
        let inside = RelPath::new(top)?.join(&above);
        match sys::open_dir(folder, inside.as_bytes()) {
            Ok(handle) => opened = handle,
            Err(_) => return Ok(Some(Clash::WayChanged)),
        }
        (&opened, item.sub.name().unwrap_or_default())
    };
    let stat = match sys::stat_at(folder, name) {
        Ok(stat) => stat,
        Err(error) if sys::is_missing(&error) => return Ok(Some(Clash::Existence)),
        Err(error) => return Err(Error::io("look at", path.to_string(), error)),
    };
    if item.identity == Some(Identity::of(&stat)) {
        return Ok(None);
    }
    let Some(found) = look::node(folder, name, path, Keep::Nothing)? else {
        return Ok(Some(Clash::Existence));
    };
    if !found.node.same(&item.node) || !item.meta.satisfied_by(&found.meta) {
        return Ok(Some(Clash::Changed));
    }
    item.identity = found.identity;
    item.meta.mtime = found.meta.mtime;
    Ok(None)
}

/// The folders whose entries change, with their times; one that can't be written refuses here,
/// before anything has happened.
pub(crate) fn folders(
    workspace: &Workspace,
    units: &[Unit],
) -> Result<Vec<(RelPath, sys::FileTime)>, Error> {
    let mut found: Vec<(RelPath, sys::FileTime)> = Vec::new();
    for unit in units.iter().filter(|unit| !unit.in_place) {
        let path = unit.path.parent().unwrap_or_default();
        if found.last().is_some_and(|(last, _)| *last == path) {
            continue;
        }
        let folder = workspace.root.dir(&path)?;
        let shown = || path.to_string();
        sys::may_write(&folder).map_err(at("write in the folder", shown()))?;
        let mtime = sys::stat(&folder).map_err(at("look at", shown()))?.mtime;
        found.push((path, mtime));
    }
    Ok(found)
}
