//! What a failed set-up takes away, and what it leaves.

use std::fs;
use std::path::Path;

use tagout_gate::ID_FILE;
use tagout_workspace::files;

use super::super::Wanted;
use super::{Whose, whole_or_nothing};
use crate::failure::Failure;

const NAME: &str = ".orchestration/hook_policy.yaml";

fn put(root: &Path, name: &str, text: &str) {
    fs::create_dir_all(root.join(".orchestration")).unwrap();
    files::write_atomic(&root.join(name), text.as_bytes(), None).unwrap();
}

/// Sets up, with what is done meanwhile, and fails; says which files are there then.
fn failing(whose: Whose, meanwhile: impl FnOnce(&Path)) -> [Option<String>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let wanted = [Wanted {
        name: NAME,
        text: "ours\n".to_owned(),
        asked: None,
    }];
    let failed = whole_or_nothing(root, &wanted, |state| {
        state.set(whose);
        meanwhile(root);
        Err::<(), _>(Failure::failed("no room"))
    });
    assert!(failed.is_err());
    [NAME, ID_FILE].map(|name| fs::read_to_string(root.join(name)).ok())
}

#[test]
fn only_what_the_run_wrote_goes_again() {
    let own = failing(Whose::Ours, |root| {
        put(root, NAME, "ours\n");
        put(root, ID_FILE, "w-1\n");
    });
    assert_eq!(own, [None, None]);
    let foreign = failing(Whose::Ours, |root| put(root, NAME, "theirs\n"));
    assert_eq!(foreign, [Some("theirs\n".to_owned()), None]);
}

#[test]
fn a_workspace_that_someone_else_set_up_meanwhile_stays() {
    let left = failing(Whose::Others, |root| {
        put(root, NAME, "ours\n");
        put(root, ID_FILE, "w-2\n");
    });
    assert_eq!(left, [Some("ours\n".to_owned()), Some("w-2\n".to_owned())]);
}
