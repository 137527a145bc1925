//! What the tree promises: positions, spans, bounds.

use std::fmt::Write as _;

use super::{Value, first_anchor, parse};

fn refused(text: &str) -> String {
    parse("f.yaml", text).unwrap_err().to_string()
}

#[test]
fn nodes_know_their_bytes_and_their_place() {
    let text = "é: ü\nlist:\n  - \"ä\" # c\n  - plain\n";
    let root = parse("f.yaml", text).unwrap().unwrap();
    let item = &root.get("list").unwrap().as_list().unwrap()[0];
    assert_eq!(&text[item.span.start..item.span.end], "\"ä\"");
    assert_eq!((item.at().line, item.at().column), (3, 5));
    let value = root.get("é").unwrap();
    assert_eq!(&text[value.span.start..value.span.end], "ü");
}

#[test]
fn nothing_but_comments_is_nothing() {
    assert!(parse("f.yaml", "# only\n\n").unwrap().is_none());
    assert!(parse("f.yaml", "").unwrap().is_none());
}

#[test]
fn damage_names_its_place() {
    assert_eq!(
        refused("a: 1\na: 2\n"),
        "f.yaml:2:1: the key `a` appears twice"
    );
    assert!(
        refused("a: [1, 2\nb: 3\n").starts_with("f.yaml:2:"),
        "{}",
        refused("a: [1\nb: 3\n")
    );
    assert_eq!(
        refused("a: 1\n---\nb: 2\n"),
        "f.yaml:2:1: a second document; the file holds one"
    );
}

#[test]
fn bombs_are_bounded() {
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..12 {
        let inner = format!("*a{}", level - 1);
        let items = vec![inner; 10].join(",");
        writeln!(bomb, "a{level}: &a{level} [{items}]").unwrap();
    }
    assert!(
        refused(&bomb).contains("once aliases are followed"),
        "{}",
        refused(&bomb)
    );
    let deep = refused(&"[".repeat(100_000));
    assert!(
        deep.contains("nested deeper") || deep.contains("recursion limit"),
        "{deep}"
    );
    assert!(refused(&"- ".repeat(100_000)).contains("nested deeper"));
}

#[test]
fn what_would_be_lost_in_silence_is_refused() {
    assert_eq!(
        refused("scope:\n  - src/**\n  - !src/gen/**\n"),
        "f.yaml:3:5: the tag `!src/gen/**` means nothing here \
         (a text that starts with `!` needs quotes)"
    );
    assert!(refused("- *.rs\n").ends_with("(a text that starts with `*` needs quotes)"));
    assert_eq!(
        refused("a: 1\nb: \u{0}\n"),
        "f.yaml:2:4: a control character"
    );
    assert_eq!(
        refused("ä\u{1b}[0m: 1\n"),
        "f.yaml:1:2: a control character"
    );
    assert!(parse("f.yaml", "a: !!str 5\n").unwrap().is_some());
}

#[test]
fn anchors_are_found() {
    assert_eq!(first_anchor("a: [1, 2]\n"), None);
    assert_eq!(first_anchor("a: 1\nb: &x 2\n").map(|at| at.line), Some(2));
}

#[test]
fn a_huge_mapping_takes_no_quadratic_time() {
    let mut text = String::new();
    for key in 0..100_000 {
        writeln!(text, "k{key}: 1").unwrap();
    }
    text.push_str("k0: 2\n");
    assert_eq!(
        refused(&text),
        "f.yaml:100001:1: the key `k0` appears twice"
    );
}

#[test]
fn only_plain_scalars_are_typed() {
    let root = parse("f.yaml", "a: 'true'\nb: true\nc: '7'\nd: 7\ne: ~\nf: '~'\n")
        .unwrap()
        .unwrap();
    assert_eq!(root.get("a").unwrap().as_bool(), None);
    assert_eq!(root.get("b").unwrap().as_bool(), Some(true));
    assert_eq!(root.get("c").unwrap().as_u64(), None);
    assert_eq!(root.get("d").unwrap().as_u64(), Some(7));
    assert!(root.get("e").unwrap().is_null());
    assert!(matches!(&root.get("f").unwrap().value, Value::Scalar { text, .. } if text == "~"));
}
