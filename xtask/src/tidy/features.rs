//! A feature of a foreign crate that must stay off in the binary.

use std::path::Path;

use super::Finding;
use crate::error::XtaskError;
use crate::process::{capture, cargo_command};

/// Switched on by anyone in the tree, it makes every glob and regex several times dearer to build.
const COSTLY: &str = "regex-automata feature \"dfa-build\"";

/// Asks cargo which features the binary's tree switches on.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, XtaskError> {
    let mut command = cargo_command(&[
        "tree",
        "--package",
        "tagout",
        "--invert",
        "regex-automata",
        "--edges",
        "normal,features",
    ]);
    let ran = capture(command.current_dir(root))?;
    // A tree without the crate is an error to cargo, and the best case here.
    if !ran.ok && !ran.stderr.contains("did not match any packages") {
        return Err(XtaskError::Command {
            command: "cargo tree".to_owned(),
            stderr: ran.stderr,
        });
    }
    Ok(judge(&ran.stdout))
}

fn judge(tree: &str) -> Vec<Finding> {
    let on = tree.lines().any(|line| line.contains(COSTLY));
    on.then(|| {
        let message = "`regex-automata/dfa-build` is on; `cargo tree --invert` shows who wants it";
        Finding::new("Cargo.lock", 0, "features", message)
    })
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn the_costly_feature_is_found() {
        let tree = "regex-automata v0.4.1\n├── regex-automata feature \"alloc\"\n";
        assert!(judge(tree).is_empty());
        let tree = format!("{tree}├── regex-automata feature \"dfa-build\"\n");
        assert_eq!(judge(&tree).len(), 1);
    }
}
