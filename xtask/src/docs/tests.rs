//! Pages that tell the truth pass, and each kind of lie is found.

use std::path::Path;

use super::compare::{difference, lines_match};
use super::page::{Step, steps};
use super::session::Session;
use super::{check_page, executable};
use crate::suites::Tally;

fn tally(text: &str) -> Tally {
    let mut tally = Tally::default();
    check_page("docs/a.md", text, Path::new("/bin/true"), &mut tally).unwrap();
    tally
}

#[test]
fn a_true_page_passes_and_shares_one_folder() {
    let page = "# A\n\n```yaml file=\"deep/a.txt\"\nhello\n```\n\n\
                ```console\n$ cat deep/a.txt\nhello\n$ cd deep && echo more \\\n> >> a.txt\n```\n\n\
                ```console\n$ cat a.txt\nhello\nmore\n$ tagout\n$ echo oops >&2; exit 3\noops\n? 3\n```\n";
    assert_eq!(
        tally(page),
        Tally {
            passed: 5,
            failed: 0,
            skipped: 0
        }
    );
}

#[test]
fn wrong_output_and_wrong_exit_codes_are_found() {
    for block in [
        "$ echo a\nb\n",
        "$ echo a\n",
        "$ true\na\n",
        "$ false\n",
        "$ true\n? 1\n",
        "$ no-such-program\n",
    ] {
        let page = format!("# A\n```console\n{block}```\n");
        assert_eq!(tally(&page).failed, 1, "{block}");
    }
}

#[test]
fn blocks_that_are_not_run_are_counted_with_their_reason() {
    let page = "# A\n```console,ignore=\"needs the network\"\n$ false\n```\n";
    assert_eq!(
        tally(page),
        Tally {
            passed: 0,
            failed: 0,
            skipped: 1
        }
    );
    let elsewhere = "# A\n```console,elsewhere=\"demo\"\n$ false\n```\n";
    assert_eq!(tally(elsewhere), Tally::default());
    let nowhere = "# A\n```console,elsewhere=\"nowhere\"\n$ false\n```\n";
    assert!(steps("a.md", nowhere).is_err());
    let without_reason = "# A\n```console,ignore\n$ false\n```\n";
    assert!(steps("a.md", without_reason).is_err());
}

#[test]
fn commands_can_not_hide_in_other_blocks() {
    for block in [
        "```sh\nls\n```\n",
        "```bash\nls\n```\n",
        "```console\nls\n```\n",
    ] {
        let told = steps("a.md", block).unwrap_err().to_string();
        assert!(told.starts_with("a.md:1: "), "{told}");
    }
    assert_eq!(steps("a.md", "```rust\nfn f() {}\n```\n").unwrap(), []);
}

#[test]
fn wildcards_stand_for_lines_and_parts_of_lines() {
    let matches = |wanted: &[&str], lines: &[&str]| lines_match(wanted, lines);
    assert!(matches(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(matches(&["..."], &[]));
    assert!(matches(&["took [..] ms"], &["took 12 ms"]));
    assert!(matches(&["[..]b[..]"], &["abc"]));
    assert!(matches(&["a[..]a"], &["aba"]));
    assert!(!matches(&["a[..]a"], &["a"]));
    assert!(!matches(&["took [..] ms"], &["took 12 s"]));
    assert!(!matches(&["a", "..."], &["b"]));
    assert!(!matches(&["a"], &["a", "b"]));
}

#[test]
fn the_difference_names_command_and_both_sides() {
    let Step::Command(command) = steps("a.md", "```console\n$ echo a\nb\n```\n")
        .unwrap()
        .remove(0)
    else {
        panic!("a command");
    };
    assert_eq!(command.number, 2);
    let session = Session::start(Path::new("/bin/true")).unwrap();
    let told = difference(&command, &session.run(&command.line).unwrap()).unwrap();
    assert!(told.contains("`echo a`") && told.contains("    b\n") && told.ends_with("    a"));
}

#[test]
fn the_binary_is_the_last_executable_that_cargo_names() {
    let messages =
        "{\"reason\":\"x\",\"executable\":null}\n{\"executable\":\"/a/tagout\"}\nnoise\n";
    assert_eq!(executable(messages).as_deref(), Some("/a/tagout"));
    assert_eq!(executable("{}\n"), None);
}
