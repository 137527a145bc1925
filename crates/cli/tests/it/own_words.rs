//! What the hook and the policy take for words of a line is what shells take for them.

use std::process::Command;

use tagout_policy::shell::only_words;

/// Parts the words of a line, and lines from each other.
const WORD: char = '\u{1}';
const LINE: char = '\u{2}';

/// Lines that call a function, with a letter in every place in which a shell may read it otherwise.
fn lines(letter: char) -> Vec<String> {
    [
        format!("t a{letter}"),
        format!("t {letter}a"),
        format!("t a{letter}b c"),
        format!("t a {letter} b"),
        format!("t 'a{letter}' b"),
        format!("t \"a{letter}b\""),
        format!("t ''{letter}"),
        format!("t \"{letter}\""),
        format!("t a=b{letter}"),
        format!("{letter}t a"),
        format!("t a\\{letter} b"),
        format!("t 'a'{letter}'b'"),
        format!("t a {letter}{letter}"),
    ]
    .to_vec()
}

/// The words that a shell makes of each line.
fn by(shell: &str, lines: &[String]) -> Vec<Vec<String>> {
    let shown = format!("t() {{ printf '%s{WORD}' \"$@\"; printf '{LINE}'; }}\n");
    let script = lines.iter().fold(shown, |all, line| all + line + "\n");
    let ran = Command::new(shell).args(["-c", &script]).output().unwrap();
    assert!(ran.status.success(), "{shell}: {ran:?}");
    let told = String::from_utf8(ran.stdout).unwrap();
    let words = |line: &str| line.split_terminator(WORD).map(str::to_owned).collect();
    told.split_terminator(LINE).map(words).collect()
}

/// §13.3: a line that is believed to be nothing but words reaches the program in these very words.
/// Otherwise the hook would note one line and the program be given another.
#[test]
fn words_are_those_of_a_shell() {
    let letters = ('\u{3}'..='\u{17f}').chain('\u{2000}'..='\u{206f}');
    let letters = letters.chain(['\u{1680}', '\u{3000}', '\u{feff}', '\u{e000}', '字']);
    let lines: Vec<String> = letters.flat_map(lines).collect();
    let understood: Vec<(String, Vec<String>)> = lines
        .into_iter()
        .filter_map(|line| {
            let words = only_words(&line)?;
            let (first, rest) = words.split_first()?;
            (first == "t").then(|| (line, rest.to_vec()))
        })
        .collect();
    assert!(understood.len() > 3_000, "{}", understood.len());
    let (lines, expected): (Vec<String>, Vec<Vec<String>>) = understood.into_iter().unzip();
    for shell in ["bash", "sh"] {
        let found = by(shell, &lines);
        assert_eq!(found.len(), lines.len(), "{shell}");
        for ((line, expected), found) in lines.iter().zip(&expected).zip(&found) {
            assert_eq!(found, expected, "{shell}: {line:?}");
        }
    }
}
