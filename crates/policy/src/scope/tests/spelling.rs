//! Every spelling of a path outside a scope, against a resolver of the test's own.

use proptest::prelude::*;
use proptest::sample::select;
use tagout_vocab::Place;
use tagout_vocab::path::Roots;
use unicode_normalization::UnicodeNormalization as _;

use super::super::CaseRule;
use super::scope;

const WORKSPACE: &str = "/home/u/ws";

/// The stack machine that a kernel is, without symlinks: `None` when outside the workspace.
fn resolved(raw: &str, cwd: &str) -> Option<Vec<String>> {
    let mut stack: Vec<String> = Vec::new();
    let whole = if raw.starts_with('/') {
        raw.to_owned()
    } else if cwd.starts_with('/') {
        format!("{cwd}/{raw}")
    } else {
        format!("{WORKSPACE}/{cwd}/{raw}")
    };
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(stack.pop()),
            name => stack.push(name.to_owned()),
        }
    }
    let home: Vec<String> = vec!["home".into(), "u".into(), "ws".into()];
    (stack.len() >= 3 && stack[..3] == home[..]).then(|| stack[3..].to_vec())
}

fn folded(name: &str, case: CaseRule) -> String {
    match case {
        CaseRule::Sensitive => name.to_owned(),
        CaseRule::Insensitive => name.nfc().flat_map(char::to_lowercase).nfc().collect(),
    }
}

/// The scope `src/café`, `lib/**`, `docs/*.md` without `!src/café/gen`, as plain code.
fn in_scope(path: &[String], case: CaseRule) -> bool {
    let folded: Vec<String> = path.iter().map(|name| folded(name, case)).collect();
    let names: Vec<&str> = folded.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["src", "café", "gen", ..] => false,
        ["src", "café", ..] | ["lib", _, ..] => true,
        ["docs", file] => file.rsplit_once('.').is_some_and(|(_, end)| end == "md"),
        _ => false,
    }
}

fn piece() -> impl Strategy<Value = &'static str> {
    select(vec![
        "src",
        "café",
        "cafe\u{301}",
        "CAFÉ",
        "SRC",
        "gen",
        "GEN",
        "lib",
        "LIB",
        "docs",
        "a.md",
        "a.MD",
        "x",
        "..",
        "..",
        "..",
        ".",
        "",
        "...",
        "..\\x",
        "a\\..\\b",
        "~",
        "ws",
        "home",
        "u",
        "src\u{200c}",
        "ſrc",
        " ",
        "WS",
    ])
}

fn start() -> impl Strategy<Value = &'static str> {
    select(vec![
        "",
        "",
        "",
        "/",
        "//",
        "./",
        "../",
        "/home/u/ws/",
        "/home/u/ws//./",
        "/home/u/./ws/",
        "/home/u/ws/../ws/",
        "/home/u/wsx/",
        "/HOME/u/ws/",
        "file:///home/u/ws/",
        "C:/",
        "~/",
        "FILE:/home/u/ws/",
    ])
}

proptest! {
    #![proptest_config(super::cases(20_000))]

    /// H7 However a path is spelled, it is owned only if what it resolves to is in the scope.
    #[test]
    fn no_spelling_gets_in(
        start in start(),
        pieces in prop::collection::vec(piece(), 1..7),
        cwd in select(vec!["", "src", "lib/x", "/home/u/ws", "/home/u/ws/src/../lib", "/tmp",
            "..", "../ws", "~", "/"]),
        case in select(vec![CaseRule::Sensitive, CaseRule::Insensitive]),
    ) {
        let raw = format!("{start}{}", pieces.join("/"));
        let roots = Roots { workspace: WORKSPACE.into(), extra: Vec::new() };
        let owner = scope(&["src/café", "lib/**", "docs/*.md", "!src/café/gen"]);
        if let Place::Inside { path } = roots.place(&raw, cwd)
            && owner.owns(&path, case).is_yes()
        {
            let truth = resolved(&raw, cwd);
            prop_assert!(
                truth.as_ref().is_some_and(|path| in_scope(path, case)),
                "`{raw}` in `{cwd}` was owned as `{path}`, but is {truth:?}"
            );
        }
    }
}

/// The test above would pass if nothing were ever owned.
#[test]
fn honest_spellings_get_in() {
    let roots = Roots {
        workspace: WORKSPACE.into(),
        extra: Vec::new(),
    };
    let owner = scope(&["src/café", "lib/**", "docs/*.md"]);
    for (raw, cwd) in [
        ("src/café/a", ""),
        ("./src//café/./a", ""),
        ("/home/u/ws/src/x/../café/a", "/tmp"),
        ("../café", "src/gen"),
        ("a.md", "/home/u/ws/docs"),
        ("../ws/lib/a", "/home/u/ws"),
    ] {
        let place = roots.place(raw, cwd);
        let path = place.inside().unwrap();
        assert!(in_scope(&resolved(raw, cwd).unwrap(), CaseRule::Sensitive));
        assert!(
            owner.owns(path, CaseRule::Sensitive).is_yes(),
            "`{raw}` in `{cwd}` is {place:?}"
        );
    }
}
