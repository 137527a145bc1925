//! Which rooms may reach the world, and through which calls.

use super::Finding;
use super::rooms::{self, May};
use super::source::is_word;
use super::tree::{File, Tree};

/// Parts of the standard library that a pure room must not name at all.
const IMPURE_MODULES: &[&str] = &["fs", "env", "net", "process", "thread", "os"];

/// Names that a pure room must not use, wherever they come from.
const IMPURE_NAMES: &[&str] = &[
    "SystemTime",
    "Instant",
    "OsRng",
    "ThreadRng",
    "stdin",
    "stdout",
    "stderr",
    "tokio",
    "Zoned::now",
    "Timestamp::now",
];

/// Calls that only the rooms with the right may make.
const CALLS: &[(May, &[&str], &str)] = &[
    (
        May::Spawn,
        &["Command::new", "fork", "posix_spawn", "execve", "clone3"],
        "only `sandbox` starts processes",
    ),
    (
        May::Write,
        &[
            "fs::write",
            "fs::rename",
            "fs::copy",
            "fs::hard_link",
            "fs::remove_file",
            "fs::remove_dir",
            "fs::remove_dir_all",
            "fs::create_dir",
            "fs::create_dir_all",
            "fs::set_permissions",
            "fs::symlink",
            "File::create",
            "File::create_new",
            "OpenOptions::new",
            "File::options",
        ],
        "only `workspace` and `ledger` write files, and `sandbox` its layers",
    ),
    (
        May::Environment,
        &[
            "env::var",
            "env::var_os",
            "env::vars",
            "env::vars_os",
            "env::current_dir",
            "env::current_exe",
            "env::home_dir",
            "env::temp_dir",
        ],
        "only `cli` reads the environment; take the value as an argument",
    ),
    (
        May::Arguments,
        &["env::args", "env::args_os"],
        "only `cli` reads the arguments, and the helper of `sandbox` its own name",
    ),
    (
        May::Clock,
        &["SystemTime::now", "Timestamp::now", "Zoned::now"],
        "only `cli` reads the clock; take `now` as an argument",
    ),
];

/// Invariant 1: the pure rooms name nothing that does I/O, so they cannot do any.
pub(super) fn pure_rooms_do_no_io(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| is_pure(file)) {
        for (number, line) in file.production() {
            for name in IMPURE_NAMES.iter().filter(|name| uses(&line.code, name)) {
                findings.push(impure(file, number, name));
            }
        }
        for (number, module) in standard_modules(file) {
            if IMPURE_MODULES.contains(&module.as_str()) {
                findings.push(impure(file, number, &format!("std::{module}")));
            }
        }
    }
    findings
}

fn is_pure(file: &File) -> bool {
    file.room()
        .and_then(rooms::find)
        .is_some_and(|room| !room.may(May::Io))
}

fn impure(file: &File, number: usize, name: &str) -> Finding {
    let message = format!("`{name}` in a pure room; take what it gives as a value");
    Finding::new(&file.path, number, "pure", message)
}

/// Every module of `std` that a file names in production, in paths and in `use` groups.
fn standard_modules(file: &File) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut group: Option<usize> = None;
    for (number, line) in file.production() {
        let mut rest = line.code.as_str();
        loop {
            if let Some(depth) = group {
                let (names, left, after) = group_names(rest, depth);
                found.extend(names.into_iter().map(|name| (number, name)));
                group = left;
                rest = after;
                if group.is_some() {
                    break;
                }
            }
            let Some(after) = after_std(rest) else { break };
            if let Some(inner) = after.trim_start().strip_prefix('{') {
                group = Some(1);
                rest = inner;
            } else {
                let name: String = after
                    .chars()
                    .take_while(|letter| is_word(*letter))
                    .collect();
                found.push((number, name));
                rest = after;
            }
        }
    }
    found
}

/// What follows the next `std::` that is a whole word.
fn after_std(code: &str) -> Option<&str> {
    let mut from = code;
    loop {
        let (before, after) = from.split_once("std::")?;
        if !before.chars().next_back().is_some_and(is_word) {
            return Some(after);
        }
        from = after;
    }
}

/// The first names of the entries of a `use std::{…}` group on one line, how many braces are still
/// open after it, and the rest of the line once the group is closed.
fn group_names(code: &str, mut depth: usize) -> (Vec<String>, Option<usize>, &str) {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut first = true;
    let mut letters = code.chars();
    while let Some(letter) = letters.next() {
        if is_word(letter) && depth == 1 && first {
            name.push(letter);
            continue;
        }
        if !name.is_empty() {
            names.push(std::mem::take(&mut name));
            first = false;
        }
        match letter {
            ',' if depth == 1 => first = true,
            '{' => depth += 1,
            '}' if depth == 1 => return (names, None, letters.as_str()),
            '}' => depth -= 1,
            _ => {}
        }
    }
    if !name.is_empty() {
        names.push(name);
    }
    (names, Some(depth), "")
}

