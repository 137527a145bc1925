//! What scope patterns promise, by example and against an independent matcher.

mod against_globset;
mod hostile;
mod spelling;

use tagout_vocab::WorkspacePath;

use super::{CaseRule, Owned, Pattern, PatternError, Scope, ScopeError, has_bare_comma};

/// A bounded run that leaves no file behind.
fn cases(count: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config {
        failure_persistence: None,
        ..proptest::test_runner::Config::with_cases(count)
    }
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn scope(texts: &[&str]) -> Scope {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    Scope::parse(&texts).unwrap()
}

fn check(pattern: &str, yes: &[&str], no: &[&str]) {
    let parsed = Pattern::parse(pattern).unwrap();
    for text in yes {
        assert!(
            parsed.grants(&path(text), CaseRule::Sensitive),
            "`{pattern}` on `{text}`"
        );
    }
    for text in no {
        assert!(
            !parsed.grants(&path(text), CaseRule::Sensitive),
            "`{pattern}` on `{text}`"
        );
    }
}

/// H7 The forms that people write.
#[test]
fn forms() {
    check("src", &["src", "src/a", "src/a/b"], &["srcx", "a/src", ""]);
    check("src/", &["src", "src/a/b"], &["srcx", ""]);
    check("/src/a.rs", &["src/a.rs"], &["a.rs", "x/src/a.rs"]);
    check("./src/a.rs", &["src/a.rs"], &["a.rs"]);
    check("*", &["a", ".a"], &["a/b", ""]);
    check("src/*", &["src/a"], &["src", "src/a/b"]);
    check("src/**", &["src/a", "src/a/b"], &["src", "srcx/a"]);
    check("src/*/", &["src/a", "src/a/b"], &["src"]);
    check("src/**/", &["src/a", "src/a/b"], &["src"]);
    check("**/b", &["b", "a/b", "a/x/b"], &["ab", "b/a"]);
    check("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb"]);
    check("a**b", &["ab", "axb"], &["a/b"]);
    check("**", &["", "a", "a/b"], &[]);
    check("/", &["", "a", "a/b"], &[]);
    check(".", &["", "a"], &[]);
    check("**/*", &["a", "a/b"], &[""]);
    check("a//./b", &["a/b"], &["a"]);
    check("main.py", &["main.py"], &["a/main.py"]);
    check("?.rs", &["a.rs", "é.rs"], &["ab.rs", ".rs"]);
    check("[a-c]x[!0-9]", &["axb", "cxé"], &["dxb", "ax1"]);
    check("[]-]x", &["]x", "-x"], &["ax"]);
    check("a[!b]c", &["axc"], &["a/c", "abc"]);
    check("\\*\\?\\[x", &["*?[x", "*?[x/below"], &["aab"]);
    check("a\\/b", &["a/b"], &["a"]);
    check("*.{ts,tsx}", &["a.ts", "a.tsx"], &["a.t", "b/a.ts"]);
    check("{src,tests}", &["src/a", "tests"], &["srcs"]);
    check("{src,tests}/**", &["src/a", "tests/b/c"], &["src"]);
    check("a{,b}", &["a", "ab", "ab/c"], &["abc"]);
    check("{a,{b,{c,d}}}x", &["ax", "bx", "cx", "dx"], &["x", "ex"]);
    check("a,b", &["a,b"], &["a", "b"]);
    check("[{,]x", &["{x", ",x"], &["x"]);
}

/// H7 An alternative that is empty or starts with a slash must not become the whole workspace.
#[test]
fn empty_alternatives_own_nothing() {
    check("{,src}/**", &["src/a"], &["", "a", "a/b"]);
    check("{,src}", &["src"], &["", "a"]);
    check("{/,src}", &["src"], &["", "a"]);
    check("{.,src}", &["src"], &["", "a"]);
    check("{.,a}{.,b}/x", &["ab/x"], &["", "x"]);
}

