//! What the judge is told about the world, gathered for the effects of one call.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use tagout_policy::judge::{Case, Facts, FileFact, Files, Isolation, Usage};
use tagout_vocab::{
    Call, Class, Digest, Effect, Place, Role, Session, Target, Timestamp, ToolKind, WorkspacePath,
};
use tagout_workspace::{Error as W, Follow, Freshness, RelPath, Resolved, ResolvedKind};

use crate::admit::Way;
use crate::engine::Inner;
use crate::error::GateError;
use crate::old_text;
use crate::store::SessionRecord;

/// Facts and what was found on the way to them.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) facts: Facts,
    /// The paths that the call changes, links followed.
    pub(crate) mutated: Vec<WorkspacePath>,
    /// The files that the call reads, links followed.
    pub(crate) reads: Vec<WorkspacePath>,
}

impl Gathered {
    /// The paths that the call would change and that are not there.
    pub(crate) fn absent(&self) -> Vec<WorkspacePath> {
        let Files::Known(known) = &self.facts.files else {
            return Vec::new();
        };
        let absent = known.iter().filter(|(_, fact)| **fact == FileFact::Absent);
        absent.map(|(path, _)| path.clone()).collect()
    }
}

fn bare(inner: &Inner, now: Timestamp) -> Facts {
    Facts {
        now,
        case: inner.case,
        isolation: Isolation::Unavailable,
        standing: inner.shelf.standing,
        broken: inner.shelf.broken.clone(),
        files: Files::Known(BTreeMap::new()),
        program: inner.program.get().cloned(),
        ..Facts::for_explanation(now, inner.roots.clone())
    }
}

/// Gathers everything for one call in one session.
pub(crate) fn gather(
    inner: &Inner,
    call: &Call,
    record: &SessionRecord,
    (now, way): (Timestamp, Way),
) -> Result<Gathered, GateError> {
    let session = &record.session;
    let mut facts = bare(inner, now);
    facts.grants = inner.site.store.grants()?;
    let prepared = bare(inner, now);
    let case = Case::new(call, session, &inner.shelf.books, &prepared);
    let mut known = BTreeMap::new();
    let (mut mutated, mut reads) = (Vec::new(), Vec::new());
    for effect in &case.effects {
        for target in effect.targets() {
            let follow = follow(effect, target);
            let Some(found) = resolved(inner, target, follow, &mut facts.resolved)? else {
                continue;
            };
            if effect.mutated().contains(&target) {
                if climbs_elsewhere(inner, call, (&target.raw, follow), &found) {
                    let path = format!("{} (`..` behind a link)", target.raw);
                    let place = Place::Outside { path };
                    facts.resolved.insert(target.raw.clone(), place);
                }
                if way == Way::Guard && found.has_other_names && follow == Follow::Whole {
                    other_names(target, &mut facts.resolved);
                }
                // Making a folder where one is changes nothing in it.
                let makes = matches!(effect, Effect::MakeFolder(_));
                let fact = if makes && found.kind == ResolvedKind::Folder {
                    Some(FileFact::Folder)
                } else {
                    file_fact(inner, (&case, session), &found)?
                };
                if let (Some(fact), Place::Inside { path }) = (fact, &target.place) {
                    keep(&mut known, path, fact.clone());
                    keep(&mut known, &found.path, fact);
                }
                mutated.push(found.path);
            } else if found.kind == ResolvedKind::File {
                reads.push(found.path);
            }
        }
    }
    mutated.sort();
    mutated.dedup();
    // What a client runs itself, nothing here holds: there only what is proven to read may run.
    if case.kind() == ToolKind::Execute {
        match (way, case.class) {
            (Way::Run, class) => facts.isolation = inner.isolation(class)?,
            (Way::Guard, Class::Safe) if !case.is_helped() => {
                facts.isolation = Isolation::Assumed;
            }
            (Way::Guard, Class::Safe | Class::Destructive) => {}
        }
    }
    facts.files = Files::Known(known);
    usage(inner, (&case, record), &mut facts)?;
    Ok(Gathered {
        facts,
        mutated,
        reads,
    })
}

/// Keeps the fact of a path. One effect on it may say less than another, and the worst holds.
fn keep(known: &mut BTreeMap<WorkspacePath, FileFact>, path: &WorkspacePath, fact: FileFact) {
    if !matches!(known.get(path), Some(FileFact::Changed { .. })) {
        known.insert(path.clone(), fact);
    }
}

/// What is deleted or moved away is the name itself; everything else is what the name leads to.
fn follow(effect: &Effect, target: &Target) -> Follow {
    match effect {
        Effect::Delete(_) => Follow::Parents,
        Effect::Move { from, .. } if from == target => Follow::Parents,
        Effect::Read(_)
        | Effect::Write(_)
        | Effect::MakeFolder(_)
        | Effect::Move { .. }
        | Effect::Run { .. }
        | Effect::Reach { .. }
        | Effect::Remote { .. }
        | Effect::Delegate
        | Effect::Desktop
        | Effect::Unknown { .. } => Follow::Whole,
    }
}

