//! What can go wrong in a chore.

use std::io;

/// Why a chore could not be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum XtaskError {
    /// A program could not be started or watched.
    #[error("can't run `{program}`: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A program ran and failed where its answer was needed.
    #[error("`{command}` failed: {stderr}")]
    Command {
        /// What was run.
        command: String,
        /// What it said.
        stderr: String,
    },
    /// A file could not be read or written.
    #[error("can't {action} `{path}`: {source}")]
    File {
        /// Read, write or create.
        action: &'static str,
        /// Where.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A program's JSON did not have the expected form.
    #[error("can't read the answer of `{command}`: {source}")]
    Json {
        /// What was run.
        command: String,
        /// The parser's reason.
        source: serde_json::Error,
    },
    /// A file of the project's own data does not have the expected form.
    #[error("{file}: {source}")]
    Data {
        /// Which.
        file: String,
        /// The parser's reason.
        source: serde_json::Error,
    },
    /// A tool is missing and could not be installed.
    #[error("`{tool}` is missing and could not be installed; needed by: {needed_by}")]
    Missing {
        /// The tool.
        tool: String,
        /// The suites that need it.
        needed_by: String,
    },
    /// A command line that means nothing.
    #[error("{message}; `cargo xtask help` lists what there is")]
    Usage {
        /// What is wrong with it.
        message: String,
    },
    /// A page of the documentation is not in the form that the runner reads.
    #[error("{page}:{line}: {message}")]
    Page {
        /// The page.
        page: String,
        /// The line.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

impl XtaskError {
    /// An error about a file.
    pub(crate) fn file(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }
}