/// H7 An exclusion wins wherever it stands, and a scope of exclusions owns nothing.
#[test]
fn exclusions_win() {
    let both = scope(&["!src/gen/", "src", "!src/x.rs"]);
    let owns = |text: &str| both.owns(&path(text), CaseRule::Sensitive).is_yes();
    assert!(owns("src/a.rs"));
    assert!(!owns("src/gen/a.rs"));
    assert!(!owns("src/x.rs"));
    assert!(matches!(
        both.owns(&path("src/gen/a"), CaseRule::Sensitive),
        Owned::Excluded(pattern) if pattern.as_str() == "!src/gen/"
    ));
    assert_eq!(both.owns(&path("other"), CaseRule::Sensitive), Owned::No);
    assert!(scope(&["!src"]).is_empty());
    assert!(
        !scope(&["!src"])
            .owns(&path("a"), CaseRule::Sensitive)
            .is_yes()
    );
    assert!(
        !Scope::default()
            .owns(&path("a"), CaseRule::Sensitive)
            .is_yes()
    );
}

/// H7 Case and Unicode form count by the file system's rule.
#[test]
fn case_and_form() {
    let composed = "caf\u{e9}/A.rs";
    let decomposed = "cafe\u{301}/a.RS";
    let owner = scope(&[composed]);
    assert!(!owner.owns(&path(decomposed), CaseRule::Sensitive).is_yes());
    assert!(
        owner
            .owns(&path(decomposed), CaseRule::Insensitive)
            .is_yes()
    );
    let classes = scope(&["[A-C]x/[Z]*"]);
    assert!(
        classes
            .owns(&path("bX/zoo"), CaseRule::Insensitive)
            .is_yes()
    );
    assert!(!classes.owns(&path("bX/zoo"), CaseRule::Sensitive).is_yes());
}

/// H7 Where file systems differ, a grant folds less than an exclusion does.
#[test]
fn doubtful_letters_fall_to_the_safe_side() {
    let denying = Pattern::parse("secret").unwrap();
    for odd in ["\u{17f}ecret", "SECRET", "se\u{200c}cret"] {
        assert!(denying.denies(&path(odd), CaseRule::Insensitive), "{odd:?}");
    }
    assert!(!denying.denies(&path("secre"), CaseRule::Insensitive));
    let granting = Pattern::parse("secret").unwrap();
    assert!(granting.grants(&path("SECRET"), CaseRule::Insensitive));
    assert!(!granting.grants(&path("\u{17f}ecret"), CaseRule::Insensitive));
    assert!(!granting.grants(&path("se\u{200c}cret"), CaseRule::Insensitive));
    assert!(
        Pattern::parse("stra\u{df}e")
            .unwrap()
            .denies(&path("STRASSE"), CaseRule::Insensitive)
    );
}

#[test]
fn damage_is_refused_with_its_reason() {
    let refused = |text: &str| Pattern::parse(text).unwrap_err();
    assert_eq!(refused(""), PatternError::Empty);
    assert_eq!(refused("!"), PatternError::Empty);
    assert_eq!(refused("a\u{7}"), PatternError::Control);
    assert_eq!(refused(&"a".repeat(1025)), PatternError::TooLong);
    assert_eq!(refused("../a"), PatternError::Climbs);
    assert_eq!(refused("a/{b,..}/c"), PatternError::Climbs);
    assert_eq!(refused("a\\"), PatternError::DanglingEscape);
    assert_eq!(refused("src\\auth"), PatternError::NeedlessEscape('a'));
    assert_eq!(refused("[a"), PatternError::UnclosedClass);
    assert_eq!(refused("[a/b]"), PatternError::SlashInClass);
    assert_eq!(
        refused("[b-a]"),
        PatternError::BackwardRange {
            low: 'b',
            high: 'a'
        }
    );
    assert_eq!(refused("{a"), PatternError::UnclosedBrace);
    assert_eq!(refused("a}"), PatternError::UnopenedBrace);
    let texts = vec!["ok".to_owned(), "[".to_owned()];
    assert_eq!(
        Scope::parse(&texts).unwrap_err().to_string(),
        "pattern 2 of the scope, `[`: a `[` has no `]`; write `\\[` for the character itself"
    );
    assert!(matches!(
        Scope::parse(&vec!["a".to_owned(); 1001]),
        Err(ScopeError::TooMany { count: 1001 })
    ));
}

