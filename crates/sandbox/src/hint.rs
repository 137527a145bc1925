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

/// What git says when it may not write, or finds nothing, and where it looked: what a linked
/// worktree or a submodule keeps lies in another repository's folder.
const NOT_HERE: &[&[u8]] = &[
    b".lock': Read-only file system",
    b"fatal: not a git repository: ",
];
const ELSEWHERE: &[&[u8]] = &[b"/worktrees/", b"/modules/"];

const LINKED: &str = "this workspace is a linked worktree or a submodule: git keeps its index and \
    its commits in another folder, outside of the workspace, where commands can't write; files can be \
    changed here, a person commits them, or the work is done in a clone";

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
    let any = |list: &[&[u8]]| list.iter().any(|words| says(words));
    if !is_overlaid {
        None
    } else if any(CROSS_DEVICE) {
        Some(RENAME.to_owned())
    } else if any(NOT_HERE) && any(ELSEWHERE) {
        Some(LINKED.to_owned())
    } else {
        None
    }
}
