//! Running a plain command without the shell that would only start it.
//!
//! What bash would have done is done here: the program is looked up, and three variables are set.
//! Wherever that is not certain to come to the same, bash does it.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{Access, FileType, stat};

use super::sys;
use super::wire::{Raw, Spec};
use crate::wanted::Wanted;

/// Variables that bash itself sets, forgets or obeys. Where one is given, bash is asked.
const OF_BASH: &[&str] = &[
    "_",
    "COLUMNS",
    "DIRSTACK",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "IFS",
    "IGNOREEOF",
    "LINENO",
    "LINES",
    "OLDPWD",
    "OPTERR",
    "OPTIND",
    "PIPESTATUS",
    "POSIXLY_CORRECT",
    "PPID",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHLVL",
    "SRANDOM",
    "TMOUT",
    "UID",
];

/// The same for all that begin so.
const OF_BASH_PREFIXES: &[&str] = &["BASH", "COMP", "EPOCH", "HIST", "MAIL", "PS"];

/// The words to run at once, or none where only bash can say what it would do.
pub(super) fn words(wanted: &Wanted, env: &[(OsString, OsString)]) -> Vec<Raw> {
    let shell = wanted.argv.first().map(OsString::as_os_str);
    let is_bash = shell.is_some_and(|shell| shell.as_bytes().ends_with(b"/bash"));
    let searched = env
        .iter()
        .any(|(name, value)| name == "PATH" && is_absolute(value));
    let mut names: Vec<&OsStr> = env.iter().map(|(name, _)| name.as_os_str()).collect();
    names.sort_unstable();
    let told_twice = names.windows(2).any(|pair| pair.first() == pair.last());
    if !is_bash || !searched || told_twice || !names.into_iter().all(is_ordinary) {
        return Vec::new();
    }
    let direct = wanted.direct.iter().flatten().cloned();
    direct.map(Raw::from).collect()
}

/// Whether every entry of a search path is absolute, so that nothing is looked for in the folder
/// that the command runs in.
fn is_absolute(path: &OsStr) -> bool {
    let mut folders = path.as_bytes().split(|byte| *byte == b':');
    folders.all(|folder| folder.first() == Some(&b'/'))
}

/// Whether bash hands a variable of this name on and does nothing else with it.
fn is_ordinary(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(plain)
        && name.starts_with(|c: char| !c.is_ascii_digit())
        && !OF_BASH.contains(&name)
        && !OF_BASH_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// The program that bash would become.
#[derive(Debug)]
pub(super) struct Direct {
    path: CString,
    words: Vec<CString>,
    env: Vec<CString>,
}

impl Direct {
    /// Nothing where bash would do anything else.
    pub(super) fn of(spec: &Spec, env: &[CString]) -> Option<Self> {
        let words = spec.direct.iter();
        let words = words.map(|word| CString::new(word.bytes()).ok());
        let words: Vec<CString> = words.collect::<Option<_>>()?;
        let path = found(spec.search.bytes(), words.first()?)?;
        let here = rustix::process::getcwd(Vec::new()).ok()?;
        let set = [
            [b"PWD=", here.as_bytes()].concat(),
            b"SHLVL=0".to_vec(),
            [b"_=", path.as_bytes()].concat(),
        ];
        let set = set.into_iter().filter_map(|one| CString::new(one).ok());
        let env = env.iter().cloned().chain(set).collect();
        Some(Self { path, words, env })
    }

    /// Becomes it. Returns why that can't be.
    pub(super) fn execute(&self) -> io::Error {
        sys::execute(&self.path, &self.words, &self.env)
    }
}

/// The file that bash would run under this name. One that is no program, where bash would look
/// further or complain, is left to it.
fn found(search: &[u8], name: &CString) -> Option<CString> {
    if name.as_bytes().contains(&b'/') {
        return is_program(name).then(|| name.clone());
    }
    for folder in search.split(|byte| *byte == b':') {
        let path = CString::new([folder, b"/", name.as_bytes()].concat()).ok()?;
        match stat(&path) {
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {}
            Ok(_) if is_program(&path) => return Some(path),
            Ok(_) | Err(_) => return None,
        }
    }
    None
}

fn is_program(path: &CString) -> bool {
    let is_file =
        stat(path).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    is_file && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}
