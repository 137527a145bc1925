//! What is read of a workspace's files.

use std::path::Path;

use tagout_workspace::files;

use super::read_sidecar;

/// Some files say that they are empty and are not.
#[test]
fn a_file_that_claims_to_be_empty_is_read() {
    let text = read_sidecar(Path::new("/proc/self"), "comm").unwrap();
    assert!(text.is_some_and(|text| !text.is_empty()));
    let folder = tempfile::tempdir().unwrap();
    files::write_note(&folder.path().join("empty"), b"", None).unwrap();
    assert_eq!(
        read_sidecar(folder.path(), "empty").unwrap().as_deref(),
        Some("")
    );
    assert_eq!(read_sidecar(folder.path(), "none").unwrap(), None);
}
