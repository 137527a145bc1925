//! Protected paths are found however they are spelled, and ordinary source is left alone.

use super::*;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

const PROTECTED: &[&str] = &[
    ".orchestration",
    ".orchestration/active_intents.yaml",
    ".orchestration/new/deep/file",
    "packages/web/.orchestration/hook_policy.yaml",
    ".intentignore",
    "sub/.intentignore",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/agents/x.md",
    ".claude/worktrees/w/.claude/settings.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".gemini/settings.json",
    ".github/hooks/a.json",
    ".github/copilot/settings.json",
    ".qwen/settings.json",
    ".opencode/plugin/x.js",
    "opencode.json",
    ".cline/hooks/PreToolUse",
    ".clinerules/hooks/PreToolUse",
    ".factory/hooks.json",
    ".agents/plugins/p/hooks/hooks.json",
    ".windsurf/hooks.json",
    ".kiro/hooks/a.json",
    ".amp/plugins/x.ts",
    ".kilo/plugin/x.js",
    ".vscode/tasks.json",
    ".mcp.json",
    ".git/hooks/pre-commit",
    ".git/config",
    ".git/info/attributes",
    ".git/modules/libs/a/config",
    ".git/modules/a/hooks/post-checkout",
    "vendor/x/.git/config",
    ".git",
    ".husky/pre-commit",
    ".envrc",
    ".bashrc",
    "home/.zshrc",
];

const FREE: &[&str] = &[
    "src/main.rs",
    "Makefile",
    "package.json",
    "build.rs",
    ".gitignore",
    ".gitattributes",
    ".github/workflows/ci.yml",
    ".git/index",
    ".git/objects/ab/cd",
    ".claude/CLAUDE.md",
    ".claude/worktrees/w/src/main.rs",
    ".cursor/rules/style.mdc",
    ".kiro/specs/a.md",
    "CLAUDE.md",
    "AGENTS.md",
    "docs/orchestration/x.md",
    "orchestration.rs",
    "src/claude/settings.json",
    "intentignore",
];

/// H7, invariant 8: what is protected, and why, whether it exists or not.
#[test]
fn protected_paths_are_found() {
    let catalogue = built_in();
    for text in PROTECTED {
        let why = catalogue.is_authority(&path(text));
        assert!(why.is_some_and(|why| !why.is_empty()), "{text}");
    }
    for text in FREE {
        assert_eq!(catalogue.is_authority(&path(text)), None, "{text}");
    }
}

#[test]
fn known_tricks_are_found() {
    let catalogue = built_in();
    let tricks = [
        ".Orchestration/x",
        ".ORCHESTRATION/hook_policy.yaml",
        ".orchestration./x",
        ".orchestration /x",
        ".orchestration. . /x",
        ".orch\u{200b}estration/x",
        "\u{feff}.orchestration/x",
        ".orche\u{17f}tration/x",
        ".ｏｒｃｈｅｓｔｒａｔｉｏｎ/x",
        ".orchestrat\u{131}on/x",
        ".orchestratİon/x",
        ".orchestration\\x",
        "a\\.git\\hooks\\pre-commit",
        ".orchestration::$INDEX_ALLOCATION/x",
        ".mcp.json:stream",
        "GIT~1/hooks/x",
        "ORCHES~1/x",
        "orches~2/hook_policy.yaml",
        "INTENT~1",
        ".GIT/Config",
        ".g\u{200c}it/hooks/x",
        ".cl\u{e0061}aude/settings.json",
    ];
    for text in tricks {
        assert!(catalogue.is_authority(&path(text)).is_some(), "{text:?}");
    }
}

/// Removing or moving a folder takes along what lies beneath it.
#[test]
fn folders_that_hold_protected_paths() {
    let catalogue = built_in();
    for text in [
        "",
        ".",
        ".git",
        ".github",
        "a/.github",
        ".git/modules/x",
        ".GIT",
        ".clinerules",
    ] {
        assert!(catalogue.holds_authority(&path(text)), "{text:?}");
    }
    for text in ["src", ".git/objects", "docs/github", ".github/workflows"] {
        assert!(!catalogue.holds_authority(&path(text)), "{text:?}");
    }
}

