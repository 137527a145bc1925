//! The merge beside another one, on generated texts.

use std::process::Command;

use tagout_trace::merge::{Merge, merge3};

use crate::world::Dice;

fn text(lines: &[String]) -> String {
    lines
        .iter()
        .map(|line| format!("{line}\n"))
        .collect::<Vec<_>>()
        .concat()
}

fn changed(dice: &mut Dice, base: &[String], mark: &str) -> Vec<String> {
    let mut lines = base.to_vec();
    for number in 0..=dice.below(4) {
        let at = dice.below(lines.len());
        let line = if dice.percent(30) {
            "}".to_owned()
        } else {
            format!("{mark} {number}")
        };
        match dice.below(3) {
            0 => lines.insert(at, line),
            1 => lines[at] = line,
            _ => {
                lines.remove(at);
            }
        }
    }
    lines
}

/// What `git merge-file` makes of it; `None` for a conflict.
fn other(folder: &std::path::Path, [base, ours, theirs]: [&str; 3]) -> Option<String> {
    for (name, text) in [("base", base), ("ours", ours), ("theirs", theirs)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let output = Command::new("git")
        .current_dir(folder)
        .args(["merge-file", "-p", "ours", "base", "theirs"])
        .output()
        .unwrap();
    output
        .status
        .success()
        .then(|| String::from_utf8(output.stdout).unwrap())
}

/// B4 Where both merge they agree; the other conflicts of ours are where a change can be read in
/// two ways.
#[test]
fn agrees_with_another_merge_or_is_stricter() {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice::new(7);
    let (mut same, mut stricter, mut conflicts) = (0, 0, 0);
    for _ in 0..600 {
        let base: Vec<String> = (0..30)
            .map(|number| {
                if dice.percent(30) {
                    "}".to_owned()
                } else {
                    format!("line {number}")
                }
            })
            .collect();
        let (ours, theirs) = (
            changed(&mut dice, &base, "our"),
            changed(&mut dice, &base, "their"),
        );
        let texts = [text(&base), text(&ours), text(&theirs)];
        let expected = other(folder.path(), [&texts[0], &texts[1], &texts[2]]);
        let [base, ours, theirs] = texts.each_ref().map(String::as_bytes);
        match (merge3(base, ours, theirs), expected) {
            (Merge::Merged(bytes), Some(expected)) => {
                assert_eq!(String::from_utf8(bytes).unwrap(), expected);
                same += 1;
            }
            (Merge::Merged(_), None) => panic!("laxer: {texts:#?}"),
            (Merge::Conflict(_), Some(_)) => stricter += 1,
            (Merge::Conflict(_), None) => conflicts += 1,
        }
    }
    println!("{same} the same, {stricter} stricter, {conflicts} conflicts in both");
    assert!(same > stricter * 2);
}
