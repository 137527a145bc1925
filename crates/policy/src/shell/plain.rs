//! Lines that are one program with plain words, so that no shell is needed to run them.

/// What bash does itself, or reads as grammar, when it is the first word.
const OF_THE_SHELL: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
];

/// Of these the programs of the same name, which every system has, do the same, unless they are
/// given an option.
const TWINS: &[&str] = &["true", "false"];

/// The words of a line that bash would hand to one program as they stand: no expansion, no
/// redirection, nothing that bash does itself. `None` says nothing about the line.
pub fn plain_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = line.trim_matches([' ', '\t']);
    while !rest.is_empty() {
        let (word, after) = next(rest)?;
        words.push(word.to_owned());
        let trimmed = after.trim_start_matches([' ', '\t']);
        if trimmed.len() == after.len() && !after.is_empty() {
            return None;
        }
        rest = trimmed;
    }
    let (program, arguments) = words.split_first()?;
    let is_twin = TWINS.contains(&program.as_str())
        && !arguments.iter().any(|argument| argument.starts_with('-'));
    let own = OF_THE_SHELL.contains(&program.as_str()) && !is_twin;
    let named = !own && !program.is_empty() && program.chars().all(is_of_name);
    named.then_some(words)
}

/// The next word and what follows it.
fn next(text: &str) -> Option<(&str, &str)> {
    if let Some(quoted) = text.strip_prefix('\'') {
        return quoted.split_once('\'');
    }
    if let Some(quoted) = text.strip_prefix('"') {
        let (word, after) = quoted.split_once('"')?;
        return (!word.contains(['$', '`', '\\', '!'])).then_some((word, after));
    }
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    let (word, after) = text.split_at_checked(end)?;
    word.chars().all(is_plain).then_some((word, after))
}

/// A character of the names that programs have.
fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./+".contains(c)
}

/// A character that means itself wherever it stands after the first word.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:@%+,=".contains(c)
}

#[cfg(test)]
mod tests {
    use super::plain_words;

    fn of(line: &str) -> Option<Vec<String>> {
        plain_words(line)
    }

    fn words(line: &str) -> Vec<String> {
        of(line).unwrap_or_else(|| panic!("{line}"))
    }

    #[test]
    fn plain_lines_are_their_words() {
        assert_eq!(words("ls"), ["ls"]);
        assert_eq!(words("  ls   -la\tsrc/a.b "), ["ls", "-la", "src/a.b"]);
        assert_eq!(words("grep -rn 'a $b' src"), ["grep", "-rn", "a $b", "src"]);
        assert_eq!(
            words("git log --format=%h ''"),
            ["git", "log", "--format=%h", ""]
        );
        assert_eq!(words(r#"cat "a b" 'x*'"#), ["cat", "a b", "x*"]);
        assert_eq!(words("/bin/ls x"), ["/bin/ls", "x"]);
        assert_eq!(words("true 1"), ["true", "1"]);
    }

    #[test]
    fn what_a_shell_would_do_is_left_to_it() {
        for line in [
            "",
            " ",
            "a;b",
            "a|b",
            "a&",
            "a>b",
            "a<b",
            "a $b",
            "a `b`",
            "a \\b",
            "a *",
            "a ?",
            "a [b]",
            "a {b,c}",
            "a ~",
            "a #b",
            "a !b",
            "a\nb",
            "(a)",
            "X=1 a",
            "X=1",
            "a 'b",
            "a \"b",
            "a 'b'c",
            "a b'c'",
            "a \"$b\"",
            "a \"b\\\"",
            "echo a",
            "cd x",
            "test a",
            "[ a ]",
            "printf a",
            "pwd",
            "if a",
            "time a",
            "true --help",
            "false -x",
            "! a",
            "'a=b' c",
            "kill 1",
            "exec a",
            ". a",
            ": a",
            "a=b c",
            "'if' a",
            "a b=~/c",
            "a é",
            "%1",
            "'' a",
        ] {
            assert!(of(line).is_none(), "{line}");
        }
    }
}
