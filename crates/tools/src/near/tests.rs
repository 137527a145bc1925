//! Nearest places.

use super::{cut, nearest};

#[test]
fn the_nearest_place_comes_first() {
    let lines = [
        "fn area(w: u32, h: u32) -> u32 {",
        "    w * h",
        "}",
        "fn volume(w: u32, h: u32, d: u32) -> u32 {",
        "    w * h * d",
        "}",
    ];
    let found = nearest(
        &lines,
        &["fn volume(w: u32, h: u32) -> u32 {", "    w * h * d"],
    );
    assert_eq!(found.first().map(|place| place.line), Some(4));
    assert!(found[0].text.starts_with("fn volume"));
}

#[test]
fn nothing_alike_shows_nothing() {
    assert!(nearest(&["alpha", "beta"], &["something else entirely"]).is_empty());
    assert!(nearest(&[], &["x"]).is_empty());
    assert!(nearest(&["x"], &["", "  "]).is_empty());
}

#[test]
fn a_text_is_cut_between_characters() {
    assert_eq!(cut("äöü", 3), "ä…");
    assert_eq!(cut("abc", 3), "abc");
}

#[test]
fn hostile_sizes_end() {
    let lines = vec!["aaaaaaaaaaaaaaaaaaaaaaaa"; 200_000];
    let sought = vec!["aaaaaaaaaaaaaaaaaaaaaaab"; 10_000];
    assert!(nearest(&lines, &sought).len() <= 5);
}
