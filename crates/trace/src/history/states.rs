//! The versions of each path, and the ways to find one by what is in it.

use std::collections::{HashMap, HashSet};

use tagout_vocab::Digest;
use tagout_vocab::limits::{ATTRIBUTION_CHUNK_STATES_MAX, ATTRIBUTION_PLACES_MAX};

use super::bytes::{Reader, Writer};
use super::{HistoryError, Key, Store};
use crate::align::{By, hunks};
use crate::attribution::{Author, Certainty, Credit, Handling, Line, OriginNo, Sheet, Version};

/// The format of one version's bytes.
const FORMAT: u8 = 1;

const WHOLE: u8 = 0;
const CHANGED: u8 = 1;
const LINKED: u8 = 2;

/// Versions that had a content; older ones are forgotten first.
const CONTENT_PLACES_MAX: usize = 32;

/// One version of one path.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub(crate) struct Place {
    /// The path's digest.
    pub(crate) path: Digest,
    /// Its number among the path's versions, from zero.
    pub(crate) number: u32,
}

/// A version as it was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) content: Digest,
    pub(crate) version: Version,
}

/// One version as it is read.
struct Frame {
    content: Digest,
    sheet: Sheet,
    /// `None` where nobody wanted them.
    credits: Option<Vec<Credit>>,
}

/// The versions in a store.
#[derive(Debug)]
pub(crate) struct States<'a, S>(pub(crate) &'a S);