#[test]
fn a_scope_is_its_texts() {
    let written = scope(&["/src/", "!src/gen", "*.{a,b}"]);
    let json = serde_json::to_string(&written).unwrap();
    assert_eq!(json, r#"["/src/","!src/gen","*.{a,b}"]"#);
    assert_eq!(serde_json::from_str::<Scope>(&json).unwrap(), written);
    let bytes = postcard::to_stdvec(&written).unwrap();
    assert_eq!(postcard::from_bytes::<Scope>(&bytes).unwrap(), written);
    assert!(serde_json::from_str::<Scope>(r#"["../x"]"#).is_err());
}

#[test]
fn covering_by_example() {
    let covers = |ours: &str, theirs: &str| {
        Pattern::parse(ours)
            .unwrap()
            .covers(&Pattern::parse(theirs).unwrap())
    };
    for (ours, theirs) in [
        ("**", "a"),
        ("/", "**"),
        ("src", "src/**"),
        ("src/", "src/{a,}/b"),
        ("src/**", "src/*.rs"),
        ("src/**", "src/a/"),
        ("*.rs", "*.rs"),
        ("a\\*b", "a\\*b/c"),
    ] {
        assert!(covers(ours, theirs), "`{ours}` over `{theirs}`");
    }
    for (ours, theirs) in [
        ("src/**", "src"),
        ("src/**", "src/{,a}"),
        ("src", "s*"),
        ("src", "srcs"),
        ("src/*", "src/a"),
        ("a", "**"),
        ("a\\*b", "axb"),
        ("a\\*b", "a*b"),
    ] {
        assert!(!covers(ours, theirs), "`{ours}` over `{theirs}`");
    }
}

/// H7 A folder leads to what a pattern names beneath it, as far as the pattern has no wildcard.
#[test]
fn folders_that_lead_to_what_is_owned() {
    let leads = |texts: &[&str], folder: &str, case| {
        let folder = path(folder);
        scope(texts).lies_beneath(&super::Subject::new(&folder, case))
    };
    let sensitive = |texts: &[&str], folder: &str| leads(texts, folder, CaseRule::Sensitive);
    for (pattern, folder) in [
        ("docs/**", "docs"),
        ("a/b/**", "a"),
        ("a/b/**", "a/b"),
        ("a/b.rs", "a"),
        ("a/*/b", "a"),
        ("a/{b,c}/**", "a"),
        ("a/\\[b\\]/**", "a/[b]"),
    ] {
        assert!(sensitive(&[pattern], folder), "`{pattern}` on `{folder}`");
    }
    for (pattern, folder) in [
        ("docs/**", ""),
        ("docs/**", "doc"),
        ("docs/**", "other"),
        ("docs/**", "Docs"),
        ("a/b.rs", "a/b.rs"),
        ("a/*/b", "a/x"),
        ("**/b", "a"),
        ("a{b,c}/**", "a"),
        ("!docs/**", "docs"),
    ] {
        assert!(!sensitive(&[pattern], folder), "`{pattern}` on `{folder}`");
    }
    assert!(!sensitive(&["a/b/**", "!a"], "a"));
    assert!(leads(&["docs/**"], "Docs", CaseRule::Insensitive));
    assert!(!leads(&["docs/**"], "other", CaseRule::Insensitive));
}

/// A comma between alternatives, in a class or behind a backslash is part of the pattern; any other
/// may have been meant to end it.
#[test]
fn bare_commas() {
    for text in [
        "src/**",
        "src/{a,b}/**",
        "a/{b,{c,d}}",
        "a[,]b",
        "a[!,]b",
        "a\\,b",
        "{a,b",
    ] {
        assert!(!has_bare_comma(text), "{text}");
    }
    for text in [
        "a,b",
        "src/**,docs/**",
        "a,",
        ",",
        "{a,b},c",
        "a},b",
        "[a],b",
        "é,b",
    ] {
        assert!(has_bare_comma(text), "{text}");
    }
}
