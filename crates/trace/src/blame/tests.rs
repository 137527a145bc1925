//! What blame says about a file, through what can happen to it.

use tagout_vocab::{CallId, IntentId, Timestamp, WorkspacePath};

use super::{
    Authorship, Basis, Blame, CommitFile, Commits, FileChange, Outside, json, porcelain, terminal,
};
use crate::attribution::{Author, Certainty, Origin};
use crate::history::{MemoryStore, add_ties, commits_of, ties_of};
use crate::nodes::definitions;
use crate::syntax::Syntax;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn origin(number: u32) -> Origin {
    Origin {
        execution: CallId::new(&format!("call-{number}")).unwrap(),
        intent: Some(IntentId::new(&format!("INT-00{number}")).unwrap()),
        session: None,
        agent: Some("some-client".to_owned()),
        model: Some("model-1".to_owned()),
        approval: Some("rule 3".to_owned()),
        at: Timestamp::from_millis(1_767_225_600_000),
    }
}

struct Place(Authorship<MemoryStore>);

impl Place {
    fn new() -> Self {
        Self(Authorship::new(MemoryStore::default()))
    }

    fn edit(&mut self, number: u32, name: &str, before: Option<&str>, after: Option<&str>) {
        let change = FileChange {
            path: &path(name),
            moved_from: None,
            before: before.map(str::as_bytes),
            after: after.map(str::as_bytes),
        };
        self.0
            .settle(&origin(number), &[change], Outside::Human)
            .unwrap();
    }

    fn blame(&self, name: &str, text: &str) -> Blame {
        self.0
            .blame(&path(name), text.as_bytes(), Outside::Human)
            .unwrap()
    }

    /// A character a line: the execution's number, `h` or `u`; a `?` after what is only likely.
    fn line(&self, name: &str, text: &str) -> String {
        let blame = self.blame(name, text);
        let mut said = String::new();
        for credit in &blame.lines {
            match credit.author {
                Author::Agent(number) => {
                    let call = blame.origins[&number].execution.to_string();
                    said.push_str(call.strip_prefix("call-").unwrap());
                }
                Author::Human => said.push('h'),
                Author::Unknown => said.push('u'),
            }
            if credit.certainty == Certainty::Likely {
                said.push('?');
            }
        }
        said
    }
}

const BASE: &str = "fn first_function() {\n    call_something(17);\n}\n";
const MORE: &str = "fn first_function() {\n    call_something(17);\n}\nfn second_function() {\n    call_other(18);\n}\n";

/// B3 What was there before, what an agent wrote and what a person wrote are three things.
#[test]
fn unknown_agent_and_human() {
    let mut place = Place::new();
    assert_eq!(place.line("a.rs", BASE), "uuu");
    assert_eq!(place.blame("a.rs", BASE).basis, Basis::Unseen);
    place.edit(1, "a.rs", Some(BASE), Some(MORE));
    assert_eq!(place.line("a.rs", MORE).replace('?', ""), "uuu111");
    assert_eq!(place.blame("a.rs", MORE).basis, Basis::Exact);
    let edited = format!("{MORE}// A person's remark.\n");
    assert_eq!(place.line("a.rs", &edited).replace('?', ""), "uuu111h");
    assert_eq!(place.blame("a.rs", &edited).basis, Basis::Nearest);
    let unsure = place
        .0
        .blame(&path("a.rs"), edited.as_bytes(), Outside::Unknown)
        .unwrap();
    assert_eq!(
        unsure.lines[6].author,
        Author::Unknown,
        "a call may be under way"
    );
}

/// B3 A branch switch, a revert and a rewritten history have contents that are known.
#[test]
fn known_contents_are_found_again() {
    let mut place = Place::new();
    place.edit(1, "a.rs", Some(BASE), Some(MORE));
    let said = place.line("a.rs", MORE);
    place.edit(2, "a.rs", Some(MORE), Some("fn replaced() {}\n"));
    assert_eq!(place.line("a.rs", MORE), said);
    assert_eq!(place.line("a.rs", BASE), "uuu");
}

/// B3 A file that a person moved and then edited is found by what is in it.
#[test]
fn a_moved_and_edited_file() {
    let mut place = Place::new();
    let text = format!(
        "{MORE}{}",
        "fn third_function() {\n    another_call(\"some text\", 4711);\n}\n"
    );
    place.edit(1, "a.rs", None, Some(&text));
    assert_eq!(
        place
            .line("b.rs", &format!("// Moved here.\n{text}"))
            .replace('?', ""),
        "h111111111"
    );
}

/// B3 Common lines of an unknown file say nothing.
#[test]
fn common_lines_are_not_claimed() {
    let mut place = Place::new();
    place.edit(1, "a.rs", None, Some("fn made() {\n    return;\n}\n\n"));
    assert_eq!(
        place.line("b.rs", "fn other() {\n    return;\n}\n\n"),
        "uuuu"
    );
}

