//! From the words of a command line to the line that a shell runs.

use std::ffi::OsString;

use crate::failure::Failure;

/// One argument is a shell line as it is; several are words, quoted so that the shell sees exactly
/// them.
pub(super) fn line(words: &[OsString]) -> Result<String, Failure> {
    let text = |word: &OsString| {
        word.to_str()
            .map(str::to_owned)
            .ok_or_else(|| Failure::invalid("a word of the command is not text"))
    };
    let words: Vec<String> = words.iter().map(text).collect::<Result<_, _>>()?;
    Ok(match words.as_slice() {
        [line] => line.clone(),
        words => {
            let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            quoted.join(" ")
        }
    })
}

/// A word that the shell takes as it is.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::line;

    fn of(words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        line(&words).unwrap()
    }

    #[test]
    fn one_argument_is_a_line() {
        assert_eq!(of(&["a | b > c"]), "a | b > c");
    }

    #[test]
    fn several_are_words() {
        assert_eq!(of(&["cargo", "test", "-p", "x"]), "cargo test -p x");
        assert_eq!(
            of(&["echo", "a b", "it's", "", "$x", "*"]),
            r"echo 'a b' 'it'\''s' '' '$x' '*'"
        );
        assert_eq!(of(&["X=1", "env"]), "'X=1' env");
    }
}
