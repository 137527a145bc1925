//! The page's rows: read, compared with the citations, written again.

use super::{Citation, is_id};

/// What stands before the part that brings a requirement.
const LATER: &str = "later: ";

/// What stands between the tests and the part that brings the rest.
const REST_LATER: &str = "rest later: ";

/// One row: `| id | meaning | room | proof |`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) id: String,
    meaning: String,
    room: String,
    proof: String,
}

/// The rows of the page's tables.
pub(super) fn rows(text: &str) -> Vec<Row> {
    (1..)
        .zip(text.lines())
        .filter_map(|(number, line)| row(number, line))
        .collect()
}

fn row(line: usize, text: &str) -> Option<Row> {
    let cells: Vec<&str> = text.trim().split('|').map(str::trim).collect();
    match cells.as_slice() {
        ["", id, meaning, room, proof, ""] if is_id(id) => Some(Row {
            line,
            id: (*id).to_owned(),
            meaning: (*meaning).to_owned(),
            room: (*room).to_owned(),
            proof: (*proof).to_owned(),
        }),
        _ => None,
    }
}

/// The tests that a proof names.
fn named(proof: &str) -> Vec<&str> {
    proof.split('`').skip(1).step_by(2).collect()
}

fn citing<'a>(id: &str, citations: &'a [Citation]) -> Vec<&'a str> {
    citations
        .iter()
        .filter(|citation| citation.ids.iter().any(|cited| cited == id))
        .map(|citation| citation.test.as_str())
        .collect()
}

/// What a row says that is not so.
pub(super) fn problems(row: &Row, citations: &[Citation]) -> Vec<String> {
    let id = &row.id;
    let named = named(&row.proof);
    let citing = citing(id, citations);
    let mut problems = Vec::new();
    for test in named.iter().filter(|test| !citing.contains(test)) {
        problems.push(format!("`{test}` does not exist or does not cite {id}"));
    }
    if row.proof.starts_with(LATER) {
        for test in &citing {
            problems.push(format!(
                "{id} is marked as to come, but `{test}` cites it; `rest later:` says both"
            ));
        }
    } else {
        for test in citing.iter().filter(|test| !named.contains(test)) {
            problems.push(format!(
                "`{test}` cites {id} and is not listed; run `cargo xtask requirements`"
            ));
        }
        if named.is_empty() {
            problems.push(format!("{id} has no proof and is not marked `later:`"));
        }
    }
    if row.meaning.is_empty() || row.room.is_empty() {
        problems.push(format!("{id} needs its meaning and its room"));
    }
    problems
}

/// The page with the last column written from the citations. What a person marked as to come
/// stays marked; once a test cites such an id, the mark holds for the rest of it, until a person
/// takes it away.
pub(super) fn rewritten(text: &str, citations: &[Citation]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        lines.push(match row(number, line) {
            Some(row) => {
                let proof = proof(&row, citations);
                format!("| {} | {} | {} | {proof} |", row.id, row.meaning, row.room)
            }
            None => line.to_owned(),
        });
    }
    lines.join("\n") + "\n"
}

fn proof(row: &Row, citations: &[Citation]) -> String {
    let tests: Vec<String> = citing(&row.id, citations)
        .iter()
        .map(|test| format!("`{test}`"))
        .collect();
    let rest = row.proof.split_once(LATER).map(|(_, part)| part);
    match (tests.is_empty(), rest) {
        (false, Some(part)) => format!("{}; {REST_LATER}{part}", tests.join(", ")),
        (true, Some(part)) => format!("{LATER}{part}"),
        (_, None) => tests.join(", "),
    }
}
