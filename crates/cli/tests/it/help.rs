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
        &["install"],
        &["uninstall"],
        &["hook"],
        &["exec"],
        &["doctor"],
        &["parked"],
        &["parked", "list"],
        &["parked", "show"],
        &["parked", "apply"],
        &["parked", "drop"],
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
                || ["intent", "grant", "trace", "parked"].contains(&words.as_str())
                || text.contains("Example:"),
            "{words}"
        );
        writeln!(all, "$ tagout {words}\n{text}").unwrap();
    }
    insta::assert_snapshot!("help", all);
}

/// Every example can be typed as it stands: whatever it comes to, it is understood.
#[test]
fn examples_are_understood() {
    let helped = include_str!("snapshots/it__help__help.snap");
    let examples = helped
        .lines()
        .filter_map(|line| line.strip_prefix("  tagout "));
    let mut count = 0;
    for example in examples {
        let line = example
            .split(" <")
            .next()
            .unwrap()
            .split(" >")
            .next()
            .unwrap();
        // A folder for each: what one sets up, another would wait in.
        let folder = Folder::empty();
        let mut command = std::process::Command::new("/bin/sh");
        let program = env!("CARGO_BIN_EXE_tagout");
        command.args(["-c", &format!("exec '{program}' {line}")]);
        command
            .current_dir(folder.path())
            .env("HOME", folder.home());
        command.stdin(std::process::Stdio::null());
        if line.starts_with("demo") || line.starts_with("compliance") {
            continue;
        }
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!told.contains("Usage:"), "{example}: {told}");
        count += 1;
    }
    assert!(count >= 35, "{count}");
}

/// Every verb has its section on the page of verbs, and the page has no others.
#[test]
fn every_verb_is_documented() {
    let page = include_str!("../../../../docs/reference/verbs.md");
    let help = help(&[]);
    let listed = help.split("Commands:\n").nth(1).unwrap();
    let listed = listed.split("\n\n").next().unwrap();
    let is_verb = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let mut verbs: Vec<&str> = listed
        .lines()
        .filter(is_verb)
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    let mut sections: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### `tagout ")?.strip_suffix('`'))
        .collect();
    verbs.sort_unstable();
    sections.sort_unstable();
    assert_eq!(sections, verbs);
    assert!(verbs.len() >= 29, "{verbs:?}");
    for (verb, more) in [
        (
            "intent",
            &[
                "list", "show", "new", "select", "propose", "complete", "release",
            ][..],
        ),
        ("grant", &["issue", "list", "revoke"]),
        ("trace", &["query", "export", "import"]),
        ("parked", &["list", "show", "apply", "drop"]),
        ("epoch", &["new"]),
    ] {
        let title = format!("### `tagout {verb}`");
        let section = page.split(&title).nth(1).unwrap();
        let section = section.split("\n### ").next().unwrap();
        for inner in more {
            assert!(section.contains(inner), "{verb} {inner}");
        }
    }
}

/// What every guide says about questions: a client's own is relied on nowhere.
const DENIED_INSTEAD: &str = "What needs a person's yes is denied, and goes through once after \
                              that person agreed in a terminal.";

/// Every client has its guide, marked where the client was never run.
#[test]
fn every_client_has_a_guide() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/clients");
    let mut count = 0;
    for client in tagout_agents::Client::ALL {
        let path = folder.join(format!("{client}.md"));
        let text = std::fs::read_to_string(&path).unwrap();
        let never = !matches!(
            client.profile().evidence,
            tagout_agents::profile::Evidence::Run { version } if text.contains(version)
        );
        assert_eq!(text.contains("**Never run here**"), never, "{client}");
        assert!(
            text.contains(&format!("$ tagout install {client} --check")),
            "{client}"
        );
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = words.join(" ");
        assert!(words.contains(DENIED_INSTEAD), "{client}");
        let asks = ["asked in the", "question is asked", "asks the person"];
        assert!(!asks.iter().any(|claim| words.contains(claim)), "{client}");
        count += 1;
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), count);
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
