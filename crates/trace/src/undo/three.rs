//! Three entries, one result: what a path would be without a change that was made to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Clash, Content, Entry, EntryKind, Held, Loss};
use crate::merge::{Merge, merge3};

/// The three readings of a path.
pub(super) struct Three<'a> {
    /// What the execution left.
    pub(super) base: Option<&'a Entry>,
    /// What is there now.
    pub(super) ours: Option<&'a Entry>,
    /// What the execution found.
    pub(super) theirs: Option<&'a Entry>,
}

/// Why there is no result.
pub(super) enum Failure {
    Clash(Clash),
    Lost(Loss),
}

pub(super) fn three_way(three: &Three<'_>) -> Result<Option<Entry>, Failure> {
    match (three.base, three.ours, three.theirs) {
        // Removed since, by someone else: it stays removed.
        (None, None, None) | (Some(_), None, _) => Ok(None),
        // Nothing changed since: what it was comes back.
        (None, None, Some(theirs)) => written(theirs).map(Some),
        (Some(base), Some(ours), None) if base.is(ours) => Ok(None),
        // Made anew since it was removed, as it was or otherwise.
        (None, Some(ours), Some(theirs)) if ours.is(theirs) => Ok(Some(ours.clone())),
        (None, Some(_), _) => Err(Failure::Clash(Clash::PlaceTaken)),
        (Some(_), Some(_), None) => Err(Failure::Clash(Clash::ChangedSinceMade)),
        (Some(base), Some(ours), Some(theirs)) => both(base, ours, theirs).map(Some),
    }
}

/// An entry that can be written.
fn written(entry: &Entry) -> Result<Entry, Failure> {
    match &entry.content {
        Content::Kept(_) => Ok(entry.clone()),
        Content::Lost(why) => Err(Failure::Lost(*why)),
    }
}

fn both(base: &Entry, ours: &Entry, theirs: &Entry) -> Result<Entry, Failure> {
    if base.is(ours) {
        let mut result = written(theirs)?;
        result.held.time = time(base, ours, theirs);
        return Ok(result);
    }
    if ours.is(theirs) || base.is(theirs) {
        return Ok(ours.clone());
    }
    if base.kind != ours.kind || base.kind != theirs.kind {
        return Err(Failure::Clash(Clash::Kind));
    }
    let mode = if base.mode == ours.mode {
        theirs.mode
    } else if base.mode == theirs.mode || ours.mode == theirs.mode {
        ours.mode
    } else {
        return Err(Failure::Clash(Clash::Mode));
    };
    let held = held(&base.held, &ours.held, &theirs.held)?;
    let mut result = if base.digest == ours.digest {
        written(theirs)?
    } else if base.digest == theirs.digest || ours.digest == theirs.digest {
        ours.clone()
    } else if base.kind == EntryKind::File {
        merged(base, ours, theirs)?
    } else {
        return Err(Failure::Clash(Clash::Content));
    };
    result.mode = mode;
    result.held = held;
    Ok(result)
}

/// The time that belongs to an entry that becomes what it was. Whoever set it since keeps it,
/// unless the content is another one then.
fn time(base: &Entry, ours: &Entry, theirs: &Entry) -> Option<(i64, i64)> {
    let is_as_left = super::alike(base.held.time.as_ref(), ours.held.time.as_ref());
    let is_same = (ours.kind, ours.digest) == (theirs.kind, theirs.digest);
    match (is_as_left, is_same && ours.kind != EntryKind::Folder) {
        (true, _) => theirs.held.time,
        (false, true) => ours.held.time,
        (false, false) => None,
    }
}

/// What belongs to an entry on which others worked since, one by one. Its time is that of the undo.
fn held(base: &Held, ours: &Held, theirs: &Held) -> Result<Held, Failure> {
    let clash = || Failure::Clash(Clash::Attributes);
    let owner = match (base.owner, ours.owner, theirs.owner) {
        (Some(base), Some(ours), Some(theirs)) => {
            Some(picked([base, ours, theirs]).ok_or_else(clash)?)
        }
        (_, ours, _) => ours,
    };
    let maps = [&base.attributes, &ours.attributes, &theirs.attributes];
    let [Some(was), Some(now), Some(then)] = maps else {
        return Ok(Held {
            owner,
            attributes: ours.attributes.clone(),
            ..Held::default()
        });
    };
    let names: BTreeSet<&Vec<u8>> = was.keys().chain(now.keys()).chain(then.keys()).collect();
    let mut attributes = BTreeMap::new();
    for name in names {
        let sides = [was, now, then].map(|map| map.get(name));
        if let Some(value) = picked(sides).ok_or_else(clash)? {
            attributes.insert(name.clone(), value.clone());
        }
    }
    Ok(Held {
        owner,
        attributes: Some(attributes),
        ..Held::default()
    })
}

/// The one of three values that remains: base, ours, theirs. `None` when all differ.
fn picked<T: PartialEq>([base, ours, theirs]: [T; 3]) -> Option<T> {
    if base == ours {
        Some(theirs)
    } else if base == theirs || ours == theirs {
        Some(ours)
    } else {
        None
    }
}

fn merged(base: &Entry, ours: &Entry, theirs: &Entry) -> Result<Entry, Failure> {
    let bytes = |entry: &Entry| -> Result<Arc<[u8]>, Failure> {
        match &entry.content {
            Content::Kept(bytes) => Ok(Arc::clone(bytes)),
            Content::Lost(why) => Err(Failure::Lost(*why)),
        }
    };
    let (base, now, theirs) = (bytes(base)?, bytes(ours)?, bytes(theirs)?);
    if [&base, &now, &theirs].iter().any(|text| text.contains(&0)) {
        return Err(Failure::Clash(Clash::Content));
    }
    match merge3(&base, &now, &theirs) {
        Merge::Merged(bytes) => Ok(Entry::file(bytes, ours.mode)),
        Merge::Conflict(hunks) => Err(Failure::Clash(Clash::Lines(hunks))),
    }
}