impl<S: Store> States<'_, S> {
    /// How many versions a path has.
    pub(crate) fn count(&self, path: &Digest) -> Result<u32, HistoryError> {
        let key = Key::head(path);
        match self.0.get(&key)? {
            None => Ok(0),
            Some(bytes) => Reader(&bytes).small().ok_or_else(|| damaged(&key)),
        }
    }

    /// The latest versions of a path, newest last.
    pub(crate) fn recent(&self, path: &Digest, max: usize) -> Result<Vec<Found>, HistoryError> {
        let count = self.count(path)?;
        let Some(last) = count.checked_sub(1) else {
            return Ok(Vec::new());
        };
        let first = count.saturating_sub(u32::try_from(max).unwrap_or(u32::MAX));
        let pieces = piece_of(first)..=piece_of(last);
        let mut found = Vec::new();
        for piece in pieces {
            found.extend(self.piece(path, piece, |number| number >= first)?);
        }
        Ok(found)
    }

    /// One version.
    pub(crate) fn version(&self, place: &Place) -> Result<Option<Found>, HistoryError> {
        let wanted = |number| number == place.number;
        let mut found = self.piece(&place.path, piece_of(place.number), wanted)?;
        Ok(found.pop())
    }

    /// Versions with exactly this content, newest last.
    pub(crate) fn with_content(&self, content: &Digest) -> Result<Vec<Place>, HistoryError> {
        self.places(&Key::content(content))
    }

    /// Where a telling line was first seen; nothing if in too many places.
    pub(crate) fn with_line(&self, line: u64) -> Result<Vec<Place>, HistoryError> {
        let places = self.places(&Key::print(line))?;
        if places.len() >= ATTRIBUTION_PLACES_MAX {
            return Ok(Vec::new());
        }
        Ok(places)
    }

    fn places(&self, key: &Key) -> Result<Vec<Place>, HistoryError> {
        let Some(bytes) = self.0.get(key)? else {
            return Ok(Vec::new());
        };
        let mut reader = Reader(&bytes);
        let mut places = Vec::new();
        while !reader.0.is_empty() {
            let (Some(path), Some(number)) = (reader.digest(), reader.small()) else {
                return Err(damaged(key));
            };
            places.push(Place { path, number });
        }
        Ok(places)
    }

    /// The wanted versions of one piece.
    fn piece(
        &self,
        path: &Digest,
        piece: u32,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Result<Vec<Found>, HistoryError> {
        let key = Key::piece(path, piece);
        let Some(bytes) = self.0.get(&key)? else {
            return Ok(Vec::new());
        };
        let mut frames = Reader(&bytes);
        let mut found: Vec<Found> = Vec::new();
        let mut sheet: Option<Sheet> = None;
        for number in piece.saturating_mul(chunk()).. {
            if frames.0.is_empty() {
                break;
            }
            let frame = Reader(frames.framed().ok_or_else(|| damaged(&key))?);
            let is_wanted = is_wanted(number);
            let read = self.frame(&key, frame, sheet.take(), is_wanted)?;
            if let Some(credits) = read.credits {
                found.push(Found {
                    place: Place {
                        path: *path,
                        number,
                    },
                    content: read.content,
                    version: Version {
                        sheet: read.sheet.clone(),
                        credits,
                    },
                });
            }
            sheet = Some(read.sheet);
        }
        Ok(found)
    }

    /// Reads one version; its authors only where they are wanted.
    fn frame(
        &self,
        key: &Key,
        mut frame: Reader<'_>,
        before: Option<Sheet>,
        is_wanted: bool,
    ) -> Result<Frame, HistoryError> {
        let format = frame.byte().ok_or_else(|| damaged(key))?;
        if format > FORMAT {
            return Err(HistoryError::Later {
                key: key.to_string(),
                found: format,
                known: FORMAT,
            });
        }
        let kind = frame.byte();
        let content = frame.digest().ok_or_else(|| damaged(key))?;
        let mut authors = None;
        let sheet = match kind {
            Some(WHOLE) => read_lines(&mut frame, Sheet::default()),
            Some(CHANGED) => before.and_then(|before| read_lines(&mut frame, before)),
            Some(LINKED) => self.linked(key, &mut frame)?.map(|version| {
                authors = Some(version.credits);
                version.sheet
            }),
            _ => None,
        };
        let sheet = sheet.ok_or_else(|| damaged(key))?;
        if is_wanted && authors.is_none() {
            let read = read_credits(&mut frame, sheet.lines.len());
            authors = Some(read.ok_or_else(|| damaged(key))?);
        }
        Ok(Frame {
            content,
            sheet,
            credits: authors.filter(|_| is_wanted),
        })
    }

    fn linked(&self, key: &Key, frame: &mut Reader<'_>) -> Result<Option<Version>, HistoryError> {
        let (Some(path), Some(number)) = (frame.digest(), frame.small()) else {
            return Ok(None);
        };
        let place = Place { path, number };
        // A link leads to a version that is written out. Anything else nobody wrote, and following
        // it could go in a circle.
        if Key::piece(&path, piece_of(number)) == *key || !self.is_written(&place)? {
            return Ok(None);
        }
        Ok(self.version(&place)?.map(|found| found.version))
    }

    /// Whether the version at a place is written out there.
    fn is_written(&self, place: &Place) -> Result<bool, HistoryError> {
        let key = Key::piece(&place.path, piece_of(place.number));
        let bytes = self.0.get(&key)?.unwrap_or_default();
        let mut frames = Reader(&bytes);
        for _ in 0..place.number % chunk() {
            frames.framed().ok_or_else(|| damaged(&key))?;
        }
        let frame = frames.framed().ok_or_else(|| damaged(&key))?;
        Ok(frame.get(1).is_some_and(|kind| *kind != LINKED))
    }
}

/// A version to be added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addition<'a> {
    pub(crate) path: &'a Digest,
    pub(crate) content: &'a Digest,
    pub(crate) version: &'a Version,
    /// Where the same version is kept already, for another path.
    pub(crate) same_as: Option<Place>,
    /// A version of the path at hand; if it is the latest, it need not be read again.
    pub(crate) at_hand: Option<(Place, &'a Version)>,
}

