//! What an execution did to files: from the journal, or from what was kept of a client's.

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::TRACE_EFFECTS_BYTES_MAX;
use tagout_vocab::{Digest, Timestamp};
use tagout_workspace::{Effect, Facts, RelPath, Stood, StoodKind};

use super::book::{Pages, Taken};
use crate::engine::Inner;
use crate::error::GateError;

/// One side of a kept effect.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Side {
    kind: Kind,
    mode: u32,
    digest: Digest,
    #[serde(default)]
    facts: Facts,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    File,
    Symlink,
    Folder,
    #[serde(alias = "special")]
    Pipe,
    Socket,
}

/// An effect whose bytes lie beside it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    path: RelPath,
    before: Option<Side>,
    after: Option<Side>,
}

fn side(pages: &Pages<'_>, stood: &Stood, at: Timestamp) -> Result<Side, GateError> {
    if let Some(bytes) = &stood.bytes {
        pages.keep_image(&stood.digest.hex(), at, bytes)?;
    }
    Ok(Side {
        kind: match stood.kind {
            StoodKind::File => Kind::File,
            StoodKind::Symlink => Kind::Symlink,
            StoodKind::Folder => Kind::Folder,
            StoodKind::Pipe => Kind::Pipe,
            StoodKind::Socket => Kind::Socket,
        },
        mode: stood.mode,
        digest: stood.digest,
        facts: stood.facts.clone(),
    })
}

/// Keeps what a client's execution did, with its bytes, so that it can be undone.
pub(super) fn keep(
    pages: &Pages<'_>,
    effects: &[Effect],
    at: Timestamp,
) -> Result<String, GateError> {
    let mut kept = Vec::with_capacity(effects.len());
    for effect in effects {
        let before = effect.before.as_ref();
        let after = effect.after.as_ref();
        kept.push(Kept {
            path: effect.path.clone(),
            before: before.map(|stood| side(pages, stood, at)).transpose()?,
            after: after.map(|stood| side(pages, stood, at)).transpose()?,
        });
    }
    serde_json::to_string(&kept).map_err(damaged)
}

fn damaged(source: serde_json::Error) -> GateError {
    GateError::Damaged {
        path: "the trace's list of effects".into(),
        source,
    }
}

fn stood(pages: &Pages<'_>, side: Side) -> Result<Stood, GateError> {
    Ok(Stood {
        kind: match side.kind {
            Kind::File => StoodKind::File,
            Kind::Symlink => StoodKind::Symlink,
            Kind::Folder => StoodKind::Folder,
            Kind::Pipe => StoodKind::Pipe,
            Kind::Socket => StoodKind::Socket,
        },
        mode: side.mode,
        digest: side.digest,
        bytes: pages.image(&side.digest.hex())?,
        facts: side.facts,
    })
}

/// What a settled execution did, as far as it is still kept; `None` if nothing of it is.
pub(crate) fn effects_of(
    inner: &Inner,
    pages: &Pages<'_>,
    taken: &Taken,
) -> Result<Option<Vec<Effect>>, GateError> {
    let Some(text) = &taken.effects else {
        let known = inner
            .workspace
            .effects(&taken.execution, TRACE_EFFECTS_BYTES_MAX);
        return match known {
            Ok(effects) => Ok(Some(effects)),
            Err(tagout_workspace::Error::Unknown { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        };
    };
    let kept: Vec<Kept> = serde_json::from_str(text).map_err(damaged)?;
    let mut effects = Vec::with_capacity(kept.len());
    for one in kept {
        effects.push(Effect {
            path: one.path,
            before: one.before.map(|side| stood(pages, side)).transpose()?,
            after: one.after.map(|side| stood(pages, side)).transpose()?,
        });
    }
    Ok(Some(effects))
}
