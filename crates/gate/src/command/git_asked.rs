//! Asking git about a repository, with nothing writable and nothing of the repository's run.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tagout_sandbox::{
    Host, Input, Lane, Layers, Limits, LiveSink, Network, Output, SandboxError, Stream, Wanted,
};
use tagout_vocab::limits::{GIT_ASKED_BYTES_MAX, GIT_ASKED_MS_MAX, GIT_SAID_CHARS_MAX};

use super::commits::{scratch, write_input};
use crate::engine::Inner;
use crate::error::GateError;

/// Which state of the repository is asked about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Asked {
    /// As it stands in the workspace.
    Before,
    /// As the command left it.
    After,
}

/// How git is called: it obeys nothing that the repository could have been made to say.
const CALL: &str = "set -efu; G='git --no-replace-objects --literal-pathspecs --no-optional-locks \
                    --no-pager -c core.fsmonitor=false -c core.commitGraph=false \
                    -c core.multiPackIndex=false -c core.hooksPath=/dev/null \
                    -c core.attributesFile=/dev/null -c safe.directory=* \
                    -c safe.bareRepository=explicit'\n";

/// A repository beneath the workspace, to be asked.
pub(super) struct Git<'a> {
    inner: &'a Inner,
    host: &'a Host,
    path: OsString,
    /// The repository's folder beneath the workspace; empty, or with a slash at its end.
    folder: &'a [u8],
    upper: PathBuf,
    scratch: PathBuf,
    /// How often it was asked.
    asked: Cell<u32>,
}

impl<'a> Git<'a> {
    pub(super) fn new(inner: &'a Inner, folder: &'a [u8], own: &Path) -> Result<Self, GateError> {
        let yard = inner.commands.as_ref();
        let Some(yard) = yard else {
            return Err(unasked("commands are not run here"));
        };
        let host = yard.host(&inner.site.state)?;
        let mut given = yard.given.environment.iter();
        let path = given.find(|(name, _)| name == "PATH");
        let usual = || OsString::from("/usr/local/bin:/usr/bin:/bin");
        Ok(Self {
            inner,
            host,
            path: path.map_or_else(usual, |(_, value)| value.clone()),
            folder,
            upper: own.join("upper"),
            scratch: scratch(own)?,
            asked: Cell::new(0),
        })
    }

    /// What a script prints. One that fails is an error, whatever it printed.
    pub(super) fn ask(
        &self,
        when: Asked,
        script: &str,
        input: &[u8],
    ) -> Result<Vec<u8>, GateError> {
        let tmp = super::folders::made(self.scratch.join("tmp"))?;
        write_input(&tmp, input)?;
        self.asked.set(self.asked.get() + 1);
        let printed: Arc<Mutex<Vec<u8>>> = Arc::default();
        let collected = Arc::clone(&printed);
        let wanted = Wanted {
            output: Output {
                artifact: self.artifact(),
                live: Some(LiveSink(Arc::new(move |stream, bytes| {
                    if stream == Stream::Out {
                        let mut all = collected.lock().unwrap_or_else(PoisonError::into_inner);
                        all.extend_from_slice(bytes);
                    }
                }))),
            },
            ..self.wanted(when, script, tmp)
        };
        let failed = |source: SandboxError| GateError::Sandbox {
            source: Box::new(source),
        };
        let plan = tagout_sandbox::plan(self.host, &wanted).map_err(|why| failed(why.into()))?;
        let ended = plan.start().and_then(tagout_sandbox::Running::wait);
        let ended = ended.map_err(failed)?;
        if ended.failed_by.is_some() || ended.stopped || ended.exit.shell_code() != 0 {
            let said = String::from_utf8_lossy(&ended.output.head);
            let said: String = said.chars().take(GIT_SAID_CHARS_MAX).collect();
            return Err(unasked(&said));
        }
        let mut printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *printed))
    }

    fn artifact(&self) -> PathBuf {
        self.scratch.join(format!("output-{}", self.asked.get()))
    }

    fn wanted(&self, when: Asked, script: &str, tmp: PathBuf) -> Wanted {
        let workspace = self.inner.workspace.root().to_owned();
        let lower = match when {
            Asked::Before => Vec::new(),
            Asked::After => vec![self.upper.clone()],
        };
        let variable = |name: &str, value: OsString| (OsString::from(name), value);
        let script = format!("{CALL}{script}\n");
        Wanted {
            lane: Lane::ReadOnly,
            cwd: workspace.join(OsStr::from_bytes(self.folder)),
            workspace,
            argv: ["/bin/sh", "-c", &script].map(OsString::from).to_vec(),
            direct: None,
            env: vec![
                variable("PATH", self.path.clone()),
                variable("HOME", "/tmp".into()),
                variable("LC_ALL", "C".into()),
                variable("GIT_CONFIG_NOSYSTEM", "1".into()),
            ],
            limits: Limits {
                wall: Some(Duration::from_millis(GIT_ASKED_MS_MAX)),
                output_bytes: Some(GIT_ASKED_BYTES_MAX),
                ..Limits::default()
            },
            network: Network::Off,
            layers: Layers {
                lower,
                tmp,
                ..Layers::default()
            },
            writable: Vec::new(),
            through: Vec::new(),
            hidden: vec![self.inner.site.state.clone()],
            home: None,
            read_only_inside: Vec::new(),
            accept_degraded: Vec::new(),
            long_running: false,
            input: Input::Nothing,
            output: Output {
                artifact: self.artifact(),
                live: None,
            },
        }
    }
}

fn unasked(why: &str) -> GateError {
    GateError::Unasked {
        why: why.trim().to_owned(),
    }
}
