//! Clients and tools are data: their names are no branches in code.
//!
//! Client names are a list here. Tool names are read from the catalogue's data, so that a new tool
//! is guarded from the day it is described. A name that is also an everyday word (`edit`, `read`,
//! `shell`) can't be searched for; what is checked are names that nothing else is called by:
//! with an underscore or with a capital letter.

use std::collections::BTreeSet;

use super::Finding;
use super::source::{Line, is_word};
use super::tree::{File, Tree};

/// Words that name a client wherever they stand.
const CLIENTS: &[&str] = &[
    "claude", "cline", "codex", "copilot", "gemini", "opencode", "qwen", "vscode", "windsurf",
    "kiro",
];

/// Clients whose names are also everyday words: checked as a whole literal only.
const CLIENT_LITERALS: &[&str] = &["cursor", "goose", "factory-droid"];

/// Names that are also words of the vocabulary: kinds, roles and the like; and the events of one
/// client, which are its tools as well.
const ALSO_VOCABULARY: &[&str] = &[
    "propose_intent",
    "shell_input",
    "switch_mode",
    "pre_read_code",
    "pre_write_code",
    "pre_run_command",
    "pre_mcp_tool_use",
    "post_read_code",
    "post_write_code",
    "post_run_command",
    "post_mcp_tool_use",
];

const CATALOGUE: &str = "crates/policy/data/";

/// Invariant 4: client names stand in `agents` and nowhere else in code.
pub(super) fn clients(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in product(tree).filter(|file| file.room() != Some("agents")) {
        for (number, line) in file.production() {
            if let Some(name) = client(line) {
                let message = format!("`{name}` names a client; only `agents` knows clients");
                findings.push(Finding::new(&file.path, number, "names", message));
            }
        }
    }
    findings
}

fn client(line: &Line) -> Option<&str> {
    let anywhere = line
        .text
        .split(|letter: char| !letter.is_alphanumeric())
        .find(|word| CLIENTS.contains(&word.to_lowercase().as_str()));
    anywhere.or_else(|| {
        line.literals
            .iter()
            .map(String::as_str)
            .find(|literal| CLIENT_LITERALS.contains(literal))
    })
}

/// Invariant 4: tool names stand in the catalogue's data and in the native tools' declarations.
pub(super) fn tools(tree: &Tree) -> Vec<Finding> {
    let names = tool_names(tree);
    let mut findings = Vec::new();
    for file in product(tree).filter(|file| file.room() != Some("tools")) {
        for (number, line) in file.production() {
            for literal in &line.literals {
                if let Some(name) = tool(literal, &names) {
                    let message = format!(
                        "`{name}` names a tool; ask the catalogue for its role or its meaning"
                    );
                    findings.push(Finding::new(&file.path, number, "names", message));
                }
            }
        }
    }
    findings
}

fn product(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.rust().filter(|file| file.room().is_some())
}

/// A tool's name in a literal: as a word where it has an underscore, else as the whole literal.
fn tool<'a>(literal: &'a str, names: &BTreeSet<String>) -> Option<&'a str> {
    literal
        .split(|letter: char| !is_word(letter))
        .find(|word| word.contains('_') && names.contains(*word))
        .or_else(|| names.contains(literal).then_some(literal))
}

/// The distinctive names in the catalogue's data.
fn tool_names(tree: &Tree) -> BTreeSet<String> {
    tree.files
        .iter()
        .filter(|file| file.path.starts_with(CATALOGUE))
        .flat_map(|file| yaml_names(&file.text))
        .filter(|name| is_distinctive(name))
        .collect()
}

fn is_distinctive(name: &str) -> bool {
    let shaped = name.contains('_') || name.chars().any(char::is_uppercase);
    shaped && name.len() > 2 && name.chars().all(is_word) && !ALSO_VOCABULARY.contains(&name)
}

/// The names in the catalogue's two forms: entries with a `name`, and below each client of
/// `clients:` the keys of its `tools:`. No YAML parser: a name in some other form is missed here.
fn yaml_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut path: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        let entry = line.trim_start();
        let indent = line.len() - entry.len();
        if let Some(name) = entry.strip_prefix("- name:") {
            names.push(unquoted(name).to_owned());
            continue;
        }
        let Some((key, _)) = entry.split_once(':') else {
            continue;
        };
        let key = unquoted(key);
        if key.is_empty() || !key.chars().all(|letter| is_word(letter) || letter == '-') {
            continue;
        }
        path.retain(|(column, _)| *column < indent);
        if let [(_, "clients"), _, (_, "tools")] = path.as_slice() {
            names.push(key.to_owned());
        }
        path.push((indent, key));
    }
    names
}

fn unquoted(word: &str) -> &str {
    let word = word.split(" #").next().unwrap_or_default();
    word.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::{Tree, clients, tools, yaml_names};

    const DATA: &str = "\
words:
  file: &file
    - file_path
tools:
  - name: read_file # c
    about: Reads.
    arguments:
      path: {type: string, aliases: *file}
  - name: \"switch_mode\"
";

    const CLIENTS: &str = "\
own_server: tagout
clients:
  some-client:
    mcp: [\"mcp__{server}__{tool}\"]
    tools:
      Read: read_file
      \"MultiEdit\":
        is: read_file
        keys: [not_a_tool,
          also: not_one]
      view: read_file
  other:
    tools:
      list_dir: &x read_file
";

    #[test]
    fn names_are_read_from_the_catalogue() {
        assert_eq!(yaml_names(DATA), ["read_file", "switch_mode"]);
        assert_eq!(
            yaml_names(CLIENTS),
            ["Read", "MultiEdit", "view", "list_dir"]
        );
    }

    #[test]
    fn client_names_are_found_in_code_text_and_comments() {
        let count = |path: &str, text: &str| clients(&Tree::of(&[(path, text)])).len();
        for text in [
            "let a = \"claude-code\";\n",
            "// As Codex does.\n",
            "fn gemini_cli() {}\n",
            "let a = \"cursor\";\n",
        ] {
            assert_eq!(count("crates/policy/src/a.rs", text), 1, "{text}");
            assert_eq!(count("crates/agents/src/a.rs", text), 0, "{text}");
            assert_eq!(count("crates/policy/src/tests.rs", text), 0, "{text}");
        }
        assert_eq!(count("crates/policy/src/a.rs", "let cursor = 1;\n"), 0);
        assert_eq!(count("crates/policy/src/a.rs", "let inclined = 1;\n"), 0);
    }

    #[test]
    fn tool_names_are_found_in_literals() {
        let count = |path: &str, text: &str| {
            let tree = Tree::of(&[
                ("crates/policy/data/tools.yaml", DATA),
                ("crates/policy/data/clients.yaml", CLIENTS),
                (path, text),
            ]);
            tools(&tree).len()
        };
        for text in [
            "if name == \"read_file\" {}\n",
            "let a = \"call 'read_file' first\";\n",
            "let a = \"MultiEdit\";\n",
        ] {
            assert_eq!(count("crates/gate/src/a.rs", text), 1, "{text}");
            assert_eq!(count("crates/tools/src/a.rs", text), 0, "{text}");
            assert_eq!(count("crates/gate/tests/it/a.rs", text), 0, "{text}");
        }
        for text in [
            "fn read_file() {}\n",
            "let a = \"view\";\n",
            "let a = \"switch_mode\";\n",
            "/// Like `read_file`.\n",
            "let a = \"Read more\";\n",
        ] {
            assert_eq!(count("crates/gate/src/a.rs", text), 0, "{text}");
        }
    }
}
