//! Known limits of a lane that a command's output points to, with the remedy.

use crate::output::Captured;
use crate::wanted::Lane;

/// What the system says when a folder of a lower layer is renamed in one step.
const CROSS_DEVICE: &[&[u8]] = &[
    b"nvalid cross-device link",
    b"cross-device link not permitted",
    b"EXDEV",
];

const RENAME: &str = "an existing folder can't be renamed in one step inside the transaction: \
    `mv` copies it and works; instead of `git mv DIR NEW` use `mv DIR NEW && git add -A`";

/// The hint that fits the output, if one does.
pub(crate) fn find(lane: Lane, output: &Captured) -> Option<String> {
    let says = |words: &[u8]| {
        [&output.head, &output.tail]
            .iter()
            .any(|part| part.windows(words.len()).any(|window| window == words))
    };
    // Where a snapshot lane has name spaces, it lays an overlay over each folder.
    let is_overlaid = match lane {
        Lane::Transaction | Lane::Snapshot => true,
        Lane::ReadOnly => false,
    };
    (is_overlaid && CROSS_DEVICE.iter().any(|words| says(words))).then(|| RENAME.to_owned())
}
