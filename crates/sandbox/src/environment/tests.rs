//! What is kept, what is set, what is never kept.

use std::ffi::OsString;

use super::{NEVER, SET, USUAL, rebuild};

fn pair(name: &str, value: &str) -> (OsString, OsString) {
    (name.into(), value.into())
}

fn value(env: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    env.iter()
        .find(|(other, _)| other == name)
        .map(|(_, value)| value.clone())
}

#[test]
fn only_what_is_listed_is_kept() {
    let given = [
        pair("PATH", "/usr/bin"),
        pair("LC_ALL", "C"),
        pair("AWS_SECRET_ACCESS_KEY", "s"),
    ];
    let env = rebuild(given, USUAL);
    assert_eq!(value(&env, "PATH"), Some("/usr/bin".into()));
    assert_eq!(value(&env, "LC_ALL"), Some("C".into()));
    assert_eq!(value(&env, "AWS_SECRET_ACCESS_KEY"), None);
}

#[test]
fn what_loads_code_is_not_kept_even_if_listed() {
    for name in NEVER {
        let name = name.replace('*', "X");
        let env = rebuild([pair(&name, "x")], &["*"]);
        assert_eq!(value(&env, &name), None, "{name}");
    }
}

#[test]
fn what_is_set_wins_over_what_was_given() {
    let env = rebuild([pair("TMPDIR", "/elsewhere")], &["*"]);
    assert_eq!(value(&env, "TMPDIR"), Some("/tmp".into()));
    let count = env.iter().filter(|(name, _)| name == "TMPDIR").count();
    assert_eq!(count, 1);
}

#[test]
fn an_empty_list_keeps_nothing() {
    let env = rebuild([pair("PATH", "/bin")], &[]);
    assert_eq!(value(&env, "PATH"), None);
}

#[test]
#[cfg(target_os = "linux")]
fn the_floor_lets_pass_only_what_was_set_here() {
    let set = rebuild([], &[]);
    assert_eq!(super::safe(&set), set);
    assert_eq!(set.len(), SET.len());
    let foreign = [
        pair("GIT_CONFIG_COUNT", "2"),
        pair("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ];
    assert_eq!(super::safe(&foreign), []);
}
