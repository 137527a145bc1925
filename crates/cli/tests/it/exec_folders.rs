//! Commands that make, move and remove folders.

use std::fs;

use crate::confined::{Ran, Site};

/// H13: a folder can't be read, so a command need not have seen it; what it saw in it counts.
#[test]
fn folders_go_unless_a_file_in_them_changed() {
    let site = Site::new(&[
        ("src/sub/a.txt", "a\n"),
        ("src/sub/deep/b.txt", "b\n"),
        ("src/moved/c.txt", "c\n"),
        ("src/seen/d.txt", "d\n"),
        ("src/seen/gone.txt", "e\n"),
    ]);
    let done = |line: &str| {
        let ran = site.exec(line);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.shown());
    };
    let exists = |name: &str| site.root().join(name).exists();
    done("rm -r src/sub");
    assert!(!exists("src/sub"));
    done("mv src/moved src/there");
    assert!(!exists("src/moved") && exists("src/there/c.txt"));
    // What the session made itself.
    done("mkdir -p src/own/deep && echo x > src/own/x.txt && ln -s x.txt src/own/link");
    done("rmdir src/own/deep");
    done("rm -r src/own");
    assert!(!exists("src/own"));

    done("cat src/seen/d.txt src/seen/gone.txt");
    site.write("src/seen/d.txt", "another\n");
    fs::remove_file(site.root().join("src/seen/gone.txt")).unwrap();
    for line in [
        "rm -r src/seen",
        "mv src/seen src/away",
        "rm -r src/seen && mkdir src/seen",
    ] {
        let ran = site.exec(line);
        assert_ne!(ran.code, Some(0), "{line}: {}", ran.shown());
        assert!(ran.stderr.contains("STALE_FILE"), "{}", ran.shown());
        assert!(ran.stderr.contains("src/seen/d.txt"), "{}", ran.shown());
    }
    // Making it changes nothing in it.
    done("mkdir -p src/seen");
    assert_eq!(site.read("src/seen/d.txt").as_deref(), Some("another\n"));
    done("cat src/seen/d.txt");
    done("rm -r src/seen");
    assert!(!exists("src/seen"));
}

/// H7: the folder that a pattern starts with may be made; it stays out of scope for all else.
#[test]
fn the_folder_of_a_pattern_is_made() {
    let site = Site::new(&[]);
    let exists = |name: &str| site.root().join(name).symlink_metadata().is_ok();
    for line in ["mkdir -p src", "mkdir tests", "mkdir -p tests src tests/a"] {
        let told = site.receipt(line);
        assert_eq!(told["outcome"], "completed", "{line}: {told:#}");
    }
    assert!(exists("tests/a"));
    for line in [
        "mkdir other",
        "mkdir -p tests/b other/b",
        "rm -r tests",
        "rmdir tests",
        "mv tests src/tests",
        "touch tests",
    ] {
        let ran = site.exec(line);
        assert_ne!(ran.code, Some(0), "{line}: {}", ran.shown());
        assert!(ran.stderr.contains("SCOPE_VIOLATION"), "{}", ran.shown());
    }
    assert!(exists("tests/a") && !exists("tests/b") && !exists("other"));
}

/// H7: what a program leaves is judged alike: the folder passes, nothing else under its name does.
#[test]
fn only_a_folder_leads_there() {
    let site = Site::new(&[]);
    let exists = |name: &str| site.root().join(name).symlink_metadata().is_ok();
    for make in [
        "os.symlink(\"src\", \"tests\")",
        "os.mkfifo(\"tests\")",
        "open(\"tests\", \"w\")",
        "os.mkdir(\"other\")",
    ] {
        let ran = site.exec(&format!("python3 -c 'import os; {make}'"));
        assert!(ran.stderr.contains("SCOPE_VIOLATION"), "{}", ran.shown());
        assert!(!exists("tests") && !exists("other"), "{make}");
    }
    let ran = site.exec("python3 -c 'import os; os.mkdir(\"tests\")'");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert!(site.root().join("tests").is_dir());
}

/// §13.5: a command means the files of the folder that it is started in. From outside the workspace
/// it is not run in another one instead.
#[test]
fn a_command_from_outside_is_refused() {
    let site = Site::new(&[("src/a.txt", "a\n"), ("a.txt", "root\n")]);
    let root = site.root().display().to_string();
    let from_outside = |more: &[&str], line: &str| {
        let args = [
            &["exec", "--session", "s-1", "--workspace", &root],
            more,
            &["--", line],
        ];
        let mut command = site.command(&args.concat());
        command.current_dir(site.home());
        Ran::of(&command.output().unwrap(), &site.home())
    };
    let ran = from_outside(&[], "cat a.txt");
    assert_eq!(ran.code, Some(126), "{}", ran.shown());
    assert!(
        ran.stderr.contains("outside of the workspace"),
        "{}",
        ran.shown()
    );
    for (folder, text) in [("src", "a\n"), (".", "root\n")] {
        let ran = from_outside(&["--cwd", folder], "cat a.txt");
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), text),
            "{}",
            ran.shown()
        );
    }
    let ran = from_outside(&["--cwd", "/tmp"], "cat a.txt");
    assert_ne!(ran.code, Some(0), "{}", ran.shown());
}
