//! The two lines that agents wait for, read without the rest of the command line: to describe every
//! verb and flag there is takes longer than to read them.
//!
//! Whatever is not as plain as it can be, help and mistakes among it, is read as all other lines
//! are.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{ExecArgs, HookArgs, PlaceArgs};

/// The flag that only builds for tests have.
const FAIL: &str = if cfg!(debug_assertions) { "--fail" } else { "" };

/// The hook's line as `install` writes it.
pub(crate) fn hook() -> Option<(PlaceArgs, HookArgs)> {
    hook_of(std::env::args_os().skip(1))
}

/// A line that runs a command, as hooks write it and as most people type it.
pub(crate) fn exec() -> Option<(PlaceArgs, ExecArgs)> {
    exec_of(std::env::args_os().skip(1))
}

fn hook_of(mut words: impl Iterator<Item = OsString>) -> Option<(PlaceArgs, HookArgs)> {
    words.next().filter(|word| word == "hook")?;
    let flags = ["--client", "--event", "--workspace", "--state-dir", FAIL];
    let ([client, event, workspace, state_dir, fail], ended) = valued(flags, &mut words)?;
    if ended == Ended::Parted {
        return None;
    }
    let hook = HookArgs::new(text(client)?, text(event)?, text(fail));
    Some((place(workspace, state_dir), hook))
}

fn exec_of(mut words: impl Iterator<Item = OsString>) -> Option<(PlaceArgs, ExecArgs)> {
    words.next().filter(|word| word == "exec")?;
    let flags = [
        "--intent",
        "--session",
        "--permit",
        "--cwd",
        "--workspace",
        "--state-dir",
    ];
    let (found, ended) = valued(flags, &mut words)?;
    let [intent, session, permit, cwd, workspace, state_dir] = found;
    let command: Vec<OsString> = words.collect();
    let contradicts = session.is_some() && permit.is_some();
    if ended == Ended::Ran || command.is_empty() || contradicts {
        return None;
    }
    let given = [&intent, &session, &permit, &cwd];
    if given
        .into_iter()
        .flatten()
        .any(|word| word.to_str().is_none())
    {
        return None;
    }
    let exec = ExecArgs {
        intent: text(intent),
        session: text(session),
        permit: text(permit),
        cwd: text(cwd),
        timeout: None,
        long_running: false,
        json: false,
        end: false,
        command,
    };
    Some((place(workspace, state_dir), exec))
}

/// Where the flags ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ended {
    /// With the line.
    Ran,
    /// At the word after which everything is somebody else's.
    Parted,
}

/// Flags with a value each, every one at most once, up to `--` or the end. `None` where anything
/// else stands, or a value that might be a flag.
fn valued<const N: usize>(
    flags: [&str; N],
    words: &mut impl Iterator<Item = OsString>,
) -> Option<([Option<OsString>; N], Ended)> {
    let mut found = [const { None }; N];
    while let Some(word) = words.next() {
        if word == "--" {
            return Some((found, Ended::Parted));
        }
        let at = flags
            .iter()
            .position(|flag| !flag.is_empty() && word == *flag)?;
        let plain =
            |value: &OsString| !value.is_empty() && !value.as_encoded_bytes().starts_with(b"-");
        let value = words.next().filter(plain)?;
        if found.get_mut(at)?.replace(value).is_some() {
            return None;
        }
    }
    Some((found, Ended::Ran))
}

fn place(workspace: Option<OsString>, state_dir: Option<OsString>) -> PlaceArgs {
    PlaceArgs {
        workspace: workspace.map(PathBuf::from),
        state_dir: state_dir.map(PathBuf::from),
    }
}

fn text(word: Option<OsString>) -> Option<String> {
    word?.into_string().ok()
}

#[cfg(test)]
mod tests;
