//! What a patch touches here is what the judge was told that it touches.

use std::collections::BTreeSet;

use serde_json::json;
use tagout_gate::policy::catalogue::Catalogue;
use tagout_gate::policy::targets::{effects, normalise};
use tagout_tools::patch::{self, FileChange};
use tagout_vocab::path::Roots;
use tagout_vocab::{Call, Effect};

/// The paths that the judge sees, or `None` when some are unknown to it.
fn judged(catalogue: &Catalogue, text: &str) -> Option<BTreeSet<String>> {
    let arguments = json!({"patch": text}).as_object().cloned().unwrap();
    let call = Call::new("apply_patch", arguments);
    let normalised = normalise(&call, catalogue);
    let mut paths = BTreeSet::new();
    for effect in effects(&normalised, &Roots::default(), "") {
        if matches!(effect, Effect::Unknown { .. }) {
            return None;
        }
        paths.extend(
            effect
                .targets()
                .into_iter()
                .map(|target| target.raw.clone()),
        );
    }
    Some(paths)
}

/// Lines that patches are made of, and some that they are not.
const LINES: &[&str] = &[
    "*** Begin Patch",
    "*** End Patch",
    "*** Add File: a",
    "*** Update File: b",
    "*** Delete File: c",
    "*** Move to: d",
    "*** End of File",
    "@@",
    "@@ x",
    "+x",
    "-x",
    " x",
    "",
    "--- a/e",
    "+++ b/e",
    "--- /dev/null",
    "+++ /dev/null",
    "@@ -1 +1 @@",
    "@@ -0,0 +1 @@",
    "@@ -1 +0,0 @@",
    "diff --git a/f b/f",
    "rename from f",
    "rename to g",
    "copy from f",
    "copy to h",
    "new file mode 100644",
    "deleted file mode 100644",
    "old mode 100644",
    "new mode 100755",
    " *** Update File: i",
    "*** Update File: j ",
    "--- \"a/k\\303\\244\"",
    "+++ \"b/k\\303\\244\"",
    "\\ No newline",
    "--- f\t2020",
    "+++ f\t2020",
];

/// H7: whatever is applied was judged. A patch that the judge does not understand is refused before
/// it comes here; one that it understands names at least the same files.
#[test]
fn every_file_that_a_patch_touches_was_judged() {
    let catalogue = Catalogue::built_in().unwrap();
    let mut state = 1_u64;
    let mut next = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % bound
    };
    let (mut read, mut understood) = (0, 0);
    for round in 0..60_000 {
        let count = 2 + next(9);
        let mut chosen: Vec<&str> = (0..count).map(|_| LINES[next(LINES.len())]).collect();
        if round % 2 == 0 {
            chosen.insert(0, "*** Begin Patch");
            chosen.push("*** End Patch");
        }
        let text = chosen.join("\n");
        let Ok(changes) = patch::read(&text) else {
            continue;
        };
        read += 1;
        let touched: BTreeSet<String> = changes
            .iter()
            .flat_map(FileChange::paths)
            .map(str::to_owned)
            .collect();
        let Some(judged) = judged(&catalogue, &text) else {
            continue;
        };
        understood += 1;
        assert!(
            touched.is_subset(&judged),
            "{text}\n{touched:?}\n{judged:?}"
        );
    }
    assert!(read > 300 && understood > 300, "{read} {understood}");
}
