//! What the suites need beyond the toolchain, as data, installed by name where it is missing.

use std::process::Command;

use super::{Depth, Tally};
use crate::error::XtaskError;
use crate::process::{capture, cargo_command, described, root, stream};

/// Where a tool comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The Rust registry.
    Crate,
    /// The Rust toolchain.
    Component,
    /// A Debian package.
    Debian,
    /// The Python registry, into a folder of its own below `target`.
    Python,
}

/// One tool that some suite needs.
#[derive(Debug)]
struct Tool {
    /// Its name in its registry.
    name: &'static str,
    source: Source,
    /// A command that succeeds only where the tool is there.
    probe: &'static [&'static str],
    /// The suites that need it.
    needed_by: &'static str,
    /// The least depth at which one of them runs.
    from: Depth,
}

/// Where tools from the Python registry go; the tests look for them there.
const PYTHON_TOOLS: &str = "target/tools/python";

const TOOLS: &[Tool] = &[
    Tool {
        name: "rustfmt",
        source: Source::Component,
        probe: &["cargo", "fmt", "--version"],
        needed_by: "fmt",
        from: Depth::Quick,
    },
    Tool {
        name: "clippy",
        source: Source::Component,
        probe: &["cargo", "clippy", "--version"],
        needed_by: "clippy",
        from: Depth::Quick,
    },
    Tool {
        name: "cargo-nextest",
        source: Source::Crate,
        probe: &["cargo", "nextest", "--version"],
        needed_by: "tests",
        from: Depth::Quick,
    },
    Tool {
        name: "git",
        source: Source::Debian,
        probe: &["git", "--version"],
        needed_by: "tests, docs",
        from: Depth::Quick,
    },
    Tool {
        name: "strace",
        source: Source::Debian,
        probe: &["strace", "-V"],
        needed_by: "tests (kill at every system call)",
        from: Depth::Quick,
    },
    Tool {
        name: "python3",
        source: Source::Debian,
        probe: &["python3", "--version"],
        needed_by: "tests (the second verifier, the block recorder)",
        from: Depth::Quick,
    },
    Tool {
        name: "python3-pip",
        source: Source::Debian,
        probe: &["python3", "-m", "pip", "--version"],
        needed_by: "tools (pytest)",
        from: Depth::Quick,
    },
    Tool {
        name: "pytest",
        source: Source::Python,
        probe: &["test", "-e", "target/tools/python/pytest/__init__.py"],
        needed_by: "tests (everyday work)",
        from: Depth::Quick,
    },
    Tool {
        name: "npm",
        source: Source::Debian,
        probe: &["npm", "--version"],
        needed_by: "tests (everyday work), clients",
        from: Depth::Quick,
    },
    Tool {
        name: "util-linux",
        source: Source::Debian,
        probe: &["unshare", "--version"],
        needed_by: "tests (bad places)",
        from: Depth::Quick,
    },
    Tool {
        name: "e2fsprogs",
        source: Source::Debian,
        probe: &["mkfs.ext4", "-V"],
        needed_by: "tests (power loss)",
        from: Depth::Quick,
    },
    Tool {
        name: "xfsprogs",
        source: Source::Debian,
        probe: &["mkfs.xfs", "-V"],
        needed_by: "tests (power loss)",
        from: Depth::Quick,
    },
    Tool {
        name: "btrfs-progs",
        source: Source::Debian,
        probe: &["mkfs.btrfs", "--version"],
        needed_by: "tests (power loss)",
        from: Depth::Quick,
    },
    Tool {
        name: "fuse3",
        source: Source::Debian,
        probe: &["fusermount3", "--version"],
        needed_by: "tests (power loss)",
        from: Depth::Quick,
    },
    Tool {
        name: "cargo-deny",
        source: Source::Crate,
        probe: &["cargo", "deny", "--version"],
        needed_by: "deny",
        from: Depth::Default,
    },
    Tool {
        name: "bubblewrap",
        source: Source::Debian,
        probe: &["bwrap", "--version"],
        needed_by: "bench",
        from: Depth::Default,
    },
    Tool {
        name: "socat",
        source: Source::Debian,
        probe: &["socat", "-V"],
        needed_by: "bench (a peer needs it)",
        from: Depth::Default,
    },
    Tool {
        name: "ripgrep",
        source: Source::Debian,
        probe: &["rg", "--version"],
        needed_by: "bench (a peer needs it)",
        from: Depth::Default,
    },
    Tool {
        name: "jq",
        source: Source::Debian,
        probe: &["jq", "--version"],
        needed_by: "bench (a peer needs it)",
        from: Depth::Default,
    },
    Tool {
        name: "valgrind",
        source: Source::Debian,
        probe: &["valgrind", "--version"],
        needed_by: "bench",
        from: Depth::Default,
    },
    Tool {
        name: "gcc",
        source: Source::Debian,
        probe: &["cc", "--version"],
        needed_by: "tests, bench",
        from: Depth::Quick,
    },
];

