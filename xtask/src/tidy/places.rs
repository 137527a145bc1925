//! Words that would tie the repository to one machine or one mirror.

use super::Finding;
use super::source::is_test_path;
use super::tree::Tree;

/// Folders of somebody's machine. Split so that this list does not find itself.
const MACHINE: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/tmp/", "wt"),
    concat!("/tmp/", "target"),
];

/// Homes, which tests may name: a call that reaches for one is a case worth testing.
const HOMES: &[&str] = &[concat!("/ro", "ot/"), concat!("/Us", "ers/")];

/// Hosts of registries: packages are named, and the machine's own configuration says where from.
const HOSTS: &[&str] = &[
    concat!("crates", ".io-index"),
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("registry.", "npmjs.org"),
    concat!("pypi", ".org"),
    concat!("deb.", "debian.org"),
];

/// No path of a machine, in any file.
pub(super) fn no_machine_paths(tree: &Tree) -> Vec<Finding> {
    let judge = |word: &str, before: &str| {
        // A folder of that name further down is an ordinary path; only one from the root is a
        // machine's.
        let at_root = !before
            .chars()
            .next_back()
            .is_some_and(|letter| letter.is_alphanumeric() || ".-_}~".contains(letter));
        at_root.then(|| format!("`{word}` is a path of one machine"))
    };
    let mut findings = search(tree, MACHINE, "machine", judge);
    findings.extend(
        search(tree, HOMES, "machine", judge)
            .into_iter()
            .filter(|finding| !is_test(tree, finding)),
    );
    findings
}

/// No host of a registry; the lock file's sources are cargo's own words.
pub(super) fn no_registry_hosts(tree: &Tree) -> Vec<Finding> {
    search(tree, HOSTS, "registry", |word, _| {
        Some(format!(
            "`{word}` names a registry's host; name the package"
        ))
    })
}

fn is_test(tree: &Tree, finding: &Finding) -> bool {
    let line = finding.line.saturating_sub(1);
    is_test_path(&finding.path)
        || tree
            .file(&finding.path)
            .and_then(|file| file.lines.get(line))
            .is_some_and(|line| line.is_test)
}

fn search(
    tree: &Tree,
    words: &[&str],
    rule: &'static str,
    judge: impl Fn(&str, &str) -> Option<String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path != "Cargo.lock") {
        for (number, line) in (1..).zip(file.text.lines()) {
            for word in words {
                let found = line
                    .split_once(word)
                    .and_then(|(before, _)| judge(word, before));
                if let Some(message) = found {
                    findings.push(Finding::new(&file.path, number, rule, message));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{HOMES, HOSTS, MACHINE, Tree, no_machine_paths, no_registry_hosts};

    #[test]
    fn every_machine_path_is_found_in_any_file() {
        for word in MACHINE {
            let text = format!("see {word}x\n");
            let tree = Tree::of(&[("docs/a.md", &text), ("crates/x/testdata/a.json", &text)]);
            assert_eq!(no_machine_paths(&tree).len(), 2, "{word}");
        }
        for word in HOMES {
            let text = format!("let a = \"{word}x\";\n");
            let tree = Tree::of(&[
                ("docs/a.md", &text),
                ("crates/x/src/a.rs", &text),
                ("crates/x/src/tests.rs", &text),
            ]);
            assert_eq!(no_machine_paths(&tree).len(), 2, "{word}");
        }
        let inner = format!("the folder src{}x\n", MACHINE[0]);
        assert!(no_machine_paths(&Tree::of(&[("a.md", &inner)])).is_empty());
    }

    #[test]
    fn every_registry_host_is_found_but_in_the_lock_file() {
        for word in HOSTS {
            let text = format!("https://{word}/x\n");
            let tree = Tree::of(&[(".ci/run", &text), ("Cargo.lock", &text)]);
            assert_eq!(no_registry_hosts(&tree).len(), 1, "{word}");
        }
    }
}