/// B3 A restored text is whose it was.
#[test]
fn an_undone_change() {
    let mut place = Place::new();
    place.edit(1, "a.rs", None, Some(MORE));
    place.edit(2, "a.rs", Some(MORE), Some(BASE));
    place.edit(3, "a.rs", Some(BASE), Some(MORE));
    assert_eq!(place.line("a.rs", MORE).replace('?', ""), "111111");
}

/// B3 Definitions have the one who made them.
#[test]
fn symbols() {
    let mut place = Place::new();
    place.edit(1, "a.rs", Some(BASE), Some(MORE));
    let syntax = Syntax::parse("a.rs", MORE.as_bytes()).unwrap();
    let definitions = definitions(&syntax, 100);
    let found = place.blame("a.rs", MORE).symbols(&definitions);
    assert_eq!(found[0].definition.symbol, "first_function");
    assert_eq!(found[0].main.author, Author::Unknown);
    assert!(matches!(found[1].main.author, Author::Agent(_)));
    assert_eq!(found[1].shares.len(), 1);
}

/// B6 Calls are tied to the commit that holds their lines, by content, however often it is
/// rewritten.
#[test]
fn commits() {
    let mut place = Place::new();
    place.edit(1, "a.rs", Some(BASE), Some(MORE));
    let last = format!("{MORE}fn third_function() {{\n    final_call(19);\n}}\n");
    place.edit(2, "a.rs", Some(MORE), Some(&last));
    let at = path("a.rs");
    let file = |content: &'static str, parent: Option<&'static str>| CommitFile {
        path: Box::leak(Box::new(at.clone())),
        content: content.as_bytes(),
        parent: parent.map(str::as_bytes),
    };
    let mut tie = |commit: &str, file: &CommitFile<'_>| {
        let ties = place.0.ties(file).unwrap();
        add_ties(place.0.store_mut(), commit, &ties).unwrap();
        // Saying it again says nothing new.
        add_ties(place.0.store_mut(), commit, &ties).unwrap();
        ties
    };
    let last: &'static str = Box::leak(last.into_boxed_str());
    let one = tie("c0ffee", &file(MORE, Some(BASE)));
    assert_eq!(one.len(), 1);
    assert_eq!(one[0].execution.as_str(), "call-1");
    let two = tie("beef00", &file(last, Some(MORE)));
    assert_eq!(
        two.iter()
            .map(|tie| tie.execution.as_str())
            .collect::<Vec<_>>(),
        ["call-2"]
    );
    let squashed = tie("50a5ed", &file(last, Some(BASE)));
    assert_eq!(squashed.len(), 2);
    let store = place.0.store();
    assert_eq!(ties_of(store, "50a5ed").unwrap(), Some(squashed));
    assert_eq!(ties_of(store, "unknown").unwrap(), None);
    let call = CallId::new("call-1").unwrap();
    assert_eq!(commits_of(store, &call).unwrap(), ["c0ffee", "50a5ed"]);
}

/// B3 The forms for people and programs; text that could steer a terminal does not.
#[test]
fn forms() {
    let mut place = Place::new();
    let text = "let plain_name = 1;\nlet \u{1b}[31m = 2;\n";
    place.edit(1, "a.rs", Some("let plain_name = 1;\n"), Some(text));
    let blame = place.blame("a.rs", text);
    let none = Commits::default();
    let time = |at: tagout_vocab::Timestamp| at.to_string();
    insta::assert_snapshot!(terminal(&blame, (&none, &time), text.as_bytes()), @r"
    -       (unknown             -      -                        1) let plain_name = 1;
    INT-001 (some-client/model-1 call-1 2026-01-01T00:00:00.000Z 2) let �[31m = 2;
    ");
    let lines = porcelain(&blame, &none, text.as_bytes());
    assert!(lines.starts_with(
        "unknown 1 certain\n\tlet plain_name = 1;\ncall-1 2 certain\nintent INT-001\n"
    ));
    let value = json(&blame, &none);
    assert_eq!(value["lines"][1]["intent_id"], "INT-001");
    assert_eq!(value["lines"][1]["approval"], "rule 3");
    assert_eq!(value["lines"][0]["author"], "unknown");
    let call = CallId::new("call-1").unwrap();
    let commits = Commits {
        lines: Some(vec![true, false]),
        of: [(call, vec!["c0ffee00c0ffee".to_owned()])].into(),
    };
    let plain = terminal(&blame, (&none, &time), text.as_bytes());
    let shown = terminal(&blame, (&commits, &time), text.as_bytes());
    let firsts = ["-        ", "00000000 "].into_iter().zip(plain.lines());
    let expected: Vec<String> = firsts
        .map(|(first, line)| format!("{first}{line}\n"))
        .collect();
    let expected = expected.concat();
    assert_eq!(shown, expected);
    let lines = porcelain(&blame, &commits, text.as_bytes());
    assert!(
        lines.contains("\ncommit c0ffee00c0ffee\nuncommitted\n\tlet "),
        "{lines}"
    );
    let value = json(&blame, &commits);
    assert_eq!(value["lines"][1]["commits"][0], "c0ffee00c0ffee");
    assert_eq!(value["lines"][1]["committed"], false);
}
