//! The captured payloads.

use std::fs;
use std::path::{Path, PathBuf};

use tagout_agents::Client;

/// One payload that a client really sent.
pub(crate) struct Capture {
    pub(crate) client: Client,
    /// The file's name without its ending.
    pub(crate) name: String,
    /// The event, as the client's configuration spells it.
    pub(crate) event: String,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    found
        .into_iter()
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Every payload of one client.
pub(crate) fn of(client: Client) -> Vec<Capture> {
    let home = folder().join(client.as_str());
    if !home.is_dir() {
        return Vec::new();
    }
    files(&home)
        .into_iter()
        .map(|path| {
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let event = stem.split('-').next().unwrap();
            let event = event.strip_prefix("event~").unwrap_or(event);
            let name = path.strip_prefix(&home).unwrap().with_extension("");
            Capture {
                client,
                name: name.to_str().unwrap().to_owned(),
                event: event.to_owned(),
                bytes: fs::read(&path).unwrap(),
            }
        })
        .collect()
}

/// Every payload of every client.
pub(crate) fn all() -> Vec<Capture> {
    Client::ALL.iter().flat_map(|client| of(*client)).collect()
}
