//! Verifying: integrity, completeness and attestation, told apart. Nothing is ever repaired here.

mod diagnose;
mod scan;

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Serialize;
use tagout_vocab::limits::LEDGER_PROBLEMS_MAX;

use crate::error::{At as _, LedgerError};
use crate::keys::VerifierKey;
use crate::line;
use crate::note::{Checkpoint, NoteError, SignedCheckpoint};
use crate::reader::Reader;
use crate::seal::{self, Sealed};
use scan::{Depth, Scan, SealFound};

/// This many seals are checked, newest first, where the chain is tied to a signed root. The newest
/// covers all that is before it, so older ones add nothing but time.
const SEALS_CHECKED_MAX: usize = 4;

/// What the verifier knows besides the ledger.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// Keys whose seals are believed.
    pub keys: Vec<VerifierKey>,
    /// Keys of witnesses.
    pub witnesses: Vec<VerifierKey>,
    /// Checkpoints that were kept elsewhere.
    pub kept: Vec<SignedCheckpoint>,
    /// Who could have signed.
    pub facts: AttestationFacts,
    /// How many threads; zero for as many as there are cores.
    pub threads: usize,
    /// Whether every seal's root is computed again, though a newer one vouches for all of it.
    pub is_deep: bool,
}

/// Who owns the key, and who is being watched.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct AttestationFacts {
    /// The key file's owner, if the key is in a file here.
    pub key_owner_uid: Option<u32>,
    /// Whether others can read the key file.
    pub key_is_exposed: bool,
    /// The user as whom agents run.
    pub agent_uid: u32,
}

impl AttestationFacts {
    /// The facts of a key file.
    pub fn of_key_file(path: &Path, agent_uid: u32) -> Result<Self, LedgerError> {
        let found = std::fs::metadata(path).at("read", path)?;
        Ok(Self {
            key_owner_uid: Some(found.uid()),
            key_is_exposed: found.mode() & 0o077 != 0,
            agent_uid,
        })
    }

    fn is_separate(&self) -> bool {
        self.agent_uid != 0
            && !self.key_is_exposed
            && self.key_owner_uid.is_some_and(|uid| uid != self.agent_uid)
    }
}

/// Whether anything was changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrity {
    /// Nothing that is there was edited.
    Intact,
    /// Something was.
    Broken,
}

/// Whether anything is missing.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Completeness {
    /// A checkpoint covers every event.
    Complete,
    /// A checkpoint covers all but the newest events.
    OpenTail,
    /// No checkpoint says anything.
    Unknown,
    /// Events are missing.
    Incomplete,
}

/// Who vouches for the last seal.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum Attestation {
    /// Whoever runs the agents could have signed it.
    #[serde(rename = "self")]
    SelfAttested,
    /// The key belongs to another user than the agents run as.
    #[serde(rename = "separate_uid")]
    SeparateUid,
    /// A witness signed it too.
    #[serde(rename = "witnessed")]
    Witnessed,
}

/// What was done to the ledger.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// Bytes were changed.
    Edited,
    /// Events are missing in the middle.
    Deleted,
    /// Something was put in.
    Inserted,
    /// Events stand in another order.
    Reordered,
    /// Events are missing at the end.
    Truncated,
    /// This is another history than the one that a kept checkpoint vouches for.
    Forked,
    /// A seal or checkpoint is not by the given keys.
    BadSignature,
}

/// One thing that is wrong.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Problem {
    /// The first event that it is about, where that is known.
    pub event: Option<u64>,
    /// What was done.
    pub kind: ProblemKind,
    /// For a person.
    pub detail: String,
}

/// The result, in the form of `tagout verify --json`.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Report {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// How many events there are.
    pub events: u64,
    /// How many of them a believed checkpoint covers.
    pub sealed: u64,
    /// Whether anything was changed.
    pub integrity: Integrity,
    /// Whether anything is missing.
    pub completeness: Completeness,
    /// Who vouches.
    pub attestation: Attestation,
    /// Bytes of an unfinished line at the end: a crash or a writer at work, never an event.
    pub torn_bytes: u64,
    /// What is wrong, the first bad event first.
    pub problems: Vec<Problem>,
}

