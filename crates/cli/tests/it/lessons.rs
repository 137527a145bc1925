//! What a failed verification teaches, and where it is told.

use std::fs;

use crate::confined::Site;

const BEGIN: &str = "<!-- tagout:lessons begin -->";
const END: &str = "<!-- tagout:lessons end -->";

fn lessons(text: &str) -> usize {
    let (_, rest) = text.split_once(BEGIN).unwrap_or_default();
    let (inner, _) = rest.split_once(END).unwrap_or_default();
    inner.lines().filter(|line| line.starts_with("- ")).count()
}

fn context(site: &Site) -> String {
    site.tagout(&["intent", "select", "INT-001", "--session", "s-1"])
        .stdout
}

/// H14: once per distinct failure, between the markers, by the exit code, in the files that are
/// there and in the intent's context.
#[test]
fn failures_are_told_once_between_markers() {
    let rules = "# Rules\n\nBe kind.\n";
    let site = Site::new(&[("CLAUDE.md", rules), ("AGENTS.md", rules)]);
    let before = site.read("CLAUDE.md").unwrap();
    // Words say nothing: this one went well.
    let ran = site.exec("sh -c 'echo \"error: 3 failed\"; exit 0' test");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.read("CLAUDE.md").as_ref(), Some(&before));
    // The same failure at another time and line is the same.
    for line in [12, 345] {
        let text = format!("src/a.rs:{line}: assertion failed\n");
        site.write("src/out.txt", &text);
        assert_eq!(
            site.exec("cat src/out.txt; sh -c 'exit 3' test").code,
            Some(3)
        );
    }
    site.write("src/out.txt", "error[E0308]: mismatched types\n");
    assert_eq!(
        site.exec("cat src/out.txt; sh -c 'exit 2' lint").code,
        Some(2)
    );
    let told = site.read("CLAUDE.md").unwrap();
    assert!(told.starts_with(&before), "{told}");
    assert!(told.contains("## Lessons Learned"), "{told}");
    assert_eq!(lessons(&told), 2, "{told}");
    assert_eq!(lessons(&site.read("AGENTS.md").unwrap()), 2);
    assert!(!site.root().join("AGENT.md").exists());
    let shown = context(&site);
    assert_eq!(shown.matches("<lesson>").count(), 2, "{shown}");
    assert!(shown.contains("mismatched types"), "{shown}");
    // The block can be edited away, and the rest of the file is the person's.
    site.write("CLAUDE.md", "# Mine\n");
    assert_eq!(
        site.exec("sh -c 'echo \"another assertion failed\"; exit 1' test")
            .code,
        Some(1)
    );
    let told = site.read("CLAUDE.md").unwrap();
    assert!(
        told.starts_with("# Mine\n") && lessons(&told) == 1,
        "{told}"
    );
}

/// H14: where there is no instruction file one is made; what a link leads to is left alone.
#[test]
fn the_file_for_lessons() {
    let fail = "sh -c 'echo broken; exit 3' test";
    let site = Site::new(&[]);
    assert_eq!(site.exec(fail).code, Some(3));
    let made: Vec<&str> = ["CLAUDE.md", "AGENTS.md", "AGENT.md"]
        .into_iter()
        .filter(|name| site.root().join(name).exists())
        .collect();
    let told = site.read(made[0]).unwrap();
    assert_eq!((made.len(), lessons(&told)), (1, 1), "{made:?} {told}");

    let site = Site::new(&[]);
    let outside = site.home().join("outside.md");
    fs::write(&outside, "mine\n").unwrap();
    for name in ["CLAUDE.md", "AGENTS.md", "AGENT.md"] {
        drop(fs::remove_file(site.root().join(name)));
        std::os::unix::fs::symlink(&outside, site.root().join(name)).unwrap();
    }
    assert_eq!(site.exec(fail).code, Some(3));
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine\n");
    assert_eq!(context(&site).matches("<lesson>").count(), 1);
}
