//! What the test that runs the attempts has put in place for them.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Targets of the attempts.
#[derive(Debug, Deserialize)]
pub(crate) struct Setting {
    /// A folder outside of the workspace that this user could write, with a file `file` in it.
    pub(crate) outside: PathBuf,
    /// The workspace.
    pub(crate) workspace: PathBuf,
    /// The home folder, with planted credentials.
    pub(crate) home: PathBuf,
    /// Tagout's state folder, with a file `secret` in it.
    pub(crate) state: PathBuf,
    /// A process outside, as numbered outside, that this user could signal.
    pub(crate) victim: i32,
    /// What the victim's environment holds.
    pub(crate) secret: String,
    /// A port on which someone outside greets, over TCP, and answers, over UDP.
    pub(crate) port: u16,
    /// The same on a socket with a path.
    pub(crate) socket: PathBuf,
    /// The same on an abstract socket.
    pub(crate) abstract_name: String,
    /// A System V shared memory segment of someone outside.
    pub(crate) shm_key: i32,
    /// Descriptors that the launching process had open: a file for writing, a folder.
    pub(crate) inherited: [i32; 2],
    /// A variable of the launching process.
    pub(crate) variable: String,
}

impl Setting {
    /// Reads it.
    pub(crate) fn read(path: &str) -> std::io::Result<Self> {
        let text = std::fs::read(path)?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// The file outside.
    pub(crate) fn file(&self) -> PathBuf {
        self.outside.join("file")
    }

    /// A place outside where nothing is, fresh for each name.
    pub(crate) fn fresh(&self, name: &str) -> PathBuf {
        self.outside.join(format!("fresh-{name}"))
    }

    /// A place for the attempt's own use: the workspace where it can be written, else `/tmp`.
    pub(crate) fn own(&self, name: &str) -> PathBuf {
        let inside = self.workspace.join(name);
        if std::fs::write(&inside, b"own").is_ok() {
            drop(std::fs::remove_file(&inside));
            return inside;
        }
        Path::new("/tmp").join(name)
    }
}