/// L10: verifies the ledger in a folder.
pub fn verify(dir: &Path, options: &VerifyOptions) -> Result<Report, LedgerError> {
    let reader = Reader::open(dir)?;
    let mut check = Check {
        origin: reader.origin(),
        options,
        problems: Vec::new(),
        believed: Vec::new(),
    };
    // The checkpoint is read before the segments, so that a living ledger can only be longer.
    match seal::read_checkpoint(dir) {
        Ok(stored) => stored
            .iter()
            .for_each(|one| check.believe(one, Source::Stored)),
        Err(LedgerError::Note { source, .. }) => check.distrust(Source::Stored, &source),
        Err(error) => return Err(error),
    }
    for kept in &options.kept {
        check.believe(kept, Source::Kept);
    }
    let scan = scan::scan(&reader, Depth::Chain, options.threads)?;
    if !scan.is_whole() {
        let events = diagnose::diagnose(&reader, &mut check.problems)?;
        check.compare_sizes(events);
        return Ok(check.report(events, 0, scan.torn_bytes));
    }
    if !options.is_deep
        && let Some(sealed) = check.tie(&scan)
    {
        return Ok(check.report(scan.size(), sealed, scan.torn_bytes));
    }
    let mut sizes: Vec<u64> = check
        .believed
        .iter()
        .map(|one| one.checkpoint.size)
        .collect();
    sizes.sort_unstable();
    let scan = scan::scan(&reader, Depth::Tree(&sizes), options.threads)?;
    let sealed = check.compare(&scan);
    Ok(check.report(scan.size(), sealed, scan.torn_bytes))
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Source {
    Stored,
    Kept,
}

impl Source {
    const fn name(self) -> &'static str {
        match self {
            Self::Stored => "the checkpoint beside the ledger",
            Self::Kept => "a kept checkpoint",
        }
    }
}

struct Believed {
    checkpoint: Checkpoint,
    source: Source,
    is_witnessed: bool,
}

struct Check<'a> {
    origin: &'a str,
    options: &'a VerifyOptions,
    problems: Vec<Problem>,
    believed: Vec<Believed>,
}