/// Adds a version to the end of its path's run.
pub(crate) fn add<S: Store>(store: &mut S, new: &Addition<'_>) -> Result<Place, HistoryError> {
    let states = States(store);
    let number = states.count(new.path)?;
    let latest = number.checked_sub(1).map(|number| Place {
        path: *new.path,
        number,
    });
    let read;
    let before: Option<&Version> = match (latest, new.at_hand) {
        (Some(latest), Some((place, version))) if latest == place => Some(version),
        (Some(latest), _) => {
            read = states.version(&latest)?;
            read.as_ref().map(|found| &found.version)
        }
        (None, _) => None,
    };
    let link = match new.same_as {
        Some(place) if place.path != *new.path && states.is_written(&place)? => Some(place),
        _ => None,
    };
    let mut frame = Writer::default();
    frame.0.push(FORMAT);
    let is_first = number % chunk() == 0;
    match (&link, before) {
        (Some(place), _) => {
            frame.0.push(LINKED);
            frame.digest(new.content);
            frame.digest(&place.path);
            frame.number(u64::from(place.number));
        }
        (None, Some(before)) if !is_first => {
            frame.0.push(CHANGED);
            frame.digest(new.content);
            write_version(&mut frame, new.version, Some(before));
        }
        (None, _) => {
            frame.0.push(WHOLE);
            frame.digest(new.content);
            write_version(&mut frame, new.version, None);
        }
    }
    let known = before.map(|before| prints(&before.sheet));
    let mut framed = Writer::default();
    framed.framed(&frame.0);
    store.append(&Key::piece(new.path, piece_of(number)), &framed.0)?;
    let mut head = Writer::default();
    head.number(u64::from(number.saturating_add(1)));
    store.put(&Key::head(new.path), &head.0)?;
    let place = Place {
        path: *new.path,
        number,
    };
    note_place(store, &Key::content(new.content), place, CONTENT_PLACES_MAX)?;
    if link.is_none() {
        let known = known.unwrap_or_default();
        for line in prints(&new.version.sheet).difference(&known) {
            note_place(store, &Key::print(*line), place, ATTRIBUTION_PLACES_MAX)?;
        }
    }
    Ok(place)
}

fn note_place<S: Store>(
    store: &mut S,
    key: &Key,
    place: Place,
    max: usize,
) -> Result<(), HistoryError> {
    let mut writer = Writer::default();
    writer.digest(&place.path);
    writer.number(u64::from(place.number));
    let mut places = States(store).places(key)?;
    if places.len() < max {
        store.append(key, &writer.0)?;
        return Ok(());
    }
    if max == ATTRIBUTION_PLACES_MAX {
        return Ok(());
    }
    places.drain(..max / 2);
    let mut kept = Writer::default();
    for place in places {
        kept.digest(&place.path);
        kept.number(u64::from(place.number));
    }
    kept.0.extend_from_slice(&writer.0);
    store.put(key, &kept.0)?;
    Ok(())
}

/// Lines that stand for a text in the index: those that say something by themselves.
pub(crate) fn prints(sheet: &Sheet) -> HashSet<u64> {
    let telling = sheet
        .lines
        .iter()
        .filter(|line| line.weight >= PRINT_WEIGHT_MIN);
    telling.map(|line| line.soft).collect()
}

/// Lighter lines are not worth an entry of their own.
const PRINT_WEIGHT_MIN: u32 = 10;

fn chunk() -> u32 {
    u32::try_from(ATTRIBUTION_CHUNK_STATES_MAX)
        .unwrap_or(1)
        .max(1)
}

fn piece_of(number: u32) -> u32 {
    number / chunk()
}

fn damaged(key: &Key) -> HistoryError {
    HistoryError::Damaged {
        key: key.to_string(),
        what: "versions of a file",
    }
}

/// Lines as copies of earlier ones and as new ones, then the authors in runs.
fn write_version(writer: &mut Writer, version: &Version, before: Option<&Version>) {
    let empty = Vec::new();
    let old = before.map_or(&empty, |before| &before.sheet.lines);
    let old_hashes: Vec<u64> = old.iter().map(|line| line.hash).collect();
    let changes = hunks(&old_hashes, &version.sheet.hashes(), By::Lines);
    writer.count(changes.len());
    let mut at = 0;
    let mut numbers: HashMap<u64, usize> = HashMap::new();
    for change in &changes {
        writer.count(change.old.start.saturating_sub(at));
        writer.count(change.old.len());
        writer.count(change.new.len());
        at = change.old.end;
        for line in change.new.clone() {
            let Some(found) = version.sheet.lines.get(line) else {
                continue;
            };
            write_line(writer, &mut numbers, found, version.sheet.tokens_of(line));
        }
    }
    write_credits(writer, &version.credits);
}

