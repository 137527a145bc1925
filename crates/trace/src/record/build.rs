//! From what happened to its record.

use tagout_vocab::limits::{
    SYNTAX_HELD_BYTES_MAX, TRACE_RECORD_NODES_MAX, TRACE_RECORD_RANGES_MAX,
};
use tagout_vocab::{Digest, MutationClass, Timestamp};

use super::{AstStatus, ChangeKind, Contributor, Entity, ModifiedRange, Record, Revision, VERSION};
use crate::mutation::{self, Parsed, Reason, Sides};
use crate::nodes::{AstNode, Definitions};
use crate::ranges::{self, Segment};
use crate::syntax::{NoSyntax, Syntax};

/// One side of a file.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Its permission bits.
    pub mode: u32,
}

/// What became of one file.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// Its path; the old one if it is gone.
    pub path: &'a str,
    /// Its path before, where that was another one.
    pub moved_from: Option<&'a str>,
    /// Before; `None` if it was not there.
    pub before: Option<Side<'a>>,
    /// After; `None` if it is gone.
    pub after: Option<Side<'a>>,
}

/// What the record says beyond the files themselves.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The record's id.
    pub id: String,
    /// When it happened.
    pub timestamp: Option<Timestamp>,
    /// The revision that the change was made upon.
    pub vcs: Option<Revision>,
    /// The intent.
    pub intent_id: Option<String>,
    /// What the intent serves.
    pub related_requirements: Vec<String>,
    /// What the agent said about the class.
    pub declared_class: Option<MutationClass>,
    /// The tool.
    pub tool_name: Option<String>,
    /// Where the tool comes from.
    pub tool_origin: Option<String>,
    /// What the agent did; derived from the changes if nobody says.
    pub agent_action: Option<String>,
    /// The agent's program.
    pub agent: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The conversation.
    pub session_id: Option<String>,
    /// The call.
    pub call_id: Option<String>,
    /// Hash of the ledger's event.
    pub ledger_event: Option<Digest>,
}

/// H10, H11: the record of some changes. Each text is parsed once, unless there are so many that
/// their trees can't all be held.
pub fn record(facts: Facts, changes: &[Change<'_>]) -> Record {
    let mut room = Room {
        ranges: TRACE_RECORD_RANGES_MAX,
        nodes: TRACE_RECORD_NODES_MAX,
    };
    let mut files: Vec<Parsed<'_>> = changes.iter().map(|one| Parsed::new(one.sides())).collect();
    let mut reasons = Vec::with_capacity(files.len());
    let mut modified_ranges = Vec::new();
    let mut held_bytes = 0_usize;
    for (file, change) in files.iter_mut().zip(changes) {
        reasons.push(mutation::reason(file));
        modified_ranges.extend(ranges_of(change, file, &mut room));
        held_bytes = held_bytes.saturating_add(file.held_bytes());
        if held_bytes > SYNTAX_HELD_BYTES_MAX {
            file.forget();
        }
    }
    let computed = mutation::together(&reasons, &files);
    let is_shown = !matches!(
        computed.reason,
        Reason::NoGrammar | Reason::NoParse | Reason::TooLarge
    );
    let counts = match facts.declared_class {
        Some(declared) if !is_shown => declared,
        Some(_) | None => computed.class,
    };
    Record {
        version: VERSION,
        id: facts.id,
        timestamp: facts.timestamp,
        vcs: facts.vcs,
        intent_id: facts.intent_id,
        related_requirements: facts.related_requirements,
        mutation_class: Some(counts),
        declared_class: facts.declared_class,
        computed_class: Some(computed.class),
        class_reason: Some(computed.reason.to_string()),
        tool_name: facts.tool_name,
        tool_origin: facts.tool_origin,
        agent_action: facts
            .agent_action
            .or_else(|| Some(action(changes).to_owned())),
        contributor: Some(Contributor {
            kind: Entity::Ai,
            name: facts.agent,
            model: facts.model,
        }),
        session_id: facts.session_id,
        call_id: facts.call_id,
        modified_ranges,
        ledger_event: facts.ledger_event,
        extra: serde_json::Map::new(),
    }
}

impl<'a> Change<'a> {
    fn sides(&self) -> Sides<'a> {
        Sides {
            path: self.path,
            moved_from: self.moved_from,
            before: self.before.map(|side| side.bytes),
            after: self.after.map(|side| side.bytes),
        }
    }

    fn kind(&self) -> ChangeKind {
        match (self.before, self.after) {
            (None, _) => ChangeKind::Created,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(_), Some(_)) if self.moved_from.is_some() => ChangeKind::Renamed,
            (Some(before), Some(after)) if before.bytes == after.bytes => ChangeKind::Mode,
            (Some(_), Some(_)) => ChangeKind::Modified,
        }
    }
}

