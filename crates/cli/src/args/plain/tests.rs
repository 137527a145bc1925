//! What is read the short way is what the long way reads.

use std::ffi::OsString;

use clap::Parser as _;

use super::{exec_of, hook_of};
use crate::args::{Args, Verb};

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

fn long(line: &str) -> Option<String> {
    let words = words(&format!("tagout {line}"));
    let args = Args::try_parse_from(words).ok()?;
    if let Verb::Exec(exec) = args.verb {
        return Some(format!("{:?}", (args.place, exec)));
    }
    let Verb::Hook(hook) = args.verb else {
        panic!("{line}");
    };
    Some(format!("{:?}", (args.place, hook)))
}

fn short(line: &str) -> Option<String> {
    let exec = exec_of(words(line).into_iter()).map(|read| format!("{read:?}"));
    exec.or_else(|| hook_of(words(line).into_iter()).map(|read| format!("{read:?}")))
}

#[test]
fn plain_lines_are_read_alike() {
    for line in [
        "exec -- true",
        "exec -- ls -la --json -- x",
        "exec --session s -- true",
        "exec --workspace /w --state-dir /s --intent INT-001 --session s --cwd src -- a b",
        "exec --permit p-1 --cwd /w/src -- true",
        "hook --client goose --event PreToolUse",
        "hook --event e --client c --state-dir /s --workspace /w",
    ] {
        assert_eq!(short(line), long(line), "{line}");
        assert!(short(line).is_some(), "{line}");
    }
}

#[test]
fn whatever_is_not_plain_is_left_to_the_long_way() {
    for line in [
        "exec",
        "exec --",
        "exec true",
        "exec --json -- true",
        "exec --end",
        "exec --long-running -- true",
        "exec --timeout 5 -- true",
        "exec --session=s -- true",
        "exec --session s --session t -- true",
        "exec --session s --permit p -- true",
        "exec --session -- true",
        "exec --session --intent -- true",
        "exec --help",
        "--workspace /w exec -- true",
        "hook --client goose",
        "hook --client goose --event e -- x",
        "hook --client goose --event e x",
        "log --json",
    ] {
        assert_eq!(short(line), None, "{line}");
    }
}