/// Invariant 5: each dangerous call is made in the one room that may make it.
pub(super) fn dangerous_calls_stay_in_their_room(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    // A build script runs at the developer's, and is no part of the program.
    let of_the_program = |file: &&File| !file.path.ends_with("/build.rs");
    for file in tree.rust().filter(of_the_program) {
        let Some(room) = file.room().and_then(rooms::find) else {
            continue;
        };
        for (right, calls, message) in CALLS.iter().filter(|(right, _, _)| !room.may(*right)) {
            for (number, line) in file.production() {
                for call in calls.iter().filter(|call| uses(&line.code, call)) {
                    let told = format!("`{call}`: {message}");
                    let rule = match right {
                        May::Spawn => "spawn",
                        May::Write => "write",
                        May::Environment => "environment",
                        May::Arguments => "arguments",
                        May::Clock | May::Async | May::Io => "clock",
                    };
                    findings.push(Finding::new(&file.path, number, rule, told));
                }
            }
        }
    }
    findings
}

/// Whether code holds a name as a whole word: a call where the name is a bare function.
fn uses(code: &str, name: &str) -> bool {
    let mut from = code;
    while let Some((before, after)) = from.split_once(name) {
        let starts = !before.chars().next_back().is_some_and(is_word);
        let ends = !after.chars().next().is_some_and(is_word);
        let bare = !name.contains("::") && name.chars().all(|letter| !letter.is_uppercase());
        let called = !bare || after.starts_with('(') || after.starts_with("::");
        let declared = before.trim_end().ends_with("fn");
        if starts && ends && called && !declared {
            return true;
        }
        from = after;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{Tree, dangerous_calls_stay_in_their_room, pure_rooms_do_no_io};

    fn impurities(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("crates/policy/src/a.rs", text)]);
        pure_rooms_do_no_io(&tree)
            .into_iter()
            .map(|finding| format!("{}:{}", finding.line, finding.message))
            .collect()
    }

    #[test]
    fn every_way_to_name_the_world_is_found_in_a_pure_room() {
        for text in [
            "use std::fs;\n",
            "use std::{fmt, fs};\n",
            "use std::{\n    fmt,\n    env::{self, var},\n};\n",
            "fn f() { std::process::exit(1) }\n",
            "use std::time::{Duration, Instant};\n",
            "use std::time::SystemTime;\n",
            "use std::net::IpAddr;\n",
            "fn f() { jiff::Timestamp::now(); }\n",
            "fn f() { io::stdin(); }\n",
        ] {
            assert!(!impurities(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn values_text_and_tests_are_no_io() {
        for text in [
            "use std::collections::BTreeMap;\n",
            "use std::{fmt, collections::{BTreeMap, BTreeSet}};\n",
            "/// Like `std::fs`.\nfn f() { g(\"std::fs\") }\n",
            "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n",
            "struct Instantly; use my_std::fs;\n",
            "fn stdin() {}\n",
        ] {
            assert!(
                impurities(text).is_empty(),
                "{text}: {:?}",
                impurities(text)
            );
        }
    }

    #[test]
    fn dangerous_calls_are_found_outside_their_room() {
        let count = |path: &str, text: &str| {
            dangerous_calls_stay_in_their_room(&Tree::of(&[(path, text)])).len()
        };
        let write = "fn f() { std::fs::write(a, b); }\n";
        assert_eq!(count("crates/cli/src/a.rs", write), 1);
        assert_eq!(count("crates/ledger/src/a.rs", write), 0);
        let spawn = "fn f() { Command::new(a); }\n";
        assert_eq!(count("crates/gate/src/a.rs", spawn), 1);
        assert_eq!(count("crates/sandbox/src/a.rs", spawn), 0);
        assert_eq!(count("xtask/src/a.rs", spawn), 0);
        let environment = "fn f() { env::var(a); }\n";
        assert_eq!(count("crates/workspace/src/a.rs", environment), 1);
        assert_eq!(count("crates/cli/src/a.rs", environment), 0);
        let clock = "fn f() { SystemTime::now(); }\n";
        assert_eq!(count("crates/ledger/src/a.rs", clock), 1);
        assert_eq!(count("crates/cli/src/a.rs", clock), 0);
        assert_eq!(count("crates/cli/tests/it/a.rs", write), 0);
    }
}