/// A word for what was done, after the words of the dialect that has them.
fn action(changes: &[Change<'_>]) -> &'static str {
    let all = |kind: ChangeKind| changes.iter().all(|change| change.kind() == kind);
    match changes {
        [] => "NONE",
        _ if all(ChangeKind::Deleted) => "DELETE_FILE",
        _ if all(ChangeKind::Renamed) => "RENAME_FILE",
        [one] if one.after.is_some_and(|side| is_binary(side.bytes)) => "GENERATE_ASSET",
        [one] if one.kind() == ChangeKind::Created => "WRITE_FILE",
        [one] if one.kind() == ChangeKind::Modified => "EDIT_FILE",
        [_] => "MUTATE",
        _ => "PATCH_FILE",
    }
}

/// A NUL among the first bytes, as version control systems look for it.
fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8_000).any(|byte| *byte == 0)
}

/// What a record may still hold.
struct Room {
    ranges: usize,
    nodes: usize,
}

fn ranges_of(change: &Change<'_>, parsed: &Parsed<'_>, room: &mut Room) -> Vec<ModifiedRange> {
    let whole = whole_file(change);
    let before = change.before.map(|side| side.bytes).unwrap_or_default();
    let after = change.after.map(|side| side.bytes).unwrap_or_default();
    if is_binary(before) || is_binary(after) {
        return vec![ModifiedRange {
            binary: true,
            ..whole
        }];
    }
    let clean = |tree: Result<_, NoSyntax>| tree.ok().filter(|tree: &&Syntax<'_>| tree.is_clean());
    let mut segments = ranges::segments(before, after);
    // What stayed as it was needs no second look.
    let wants_old = change.after.is_none() || change.before.is_some() && !segments.is_empty();
    let old = wants_old.then(|| clean(parsed.old())).flatten();
    let wants_new = change.after.is_some();
    let new = wants_new.then(|| clean(parsed.new_text())).flatten();
    let is_read = if wants_new { new } else { old }.is_some();
    let whole = ModifiedRange {
        ast_status: if is_read {
            AstStatus::Ok
        } else {
            AstStatus::Fallback
        },
        ..whole
    };
    if segments.is_empty() {
        return vec![whole];
    }
    if segments.len() > room.ranges {
        segments = vec![ranges::hull(before, after)];
    }
    room.ranges = room.ranges.saturating_sub(segments.len());
    let old = old.filter(|_| is_read).map(Definitions::of);
    let new = new.filter(|_| is_read).map(Definitions::of);
    let mut nodes = |segment: &Segment| {
        let mut nodes = touched(old.as_ref(), new.as_ref(), segment);
        nodes.truncate(room.nodes);
        room.nodes = room.nodes.saturating_sub(nodes.len());
        nodes
    };
    segments
        .into_iter()
        .map(|segment| ModifiedRange {
            ast_nodes: nodes(&segment),
            old_range: Some(segment.old),
            new_range: Some(segment.new),
            content_hash: segment.new_hash,
            old_content_hash: segment.old_hash,
            ..whole.clone()
        })
        .collect()
}

/// What can be said of a file without looking into it.
fn whole_file(change: &Change<'_>) -> ModifiedRange {
    let hash = |side: Option<Side<'_>>| side.map(|side| Digest::of(side.bytes));
    let modes = [change.before, change.after].map(|side| side.map(|side| side.mode & 0o7777));
    let is_other = matches!(modes, [Some(old), Some(new)] if old != new);
    let octal = |mode: Option<u32>| mode.filter(|_| is_other).map(|mode| format!("{mode:04o}"));
    let [old_mode, new_mode] = modes.map(octal);
    ModifiedRange {
        file: change.path.to_owned(),
        old_file: change.moved_from.map(str::to_owned),
        change: change.kind(),
        before_hash: hash(change.before),
        after_hash: hash(change.after),
        old_mode,
        new_mode,
        ..ModifiedRange::default()
    }
}

/// The definitions that a range touches, and those that it took away.
fn touched(
    old: Option<&Definitions<'_, '_>>,
    new: Option<&Definitions<'_, '_>>,
    segment: &Segment,
) -> Vec<AstNode> {
    let mut nodes = new
        .map(|new| new.touched(&segment.new.indices()))
        .unwrap_or_default();
    let was = old
        .map(|old| old.touched(&segment.old.indices()))
        .unwrap_or_default();
    let is_gone = |node: &AstNode| !new.is_some_and(|new| new.has(&node.symbol, &node.kind));
    nodes.extend(was.into_iter().filter(is_gone).map(|node| AstNode {
        removed: true,
        ..node
    }));
    nodes
}

/// B6: the records that led to these bytes of a file, latest first: each one's result is the next
/// one's start. `records` are in the order in which they happened.
pub fn chain<'r>(records: &'r [Record], file: &str, content: Digest) -> Vec<&'r str> {
    let mut wanted = Some((file.to_owned(), content));
    let mut ids: Vec<&str> = Vec::new();
    for record in records.iter().rev() {
        let Some((file, hash)) = &wanted else {
            break;
        };
        let made = |range: &&ModifiedRange| range.file == *file && range.after_hash == Some(*hash);
        if let Some(range) = record.modified_ranges.iter().find(made) {
            ids.push(&record.id);
            let name = range.old_file.clone().unwrap_or_else(|| file.clone());
            wanted = range.before_hash.map(|hash| (name, hash));
        }
    }
    ids
}
