//! Help is a promise: every verb's text, and its example, as a snapshot.

use std::fmt::Write as _;

use crate::ran::Folder;

fn help(verb: &[&str]) -> String {
    let args: Vec<&str> = verb.iter().copied().chain(["--help"]).collect();
    let ran = Folder::empty().run(&args);
    assert_eq!(ran.code, Some(0));
    ran.stdout
}

#[test]
fn the_help_of_every_verb() {
    let verbs: &[&[&str]] = &[
        &[],
        &["explain"],
        &["intent"],
        &["intent", "list"],
        &["intent", "show"],
        &["intent", "new"],
        &["intent", "select"],
        &["intent", "propose"],
        &["intent", "complete"],
        &["intent", "release"],
        &["init"],
        &["run"],
        &["trust"],
        &["pending"],
        &["approve"],
        &["reject"],
        &["answer"],
        &["epoch", "new"],
        &["grant"],
        &["grant", "issue"],
        &["grant", "list"],
        &["grant", "revoke"],
        &["blame"],
        &["trace"],
        &["trace", "query"],
        &["trace", "export"],
        &["trace", "import"],
        &["undo"],
        &["compliance"],
        &["lint"],
        &["demo"],
        &["log"],
        &["verify"],
        &["prove"],
        &["seal"],
        &["stats"],
        &["completions"],
    ];
    let mut all = String::new();
    for verb in verbs {
        let text = help(verb);
        let words = verb.join(" ");
        assert!(
            verb.is_empty()
                || ["intent", "grant", "trace"].contains(&words.as_str())
                || text.contains("Example:"),
            "{words}"
        );
        writeln!(all, "$ tagout {words}\n{text}").unwrap();
    }
    insta::assert_snapshot!("help", all);
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = Folder::empty().run(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{shell}");
        assert!(ran.stdout.contains("explain"), "{shell}");
    }
}

#[test]
fn version_and_wrong_words() {
    let ran = Folder::empty().run(&["--version"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "tagout 0.1.0\n"));
    for wrong in [
        &["explan"][..],
        &["explain"],
        &["intent", "show"],
        &["--nope"],
    ] {
        let ran = Folder::empty().run(wrong);
        assert_eq!(ran.code, Some(3), "{wrong:?}: {}", ran.shown());
        assert!(ran.stdout.is_empty());
    }
}