/// Where a target really leads. What can't be followed lies outside, which refuses a change.
fn resolved(
    inner: &Inner,
    target: &Target,
    follow: Follow,
    known: &mut BTreeMap<String, Place>,
) -> Result<Option<Resolved>, GateError> {
    let Place::Inside { path } = &target.place else {
        return Ok(None);
    };
    let outside = || Place::Outside {
        path: target.raw.clone(),
    };
    match inner.workspace.resolve(path, follow) {
        Ok(found) => {
            let path = found.path.clone();
            known.insert(target.raw.clone(), Place::Inside { path });
            Ok(Some(found))
        }
        Err(
            W::Outside { .. }
            | W::Loop { .. }
            | W::NotUtf8 { .. }
            | W::WrongKind { .. }
            | W::BadPath { .. }
            | W::TooLong { .. }
            | W::Forbidden { .. },
        ) => {
            known.insert(target.raw.clone(), outside());
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a text with `..` leads elsewhere when the file system walks it. `a/link/../b` is `a/b`
/// to who reads the text, and to the system it lies beside what the link points to.
fn climbs_elsewhere(
    inner: &Inner,
    call: &Call,
    (raw, follow): (&str, Follow),
    found: &Resolved,
) -> bool {
    if !raw.split(['/', '\\']).any(|name| name == "..") {
        return false;
    }
    let root = inner.workspace.root();
    let given = root.join(&call.cwd).join(raw);
    let read = root.join(found.path.as_str());
    let (walked, read) = match follow {
        Follow::Whole => (walked(&given), walked(&read)),
        // The name itself is meant, so only its folder is walked.
        Follow::Parents if given.file_name() == read.file_name() => (
            given.parent().and_then(walked),
            read.parent().and_then(walked),
        ),
        Follow::Parents => return true,
    };
    // Behind a name that is missing no link can be, and the system goes no further.
    walked.is_some() && walked != read
}

/// Where the file system finds a path, as far as it exists; `None` if what is missing climbs.
fn walked(path: &Path) -> Option<PathBuf> {
    let (known, real) = path
        .ancestors()
        .find_map(|known| Some((known, known.canonicalize().ok()?)))?;
    let rest = path.strip_prefix(known).ok()?;
    let climbs = rest.components().any(|part| part == Component::ParentDir);
    (!climbs).then(|| real.join(rest))
}

/// A client writes into the file itself, and so under all its names, of which some may lie where
/// nothing may be changed. What Tagout writes takes the place of one name only.
fn other_names(target: &Target, known: &mut BTreeMap<String, Place>) {
    let path = format!(
        "{} (a file with other names, hard links, which may lie anywhere)",
        target.raw
    );
    known.insert(target.raw.clone(), Place::Outside { path });
}

/// H13: what the session knows of a file that it wants to change.
fn file_fact(
    inner: &Inner,
    (case, session): (&Case<'_>, &Session),
    found: &Resolved,
) -> Result<Option<FileFact>, GateError> {
    let unseen = |once| FileFact::NeverSeen {
        old_text_matches_once: once,
    };
    Ok(match found.kind {
        ResolvedKind::Missing => Some(FileFact::Absent),
        ResolvedKind::Symlink => Some(FileFact::Fresh),
        ResolvedKind::Folder => Some(folder_fact(inner, session, &found.path)?),
        ResolvedKind::Special => None,
        ResolvedKind::File => {
            let path = RelPath::from(&found.path);
            Some(match inner.workspace.seen(&session.id)?.check(&path)? {
                Freshness::Fresh => FileFact::Fresh,
                Freshness::NeverSeen => unseen(old_text::matches_once(inner, case, &found.path)),
                Freshness::Changed {
                    expected,
                    actual,
                    difference,
                } => FileFact::Changed {
                    within: None,
                    difference: changed(expected, actual, difference),
                },
            })
        }
    })
}

/// H13: a folder is as the session saw it while every file in it is that it saw.
fn folder_fact(
    inner: &Inner,
    session: &Session,
    folder: &WorkspacePath,
) -> Result<FileFact, GateError> {
    let seen = inner.workspace.seen(&session.id)?;
    let found = seen.changed_beneath(&RelPath::from(folder))?;
    let Some((path, freshness)) = found else {
        return Ok(FileFact::Folder);
    };
    Ok(match freshness {
        Freshness::Changed {
            expected,
            actual,
            difference,
        } => FileFact::Changed {
            within: path.to_workspace().ok(),
            difference: changed(expected, actual, difference),
        },
        Freshness::Fresh | Freshness::NeverSeen => FileFact::Folder,
    })
}

fn changed(expected: Option<Digest>, actual: Option<Digest>, lines: Option<String>) -> String {
    let shown = |digest: Option<Digest>| {
        digest.map_or_else(|| "no file".to_owned(), |digest| digest.to_string())
    };
    let lines = lines.map(|lines| format!("\n{lines}")).unwrap_or_default();
    format!(
        "Expected {}, found {}.{lines}",
        shown(expected),
        shown(actual)
    )
}

/// H17: what was used up, and who holds the intent.
fn usage(
    inner: &Inner,
    (case, record): (&Case<'_>, &SessionRecord),
    facts: &mut Facts,
) -> Result<(), GateError> {
    let selecting = case.tool().and_then(|tool| tool.role) == Some(Role::SelectIntent);
    let named = case.arguments().get("intent_id").and_then(|id| id.as_str());
    let named = named.and_then(|id| tagout_vocab::IntentId::new(id).ok());
    let intent = if selecting {
        named
    } else {
        record.session.active_intent().cloned()
    };
    facts.usage = Usage {
        repeats: record.repeats_of(&crate::admit::call_digest(case)),
        ..Usage::default()
    };
    let Some(intent) = intent else {
        return Ok(());
    };
    let used = inner.site.store.intent_use(&intent)?;
    facts.usage.calls = used.calls;
    facts.usage.time_ms = used.time_ms;
    let ancestors = inner.site.store.ancestors(&record.session)?;
    // What an ancestor holds, its child works under.
    let lease = used
        .held(facts.now)
        .filter(|lease| !ancestors.iter().any(|one| one.id == lease.session));
    facts.leased_until = lease.map(|lease| lease.until);
    facts.leased_to = lease.map(|lease| lease.session.clone());
    Ok(())
}
