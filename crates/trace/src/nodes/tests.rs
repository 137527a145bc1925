//! Definitions in every grammar, and what a change touches.

use super::Definitions;
use crate::syntax::{NoSyntax, Syntax};

/// A source in each language: the symbols and their lines.
const CASES: [(&str, &str, &[&str]); 10] = [
    (
        "a.rs",
        "impl Clone for S {\n    fn clone(&self) -> S { S }\n}\nmod m { fn f() {} }\n",
        &[
            "Clone for S 1-3",
            "Clone for S::clone 2-2",
            "m 4-4",
            "m::f 4-4",
        ],
    ),
    (
        "a.py",
        "class A:\n    def f(self):\n        pass\n",
        &["A 1-3", "A.f 2-3"],
    ),
    (
        "a.ts",
        "class C { m(): void {} }\nconst f = () => 1;\n",
        &["C 1-1", "C.m 1-1", "f 2-2"],
    ),
    ("a.tsx", "function V() { return <b>x</b>; }\n", &["V 1-1"]),
    (
        "a.js",
        "function f() {\n  function g() {}\n}\n",
        &["f 1-3", "f.g 2-2"],
    ),
    (
        "a.go",
        "package p\ntype T struct{}\nfunc (t T) M() {}\n",
        &["T 2-2", "M 3-3"],
    ),
    (
        "A.java",
        "class A {\n  void f() {}\n}\n",
        &["A 1-3", "A.f 2-2"],
    ),
    (
        "a.c",
        "static int *f(int x) {\n  return 0;\n}\n",
        &["f 1-3"],
    ),
    (
        "a.cpp",
        "namespace n { class C { void m() {} }; }\n",
        &["n 1-1", "n::C 1-1", "n::C::m 1-1"],
    ),
    ("a.sh", "f() {\n  :\n}\n", &["f 1-3"]),
];

/// H11
#[test]
fn every_grammar_names_its_symbols() {
    for (path, text, wanted) in CASES {
        let syntax = Syntax::parse(path, text.as_bytes()).unwrap();
        assert!(syntax.is_clean(), "{path}");
        let nodes = Definitions::of(&syntax).nodes();
        let found: Vec<String> = nodes
            .iter()
            .map(|node| format!("{} {}-{}", node.symbol, node.start_line, node.end_line))
            .collect();
        assert_eq!(found, wanted, "{path}");
    }
}

#[test]
fn layout_keeps_a_hash_and_a_word_changes_it() {
    let hash = |path: &str, text: &str| {
        let syntax = Syntax::parse(path, text.as_bytes()).unwrap();
        Definitions::of(&syntax).nodes()[0].node_hash
    };
    let same = [
        (
            "a.rs",
            "fn f(a: u8) { g(a); }",
            "fn f(\n    a: u8,\n) {\n    // x\n    g(a);\n}",
        ),
        (
            "a.py",
            "def f(): return g('a')",
            "def f():\n    return g(\n        \"a\",\n    )",
        ),
        (
            "a.ts",
            "function f() { return 'a' }",
            "function f() {\n  return \"a\";\n}",
        ),
    ];
    for (path, one, other) in same {
        assert_eq!(hash(path, one), hash(path, other), "{path}");
    }
    let differ = [
        ("a.rs", "fn f() { g(1) }", "fn f() { g(2) }"),
        (
            "a.py",
            "def f():\n  for x in y:\n    a()\n  b()",
            "def f():\n  for x in y:\n    a()\n    b()",
        ),
        (
            "a.ts",
            "function f() { return `a ${b}`; }",
            "function f() { return `a  ${b}`; }",
        ),
    ];
    for (path, one, other) in differ {
        assert_ne!(hash(path, one), hash(path, other), "{path}");
    }
}

#[test]
fn changed_lines_touch_the_innermost_definitions() {
    let text = "class A:\n    x = 1\n    def f(self):\n        a()\n        b()\n    y = 2\n";
    let syntax = Syntax::parse("a.py", text.as_bytes()).unwrap();
    let all = Definitions::of(&syntax);
    let touched = |lines: std::ops::Range<u32>| -> Vec<String> {
        all.touched(&lines)
            .into_iter()
            .map(|node| node.symbol)
            .collect()
    };
    assert_eq!(touched(3..4), ["A.f"]);
    assert_eq!(touched(1..2), ["A"]);
    assert_eq!(touched(4..6), ["A", "A.f"]);
    assert_eq!(touched(4..4), ["A.f"]);
    assert_eq!(touched(0..6), ["A", "A.f"]);
    assert_eq!(touched(9..10), Vec::<String>::new());
}

#[test]
fn what_has_no_tree_says_so() {
    assert_eq!(
        Syntax::parse("a.txt", b"x").unwrap_err(),
        NoSyntax::NoGrammar
    );
    let large = vec![b' '; tagout_vocab::limits::SYNTAX_BYTES_MAX + 1];
    assert_eq!(
        Syntax::parse("a.rs", &large).unwrap_err(),
        NoSyntax::TooLarge
    );
}

#[test]
fn deep_sources_end() {
    for (path, open) in [
        ("a.rs", "mod m {"),
        ("a.py", "("),
        ("a.ts", "{"),
        ("a.c", "(("),
    ] {
        let text = open.repeat(20_000);
        let syntax = Syntax::parse(path, text.as_bytes()).unwrap();
        assert!(Definitions::of(&syntax).nodes().len() <= 20_000);
    }
}
