//! Calls that start outside of every workspace and name no file in one: nobody's, unless they would
//! take a workspace away from above.
//!
//! The folders around a workspace are everybody's, so that only what is known to remove, to move or
//! to change all that lies in them is refused, and what can't be read and names one of them.

use std::path::{Component, Path, PathBuf};

use tagout_agents::{Answer, Pre, ShellCall, quoted};
use tagout_gate::policy::judge::{Case, Facts};
use tagout_gate::policy::shell::{Analysis, Judgement, Part, ShellContext, analyse};
use tagout_vocab::path::Roots;
use tagout_vocab::{Class, Code, Effect, Gate, Refusal, Session, Target};

use super::pre::deny;
use super::work::Work;
use super::{place, shell};
use crate::clock;
use crate::failure::Failure;
use crate::site::folded;

/// Whether a path reaches a root, by its text or by what the links in it lead to.
pub(super) fn hits(path: &Path, root: &Path) -> bool {
    let by_link = || {
        let (path, root) = (place::resolved(path)?, root.canonicalize().ok()?);
        Some(reaches(&path, &root))
    };
    reaches(&folded(path), root) || by_link() == Some(true)
}

/// Whether a path is a folder around a root, the root or something in it. A part of its name that
/// is a pattern stands for every name that fits.
fn reaches(path: &Path, root: &Path) -> bool {
    let mut pairs = path.components().zip(root.components());
    pairs.all(|(one, other)| fits(one, other))
}

fn fits(pattern: Component<'_>, name: Component<'_>) -> bool {
    let (Some(pattern), Some(name)) = (pattern.as_os_str().to_str(), name.as_os_str().to_str())
    else {
        return pattern == name;
    };
    pattern == name || (is_pattern(pattern) && glob(pattern.as_bytes(), name.as_bytes()))
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// Whether a name could fit a pattern; what is more than `*` and `?` fits whatever follows.
fn glob(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut star) = (0, None);
    let mut seen = 0;
    while seen < name.len() {
        match pattern.get(at) {
            Some(b'[' | b'{') => return true,
            Some(b'*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(b'?') => (at, seen) = (at + 1, seen + 1),
            Some(letter) if name.get(seen) == Some(letter) => (at, seen) = (at + 1, seen + 1),
            Some(_) | None => match star {
                Some((from, behind)) => {
                    star = Some((from, behind + 1));
                    (at, seen) = (from + 1, behind + 1);
                }
                None => return false,
            },
        }
    }
    let rest = pattern.get(at..).unwrap_or_default();
    rest.iter().all(|letter| *letter == b'*') || rest.iter().any(|letter| b"[{".contains(letter))
}

/// Refuses a call that would harm one of the roots; any other is nobody's.
pub(super) fn decide(work: &Work, pre: &Pre) -> Result<Answer, Failure> {
    let by_lines = |found: &ShellCall| match found {
        ShellCall::Line { line, .. } => harmed_by(work, std::slice::from_ref(line), pre),
        ShellCall::Lines { lines, .. } => harmed_by(work, lines, pre),
        ShellCall::Program { words, .. } => {
            harmed_by(work, &[quoted(words.iter().map(String::as_str))], pre)
        }
        ShellCall::Typed => None,
    };
    let found = pre.shell.as_ref();
    // A tool that only looks like a shell may do more than its command says.
    let is_all = found.is_some_and(|found| shell::runs_commands(work, &pre.call, found));
    let harmed = found.and_then(by_lines);
    let by_tool = || harmed_by_tool(work, pre).filter(|_| !is_all);
    let harmed = harmed.or_else(by_tool);
    let Some(root) = harmed else {
        return Ok(Answer::NoDecision);
    };
    // It is refused here and stays nobody's otherwise.
    work.notes.visit(&work.incoming.context.session)?;
    let refusal = Refusal::built_in(
        (Gate::Scope, Code::ScopeViolation),
        "folders around a workspace",
        format!(
            "it may take away the governed workspace `{}`",
            root.display()
        ),
        "name what is meant and lies beside the workspace, not a folder around it",
    );
    Ok(deny(work, &pre.call, refusal))
}

/// Where paths of a call begin.
struct From {
    here: PathBuf,
    home: Option<PathBuf>,
}

impl From {
    fn of(work: &Work) -> Self {
        Self {
            here: cwd(work),
            home: work.whereabouts.homes.home.clone(),
        }
    }

    fn path(&self, text: &str) -> PathBuf {
        let rest = text.strip_prefix('~');
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match (rest, &self.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            (Some(_), None) | (None, _) => self.here.join(text),
        }
    }
}

fn cwd(work: &Work) -> PathBuf {
    let told = PathBuf::from(&work.incoming.context.cwd);
    if told.is_absolute() {
        return told;
    }
    std::env::current_dir().map_or_else(|_| told.clone(), |own| own.join(&told))
}

fn harmed_by<'w>(work: &'w Work, lines: &[String], pre: &Pre) -> Option<&'w Path> {
    let from = From::of(work);
    let shown = from.here.to_str().unwrap_or(&pre.call.cwd);
    let analysed = |line: &str, whole: &Path| {
        let roots = Roots {
            workspace: whole.to_string_lossy().into_owned(),
            extra: Vec::new(),
        };
        let context = ShellContext {
            cwd: shown,
            ..ShellContext::bare(&work.engine.shelf().books.knowledge, &roots)
        };
        analyse(line, &context)
    };
    let spared = work.spared.iter().map(PathBuf::as_path);
    let mut pairs = spared.flat_map(|root| lines.iter().map(move |line| (root, line)));
    let harmed = pairs.find(|(root, line)| {
        let found = analysed(line, root);
        found.class != Class::Safe
            && (removes(&found.effects, &from, root)
                || is_unreadable(&found, &from, root)
                || takes_all(line, root, &analysed))
    });
    harmed.map(|(root, _)| root)
}

