//! Definitions in every grammar.

use super::outline;

fn names(path: &str, text: &str) -> Vec<String> {
    let found = outline(path, text).unwrap();
    assert!(found.clean, "{path}");
    found
        .definitions
        .iter()
        .map(|one| {
            format!(
                "{}{} {} {}",
                "  ".repeat(one.depth),
                one.kind,
                one.name,
                one.start_line
            )
        })
        .collect()
}

/// A path, a source, and its definitions with their lines.
const CASES: [(&str, &str, &[&str]); 11] = [
    (
        "a.rs",
        "struct S;\nimpl Clone for S {\n    fn clone(&self) -> S { S }\n}\n\
             mod m { const C: u8 = 1; }\n",
        &[
            "struct S 1",
            "impl Clone for S 2",
            "  function clone 3",
            "module m 5",
            "  constant C 5",
        ],
    ),
    (
        "a.py",
        "class A:\n    def f(self):\n        pass\n",
        &["class A 1", "  function f 2"],
    ),
    (
        "a.ts",
        "export interface I { x: number }\nexport class C { m(): void {} }\n\
             type T = string;\nconst f = () => 1;\n",
        &[
            "interface I 1",
            "class C 2",
            "  method m 2",
            "type T 3",
            "function f 4",
        ],
    ),
    (
        "a.tsx",
        "export function V() { return <b>x</b>; }\n",
        &["function V 1"],
    ),
    (
        "a.js",
        "class C { m() {} }\nfunction f() {}\nconst g = function () {};\n",
        &["class C 1", "  method m 1", "function f 2", "function g 3"],
    ),
    (
        "a.go",
        "package p\ntype T struct{}\nfunc (t T) M() {}\nfunc F() {}\n",
        &["type T 2", "method M 3", "function F 4"],
    ),
    (
        "A.java",
        "class A {\n  A() {}\n  void f() {}\n}\n",
        &["class A 1", "  constructor A 2", "  method f 3"],
    ),
    (
        "a.c",
        "struct S { int x; };\nstruct S make(void);\n\
             static int *f(struct S *s) { return &s->x; }\n",
        &["struct S 1", "function f 3"],
    ),
    (
        "a.cpp",
        "namespace n { class C { void m() {} }; }\nint n::f() { return 1; }\n",
        &[
            "namespace n 1",
            "  class C 1",
            "    function m 1",
            "function n::f 2",
        ],
    ),
    ("a.sh", "f() {\n  :\n}\n", &["function f 1"]),
    ("A.H", "int f(void) { return 0; }\n", &["function f 1"]),
];

#[test]
fn every_grammar_finds_its_definitions() {
    for (path, text, expected) in CASES {
        assert_eq!(names(path, text), expected, "{path}");
    }
}

#[test]
fn broken_and_deep_sources_end() {
    let broken = outline("a.rs", "fn f( {{{ struct S;").unwrap();
    assert!(!broken.clean);
    let deep = "(".repeat(100_000);
    assert!(outline("a.py", &deep).is_some());
    let deep = format!("{}{}", "mod m {".repeat(5_000), "}".repeat(5_000));
    assert!(outline("a.rs", &deep).unwrap().definitions.len() <= 2_000);
}

#[test]
fn other_files_have_no_outline() {
    for path in ["a.txt", "a", ".rs", "rs"] {
        let known = outline(path, "fn f() {}").is_some();
        assert_eq!(known, path == ".rs", "{path}");
    }
}
