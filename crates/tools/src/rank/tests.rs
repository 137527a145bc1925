//! Ranking by words.

use super::{Ranking, split, stem};

#[test]
fn names_are_taken_apart() {
    assert_eq!(
        split("readFile read_file HTTPServer2"),
        ["read", "file", "read", "file", "httpserver2"]
    );
    assert_eq!(stem("parsing"), stem("parse"));
    assert_eq!(stem("files"), stem("file"));
}

#[test]
fn the_part_that_answers_comes_first() {
    let mut ranking = Ranking::new("where is the session expiry checked?").unwrap();
    ranking.add("src/colour.rs", "fn colour() { paint() }\n");
    ranking.add(
        "src/session.rs",
        "fn check_expiry(session: &Session) -> bool {\n  true\n}\n",
    );
    ranking.add("src/other.rs", "// session\n");
    let best = ranking.best();
    assert_eq!(best[0].file, 1);
    assert!(best.iter().all(|hit| hit.file != 0), "{best:?}");
}

#[test]
fn equals_keep_the_order_of_the_files() {
    let mut ranking = Ranking::new("alpha").unwrap();
    for _ in 0..20 {
        ranking.add("x", "alpha\n");
    }
    let order: Vec<usize> = ranking.best().iter().map(|hit| hit.file).collect();
    assert_eq!(order, (0..10).collect::<Vec<_>>());
}

#[test]
fn lines_are_those_of_the_file() {
    let mut ranking = Ranking::new("needle").unwrap();
    let text = format!("{}needle\n", "hay\n".repeat(45));
    ranking.add("x", &text);
    let best = &ranking.best()[0];
    assert_eq!((best.start_line, best.end_line), (41, 46));
}

#[test]
fn a_question_without_words_is_none() {
    assert!(Ranking::new("what is the ?!").is_none());
    assert!(Ranking::new("").is_none());
}