/// Installs every missing tool of this depth. What can't be installed is a failure, told by name.
pub(super) fn install(depth: Depth) -> Result<Tally, XtaskError> {
    let mut tally = Tally::default();
    for tool in TOOLS.iter().filter(|tool| tool.from <= depth) {
        if !present(tool) {
            println!("{} is missing: installing", tool.name);
            fetch(tool)?;
        }
        let ok = present(tool);
        if !ok {
            eprintln!("{}", missing(tool));
        }
        tally = tally.plus(Tally::one(ok));
    }
    Ok(tally)
}

fn missing(tool: &Tool) -> XtaskError {
    XtaskError::Missing {
        tool: tool.name.to_owned(),
        needed_by: tool.needed_by.to_owned(),
    }
}

/// A program that can't be started is not there: the reason why does not matter here.
fn present(tool: &Tool) -> bool {
    command(tool.probe).is_some_and(|mut probe| capture(&mut probe).is_ok_and(|ran| ran.ok))
}

fn command(words: &[&str]) -> Option<Command> {
    match words {
        ["cargo", arguments @ ..] => Some(cargo_command(arguments)),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(root());
            Some(command)
        }
        [] => None,
    }
}

/// The commands that install a tool, in order; the last one is what counts.
fn recipe(tool: &Tool) -> Vec<Vec<&'static str>> {
    match tool.source {
        Source::Crate => vec![vec!["cargo", "install", "--locked", tool.name]],
        Source::Component => vec![vec!["rustup", "component", "add", tool.name]],
        Source::Debian => vec![
            vec!["apt-get", "update"],
            vec![
                "apt-get",
                "install",
                "--yes",
                "--no-install-recommends",
                tool.name,
            ],
        ],
        Source::Python => vec![vec![
            "python3",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--target",
            PYTHON_TOOLS,
            tool.name,
        ]],
    }
}

fn fetch(tool: &Tool) -> Result<(), XtaskError> {
    if matches!(tool.source, Source::Debian) && !is_root()? {
        eprintln!("only root can install the Debian package {}", tool.name);
        return Ok(());
    }
    for words in recipe(tool) {
        let Some(mut step) = command(&words) else {
            continue;
        };
        println!("$ {}", described(&step));
        // Whether it worked is what the probe says afterwards; a failed index update may be
        // harmless where the package is already known.
        match stream(&mut step) {
            Ok(ran) if ran.ok => {}
            Ok(_) => eprintln!("`{}` failed", described(&step)),
            Err(error) => eprintln!("{error}"),
        }
    }
    Ok(())
}

fn is_root() -> Result<bool, XtaskError> {
    Ok(capture(Command::new("id").arg("-u"))?.stdout.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::{Depth, Source, TOOLS, Tool, missing, present, recipe};

    fn absent(source: Source) -> Tool {
        Tool {
            name: "no-such-tool",
            source,
            probe: &["no-such-program-anywhere"],
            needed_by: "nothing",
            from: Depth::Quick,
        }
    }

    #[test]
    fn a_missing_tool_is_told_with_the_suites_that_need_it() {
        let tool = absent(Source::Debian);
        assert!(!present(&tool));
        let told = missing(&tool).to_string();
        assert!(
            told.contains("`no-such-tool`") && told.contains("nothing"),
            "{told}"
        );
    }

    #[test]
    fn recipes_install_by_name_alone() {
        for tool in TOOLS {
            for words in recipe(tool) {
                assert!(words.iter().all(|word| !word.contains("://")), "{words:?}");
            }
            assert!(
                recipe(tool)
                    .iter()
                    .any(|words| words.last() == Some(&tool.name))
            );
        }
    }
}