#[test]
fn home_is_protected_too() {
    let catalogue = built_in();
    let protected = [
        "~/.claude/settings.json",
        "/home/dev/.bashrc",
        "/root/.config/opencode/plugin/x.js",
        "/etc/claude-code/managed-settings.json",
        "/etc/profile.d/x.sh",
        "C:\\Users\\dev\\.claude\\settings.json",
        "/home/dev/.codeium/windsurf/hooks.json",
        "/home/dev/Documents/Cline/Hooks/PreToolUse",
        "/home/dev/.LOCAL/state/tagout/ledger.jsonl",
        "/home/dev/.ssh/authorized_keys",
        "../other/.orchestration/hook_policy.yaml",
    ];
    for text in protected {
        assert!(catalogue.is_home_authority(text).is_some(), "{text}");
    }
    for text in [
        "/tmp/x",
        "~/notes.txt",
        "/etc/hosts",
        "/home/dev/project/src/main.rs",
        "",
    ] {
        assert_eq!(catalogue.is_home_authority(text), None, "{text}");
    }
}

#[test]
fn instruction_files_are_a_list_of_their_own() {
    let catalogue = built_in();
    let authority = catalogue.authority().unwrap();
    let files = [
        "CLAUDE.md",
        "sub/AGENTS.md",
        "AGENT.md",
        "GEMINI.md",
        ".github/copilot-instructions.md",
        ".cursorrules",
        ".windsurfrules",
        ".cursor/rules/a/b.mdc",
    ];
    for text in files {
        assert!(authority.is_instruction(&path(text)), "{text}");
        assert_eq!(catalogue.is_authority(&path(text)), None, "{text}");
    }
    assert!(!authority.is_instruction(&path("README.md")));
}

/// A hostile path is long, not slow.
#[test]
fn long_paths_stay_cheap() {
    let catalogue = built_in();
    let text = ".git/modules/".repeat(300);
    let long = path(&text);
    assert_eq!(catalogue.is_authority(&long), None);
    assert!(catalogue.holds_authority(&long));
}

fn disguised() -> impl Strategy<Value = (usize, Vec<u8>)> {
    (0..PROTECTED.len(), proptest::collection::vec(0_u8..9, 64))
}

/// Spells a path in a way that some file system takes for the same.
fn disguise(text: &str, choices: &[u8]) -> String {
    let mut spelled = String::new();
    let mut choice = choices.iter().cycle();
    for segment in text.split('/') {
        if !spelled.is_empty() {
            spelled.push(if *choice.next().unwrap() == 0 {
                '\\'
            } else {
                '/'
            });
        }
        for c in segment.chars() {
            match choice.next().unwrap() {
                0 => spelled.extend(c.to_uppercase()),
                1 => spelled.extend([c, '\u{200d}']),
                2 => spelled.extend(['\u{ad}', c]),
                3 if c.is_ascii_graphic() && c != '.' => {
                    spelled.extend(char::from_u32(u32::from(c) + 0xfee0));
                }
                4 if c.is_ascii_alphabetic() => spelled.extend([c, '\u{301}']),
                _ => spelled.push(c),
            }
        }
        match choice.next().unwrap() {
            0 => spelled.push('.'),
            1 => spelled.push_str(". "),
            2 => spelled.push('\u{a0}'),
            _ => {}
        }
    }
    spelled
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Invariant 8: no trick of case, Unicode form, invisible characters or trailing dots hides a
    /// protected path, at no depth.
    #[test]
    fn no_disguise_hides_a_protected_path((index, choices) in disguised(), deep in any::<bool>()) {
        thread_local!(static CATALOGUE: Catalogue = built_in());
        let spelled = disguise(PROTECTED[index], &choices);
        let spelled = if deep { format!("a/b/{spelled}") } else { spelled };
        let path = WorkspacePath::new(&spelled).unwrap();
        CATALOGUE.with(|catalogue| {
            assert!(catalogue.is_authority(&path).is_some(), "{spelled:?}");
        });
    }

    /// Folding never panics, and ordinary names stay free.
    #[test]
    fn ordinary_names_stay_free(name in "[a-z]{1,12}(/[a-z]{1,12}){0,4}\\.(rs|ts|py)") {
        thread_local!(static CATALOGUE: Catalogue = built_in());
        let path = WorkspacePath::new(&name).unwrap();
        CATALOGUE.with(|catalogue| assert_eq!(catalogue.is_authority(&path), None));
    }
}