impl Check<'_> {
    fn add(&mut self, event: Option<u64>, kind: ProblemKind, detail: String) {
        add(&mut self.problems, event, kind, detail);
    }

    fn believe(&mut self, signed: &SignedCheckpoint, source: Source) {
        match signed.verified(self.origin, &self.options.keys) {
            Ok(checkpoint) => self.believed.push(Believed {
                checkpoint: checkpoint.clone(),
                source,
                is_witnessed: signed.witnessed(&self.options.witnesses),
            }),
            Err(error) => self.distrust(source, &error),
        }
    }

    fn distrust(&mut self, source: Source, error: &NoteError) {
        let detail = format!("{}: {error}", source.name());
        self.add(None, ProblemKind::BadSignature, detail);
    }

    /// Ties every believed checkpoint to the chain by the seal that it ends with; how many events
    /// are vouched for, or `None` if that does not settle everything.
    fn tie(&self, scan: &Scan) -> Option<u64> {
        if !self.problems.is_empty() {
            return None;
        }
        let mut most = None;
        for one in &self.believed {
            let Checkpoint { size, root, .. } = one.checkpoint;
            let seals = &scan.seals;
            let place = seals.binary_search_by_key(&size.checked_sub(1)?, |seal| seal.seq);
            let event = line::decode(&seals.get(place.ok()?)?.line)?;
            let own = *event.hash.as_bytes();
            if Sealed::read(&event).root_after(own) != Some(root) {
                return None;
            }
            most = most.max(Some(size));
        }
        let unchecked = scan.seals.len().saturating_sub(SEALS_CHECKED_MAX);
        for found in scan.seals.iter().skip(unchecked) {
            let sealed = Sealed::read(&line::decode(&found.line)?);
            let checkpoint = sealed.checkpoint.ok()?;
            let claimed = checkpoint.verified(self.origin, &self.options.keys).ok()?;
            let root = sealed.tree.and_then(|tree| tree.root());
            if claimed.size != found.seq || root != Some(claimed.root) {
                return None;
            }
        }
        most
    }

    /// Compares a whole chain with every seal and checkpoint; how many events are vouched for.
    fn compare(&mut self, scan: &Scan) -> u64 {
        let mut good = self.compare_seals(&scan.seals);
        let mut believed = std::mem::take(&mut self.believed);
        believed.sort_by_key(|one| one.checkpoint.size);
        for one in &mut believed {
            let Checkpoint { size, root, .. } = one.checkpoint;
            let name = one.source.name();
            if size > scan.size() {
                let detail = format!("{name} vouches for {size} events");
                self.add(Some(scan.size()), ProblemKind::Truncated, detail);
                one.is_witnessed = false;
            } else if scan.root_at(size) == Some(root) {
                good = good.max(size);
            } else {
                let kind = match one.source {
                    Source::Stored => ProblemKind::Edited,
                    Source::Kept => ProblemKind::Forked,
                };
                let detail = format!("{name} at {size} events has another root: rewritten since");
                self.add(Some(good), kind, detail);
                one.is_witnessed = false;
            }
        }
        self.believed = believed;
        good
    }

    /// Checks the seals in the chain; how many events the good ones vouch for.
    fn compare_seals(&mut self, seals: &[SealFound]) -> u64 {
        let mut good = 0;
        for found in seals {
            match self.check_seal(found) {
                Ok(()) => good = found.seq,
                Err(SealProblem::Root) => {
                    let detail = format!(
                        "the seal in event {} does not match the events before it",
                        found.seq
                    );
                    self.add(Some(good), ProblemKind::Edited, detail);
                    break;
                }
                Err(SealProblem::Note(error)) => {
                    self.add(
                        Some(found.seq),
                        ProblemKind::BadSignature,
                        error.to_string(),
                    );
                }
            }
        }
        good
    }

    fn check_seal(&self, found: &SealFound) -> Result<(), SealProblem> {
        let form = |detail| SealProblem::Note(NoteError::Form { detail });
        let event = line::decode(&found.line).ok_or(form("the event is not JSON"))?;
        let sealed = Sealed::read(&event);
        let signed = sealed.checkpoint.map_err(SealProblem::Note)?;
        let checkpoint = signed
            .verified(self.origin, &self.options.keys)
            .map_err(SealProblem::Note)?;
        let claimed = sealed.tree.and_then(|tree| tree.root());
        let is_true = checkpoint.size == found.seq
            && Some(checkpoint.root) == found.root
            && claimed == found.root;
        if is_true {
            Ok(())
        } else {
            Err(SealProblem::Root)
        }
    }

    /// With a broken chain only the number of events can be compared.
    fn compare_sizes(&mut self, events: u64) {
        let most = self.believed.iter().map(|one| one.checkpoint.size).max();
        if let Some(size) = most.filter(|size| *size > events) {
            let detail = format!("a checkpoint vouches for {size} events");
            self.add(Some(events), ProblemKind::Truncated, detail);
        }
        self.believed.clear();
    }

    fn report(mut self, events: u64, sealed: u64, torn_bytes: u64) -> Report {
        let found = |wanted: &[ProblemKind]| {
            self.problems
                .iter()
                .any(|problem| wanted.contains(&problem.kind))
        };
        let is_missing = found(&[ProblemKind::Deleted, ProblemKind::Truncated]);
        let only_truncated = self
            .problems
            .iter()
            .all(|problem| problem.kind == ProblemKind::Truncated);
        let completeness = if is_missing {
            Completeness::Incomplete
        } else if sealed == 0 {
            Completeness::Unknown
        } else if sealed < events {
            Completeness::OpenTail
        } else {
            Completeness::Complete
        };
        let is_witnessed = self.believed.iter().any(|one| one.is_witnessed);
        let attestation = if is_witnessed {
            Attestation::Witnessed
        } else if self.options.facts.is_separate() {
            Attestation::SeparateUid
        } else {
            Attestation::SelfAttested
        };
        self.problems
            .sort_by_key(|problem| problem.event.unwrap_or(u64::MAX));
        Report {
            ok: self.problems.is_empty(),
            events,
            sealed,
            integrity: if only_truncated {
                Integrity::Intact
            } else {
                Integrity::Broken
            },
            completeness,
            attestation,
            torn_bytes,
            problems: self.problems,
        }
    }
}

enum SealProblem {
    Root,
    Note(NoteError),
}

fn add(problems: &mut Vec<Problem>, event: Option<u64>, kind: ProblemKind, detail: String) {
    if problems.len() < LEDGER_PROBLEMS_MAX {
        problems.push(Problem {
            event,
            kind,
            detail,
        });
    }
}