/// Whether a path around a root goes, or anything changes in it.
fn removes(effects: &[Effect], from: &From, root: &Path) -> bool {
    let goes = |target: &Target| hits(&from.path(&target.raw), root);
    let changes = |target: &Target| folded(&from.path(&target.raw)).starts_with(root);
    effects.iter().any(|effect| match effect {
        Effect::Delete(target) => goes(target),
        Effect::Move { from, to } => goes(from) || changes(to),
        Effect::Write(target) | Effect::MakeFolder(target) => changes(target),
        Effect::Read(_)
        | Effect::Run { .. }
        | Effect::Reach { .. }
        | Effect::Remote { .. }
        | Effect::Delegate
        | Effect::Desktop
        | Effect::Unknown { .. } => false,
    })
}

/// Whether a part that can't be read names a folder around a root, or a pattern that fits it from
/// where the line may have gone.
fn is_unreadable(found: &Analysis, from: &From, root: &Path) -> bool {
    let is_read = |part: &Part| match &part.judgement {
        Judgement::Unknown(_) | Judgement::Exec => false,
        // What it changes may be all that it names.
        Judgement::Writes(paths) => !paths.is_empty(),
        Judgement::ReadOnly | Judgement::Network => true,
    };
    let all = found.parts.iter().flat_map(|part| words(&part.text));
    let mut folders: Vec<PathBuf> = all.map(|word| from.path(word)).collect();
    folders.push(from.here.clone());
    let mut all = found.parts.iter().flat_map(|part| words(&part.text));
    // From where a line went, a step up may lead back to where it began.
    let stays = !all.any(|word| MOVES.contains(&word));
    let harms = |word: &str| {
        let is_whole = word.starts_with(['/', '~']) || (stays && steps_up(word));
        let path = from.path(word);
        let fits = |folder: &PathBuf| {
            let path = folder.join(word);
            folded(&path).starts_with(root) || (is_pattern(word) && hits(&path, root))
        };
        (is_whole && is_named(&path) && hits(&path, root)) || folders.iter().any(fits)
    };
    let mut parts = found.parts.iter().filter(|part| !is_read(part));
    parts.any(|part| words(&part.text).any(harms))
}

/// What takes a line elsewhere.
const MOVES: [&str; 2] = ["cd", "pushd"];

fn steps_up(word: &str) -> bool {
    let is_step = |part| part == Component::ParentDir;
    Path::new(word).components().any(is_step)
}

/// Whether a text names a folder above, as a word or a part of one.
pub(super) fn climbs(text: &str) -> bool {
    words(text).any(steps_up)
}

/// Whether a path is more than the root of all, which is named for many reasons.
fn is_named(path: &Path) -> bool {
    path.components().count() > 1
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let splits = |letter: char| letter.is_whitespace() || ";|&<>()'\"`=,:$".contains(letter);
    text.split(splits).filter(|word| !word.is_empty())
}

/// Whether a command works on all of a folder around a root.
fn takes_all(line: &str, root: &Path, analysed: &impl Fn(&str, &Path) -> Analysis) -> bool {
    let mut around = root.ancestors().filter(|folder| is_named(folder));
    around.any(|folder| analysed(line, folder).catastrophic.is_some())
}

fn harmed_by_tool<'w>(work: &'w Work, pre: &Pre) -> Option<&'w Path> {
    let from = From::of(work);
    let mut call = pre.call.clone();
    call.cwd = from.here.to_string_lossy().into_owned();
    let session = Session::new(work.incoming.context.session.clone());
    let facts = Facts::for_explanation(clock::now(), Roots::default());
    let case = Case::new(&call, &session, &work.engine.shelf().books, &facts);
    if case.class == Class::Safe {
        return None;
    }
    let is_unknown = case.tool().is_none();
    let named = place::plain_paths(&call.arguments, &from.here);
    let around = |root: &Path| {
        let mut named = named.iter().filter(|path| is_named(path));
        is_unknown && named.any(|path| hits(path, root))
    };
    let mut spared = work.spared.iter().map(PathBuf::as_path);
    spared.find(|root| removes(&case.effects, &from, root) || around(root))
}

#[cfg(test)]
mod tests;
