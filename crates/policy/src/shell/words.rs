//! Lines that are nothing but words, however they are quoted: what calls Tagout so, and nothing
//! else, is performed by whoever judges it, and both read it here.

/// The words of a line in which a shell would find nothing but words, however they are quoted.
/// `None` where anything else could be meant.
pub fn only_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    // Only these part words and lines in a shell; other blanks belong to the words beside them.
    let mut letters = line.trim_matches([' ', '\t', '\n']).chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '$' | '`' | '\\' | '!' => return None,
                        inner => word.push(inner),
                    }
                }
            }
            // Between two quoted pieces this is how a single quote is written, and a long line is
            // broken with the other one.
            '\\' => match letters.next()? {
                '\'' => word.get_or_insert_default().push('\''),
                '\n' => {}
                _ => return None,
            },
            // Some shells put the path of a program in the place of its name there.
            '=' if word.is_none() => return None,
            plain if plain.is_alphanumeric() || "-_./:@%+,=".contains(plain) => {
                word.get_or_insert_default().push(plain);
            }
            _ => return None,
        }
    }
    words.extend(word);
    // A word before the program that sets a variable is no word.
    let assigns = words.first().is_some_and(|first| first.contains('='));
    (!assigns).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::only_words;

    /// Every way to quote a word gives the same one; whatever a shell would read is left to it.
    #[test]
    fn words_however_quoted() {
        let same = ["a", "it's > b", ""];
        for line in [
            r"a 'it'\''s > b' ''",
            " a \t\"it's > b\" ''",
            "'a' it\\'s' > b' \"\"",
        ] {
            assert_eq!(only_words(line).unwrap(), same, "{line}");
        }
        for line in [
            "a;b", "a > b", "a $b", "a \"$b\"", "a `b`", "a\nb", "a \\b", "a 'b", "a \"b", "X=1 a",
            "a *", "a ~", "a #b", "a !b", "a \"!b\"", "(a)", "a {b,c}",
        ] {
            assert_eq!(only_words(line), None, "{line}");
        }
    }
}
