//! The known version that is closest to a file as it is.

use std::collections::HashMap;

use tagout_vocab::Digest;
use tagout_vocab::limits::ATTRIBUTION_NEAREST_STATES_MAX;

use super::{Authorship, Basis};
use crate::attribution::{Sheet, Version};
use crate::history::{Found, HistoryError, Place, States, Store, prints};

/// A text of fewer letters may be the same as another one by chance.
const TELLING_FILE_WEIGHT: u64 = 200;

/// Of a hundred parts of a file, how many must be known for another path's version to be its base.
const KINSHIP_PERCENT: u64 = 50;

/// Lines of an unknown file that are looked up to find its kin.
const VOTES_MAX: usize = 64;

/// What the authors of a file's lines stand on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    pub(super) basis: Basis,
    pub(super) place: Option<Place>,
}

impl<S: Store> Authorship<S> {
    /// The version with exactly this content, preferably of this path.
    pub(super) fn with_content(
        &self,
        path: &Digest,
        content: &Digest,
    ) -> Result<Option<(Base, Version)>, HistoryError> {
        let states = States(&self.store);
        let places = states.with_content(content)?;
        let own = places.iter().rev().find(|place| place.path == *path);
        let Some(place) = own.or(places.last()) else {
            return Ok(None);
        };
        let basis = if place.path == *path {
            Basis::Exact
        } else {
            Basis::Elsewhere
        };
        let found = states.version(place)?;
        // An index entry whose version was never written is stepped over.
        let Some(Found { version, .. }) = found.filter(|found| found.content == *content) else {
            return Ok(None);
        };
        let is_telling = weight(&version.sheet) >= TELLING_FILE_WEIGHT;
        if basis == Basis::Elsewhere && !is_telling {
            return Ok(None);
        }
        let base = Base {
            basis,
            place: Some(*place),
        };
        Ok(Some((base, version)))
    }

    /// The known version that shares most with a text.
    pub(super) fn nearest(
        &self,
        path: &Digest,
        sheet: &Sheet,
    ) -> Result<Option<Version>, HistoryError> {
        let states = States(&self.store);
        let own = states.recent(path, ATTRIBUTION_NEAREST_STATES_MAX)?;
        let best = closest(own, sheet);
        if let Some((shared, version)) = best
            && (shared.saturating_mul(100) >= weight(sheet).saturating_mul(KINSHIP_PERCENT / 2)
                || self.kin(path, sheet)?.is_none())
        {
            return Ok(Some(version));
        }
        self.kin(path, sheet)
    }

    /// A version of another path that is at least half of this text: the file was moved and edited.
    fn kin(&self, path: &Digest, sheet: &Sheet) -> Result<Option<Version>, HistoryError> {
        let states = States(&self.store);
        let mut votes: HashMap<Digest, usize> = HashMap::new();
        for line in prints(sheet).iter().take(VOTES_MAX) {
            for place in states.with_line(*line)? {
                if place.path != *path {
                    let count = votes.entry(place.path).or_default();
                    *count = count.saturating_add(1);
                }
            }
        }
        let Some((elected, _)) = votes.iter().max_by_key(|(path, count)| (**count, **path)) else {
            return Ok(None);
        };
        let found = states.recent(elected, ATTRIBUTION_NEAREST_STATES_MAX)?;
        Ok(closest(found, sheet)
            .filter(|(shared, _)| {
                shared.saturating_mul(100) >= weight(sheet).saturating_mul(KINSHIP_PERCENT)
            })
            .map(|(_, version)| version))
    }
}

/// Of some versions the one that shares most with a text and has least beside it; of equals the
/// latest.
fn closest(found: Vec<Found>, sheet: &Sheet) -> Option<(u64, Version)> {
    let mut wanted: HashMap<u64, u64> = HashMap::new();
    for line in &sheet.lines {
        let count = wanted.entry(line.hash).or_default();
        *count = count.saturating_add(1);
    }
    let mut best: Option<(u64, u64, Version)> = None;
    for candidate in found {
        let mut left = wanted.clone();
        let mut shared = 0_u64;
        for line in &candidate.version.sheet.lines {
            if let Some(count) = left.get_mut(&line.hash).filter(|count| **count > 0) {
                *count = count.saturating_sub(1);
                shared = shared.saturating_add(u64::from(line.weight).saturating_add(1));
            }
        }
        let extra = weight(&candidate.version.sheet).saturating_sub(shared);
        let score = shared.saturating_mul(2).saturating_sub(extra);
        if best.as_ref().is_none_or(|(most, _, _)| score >= *most) {
            best = Some((score, shared, candidate.version));
        }
    }
    best.map(|(_, shared, version)| (shared, version))
}

fn weight(sheet: &Sheet) -> u64 {
    let lines = sheet.lines.iter();
    lines
        .map(|line| u64::from(line.weight).saturating_add(1))
        .sum()
}
