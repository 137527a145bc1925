//! Patterns of a scope as people type them: one for each option, or a list at a question.

use tagout_policy::scope::has_bare_comma;

use crate::failure::Failure;

/// A list with blanks between its patterns, and commas before the blanks where somebody likes them.
pub(crate) fn listed(text: &str) -> Result<Vec<String>, Failure> {
    let words = text
        .split_whitespace()
        .map(|word| word.trim_end_matches(','));
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    each(&words)
}

/// The patterns that options gave. Names may hold commas, and lists are written with them; who
/// means which can't be guessed without owning too much or nothing.
pub(crate) fn each(patterns: &[String]) -> Result<Vec<String>, Failure> {
    match patterns.iter().find(|pattern| has_bare_comma(pattern)) {
        None => Ok(patterns.to_vec()),
        Some(unclear) => Err(Failure::invalid(format!(
            "`{unclear}` has a comma: is it one pattern or several?"
        ))
        .hint(
            "several: give `--scope` once for each, or put a blank behind the comma where they are \
             asked for; one: write `[,]` for a comma in a name, `{a,b}` for either",
        )),
    }
}
