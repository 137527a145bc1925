//! What counts as a citation, and what the map must not claim.

use super::{PAGE, cited, ids, is_id, map_is_true, page};
use crate::tidy::tree::Tree;

const TESTS: &str = "/// G1, H7: the classes.\n#[test]\nfn classes() {}\n\n\
                     proptest! {\n    /// G2–G4 hold.\n    #[test]\n    fn states(a in 0..3) {}\n}\n\
                     #[test]\nfn h8_ignore_files() {}\n\
                     /// G5 in a helper.\nfn helper() {}\n\
                     #[test]\nfn unrelated() {}\n";

fn tree(proofs: &[(&str, &str)]) -> Tree {
    let rows: Vec<String> = ids()
        .map(|id| {
            let proof = proofs
                .iter()
                .find(|(wanted, _)| *wanted == id)
                .map_or("later: something", |(_, proof)| *proof);
            format!("| {id} | meaning | `room` | {proof} |")
        })
        .collect();
    let text = format!("# Requirements\n\n{}\n", rows.join("\n"));
    Tree::of(&[(PAGE, &text), ("crates/policy/src/a/tests.rs", TESTS)])
}

const TRUE: &[(&str, &str)] = &[
    ("G1", "`policy::classes`"),
    ("G2", "`policy::states`"),
    ("G3", "`policy::states`; rest later: the runtime"),
    ("G4", "`policy::states`"),
    ("H7", "`policy::classes`"),
    ("H8", "`policy::h8_ignore_files`"),
];

fn with(id: &'static str, proof: &'static str) -> Vec<String> {
    let mut proofs: Vec<_> = TRUE.iter().copied().filter(|(one, _)| *one != id).collect();
    proofs.push((id, proof));
    map_is_true(&tree(&proofs))
        .into_iter()
        .map(|finding| finding.message)
        .collect()
}

#[test]
fn ids_are_exactly_those_of_the_groups() {
    assert_eq!(ids().count(), 58);
    assert!(is_id("H18") && is_id("G1") && is_id("B7"));
    for word in ["H19", "G0", "G01", "X1", "G", "", "g1", "Gx"] {
        assert!(!is_id(word), "{word}");
    }
}

#[test]
fn citations_are_read_from_doc_comments_and_names() {
    let found: Vec<String> = cited::all(&tree(&[]))
        .into_iter()
        .map(|citation| format!("{} {}", citation.test, citation.ids.join(" ")))
        .collect();
    assert_eq!(
        found,
        [
            "policy::classes G1 H7",
            "policy::h8_ignore_files H8",
            "policy::states G2 G3 G4",
        ]
    );
}

#[test]
fn a_true_map_has_no_findings() {
    assert_eq!(map_is_true(&tree(TRUE)), []);
}

#[test]
fn each_kind_of_false_claim_is_found() {
    let cases = [
        ("G1", "`policy::gone`", "does not exist or does not cite G1"),
        ("G5", "`policy::classes`", "does not cite G5"),
        ("G1", "later: the runtime", "marked as to come"),
        ("G1", "", "has no proof"),
        (
            "G2",
            "`policy::states`, `policy::unrelated`",
            "does not cite G2",
        ),
    ];
    for (id, proof, told) in cases {
        let found = with(id, proof);
        assert!(
            found.iter().any(|message| message.contains(told)),
            "{found:?}"
        );
    }
}

#[test]
fn a_missing_or_doubled_row_is_found() {
    let text = "# R\n| G1 | m | r | later: x |\n| G1 | m | r | later: x |\n";
    let found = map_is_true(&Tree::of(&[(PAGE, text)]));
    assert!(
        found
            .iter()
            .any(|one| one.message.contains("`G1` has 2 rows"))
    );
    assert!(
        found
            .iter()
            .any(|one| one.message.contains("`G2` has 0 rows"))
    );
    assert_eq!(map_is_true(&Tree::of(&[])).len(), 1);
}

#[test]
fn the_page_is_rewritten_from_the_citations() {
    let tree = tree(&[]);
    let citations = cited::all(&tree);
    let text = "# R\n\n| id | m | r | p |\n|---|---|---|---|\n\
                | G1 | m | r | `policy::old` |\n\
                | G2 | m | r | later: the judge |\n\
                | G3 | m | r | rest later: the runtime |\n\
                | G5 | m | r | later: MCP |\n";
    assert_eq!(
        page::rewritten(text, &citations),
        "# R\n\n| id | m | r | p |\n|---|---|---|---|\n\
         | G1 | m | r | `policy::classes` |\n\
         | G2 | m | r | `policy::states`; rest later: the judge |\n\
         | G3 | m | r | `policy::states`; rest later: the runtime |\n\
         | G5 | m | r | later: MCP |\n"
    );
}