/// A token that was not seen yet is written out after its number.
fn write_line(writer: &mut Writer, numbers: &mut HashMap<u64, usize>, line: &Line, tokens: &[u64]) {
    writer.hash(line.hash);
    writer.hash(line.soft);
    writer.number(u64::from(line.weight));
    writer.count(tokens.len());
    for token in tokens {
        let next = numbers.len();
        let number = *numbers.entry(*token).or_insert(next);
        writer.count(number);
        if number == next {
            writer.hash(*token);
        }
    }
}

/// The lines of a version, made from those of the one before. Tokens are only ever added, so that
/// lines that stay are not copied with theirs.
fn read_lines(reader: &mut Reader<'_>, before: Sheet) -> Option<Sheet> {
    let mut sheet = before;
    let old = std::mem::take(&mut sheet.lines);
    let mut table = Vec::new();
    let mut tokens = Vec::new();
    let mut at = 0_usize;
    for _ in 0..reader.count()? {
        let until = at.checked_add(usize::try_from(reader.number()?).ok()?)?;
        sheet.lines.extend_from_slice(old.get(at..until)?);
        at = until.checked_add(usize::try_from(reader.number()?).ok()?)?;
        for _ in 0..reader.count()? {
            let (hash, soft, weight) = (reader.hash()?, reader.hash()?, reader.small()?);
            tokens.clear();
            for _ in 0..reader.count()? {
                let number = usize::try_from(reader.number()?).ok()?;
                if number == table.len() {
                    table.push(reader.hash()?);
                }
                tokens.push(*table.get(number)?);
            }
            sheet.push((hash, soft), weight, &tokens);
        }
    }
    sheet.lines.extend_from_slice(old.get(at..)?);
    Some(sheet)
}

fn write_credits(writer: &mut Writer, credits: &[Credit]) {
    let runs: Vec<&[Credit]> = credits.chunk_by(|one, next| one == next).collect();
    writer.count(runs.len());
    for run in runs {
        let Some(credit) = run.first() else { continue };
        writer.count(run.len());
        let handled = match credit.handled {
            None => 0,
            Some((Handling::Moved, _)) => 1,
            Some((Handling::Reformatted, _)) => 2,
            Some((Handling::Renamed, _)) => 3,
        };
        writer
            .0
            .push(handled * 2 + u8::from(credit.certainty == Certainty::Certain));
        writer.number(author_number(credit.author));
        if let Some((_, by)) = credit.handled {
            writer.number(author_number(by));
        }
    }
}

fn read_credits(reader: &mut Reader<'_>, lines: usize) -> Option<Vec<Credit>> {
    let mut credits = Vec::with_capacity(lines);
    for _ in 0..reader.count()? {
        let len = usize::try_from(reader.number()?).ok()?;
        let flags = reader.byte()?;
        let author = author(reader.number()?)?;
        let how = match flags >> 1 {
            0 => None,
            1 => Some(Handling::Moved),
            2 => Some(Handling::Reformatted),
            3 => Some(Handling::Renamed),
            _ => return None,
        };
        let handled = match how {
            None => None,
            Some(how) => Some((how, self::author(reader.number()?)?)),
        };
        let certainty = if flags & 1 == 1 {
            Certainty::Certain
        } else {
            Certainty::Likely
        };
        let credit = Credit {
            author,
            certainty,
            handled,
        };
        if credits.len().checked_add(len)? > lines {
            return None;
        }
        credits.resize(credits.len().saturating_add(len), credit);
    }
    (credits.len() == lines).then_some(credits)
}

fn author_number(author: Author) -> u64 {
    match author {
        Author::Unknown => 0,
        Author::Human => 1,
        Author::Agent(OriginNo(number)) => u64::from(number).saturating_add(2),
    }
}

fn author(number: u64) -> Option<Author> {
    match number {
        0 => Some(Author::Unknown),
        1 => Some(Author::Human),
        other => {
            let number = u32::try_from(other.checked_sub(2)?).ok()?;
            Some(Author::Agent(OriginNo(number)))
        }
    }
}
